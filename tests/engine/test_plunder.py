"""Steals in bulk: thieves that are followed without a common clock end as if each probe had been an event."""

from __future__ import annotations

from typing import Any

import pytest
from engine_setup import NS, SEED, event_by_event, found, plan_of, runtime, shipped_strategy, toy
from hypothesis import event, given, settings
from hypothesis import strategies as st
from task_graphs import Access, items

from numasim.engine.simulate import ENGINES, simulate
from numasim.parts.models.placement_model import PlacementSpec
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Region

pytestmark = pytest.mark.skipif("native" not in ENGINES, reason="only the native engine follows thieves in bulk")

MEMORY = Region("a", 1 << 16, initialised=True)
WAITS: tuple[dict[str, Any], ...] = ({}, {"first_ns": 50, "factor": 2}, {"first_ns": 5000, "factor": 2, "max_ns": 9000})


def uneven(
    count: int, workers: int, read: int = 4096, deal: Deal = Deal.CYCLIC, strategy: str = "randomized", **keys: Any
) -> Plan:
    """Like items that read one node's memory: the workers of the other nodes are slower and will be robbed."""
    work = items(count, 100 * NS, deal=deal, accesses=(Access(0, 0, read),), steps=((1, 0, 0),), regions=(MEMORY,))
    bound = shipped_strategy(strategy).model_copy(update={"placement": PlacementSpec(policy="bind", node=0)})
    how = runtime(**keys.pop("runtime", {}))
    return plan_of(work, workers, bound, how, toy(keys.pop("sockets", 2), 6), **keys)


def test_far_fewer_events_than_steals() -> None:
    plan = uneven(300_000, 12, read=60_000)
    bulk, eager = simulate(plan, SEED, "native"), simulate(event_by_event(plan), SEED, "native")
    assert found(bulk) == found(eager)
    assert bulk.counters["steal_success"] > 2 * bulk.counters["events"]


@settings(max_examples=60)
@given(st.data())
def test_thieves_in_bulk_are_thieves_event_by_event(data: st.DataObject) -> None:
    sockets = data.draw(st.integers(1, 3))
    plan = uneven(
        data.draw(st.integers(500, 12_000)),
        data.draw(st.integers(2, 6 * sockets)),
        data.draw(st.sampled_from([64, 4096, 20_000, 60_000])),
        data.draw(st.sampled_from(list(Deal))),
        data.draw(st.sampled_from(["randomized", "randomized-self", "nearest-first"])),
        runtime={
            "backoff": data.draw(st.sampled_from(WAITS)),
            "costs": {"take_ns": data.draw(st.integers(0, 70)), "pop_ns": data.draw(st.integers(0, 9)), "probe_ns": 20},
        },
        sockets=sockets,
    )
    seed = data.draw(st.integers(0, 2**64 - 1))
    bulk, eager = simulate(plan, seed, "native"), simulate(event_by_event(plan), seed, "native")
    assert found(bulk) == found(eager)
    event("robbed" if bulk.counters["events"] < bulk.counters["steal_success"] else "probed")


def test_the_reference_engine_agrees() -> None:
    plan = uneven(4000, 6)
    assert found(simulate(plan, SEED, "native")) == found(simulate(plan, SEED, "reference"))
