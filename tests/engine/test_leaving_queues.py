"""Slots, queues that spill, and polls between tasks, followed by hand (model 4.1, 4.2, 4.13).

A slot is a place for one task in front of a worker's queue (deque). A full queue that spills moves half of its tasks to
another queue. A polled level is a queue into which a worker looks after every so many executed tasks.
"""

from __future__ import annotations

from typing import Any

import pytest
from engine_setup import NS, run, runtime, stealing
from task_graphs import graph, task

from numasim.errors import InputError
from numasim.parts.models.strategy_model import StrategySpec

SLOT = {"slot": {"per": "worker", "full": "displace"}, "deque": {"per": "worker", "own": "fifo"}}
TO_SLOT = [{"to": "own", "queue": "slot"}, {"to": "own", "queue": "deque"}]
FROM_DEQUES = {"from": "others", "queue": "deque", "pick": "in-order"}
FROM_SLOTS = {"from": "others", "queue": "slot", "pick": "in-order"}


def slotted(*levels: dict[str, Any], **slot: Any) -> StrategySpec:
    return stealing(*levels, queues={**SLOT, "slot": {**SLOT["slot"], **slot}}, dispatch=TO_SLOT)


# ---- slots ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("levels", "makespan_ns"), [([FROM_DEQUES], 1100), ([FROM_DEQUES, FROM_SLOTS], 1000)])
def test_a_task_in_a_slot_waits_for_its_worker_unless_slots_are_stolen_from(levels: Any, makespan_ns: int) -> None:
    # Worker 0 spawns a task of 100 ns, then computes for 1000 ns. Worker 1 asks the deque and then the slot: with a
    # level for slots worker 1 has the task after 200 ns.
    seen = run(graph(task(task(100 * NS), 1000 * NS)), 2, slotted(*levels))
    assert seen["makespan_ps"] == makespan_ns * NS
    assert seen["steal_success"] == len(levels) - 1


def test_the_newest_task_displaces_the_task_of_the_slot() -> None:
    # Tasks 1, 2, 3 are spawned in this order. Task 3 ends up in the slot, tasks 1 and 2 in the deque, oldest first.
    seen = run(graph(task(task(1 * NS), task(1 * NS), task(1 * NS))), 1, slotted(FROM_DEQUES))
    assert seen.order() == [3, 1, 2]


def test_a_displaced_task_is_put_for_the_price_of_a_push() -> None:
    # Three pushes into the slot; the second and the third displace a task, which is pushed into the deque: five pushes.
    work = graph(task(task(1 * NS), task(1 * NS), task(1 * NS)))
    assert run(work, 1, slotted(FROM_DEQUES), how=runtime(costs={"push_ns": 10}))["overhead_ps"] == 50 * NS


@pytest.mark.parametrize(("given", "order"), [({}, [2, 3, 4, 5, 1]), ({"in_a_row": 2}, [2, 3, 1, 4, 5])])
def test_a_slot_closes_while_the_last_task_in_a_row_runs(given: Any, order: list[int]) -> None:
    # The root spawns task 1 and then a chain of tasks 2 to 5, each of which spawns the next. Without a limit the chain
    # runs first. With two slot tasks in a row, task 3 puts task 4 behind task 1 into the deque.
    chain = task(1 * NS, task(1 * NS, task(1 * NS, task(1 * NS))))
    seen = run(graph(task(task(1 * NS), chain)), 1, slotted(FROM_DEQUES, **given))
    assert seen.order() == order


def test_roots_are_dealt_past_the_slots() -> None:
    # Each root goes to the deque of worker 0, so worker 1 steals one of them although nobody steals from slots.
    seen = run(graph(task(500 * NS), task(500 * NS), task(500 * NS)), 2, slotted(FROM_DEQUES))
    assert seen.of_worker("tasks") == [2, 1]


def test_a_task_in_a_hidden_slot_wakes_nobody() -> None:
    # Worker 1 sleeps from 100 ns on. The task in the slot wakes nobody, the displaced task in the deque wakes worker 1.
    idle = {"phases": [{"rounds": 1, "pause_ns": 0}], "sleep": {}, "wake": {"at": "every-push"}}
    how = runtime(idle=idle, costs={"wake_ns": 50})
    alone = run(graph(task(1000 * NS, task(100 * NS), 1000 * NS)), 2, slotted(FROM_DEQUES), how=how)
    displaced = run(graph(task(1000 * NS, task(100 * NS), task(100 * NS), 1000 * NS)), 2, slotted(FROM_DEQUES), how=how)
    assert alone.of_worker("wakeups") == [0, 0]
    assert displaced.of_worker("wakeups") == [0, 1]


# ---- queues that spill ---------------------------------------------------------------------------------------------


def spilling(rule: str) -> StrategySpec:
    ring = {"per": "worker", "capacity": 4, "own": "fifo", "full": rule}
    return stealing(
        {"from": "own", "queue": "global"},
        {"from": "others", "queue": "ring"},
        queues={"ring": ring, "global": {"per": "machine", "own": "fifo"}},
        dispatch=[{"to": "own", "queue": "ring"}, {"to": "any", "queue": "global"}],
    )


