"""Compiled tables against tables worked out by hand and the definitions of their sets; refusals of the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from strategy_setup import STRATEGIES, compiled, on_nodes, runtime, stealing, strategy, toy_machine

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.mapping import map_workers
from numasim.machine.topology import Machine
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.schema.enumerations import (
    BELOW_MAX_MARK,
    MAX_MARK,
    MIN_MARK,
    NO_QUEUE,
    OWNER_EXACT_MARK,
    OWNER_MARK,
    Anchor,
    End,
    Full,
)
from numasim.spec.single_part import read_machine
from numasim.strategy.compile_strategy import compile_strategy, effective_runtime
from numasim.strategy.levels import vicinities
from numasim.strategy.queue_families import Units, build_families
from numasim.strategy.steal_plan import Backoff, StealPlan, Thresholds, decode_levels

TWO_NODES = [0, 1, 0, 1, 0, 1]
DEQUES_AND_POOLS = {"deque": {"per": "worker"}, "pool": {"per": "node"}}


def groups(plan: StealPlan, level: int, anchor: int) -> list[list[list[int]]]:
    """Return the queues that a level may probe, read from the tables: [groups][segments][queues]."""
    record = plan.level[level]
    at = int(record["row"]) + anchor
    segments = [plan.queue[plan.seg[s] : plan.seg[s + 1]].tolist() for s in range(plan.row[at], plan.row[at + 1])]
    step = int(record["segments"])
    return [segments[i : i + step] for i in range(0, len(segments), step)]


@pytest.fixture(scope="module")
def xeon() -> Machine:
    return build(read_machine("xeon-e5-2620-2s"))


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_shipped_strategy_compiles_for_every_number_of_workers(name: str, xeon: Machine) -> None:
    """On the machine of the thesis, a thief's row has no queue of the thief unless the level says so.

    In the levels `parent` and `thief`, a row belongs to the parent or thief, not to the searching worker.
    """
    spec = strategy(name)
    for count in range(1, 25):
        workers = map_workers(xeon, count, spec.mapping)
        plan = compile_strategy(spec, runtime(("bare", "own", "ompi")[count % 3]), xeon, workers, task_ps=1000)
        assert len(plan.own) == count
        for index, level in enumerate(spec.steal):
            for worker in range(count if level.source not in ("last", "own", "thief") else 0):
                found = [q for g in groups(plan, index, worker) for s in g for q in s]
                comes_to_own = level.include_self or level.source in ("parent", "thief")
                assert (plan.own[worker] in found) == (comes_to_own and plan.own[worker] != NO_QUEUE)
                assert len(set(found)) == len(found)


def test_nearest_groups_come_first() -> None:
    """Workers 0 and 1 share a core; node 2 is nearer to node 0 than node 1 is."""
    latency = np.array([[10, 30, 20], [30, 10, 20], [20, 20, 10]]) * 1000
    workers = on_nodes([0, 0, 0, 1, 2, 1, 2], cores=[0, 0, 1, 2, 3, 4, 5])
    spec = stealing({"from": "others", "by": "distance"}, {"from": "others", "by": "node"})
    plan = compile_strategy(spec, RuntimeSpec(), toy_machine(3, latency_ps=latency), workers)
    assert groups(plan, 0, 0) == [[[1]], [[2]], [[4, 6]], [[3, 5]]]
    assert groups(plan, 1, 0) == [[[1, 2]], [[4, 6]], [[3, 5]]]
    assert groups(plan, 1, 3) == [[[5]], [[4, 6]], [[0, 1, 2]]]


def test_two_families_make_two_segments_a_group() -> None:
    level = {"from": "own-node", "self": "yes", "queue": ["pool", "deque"], "by": "node"}
    spec = stealing(level, queues=DEQUES_AND_POOLS)
    assert groups(compiled(spec, TWO_NODES), 0, 3) == [[[7], [1, 3, 5]]]


def test_queues_of_units_have_a_home_an_owner_and_ends() -> None:
    queues = {"pool": {"per": "node", "own": "fifo", "capacity": 9, "full": "block"}, "all": {"per": "machine"}}
    spec = stealing({"from": "own", "queue": ["pool", "all"]}, queues=queues, dispatch=[{"to": "own", "queue": "pool"}])
    plan = compile_strategy(spec, runtime("ompi"), toy_machine(3), on_nodes([2, 0, 2]))
    assert plan.queues["home"].tolist() == [0, 2, -1]
    assert plan.queues["owner"].tolist() == [1, 0, 0]
    assert plan.queues["capacity"].tolist() == [9, 9, 0]
    assert plan.queues["full"].tolist() == [Full.BLOCK, Full.BLOCK, Full.GROW]
    assert plan.queues["own_end"].tolist() == [End.FRONT, End.FRONT, End.BACK]
    assert plan.queues["steal_end"].tolist() == [End.FRONT] * 3
    assert plan.own.tolist() == [NO_QUEUE] * 3
    assert groups(plan, 0, 1) == [[[0], [2]]]


def test_worker_queues_follow_the_runtime_unless_the_strategy_speaks() -> None:
    fifo = runtime("ompi").model_copy(update={"queue_order": "fifo-lifo"})
    plan = compiled(strategy("randomized"), TWO_NODES, fifo)
    fields = ["own_end", "steal_end", "capacity", "full"]
    assert set(plan.queues[fields].tolist()) == {(End.FRONT, End.BACK, 256, Full.INLINE)}
    mine = {"deque": {"per": "worker", "own": "lifo", "capacity": 7, "full": "grow"}}
    plan = compiled(strategy("randomized", queues=mine), TWO_NODES, fifo)
    assert set(plan.queues[fields].tolist()) == {(End.BACK, End.BACK, 7, Full.GROW)}


def test_each_distinct_condition_is_one_watch() -> None:
    conditions = ["announced", {"length": "max"}, {"below": "max"}, {"length": 4}, {"below": 4}, "announced"]
    plan = compiled(stealing(*({"from": "others", "if": c} for c in conditions)), TWO_NODES)
    assert plan.watch.tolist() == [[MAX_MARK, MIN_MARK], [MAX_MARK, BELOW_MAX_MARK], [4, 3]]
    levels, _ = decode_levels(plan)
    assert [level.watch for level in levels] == [0, 1, 1, 2, 2, 0]
    assert [level.invert for level in levels] == [False, False, True, False, True, False]


@pytest.mark.parametrize(
    ("announce", "bounds"),
    [("always", [MAX_MARK, MIN_MARK]), ("owner", [OWNER_MARK] * 2), ("owner-exact", [OWNER_EXACT_MARK] * 2)],
)
def test_who_announces_is_told_by_the_bounds_of_the_watch(announce: str, bounds: list[int]) -> None:
    levels = [{"from": "others", "if": "announced"}, {"from": "others", "if": {"length": 4}}]
    plan = compiled(stealing(*levels, thresholds={"announce": announce}), TWO_NODES)
    assert plan.watch.tolist() == [bounds, [4, 3]]


def test_own_pools_are_no_attempts() -> None:
    plan = compiled(stealing({"from": "own", "queue": "pool"}, {"from": "others"}, queues=DEQUES_AND_POOLS), TWO_NODES)
    assert [level.attempt for level in decode_levels(plan)[0]] == [False, True]


def test_default_dispatch_follows_the_runtime() -> None:
    spec = strategy("randomized")

    def rules(preset: str, **changes: Any) -> list[tuple[Anchor, list[bool]]]:
        plan = compiled(spec, TWO_NODES, runtime(preset).model_copy(update=changes))
        found = decode_levels(plan)[1]
        return [(rule.anchor, [bool(rule.row(x).groups) for x in range(rule.anchors)]) for rule in found]

    own = (Anchor.ME, [True] * 6 + [False])
    assert rules("bare") == [own]
    assert rules("ompi") == [own]
    assert rules("own") == [own, (Anchor.ALL, [True])]
    assert rules("own", on_full="inline") == [own, (Anchor.ME, [False] * 6 + [True])]


def test_thresholds_and_back_off_come_from_the_runtime_unless_given() -> None:
    plan = compile_strategy(strategy("threshold"), runtime("own"), toy_machine(), on_nodes(TWO_NODES), task_ps=1234)
    assert plan.thresholds == Thresholds(None, None, "literal", 0, "first-drain")
    assert plan.backoff == Backoff(1234, 2, None, "round", "skip")
    given = strategy(
        "threshold",
        thresholds={"max": 9, "min": 2, "rule": {"fraction": 0.5}, "when": "phase"},
        backoff={"first_ns": 1.5, "factor": 3, "max_ns": 100, "after": "probe", "empty": "count"},
        refill="min",
    )
    plan = compiled(given, TWO_NODES, runtime("own"))
    assert plan.thresholds == Thresholds(9, 2, "fraction", 500_000, "phase")
    assert plan.backoff == Backoff(1500, 3, 100_000, "probe", "count")
    assert plan.refill is None


def test_the_strategy_overrides_join_and_back_off_of_the_runtime() -> None:
    spec = strategy("cilk", backoff={"first_ns": 7})
    effective = effective_runtime(spec, runtime("own"))
    assert (effective.join, effective.backoff, effective.capacity) == ("continuation", spec.backoff, 500)
    assert compiled(spec, TWO_NODES, runtime("own")).backoff.first_ps == 7000
    assert effective_runtime(strategy("randomized"), runtime("own")) == runtime("own")


def test_a_queue_that_tasks_cannot_leave_is_refused() -> None:
    rules = [{"to": "any", "queue": "pool"}]
    spec = stealing({"from": "other-nodes", "queue": "pool"}, queues=DEQUES_AND_POOLS, dispatch=rules)
    compiled(spec, TWO_NODES)
    with pytest.raises(InputError, match="a task put into the pool of worker 0 would stay there"):
        compiled(spec, [0, 0])


def test_dispatch_without_a_queue_for_the_producer_is_refused() -> None:
    spec = strategy("randomized", dispatch=[{"to": "own"}])
    compiled(spec, TWO_NODES, runtime("ompi"))
    with pytest.raises(InputError, match="extra producer has no queue of its own"):
        compiled(spec, TWO_NODES, runtime("own"))
    compiled(strategy("chunk"), TWO_NODES, runtime("own"))


def test_plans_are_read_only() -> None:
    plan = compiled(strategy("topology-aware"), TWO_NODES)
    for array in (plan.level, plan.row, plan.seg, plan.queue, plan.weight, plan.watch, plan.queues, plan.own):
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


def test_units_without_workers_have_no_queue() -> None:
    spec = StrategySpec.model_validate({"queues": {"pool": {"per": "node"}}, "steal": [{"from": "own"}]})
    units = Units(toy_machine(4), on_nodes([3, 1]))
    family = build_families(spec, units)["pool"]
    assert (family.queue.tolist(), family.first.tolist(), family.mine.tolist()) == ([0, 1], [1, 0], [[1, 0, 1]])


@pytest.mark.parametrize("size", [1, 2, 4, 16, 64])
def test_vicinities_on_a_mesh_are_squares(size: int) -> None:
    """Home scheduling groups the nearest tiles: 4 are 2 x 2 and 16 are 4 x 4 blocks of the 8 x 8 mesh."""
    tile = np.arange(64)
    hops = np.abs(tile[:, None] % 8 - tile % 8) + np.abs(tile[:, None] // 8 - tile // 8)
    units = Units(toy_machine(64, latency_ps=1000 + hops), on_nodes(tile.tolist()))
    block = vicinities(units, size)
    for members in (tile[block == b] for b in range(64 // size)):
        width, height = np.ptp(members % 8) + 1, np.ptp(members // 8) + 1
        assert width * height == size
        assert width in (height, 2 * height)
