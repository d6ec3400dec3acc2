"""Production in steady state, of which the native engine follows the last takes alone where the producer catches up
before any worker takes again; the reference engine follows all of them.
"""

from __future__ import annotations

from random import Random

import pytest
from engine_setup import NS, assert_agree, event_by_event, observe, plan_of, runtime, stealing, toy_with
from hypothesis import event, given, settings
from hypothesis import strategies as st
from task_graphs import Access, items

from numasim.engine.simulate import ENGINES
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Pattern, Region

NATIVE = pytest.mark.skipif("native" not in ENGINES, reason="the native engine is not built")

READY = Region("ready", 4096, initialised=True)
LINE = Access(0, 0, 64, pattern=Pattern.CHASE)  # 100 ns from the own node, 200 ns from the other one


def produced(chance: Random) -> Plan:
    """Like items that an extra producer makes; how long they take depends on the node and on who shares the core."""
    shape = {"sockets": chance.choice((1, 2)), "cores": chance.choice((1, 3)), "threads": chance.choice((1, 2))}
    speeds = {"busy_ppm": chance.choice((650_000, 333_333)), "poll_ppm": 900_000}
    machine = toy_with(shape, smt=speeds, hop_latency_ns=chance.choice((100, 100, 5000)))
    workers = chance.randint(1, machine.threads)
    item_ps = chance.choice((50, 150, 199, 1000)) * NS + chance.choice((0, 1))
    work = items(chance.choice((50, 700, 4000)), item_ps, item_ps, Deal.MASTER, (LINE,), ((1, 0, 0),), (READY,))
    # up to half of an item over all workers, the producer catches up
    just_ns = max(item_ps, 100 * NS) // (2 * workers * NS)
    costs = {"push_ns": chance.choice((0, 1, just_ns, just_ns + 1, 3 * just_ns)), "pop_ns": chance.choice((0, 7))}
    capacity = chance.choice((3, 4, 20))
    how = runtime(producer="extra", capacity=capacity, on_full="next", costs=costs)
    effects = Effects(smt=chance.choice(("none", "compute", "memory")), contention=chance.choice(("none", "fluid")))
    return plan_of(work, workers, strategy(chance, capacity), how, machine, effects=effects)


def strategy(chance: Random, capacity: int) -> StrategySpec:
    """Random victims, or announced ones; owners announce queues that are full, or nearly, or never."""
    announce = chance.choice((None, "always", "owner", "owner-exact", "owner-exact"))
    if announce is None:
        return stealing({"from": "others"})
    high = max(2, capacity + chance.choice((1, 0, -1, -1, -2, -3)))
    return stealing({"from": "others", "if": "announced"}, thresholds={"max": high, "min": 1, "announce": announce})


@NATIVE
@settings(max_examples=100)
@given(st.randoms(use_true_random=False))
def test_the_last_takes_tell_what_all_of_them_do(chance: Random) -> None:
    plan, seed = produced(chance), chance.getrandbits(64)
    last, every = observe(plan, "native", seed), observe(plan, "reference", seed)
    event(f"{last['mode']}, {plan.workload.ranges[0].count} items, {plan.workers.workers} workers")
    assert last.result.passed_items == every.result.passed_items
    assert_agree(last, every)
    assert_agree(last, observe(event_by_event(plan), "native", seed))


@pytest.mark.parametrize("push_ns", [20, 60])  # the producer catches up, as far as the native engine knows, or not
@pytest.mark.parametrize("announce", ["owner", "owner-exact"])
@pytest.mark.parametrize("engine", ENGINES)
def test_what_owners_have_announced_in_steady_production_is_known_after_it(
    engine: str, announce: str, push_ns: int
) -> None:
    """Worker 0 has items of 100 ns, worker 1, on the other node, of 5.1 us; they announce full queues.

    They take their first items before the queues are full. When no more items are made, worker 0 is the first to
    search, and worker 1 has not come to its queue since events are gone through again.
    """
    machine = toy_with({"sockets": 2, "cores": 1}, hop_latency_ns=5000)
    work = items(3000, 1, 1, Deal.MASTER, (LINE,), ((1, 0, 0),), (READY,))
    how = runtime(producer="extra", capacity=4, on_full="next", costs={"push_ns": push_ns})
    thresholds = {"max": 4, "min": 1, "announce": announce}
    spec = stealing({"from": "others", "if": "announced"}, thresholds=thresholds)
    plan = plan_of(work, 2, spec, how, machine)
    bulk = observe(plan, engine)
    assert bulk["mode"] == "bulk"
    assert bulk.steals
    assert_agree(bulk, observe(event_by_event(plan), engine))
