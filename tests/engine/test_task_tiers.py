"""Rules that depend on tiers, labels, iterations and switches, and spawn orders by tier, by hand (model 4.14).

Tiers: a task is free, or the root of a subtree that is kept together, or local (below a root). A label is the number of
the unit (socket, ...) for which a task is meant. A gate closes a steal level while too many subtrees have begun and
not ended (are live).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, Rank, Seen, observe, plan_of, run, runtime, stealing, toy
from task_graphs import WAIT, Deal, call, graph, items, phase, task

from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.plan import Plan
from numasim.strategy.control import task_control
from numasim.strategy.control.controller import Program
from numasim.strategy.control.task_control import TaskControl
from numasim.workload.graph import Phase, Workload

QUEUES = {"deque": {"per": "worker"}, "pool": {"per": "socket"}}
TO_POOL = [{"to": "own", "queue": "pool", "tier": "root"}, {"to": "own"}]
# Task ids: the root is 0; its child 1 has children 2 and 3; its child 4 has children 5 and 6.
TREE = graph(task(*[task(task(100 * NS), task(100 * NS), WAIT) for _ in range(2)], WAIT))


def pooled(**keys: Any) -> StrategySpec:
    """Return a strategy in which a worker takes from its deque and from its socket's pool."""
    return stealing({"from": "own", "queue": "pool"}, queues=QUEUES, **keys)


