"""What contributions buy: pairs of runs by hand, on the study's machine and on another."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numasim as ns
from numasim.draws import repeat_seed
from numasim.engine.simulate import simulate_spec
from numasim.errors import InputError
from numasim.report.answers.statistics import Estimate, mean_interval
from numasim.reproduce.figures.gains_figure import gains_figure
from numasim.reproduce.plan.variant_runs import variant_runs
from numasim.reproduce.score.contributions import Case, Gain, gains
from numasim.reproduce.study.study import read_study
from numasim.spec.run_spec import resolve

CASES = [Case("tree", "small", {"workload.n": 5}), Case("large tree", "large")]
MACHINES = ["xeon-e5-2620-2s", "opteron-8380-4s"]


def times_s(machine: str, workers: int, n: int, strategy: str, repeats: int) -> list[float]:
    spec: dict[str, Any] = {"machine": machine, "workload": {"name": "fib", "n": n}, "runtime": "ompi"}
    resolved = resolve({**spec, "strategy": strategy, "workers": workers, "seed": 3})
    return [float(simulate_spec(resolved, repeat_seed(3, repeat)).counters["makespan_ps"]) for repeat in range(repeats)]


def test_a_gain_is_the_mean_ratio_of_runs_that_share_a_seed(small_study: Path, tmp_path: Path) -> None:
    found = gains(read_study(str(small_study)), tmp_path, CASES, MACHINES, repeat=3, jobs=1)
    assert [(each.machine, each.case) for each in found] == [(m, c.name) for m in MACHINES for c in CASES]
    expected = [
        np.log(times_s(machine, workers, n, "randomized", 3))
        - np.log(times_s(machine, workers, n, "topology-aware", 3))
        for machine, workers in zip(MACHINES, (24, 16), strict=True)
        for n in (5, 9)
    ]
    for each, logarithms in zip(found, expected, strict=True):
        by_hand = mean_interval(logarithms)
        assert each.gain.value == pytest.approx(math.exp(by_hand.value) - 1)
        assert (each.gain.low, each.gain.high) == pytest.approx((math.exp(by_hand.low) - 1, math.exp(by_hand.high) - 1))
        assert each.contribution == "stealing domains"


def test_gains_under_another_reading(small_study: Path, tmp_path: Path) -> None:
    text = (small_study / "study.yaml").read_text()
    (small_study / "study.yaml").write_text(
        text + "readings:\n  team: {question: How many?, role: input, scored: all, choices:"
        " {all: {says: a}, few: {says: b, set: {workers: 5}}}}\n"
    )
    study = read_study(str(small_study))
    (found,) = gains(study, tmp_path, CASES[1:], MACHINES[:1], repeat=1, readings={"team": "few"}, jobs=1)
    plain, domains = (times_s(MACHINES[0], 5, 9, name, 1)[0] for name in ("randomized", "topology-aware"))
    assert found.gain.value == pytest.approx(plain / domains - 1)


def test_what_was_fitted_of_the_machine_stays_with_it(small_study: Path, tmp_path: Path) -> None:
    (small_study / "calibrated.yaml").write_text(
        "parameters:\n  - {name: hit, set: machine.coherence.cross_socket_ns, programs: trees, value: 5000, unit: ns}\n"
    )
    study = read_study(str(small_study))
    here, there = gains(study, tmp_path / "fitted", CASES[1:], MACHINES, repeat=1, jobs=1)
    (small_study / "calibrated.yaml").unlink()
    plain_here, plain_there = gains(
        read_study(str(small_study)), tmp_path / "plain", CASES[1:], MACHINES, repeat=1, jobs=1
    )
    assert there.gain.value == plain_there.gain.value
    assert here.gain.value != plain_here.gain.value


def test_names_that_there_are_not(small_study: Path, tmp_path: Path) -> None:
    study = read_study(str(small_study))
    with pytest.raises(InputError, match=r"no row 'smal'; .*did you mean 'small'"):
        gains(study, tmp_path, [Case("x", "smal")], MACHINES, repeat=1)
    with pytest.raises(InputError, match="no machine 'xeon-e5'"):
        gains(study, tmp_path, CASES, ["xeon-e5"], repeat=1)
    with pytest.raises(InputError, match=r"no variant 'plan'; .*did you mean 'plain'"):
        variant_runs(study, "trees", "small", ["plan"])


# ---- figure ----


def gain(name: str, case: str, machine: str, value: float, half: float = 0.01) -> Gain:
    return Gain(name, case, machine, Estimate(value, value - half, value + half, 3))


def test_the_heat_map_has_a_square_for_every_gain() -> None:
    found = [
        gain(name, case, machine, value + shift)
        for name, value in (("one", 0.1), ("two", -0.3))
        for machine, shift in (("near", 0.0), ("far", 0.05))
        for case in ("tree", "grid", "sort")
    ]
    figure = gains_figure(found)
    figure.draw_without_rendering()
    first, second, _ = figure.axes  # the last one is the colour bar
    assert (first.get_title(loc="left"), second.get_title(loc="left")) == ("one", "two")
    np.testing.assert_allclose(first.images[0].get_array(), [[0.1, 0.15]] * 3)
    np.testing.assert_allclose(second.images[0].get_array(), [[-0.3, -0.25]] * 3)
    assert [label.get_text() for label in first.get_yticklabels()] == ["tree", "grid", "sort"]
    assert [label.get_text() for label in first.get_xticklabels()] == ["near", "far"]
    assert [text.get_text() for text in first.texts[:2]] == ["+10.0%", "±1.0"]


def test_what_may_be_none_is_not_bold() -> None:
    figure = gains_figure([gain("one", "tree", "near", 0.1, 0.05), gain("one", "tree", "far", 0.1, 0.2)])
    sure, unsure = figure.axes[0].texts[::2]
    assert (sure.get_weight(), unsure.get_weight()) == ("bold", "normal")
    assert [gain("a", "b", "c", 0.1, half).certain for half in (0.05, 0.1, 0.2)] == [True, False, False]


def test_nothing_to_compare_and_failed_runs_are_said_so() -> None:
    assert "nothing was compared" in gains_figure([]).texts[0].get_text()
    failed = Gain("one", "tree", "near", Estimate(math.nan, math.nan, math.nan, 0))
    assert [text.get_text() for text in gains_figure([failed]).axes[0].texts] == ["failed"]


# ---- single runs ----


def test_variants_are_run_as_the_tables_run_them(small_study: Path) -> None:
    found = variant_runs(read_study(str(small_study)), "trees", "small", ["domains", "plain"])
    frame = found.frame()
    assert list(frame["strategy"]) == ["domains", "plain"]
    assert set(frame["workload"]) == {"small"}
    expected = [times_s("xeon-e5-2620-2s", 24, 6, strategy, 1)[0] for strategy in ("topology-aware", "randomized")]
    assert list(frame["makespan_ps"]) == expected
    pairs = found.node_pairs()
    assert len(pairs) == 2 * found.machine.nodes**2
    steals = pairs.groupby("run_id")["steal_attempts"].sum()
    assert [steals[run_id] for run_id in frame["run_id"]] == list(frame["steal_attempts"])
    (axes,) = ns.plot.time_split(frame).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["domains", "plain"]
