"""The benchmark at tiny sizes and with made-up findings: counts, verdicts, tables and figures. No speed is tested."""

from __future__ import annotations

import json
import math
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
from numasim.plan.build_plan import build_plan
from numasim.spec.run_spec import resolve
from numasim.validate.benchmark import scale, simulation_rates
from numasim.validate.benchmark.sampling import Finding, Goal, Probe, number, print_findings, take
from numasim.validate.benchmark.scale import (
    COLUMNS,
    GROWING,
    LEAST_BYTES,
    NODES_USUAL,
    USUAL,
    costs,
    generated_machine,
    growth_sentences,
    in_own_process,
    scale_figure,
)
from numasim.validate.benchmark.simulation_rates import (
    BARE,
    CALM,
    MILLION,
    OTHER_COSTS,
    RATES,
    SATURATED,
    array_bytes,
    command_cost,
    measure,
    memory_of,
    overhead_ms,
    plan_of,
    rates_figure,
    spec_of,
    timed_effects,
    timeouts_per_second,
)

TINY = {
    "SAMPLES": 1,
    "TIMEOUTS": 240,
    "SIZES": dict.fromkeys(simulation_rates.SIZES, (60, 5)),
    "WORKERS": {"reference": (2,), "native": (2, 4)},
    "FAMILY_SIZES": {"fib": {"n": 5}, "spinlock": {"threads": 2, "acquisitions": 3}},
    "COMMANDS": {"fib": (spec_of({"name": "fib", "n": 5}), 1, 300, None)},
    "EFFECT_TASKS": 200,
    "SWEEP_RUNS": 10,
}
NOTHING = ["nothing grows faster than the logarithm of tasks, workers or nodes"]
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
    assert len(set(waited)) == 24  # one process for each worker of the engine


def test_samples_alternate_and_medians_are_kept() -> None:
    order: list[str] = []

    def probe(name: str, samples: list[tuple[float, ...]], columns: dict[str, Goal | None], most: int | None) -> Probe:
        values = iter(samples)
        return Probe("t", name, columns, lambda: order.append(name) or next(values), most)  # type: ignore[func-returns-value]

    goal = Goal("at most", 50.0)
    one = probe("a", [(3.0,), (1.0,), (2.0,)], {"s": None}, None)
    two = probe("b", [(1.0, 60.0), (9.0, 40.0)], {"s": None, "MB": goal}, 2)
    found = take([one, two], 3, progress=False)
    assert order == ["a", "b", "a", "b", "a"]
    assert found == [
        Finding("t", "a", "s", 2.0),
        Finding("t", "b", "s", 5.0),
        Finding("t", "b", "MB", 50.0, goal),
    ]
    assert [each.met for each in found] == [None, None, True]


def test_memory_counts_every_array_of_the_graph_once_per_task() -> None:
    plan = plan_of({"name": "fib", "n": 5})
    work = plan.workload
    arrays: list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = [
        *(work.op_ptr, work.op_code, work.op_arg, work.kind, work.parent, work.segment_compute_ps),
        *(work.segment_kernel, work.segment_accesses, work.successor_ptr, work.successor),
    ]
    assert memory_of(plan)["graph B/task"] == sum(array.nbytes for array in arrays) / 15  # the calls of fib(5)
    assert array_bytes((np.zeros(3, np.int64), (np.zeros(2, np.uint8),), "text", 7)) == 3 * 8 + 2


def test_the_memory_of_a_command_is_its_own_and_a_failing_command_is_named(tmp_path: Path) -> None:
    ballast = b"x" * 200_000_000
    seconds, peak_mb = command_cost([sys.executable, "-c", "b'x' * 50_000_000"])
    assert len(ballast) == 200_000_000
    assert seconds > 0
    assert 50 < peak_mb < 100
    with pytest.raises(CheckError, match=r"numasim run .*none.yaml failed: numasim: there is no file"):
        command_cost([sys.executable, "-m", "numasim", "run", str(tmp_path / "none.yaml")])


def test_overhead_is_what_the_engine_did_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation_rates, "swept", lambda workload, runs, runner, jobs: (3.0, [0.25] * runs))
    assert overhead_ms(4) == 500.0  # 3 s for four runs of 0.25 s each: (3 - 1) s / 4 = 500 ms


def test_every_pair_of_models_is_timed_under_both_loads() -> None:
    timed = [(each.row, each.column) for each in timed_effects(200)]
    pairs = [", ".join(pair) for pair in product(get_args(CacheModel), get_args(ContentionModel))]
    assert timed == [
        *((row, f"{load}, 24 workers") for load in (CALM, SATURATED) for row in (*pairs, "all effects")),
        ("all effects", "saturated, 128 workers"),
    ]


@needs_native
def test_controllers_have_spare_bandwidth_under_the_calm_load_alone() -> None:
    plain = {each.column: each.spec for each in timed_effects(200) if each.row == "none, none"}
    busy = [simulate(build_plan(resolve(spec)), 1, "native").row()["imc_busy_max"] for spec in plain.values()]
    assert busy[0] < 0.5 < busy[1]


# ---- the whole benchmark, and its output ----


