"""Bounds of makespans and steals (model 8): for each run (items 1 and 2) and for means over seeds (items 3 and 4).

The tests of inequalities print how close the runs came.
"""

from __future__ import annotations

from functools import cache
from math import log2, sqrt
from statistics import mean, stdev

import pytest
from engine_setup import NS, Seen, plan_of, quickly, run, runtime, shipped_strategy, stealing, toy
from task_graphs import items, longest_path_ps

from numasim.workload.graph import Workload
from numasim.workload.registry import generate, workload_spec


@cache
def random_graphs(tasks: int = 60, task_bytes: int = 0) -> list[Workload]:
    """Return random trees and layers, from fine to coarse."""
    times = [{"low_ns": 1, "high_ns": 9}, {"low_ns": 10, "high_ns": 900}, {"low_ns": 500, "high_ns": 500}]
    trees = [
        workload_spec("random-fork-join", tasks=tasks, graph_seed=seed, task_bytes=task_bytes, **each)
        for seed in range(8)
        for each in times
    ]
    layers = [
        workload_spec("random-layered", layers=5, width=width, graph_seed=width, task_bytes=task_bytes, **each)
        for width in (1, 3, 12)
        for each in times
    ]
    return [generate(spec) for spec in trees + layers]


# ---- item 1 on one worker; `check_bounds` checks the lower bounds of item 1 in every run -----------------------------


@pytest.mark.parametrize("join", ["help", "own", "strict", "continuation"])
@pytest.mark.parametrize("spawn", ["help-first", "work-first"])
def test_one_worker_without_overheads_takes_the_work(join: str, spawn: str) -> None:
    """The time on one worker, T_1, equals the work T1 exactly, for any kind of join and spawn order."""
    for work in random_graphs(task_bytes=5000):
        seen = run(work, 1, stealing(spawn=spawn), runtime(join=join))
        assert seen["makespan_ps"] == seen["work_ps"] == seen["serial_ps"]


# ---- item 2 --------------------------------------------------------------------------------------------------------

STEP_PS = NS  # the shortest time of a probe
ORACLE = stealing(
    {"from": "own", "queue": "ready"},
    queues={"ready": {"per": "machine", "own": "fifo"}},
    dispatch=[{"to": "own", "queue": "ready"}],
)


@pytest.mark.parametrize("workers", [2, 3, 8])
def test_greedy_bound(workers: int) -> None:
    """P T <= T1' + (P - 1) Tinf' (Graham; Brent): an idle worker gets any ready task at once.

    T is the makespan on P workers. All ready tasks are in one queue, at which every idle worker looks once a step. In
    the work T1' and the span Tinf' each spawned task is preceded by one step, the look that finds it. A failing look
    sees an empty queue. So while some look fails, a task of the critical path is in the queue for less than a step, and
    the look that finds it is under way. At every instant either no look fails, or one worker advances Tinf'.
    The plain form of the bound, T <= T1' / P + Tinf', follows.
    """
    closest = 0.0
    for work in random_graphs():
        how = runtime(costs={"probe_ns": 1, "probe_remote_ns": 1})
        seen = run(work, workers, ORACLE, how, toy(1, 8))
        work_ps = seen["work_ps"] + STEP_PS * (seen["tasks"] - 1)
        bound = work_ps + (workers - 1) * longest_path_ps(work, [0], STEP_PS)
        assert workers * seen["makespan_ps"] <= bound
        closest = max(closest, workers * seen["makespan_ps"] / bound)
    print(f"P = {workers}: at most {closest:.3f} of the bound is used")
    assert closest > 0.8  # some run comes close to the bound


# ---- items 3 and 4: mean steals and makespans ------------------------------------------------------------------------
# Item 3, unit steals: Blumofe and Leiserson (JACM 1999), Arora, Blumofe and Plaxton (1998), with the constants of
# Tchiboukdjian, Gast and Trystram (2013). Item 4, latency: Gast, Khatiri, Trystram and Wagner (2018).

UNIT = 100 * NS
RUNS = 60


