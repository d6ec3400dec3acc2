"""Several tasks that become ready at once, and queues without room for all of them (model 4.1), worked out by hand."""

from __future__ import annotations

import pytest
from engine_setup import NS, assert_agree, event_by_event, observe, plan_of, runtime
from task_graphs import WAIT, Run, body, graph, layers, phase, task

from numasim.engine.simulate import ENGINES
from numasim.parts.models.runtime_model import RuntimeSpec

LONG = 10_000 * NS
PUSH = 10 * NS

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def room_for(tasks: int, push_ns: int = 0) -> RuntimeSpec:
    return runtime(join="help", capacity=tasks, on_full="inline", costs={"push_ns": push_ns})


@pytest.mark.parametrize("push_ps", [0, PUSH])
def test_a_worker_offers_what_it_has_released_again_once_it_has_executed_one_of_them(engine: str, push_ps: int) -> None:
    """Worker 0 releases six tasks with room for one: it puts one, begins the next, and puts another one after that."""
    names = [f"t{i}" for i in range(6)]
    tasks = [task(Run(LONG), name=name, after=("first",)) for name in names]
    work = graph(task(Run(LONG), name="first"), *tasks, phases=(phase(*range(7)),))
    seen = observe(event_by_event(plan_of(work, 2, how=room_for(1, push_ps // NS))), engine)
    assert seen.of_worker("tasks") == [4, 3]  # three each of the six, which take both workers three times as long
    lost = seen["makespan_ps"] - 4 * LONG
    assert 0 <= lost <= 6 * push_ps + 400 * NS  # pushes, and probes of the thief


def test_a_worker_that_is_dealt_more_than_its_queue_holds_offers_it_one_by_one(engine: str) -> None:
    work = graph(*[task(Run(LONG)) for _ in range(100)], phases=(phase(*range(100)),))
    for workers in (1, 2, 4):
        seen = observe(event_by_event(plan_of(work, workers, "randomized", room_for(4))), engine)
        assert sum(seen.of_worker("tasks")) == 100
        assert abs(max(seen.of_worker("tasks")) - 100 // workers) <= 1


def test_what_is_released_within_a_join_is_executed_within_it(engine: str) -> None:
    """A body waits for children that depend on another one of them, and have no room: it executes all of them."""
    children = [task(Run(LONG), name=f"c{i}", after=("first",)) for i in range(5)]
    work = graph(body(task(Run(LONG), name="first"), *children, WAIT, Run(LONG)))
    seen = observe(event_by_event(plan_of(work, 1, how=room_for(1))), engine)
    assert seen["makespan_ps"] == 7 * LONG
    two = observe(event_by_event(plan_of(work, 2, how=room_for(1))), engine)
    assert two["makespan_ps"] < 5 * LONG + 1000 * NS


def test_engines_agree_on_what_waits_for_room(engine: str) -> None:
    for workers in (1, 3, 4):
        for push_ns in (0, 10):
            plan = event_by_event(plan_of(layers(6, 9, LONG), workers, "randomized", room_for(3, push_ns)))
            assert_agree(observe(plan, engine), observe(plan, "reference"))