@pytest.fixture(scope="module")
def tiny() -> list[Finding]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in TINY.items():
            patch.setattr(simulation_rates, name, value)
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
        Finding("rates", "native, eager", "2 workers", 10.0, Goal("at least", 10.0)),
        Finding("rates", "native, eager", "4 workers", 0.456),
        Finding("rates", "reference", "2 workers", 0.1, Goal("at most", 0.01)),
    ]
    print_findings(found, ["a sentence"], as_json=False)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["native,", "eager", "10.0", "0.456"] in lines
    assert ["reference", "0.100", "-"] in lines
    assert ["native,", "eager,", "2", "workers", "10.0", "at", "least", "10.0", "met"] in lines
    assert ["reference,", "2", "workers", "0.100", "at", "most", "0.0100", "not", "met"] in lines
    assert ["a", "sentence"] in lines


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.01234, "0.0123"), (1.5, "1.50"), (12.34, "12.3"), (256.0, "256"), (30e6, "30,000,000")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize("options", [[], ["--scale"]])
def test_the_command_prints_and_draws(
    options: list[str],
    tiny: list[Finding],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = table("workers", {2: 10.0, 16: 100.0}) if options else tiny
    module, name = (scale, "measure_scale") if options else (simulation_rates, "measure")
    monkeypatch.setattr(module, name, lambda progress: found)
    picture = tmp_path / "rates.png"
    assert main(["bench", *options, "--json", "--plot", str(picture)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["findings"]) == len(found)
    assert set(printed["findings"][0]) == {"table", "row", "column", "value", "goal", "met"}
    assert len(printed["sentences"]) == 1
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["rates.jpg", "missing/rates.png"])
def test_a_picture_that_cannot_be_written_is_named_before_anything_is_measured(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulation_rates, "measure", lambda progress: pytest.fail("it was measured"))
    assert main(["bench", "--plot", str(tmp_path / name)]) == BAD_INPUT
    assert name in capsys.readouterr().err


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


# ---- how costs grow with the size ----


def table(grows: str, ns_per_event: dict[int, float], task_bytes: float = 4000.0) -> list[Finding]:
    """Return a table in which an event takes the given nanoseconds at each size, with 2,000 events and 1,000 tasks."""
    return [
        Finding(f"{grows} grow; 8 workers", f"{size:,}", column, value)
        for size, cost in ns_per_event.items()
        for column, value in zip(COLUMNS, costs(1000, 2000, 2000e-9 * cost, task_bytes), strict=True)
    ]


def test_costs_follow_from_seconds_events_and_bytes() -> None:
    assert costs(400, 500, 2e-6, 1200.0) == pytest.approx((2e-6, 4.0, 5.0, 3.0))


def test_machines_have_a_thread_for_each_worker() -> None:
    fib = {"name": "fib", "n": 1}
    for workers in simulation_rates.WORKERS["native"]:
        assert resolve(spec_of(fib, workers)).machine.threads >= workers
    sizes = {(nodes, NODES_USUAL["workers"]) for nodes in GROWING["nodes"]}
    for nodes, workers in sizes | {(USUAL["nodes"], workers) for workers in GROWING["workers"]}:
        machine = resolve(spec_of(fib, workers, machine=generated_machine(nodes, workers))).machine
        assert machine.sockets == nodes
        assert workers <= machine.threads < workers + nodes


@pytest.mark.parametrize(
    ("ns_per_event", "named"),
    [
        ({size: 3 * math.log2(size) for size in (2, 8, 64, 4096)}, []),  # grows as the logarithm of the size
        ({4: 10.0, 16: 24.9}, []),  # grows 2.49 times, the logarithm 2 times; up to a quarter more is noise
        ({4: 10.0, 16: 25.1}, ["from 4 to 16 workers, an event takes 2.51"]),
        ({4: 10.0, 16: 20.0, 256: 60.0}, ["from 16 to 256 workers, an event takes 3.00"]),
    ],
)
def test_each_step_that_grows_faster_than_the_logarithm_is_named(
    ns_per_event: dict[int, float], named: list[str]
) -> None:
    begin, end = "faster than the logarithm: ", " times as long; the logarithm grows 2.00 times"
    assert growth_sentences(table("workers", ns_per_event)) == ([f"{begin}{each}{end}" for each in named] or NOTHING)


@needs_native
def test_a_size_is_measured_in_a_process_of_its_own() -> None:
    seconds, ns_per_event, ns_per_task, task_bytes = in_own_process(tasks=50, workers=4, nodes=2)
    assert seconds > 0
    assert ns_per_task >= ns_per_event * 54 / 50  # at least one event for each task and each worker
    assert task_bytes >= 0


def test_the_figure_shows_every_size() -> None:
    found = [*table("tasks", {10**4: 30.0, 10**5: 31.0}), *table("workers", {2: 10.0, 16: 100.0}, 0.0)]
    figure = scale_figure(found)
    upper, lower = figure.axes[:2], figure.axes[2:]
    assert [axes.get_xlabel() for axes in lower] == ["tasks", "workers"]
    for axes, sizes in zip(upper, ([10**4, 10**5], [2, 16]), strict=True):
        lines = {str(line.get_label()): list(line.get_xdata()) for line in axes.get_lines()}  # type: ignore[arg-type]
        assert lines == dict.fromkeys(("an event", "a task", "as the logarithm"), sizes)
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    drawn = [list(axes.get_lines()[0].get_ydata()) for axes in lower]  # type: ignore[arg-type]
    assert drawn == [[4.0, 4.0], [LEAST_BYTES] * 2]
