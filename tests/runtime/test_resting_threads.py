"""Idle worker threads that wait, sleep and are woken by the rules of a plan (model 4.15)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from compiling import THREADS, compile_program
from idle_rules import RULES, resting
from runtime_sources import HERE, MACHINE, library_sources, plan_file, told
from test_threads import holds

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from engine_setup import plan_of, runtime
from registry_cells import machine
from task_graphs import WAIT, graph, task

from numasim.errors import InputError
from numasim.plan.plan import Run
from numasim.runtime.controlled_run import run_plan
from numasim.runtime.runtime_program import KernelRun, Order, run_kernel
from numasim.spec.single_part import read_strategy

WORKERS = 4
FIB_16_CALLS = 3193  # 2 F(17) - 1, with Fibonacci numbers F
SLEEPING = [name for name in RULES if name != "spinning"]


@pytest.mark.parametrize("join", ["help", "continuation"])
@pytest.mark.parametrize("rules", RULES)
def test_every_task_runs_once_and_no_run_hangs(program: Path, tmp_path: Path, rules: str, join: str) -> None:
    plan = plan_file(tmp_path, resting(tmp_path, "randomized", rules), join, WORKERS)
    for run in run_kernel(Order("graph", {"depth": 5, "graphs": 4}, plan=plan, repeat=3), program):
        rested(run)
    for run in run_kernel(Order("fib", {"n": 16}, plan=plan, repeat=3), program):
        rested(run)
        assert run.columns["tasks"] == FIB_16_CALLS


@pytest.mark.parametrize("rules", SLEEPING)
def test_workers_that_block_and_workers_that_sleep_end_a_stuck_run(program: Path, tmp_path: Path, rules: str) -> None:
    """All workers may come to wait in joins that block: the run then ends with an error, and does not hang."""
    plan = plan_file(tmp_path, resting(tmp_path, "randomized", rules), "block", WORKERS)
    try:
        (run,) = run_kernel(Order("fib", {"n": 12}, plan=plan), program)
    except InputError as error:
        assert "tasks are left that no worker can ever run" in str(error)  # noqa: PT017
    else:
        rested(run)


def rested(run: KernelRun) -> None:
    """Check what holds for the counts of any run whose workers rest."""
    holds(run)
    assert 0 <= run.columns["wakeups_useless"] <= run.columns["wakeups"]
    for worker, asleep_ps in enumerate(run.worker["asleep_ps"]):
        parts = ("idle_steal_ps", "idle_backoff_ps", "work_local_ps")
        assert 0 <= asleep_ps <= run.makespan_ps + max(0, *(-run.worker[name][worker] for name in parts))


MS = 1_000_000_000  # ps
LONG_WORK = graph(task(20 * MS, task(5 * MS), task(5 * MS), WAIT))


def run_long_work(program: Path, strategy: str) -> KernelRun:
    """Run a program in which one task works for 20 ms, and then spawns two tasks of 5 ms."""
    plan = plan_of(LONG_WORK, WORKERS, read_strategy(strategy), runtime(join="help"), machine(MACHINE))
    return run_plan(Run(plan, 1), "native", program)


@pytest.mark.parametrize("rules", SLEEPING)
def test_workers_sleep_while_there_is_nothing_to_do(program: Path, tmp_path: Path, rules: str) -> None:
    """Three of four workers find no task for 20 ms, 60 ms in all; on a busy machine, yields may take most of this time.
    With the rules `taskflow` every pushed task wakes a sleeper.
    """
    run = run_long_work(program, resting(tmp_path, "randomized", rules))
    rested(run)
    assert run.columns["asleep_ps"] > 5 * MS
    assert run.columns["wakeups"] >= (rules == "taskflow")


def test_without_rules_no_worker_sleeps(program: Path) -> None:
    run = run_long_work(program, "randomized")
    assert [run.columns[name] for name in ("asleep_ps", "wakeups", "wakeups_useless")] == [0, 0, 0]


@pytest.mark.parametrize("flags", [(), ("-DNS_NO_FUTEX",)], ids=["futex", "condition variable"])
@pytest.mark.parametrize("rules", ["tokio", "rayon", "hpx"])
def test_the_thread_sanitizer_reports_nothing(
    c_compiler: str, tmp_path: Path, rules: str, flags: tuple[str, ...]
) -> None:
    """The program uses all features of tasks. Its threads sleep by futex, or by mutex and condition variable."""
    files = [HERE / "threads" / "everything.c", *library_sources()]
    watched = compile_program(c_compiler, tmp_path / "everything", files, (*THREADS, *flags))
    plan = plan_file(tmp_path, resting(tmp_path, "randomized", rules), "help", WORKERS, "bare")
    assert told(watched, WORKERS, plan) == ""
