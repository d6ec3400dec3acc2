"""The thresholds S and s of a queue's length in integers (thesis eq. 3.3 and 3.4), and the flag "announced" (Alg. 1).

The flag says that thieves may steal from the queue: it is set when the length reaches S and cleared when it falls to s.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from engine_setup import NS, plan_of, run, runtime, seeded, stealing
from hypothesis import given
from hypothesis import strategies as st
from task_graphs import WAIT, body, graph, items, phase, task

from numasim.engine.observe.trace_hash import Trace
from numasim.engine.reference.reference import ReferenceEngine
from numasim.engine.reference.task_queues import Measured, TaskQueues, computed_thresholds, first_thresholds
from numasim.strategy.steal_plan import Thresholds
from numasim.workload.graph import Workload

AUTO: dict[str, Any] = {"max": "auto", "min": "auto"}


def rule(name: str = "literal", high: int | None = None, low: int | None = None, ppm: int = 0) -> Thresholds:
    return Thresholds(max_tasks=high, min_tasks=low, rule=name, fraction_ppm=ppm, when="first-drain")


NOTHING = Measured(capacity=500, pushes=0, span_ps=1, executed=0, busy_ps=1, peak_sum=0, queues=1)


@pytest.mark.parametrize(
    ("pushes", "push_ps", "span", "high"),
    [
        (0, 60, 1000, 500),  # no task arrives: S is the whole capacity
        (10, 100, 500, 498),  # 10 * 100 / 500 = 2 exactly
        (10, 100, 499, 497),  # 2.004 rounds up to 3
        (1, 1, 10**15, 499),  # any arrival lowers S by at least one
        (10**6, 10**6, 1, 1),  # S is never below one
    ],
)
def test_high_threshold_is_eq_3_3(pushes: int, push_ps: int, span: int, high: int) -> None:
    assert computed_thresholds(rule(), push_ps, 0, replace(NOTHING, pushes=pushes, span_ps=span)) == (high, 1)


NUMBER = st.integers(1, 10**12)


@given(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER)
def test_thresholds_equal_rational_arithmetic(
    pushes: int, push: int, span: int, executed: int, pop: int, busy: int
) -> None:
    capacity = 10**30
    high, low = computed_thresholds(rule(), push, pop, Measured(capacity, pushes, span, executed, busy, 0, 1))
    assert high == capacity - ceil(Fraction(pushes, span) * push)
    assert low == max(1, ceil(Fraction(executed, busy) * pop))


def test_the_low_threshold_is_one_at_least() -> None:
    for executed, pop, busy in ((0, 40, 0), (1, 1, 10**15)):
        assert computed_thresholds(rule(), 0, pop, replace(NOTHING, executed=executed, busy_ps=busy))[1] == 1


def test_other_rules_for_the_high_threshold() -> None:
    measured = replace(NOTHING, executed=7, busy_ps=100, peak_sum=90, queues=4)  # the mean peak length is 22.5, s = 3
    assert computed_thresholds(rule("avail"), 0, 40, measured) == (4, 3)
    assert computed_thresholds(rule("fraction", ppm=500_000), 0, 40, measured) == (11, 3)
    assert computed_thresholds(rule("fraction", ppm=100_000), 0, 40, measured) == (4, 3)
    assert computed_thresholds(rule("literal", high=9), 0, 40, measured) == (9, 3)
    assert computed_thresholds(rule("literal", high=9, low=2), 0, 40, measured) == (9, 2)


def test_thresholds_before_anything_is_measured() -> None:
    assert first_thresholds(rule(), [500, 20]) == ([499, 19], [1, 1])
    assert first_thresholds(rule(), [2, 1]) == ([1, 1], [1, 1])  # an empty queue is never a victim
    assert first_thresholds(rule("avail"), [500]) == ([2], [1])
    assert first_thresholds(rule("avail", low=3), [500]) == ([4], [3])
    assert first_thresholds(rule(high=7, low=2), [500]) == ([7], [2])


# ---- the flag ------------------------------------------------------------------------------------------------------


def watched_queue(condition: Any, **thresholds: Any) -> TaskQueues:
    """Return queues with a watch on ``condition``, with S = 4 and s = 2; `show` changes the first queue."""
    spec = stealing({"from": "others", "if": condition}, thresholds={"max": 4, "min": 2, **thresholds})
    return TaskQueues(plan_of(items(1, NS), strategy=spec).steal)


def show(queues: TaskQueues, length: int) -> int:
    """Bring the first queue to ``length`` tasks. Returns the bit of the watch."""
    while queues.length[0] < length:
        queues.push(0, 7)
    while queues.length[0] > length:
        queues.pop(0, 1)
    return queues.watch[0][0]


UP_AND_DOWN = [0, 1, 2, 3, 4, 5, 4, 3, 2, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("condition", "bits"),
    [
        ("announced", [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1]),  # set at max, latched until min
        ({"length": "max"}, [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1]),
        ({"length": 3}, [0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1]),
    ],
)
def test_what_a_watch_shows_of_a_queue(condition: Any, bits: list[int]) -> None:
    queues = watched_queue(condition)
    assert [show(queues, length) for length in UP_AND_DOWN] == bits


def test_new_thresholds_take_effect_at_once() -> None:
    queues = watched_queue("announced")
    assert show(queues, 3) == 0
    queues.set_thresholds(0, 3, 1)
    assert queues.watch[0][0] == 1
    queues.set_thresholds(0, 9, 3)
    assert queues.watch[0][0] == 0


# ---- announcements of the owner --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("announce", "found"),
    [("owner", [0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1]), ("owner-exact", [0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0])],
)
def test_the_status_changes_at_the_steps_of_the_owner_alone(announce: str, found: list[int]) -> None:
    """S = 4, s = 2. Each step is a length of the queue and the action of the owner at this length, if any.

    Neither the push to 4 nor the pops of thieves from 3 to 2 and to 0 change the status. In the last step the owner
    takes from 5 tasks: "at least S" announces the queue, "equal to S" does not.
    """
    queues = watched_queue("announced", announce=announce)
    takes, executed, searches = queues.owner_takes, queues.owner_executed, queues.owner_searches
    steps: list[tuple[int, Any]] = [
        *((3, takes), (4, None), (4, executed), (4, takes), (3, executed), (2, None)),
        *((0, None), (0, searches), (3, takes), (2, executed), (5, None), (5, takes)),
    ]
    seen_bits = []
    for length, step in steps:
        show(queues, length)
        if step:
            step(0)
        seen_bits.append(queues.watch[0][0])
    assert seen_bits == found


@pytest.mark.parametrize(("announce", "kept"), [("owner", 0), ("owner-exact", 1)])
def test_pops_of_thieves_step_over_the_lower_threshold(announce: str, kept: int) -> None:
    """The owner announces 4 tasks and takes one. After the execution thieves have left 1 task, less than s."""
    queues = watched_queue("announced", announce=announce)
    show(queues, 4)
    queues.owner_takes(0)
    show(queues, 1)
    queues.owner_executed(0)
    assert queues.watch[0][0] == kept


@pytest.mark.parametrize(
    ("announce", "steals", "makespan_ns"),
    [
        ("always", ((100 * NS, 1, 0, 1), (1200 * NS, 1, 0, 1)), 3000),
        ("owner", ((100 * NS, 1, 0, 1), (1200 * NS, 1, 0, 1)), 3000),
        ("owner-exact", ((2100 * NS, 1, 0, 1),), 4000),
    ],
)
def test_an_owner_that_compares_for_equality_announces_late(
    announce: str, steals: tuple[tuple[int, ...], ...], makespan_ns: int
) -> None:
    """Worker 0 starts 5 items of 1 us, taking from 5, 4, 3 at 0, 1 and 2 us.

    By equality worker 0 announces at 2 us, when 2 items are left. The thief, which asks every 100 ns, probes at 2 us
    and has an item at 2.1 us. At 3 us 1 item is left, which is s: worker 0 withdraws the announcement and takes the
    item. Otherwise worker 0 announces at once, since 5 is more than S, and the thief has items at 0.1 us and 1.2 us,
    when 1 item is left.
    """
    thresholds = {"max": 3, "min": 1, "announce": announce}
    strategy = stealing({"from": "others", "if": "announced"}, thresholds=thresholds)
    work = items(5, 1000 * NS)
    # a body of no time: worker 0 takes all items from its queue
    first = phase(0, range_family=0, deal=work.phases[0].deal)
    seen = run(replace(graph(body()), ranges=work.ranges, phases=(first,)), strategy=strategy)
    assert seen.steals == steals
    assert seen["makespan_ps"] == makespan_ns * NS


# ---- when thresholds are computed -----------------------------------------------------------------------------------


def thresholds_after(work: Any, workers: int = 1, **keys: Any) -> tuple[list[int], list[int]]:
    costs = {"push_ns": 10, "pop_ns": 30, "probe_ns": 100}
    how = runtime(capacity=8, on_full="inline", s_rule="literal", costs=costs)
    spec = stealing({"from": "others", "if": "announced"}, thresholds={**AUTO, **keys})
    engine = ReferenceEngine(seeded(plan_of(work, workers, spec, how)), Trace())
    engine.run()
    return engine.queues.high, engine.queues.low


THREE = graph(task(*[task(20 * NS) for _ in range(3)], WAIT))
LONG = graph(task(10 * NS), task(1000 * NS), phases=(phase(0), phase(1)))


@pytest.mark.parametrize(
    ("work", "keys", "expected"),
    [
        # 3 pushes of 10 ns in 3 * 10 + 3 * (30 + 20) = 180 ns: S = 8 - ceil(30 / 180); 4 tasks in 60 ns:
        # s = ceil(120 / 60)
        (THREE, {}, ([7], [2])),
        (THREE, {"when": "fixed"}, ([7], [1])),  # S and s keep their first values
        # the first phase gives s = ceil(30 * 1 / 10) = 3; after the second phase 2 tasks have run in 1010 ns, which
        # gives 1
        (LONG, {}, ([8], [3])),
        (LONG, {"when": "phase"}, ([8], [1])),
    ],
)
def test_thresholds_are_computed_when_a_queue_first_drains_in_each_phase_or_never(
    work: Workload, keys: dict[str, str], expected: tuple[list[int], list[int]]
) -> None:
    assert thresholds_after(work, **keys) == expected


def test_a_worker_that_has_run_nothing_computes_nothing() -> None:
    assert thresholds_after(THREE, 2)[1][1] == 1
