"""Rules that ask for tiers, labels, iterations and switches, and spawn orders by tier, by hand (model 4.14)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, Rank, Seen, observe, plan_of, run, stealing, toy
from task_graphs import WAIT, Deal, graph, items, phase, task

from numasim.engine.simulate import ENGINES
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.plan import Plan
from numasim.strategy.control import task_control
from numasim.strategy.control.controller import Program
from numasim.strategy.control.task_control import TaskControl

QUEUES = {"deque": {"per": "worker"}, "pool": {"per": "socket"}}
TO_POOL = [{"to": "own", "queue": "pool", "tier": "root"}, {"to": "own"}]
# ids: 0; 1 with 2 and 3; 4 with 5 and 6
TREE = graph(task(*[task(task(100 * NS), task(100 * NS), WAIT) for _ in range(2)], WAIT))
engines = pytest.mark.parametrize("engine", ENGINES)


def pooled(**keys: Any) -> StrategySpec:
    """Tasks of a worker's deque and of its socket's pool."""
    return stealing({"from": "own", "queue": "pool"}, queues=QUEUES, **keys)


def puts(seen: Seen) -> list[tuple[int, int, int]]:
    """(time in ns, task, queue) of everything that came into a queue."""
    return [(t // NS, a0, a1) for t, _, a0, a1 in seen.of_rank(Rank.PUT)]


@engines
def test_roots_of_subtrees_go_to_the_pool_and_what_is_below_them_stays(engine: str) -> None:
    # queue 0 is the deque, 1 the pool; a probe of the pool takes 100 ns and finds its newest task, 4
    seen = run(TREE, 1, pooled(tiers={"depth": 1}, dispatch=TO_POOL), engine=engine)
    assert puts(seen) == [(0, 1, 1), (0, 4, 1), (100, 5, 0), (100, 6, 0), (400, 2, 0), (400, 3, 0)]
    assert seen["makespan_ps"] == 600 * NS


@engines
@pytest.mark.parametrize(("depth", "pool"), [(0, []), (1, [1, 4]), (2, [2, 3, 5, 6]), (3, [])])
def test_the_depth_of_the_roots_is_that_in_the_tree(engine: str, depth: int, pool: list[int]) -> None:
    seen = run(TREE, 1, pooled(tiers={"depth": depth}, dispatch=TO_POOL), engine=engine)
    assert sorted(task for _, task, q in puts(seen) if q == 1) == pool


@engines
def test_a_rule_may_ask_for_several_tiers(engine: str) -> None:
    rules = [{"to": "own", "queue": "pool", "tier": ["free", "local"]}, {"to": "own"}]
    seen = run(TREE, 1, pooled(tiers={"depth": 1}, dispatch=rules), engine=engine)
    assert sorted(task for _, task, q in puts(seen) if q == 1) == [2, 3, 5, 6]


@engines
def test_the_spawn_order_goes_by_the_tier_of_the_child_and_so_does_the_place_of_its_parent(engine: str) -> None:
    # 0 is left at the spawn of 1, a root, in the pool; 1 goes on at the spawns of 2 and 3, which come into the deque
    keys = {"tiers": {"depth": 1}, "dispatch": TO_POOL, "spawn": {"root": "work-first"}}
    seen = run(TREE, 1, pooled(**keys), engine=engine)
    assert puts(seen) == [(0, 0, 1), (0, 2, 0), (0, 3, 0), (300, 0, 1), (300, 5, 0), (300, 6, 0)]
    # 1 ends at 200 ns, its worker finds 0 at 300 and leaves it again for 4; 4 ends at 500, 0 is found at 600
    assert seen["makespan_ps"] == 600 * NS


@engines
def test_work_first_alone_is_work_first_for_every_tier(engine: str) -> None:
    every = {"free": "work-first", "root": "work-first", "local": "work-first"}
    found = [
        run(TREE, 2, pooled(tiers={"depth": 1}, dispatch=TO_POOL, spawn=spawn), engine=engine).result.counters
        for spawn in ("work-first", every)
    ]
    assert found[0] == found[1]


@engines
def test_a_rule_for_some_iterations(engine: str) -> None:
    rules = [{"to": "own", "queue": "pool", "iterations": [1, 2]}, {"to": "own"}]
    again = graph(task(task(100 * NS), WAIT), phases=(phase(0, repeat=4),))
    seen = run(again, 1, pooled(dispatch=rules), engine=engine)
    assert [q for _, _, q in puts(seen)] == [0, 1, 1, 0]


@engines
def test_to_the_last_iteration_has_no_end(engine: str) -> None:
    rules = [{"to": "own", "queue": "pool", "iterations": [2, "last"]}, {"to": "own"}]
    again = graph(task(task(100 * NS), WAIT), phases=(phase(0, repeat=5),))
    seen = run(again, 1, pooled(dispatch=rules), engine=engine)
    assert [q for _, _, q in puts(seen)] == [0, 0, 1, 1, 1]


# ---- switches ------------------------------------------------------------------------------------------------------


def switched(plan: Plan, switches: int) -> Plan:
    control = plan.control
    return replace(plan, control=TaskControl(control.tiers, control.labels, control.item_units, switches))


@engines
def test_switches_are_off_until_somebody_turns_them_on(engine: str) -> None:
    rules = [{"to": "own", "queue": "pool", "when": "late"}, {"to": "own"}]
    plan = plan_of(TREE, 1, pooled(dispatch=rules))
    assert {q for _, _, q in puts(observe(plan, engine))} == {0}
    assert {q for _, _, q in puts(observe(switched(plan, 1), engine))} == {1}


@engines
def test_unless_is_the_contrary_of_when(engine: str) -> None:
    rules = [{"to": "own", "queue": "pool", "unless": "late"}, {"to": "own"}]
    plan = plan_of(TREE, 1, pooled(dispatch=rules))
    assert {q for _, _, q in puts(observe(plan, engine))} == {1}
    assert {q for _, _, q in puts(observe(switched(plan, 1), engine))} == {0}


@engines
@pytest.mark.parametrize("number", [0, 1, 62, 63])
def test_every_switch_has_a_bit_of_its_own(engine: str, number: int) -> None:
    rules = [{"to": "own", "queue": "pool", "when": f"switch-{at}"} for at in range(63)]
    levels = [{"from": "own", "queue": "pool"}, {"from": "own", "queue": "pool", "when": "of-a-level"}]
    strategy = stealing(*levels, queues=QUEUES, dispatch=[*rules, {"to": "own"}])
    plan = plan_of(TREE, 1, strategy)
    assert plan.steal.switches == ("of-a-level", *(f"switch-{at}" for at in range(63)))
    found = observe(switched(plan, 1 << number), engine)
    assert {q for _, _, q in puts(found)} == ({1} if number else {0})


@engines
def test_a_level_that_is_switched_off_is_passed_over(engine: str) -> None:
    # worker 1 finds the child of 100 ns at once where its only level is on, and never where that is off
    work = graph(task(task(100 * NS), 400 * NS, WAIT))
    plan = plan_of(work, 2, stealing({"from": "others", "when": "open"}))
    assert observe(plan, engine)["makespan_ps"] == 500 * NS
    assert observe(plan, engine)["steal_attempts"] == 0
    assert observe(switched(plan, 1), engine)["makespan_ps"] == 400 * NS


# ---- labels --------------------------------------------------------------------------------------------------------


def by_number(program: Program, units: int) -> Any:
    """Every task but the first is meant for the unit of its number, those of every third for none."""
    number = np.arange(program.tasks)
    return np.where(number % 3 == 0, -1, number % units)


@pytest.fixture
def numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(task_control.LABELLINGS, "by-number", by_number)


LABELLED = {"labels": "by-number", "dispatch": [{"to": "label", "queue": "pool"}, {"to": "own"}]}


@engines
@pytest.mark.usefixtures("numbered")
def test_a_task_goes_to_the_queue_of_the_unit_that_its_label_names(engine: str) -> None:
    # one worker of each socket; queues 0 and 1 are their deques, 2 and 3 the pools of the sockets
    seen = run(TREE, 2, pooled(**LABELLED), machine=toy(sockets=2, cores=1), engine=engine)
    where = {task: q for _, task, q in puts(seen)}
    assert {task: q for task, q in where.items() if task % 3} == {1: 3, 2: 2, 4: 2, 5: 3}
    assert {where[3], where[6]} <= {0, 1}


@engines
@pytest.mark.usefixtures("numbered")
def test_labels_name_units_that_have_a_worker(engine: str) -> None:
    # of four sockets two have a worker: label 1 is the second of those
    seen = run(TREE, 2, pooled(**LABELLED), machine=toy(sockets=4, cores=1), engine=engine)
    assert {task: q for _, task, q in puts(seen) if task % 3} == {1: 3, 2: 2, 4: 2, 5: 3}


@engines
@pytest.mark.parametrize(("labels", "where"), [("by-number", [[], []]), ("slices", [[0, 1, 2], [3, 4]])])
@pytest.mark.usefixtures("numbered")
def test_items_of_a_range_have_labels_in_equal_blocks(engine: str, labels: str, where: list[list[int]]) -> None:
    # slices: item i of 5 on 2 units has the quotient of 2 i by 5, which is 0 0 0 1 1; other functions know no items
    strategy = pooled(**{**LABELLED, "labels": labels})
    seen = run(items(5, 100 * NS, deal=Deal.MASTER), 2, strategy, machine=toy(sockets=2, cores=1), engine=engine)
    if any(where):
        assert [sorted(seen.order(worker)) for worker in range(2)] == where
    else:
        assert sorted(seen.order(0)) == [0, 1, 2, 3, 4]
