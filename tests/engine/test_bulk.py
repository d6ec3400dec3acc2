"""Ranges in bulk where it is easy to go wrong: ends of queues, nested items, times beyond what a float holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engine_setup import NS, assert_agree, event_by_event, observe, plan_of, runtime, shipped_strategy, stealing, toy
from task_graphs import WAIT, body, graph, items, phase, task

from numasim.engine.check.invariants import violations
from numasim.engine.observe.trace_hash import Records
from numasim.engine.simulate import ENGINES
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal


def same_in_both_modes(plan: Plan) -> tuple[int, int]:
    """Hold bulk against item by item, every record included; the events that each took on the reference engine."""
    bulk, single = observe(plan, "reference"), observe(event_by_event(plan), "reference")
    assert_agree(bulk, single)
    assert np.array_equal(in_order(bulk.records), in_order(single.records))
    return bulk["events"], single["events"]


def in_order(records: Records) -> Records:
    """Records come in batches, and those of a stretch together."""
    return records[np.lexsort(records.T)]


def test_a_range_of_its_own_is_one_event() -> None:
    assert same_in_both_modes(plan_of(items(500, 100 * NS), workers=1)) == (2, 501)  # and the end of the phase


@pytest.mark.parametrize("engine", ENGINES)
def test_items_that_take_no_time_are_not_produced_in_bulk(engine: str) -> None:
    """The worker steals from itself, which takes time: the producer finds its queue full and the worker busy."""
    how = runtime(producer="extra", capacity=8, on_full="next", costs={"probe_ns": 100, "take_ns": 60})
    seen = observe(plan_of(items(630, 0), 1, "topology-aware-self", how), engine, seed=5)
    assert (seen["tasks"], seen["mode"]) == (630, "eager")


@pytest.mark.parametrize("own", ["lifo", "fifo"])
@pytest.mark.parametrize("steal", ["lifo", "fifo"])
@pytest.mark.parametrize("amount", ["one", "half", {"count": 3}])
def test_thieves_at_either_end_of_the_queue(own: str, steal: str, amount: object) -> None:
    queues = {"deque": {"per": "worker", "own": own, "steal": steal}}
    strategy = stealing({"from": "others", "amount": amount}, queues=queues)
    work = items(400, 90 * NS, 410 * NS, deal=Deal.MASTER)
    bulk, single = same_in_both_modes(plan_of(work, 4, strategy, runtime(costs={"pop_ns": 7, "take_ns": 11})))
    assert bulk < single or own == steal


def test_tasks_among_the_items_of_a_producer_keep_their_names() -> None:
    # worker 0 starts with ten spawned tasks in its queue, and the producer fills up what is left of the queues
    spawning = graph(body(*(task(50 * NS) for _ in range(10))))
    mixed = phase(0, range_family=0, deal=Deal.MASTER)
    work = replace(spawning, ranges=items(900, 1000 * NS).ranges, phases=(mixed,))
    how = runtime(producer="extra", capacity=20, on_full="next", costs={"push_ns": 3, "pop_ns": 5})
    bulk, single = observe(plan_of(work, 3, how=how)), observe(event_by_event(plan_of(work, 3, how=how)))
    assert violations(plan_of(work, 3, how=how), bulk.result, bulk.log) == []
    tables = {name: column.tolist() for name, column in bulk.result.per_worker.items()}
    assert tables == {name: column.tolist() for name, column in single.result.per_worker.items()}


def test_a_second_phase_goes_on_with_the_round_robin_of_the_first() -> None:
    how = runtime(producer="extra", capacity=4, on_full="next", s_rule="avail", costs={"push_ns": 0})
    plan = plan_of(items(66, 1 * NS, repeat=2), 5, shipped_strategy("nearest-first"), how, toy(2, 3, 2))
    assert_agree(observe(plan, seed=0), observe(event_by_event(plan), seed=0))


@pytest.mark.parametrize(
    "rule",
    [
        {"to": "any", "pick": "shortest"},
        {"to": "any", "pick": "random"},
        {"to": "any", "pick": "in-order"},
        {"to": "any", "pick": "block"},
        {"to": "any", "pick": "cyclic"},
        {"to": "any", "pick": "rotate"},
        {"to": "lightest", "pick": "round-robin"},
    ],
)
def test_a_producer_that_does_not_deal_round_robin(rule: dict[str, str]) -> None:
    how = runtime(producer="extra", capacity=6, on_full="next", costs={"push_ns": 2, "pop_ns": 1})
    strategy = stealing({"from": "others"}, dispatch=[rule])
    plan = plan_of(items(400, 90 * NS), 4, strategy, how, toy(sockets=2, cores=2))
    assert_agree(observe(plan), observe(event_by_event(plan)))


def test_times_that_no_float_holds() -> None:
    odd = 4_000_000_000_000_001  # three of them exceed 2 ** 53 ps
    seen = observe(plan_of(items(3, odd), workers=1))
    assert seen["makespan_ps"] == 3 * odd
    same_in_both_modes(plan_of(items(3, odd), workers=1))


@pytest.mark.parametrize("join", ["help", "own", "strict", "continuation"])
def test_items_nested_in_a_join_make_way_where_the_join_ends(join: str) -> None:
    # worker 0 waits for a child that a thief runs, and takes items meanwhile, from the other end of its queue
    waiting = graph(task(10 * NS, task(1000 * NS), WAIT, 10 * NS))
    mixed = phase(0, range_family=0, deal=Deal.MASTER)
    work = replace(waiting, ranges=items(60, 170 * NS).ranges, phases=(mixed,))
    same_in_both_modes(plan_of(work, 3, how=runtime(join=join, queue_order="fifo-lifo")))
