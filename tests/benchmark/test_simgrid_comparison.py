"""The same simulation on SimGrid: its rules are those of the bare loop, and its events are counted as the engine's."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from installed_scripts import only_installed, script

from numasim.benchmark.compared import MissingError
from numasim.benchmark.comparisons.built_programs import CPP, build, package_options, printed_numbers
from numasim.benchmark.comparisons.simgrid import (
    PACKAGE,
    SOURCE,
    simgrid_comparisons,
    simgrid_events_per_second,
)
from numasim.benchmark.effort import Effort
from numasim.benchmark.ratios import independent_tasks
from numasim.benchmark.timed_plans import NATIVE, SEED, plan_of
from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, simulate
from numasim.runtime.runtime_program import PROGRAM

SMALL = replace(Effort(), simgrid_tasks=600)
needs_native = pytest.mark.skipif(NATIVE not in ENGINES, reason="the native engine is compared")


@pytest.fixture
def simgrid(tmp_path: Path) -> Path:
    """The program on SimGrid; what asks for it is skipped where that is not installed."""
    program = tmp_path / "stealing_simgrid"
    try:
        build(program, CPP, SOURCE, package_options(PACKAGE), ("10", "2", "1"))
    except MissingError as missing:
        pytest.skip(str(missing))
    return program


@pytest.mark.skipif(not PROGRAM.exists(), reason="the runtime is not built")
@pytest.mark.parametrize("tasks", [1, 7, 40, 333])
def test_two_workers_do_what_those_of_the_bare_loop_do(simgrid: Path, tasks: int) -> None:
    """No two events are at one time here, so that their order does not depend on the simulator."""
    executed, events, makespan, _ = printed_numbers(simgrid, str(tasks), "2", "2")
    command = [PROGRAM, "bare", "independent", str(tasks), "2", "2"]
    bare = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    starts = 2  # of the workers, events there
    assert (executed, makespan, events) == (tasks, bare["makespan_ns"], bare["events"] - starts)


def test_every_task_is_executed_and_no_worker_rests(simgrid: Path) -> None:
    """Work is shared out to the last task: the makespan is the mean of all work, but for a task and some probes."""
    tasks, workers = 6000, 24
    executed, events, makespan, took_ns = printed_numbers(simgrid, str(tasks), str(workers), "2")
    work = sum(500 + (mix(task ^ 0x5BD1E995) >> 32) * 1000 // 2**32 for task in range(tasks))
    assert executed == tasks
    assert tasks < events < 1.2 * tasks
    assert work / workers <= makespan <= work / workers + 2 * 1499
    assert took_ns > 0


def mix(z: int) -> int:
    """SplitMix64, as Steele, Lea and Flood (2014) write it."""
    z = (z + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def test_an_event_of_the_engine_is_the_end_of_a_task_or_of_a_probe() -> None:
    row = simulate(plan_of(independent_tasks(3000), 24, "bare", "off"), SEED, DEFAULT_ENGINE).row()
    assert row["events"] == pytest.approx(row["tasks"] + row["steal_attempts"], rel=0.01)


@needs_native
def test_both_are_compared(simgrid: Path, tmp_path: Path) -> None:
    del simgrid  # it is installed
    comparisons = simgrid_comparisons(SMALL, tmp_path)
    (ratio,) = (probe.finding(*probe.sample()) for probe in comparisons.probes)
    assert (ratio.name, ratio.unit) == ("independent, event by event, 24 workers: to SimGrid", "events/s")
    assert min(ratio.ours, ratio.other) > 0
    assert comparisons.missing == ()


def test_the_rate_is_of_events_and_not_of_tasks(tmp_path: Path) -> None:
    program = script(tmp_path / "stealing_simgrid", 'echo "$1" 1500 99 2000000000')
    assert simgrid_events_per_second(program, 1000, 24, 2) == 750.0


@needs_native
def test_without_simgrid_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"c++": "", "pkg-config": "exit 1"})
    comparisons = simgrid_comparisons(SMALL, tmp_path)
    assert comparisons.probes == ()
    assert comparisons.missing == ("the native engine with SimGrid: pkg-config finds no simgrid",)
