"""The shipped schedulers of task runtimes behave as their sources say, on small runs worked out by hand.

A probe (one look into one queue) takes 100 ns, waking a sleeper costs the waker 1 us, and the sleeper is awake 5 us
later; all other operations take no time. A slot is a place for one task in front of a worker's ring or deque.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from engine_setup import NS, Seen, run, shipped_runtime, shipped_strategy, toy
from task_graphs import WAIT, Task, graph, task

from numasim.parts import catalog
from numasim.parts.models.runtime_model import CostSpec
from numasim.workload.graph import Workload

PROBE, UNPARK, WAKE = 100, 1000, 5000  # ns
COSTS = CostSpec.model_validate(
    {"probe_ns": PROBE, "probe_remote_ns": PROBE, "unpark_ns": UNPARK, "wake_ns": WAKE, "wake_remote_ns": WAKE}
)
LONG = 50_000_000  # ns; longer than any worker searches before it sleeps


def under(name: str, work: Workload, workers: int, **machine: int) -> Seen:
    """Run ``work`` under the scheduler ``name``, on one core for each worker, or on the toy machine of that shape."""
    runtime = shipped_runtime(name).model_copy(update={"costs": COSTS})
    return run(work, workers, shipped_strategy(name), runtime, toy(**(machine or {"cores": workers})))


def lone(ns: int = LONG) -> Workload:
    """Return a program of one task."""
    return graph(task(ns * NS))


def burst(tasks: int, task_ns: int, after_ns: int = LONG, tail_ns: int = LONG) -> Task:
    """Return a task that spawns ``tasks`` tasks, 10 ns apart, after ``after_ns``, and then computes for ``tail_ns``."""
    steps: list[Any] = [step for _ in range(tasks) for step in (10 * NS, task(task_ns * NS))]
    return task(after_ns * NS, *steps, tail_ns * NS)


def searches(seen: Seen, worker: int = 1) -> tuple[int, float]:
    """Return the steal attempts and the time of waits between rounds, in ns, of a worker."""
    return seen.of_worker("steal_attempts")[worker], seen.of_worker("idle_backoff_ps")[worker] / NS


# ---- how long an idle worker searches ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rounds", "attempts_a_round", "waits_ns"),
    [
        ("rayon", 34, 3, 32 * 500),
        ("onetbb", 66 + 100 + 1667 + 1, 1, 66 * 400 + 100 * 900 + 1667 * 500),  # 1667 rounds of 600 ns last 1 ms
        ("opencilk", 6 + 794 + 1, 4, 3 * (6 * 600 + 794 * 1467)),  # 3 searchers: 3 div log2(3) = 3 times as long
        ("taskflow", 60 + 150 + 1, 1, 150 * 500),
        ("fork-join-pool", 3, 3, 3840),
        ("dotnet", 2, 3, 35_000),
        ("starpu-lws-blocking", 1, 0, 0),  # the lengths of empty queues are known without a probe
    ],
)
def test_a_worker_that_finds_nothing_sleeps_after_its_rounds(
    name: str, rounds: int, attempts_a_round: int, waits_ns: int
) -> None:
    """Workers 1 to 3 find nothing while worker 0 executes the only task."""
    seen = under(name, lone(), 4)
    for worker in (1, 2, 3):
        assert searches(seen, worker) == (rounds * attempts_a_round, waits_ns)
        assert seen.of_worker("asleep_ps")[worker] > 0.9 * LONG * NS


def test_rayon_looks_at_the_shared_queue_in_each_round() -> None:
    """A round is a probe of each of three deques and of the injector; `events` is no look before the sleep."""
    seen = under("rayon", lone(), 4)
    assert seen.of_worker("asleep_ps")[1] == (LONG - 34 * 4 * PROBE - 32 * 500) * NS


def test_tokio_parks_after_one_failed_ring_and_half_of_the_workers_do_not_search() -> None:
    seen = under("tokio", lone(), 8)
    assert seen.of_worker("steal_attempts") == [0, 7, 7, 7, 7, 0, 0, 0]  # 2 * 4 searchers are not below 8 workers
    assert seen["idle_backoff_ps"] == 0
    # worker 1: a probe of the shared queue, seven rings, and the shared queue once more
    assert seen.of_worker("asleep_ps")[1] == (LONG - 9 * PROBE) * NS
    assert seen.of_worker("asleep_ps")[7] == LONG * NS


def test_go_makes_four_passes_and_bounds_searchers_by_busy_workers() -> None:
    """Worker 1 searches, as 2 * 0 is below the three that are not idle; worker 2 does not: 2 * 1 is not below two.

    Workers 2 and 3 sleep, so that each pass probes the ring of worker 0 alone, and the fourth pass its slot, too.
    """
    seen = under("go", lone(), 4)
    assert seen.of_worker("steal_attempts") == [0, 4 * 1 + 1, 0, 0]


def test_julia_searches_for_a_time_and_half_of_the_threads_search() -> None:
    """Worker 1 finds the task in its heap at its first probe; workers 0 and 1 may search, the others may not."""
    attempts = under("julia", lone(), 4).of_worker("steal_attempts")
    # a round draws a pair four times, once for each heap, and is followed by two pauses; 100 us are 209 such rounds
    whole = 4 * (-(-100_000 // (4 * PROBE + 80)) + 1)
    assert attempts == [whole, 1, 0, 0]
    assert under("julia-wake-all", lone(), 4).of_worker("steal_attempts") == [whole, 1, whole, whole]


@pytest.mark.parametrize("name", ["libomp", "lace", "starpu-lws"])
def test_some_runtimes_never_sleep(name: str) -> None:
    seen = under(name, lone(100_000), 3)
    assert seen["asleep_ps"] == 0


def test_libomp_makes_one_attempt_and_one_pause_a_round() -> None:
    assert searches(under("libomp", lone(14_000), 2)) == (100, 100 * 40)


def test_libomp_makes_one_attempt_a_round_also_after_a_steal() -> None:
    """Worker 1 finds the task of 7 us in its 101st round, by a look without and one with the lock, and makes 200 more
    rounds of 140 ns until the end.
    """
    seen = under("libomp", graph(task(14_000 * NS, task(7000 * NS), (2 * PROBE + 7000 + 200 * 140) * NS)), 2)
    assert seen["steal_success"] == 1
    assert seen.of_worker("steal_attempts")[1] == 101 + 200


def test_starpu_waits_twice_as_many_pauses_each_time_up_to_32() -> None:
    """A look takes 100 ns though it probes nothing. The waits of six rounds are 40, 80, ..., 1280 ns."""
    waits = 40 + 80 + 160 + 320 + 640
    assert searches(under("starpu-lws", lone(waits + 1280 + 1280), 2)) == (0, waits + 1280 + 1280)


# ---- whom a push wakes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "woken"),
    [
        ("rayon", [1, 1, 1, 0, 0, 0, 0]),  # the lowest by the push, and two by the worker that has found the task
        ("tokio", [0, 0, 0, 0, 0, 0, 0]),  # a task in a slot that nobody else can take
        ("go", [0, 0, 0, 0, 0, 1, 1]),  # the newest, and the next one when it finds the task
        ("onetbb", [1, 1, 1, 1, 1, 1, 1]),  # a tree: each woken worker wakes two
        ("taskflow", [0, 0, 0, 0, 0, 0, 1]),  # one, and no chain
        ("julia-wake-all", [1, 1, 1, 1, 1, 1, 1]),
        ("starpu-lws-blocking", [1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_one_push_wakes(name: str, woken: list[int]) -> None:
    """All eight workers but one sleep when that one puts a task into a queue; it is worker 0 except under Julia."""
    seen = under(name, graph(burst(1, 1_000_000, tail_ns=2_000_000)), 8)
    assert sorted(seen.of_worker("wakeups")) == sorted([0, *woken])
    if name == "rayon":
        assert seen.of_worker("wakeups")[1:] == woken


@pytest.mark.parametrize(("name", "woken"), [("dotnet", 1), ("tokio", 1), ("go", 1), ("taskflow", 4), ("rayon", 4)])
def test_a_burst_of_pushes_wakes(name: str, woken: int) -> None:
    """Four tasks come before the first sleeper that is woken is awake.

    Rayon wakes at the first push, since nobody is awake and idle, and at the others, since the deque is not empty.
    """
    assert under(name, graph(burst(4, 1, tail_ns=400)), 8)["wakeups"] == woken


def test_fork_join_pool_wakes_only_at_a_push_into_an_empty_queue() -> None:
    assert under("fork-join-pool", graph(burst(4, 1, tail_ns=400)), 8)["wakeups"] == 1


# ---- queues, steals and joins ------------------------------------------------------------------------------------


def test_hpx_deals_new_tasks_round_robin_over_all_workers() -> None:
    """One worker executes the root, which spawns tasks 1 to 8; each worker finds two of them in its own queue."""
    seen = under("hpx", graph(task(*[task(100_000 * NS)] * 8, 50_000 * NS)), 4)
    dealt = [[number for number in seen.order(worker) if number] for worker in range(4)]
    assert dealt == [[4, 8], [1, 5], [2, 6], [3, 7]]
    assert seen["steal_success"] == 0


def test_only_the_first_worker_of_a_node_steals_from_other_nodes_in_hpx() -> None:
    """Workers 1 and 3 are on the other node than the lone task; worker 1 is the first of its node."""
    seen = under("hpx", lone(10_000), 4, sockets=2, cores=2)
    assert seen.result.counters["steal_attempts_remote"] > 0
    assert [remote > 0 for remote in seen.of_worker("steal_attempts_remote")] == [False, True, False, False]


def test_tokio_and_go_steal_half_of_a_ring_and_at_most_128() -> None:
    """Worker 0 spawns 257 tasks, one of which is in its slot and 256 in its ring, and computes on."""
    for name in ("tokio", "go"):
        seen = under(name, graph(task(LONG * NS, *[task(NS)] * 257, LONG * NS)), 2)
        first, second = (tasks for _, _, _, tasks in seen.steals[:2])
        assert (first, second) == (128, 64)


def test_full_rings_spill_the_newest_half_in_tokio_and_the_oldest_half_in_go() -> None:
    """One worker spawns 260 tasks. Task 257 meets a ring of 256 tasks, half of which go with it to the shared queue. In
    the end task 260 is in the slot. After 61 tasks the worker takes one from the shared queue.
    """
    work = graph(task(*[task(NS)] * 260, NS))
    assert under("tokio", work, 1).order()[:62] == [0, 260, *range(1, 60), 129]
    assert under("go", work, 1).order()[:62] == [0, 260, *range(129, 188), 1]


def test_a_task_in_a_slot_waits_for_its_worker_in_tokio_and_is_stolen_in_the_fourth_pass_in_go() -> None:
    """Worker 0 spawns a task of 1 us after 20 us, when worker 1 sleeps, and computes on."""
    work = graph(task(20_000 * NS, task(1000 * NS), LONG * NS))
    seen = under("tokio", work, 2)
    assert (seen["makespan_ps"], seen["wakeups"], seen.steals) == ((20_000 + LONG + 1000) * NS, 0, ())
    # each pass asks the global queue and one ring; the fourth also asks the slot
    looks = 4 * 2 * PROBE + PROBE
    assert under("go", work, 2).steals[0][0] == (20_000 + UNPARK + WAKE + looks) * NS


def test_three_tasks_in_a_row_come_from_the_slot_of_tokio() -> None:
    """The root spawns task 1, then a chain of tasks 2 to 6, each of which spawns the next. Task 4 is the third in a row
    from the slot, so that task 5 goes behind task 1.
    """
    chain = task(NS, task(NS, task(NS, task(NS, task(NS)))))
    assert under("tokio", graph(task(task(NS), chain)), 1).order() == [2, 3, 4, 1, 5, 6]


def test_libgomp_runs_new_tasks_at_once_above_64_a_thread() -> None:
    """One worker: the root and 64 tasks are unfinished, so the next six run at once, and then the oldest first."""
    order = under("libgomp", graph(task(*[task(NS)] * 70, NS)), 1).order()
    at_once = [each for each in order[: order.index(0)] if each]
    assert at_once == [65, 66, 67, 68, 69, 70]
    assert [each for each in order if each][6:] == [*range(1, 65)]


def test_full_rings_of_libomp_run_new_tasks_at_once() -> None:
    """One worker: 256 tasks are queued, the next four run at once; then the queued ones run, the newest first."""
    order = under("libomp", graph(task(*[task(NS)] * 260, NS)), 1).order()
    spawned = [each for each in order if each]
    assert spawned == [257, 258, 259, 260, *range(256, 0, -1)]


def test_full_queues_of_taskflow_overflow_into_a_shared_one() -> None:
    """One worker: 256 tasks are in its deque, the newest first; the last four come in order from the overflow queue."""
    order = under("taskflow", graph(task(*[task(NS)] * 260, NS)), 1).order()
    assert [each for each in order if each] == [*range(256, 0, -1), 257, 258, 259, 260]


def test_tokio_runs_the_slot_and_then_the_oldest_and_rayon_the_newest() -> None:
    work = graph(task(*[task(NS)] * 3, NS))
    assert [each for each in under("tokio", work, 1).order() if each] == [3, 1, 2]  # the newest is in the slot
    assert [each for each in under("rayon", work, 1).order() if each] == [3, 2, 1]


def test_a_thief_of_the_fork_join_pool_stays_with_its_victim() -> None:
    """Worker 1 takes all ten tasks from worker 0, and finds each after the first by one attempt."""
    seen = under("fork-join-pool", graph(burst(10, 5000, tail_ns=100_000)), 2)
    assert seen["steal_success"] == 10
    begins = sorted(begin for worker, number, begin, _ in seen.stretches if worker == 1 and number)
    assert {later - earlier for earlier, later in pairwise(begins)} == {(5000 + PROBE) * NS}


def test_opencilk_runs_the_child_first() -> None:
    """The child begins when the parent spawns it, after 10 ns; the thief takes the rest of the parent."""
    seen = under("opencilk", graph(task(10 * NS, task(1000 * NS), 20 * NS, WAIT, 5 * NS)), 1)
    assert [(number, begin / NS) for _, number, begin, _ in seen.stretches] == [(0, 0), (0, 1010), (0, 1030), (1, 10)]


def test_lace_leaps_to_the_thief_of_its_child() -> None:
    """Worker 1 steals the child of worker 0, which spawns a grandchild and computes on; worker 0, in its join, steals
    the grandchild from worker 1.
    """
    child = task(1000 * NS, task(500 * NS), 10_000 * NS)
    seen = under("lace", graph(task(child, 500 * NS, WAIT, NS)), 2)
    assert seen.steals[0][1:] == (1, 0, 1)
    assert seen.steals[1][1:] == (0, 1, 1)


def test_each_scheduler_is_a_strategy_and_a_runtime_that_say_what_they_leave_out() -> None:
    for name in catalog.schedulers():
        assert shipped_strategy(name).leaves_out, name
        assert shipped_runtime(name).leaves_out, name
