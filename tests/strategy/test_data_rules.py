"""Dispatch rules (which queue a new task goes to) that depend on the nodes of the task's data: ranks of nodes,
conditions, full and shared queues. An object is a piece of memory that a task accesses.
"""

from __future__ import annotations

from typing import Any

import pytest
from strategy_setup import Snapshot, compiled, on_nodes, runtime, stealing, strategy, toy_machine

from numasim.errors import InputError
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.strategy.compile_strategy import compile_strategy
from numasim.strategy.probe import Prober
from numasim.strategy.similarity import UNBOUND, Objects
from numasim.strategy.steal_plan import StealPlan

READ, WRITE, BOTH = 1, 2, 3
TWO_NODES = [0, 1, 0, 1]  # queues 0 and 2 on node 0, 1 and 3 on node 1
PRODUCER = 4
ELSEWHERE = {"to": "any", "pick": "in-order", "queue": "else"}  # queue 4, if the tested rule finds no queue
NOT_FOUND = 4


def asking(*rules: dict[str, Any], capacity: int = 3) -> StealPlan:
    queues = {"deque": {"per": "worker", "capacity": capacity, "full": "block"}, "else": {"per": "machine"}}
    level = {"from": "others", "self": "yes", "queue": ["deque", "else"]}
    return compiled(stealing(level, dispatch=[*rules, ELSEWHERE], queues=queues), TWO_NODES)


def placed(plan: StealPlan, objects: list[Objects], length: Any = (0, 0, 0, 0), position: int = 0, **how: Any) -> int:
    return Prober(plan, 1).place(position, Snapshot.of(plan, [*length, 0]), objects=objects, **how)


def on(*bytes_by_node: int, mode: int = READ) -> list[Objects]:
    """Return an object of ``bytes_by_node`` bytes on each node with any bytes."""
    return [Objects(node, mode, 1, size) for node, size in enumerate(bytes_by_node) if size]


def test_a_task_goes_to_the_shortest_queue_of_its_datas_node() -> None:
    plan = asking({"to": "data", "pick": "shortest"})
    assert placed(plan, on(100, 200)) == 1
    assert placed(plan, on(100, 200), [0, 2, 0, 1]) == 3
    assert placed(plan, on(300, 200), [1, 0, 0, 0], position=3) == 2
    assert placed(plan, on(0, 64), [0, 3, 0, 2]) == 3
    assert placed(plan, on(0, 64), [0, 3, 0, 3]) == NOT_FOUND


def test_data_on_a_node_without_workers_counts_for_the_nearest_node_that_has_some() -> None:
    spec = stealing({"from": "others"}, dispatch=[{"to": "data", "rank": "cheapest"}, {"to": "any"}])
    plan = compile_strategy(spec, RuntimeSpec(), toy_machine(3), on_nodes([0, 1]))  # latency grows with the distance
    assert Prober(plan, 1).place(0, Snapshot.of(plan), objects=on(0, 0, 64)) == 1
    most = stealing({"from": "others"}, dispatch=[{"to": "data"}, {"to": "any", "pick": "cyclic"}])
    plan = compile_strategy(most, RuntimeSpec(), toy_machine(3), on_nodes([0, 1]))
    assert Prober(plan, 1).place(0, Snapshot.of(plan), objects=on(0, 1, 64)) == 1
    assert Prober(plan, 1).place(0, Snapshot.of(plan), objects=on(0, 0, 64)) == 0


def test_any_is_the_shortest_queue_over_all_homes() -> None:
    plan = asking({"to": "data", "rank": "any", "pick": "shortest"})
    assert placed(plan, on(1, 999), [2, 2, 1, 2]) == 2
    assert placed(plan, on(1, 999), [2, 2, 2, 0]) == 3
    assert placed(plan, on(0, 999), [0, 2, 0, 2]) == 1
    assert placed(plan, [*on(1), Objects(UNBOUND, READ, 1, 5)], [2, 0, 1, 0]) == 2
    assert placed(plan, on(1, 1), [2, 1, 1, 1]) == 1, "of equally short queues the lower one, whatever its node"
    assert placed(plan, on(1, 1), [1, 2, 1, 1]) == 0
    plan = asking({"to": "data", "rank": "any", "pick": "in-order"})  # nodes without room are passed over
    assert placed(plan, on(1, 1), [3, 2, 3, 0]) == 1
    assert placed(plan, on(1, 1), [3, 3, 3, 3]) == NOT_FOUND


