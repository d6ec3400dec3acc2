"""What holds for every plan: the invariants, passing over polls, repeatability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
from engine_setup import NS, Seen, assert_agree, event_by_event, observe, plan_of, runtime, shipped_strategy, toy
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_plans import JOINS, STRATEGIES, plans, seeds
from task_graphs import Access, items

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.check.invariants import violations
from numasim.parts.models.placement_model import PlacementSpec
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Region

quick = settings(max_examples=120)


def outcome(plan: Plan, seed: int) -> Seen | str:
    try:
        return observe(plan, seed=seed)
    except DeadlockError as error:
        return str(error)


@quick
@given(plans(), seeds)
def test_every_result_obeys_the_invariants(plan: Plan, seed: int) -> None:
    seen = observe(plan, seed=seed)
    assert violations(plan, seen.result, seen.log) == []


@quick
@given(plans(), seeds)
def test_passing_over_polls_changes_nothing(plan: Plan, seed: int) -> None:
    fast, slow = observe(plan, seed=seed), observe(event_by_event(plan), seed=seed)
    event("fewer events" if fast["events"] < slow["events"] else "as many events")
    assert_agree(fast, slow)
    assert fast["event_hash"] == (slow["event_hash"] if fast["mode"] == "eager" else None)


@quick
@given(plans(JOINS), seeds)
def test_every_join_ends_or_names_a_deadlock_in_either_mode(plan: Plan, seed: int) -> None:
    fast, slow = outcome(plan, seed), outcome(event_by_event(plan), seed)
    event(f"{plan.join}: {'deadlock' if isinstance(fast, str) else 'ends'}")
    if isinstance(fast, str) or isinstance(slow, str):
        assert fast == slow
        return
    assert violations(plan, fast.result, fast.log) == []
    assert_agree(fast, slow)


@settings(quick, max_examples=30)
@given(plans(), seeds)
def test_a_seed_gives_one_result(plan: Plan, seed: int) -> None:
    first, second = observe(plan, seed=seed), observe(plan, seed=seed)
    assert_agree(first, second)
    assert (first["event_hash"], first["events"]) == (second["event_hash"], second["events"])


def test_seeds_differ() -> None:
    work = items(40, 200 * NS, 2000 * NS)
    hashes = {observe(plan_of(work, 4, "randomized"), seed=seed)["trace_hash"] for seed in range(30)}
    assert len(hashes) == 30


def arrays_of(part: Any) -> Iterator[bytes]:
    for entry in fields(part):
        value = getattr(part, entry.name)
        if isinstance(value, np.ndarray):
            yield value.tobytes()


@settings(quick, max_examples=40)
@given(plans(), seeds)
def test_running_leaves_the_plan_as_it_was(plan: Plan, seed: int) -> None:
    parts = (plan.machine, plan.workers, plan.steal)
    before = [plan.workload.digest(), *(array for part in parts for array in arrays_of(part))]
    observe(plan, seed=seed)
    assert [plan.workload.digest(), *(array for part in parts for array in arrays_of(part))] == before


@st.composite
def production(draw: st.DrawFn) -> Plan:
    """Ranges in small queues, made by a producer beside the workers or by worker 0, or dealt at the start."""
    sockets = draw(st.integers(1, 2))
    bounded = draw(st.sampled_from([("extra", "next"), ("extra", "next"), ("master", "inline"), ("none", "grow")]))
    low = draw(st.integers(0, 2000))
    how = runtime(
        producer=bounded[0],
        on_full=bounded[1],
        capacity=draw(st.integers(1, 6)),
        join=draw(st.sampled_from(["help", "continuation"])),
        backoff={"first_ns": draw(st.sampled_from([0, 70, 900]))},
        s_rule=draw(st.sampled_from(["avail", "literal"])),
        costs={
            "push_ns": draw(st.sampled_from([0, 10, 60, 400])),
            "pop_ns": draw(st.sampled_from([0, 40])),
            "take_ns": draw(st.sampled_from([0, 60])),
        },
    )
    data = Region("data", 40 * 4096, True)
    reads = (Access(0, 0, 4096), Access(0, 0, 64)) if draw(st.booleans()) else ()
    rules = ((1, 4096, 0), (7, 0, 4096))[: len(reads)]
    count = draw(st.integers(1, 40 if reads else 400))
    work = items(
        count,
        low * NS,
        (low + draw(st.sampled_from([0, 0, 500]))) * NS,
        deal=draw(st.sampled_from(list(Deal))),
        accesses=reads,
        steps=rules,
        regions=(data,) if reads else (),
        repeat=draw(st.integers(1, 2)),
    )
    strategy = shipped_strategy(draw(st.sampled_from(STRATEGIES)))
    placed = strategy.model_copy(
        update={"placement": PlacementSpec(policy=draw(st.sampled_from(["block", "interleave"])))}
    )
    return plan_of(work, draw(st.integers(1, 6)), placed, how, toy(sockets, 3, 2))


@settings(quick, max_examples=250)
@given(production(), seeds)
def test_ranges_in_bulk_are_ranges_item_by_item(plan: Plan, seed: int) -> None:
    fast, slow = outcome(plan, seed), outcome(event_by_event(plan), seed)
    if isinstance(fast, str) or isinstance(slow, str):
        assert fast == slow
        return
    event(fast["mode"] if fast["mode"] != "eager" or fast["events"] == slow["events"] else "stretches")
    assert violations(plan, slow.result, slow.log) == []
    assert_agree(fast, slow)
