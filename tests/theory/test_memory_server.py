"""Workers as servers: equal tasks that read memory, on c workers, are an M/D/c queue (model 8, item 9).

Tasks that read equal numbers of bytes arrive as a Poisson process at one queue, from which c workers take them first
come, first served. The controller has bandwidth for all tasks, so that each takes the same time D. W(n) is the wait and
A(n) the arrival of task n. The proof has three steps:

- The engine: every single wait is that of the recursion W(n) = max(0, W(n - c) + D - (A(n) - A(n - c))), up to the
  polls of idle workers. (Tasks of equal times leave in the order of their arrival, so that task n gets the worker of
  task n - c: Kiefer and Wolfowitz's recursion becomes c separate recursions of Lindley.)
- The recursion: its mean over a million tasks is the wait of the M/D/c queue, within 2 % in all cases. The wait of the
  queue is by Cosmetatos' approximation (1975), whose error is below 2 %.
- The approximation of Lee and Longton (1959): the mean wait is half of that of the M/M/c queue. This is exact for one
  worker, and within 5 % for several workers at high load. At loads up to 0.7 it is 5 to 14 % too low for two and four.
"""

from __future__ import annotations

from functools import cache
from math import factorial, sqrt

import numpy as np
import numpy.typing as npt
import pytest
from engine_setup import NS, Seen, plan_of, quickly, runtime, stealing, toy_with
from task_graphs import Access, Run, Task, body, graph, task

from numasim.engine.observe.trace_hash import Rank
from numasim.plan.effects import Effects
from numasim.workload.graph import Deal, Region, Workload

READ_BYTES = 6_400_000
SERVICE_PS = 1_000_000 * NS  # 100,000 lines of 10 ns
TASKS = 5000
MANY = 1_000_000
POLL_PS = 500 * NS
WORKERS = (1, 2, 4)
LOADS = (0.5, 0.7, 0.9)

ONE_QUEUE = stealing(
    {"from": "own", "queue": "controller"},
    queues={"controller": {"per": "machine", "own": "fifo", "steal": "fifo"}},
    dispatch=[{"to": "own", "queue": "controller"}],
)

F64 = npt.NDArray[np.float64]


def gaps(count: int, mean: float, seed: int) -> F64:
    """Return exponential times in random order, one from each of ``count`` equally likely strata: the mean is exact."""
    quantiles = (np.arange(count) + 0.5) / count
    return -mean * np.log(np.random.default_rng(seed).permutation(quantiles))


def arrivals(workers: int, load: float, count: int) -> list[int]:
    return np.rint(np.cumsum(gaps(count, SERVICE_PS / (workers * load), 1))).astype(np.int64).tolist()


def waits(arrival: npt.NDArray[np.generic], workers: int, service: float) -> F64:
    """Return [n] the waits of all tasks, by the recursion."""
    found = np.zeros(len(arrival))
    for first in range(workers):
        every = arrival[first::workers].astype(np.float64)
        walk = np.concatenate([[0.0], np.cumsum(service - np.diff(every))])
        found[first::workers] = walk - np.minimum.accumulate(walk)
    return found


# ---- the engine ----------------------------------------------------------------------------------------------------


def program(workers: int, arrival: list[int]) -> Workload:
    """Return a program: workers 0 to c - 1 serve; worker c is the source, and then idles until all is done."""
    steps: list[int | Task] = []
    for gap in np.diff([0, *arrival]).tolist():
        steps += [gap, task(Run(0, (Access(0, 0, READ_BYTES),)))]
    bodies = [*(body() for _ in range(workers)), body(*steps, 100 * SERVICE_PS)]
    return graph(*bodies, deal=Deal.CYCLIC, regions=(Region("data", READ_BYTES, True),))


def served(workers: int, arrival: list[int]) -> Seen:
    machine = toy_with({"cores": workers + 1}, nodes={"imc_bandwidth_gbs": 6.4 * workers})
    how = runtime(poll_ns=POLL_PS // NS, costs={"probe_ns": 1, "probe_remote_ns": 1})
    plan = plan_of(program(workers, arrival), workers + 1, ONE_QUEUE, how, machine, effects=Effects(contention="fluid"))
    assert plan.coupled
    return quickly(plan)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("workers", WORKERS)
def test_every_wait_is_that_of_the_recursion(workers: int, load: float) -> None:
    arrival = arrivals(workers, load, TASKS)
    seen = served(workers, arrival)
    assert seen.log is not None
    put = {task_id: t for t, _, task_id, _ in seen.of_rank(Rank.PUT)}
    reads = sorted((put[each.task], each.start_ps, each.end_ps) for each in seen.log if each.task in put)
    assert [arrived for arrived, _, _ in reads] == arrival
    assert {end - start for _, start, end in reads} == {SERVICE_PS}  # the controller has bandwidth for all tasks
    found = np.array([start - arrived for arrived, start, _ in reads])
    expected = waits(np.array(arrival), workers, SERVICE_PS)
    # an idle worker looks once per poll time; a task that starts late by this time delays all tasks behind it
    late = found - expected
    assert late.min() >= -1
    assert late.max() <= 0.005 * SERVICE_PS
    assert found.mean() == pytest.approx(expected.mean(), rel=0.01)


# ---- theory --------------------------------------------------------------------------------------------------------


@cache
def mean_wait(workers: int, load: float) -> float:
    """Return the mean wait of a million tasks, in service times."""
    arrival = np.cumsum(gaps(MANY, 1 / (workers * load), 2))
    return float(waits(arrival, workers, 1.0).mean())


def erlang_wait(workers: int, load: float) -> float:
    """Return the mean wait of the M/M/c queue in service times (Erlang C)."""
    offered = workers * load
    waiting = offered**workers / factorial(workers) / (1 - load)
    served_at_once = sum(offered**k / factorial(k) for k in range(workers))
    return waiting / (served_at_once + waiting) / (workers - offered)


def lee_longton(workers: int, load: float) -> float:
    return erlang_wait(workers, load) / 2


def cosmetatos(workers: int, load: float) -> float:
    excess = (1 - load) * (workers - 1) * (sqrt(4 + 5 * workers) - 2) / (16 * load * workers)
    return lee_longton(workers, load) * (1 + excess)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("workers", WORKERS)
def test_the_recursion_has_the_wait_of_an_md_c_queue(workers: int, load: float) -> None:
    found = mean_wait(workers, load)
    print(f"c {workers} rho {load}: {found:.4f} {cosmetatos(workers, load):.4f} {lee_longton(workers, load):.4f}")
    assert found == pytest.approx(cosmetatos(workers, load), rel=0.02)


@pytest.mark.parametrize(("workers", "load"), [(1, 0.5), (1, 0.7), (1, 0.9), (2, 0.7), (2, 0.9), (4, 0.9)])
def test_lee_and_longton_are_near_where_tasks_queue(workers: int, load: float) -> None:
    assert mean_wait(workers, load) == pytest.approx(lee_longton(workers, load), rel=0.05)
