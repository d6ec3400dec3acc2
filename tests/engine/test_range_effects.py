"""Ranges where everything that workers share plays a part: production passed over is production item by item."""

from __future__ import annotations

import pytest
from coupled_plans import UNCHANGED_PPM, effects, loaded, machines
from engine_setup import (
    NS,
    Seen,
    assert_agree,
    event_by_event,
    observe,
    plan_of,
    runtime,
    shipped_strategy,
)
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_plans import STRATEGIES
from task_graphs import Access, items

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.check.invariants import violations
from numasim.engine.simulate import ENGINES
from numasim.parts.models.placement_model import PlacementSpec
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Mode, Region, Workload

KIB = 1024
pytestmark = pytest.mark.parametrize("engine", ENGINES)

COUPLING = {
    "misses": Effects(mlp_ppm=UNCHANGED_PPM),
    "fluid": Effects(contention="fluid"),
    "snapshot": Effects(contention="snapshot"),
    "share": Effects(cache="share", contention="fluid"),
    "lru": Effects(cache="lru", contention="fluid"),
    "smt": Effects(smt="memory", contention="fluid"),
    "turbo": Effects(clock="turbo", worker_spread_ppm=100_000, contention="fluid"),
    "all": Effects("share", "fluid", "md1", 300_000, "memory", "turbo", 400_000, 300_000, 0, 100_000),
}


@st.composite
def production(draw: st.DrawFn) -> Plan:
    """Ranges in small queues, made by a producer beside the workers or by worker 0, or dealt at the start."""
    producer, on_full = draw(
        st.sampled_from([("extra", "next"), ("extra", "next"), ("master", "inline"), ("none", "grow")])
    )
    machine = draw(machines((3, 10)))
    how = runtime(
        producer=producer,
        on_full=on_full,
        capacity=draw(st.integers(1, 6)),
        join=draw(st.sampled_from(["help", "continuation"])),
        costs={
            "push_ns": draw(st.sampled_from([0, 10, 60, 400])),
            "pop_ns": draw(st.sampled_from([0, 40])),
            "take_ns": draw(st.sampled_from([0, 60])),
        },
    )
    strategy = shipped_strategy(draw(st.sampled_from(STRATEGIES)))
    policy = draw(st.sampled_from(["block", "interleave", "first-touch-master"]))
    placed = strategy.model_copy(update={"placement": PlacementSpec(policy=policy)})
    workers = draw(st.integers(1, min(6, machine.threads)))
    return plan_of(draw(families()), workers, placed, how, machine, effects=draw(effects()))


@st.composite
def families(draw: st.DrawFn) -> Workload:
    """Items that are all alike, or differ in what they compute or in where their bytes are."""
    low = draw(st.integers(0, 2000)) * NS
    accesses = (Access(0, 0, 4096), Access(0, 0, 640, mode=draw(st.sampled_from(list(Mode))), passes=2))
    steps = ((1, 4096 * draw(st.integers(0, 1)), 0), (7, 0, 640 * draw(st.integers(0, 1))))
    return items(
        draw(st.integers(1, 120)),
        low,
        low + draw(st.sampled_from([0, 0, 500])) * NS,
        draw(st.sampled_from(list(Deal))),
        accesses,
        steps,
        (Region("data", draw(st.sampled_from([1, 4])) * 480 * KIB, True),),
        repeat=draw(st.integers(1, 2)),
    )


quick = settings(max_examples=40)


def outcome(plan: Plan, engine: str, seed: int) -> Seen | str:
    try:
        return observe(plan, engine, seed)
    except DeadlockError as error:
        return str(error)


@quick
@given(plan=production(), seed=st.integers(0, 99))
def test_ranges_in_bulk_are_ranges_item_by_item(engine: str, plan: Plan, seed: int) -> None:
    assert plan.coupled
    fast, slow = outcome(plan, engine, seed), outcome(event_by_event(plan), engine, seed)
    if isinstance(fast, str) or isinstance(slow, str):
        assert fast == slow
        return
    event(str(fast["mode"]))
    assert violations(plan, slow.result, slow.log) == []
    assert_agree(fast, slow)


def like_items(effect: str, skip: bool) -> Plan:
    """600 like items for eight workers on shared cores, data of both nodes, made at the side."""
    how = runtime(producer="extra", capacity=6, on_full="next", join="help", costs={"push_ns": 3, "pop_ns": 5})
    accesses = (Access(0, 0, 6400, passes=2), Access(0, 8 * KIB, 640, mode=Mode.WRITE))
    work = items(600, 300 * NS, None, Deal.MASTER, accesses, ((1, 0, 0), (1, 0, 0)), (Region("data", 64 * KIB, True),))
    machine = loaded(2, 2, 2, "socket", 10)
    return plan_of(work, 8, "randomized", how, machine, effects=COUPLING[effect], skip=skip)


@pytest.mark.parametrize("effect", COUPLING)
def test_like_items_of_a_producer_are_passed_over(effect: str, engine: str) -> None:
    fast, slow = (observe(like_items(effect, skip), engine) for skip in (True, False))
    assert_agree(fast, slow)
    assert (fast["mode"], slow["mode"]) == ("bulk", "eager")
    assert fast.result.passed_items > 400
    assert fast["events"] < slow["events"] / 3


@pytest.mark.parametrize("effect", COUPLING)
def test_items_differ_by_nothing_but_their_place(effect: str, engine: str) -> None:
    """In steady state all items of a worker take the same time."""
    seen = observe(like_items(effect, skip=False), engine)
    assert seen.log is not None
    for worker in range(8):
        lengths = [each.end_ps - each.start_ps for each in sorted(seen.log) if each.worker == worker]
        assert len(set(lengths[10:-20])) == 1