@pytest.mark.parametrize(
    ("rule", "order"),
    [
        # tasks 5 and 8 find four tasks in the ring; tasks 1, 2 (and 3, 4) leave it, or tasks 3, 4 (and 6, 7)
        ("spill-oldest", [6, 7, 9, 10, 1, 2, 5, 3, 4, 8]),
        ("spill-newest", [1, 2, 9, 10, 3, 4, 5, 6, 7, 8]),
    ],
)
def test_half_of_a_full_queue_spills(rule: str, order: list[int]) -> None:
    work = graph(task(*[task(1 * NS)] * 10))
    assert run(work, 1, spilling(rule)).order() == order


def test_a_spill_every_half_capacity_and_one_pushes() -> None:
    # Nobody takes from the ring of 4: of 4 + 3 n pushes n spill, each for the price of two moves beside its push.
    work = graph(task(*[task(1 * NS)] * (4 + 3 * 5)))
    seen = run(work, 1, spilling("spill-oldest"), how=runtime(costs={"push_ns": 10, "move_ns": 3}))
    assert seen["overhead_ps"] == ((4 + 3 * 5) * 10 + 5 * 2 * 3) * NS


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dispatch": [{"to": "own", "queue": "ring"}]}, "a later rule for the tasks that leave ring"),
        ({"dispatch": [{"to": "any", "queue": "ring"}, {"to": "any", "queue": "global"}]}, "a rule fills it alone"),
        ({"queues": {"ring": {"per": "node", "full": "displace"}, "global": {"per": "machine"}}}, "per: worker"),
    ],
)
def test_rules_that_let_no_task_leave_are_refused(changes: Any, words: str) -> None:
    whole = spilling("spill-oldest").model_dump(by_alias=True, exclude_unset=True)
    with pytest.raises(ValueError, match=words):
        StrategySpec.model_validate({**whole, **changes})


def test_a_spill_into_queues_with_a_capacity_is_refused() -> None:
    small = {**spilling("spill-oldest").model_dump(by_alias=True, exclude_unset=True)}
    small["queues"] = {**small["queues"], "global": {"per": "machine", "capacity": 5}}
    with pytest.raises(InputError, match="half of a full ring leaves it"):
        run(graph(task(1)), 1, StrategySpec.model_validate(small))


# ---- polls between tasks -------------------------------------------------------------------------------------------


def polling(*levels: dict[str, Any]) -> StrategySpec:
    """Return a strategy in which the first task goes to the queue of all, which is searched last."""
    return stealing(
        *levels,
        {"from": "own", "queue": "global"},
        queues={"deque": {"per": "worker", "own": "fifo"}, "global": {"per": "machine", "capacity": 1}},
        dispatch=[{"to": "any", "queue": "global"}, {"to": "own", "queue": "deque"}],
    )


@pytest.mark.parametrize(("every", "place"), [(3, 2), (4, 3), (None, 9)])
def test_a_level_is_polled_each_time_that_so_many_tasks_have_been_executed(every: int | None, place: int) -> None:
    # Task 1 is in the queue of all, tasks 2 to 10 in the own queue. The root is the first task that is executed.
    levels = [] if every is None else [{"from": "own", "queue": "global", "every": every}]
    seen = run(graph(task(*[task(1 * NS)] * 10)), 1, polling(*levels))
    assert seen.order().index(1) == place


def test_a_poll_is_not_missed_if_several_tasks_end_before_the_worker_looks_for_the_next() -> None:
    # Task 1 is in the queue of all, task 2 in the own queue; tasks 3 and 4 find no room and are executed inside the
    # root. When the root ends, three tasks have been executed: with every: 2 a poll is due.
    own = {"per": "worker", "own": "fifo", "capacity": 1}
    strategy = stealing(
        {"from": "own", "queue": "global", "every": 2},
        {"from": "own", "queue": "global"},
        queues={"deque": own, "global": {"per": "machine", "capacity": 1}},
        dispatch=[{"to": "any", "queue": "global"}, {"to": "own", "queue": "deque"}],
    )
    assert run(graph(task(*[task(1 * NS)] * 4)), 1, strategy).order() == [3, 4, 1, 2]


def test_a_poll_takes_the_time_of_a_probe() -> None:
    # The root is dealt to the queue of all, where the worker finds it after 100 ns. With every: 2 the worker polls
    # after 2, 4, 6, 8 and 10 of 11 tasks, 100 ns each; the first poll finds task 1.
    seen = run(graph(task(*[task(1 * NS)] * 10)), 1, polling({"from": "own", "queue": "global", "every": 2}))
    assert seen["makespan_ps"] == (100 + 10 + 5 * 100) * NS
    assert seen["idle_steal_ps"] == 600 * NS


@pytest.mark.parametrize("every", [2, 3, 5])
def test_a_saturated_worker_drains_a_polled_queue_at_one_task_in_so_many(every: int) -> None:
    # Tasks 1 to 40 are in the queue of all, 60 tasks in the own queue: one task in `every` is from the queue of all.
    strategy = stealing(
        {"from": "own", "queue": "global", "every": every},
        {"from": "own", "queue": "global"},
        queues={"deque": {"per": "worker"}, "global": {"per": "machine", "capacity": 40}},
        dispatch=[{"to": "any", "queue": "global"}, {"to": "own", "queue": "deque"}],
    )
    seen = run(graph(task(*[task(10 * NS)] * 100)), 1, strategy)
    places = [at + 1 for at, each in enumerate(seen.order()) if each <= 40]  # the root is the first task
    assert places[: 40 // every] == [at * every for at in range(1, 40 // every + 1)]
