"""Runs in which nobody is at work and tasks are left: searches go on for ever, and are refused once that is certain."""

from __future__ import annotations

from typing import Any

import pytest
from engine_setup import NS, observe, plan_of, runtime, stealing, toy
from task_graphs import body, graph, phase, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.simulate import ENGINES
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal

TWO_NODES = toy(sockets=2, cores=1)
ONE_CHILD = graph(body(), body(task(10 * NS)), phases=(phase(0, 1, deal=Deal.CYCLIC),))
POOLS = {"left": {"per": "node"}, "right": {"per": "node"}}
ALL = {"from": "others", "self": "yes", "queue": ["left", "right"], "tries": "all"}
RISING = {"first": 0, "elsewhere-miss": 0.1}


def plan_with(queue: str, *levels: dict[str, Any]) -> Plan:
    """Two workers, each with two pools of its node; worker 1 puts the child into its pool of family ``queue``."""
    rules = [{"to": "own", "queue": queue}]
    return plan_of(ONE_CHILD, 2, stealing(*levels, queues=POOLS, dispatch=rules), machine=TWO_NODES)


ENDLESS = {
    "the first queue is probed each time": [{**ALL, "pick": "in-order", "tries": 1}],
    "the shortest queue is an empty one": [{**ALL, "pick": "shortest", "tries": 1}],
    "so is the shortest of as many samples as there are queues": [{**ALL, "pick": "shortest", "tries": 1, "sample": 2}],
    "the level has no chance": [{**ALL, "chance": 0}],
    "its chance would rise if others failed, and there are none": [{**ALL, "chance": RISING}],
    "a level in front is taken each time": [{**ALL, "queue": "right", "chance": 1}, ALL],
    # the place after the first queue on the left is the second one on the right, behind which begins the left
    "one cursor goes from left to right and back": [{**ALL, "pick": "round-robin", "tries": 1}],
}
ENDING = {
    "all queues are probed": [{**ALL, "pick": "in-order"}],
    "one sample is any queue": [{**ALL, "pick": "shortest", "tries": 1, "sample": 1}],
    "the level has some chance": [{**ALL, "chance": 0.001}],
    "its chance rises as others fail": [{**ALL, "queue": "right"}, {**ALL, "chance": RISING}],
    "a level in front is taken less and less": [
        {**ALL, "queue": "right", "chance": {"first": 0.5, "miss": -0.1}},
        ALL,
    ],
    "a cursor is for one family": [
        {**ALL, "queue": "left", "pick": "round-robin", "tries": 1},
        {**ALL, "queue": "right", "pick": "round-robin", "tries": 1},
    ],
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("why", ENDLESS)
def test_a_task_that_no_probe_comes_to_ends_the_run(why: str, engine: str) -> None:
    with pytest.raises(DeadlockError, match=r"1 tasks are left at .* no worker can run them"):
        observe(plan_with("left", *ENDLESS[why]), engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("why", ENDING)
def test_a_task_that_some_probe_comes_to_is_waited_for(why: str, engine: str) -> None:
    assert observe(plan_with("left", *ENDING[why]), engine)["tasks"] == 1


def refilling(leave: int) -> Plan:
    """Two workers that look for more while they have one task, and a program of two tasks beside its root."""
    level = {"from": "others", "leave": leave}
    return plan_of(graph(task(task(10 * NS), task(10 * NS))), 2, stealing(level, refill=1), runtime(poll_ns=100))


@pytest.mark.parametrize("engine", ENGINES)
def test_tasks_that_thieves_pass_to_and_fro_end_the_run(engine: str) -> None:
    # Worker 1 takes a task at 100 ns, which is too few for it; worker 0 begins its other one. From then on each probe
    # finds the last task in the other worker's queue and takes it along, every 100 ns, before it would be begun.
    with pytest.raises(DeadlockError, match=r"1 tasks are left at .* thieves pass them to and fro"):
        observe(refilling(leave=0), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_task_that_is_left_to_its_owner_is_begun(engine: str) -> None:
    assert observe(refilling(leave=1), engine)["tasks"] == 3
