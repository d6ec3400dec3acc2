"""Ratios of pairs from made-up measurements: their medians and their goals, and how they are printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from numasim.benchmark.benchmark_findings import Findings, Ratio
from numasim.benchmark.effort import Effort
from numasim.benchmark.printing import print_findings
from numasim.benchmark.ratios import bare_events_per_second, pair_probe, ratio_probes
from numasim.benchmark.sampling import take
from numasim.benchmark.targets import targets
from numasim.engine.simulate import ENGINES
from numasim.runtime.runtime_program import PROGRAM

SMALL = replace(Effort(), effect_tasks=200, ratio_tasks=2000, ratio_fib=5, ratio_matmul=4, ratio_rows=300)


def found(*ratios: Ratio, missing: tuple[str, ...] = ()) -> Findings:
    nothing = Findings({}, 5, 400_000.0, (), (), (), (), (), (), 2.5, 150.0)
    return replace(nothing, ratios=ratios, not_compared=missing)


def test_a_ratio_is_the_median_of_the_pairs_not_of_the_sides() -> None:
    order: list[str] = []

    def side(name: str, values: Iterator[float]) -> float:
        order.append(name)
        return next(values)

    ours, other = iter([10.0, 40.0, 90.0]), iter([1.0, 8.0, 15.0])
    probe = pair_probe("a to b", "at least", 7.0, "u", (lambda: side("a", ours), lambda: side("b", other)))
    (ratio,) = take([probe], 3, lambda steps: None)
    assert order == ["a", "b"] * 3  # a pair at a time
    assert ratio == Ratio("a to b", "at least", 7.0, "u", 40.0, 8.0, 6.0)  # of 10, 5 and 6


def test_what_takes_long_is_measured_less_often() -> None:
    probe = pair_probe("a", "at most", 2.0, "s", (lambda: 3.0, lambda: 2.0), most=1)
    advanced: list[int] = []
    (ratio,) = take([replace(probe, sample=once(probe.sample()))], 4, advanced.append)
    assert ratio.ratio == 1.5
    assert advanced == [1] * 4


def once(values: tuple[float, ...]):  # type: ignore[no-untyped-def]
    left = iter([values])
    return lambda: next(left)


def test_goals_are_printed_met_or_not_and_ratios_without_a_goal_are_none() -> None:
    given = found(
        Ratio("slow", "at least", 0.5, "events/s", 1e6, 4e6, 0.25),
        Ratio("even", "at least", 0.5, "events/s", 2e6, 4e6, 0.5),
        Ratio("cheap", "at most", 1.5, "ns/task", 3.0, 2.0, 1.5),
        Ratio("dear", "at most", 1.5, "ns/task", 4.0, 2.0, 2.0),
        Ratio("free", "at most", None, "ns/task", 4.0, 2.0, 2.0),
    )
    judged = {each.name: (each.value, each.kind, each.bound, each.met) for each in targets(given)}
    del judged["overhead per run of a sweep"]
    assert judged == {
        "slow": (0.25, "at least", 0.5, False),
        "even": (0.5, "at least", 0.5, True),
        "cheap": (1.5, "at most", 1.5, True),
        "dear": (2.0, "at most", 1.5, False),
    }


def test_ratios_are_printed_with_both_values(capsys: pytest.CaptureFixture[str]) -> None:
    given = found(
        Ratio("slow", "at least", 0.5, "events/s", 1e6, 4e6, 0.25), missing=("the C runtime with Lace: there is none",)
    )
    print_findings(given, as_json=False)
    printed = capsys.readouterr().out
    row = ["slow", "1.00", "M", "events/s", "4.00", "M", "events/s", "0.250", "at", "least", "0.500", "not", "met"]
    assert row in [line.split() for line in printed.splitlines()]
    assert "not compared: the C runtime with Lace: there is none" in printed
    print_findings(given, as_json=True)
    assert json.loads(capsys.readouterr().out)["ratios"][0]["ratio"] == 0.25


@pytest.mark.skipif("native" not in ENGINES, reason="ratios are of the native engine")
def test_every_pair_can_be_measured() -> None:
    ratios = [probe.finding(*probe.sample()) for probe in ratio_probes(SMALL)]
    assert len({ratio.name for ratio in ratios}) == len(ratios) == 10 - 2 * (not PROGRAM.exists())
    assert all(ratio.ours > 0 and ratio.other > 0 for ratio in ratios)
    assert {(ratio.kind, ratio.bound) for ratio in ratios if "to the bare loop" in ratio.name} <= {("at least", 0.5)}


@pytest.mark.skipif(not PROGRAM.exists(), reason="the runtime is not built")
def test_the_bare_loop_has_a_rate() -> None:
    assert bare_events_per_second("fib", 5, 2, 1) > 0
