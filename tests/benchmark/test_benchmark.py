"""The benchmark at tiny sizes: its counts and verdicts are right. Its speed is not tested."""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import simpy

from numasim.cli import BAD_INPUT, main
from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import CheckError
from numasim.parts.models.effects_model import CacheModel, ContentionModel
from numasim.spec.run_spec import resolve
from numasim.validate.benchmark import effort, simulation_rates
from numasim.validate.benchmark.effort import machine_of, plan_of, spec_of
from numasim.validate.benchmark.sampling import Column, Finding, Goal, Probe, number, print_findings, take
from numasim.validate.benchmark.simulation_rates import (
    BARE,
    CALM,
    FOUR_SOCKETS,
    MILLION,
    OTHER_COSTS,
    RATES,
    SATURATED,
    array_bytes,
    command_cost,
    effect_plan,
    effect_probes,
    measure,
    memory_of,
    overhead_ms,
    rates_figure,
    timeouts_per_second,
)

TINY = {
    "SAMPLES": 1,
    "TIMEOUTS": 240,
    "SIZES": dict.fromkeys(effort.SIZES, (60, 5)),
    "WORKERS": {"reference": (2,), "native": (2, 4)},
    "FAMILY_SIZES": {"fib": {"n": 5}, "spinlock": {"threads": 2, "acquisitions": 3}},
    "COMMANDS": {"fib": (spec_of({"name": "fib", "n": 5}), 1, 300, None)},
    "EFFECT_TASKS": 200,
    "SWEEP_RUNS": 10,
}
needs_native = pytest.mark.skipif("native" not in ENGINES, reason="the native engine is timed")


def test_the_bare_simulation_has_as_many_timeouts_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int] = []
    timeout = simpy.Environment.timeout

    def counted(env: simpy.Environment, delay: int) -> simpy.Event:
        waited.append(delay)
        return timeout(env, delay)

    monkeypatch.setattr(simpy.Environment, "timeout", counted)
    timeouts_per_second(240)
    assert len(waited) == 240
    assert len(set(waited)) == 24  # as many processes as the engine has workers


def test_samples_alternate_and_medians_are_kept() -> None:
    order: list[str] = []

    def probe(name: str, samples: list[tuple[float, ...]], columns: tuple[Column, ...], most: int | None) -> Probe:
        values = iter(samples)
        return Probe("t", name, columns, lambda: order.append(name) or next(values), most)  # type: ignore[func-returns-value]

    goal = Goal("at most", 50.0)
    one = probe("a", [(3.0,), (1.0,), (2.0,)], (Column("s"),), None)
    two = probe("b", [(1.0, 60.0), (9.0, 40.0)], (Column("s"), Column("MB", goal)), 2)
    found = take([one, two], 3, progress=False)
    assert order == ["a", "b", "a", "b", "a"]
    assert found == [
        Finding("t", "a", "s", 2.0),
        Finding("t", "b", "s", 5.0),
        Finding("t", "b", "MB", 50.0, goal),
    ]
    assert [each.met for each in found] == [None, None, True]


@pytest.mark.parametrize(
    ("kind", "value", "met"), [("at least", 30.0, True), ("at least", 29.9, False), ("at most", 30.1, False)]
)
def test_values_are_held_against_their_goals(kind: str, value: float, met: bool) -> None:
    assert Finding("t", "r", "c", value, Goal(kind, 30.0)).met is met


@pytest.mark.parametrize("workers", effort.WORKERS["native"])
def test_the_machine_has_a_thread_for_every_worker(workers: int) -> None:
    base = {"workload": {"name": "fib", "n": 1}, "strategy": "ring", "workers": 1}
    assert resolve({**base, "machine": machine_of(workers)}).machine.threads >= workers


def test_memory_counts_every_array_of_the_graph_once_per_task() -> None:
    plan = plan_of({"name": "fib", "n": 5})
    work = plan.workload
    arrays: list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = [
        *(work.op_ptr, work.op_code, work.op_arg, work.kind, work.parent, work.segment_compute_ps),
        *(work.segment_kernel, work.segment_accesses, work.successor_ptr, work.successor),
    ]
    (graph_bytes, *_) = memory_of(plan).values()
    assert graph_bytes == sum(array.nbytes for array in arrays) / 15  # the calls of fib(5)
    assert array_bytes((np.zeros(3, np.int64), (np.zeros(2, np.uint8),), "text", 7)) == 3 * 8 + 2


def test_the_memory_of_a_command_is_its_own() -> None:
    ballast = b"x" * 200_000_000
    seconds, peak_mb = command_cost([sys.executable, "-c", "b'x' * 50_000_000"])
    assert len(ballast) == 200_000_000
    assert seconds > 0
    assert 50 < peak_mb < 100


def test_a_command_that_fails_is_named_with_what_it_said(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "numasim", "run", str(tmp_path / "none.yaml")]
    with pytest.raises(CheckError, match=r"numasim run .*none.yaml failed: numasim: there is no file"):
        command_cost(command)


