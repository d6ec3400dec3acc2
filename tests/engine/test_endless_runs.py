"""Runs in which tasks are left and no worker is at work: engines end such a run with an error if it cannot go on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from engine_setup import NS, observe, plan_of, runtime, simulated, stealing, toy
from hypothesis import given, settings
from hypothesis import strategies as st
from task_graphs import Run as Segment
from task_graphs import body, graph, phase, task

from numasim.engine.check.deadlock import LATEST_PS, TOO_LATE, DeadlockError, TooLongError
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Workload

TWO_NODES = toy(sockets=2, cores=1)
ONE_CHILD = graph(body(), body(task(10 * NS)), phases=(phase(0, 1, deal=Deal.CYCLIC),))
POOLS = {"left": {"per": "node"}, "right": {"per": "node"}}
ALL = {"from": "others", "self": "yes", "queue": ["left", "right"], "tries": "all"}
RISING = {"first": 0, "elsewhere-miss": 0.1}


def plan_with(queue: str, *levels: dict[str, Any]) -> Plan:
    """Return a plan of two workers with two pools each; worker 1 puts the child into its own pool named ``queue``."""
    rules = [{"to": "own", "queue": queue}]
    return plan_of(ONE_CHILD, 2, stealing(*levels, queues=POOLS, dispatch=rules), machine=TWO_NODES)


ENDLESS = {
    "the first queue is probed each time": [{**ALL, "pick": "in-order", "tries": 1}],
    "the shortest queue is an empty one": [{**ALL, "pick": "shortest", "tries": 1}],
    "so is the shortest of as many samples as there are queues": [{**ALL, "pick": "shortest", "tries": 1, "sample": 2}],
    "the level has no chance": [{**ALL, "chance": 0}],
    "its chance would rise if others failed, and there are none": [{**ALL, "chance": RISING}],
    "a level in front is taken each time": [{**ALL, "queue": "right", "chance": 1}, ALL],
    # The level has one cursor for both lists of queues, which moves on after each probe. So of the left list only the
    # first queue is probed, and of the right list only the second queue.
    "one cursor goes from left to right and back": [{**ALL, "pick": "round-robin", "tries": 1}],
}
ENDING = {
    "all queues are probed": [{**ALL, "pick": "in-order"}],
    "one sample is any queue": [{**ALL, "pick": "shortest", "tries": 1, "sample": 1}],
    "the level has some chance": [{**ALL, "chance": 0.001}],
    "its chance rises as others fail": [{**ALL, "queue": "right"}, {**ALL, "chance": RISING}],
    "a level in front is taken less and less": [{**ALL, "queue": "right", "chance": {"first": 0.5, "miss": -0.1}}, ALL],
    "a cursor is for one family": [
        {**ALL, "queue": "left", "pick": "round-robin", "tries": 1},
        {**ALL, "queue": "right", "pick": "round-robin", "tries": 1},
    ],
}


@pytest.mark.parametrize("why", ENDLESS)
def test_a_task_that_no_probe_comes_to_ends_the_run(why: str) -> None:
    with pytest.raises(DeadlockError, match=r"1 tasks are left at .* no worker can run them"):
        observe(plan_with("left", *ENDLESS[why]))


@pytest.mark.parametrize("why", ENDING)
def test_a_task_that_some_probe_comes_to_is_waited_for(why: str) -> None:
    assert observe(plan_with("left", *ENDING[why]))["tasks"] == 1


def refilling(leave: int) -> Plan:
    """Return a plan of two workers that look for more work while they hold one task, and of a root with two tasks."""
    level = {"from": "others", "leave": leave}
    return plan_of(graph(task(task(10 * NS), task(10 * NS))), 2, stealing(level, refill=1), runtime(poll_ns=100))


def test_tasks_that_thieves_pass_to_and_fro_end_the_run() -> None:
    # Worker 1 takes a task at 100 ns and looks for more; worker 0 begins its other task. From then on each worker finds
    # the last task in the other worker's queue and takes the task, every 100 ns, before the task is begun.
    with pytest.raises(DeadlockError, match=r"1 tasks are left at .* thieves pass them to and fro"):
        observe(refilling(leave=0))


def test_a_task_that_is_left_to_its_owner_is_begun() -> None:
    assert observe(refilling(leave=1))["tasks"] == 3


# ---- times that 63 bits do not hold ---------------------------------------------------------------------------------
# A segment takes at most 2^60 ps; events are not later than 2^62 ps, and the times of all workers together stay below
# 2^63 ps.

LONGEST_PS = 2**60
LAST_POLL_PS = 10**6  # room for an idle worker's next look, which may be scheduled to after the end of the work
SEED = 1


def alone(*lengths_ps: int, skip: bool = True) -> Plan:
    """Return a plan of segments one after the other on one worker."""
    return plan_of(graph(task(*map(Segment, lengths_ps))), 1, skip=skip)


def side_by_side(*lengths_ps: int) -> Workload:
    """Return a program with a body of four equal segments for each worker."""
    bodies = [body(*[Segment(length) for _ in range(4)]) for length in lengths_ps]
    return graph(*bodies, deal=Deal.CYCLIC)


@pytest.mark.parametrize("skip", [False, True])
def test_the_latest_time_is_reached(skip: bool) -> None:
    result = simulated(alone(*[LONGEST_PS] * 3, LONGEST_PS - LAST_POLL_PS, skip=skip))
    assert result.counters["makespan_ps"] == result.counters["work_ps"] == LATEST_PS - LAST_POLL_PS


@pytest.mark.parametrize("skip", [False, True])
def test_a_later_time_is_refused(skip: bool) -> None:
    with pytest.raises(TooLongError) as refused:
        observe(alone(*[LONGEST_PS] * 4, 1, skip=skip))
    assert str(refused.value) == f"workload: {TOO_LATE}; expected shorter tasks, or fewer of them"


def test_sums_over_workers_are_refused_where_they_would_wrap() -> None:
    fits = simulated(plan_of(side_by_side(*[LONGEST_PS // 2] * 3), 3))
    assert fits.counters["work_ps"] == 3 * fits.counters["makespan_ps"] == 6 * LONGEST_PS
    with pytest.raises(TooLongError, match="the times of 3 workers add up to more than"):
        observe(plan_of(side_by_side(*[LONGEST_PS // 4 * 3] * 3), 3))


def test_a_back_off_beyond_all_time_is_refused() -> None:
    """The waits of the idle worker grow: 9e15 ps, then a thousand times 9e15 ps, then a million times 9e15 ps."""
    how = runtime(backoff={"first_ns": 9_000_000_000_000, "factor": 1024})
    plan = plan_of(side_by_side(LONGEST_PS, 1), 2, stealing(), how)
    with pytest.raises(TooLongError, match=re.escape(TOO_LATE)):
        observe(plan)


@settings(max_examples=50)
@given(lengths=st.lists(st.integers(1, LONGEST_PS), min_size=1, max_size=12), skip=st.booleans())
def test_a_chain_takes_the_sum_or_is_refused(lengths: list[int], skip: bool) -> None:
    plan = alone(*lengths, skip=skip)
    if sum(lengths) > LATEST_PS:
        with pytest.raises(TooLongError, match=re.escape(TOO_LATE)):
            observe(plan)
    elif sum(lengths) <= LATEST_PS - LAST_POLL_PS:
        assert simulated(plan).counters["makespan_ps"] == sum(lengths)
