"""Tasks on real threads: for all strategies, joins and numbers of workers, every task runs exactly once.

Kernels (benchmarks of the runtime) compare their results with serial code, and the tasks of `graph` check that they run
once. The tests check that all tasks are counted, that steals add up, that sanitizers report nothing, that no run hangs.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from compiling import RUNTIME, THREADS, WARNINGS, compile_objects
from runtime_sources import HERE, MACHINE, THREADED, library_sources, plan_file, strategy_file, told

from numasim.errors import InputError
from numasim.runtime.fields_file import compile_plan, plan_fields, write_fields, write_plan
from numasim.runtime.runtime_program import KernelRun, Order, run_kernel
from numasim.schema.enumerations import BarrierName, LockName
from numasim.spec.single_part import read_strategy

FIB_12_CALLS = 465  # 2 F(13) - 1, with Fibonacci numbers F


@pytest.fixture(scope="session")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plans")


def holds(run: KernelRun) -> None:
    """Check what holds for the counts of any run."""
    columns = run.columns
    assert run.correct
    assert columns["steal_attempts"] >= columns["steal_success"] <= columns["tasks_stolen"]
    assert sum(map(sum, run.node_success)) == columns["steal_success"]
    assert columns["steal_attempts"] - sum(map(sum, run.node_attempts)) in (0, columns["no_victim"])
    for name in ("steal_attempts", "steal_success"):
        by_node = getattr(run, name.replace("steal", "node"))
        far = sum(count for i, row in enumerate(by_node) for j, count in enumerate(row) if i != j)
        assert columns[f"{name}_remote"] == far


def needs_no_graph(strategy: str) -> bool:
    """Return whether a shipped strategy needs nothing from the plan's graph (see test_tasks_told_apart.py)."""
    found = read_strategy(strategy)
    return not (found.needs_every_task or found.numbers_tasks)


@pytest.mark.parametrize("how", ["ompi help", "ompi continuation", "bare help"])
@pytest.mark.parametrize("strategy", [name for name in THREADED if needs_no_graph(name)])
def test_every_strategy_runs_every_task_once(program: Path, plans: Path, strategy: str, how: str) -> None:
    runtime, join = how.split()
    plan = plan_file(plans, strategy, join, 4, runtime)
    (run,) = run_kernel(Order("fib", {"n": 12}, plan=plan, seed=3), program)
    holds(run)
    assert run.columns["tasks"] == FIB_12_CALLS
    (run,) = run_kernel(Order("graph", {"depth": 4, "graph_seed": 2}, plan=plan), program)
    holds(run)


def visiting(folder: Path, condition: str, least: int) -> str:
    """Write a strategy whose thieves visit only queues of ``least`` or more tasks. The thief reads the length at the
    probe (condition ``length``), or the owner has announced the queue.
    """
    if condition == "length":
        return strategy_file(folder, f"length-{least}", f"steal: [{{from: others, if: {{length: {least}}}}}]")
    thresholds = f"thresholds: {{max: {least}, min: 1, announce: {condition}}}"
    return strategy_file(folder, f"{condition}-{least}", thresholds, like="threshold")


QUEUES = pytest.mark.parametrize("runtime", ["ompi", "bare"])  # ompi: bounded queues; bare: lanes
CONDITIONS = ("length", "owner", "owner-exact")


@QUEUES
@pytest.mark.parametrize(
    ("condition", "least"), [("length", 1), ("length", 2), ("length", 20), *product(CONDITIONS[1:], [11])]
)
def test_thieves_come_to_queues_that_are_long_enough(
    watched: Path, plans: Path, condition: str, least: int, runtime: str
) -> None:
    """The root waits until a thief has taken one of 30 tasks. If owners announce their queues, the owner takes the
    newest of 11 tasks, which can end only after a thief has taken another task.
    """
    plan = plan_file(plans, visiting(plans, condition, least), "help", 4, runtime)
    tasks = ("first", 30) if condition == "length" else ("last", 10)
    assert told(watched / "waiting", *tasks, 4, plan) == ""