def unit_run(n: int, workers: int, seed: int) -> Seen:
    """Run fib(n); every segment and every probe takes one unit, and nothing else takes any time."""
    work = generate(workload_spec("fib", n=n, spawn_ns=100, leaf_ns=100, join_ns=100))
    how = runtime(costs={"probe_ns": 100, "probe_remote_ns": 100})
    return quickly(plan_of(work, workers, shipped_strategy("randomized"), how, toy(1, 64)), seed)


def upper(values: list[float]) -> float:
    """Return the mean plus three standard errors of the mean."""
    return mean(values) + 3 * stdev(values) / sqrt(len(values))


@pytest.mark.parametrize(("n", "workers"), [(9, 2), (10, 8), (11, 32)])
def test_unit_steals(n: int, workers: int) -> None:
    """E[steal attempts] <= 5.5 P D and E[T] <= T1 / P + 5.5 D + 1, in units; D is the span."""
    runs = [unit_run(n, workers, seed) for seed in range(RUNS)]
    depth, total = runs[0]["span_ps"] // UNIT, runs[0]["work_ps"] // UNIT
    attempts = [float(seen["steal_attempts"]) for seen in runs]
    makespans = [seen["makespan_ps"] / UNIT for seen in runs]
    print(
        f"fib({n}), P = {workers}: {mean(attempts) / (workers * depth):.2f} P D attempts (bound 5.5); "
        f"T = T1 / P + {(mean(makespans) - total / workers) / depth:.2f} D (bound 5.5)"
    )
    assert upper(attempts) <= 5.5 * workers * depth
    assert upper(makespans) <= total / workers + 5.5 * depth + 1


def test_every_unit_of_every_worker_is_work_or_an_attempt() -> None:
    """P T = T1 + attempts, exactly: in every unit each worker works or probes; probes that end with the run count."""
    for workers in (2, 7, 16):
        for seed in range(10):
            seen = unit_run(9, workers, seed)
            assert workers * seen["makespan_ps"] == seen["work_ps"] + seen["steal_attempts"] * UNIT


def latency_run(tasks: int, workers: int, latency: int, seed: int) -> Seen:
    """Run tasks of 1 ns (a unit), all on worker 0. A thief steals half of a queue; request and answer take ``latency``.

    The probe is the request. A success pays the answer as overhead before the first stolen task, a failure as the wait
    before the next request.
    """
    costs = {"probe_ns": latency, "probe_remote_ns": latency, "take_ns": latency}
    how = runtime(costs=costs, poll_ns=latency)
    return quickly(plan_of(items(tasks, NS), workers, shipped_strategy("steal-half"), how, toy(1, 64)), seed)


@pytest.mark.parametrize(("tasks", "workers", "latency"), [(20_000, 16, 20), (40_000, 32, 20), (40_000, 64, 10)])
def test_latency(tasks: int, workers: int, latency: int) -> None:
    """The makespan has E[Cmax] <= W / p + 16.12 lam log2(W / (2 lam)) + 3 lam, the requests E[R] <=
    8.06 p log2(W / lam), for work W, p workers and latency lam. The paper's own simulations gave
    (Cmax - W / p) / (lam log2(W / lam)) from 2.0 to 4.0, and R / (p log2(W / lam)) from 1.1 to 2.0.
    """
    runs = [latency_run(tasks, workers, latency, seed) for seed in range(6)]
    makespan = mean(seen["makespan_ps"] / NS for seen in runs)
    requests = mean(seen["steal_attempts"] for seen in runs)
    doublings = log2(tasks / latency)
    stretch = (makespan - tasks / workers) / (latency * doublings)
    load = requests / (workers * doublings)
    print(f"W = {tasks}, p = {workers}, lam = {latency}: c = {stretch:.2f}, requests = {load:.2f} p log2(W / lam)")
    assert makespan <= tasks / workers + 16.12 * latency * log2(tasks / (2 * latency)) + 3 * latency
    assert requests <= 8.06 * workers * doublings
    assert 2.0 <= stretch <= 4.0
    assert 1.1 <= load <= 2.0
