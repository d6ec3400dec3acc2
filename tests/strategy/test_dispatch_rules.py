"""The queues to which dispatch rules send new tasks. The first rule with a queue that has room counts; random choices
use a stream of the worker, or of the producer, which makes items of ranges.
"""

from __future__ import annotations

from typing import Any

import pytest
from strategy_setup import Snapshot, compiled, draw, runtime, stealing, strategy

from numasim.strategy.probe import Prober
from numasim.strategy.steal_plan import StealPlan

SEED = 5
TWO_NODES = [0, 1, 0, 1]
PRODUCER = 4


def dispatching(*rules: dict[str, Any], capacity: int = 3, **others: Any) -> StealPlan:
    full = {"deque": {"per": "worker", "capacity": capacity, "full": "block"}}
    return compiled(stealing({"from": "others"}, dispatch=list(rules), queues=full, **others), TWO_NODES)


def placed(plan: StealPlan, length: list[int], position: int = 0, count: int = 1) -> list[int]:
    prober, view = Prober(plan, SEED), Snapshot.of(plan, length)
    return [prober.place(position, view, index, count) for index in range(count)]


def test_a_worker_keeps_its_tasks_until_its_queue_is_full() -> None:
    plan = dispatching({"to": "own"})
    assert placed(plan, [2, 0, 0, 0]) == [0]
    assert placed(plan, [3, 0, 0, 0]) == [-1]
    assert placed(plan, [0, 0, 2, 0], position=2) == [2]
    assert placed(compiled(strategy("randomized"), TWO_NODES), [10**6] * 4, position=3) == [3]


def test_the_producer_deals_round_robin_and_skips_full_queues() -> None:
    plan = compiled(strategy("randomized"), TWO_NODES, runtime("own"))
    prober, view = Prober(plan, SEED), Snapshot.of(plan)
    assert [prober.place(PRODUCER, view) for _ in range(6)] == [0, 1, 2, 3, 0, 1]
    view.length = [0, 500, 500, 0]
    assert [prober.place(PRODUCER, view) for _ in range(3)] == [3, 0, 3]
    view.length = [500] * 4
    assert prober.place(PRODUCER, view) == -1
    assert prober._states[PRODUCER].dispatch.drawn == 0
    view.length = [500, 0, 0, 0]  # worker 0's queue is full; `on_full: next` of the runtime goes on to other queues
    assert [prober.place(0, view) for _ in range(3)] == [1, 2, 3]


def test_random_dispatch_uses_its_own_stream() -> None:
    plan = dispatching({"to": "any", "pick": "random"})
    expected = [draw(SEED, 2, k, 4, kind=5) for k in range(10)]
    assert placed(plan, [0] * 4, position=2, count=10) == expected


def test_a_full_random_choice_falls_through_to_the_next_rule() -> None:
    plan = dispatching({"to": "own-node", "pick": "random"}, {"to": "any", "pick": "shortest"})
    assert placed(plan, [3, 2, 3, 1]) == [3]


def test_task_numbers_decide_cyclic_and_block() -> None:
    assert placed(dispatching({"to": "any", "pick": "cyclic"}), [0] * 4, count=6) == [0, 1, 2, 3, 0, 1]
    assert placed(compiled(strategy("static-block"), TWO_NODES), [0] * 4, count=7) == [0, 0, 1, 1, 2, 2, 3]


def test_conditions_guard_a_rule() -> None:
    plan = dispatching({"to": "any", "if": {"below": 2}}, {"to": "any", "pick": "shortest"})
    prober, view = Prober(plan, SEED), Snapshot.of(plan, [2, 2, 1, 0])
    view.watch[0] = [1, 1, 0, 0]
    assert prober.place(0, view) == 2
    view.watch[0] = [1, 1, 1, 1]
    assert prober.place(0, view) == 3


def test_the_lightest_node_takes_the_task() -> None:
    plan = dispatching({"to": "lightest", "pick": "shortest"})
    assert placed(plan, [0, 1, 3, 1]) == [1]  # queues of node 0 hold 3 tasks, of node 1 two
    assert placed(plan, [1, 2, 1, 0]) == [0]  # a tie goes to the lower node, then to the lower queue
    spec = stealing({"from": "others"}, dispatch=[{"to": "lightest", "pick": "shortest"}])
    assert placed(compiled(spec, [1, 2]), [5, 4]) == [1], "node 0 without workers is not the lightest"


@pytest.mark.parametrize(("rule", "expected"), [("random", 1), ("rotate", 1), ("in-order", 0), ("shortest", 0)])
def test_draws_of_dispatch(rule: str, expected: int) -> None:
    plan = dispatching({"to": "any", "pick": rule})
    prober = Prober(plan, SEED)
    prober.place(1, Snapshot.of(plan))
    assert prober._states[1].dispatch.drawn == expected
    assert prober.victim_stream(1).drawn == 0
