"""Runs whose tasks are dispatched to their data (thesis 5.4, 5.5): who executes what, and what dispatch costs."""

from __future__ import annotations

from typing import Any

import pytest
from engine_setup import NS, Seen, observe, plan_of, runtime, shipped_strategy, toy
from task_graphs import WAIT, Access, Run, graph, items, task

from numasim.engine.observe.trace_hash import Rank
from numasim.parts.models.strategy_model import StrategySpec
from numasim.workload.graph import Mode, Region

PAGE = 4096
HALVES = (Region("data", 2 * PAGE, True),)  # in blocks: the first page on node 0, the second on node 1
FIRST, SECOND = Access(0, 0, 64), Access(0, PAGE, 64)
TWO_NODES = toy(sockets=2, cores=1)  # worker 0 on node 0, worker 1 on node 1
LINE = 40 * NS  # from one to the other


def bound(**keys: Any) -> StrategySpec:
    """Locality binding in which nobody steals."""
    shipped = shipped_strategy("locality-binding").dispatch or ()
    rules = [rule.model_dump(by_alias=True, exclude_unset=True) for rule in shipped]
    given = {"name": "test", "steal": [], "dispatch": rules, "placement": "block", **keys}
    return StrategySpec.model_validate(given)


def seen(work: Any, how: Any, **keys: Any) -> Seen:
    return observe(plan_of(work, 2, bound(**keys), how, TWO_NODES))


def on(*accesses: Access, ns: int = 100) -> Any:
    return task(Run(ns * NS, accesses))


def workers_of(run: Seen) -> dict[int, int]:
    """The worker that executed each task."""
    return {each: worker for worker, each, _, _ in run.stretches}


def test_the_six_tasks_of_section_5_4_run_where_their_objects_are() -> None:
    uses = [FIRST, FIRST, SECOND, FIRST, SECOND, FIRST]
    run = seen(graph(task(*map(on, uses), WAIT, 100), regions=HALVES), runtime())
    assert [workers_of(run)[at + 1] for at in range(6)] == [0, 0, 1, 0, 1, 0]


def test_a_task_goes_to_the_node_that_most_of_its_data_is_on() -> None:
    more = Access(0, PAGE, 128)
    run = seen(graph(task(on(FIRST, more), on(FIRST, SECOND), WAIT, 100), regions=HALVES), runtime())
    assert (workers_of(run)[1], workers_of(run)[2]) == (1, 0)


@pytest.mark.parametrize(("access", "line_ps"), [(FIRST, 0), (SECOND, LINE)])
def test_a_push_costs_the_look_at_the_data_and_the_line_of_another_queue(access: Access, line_ps: int) -> None:
    """They are owed after the push: the first task is there after 60 ns, the next after 150 + line + 60 more."""
    how = runtime(costs={"push_ns": 60, "locate_ns": 150, "line": "yes"})
    run = seen(graph(task(*[on(access, ns=5000)] * 4), regions=HALVES), how)
    step = (60 + 150) * NS + line_ps
    assert [t for t, *_ in run.of_rank(Rank.PUT)] == [60 * NS + k * step for k in range(4)]
    joins = [3 * 5 * NS, 0] if access is FIRST else [0, 3 * LINE]  # paid by who executes the tasks, but for the last
    assert run.of_worker("overhead_ps") == [4 * step + joins[0], joins[1]]


def test_a_task_that_no_rule_asks_about_costs_no_look() -> None:
    how = runtime(costs={"push_ns": 60, "locate_ns": 150})
    rules = [{"to": "own", "if": {"below": 3}}, {"to": "data"}, {"to": "own"}]
    run = seen(graph(task(*[on(FIRST)] * 5), regions=HALVES), how, dispatch=rules)
    assert [t for t, *_ in run.of_rank(Rank.PUT)] == [60 * NS, 120 * NS, 180 * NS, 240 * NS, 450 * NS]


def test_a_producer_pays_for_each_item_that_it_has_looked_at() -> None:
    """Item i uses half a page: the first two are at home on node 0, the others on node 1."""
    work = items(4, 1000 * NS, accesses=(Access(0, 0, PAGE // 2),), steps=((1, PAGE // 2, 0),), regions=HALVES)
    run = seen(work, runtime(producer="extra", costs={"push_ns": 60, "locate_ns": 150}))
    puts = run.of_rank(Rank.PUT)
    assert [t for t, *_ in puts] == [60 * NS + k * 210 * NS for k in range(4)]
    assert [queue for *_, queue in puts] == [0, 0, 1, 1]


def test_items_that_are_dealt_at_the_start_go_to_their_data_for_nothing() -> None:
    work = items(4, 1000 * NS, accesses=(Access(0, 0, PAGE // 2),), steps=((1, PAGE // 2, 0),), regions=HALVES)
    run = seen(work, runtime(costs={"locate_ns": 150}))
    assert workers_of(run) == {0: 0, 1: 0, 2: 1, 3: 1}
    assert run.of_worker("overhead_ps") == [0, 0]


def test_data_that_a_task_has_touched_first_draws_later_tasks_there() -> None:
    """Fresh memory is unbound, so its first user goes by its other data; where that ran, the next one goes."""
    regions = (*HALVES, Region("fresh", 2 * PAGE, False))
    fresh = Access(1, 0, 32, mode=Mode.WRITE)
    root = task(on(fresh, SECOND), WAIT, on(fresh), WAIT, 100)
    work = graph(root, regions=regions)
    initialised = {"placement": "parallel-first-touch"}  # first page by worker 0, second by worker 1; fresh in the run
    executed = workers_of(seen(work, runtime(), **initialised))
    assert (executed[1], executed[2]) == (1, 1)


def test_a_task_whose_data_is_nowhere_goes_to_the_node_with_the_fewest_tasks() -> None:
    regions = (*HALVES, Region("fresh", 2 * PAGE, False))
    root = task(on(FIRST), on(Access(1, 0, 64)), on(Access(1, PAGE, 64)), WAIT, 100)
    run = seen(graph(root, regions=regions), runtime(), placement="parallel-first-touch")
    assert [queue for *_, queue in run.of_rank(Rank.PUT)] == [0, 1, 0]


def test_a_full_own_queue_does_not_keep_tasks_from_their_data() -> None:
    """OMPi executes a spawn at once while the own queue overflows. A task whose data is elsewhere goes there (2), until
    no queue has room (3), and again when one has (4).
    """
    how = runtime(capacity=1, on_full="inline", join="help", costs={"push_ns": 60})
    root = task(on(FIRST, ns=9000), on(SECOND, ns=9000), on(SECOND, ns=100), on(SECOND, ns=100), WAIT, 100)
    run = seen(graph(root, regions=HALVES), how)
    assert workers_of(run) == {0: 0, 1: 0, 2: 1, 3: 0, 4: 1}