@pytest.mark.parametrize(
    ("guard", "objects", "holds"),
    [
        ({"bytes": 64}, on(32, 32), True),
        ({"bytes": 65}, on(32, 32), False),
        ({"bytes": 1}, [], False),
        ({"bytes": 64}, [Objects(UNBOUND, READ, 1, 64)], True),
        ({"bytes": 64, "count": "writes"}, [*on(32), *on(32, mode=WRITE)], False),
        ({"share": 0.5}, on(10, 10), True),
        ({"share": 0.5}, [*on(10, 9), Objects(UNBOUND, READ, 1, 2)], False),
        ({"share": 0.6, "weigh": "objects"}, [Objects(0, READ, 3, 1), Objects(1, READ, 2, 99)], True),
        ({"share": 0.6}, [Objects(0, READ, 3, 1), Objects(1, READ, 2, 99)], True),
        ({"share": 0.6, "count": "reads"}, [Objects(0, READ, 3, 1), Objects(1, WRITE, 2, 99)], True),
        ({"share": 0.999999}, on(999_999, 1), True),
        ({"share": 0.999999}, on(999_998, 2), False),
        ({"share": 0.5}, [], False),
        ({"uneven": "yes"}, on(10, 10), False),
        ({"uneven": "yes"}, on(10, 11), True),
        ({"uneven": "yes"}, [], False),
        ({"here": "yes"}, on(10, 9), True),
        ({"here": "yes"}, on(10, 11), False),
        ({"here": "yes"}, [], False),
        ({"here": "yes", "rank": "any"}, on(1, 11), True),
        ({"here": "yes", "rank": "any"}, on(0, 11), False),
    ],
)
def test_a_guard_keeps_tasks_from_a_rule(guard: dict[str, Any], objects: list[Objects], holds: bool) -> None:
    assert placed(asking({"to": "own", **guard}), objects) == (0 if holds else NOT_FOUND)


def test_guards_of_a_rule_that_goes_to_the_data() -> None:
    rule = {"to": "data", "share": 0.75, "bytes": 100}
    assert placed(asking(rule), on(25, 75)) == 1
    assert placed(asking(rule), on(26, 75)) == NOT_FOUND
    assert placed(asking({"to": "data", "here": "yes"}), on(0, 64), position=1) == 1
    assert placed(asking({"to": "data", "here": "yes"}), on(0, 64), position=2) == NOT_FOUND


def test_a_source_waits_for_no_other_task() -> None:
    plan = asking({"to": "own", "source": "yes"})
    assert placed(plan, [], source=True) == 0
    assert placed(plan, [], source=False) == NOT_FOUND


@pytest.mark.parametrize(
    ("rules", "asks"),
    [
        ([{"to": "data"}], True),
        ([{"to": "own", "bytes": 64}], True),
        ([{"to": "own", "source": "yes"}], False),
        ([{"to": "own"}, {"to": "data"}], False),
        ([{"to": "own", "if": {"length": 1}}, {"to": "data"}], True),
    ],
)
def test_a_prober_says_whether_it_has_asked_where_the_data_is(rules: list[dict[str, Any]], asks: bool) -> None:
    plan = asking(*rules)
    prober = Prober(plan, 1)
    prober.place(0, Snapshot.of(plan), objects=on(1))
    assert prober.looked == asks


def test_a_producer_stands_on_the_node_of_the_first_worker() -> None:
    plan = asking({"to": "data", "here": "yes"})
    assert placed(plan, on(64), position=PRODUCER) == 0
    assert placed(plan, on(0, 64), position=PRODUCER) == NOT_FOUND


def test_a_queue_that_nodes_share_takes_the_tasks_of_each() -> None:
    queues = {"deque": {"per": "worker"}, "pool": {"per": "socket"}}
    rules = [{"to": "data", "queue": "pool"}, {"to": "own"}]
    spec = stealing({"from": "others", "self": "yes", "queue": ["deque", "pool"]}, queues=queues, dispatch=rules)
    machine, workers = toy_machine(4, nodes_a_socket=2), on_nodes([0, 1, 2, 3], nodes_a_socket=2)
    prober = Prober(compile_strategy(spec, RuntimeSpec(), machine, workers), 1)
    homes = [prober.place(0, Snapshot([0] * 6), objects=[Objects(node, READ, 1, 1)]) for node in range(4)]
    assert homes == [4, 4, 5, 5]


def test_a_producer_needs_a_rule_that_takes_every_task() -> None:
    spec = stealing({"from": "others"}, dispatch=[{"to": "data"}, {"to": "own"}])
    with pytest.raises(InputError, match="no dispatch rule finds a queue"):
        compiled(spec, TWO_NODES, runtime("own"))


def test_home_scheduling_keeps_a_task_without_data() -> None:
    plan = compiled(strategy("home-4"), TWO_NODES)
    prober, view = Prober(plan, 1), Snapshot.of(plan, [5, 0, 0, 0])
    assert prober.place(0, view) == 0
    assert prober.place(0, view, objects=on(1, 1)) == 1


def test_the_readings_of_the_worker_in_a_domain() -> None:
    """The queue within a domain (A-14) is the least loaded queue, or goes by the task's number, or alternates."""
    length, data = [0, 1, 0, 0], on(0, 64)
    found = {}
    for name in ("locality-binding", "locality-binding-hashed", "locality-binding-round-robin"):
        plan = compiled(strategy(name), TWO_NODES)
        prober, view = Prober(plan, 1), Snapshot.of(plan, length)
        found[name] = [prober.place(0, view, index, 9, data) for index in range(4)]
    assert found == {
        "locality-binding": [3, 3, 3, 3],
        "locality-binding-hashed": [1, 3, 1, 3],
        "locality-binding-round-robin": [1, 3, 1, 3],
    }
    plan = compiled(strategy("locality-binding-round-robin"), TWO_NODES)
    view = Snapshot.of(plan, length)
    view.watch[[tuple(pair) for pair in plan.watch.tolist()].index((-2, -4))] = [0, 1, 0, 0]  # queue 1 holds S tasks
    assert [Prober(plan, 1).place(0, view, index, 9, data) for index in range(2)] == [3, 3]