def puts(seen: Seen) -> list[tuple[int, int, int]]:
    """Return (time in ns, task, queue) of every put into a queue."""
    return [(t // NS, a0, a1) for t, _, a0, a1 in seen.of_rank(Rank.PUT)]


def test_roots_of_subtrees_go_to_the_pool_and_what_is_below_them_stays() -> None:
    # queue 0 is the deque, 1 the pool; a probe of the pool takes 100 ns and finds its newest task, 4
    seen = run(TREE, 1, pooled(tiers={"depth": 1}, dispatch=TO_POOL))
    assert puts(seen) == [(0, 1, 1), (0, 4, 1), (100, 5, 0), (100, 6, 0), (400, 2, 0), (400, 3, 0)]
    assert seen["makespan_ps"] == 600 * NS


@pytest.mark.parametrize(
    ("tiers", "depth", "pool"),
    [*(("root", 0, []), ("root", 1, [1, 4]), ("root", 2, [2, 3, 5, 6]), ("root", 3, [])),
     (["free", "local"], 1, [2, 3, 5, 6])],
)  # fmt: skip
def test_a_rule_asks_for_tiers_by_the_depth_of_the_roots_in_the_tree(tiers: Any, depth: int, pool: list[int]) -> None:
    rules = [{"to": "own", "queue": "pool", "tier": tiers}, {"to": "own"}]
    seen = run(TREE, 1, pooled(tiers={"depth": depth}, dispatch=rules))
    assert sorted(task for _, task, q in puts(seen) if q == 1) == pool


def test_the_spawn_order_goes_by_the_tier_of_the_child_and_so_does_the_place_of_its_parent() -> None:
    # When task 0 spawns task 1 (of tier `root`), the worker begins task 1 and puts task 0 into the pool. When task 1
    # spawns tasks 2 and 3, task 1 goes on, and tasks 2 and 3 are put into the deque.
    keys = {"tiers": {"depth": 1}, "dispatch": TO_POOL, "spawn": {"root": "work-first"}}
    seen = run(TREE, 1, pooled(**keys))
    assert puts(seen) == [(0, 0, 1), (0, 2, 0), (0, 3, 0), (300, 0, 1), (300, 5, 0), (300, 6, 0)]
    # Task 1 ends at 200 ns. The worker finds task 0 at 300 ns, which spawns task 4: the worker puts task 0 back and
    # begins task 4. Task 4 ends at 500 ns, and the worker finds task 0 at 600 ns.
    assert seen["makespan_ps"] == 600 * NS


@pytest.mark.parametrize(("iterations", "queues"), [([1, 2], [0, 1, 1, 0]), ([2, "last"], [0, 0, 1, 1])])
def test_a_rule_for_some_iterations(iterations: list[Any], queues: list[int]) -> None:
    rules = [{"to": "own", "queue": "pool", "iterations": iterations}, {"to": "own"}]
    again = graph(task(task(100 * NS), WAIT), phases=(phase(0, repeat=4),))
    seen = run(again, 1, pooled(dispatch=rules))
    assert [q for _, _, q in puts(seen)] == queues


# ---- switches ------------------------------------------------------------------------------------------------------


def switched(plan: Plan, switches: int) -> Plan:
    control = plan.control
    return replace(plan, control=TaskControl(control.tiers, control.labels, control.item_units, switches))


@pytest.mark.parametrize(("asks", "queues"), [("when", [0, 1]), ("unless", [1, 0])])
def test_a_switch_is_off_until_somebody_turns_it_on(asks: str, queues: list[int]) -> None:
    rules = [{"to": "own", "queue": "pool", asks: "late"}, {"to": "own"}]
    plan = plan_of(TREE, 1, pooled(dispatch=rules))
    for each, queue in zip((plan, switched(plan, 1)), queues, strict=True):
        assert {q for _, _, q in puts(observe(each))} == {queue}


@pytest.mark.parametrize("number", [0, 1, 62, 63])
def test_every_switch_has_a_bit_of_its_own(number: int) -> None:
    rules = [{"to": "own", "queue": "pool", "when": f"switch-{at}"} for at in range(63)]
    levels = [{"from": "own", "queue": "pool"}, {"from": "own", "queue": "pool", "when": "of-a-level"}]
    strategy = stealing(*levels, queues=QUEUES, dispatch=[*rules, {"to": "own"}])
    plan = plan_of(TREE, 1, strategy)
    assert plan.steal.switches == ("of-a-level", *(f"switch-{at}" for at in range(63)))
    found = observe(switched(plan, 1 << number))
    assert {q for _, _, q in puts(found)} == ({1} if number else {0})


def test_a_level_that_is_switched_off_is_passed_over() -> None:
    # worker 1 finds the child of 100 ns at once if the only level is on, and never if the level is off
    work = graph(task(task(100 * NS), 400 * NS, WAIT))
    plan = plan_of(work, 2, stealing({"from": "others", "when": "open"}))
    assert observe(plan)["makespan_ps"] == 500 * NS
    assert observe(plan)["steal_attempts"] == 0
    assert observe(switched(plan, 1))["makespan_ps"] == 400 * NS


# ---- labels --------------------------------------------------------------------------------------------------------


def by_number(program: Program, units: int) -> Any:
    """Return labels: task i is for unit (socket, ...) i modulo ``units``, but every third task is for no unit."""
    number = np.arange(program.tasks)
    return np.where(number % 3 == 0, -1, number % units)


@pytest.fixture
def numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(task_control.LABELLINGS, "by-number", by_number)


LABELLED = {"labels": "by-number", "dispatch": [{"to": "label", "queue": "pool"}, {"to": "own"}]}


@pytest.mark.parametrize("sockets", [2, 4])  # of four sockets two have workers: label 1 is the second of them
@pytest.mark.usefixtures("numbered")
def test_a_task_goes_to_the_queue_of_the_unit_that_its_label_names(sockets: int) -> None:
    # one worker of each socket; queues 0 and 1 are their deques, 2 and 3 the pools of the sockets
    seen = run(TREE, 2, pooled(**LABELLED), machine=toy(sockets, cores=1))
    where = {task: q for _, task, q in puts(seen)}
    assert {task: q for task, q in where.items() if task % 3} == {1: 3, 2: 2, 4: 2, 5: 3}
    assert {where[3], where[6]} <= {0, 1}


@pytest.mark.parametrize(("labels", "where"), [("by-number", [[], []]), ("slices", [[0, 1, 2], [3, 4]])])
@pytest.mark.usefixtures("numbered")
def test_items_of_a_range_have_labels_in_equal_blocks(labels: str, where: list[list[int]]) -> None:
    # slices: item i of 5 on 2 units has the quotient of 2 i by 5, which is 0 0 0 1 1; other functions know no items
    strategy = pooled(**{**LABELLED, "labels": labels})
    seen = run(items(5, 100 * NS, deal=Deal.MASTER), 2, strategy, machine=toy(sockets=2, cores=1))
    if any(where):
        assert [sorted(seen.order(worker)) for worker in range(2)] == where
    else:
        assert sorted(seen.order(0)) == [0, 1, 2, 3, 4]


# ---- levels that wait until subtrees have ended ---------------------------------------------------------------------

QUEUES_LIVE_SUBTREES = {"deque": {"per": "worker"}, "pool": {"per": "machine", "own": "fifo"}}


def gated(most: int = 1, per: str = "socket", *levels: dict[str, Any], **keys: Any) -> StrategySpec:
    """Return a strategy that puts roots of subtrees, the tasks of depth 1, into one pool behind a gated level."""
    given: dict[str, Any] = {
        "queues": QUEUES_LIVE_SUBTREES,
        "tiers": {"depth": 1},
        "live": {"per": per, "most": most},
        "dispatch": [{"to": "own", "queue": "pool", "tier": "root"}, {"to": "own"}],
    }
    return stealing({"from": "own", "queue": "pool", "gated": "yes"}, *levels, **{**given, **keys})


TWO = graph(task(task(1000 * NS), task(1000 * NS), WAIT))


def test_the_second_subtree_waits_for_the_first() -> None:
    # Both workers probe the pool at 0 ns, and both probes end at 100 ns. Worker 0's probe is first: worker 0
    # takes task 1, and the gate is closed for worker 1. At 1100 ns task 1 ends. Worker 0 is first again and takes task
    # 2 at 1200 ns.
    seen = run(TWO, 2, gated())
    assert seen.order(0) == [1, 2]
    assert seen.order(1) == []
    assert seen["makespan_ps"] == 2200 * NS


def test_each_unit_counts_its_own() -> None:
    # one worker on each of two sockets: each socket has a gate of its own
    seen = run(TWO, 2, gated(), machine=toy(sockets=2, cores=1))
    assert seen["makespan_ps"] == 1100 * NS
    assert run(TWO, 2, gated(per="machine"), machine=toy(sockets=2, cores=1))["makespan_ps"] == 2200 * NS


def test_a_subtree_is_live_until_its_last_task_ends() -> None:
    # Task 1 ends at once. Worker 0 executes the child of task 1, task 2, from 100 to 1100 ns: until then the subtree is
    # live, and task 3 waits.
    seen = run(graph(task(task(task(1000 * NS)), task(500 * NS), WAIT)), 2, gated())
    assert (0, 2, 100 * NS, 1100 * NS) in seen.stretches
    assert next(start for _, number, start, _ in seen.stretches if number == 3) == 1200 * NS


def test_it_counts_for_the_unit_that_began_it_wherever_its_tasks_run() -> None:
    # Worker 0 begins task 1 at 100 ns, which spawns task 2 and works until 600 ns. Worker 1, of another socket, finds
    # the gate of its socket open at 100 ns and takes task 3, of 100 ns. Worker 1 steals task 2 at 500 ns; a probe of
    # another socket takes 300 ns. The gate of worker 1's socket is open, so that worker 1 takes task 4, too.
    work = graph(task(task(task(2000 * NS), 500 * NS, WAIT), task(100 * NS), task(100 * NS), WAIT))
    seen = run(work, 2, gated(1, "socket", {"from": "others"}), machine=toy(sockets=2, cores=1))
    assert [number for number in seen.order(1) if number != 2] == [3, 4]


def test_a_root_that_is_called_begins_at_once() -> None:
    # the call, of depth 1, is live from 0 to 1000 ns; task 1 waits until then
    work = graph(task(task(500 * NS), call(1000 * NS), WAIT))
    seen = run(work, 2, gated())
    assert next(start for _, number, start, _ in seen.stretches if number == 1) == 1100 * NS


OWN_POOL = {"from": "own", "queue": "pool", "gated": "yes"}
OTHER_POOL = {"from": "other-sockets", "queue": "pool", "gated": "yes"}
HALVES = {
    "queues": {"deque": {"per": "worker"}, "pool": {"per": "socket", "own": "fifo"}},
    "labels": "slices",
    "dispatch": [{"to": "label", "queue": "pool", "tier": "root"}, {"to": "own"}],
}


def halves(own_first: str, work: Workload, depth: int = 1) -> Seen:
    """Run one worker on each of two sockets; the first half of the children of the root is for socket 0."""
    levels = [OWN_POOL, {**OTHER_POOL, "own_first": own_first}]
    strategy = stealing(*levels, tiers={"depth": depth}, live={"per": "socket", "most": 1}, **HALVES)
    return run(work, 2, strategy, machine=toy(sockets=2, cores=1))


def test_a_unit_waits_for_its_own_subtrees_before_it_looks_elsewhere() -> None:
    # Task 1, for socket 0, is spawned at 0 ns; task 2, for socket 1, at 2000 ns. Worker 1 looks into its own pool until
    # 100 ns, and would find task 1 in the pool of socket 0 at 400 ns.
    work = graph(task(task(1000 * NS), 2000 * NS, task(1000 * NS), WAIT))
    assert halves("no", work).order(1)[0] == 1
    seen = halves("yes", work)
    assert (seen.order(0)[-1], seen.order(1)) == (1, [2])
    assert seen["makespan_ps"] < 3300 * NS  # task 1 begins at 2100 ns, task 2 at most one probe later


def test_a_unit_whose_subtrees_have_begun_or_that_has_none_helps() -> None:
    # tasks 1 to 3 are for socket 0; socket 1 has executed its tasks, 4 to 6, before task 1 ends
    work = graph(task(*[task(1000 * NS)] * 3, *[task(10 * NS)] * 3, WAIT))
    assert halves("yes", work).order(1)[:4] == [4, 5, 6, 2]
    # all subtrees, tasks 2 to 5, are below task 1 and for socket 0; worker 1 takes the second before the first ends
    work = graph(task(task(*[task(1000 * NS)] * 4, WAIT), task(10 * NS), WAIT))
    assert halves("yes", work, depth=2).order(1)[0] in (2, 3)


def test_every_phase_awaits_its_subtrees_anew() -> None:
    tree = task(task(1000 * NS), 2000 * NS, task(1000 * NS), WAIT)
    work = graph(tree, phases=(Phase(roots=(0,), repeat=3),))
    seen = halves("yes", work)
    assert seen.order(1) == [2, 2, 2]


@pytest.mark.parametrize("join", ["help", "strict", "own", "continuation"])
@pytest.mark.parametrize("spawn", ["help-first", "work-first", {"local": "work-first"}])
@pytest.mark.parametrize("most", [1, 2])
def test_never_more_than_most_are_live(join: str, spawn: Any, most: int) -> None:
    plan, seen = ragged(join, spawn, most)
    socket = plan.workers.socket
    ends: dict[int, list[tuple[int, int]]] = {unit: [] for unit in range(2)}
    for root, first, end in lives(plan.workload, seen):
        ends[int(socket[root])].append((first, end))
    for spans in ends.values():
        assert spans
        times = sorted({start for start, _ in spans})
        at_once = max(sum(start <= t < end for start, end in spans) for t in times)
        assert at_once == most or (join == "own" and at_once < most)  # in an `own` join nobody takes from the pool


def ragged(join: str, spawn: Any, most: int) -> tuple[Plan, Seen]:
    """Return plan and run of twelve subtrees of different sizes on two sockets with two workers each."""
    subtrees = [
        task(*[task((50 + 70 * (at * 5 + part) % 300) * NS) for part in range(2 + at % 3)], 40 * NS, WAIT, 30 * NS)
        for at in range(12)
    ]
    # the worker of a waiting task may run roots meanwhile, if the gate is open
    levels = [{"from": "own-socket", "self": "yes"}]
    work, machine = graph(task(*subtrees, WAIT)), toy(sockets=2, cores=2)
    strategy = gated(most, "socket", *levels, spawn=spawn)
    how = runtime(join=join)
    return plan_of(work, 4, strategy, how, machine), run(work, 4, strategy, how, machine)


def lives(work: Workload, seen: Seen) -> list[tuple[int, int, int]]:
    """Return (first worker, begin, end) of each subtree of depth 1, from the executed stretches."""
    found = []
    for root in np.flatnonzero(work.parent == 0).tolist():
        end = int(work.subtree_end()[root])
        spans = [row for row in seen.stretches if root <= row[1] < end]
        first = min(spans, key=lambda row: row[2])
        found.append((first[0], first[2], max(row[3] for row in spans)))
    return found
