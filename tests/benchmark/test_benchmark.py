"""The benchmark at tiny sizes: what it counts and how it judges is right; how fast it goes is not asked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import simpy

from numasim.cli import BAD_INPUT, main
from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES
from numasim.errors import CheckError
from numasim.parts.models.effects_model import CacheModel, ContentionModel
from numasim.parts.models.machine_model import MachineSpec
from numasim.runtime.runtime_program import PROGRAM
from numasim.spec.run_spec import resolve
from numasim.validate.benchmark import simulation_rates, sweep_costs, timed_command
from numasim.validate.benchmark.benchmark_figures import rate_text, rates_figure
from numasim.validate.benchmark.benchmark_findings import (
    CALM,
    FULL,
    SATURATED,
    CommandCost,
    EffectRate,
    FamilyMemory,
    FamilyRatio,
    FamilyTime,
    Findings,
    Rate,
    Ratio,
    targets,
)
from numasim.validate.benchmark.commands import cost
from numasim.validate.benchmark.effort import Command, Effort, machine_of, plan_of
from numasim.validate.benchmark.measure import measure
from numasim.validate.benchmark.printing import number, print_findings
from numasim.validate.benchmark.ratios import ratio_probes
from numasim.validate.benchmark.sampling import Probe, pair_probe, take
from numasim.validate.benchmark.simulation_rates import (
    array_bytes,
    effect_probes,
    family_memory,
    fib_of,
    timeouts_per_second,
)
from numasim.validate.benchmark.sweep_costs import ending, overhead_ms, steady_rate, sweep_comparisons

TINY = Effort(
    samples=1,
    sample_s=1e-6,
    first_tasks=60,
    workers=(2, 4),
    reference_workers=(2,),
    families={"fib": {"n": 5}, "matmul": {"n": 4}},
    commands=(Command("fib", {"name": "fib", "n": 5}, most_s=1, most_mb=300),),
    effect_tasks=200,
    sweep_runs=10,
    sweep_run_s=1e-6,
    ratio_tasks=2000,
    ratio_fib=5,
    ratio_matmul=4,
    ratio_rows=300,
    simgrid_tasks=50,
    runtime_fib=10,
    runtime_kernels={"nqueens": 4, "sort": 100, "strassen": 4, "uts": 5},
)
LINES = [(engine, mode) for engine in ENGINES for mode in ("eager", "skipping")]


def values(findings: Findings) -> dict[str, tuple[float, str, float, bool]]:
    return {each.name: (each.value, each.kind, each.bound, each.met) for each in targets(findings)}


# ---- what is timed ----


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
    first, second = iter([3.0, 1.0, 2.0]), iter([(1.0, 60.0), (9.0, 50.0), (5.0, 40.0)])

    def sampled(name: str, values: Iterator[tuple[float, ...]]) -> tuple[float, ...]:
        order.append(name)
        return next(values)

    probes: list[Probe[tuple[float, ...]]] = [
        Probe(lambda: sampled("a", ((value,) for value in first)), lambda *medians: medians),
        Probe(lambda: sampled("b", second), lambda *medians: medians),
    ]
    advanced: list[int] = []
    assert take(probes, 3, advanced.append) == [(2.0,), (5.0, 50.0)]
    assert order == ["a", "b"] * 3
    assert advanced == [1] * 6


@pytest.mark.parametrize(("calls", "n"), [(0, 0), (1, 1), (2, 1), (3, 2), (5, 3), (8, 3), (9, 4), (67, 8), (66, 7)])
def test_fib_is_as_large_as_its_calls_allow(calls: int, n: int) -> None:
    assert fib_of(calls) == n  # fib(n) makes 1, 1, 3, 5, 9, 15, 25, 41, 67 calls


@pytest.mark.parametrize("workers", [*Effort().workers, *Effort().reference_workers])
def test_the_machine_has_a_thread_for_every_worker(workers: int) -> None:
    base = {"workload": {"name": "fib", "n": 1}, "strategy": "ring", "workers": 1}
    machine: MachineSpec = resolve({**base, "machine": machine_of(workers)}).machine
    assert machine.threads >= workers


def test_a_rate_is_measured_at_a_size_that_takes_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    class Took:
        def __init__(self, tasks: int) -> None:
            self.engine_s = 1e-4 + 1e-6 * tasks
            self.counters = {"tasks": tasks}

    sizes: list[int] = []

    def simulated(plan: object, seed: int, engine: str) -> Took:
        sizes.append(plan.workload.tasks)  # type: ignore[attr-defined]
        return Took(sizes[-1])

    monkeypatch.setattr(simulation_rates, "simulate", simulated)
    effort = replace(TINY, sample_s=0.1, workers=(2,))
    for probe in simulation_rates.rate_probes(effort):
        tasks = probe.finding(1.0).tasks
        assert Took(tasks).engine_s >= 0.05, "half of what a sample should take"
        assert tasks < 32 * 100_000
        assert probe.sample() == (tasks / Took(tasks).engine_s,)


def test_a_size_does_not_grow_beyond_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    class Instant:
        engine_s = 1e-6

    monkeypatch.setattr(simulation_rates, "simulate", lambda plan, seed, engine: Instant)
    monkeypatch.setattr(simulation_rates, "LARGEST_FIB", {"eager": 6, "skipping": 9})
    monkeypatch.setattr(simulation_rates, "MOST_INDEPENDENT", 1000)
    effort = replace(TINY, sample_s=1.0)
    found = {
        (each.mode, each.workload): each.tasks
        for each in (probe.finding(1.0) for probe in simulation_rates.rate_probes(effort))
    }
    assert found == {
        ("eager", "independent"): 1000,
        ("skipping", "independent"): 1000,
        ("eager", "fib"): 25,
        ("skipping", "fib"): 109,
    }


def test_throughput_is_that_of_the_middle_of_a_sweep() -> None:
    starting, slow_tail = [5.0], [7.0, 7.5, 8.0, 9.0]
    middle = [6.0 + at / 50 for at in range(36)]
    assert steady_rate([*slow_tail, *middle, *starting]) == pytest.approx(32 / (6.7 - 6.06))


# ---- memory and commands ----


def test_memory_counts_every_array_of_the_graph() -> None:
    (memory,) = family_memory(replace(TINY, families={"fib": {"n": 5}}))
    work = plan_of({"name": "fib", "n": 5}, 24, "bare", "off").workload
    arrays: list[np.ndarray[Any, Any]] = [
        work.op_ptr,
        work.op_code,
        work.op_arg,
        work.kind,
        work.parent,
        work.segment_compute_ps,
    ]
    arrays += [work.segment_kernel, work.segment_accesses, work.successor_ptr, work.successor]
    assert len(work.accesses) == 0
    assert memory.graph_bytes_per_task == sum(array.nbytes for array in arrays) / 15
    assert memory.tasks == 15  # the calls of fib(5)


def test_programs_without_tasks_take_nothing_per_task() -> None:
    families = {"spinlock": {"threads": 2, "acquisitions": 3}, "fib": {"n": 5}}
    locks, calls = family_memory(replace(TINY, families=families))
    assert (locks.tasks, locks.graph_bytes_per_task, locks.state_bytes_per_live_task) == (0, None, None)
    judged = values(found(family_memory=(locks, calls)))
    assert "graph arrays, the most of all families: fib" in judged


def test_array_bytes_descend_into_tuples() -> None:
    assert array_bytes((np.zeros(3, np.int64), (np.zeros(2, np.uint8),), "text", 7)) == 3 * 8 + 2


def test_the_memory_of_a_command_is_its_own() -> None:
    ballast = b"x" * 200_000_000
    found = json_of([sys.executable, timed_command.__file__, sys.executable, "-c", "b'x' * 50_000_000"])
    assert len(ballast) == 200_000_000
    assert found["status"] == 0
    assert 50 < found["peak_mb"] < 100


def json_of(command: list[str]) -> dict[str, float]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def test_a_command_that_fails_is_named_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match=r"numasim run .*none.yaml failed: numasim: there is no file"):
        cost(["run", str(tmp_path / "none.yaml")])


# ---- targets ----


def found(**changes: object) -> Findings:
    nothing = Findings({}, 5, 400_000.0, (), (), (), (), (), (), 2.5, 150.0)
    return replace(nothing, **changes)  # type: ignore[arg-type]


def rate(engine: str, workload: str, workers: int, per_second: float, mode: str = "eager") -> Rate:
    return Rate(engine, mode, workload, "m", workers, 1000, per_second)


def test_rates_are_held_against_their_targets() -> None:
    given = (
        rate("native", "independent", 24, 31e6),
        rate("native", "independent", 1024, 6e6),
        rate("native", "fib", 24, 9e6),
        rate("native", "fib", 1024, 3e6),
        rate("native", "fib", 24, 1e12, mode="skipping"),
        rate("reference", "independent", 24, 100_000.0),
        rate("reference", "fib", 24, 40_000.0),
    )
    judged = values(found(rates=given))
    assert judged["independent, native, eager, 24 workers"] == (31.0, "at least", 30.0, True)
    assert judged["independent, native, eager, 1024 workers, of that on 24"] == (6 / 31, "at least", 0.25, False)
    assert judged["fib, native, eager, 24 workers"] == (9.0, "at least", 10.0, False)
    assert judged["fib, native, eager, 1024 workers, of that on 24"] == (3 / 9, "at least", 0.25, True)
    assert judged["independent, reference, eager, 24 workers, of bare SimPy timeouts"] == (0.25, "at least", 0.25, True)
    assert judged["fib, reference, eager, 24 workers, of bare SimPy timeouts"] == (0.1, "at least", 0.125, False)
    assert len(judged) == 6 + 1  # and the overhead of sweeps


def effect(load: str, workers: int, per_second: float, model: str = FULL) -> EffectRate:
    return EffectRate("m", workers, load, model, model, 1.0, per_second)


def test_the_rates_of_all_effects_are_held_against_their_targets() -> None:
    given = (
        effect(CALM, 24, 1.9e6),
        effect(SATURATED, 24, 0.5e6),
        effect(SATURATED, 128, 0.2e6),
        effect(CALM, 24, 9e6, model="none"),
    )
    judged = values(found(effect_rates=given))
    assert judged["all effects, calm, 24 workers"] == (1.9, "at least", 2.0, False)
    assert judged["all effects, saturated, 24 workers"] == (0.5, "at least", 0.5, True)
    assert judged["all effects, saturated, 128 workers"] == (0.2, "at least", 0.1, True)
    assert len(judged) == 3 + 1  # and the overhead of sweeps


@pytest.mark.skipif("native" not in ENGINES, reason="effects are timed on the native engine")
def test_every_pair_of_models_is_timed_under_both_loads() -> None:
    rates = [probe.finding(*probe.sample()) for probe in effect_probes(TINY)]
    pairs = [*product(get_args(CacheModel), get_args(ContentionModel)), (FULL, FULL)]
    timed = [(rate.cache, rate.contention, rate.load) for rate in rates if rate.workers == 24]
    assert timed == [(*pair, load) for load in (CALM, SATURATED) for pair in pairs]
    assert [(rate.machine, rate.load, rate.cache) for rate in rates if rate.workers == 128] == [
        ("xeon-6130-4s", SATURATED, FULL)
    ]
    assert all(rate.busiest < 0.5 for rate in rates if rate.load == CALM)


def test_the_worst_family_counts() -> None:
    memory = (FamilyMemory("a", 1, 100.0, 65.0), FamilyMemory("b", 1, 256.0, 64.0), FamilyMemory("c", 1, 9.0, None))
    judged = values(found(family_ratios=(FamilyRatio("a", 90.0), FamilyRatio("b", 39.0)), family_memory=memory))
    assert judged["native to reference, the least of all families: b"] == (39.0, "at least", 40.0, False)
    assert judged["graph arrays, the most of all families: b"] == (256.0, "at most", 256.0, True)
    assert judged["engine state, the most of all families: a"] == (65.0, "at most", 64.0, False)


def test_commands_and_sweeps_are_held_against_their_targets() -> None:
    commands = (CommandCost("m", "native", 0.9, 300.0, 1.0, 300.0), CommandCost("f", "native", 1.0, 900.0, 1.0, None))
    judged = values(found(commands=commands, sweep_overhead_ms=0.3))
    assert judged == {
        "the whole command, m": (0.9, "below", 1.0, True),
        "its peak memory, m": (300.0, "below", 300.0, False),
        "the whole command, f": (1.0, "below", 1.0, False),
        "overhead per run of a sweep": (0.3, "at most", 0.3, True),
    }


# ---- all of it, and how it is printed ----


@pytest.fixture(scope="module")
def tiny() -> Findings:
    return measure(TINY)


def test_everything_is_measured_on_every_engine(tiny: Findings) -> None:
    assert {(each.engine, each.mode) for each in tiny.rates} == set(LINES)
    assert {(each.workload, each.workers) for each in tiny.rates if each.engine == "reference"} == {
        ("independent", 2),
        ("fib", 2),
    }
    assert min(each.per_second for each in tiny.rates) > 0
    assert {(each.family, each.engine) for each in tiny.family_times} == {
        (family, engine) for family in TINY.families for engine in ENGINES
    }
    assert len(tiny.commands) == ("native" in ENGINES)
    assert {each.bound for each in tiny.ratios if each.name.startswith("sweep of 10 short runs")} == {1.9}
    assert tiny.bare_timeouts_per_second > 0
    assert tiny.host["default_engine"] == DEFAULT_ENGINE
    assert 10 < tiny.peak_memory_mb < 100_000


def test_everything_is_printed_for_programs(tiny: Findings, capsys: pytest.CaptureFixture[str]) -> None:
    print_findings(tiny, as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == [
        *("host", "samples", "bare_timeouts_per_second", "rates", "effect_rates"),
        *(
            "family_times",
            "family_ratios",
            "family_memory",
            "commands",
            "sweep_overhead_ms",
            "peak_memory_mb",
            "ratios",
            "not_compared",
            "targets",
        ),
    ]
    assert set(printed["rates"][0]) == {"engine", "mode", "workload", "machine", "workers", "tasks", "per_second"}
    assert set(printed["targets"][0]) == {"name", "value", "kind", "bound", "unit", "met"}
    assert len(printed["rates"]) == len(tiny.rates)


def test_everything_is_printed_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    given = found(
        rates=(rate("native", "fib", 24, 12_345_678.0), rate("native", "fib", 1024, 456_000.0)),
        family_times=(FamilyTime("sort", "native", "ompi", "auto", 817, 0.0025),),
        family_memory=(FamilyMemory("sort", 817, 129.4, None),),
        commands=(CommandCost("m", "native", 0.8765, 123.0, 1.0, 300.0),),
    )
    print_findings(given, as_json=False)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["native", "eager", "12.3", "0.456"] in lines
    assert ["sort", "ompi", "817", "2.50", "-", "129", "-"] in lines
    assert ["m", "0.876", "123"] in lines
    target = " ".join(lines_with(lines, "million/s"))
    assert target == "fib, native, eager, 24 workers 12.3 million/s at least 10.0 million/s met"
    assert lines_with(lines, "0.0369")[-2:] == ["not", "met"]


def test_the_command_prints_and_draws(
    tiny: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("numasim.validate.benchmark.measure.measure", lambda progress: tiny)
    picture = tmp_path / "rates.png"
    assert main(["bench", "--json", "--plot", str(picture)]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 1
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["rates.jpg", "missing/rates.png"])
def test_a_picture_that_cannot_be_written_is_named_before_anything_is_measured(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("numasim.validate.benchmark.measure.measure", lambda progress: pytest.fail("it was measured"))
    assert main(["bench", "--plot", str(tmp_path / name)]) == BAD_INPUT
    assert name in capsys.readouterr().err


def lines_with(lines: list[list[str]], word: str) -> list[str]:
    (line,) = [line for line in lines if word in line]
    return line


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.01234, "0.0123"), (1.5, "1.50"), (12.34, "12.3"), (256.0, "256"), (30e6, "30,000,000")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


# ---- ratios of pairs ----


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


def test_ratios_are_printed_with_both_values(capsys: pytest.CaptureFixture[str]) -> None:
    slow = Ratio("slow", "at least", 0.5, "events/s", 1e6, 4e6, 0.25)
    given = found(ratios=(slow,), not_compared=("the C runtime with Lace: there is none",))
    print_findings(given, as_json=False)
    printed = capsys.readouterr().out
    row = ["slow", "1.00", "M", "events/s", "4.00", "M", "events/s", "0.250", "at", "least", "0.500", "not", "met"]
    assert row in [line.split() for line in printed.splitlines()]
    assert "not compared: the C runtime with Lace: there is none" in printed
    print_findings(given, as_json=True)
    assert json.loads(capsys.readouterr().out)["ratios"][0]["ratio"] == 0.25


@pytest.mark.skipif("native" not in ENGINES, reason="ratios are of the native engine")
def test_every_pair_can_be_measured() -> None:
    ratios = [probe.finding(*probe.sample()) for probe in ratio_probes(TINY)]
    assert len({ratio.name for ratio in ratios}) == len(ratios) == 10 - 2 * (not PROGRAM.exists())
    assert all(ratio.ours > 0 and ratio.other > 0 for ratio in ratios)
    assert {(ratio.kind, ratio.bound) for ratio in ratios if "to the bare loop" in ratio.name} <= {("at least", 0.5)}


def test_ratios_are_held_against_their_goals_if_they_have_one() -> None:
    given = (
        Ratio("slow", "at least", 0.5, "events/s", 1e6, 4e6, 0.25),
        Ratio("even", "at least", 0.5, "events/s", 2e6, 4e6, 0.5),
        Ratio("cheap", "at most", 1.5, "ns/task", 3.0, 2.0, 1.5),
        Ratio("dear", "at most", 1.5, "ns/task", 4.0, 2.0, 2.0),
        Ratio("free", "at most", None, "ns/task", 4.0, 2.0, 2.0),
    )
    judged = [(each.name, each.met) for each in targets(found(ratios=given)) if each.unit == ""]
    assert judged == [("slow", False), ("even", True), ("cheap", True), ("dear", False)]


# ---- sweeps ----

ENDS_S = {"{'jobs': 1}": 1.0, "{'jobs': 2}": 0.5, "{'cluster': 'local:2'}": 0.625}  # between two runs' ends


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], int]]:
    """What sweeps are asked for; their runs end after one another, as quickly as `ENDS_S` says."""
    sweeps: list[tuple[dict[str, Any], int]] = []

    def swept(spec: dict[str, Any], runs: int, runner: object, **where: Any) -> tuple[float, list[float]]:
        assert runner is ending
        sweeps.append((spec, runs))
        return 0.0, [at * ENDS_S[str(where)] for at in range(runs)]

    monkeypatch.setattr(sweep_costs, "_swept", swept)
    return sweeps


def test_two_of_each_kind_are_compared_with_one_process(asked: list[tuple[dict[str, Any], int]]) -> None:
    comparisons = sweep_comparisons(TINY)
    ratios = [probe.finding(*probe.sample()) for probe in comparisons.probes]
    assert [(each.name, each.ours, each.other, each.ratio) for each in ratios] == [
        ("sweep of 10 short runs, two processes: to one process", 2.0, 1.0, 2.0),
        ("sweep of 10 short runs, a Dask cluster of two: to one process", 1.6, 1.0, 1.6),
    ]
    assert {(each.kind, each.bound) for each in ratios} == {("at least", 1.9)}
    assert comparisons.missing == ()
    assert len(asked) == 4
    assert all(sweep == asked[0] for sweep in asked)
    assert asked[0][1] == 10


@pytest.mark.usefixtures("asked")
def test_without_distributed_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_costs, "find_spec", lambda name: None)
    comparisons = sweep_comparisons(TINY)
    assert [probe.finding(*probe.sample()).ratio for probe in comparisons.probes] == [2.0]
    assert comparisons.missing == (
        "sweeps on a Dask cluster with those of one process: there is no package distributed",
    )


def test_overhead_is_what_the_engine_did_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_costs, "_swept", lambda spec, runs, runner, jobs: (3.0, [0.25] * runs))
    assert overhead_ms(4) == 500.0  # of 3 s for four runs of 0.25 s each


# ---- the picture ----

POINTS = {"reference": (2, 24), "native": (2, 24, 128, 1024)}
PICTURE_MODES = ("eager", "skipping")


def drawn() -> Findings:
    rates = tuple(
        Rate(engine, mode, workload, "m", workers, 1000, 1e5 * workers * scale)
        for engine, counts in POINTS.items()
        for mode in PICTURE_MODES
        for workload, scale in (("independent", 3), ("fib", 1))
        for workers in counts
    )
    return found(rates=rates)


def test_each_engine_and_mode_is_a_line_of_its_rates() -> None:
    figure = rates_figure(drawn())
    assert [axes.get_title("left") for axes in figure.axes] == ["independent tasks", "calls of fib"]
    for axes, scale in zip(figure.axes, (3, 1), strict=True):
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert set(lines) == {f"{engine}, {mode}" for engine in POINTS for mode in PICTURE_MODES} | {
            "bare SimPy timeouts"
        }
        for engine, counts in POINTS.items():
            points = np.array(lines[f"{engine}, eager"].get_xydata())
            assert points.tolist() == [[count, 1e5 * count * scale] for count in counts]
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_xlabel() == "workers"
    assert figure.axes[0].get_ylabel() == "simulated tasks per second"


@pytest.mark.parametrize(("rate", "text"), [(50, "50"), (1e5, "100 k"), (3e7, "30 M"), (1e10, "10 G")])
def test_a_rate_is_written_with_a_prefix(rate: float, text: str) -> None:
    assert rate_text(rate) == text