@QUEUES
@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_thief_comes_to_queues_that_are_too_short(program: Path, plans: Path, condition: str, runtime: str) -> None:
    """A queue never has more tasks than the recursion of fib(20) has levels, plus one."""
    plan = plan_file(plans, visiting(plans, condition, 40), "help", 4, runtime)
    for run in run_kernel(Order("fib", {"n": 20}, plan=plan, repeat=5), program):
        holds(run)
        assert sum(map(sum, run.node_attempts)) == 0


@pytest.mark.parametrize("join", ["own", "strict", "block"])
@pytest.mark.parametrize(
    "strategy", ["randomized", "cilk", "threshold", "threshold-literal", "breadth-first", "steal-half"]
)
def test_joins_that_can_be_stuck_say_so(program: Path, plans: Path, strategy: str, join: str) -> None:
    order = Order("fib", {"n": 12}, plan=plan_file(plans, strategy, join, 4))
    try:
        (run,) = run_kernel(order, program)
    except InputError as error:
        assert "tasks are left that no worker can ever run" in str(error)  # noqa: PT017
        assert (strategy, join) not in {("randomized", "own"), ("randomized", "strict")}
    else:
        holds(run)
        assert run.columns["tasks"] == FIB_12_CALLS


def test_one_worker_that_blocks_can_never_go_on(program: Path, plans: Path) -> None:
    with pytest.raises(InputError, match="all workers wait in joins that block"):
        run_kernel(Order("fib", {"n": 3}, plan=plan_file(plans, "randomized", "block", 1)), program)


SHORT = {"depth": 4, "width": 4, "low_ns": 0, "high_ns": 1000}  # at most 1 + 4 + 16 + 64 + 256 = 341 tasks


def test_graphs_are_those_of_successive_seeds(program: Path) -> None:
    def tasks(**parameters: int) -> int:
        (run,) = run_kernel(Order("graph", {**SHORT, **parameters}, mode="serial"), program)
        return run.columns["tasks"]

    assert tasks(graphs=6, graph_seed=11) == sum(tasks(graph_seed=11 + i) for i in range(6))


@pytest.fixture(scope="module")
def tasks_of_ten_thousand_graphs(program: Path) -> int:
    (serial,) = run_kernel(Order("graph", {**SHORT, "graphs": 10_000, "high_ns": 0}, mode="serial"), program)
    assert serial.columns["tasks"] > 10_000
    return serial.columns["tasks"]


@pytest.mark.parametrize("kind", ["", "cilk continuation"])
def test_ten_thousand_random_graphs_lose_and_repeat_no_task(
    program: Path, plans: Path, tasks_of_ten_thousand_graphs: int, kind: str
) -> None:
    plan = plan_file(plans, *kind.split(), workers=3) if kind else None
    (run,) = run_kernel(Order("graph", {**SHORT, "graphs": 10_000}, plan=plan, workers=3), program)
    holds(run)
    assert run.columns["tasks"] == tasks_of_ten_thousand_graphs


def test_no_number_of_workers_hangs(program: Path) -> None:
    orders = [Order("graph", {"depth": 5, "graphs": 10}, workers=workers) for workers in range(3, 8)]
    for order in (*orders, Order("fib", {"n": 18}, workers=8, repeat=60)):
        for run in run_kernel(order, program):
            holds(run)


@pytest.mark.parametrize("strategy", ["topology-aware", "locality-binding", "cilk"])
def test_a_pretended_machine_counts_by_its_nodes(program: Path, plans: Path, strategy: str) -> None:
    plan = plan_file(plans, strategy, "help", 4)
    for run in run_kernel(Order("graph", {"depth": 6}, mode="emulated", plan=plan, repeat=3), program):
        holds(run)
        assert set(run.node) == {0, 1}  # the two sockets of the plan's machine