def test_overhead_is_what_the_engine_did_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation_rates, "swept", lambda workload, runs, runner, jobs: (3.0, [0.25] * runs))
    assert overhead_ms(4) == 500.0  # 3 s for four runs of 0.25 s each: (3 - 1) s / 4 = 500 ms


@needs_native
def test_every_pair_of_models_is_timed_under_both_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "EFFECT_TASKS", 200)
    timed = [(probe.row, probe.columns[0].name) for probe in effect_probes()]
    pairs = [", ".join(pair) for pair in product(get_args(CacheModel), get_args(ContentionModel))]
    assert timed == [
        *((row, f"{load}, 24 workers") for load in (CALM, SATURATED) for row in (*pairs, "all effects")),
        ("all effects", f"saturated, {FOUR_SOCKETS[1]} workers"),
    ]


@needs_native
def test_controllers_have_spare_bandwidth_under_the_calm_load_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "EFFECT_TASKS", 200)
    busiest = [
        simulate(effect_plan(load, "xeon-e5-2620-2s", 24), 1, "native").row()["imc_busy_max"]
        for load in (CALM, SATURATED)
    ]
    assert busiest[0] < 0.5 < busiest[1]


# ---- the whole benchmark, and its output ----


@pytest.fixture(scope="module")
def tiny() -> list[Finding]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in TINY.items():
            patch.setattr(effort, name, value)
        return measure()


def test_everything_is_measured_on_every_engine(tiny: list[Finding]) -> None:
    values = {(each.table, each.row, each.column): each.value for each in tiny}
    assert len(values) == len(tiny)
    for title, engine, mode in product(RATES.values(), ENGINES, ("eager", "skipping")):
        columns = {column for table, row, column in values if (table, row) == (title, f"{engine}, {mode}")}
        assert columns == ({"2 workers"} if engine == "reference" else {"2 workers", "4 workers"})
    assert min(value for (table, _, _), value in values.items() if table in RATES.values()) > 0
    families = {(row, column) for table, row, column in values if table == "workload families"}
    for engine, row in product(ENGINES, ("fib: 15 tasks on bare", "spinlock: 0 tasks on bare")):
        assert (row, f"{engine}, ms") in families
    assert ("fib: 15 tasks on bare", "graph B/task") in families
    assert ("spinlock: 0 tasks on bare", "graph B/task") not in families
    if "native" in ENGINES:
        assert values["whole commands, numasim run", "fib", "peak MB"] > 10
    assert values[OTHER_COSTS, BARE, MILLION] > 0
    assert 10 < values[OTHER_COSTS, "peak memory of this process", "MB"] < 100_000


def test_tables_have_rows_columns_and_goals(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        Finding("rates", "native, eager", "2 workers", 12.345678, Goal("at least", 10.0)),
        Finding("rates", "native, eager", "4 workers", 0.456),
        Finding("rates", "reference", "2 workers", 0.1, Goal("at most", 0.01)),
    ]
    print_findings(found, ["a sentence"], as_json=False)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["native,", "eager", "12.3", "0.456"] in lines
    assert ["reference", "0.100", "-"] in lines
    assert ["native,", "eager,", "2", "workers", "12.3", "at", "least", "10.0", "met"] in lines
    assert ["reference,", "2", "workers", "0.100", "at", "most", "0.0100", "not", "met"] in lines
    assert ["a", "sentence"] in lines


def test_the_command_prints_and_draws(
    tiny: list[Finding], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulation_rates, "measure", lambda progress: tiny)
    picture = tmp_path / "rates.png"
    assert main(["bench", "--json", "--plot", str(picture)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["findings"]) == len(tiny)
    assert set(printed["findings"][0]) == {"table", "row", "column", "value", "goal", "met"}
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["rates.jpg", "missing/rates.png"])
def test_a_picture_that_cannot_be_written_is_named_before_anything_is_measured(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulation_rates, "measure", lambda progress: pytest.fail("it was measured"))
    assert main(["bench", "--plot", str(tmp_path / name)]) == BAD_INPUT
    assert name in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.01234, "0.0123"), (1.5, "1.50"), (12.34, "12.3"), (256.0, "256"), (30e6, "30,000,000")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_each_engine_and_mode_is_a_line_of_its_rates() -> None:
    found = [Finding(OTHER_COSTS, BARE, MILLION, 0.4)]
    for (at, title), row, workers in product(enumerate(RATES.values()), ("native, eager", "reference"), (2, 24)):
        found.append(Finding(title, row, f"{workers} workers", float(workers + at)))
    figure = rates_figure(found)
    assert [axes.get_title("left") for axes in figure.axes] == ["independent tasks", "calls of fib"]
    for at, axes in enumerate(figure.axes):
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert set(lines) == {"native, eager", "reference", BARE}
        points = np.array(lines["reference"].get_xydata())
        assert points.tolist() == [[2, 1e6 * (2 + at)], [24, 1e6 * (24 + at)]]
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
