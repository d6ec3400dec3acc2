"""Threads that rest, sleep and are woken by the rules of a plan (model 4.15)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from compiling import THREADS, compile_program
from idle_rules import RULES, resting
from runtime_sources import HERE, library_sources, told
from test_threads import MACHINE, graph_file, holds, plan_file

from numasim.errors import InputError
from numasim.runtime.fields_file import compile_plan, write_plan
from numasim.runtime.runtime_program import KernelRun, Order, run_kernel

WORKERS = 4
FIB_16_CALLS = 3193  # 2 F(17) - 1
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
    """Check the sums that hold for any run whose workers rest."""
    holds(run)
    assert 0 <= run.columns["wakeups_useless"] <= run.columns["wakeups"]
    for worker, asleep_ps in enumerate(run.worker["asleep_ps"]):
        parts = ("idle_steal_ps", "idle_backoff_ps", "work_local_ps")
        assert 0 <= asleep_ps <= run.makespan_ps + max(0, *(-run.worker[name][worker] for name in parts))


@pytest.mark.parametrize("strategy", ["threshold", "breadth-first", "steal-half", "locality-binding", "work-pushing"])
def test_queues_of_all_kinds_wake_sleepers(program: Path, tmp_path: Path, strategy: str) -> None:
    plan = plan_file(tmp_path, resting(tmp_path, strategy, "taskflow"), "help", WORKERS)
    for run in run_kernel(Order("graph", {"depth": 5, "graphs": 4}, plan=plan, repeat=3), program):
        rested(run)


def long_work(folder: Path) -> str:
    """Write a graph in which one task works for 20 ms, and then spawns two tasks of 5 ms. Return the file."""
    root, child = {"ops": [["run", 0], ["spawn", 1], ["spawn", 2], ["wait"]]}, {"ops": [["run", 1]]}
    graph = json.loads(graph_file(folder, "long", root, child, child).read_text())
    path = folder / "long work.json"
    path.write_text(json.dumps({**graph, "segments": [{"compute_ps": 20_000_000_000}, {"compute_ps": 5_000_000_000}]}))
    return str(path)


@pytest.mark.parametrize("rules", SLEEPING)
def test_workers_sleep_while_there_is_nothing_to_do(program: Path, tmp_path: Path, rules: str) -> None:
    """Three of four workers find nothing for 20 ms. They sleep most of this time."""
    plan = plan_file(tmp_path, resting(tmp_path, "randomized", rules), "help", WORKERS, "bare")
    (run,) = run_kernel(Order("graph", {"file": long_work(tmp_path)}, plan=plan), program)
    rested(run)
    assert run.columns["asleep_ps"] > 30_000_000_000


def test_a_sleeper_is_woken_by_a_task(program: Path, tmp_path: Path) -> None:
    plan = plan_file(tmp_path, resting(tmp_path, "randomized", "taskflow"), "help", WORKERS, "bare")
    (run,) = run_kernel(Order("graph", {"file": long_work(tmp_path)}, plan=plan), program)
    assert run.columns["wakeups"] >= 1


def test_without_rules_no_worker_sleeps(program: Path, tmp_path: Path) -> None:
    write_plan(compile_plan("randomized", MACHINE, WORKERS, "bare"), 0, tmp_path / "plan")
    (run,) = run_kernel(Order("graph", {"file": long_work(tmp_path)}, plan=tmp_path / "plan"), program)
    assert {name: run.columns[name] for name in ("asleep_ps", "wakeups", "wakeups_useless")} == {
        "asleep_ps": 0,
        "wakeups": 0,
        "wakeups_useless": 0,
    }


@pytest.mark.parametrize("flags", [(), ("-DNS_NO_FUTEX",)], ids=["futex", "condition variable"])
@pytest.mark.parametrize("rules", ["tokio", "rayon", "hpx"])
def test_the_thread_sanitizer_reports_nothing(
    c_compiler: str, tmp_path: Path, rules: str, flags: tuple[str, ...]
) -> None:
    """All features of tasks, with both ways in which the operating system lets a thread sleep."""
    files = [HERE / "threads" / "everything.c", *library_sources()]
    watched = compile_program(c_compiler, tmp_path / "everything", files, (*THREADS, *flags))
    plan = plan_file(tmp_path, resting(tmp_path, "randomized", rules), "help", WORKERS, "bare")
    assert told(watched, WORKERS, plan) == ""