@pytest.mark.parametrize("workers", [1, 4])
def test_far_bytes_take_what_their_latencies_say(program: Path, plans: Path, workers: int) -> None:
    """Ten lines are read at a time: a far line takes longer by a tenth of the difference to the near latency."""
    plan = plan_file(plans, "randomized", "help", workers)
    latency_ps = plan_fields(compile_plan("randomized", MACHINE, workers, "bare"), 0)["latency_ps"].reshape(2, 2)
    further_ps = latency_ps - latency_ps.diagonal()[:, None]
    assert not (further_ps % 10).any()
    order = Order("stencil", {"n": 512, "iterations": 10, "rows": 8}, mode="emulated", plan=plan, repeat=5)
    for run in run_kernel(order, program):
        bytes_used = np.array(run.node_bytes)
        assert bytes_used.any()
        assert not (bytes_used % 64).any()
        assert run.columns["inflation_numa_ps"] == (bytes_used // 64 * (further_ps // 10)).sum()
        assert workers > 1 or run.columns["inflation_numa_ps"] == 0


def test_far_probes_take_longer_by_what_the_plan_says(program: Path, tmp_path: Path) -> None:
    """The two workers are on different nodes, so every probe is a remote probe."""
    far_apart = strategy_file(tmp_path, "far-apart", "mapping: numa-even-cores-first")
    fields = plan_fields(compile_plan(far_apart, MACHINE, 2, "bare"), 0)
    further_ps, tick_ps = 3_000_000, 1000
    fields["probe_far_ps"] = fields["probe_near_ps"] + further_ps
    # all transfers of cache lines take no time, so that only the probes differ
    fields["line_ps"] = np.zeros_like(fields["line_ps"])
    write_fields(fields, tmp_path / "far.plan")
    order = Order(
        "graph", {"depth": 6, "low_ns": 100_000, "high_ns": 100_000}, mode="emulated", plan=tmp_path / "far.plan"
    )
    (run,) = run_kernel(order, program)
    holds(run)
    assert run.columns["steal_attempts"] == run.columns["steal_attempts_remote"]
    assert run.columns["idle_steal_ps"] >= run.columns["steal_attempts_remote"] * (further_ps - tick_ps) > 0


def test_a_plan_that_does_not_fit_is_refused(program: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mode emulated: the machine to be emulated is the machine of a plan"):
        run_kernel(Order("fib", mode="emulated", workers=2), program)
    with pytest.raises(InputError, match="the plan is for 2 workers, not for 3"):
        run_kernel(Order("fib", workers=3, plan=plan_file(tmp_path, "randomized", "help", 2)), program)
    fields, plan = plan_fields(compile_plan("randomized", MACHINE, 1, "bare"), 0), tmp_path / "wrong.plan"
    write_fields({**fields, "thread": np.arange(3, dtype=np.int32)}, plan)
    with pytest.raises(InputError, match="thread has 3 entries for 1 workers"):
        run_kernel(Order("fib", plan=plan), program)
    for name in ("own", "queues", "seg", "join"):
        write_fields({field: value for field, value in fields.items() if field != name}, plan)
        with pytest.raises(InputError, match=f"wrong.plan: .*{name}"):
            run_kernel(Order("fib", plan=plan), program)


def words_of(plans: Path, case: str) -> list[str | Path]:
    """Return the arguments of a program in tests/runtime/threads for ``case``, a text such as ``3 randomized help``."""
    workers, *kinds = case.split()
    plan = [plan_file(plans, *kinds[:2], int(workers), *kinds[2:])] if len(kinds) > 1 else kinds
    return [workers, *plan]


LANES = ["4 topology-aware help bare", "3 threshold help bare"]
CILK = ["4 cilk help", "4 cilk continuation"]
KEPT = {  # programs of threads/, with the ways of running them; a program prints only promises that the runtime breaks
    "everything": ["1", "2", "5", "4 serial", *CILK, "4 randomized continuation", *LANES],
    "lanes": ["1", "2", "5", "1 serial", *CILK, "4 randomized continuation", "4 threshold help", *LANES],
    "dependences": [
        *("1", "2", "5", "1 serial", "1 newest", *CILK),
        *("3 randomized strict", "4 cilk block", "4 randomized help", LANES[0]),
    ],
    "reductions": ["1", "2", "5", "1 serial", "4 cilk continuation", "4 randomized help"],
}


@pytest.mark.parametrize(("name", "case"), [(name, case) for name, cases in KEPT.items() for case in cases])
def test_promises_to_programs_are_kept(watched: Path, plans: Path, name: str, case: str) -> None:
    assert told(watched / name, *words_of(plans, case)) == ""


@pytest.mark.parametrize("case", ["2 randomized full", "3 randomized", "5 randomized", "3 cilk"])
def test_workers_that_sleep_keep_no_task_for_themselves(watched: Path, plans: Path, case: str) -> None:
    workers, strategy, *full = case.split()
    assert told(watched / "sleepers", *words_of(plans, f"{workers} {strategy} continuation"), *full) == ""


@pytest.mark.parametrize("kind", get_args(LockName))
@QUEUES
def test_a_probe_fails_where_somebody_has_the_queues_lock(watched: Path, plans: Path, kind: str, runtime: str) -> None:
    keys = f"queues: {{deque: {{per: worker, lock: yes}}}}\nlocks: {{kind: {kind}}}"
    locked = strategy_file(plans, f"locked-{kind}", keys)
    assert told(watched / "held_queue", 2, plan_file(plans, locked, "help", 2, runtime)) == ""


@pytest.fixture(scope="module")
def lambdas(compiler: str, c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the C++ program of threads/, watched by the thread sanitizer."""
    program = tmp_path_factory.mktemp("lambdas") / "lambdas"
    library = compile_objects(c_compiler, library_sources(), THREADS)
    files = [HERE / "threads" / "lambdas.cpp", *library]
    flags = ["-std=c++17", *WARNINGS, *THREADS, f"-I{RUNTIME / 'include'}", "-pthread"]
    subprocess.run([compiler, *flags, *files, "-o", program], check=True)
    return program


@pytest.mark.parametrize("case", ["1", "3", "1 serial", "4 cilk continuation", "4 randomized help"])
def test_lambdas_have_their_results_and_exceptions(lambdas: Path, plans: Path, case: str) -> None:
    assert told(lambdas, *words_of(plans, case)) == ""


@pytest.mark.parametrize("strategy", ["randomized", "cilk", "topology-aware", "locality-binding"])
def test_a_cholesky_with_dependences_is_that_of_its_serial_twin(program: Path, plans: Path, strategy: str) -> None:
    order = Order("cholesky", {"tiles": 9, "tile_size": 5, "dependences": 1}, repeat=5)
    for run in run_kernel(replace(order, plan=plan_file(plans, strategy, "help", 4)), program):
        holds(run)
        # one task spawns all others: a task for each (i, j, k) with i >= j >= k
        assert run.columns["tasks"] == 1 + 9 * 10 * 11 // 6


def usable_cpus(program: Path) -> list[int]:
    """Return the usable processors in the order in which machines number their hardware threads."""
    found = json.loads(subprocess.check_output([program, "topology"]))["cpus"]
    return [cpu["id"] for cpu in sorted(found, key=lambda cpu: (cpu["sibling"], cpu["node"], cpu["id"]))]


def test_workers_are_where_the_plan_has_them(watched: Path, tmp_path: Path, program: Path) -> None:
    cpus = usable_cpus(program)[:12]
    plan, workers = tmp_path / "reversed.plan", len(cpus)
    fields = plan_fields(compile_plan("randomized", MACHINE, workers, "bare"), 0)

    def cpus_used(thread: list[int]) -> list[int]:
        write_fields({**fields, "thread": np.array(thread, np.int32)}, plan)
        return [int(text) for text in told(watched / "cpus", workers, plan).split()]

    threads = list(range(workers))
    assert cpus_used(threads) == cpus
    assert cpus_used(threads[::-1]) == cpus[::-1]
    assert cpus_used([10_000, *threads[1:]]) == sorted(cpus)  # this machine has no such thread


# ---- runs with an uncounted run before (a rehearsal or warm-up), and distances of a native run's workers -----------

NQUEENS = {"n": 8, "cutoff": 3}


def ran(program: Path, mode: str = "native", **options: object) -> KernelRun:
    (run,) = run_kernel(Order("nqueens", NQUEENS, mode, **options), program)  # type: ignore[arg-type]
    return run


@pytest.mark.parametrize("mode", ["native", "emulated"])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_rehearsal_is_as_long_as_the_program_and_has_no_part_in_its_run(
    workers: int, mode: str, program: Path, plans: Path
) -> None:
    plan = plan_file(plans, "randomized", "help", workers, "bare")
    order = Order("nqueens", NQUEENS, mode, plan=plan, rehearse=True, seed=3, repeat=3)
    plain = ran(program, "serial")
    for run in run_kernel(order, program):
        assert run.correct
        assert run.columns["tasks"] == plain.columns["tasks"]
        assert run.workers == workers
        assert run.rehearsed_ps > 0


def test_who_does_not_rehearse_says_so(program: Path) -> None:
    assert ran(program, workers=2).rehearsed_ps == ran(program, "serial").rehearsed_ps == 0


def test_only_native_workers_are_somewhere(program: Path, plans: Path) -> None:
    alone = ran(program, workers=1)
    assert alone.hop_ps == (0, 0, 0)
    assert ran(program, "serial").hop_ps == (0, 0, 0)
    plan = plan_file(plans, "randomized", "help", 2, "bare")
    assert ran(program, "emulated", workers=2, plan=plan).hop_ps == (0, 0, 0)
    if len(os.sched_getaffinity(0)) > 1:
        unrehearsed, before, after = ran(program, workers=2).hop_ps
        assert unrehearsed == 0
        assert all(hop > 0 for hop in (before, after, ran(program, workers=2, rehearse=True).hop_ps[0]))
    assert ran(program, workers=len(os.sched_getaffinity(0)) + 1).hop_ps == (0, 0, 0)  # the workers share processors


def test_what_warms_up_is_not_counted(program: Path) -> None:
    counted = ("tasks", "tasks_stolen")
    cold, warm = (ran(program, workers=1, warm_up=each) for each in (False, True))
    assert [warm.columns[name] for name in counted] == [cold.columns[name] for name in counted]
    assert warm.correct


# ---- locks and barriers of every kind --------------------------------------------------------------------------------

WORKERS, ACQUISITIONS = 4, 300


def plan_with(folder: Path, kind: str) -> Path:
    """Write a plan with this kind of lock or of barrier. Return the file."""
    plan, path = compile_plan("randomized", MACHINE, WORKERS, "bare"), folder / "plan"
    chosen = {"kind" if kind in get_args(LockName) else "barrier": kind}
    write_plan(replace(plan, words=replace(plan.words, **chosen)), 0, path)
    return path


@pytest.mark.parametrize("kind", get_args(LockName))
def test_a_lock_of_every_kind_counts_each_acquisition(program: Path, tmp_path: Path, kind: str) -> None:
    """The kernel's counter is exact. All acquisitions but the first are hand-overs, within a node or between nodes."""
    order = Order("spinlock", {"acquisitions": ACQUISITIONS}, plan=plan_with(tmp_path, kind))
    (run,) = run_kernel(order, program)
    ((acquisitions, within, between, waited_ps, held_ps),) = run.words
    assert run.correct is True
    assert (acquisitions, within + between) == (WORKERS * ACQUISITIONS, WORKERS * ACQUISITIONS - 1)
    assert waited_ps >= 0
    assert held_ps >= 0
    assert run.columns["tasks"] == 0  # the parts of a team are no tasks


@pytest.mark.parametrize("kind", get_args(BarrierName))
def test_a_barrier_of_every_kind_lets_all_pass(program: Path, tmp_path: Path, kind: str) -> None:
    (run,) = run_kernel(Order("syncbench", {"construct": "barrier"}, plan=plan_with(tmp_path, kind)), program)
    assert run.correct is True


@pytest.mark.parametrize("kind", [*get_args(LockName), *get_args(BarrierName)])
def test_no_sanitizer_objects_to_a_lock_or_a_barrier(watched: Path, tmp_path: Path, kind: str) -> None:
    """The program counts under a lock, meets at a barrier and waits for a condition."""
    assert told(watched / "everything", WORKERS, plan_with(tmp_path, kind)) == ""
