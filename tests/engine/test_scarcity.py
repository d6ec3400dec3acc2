"""Contention that can have no effect (model 1.8): what all workers together ask for at most is at most what there is.

By hand on the toy machine, whose controllers have 10 GB/s: a line of 64 bytes in 12.8 ns is 5 GB/s.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, assert_agree, event_by_event, found, observe, plan_of, stealing, toy, toy_with
from hypothesis import event, given, settings
from hypothesis import strategies as st
from skippable_drafts import assert_skipping_changes_nothing, plan_on
from task_graphs import WAIT, Access, Run, graph, items, task

from numasim.engine.simulate import ENGINES, simulate
from numasim.machine.topology import Machine
from numasim.parts.unit_factors import MILLION
from numasim.plan.build_plan import revised
from numasim.plan.coupling import may_be_scarce, most_asked
from numasim.plan.effects import NO_BACKGROUND, Background, Effects
from numasim.plan.plan import Plan
from numasim.plan.resources import ResourceKind, resources_of
from numasim.plan.skippable import obstacle
from numasim.workload.graph import Deal, Mode, Region, Workload

pytestmark = pytest.mark.skipif("native" not in ENGINES, reason="the native engine is not built")

READY = Region("ready", 1 << 16, initialised=True)
FLUID = Effects(contention="fluid")
ENOUGH_PS = 12_800  # for a line, at 5 GB/s


def lines(compute_ps: int, count: int = 20, mode: Mode = Mode.READ) -> Workload:
    """Items that each read a line or write it, which takes 10 ns or 20 ns to wait for."""
    return items(count, compute_ps, compute_ps, Deal.CYCLIC, (Access(0, 0, 64, mode=mode),), ((1, 64, 0),), (READY,))


# ---- by hand ---------------------------------------------------------------------------------------------------------


def test_two_workers_that_use_up_a_controller_leave_each_other_alone() -> None:
    plan = plan_of(lines(ENOUGH_PS), 2, effects=FLUID)
    assert most_asked(plan) == {0: 10_000_000_000}
    assert not may_be_scarce(plan)
    result = assert_skipping_changes_nothing(plan)
    assert result.counters["makespan_ps"] == 10 * ENOUGH_PS
    assert not result.per_worker["inflation_contention_ps"].any()


def test_a_picosecond_less_and_they_hold_each_other_back() -> None:
    # 64 bytes in 12.799 ns are 5,000,390,655 bytes a second, of which a share of 5,000,000,000 is left
    plan = plan_of(lines(ENOUGH_PS - 1), 2, effects=FLUID)
    assert most_asked(plan) == {0: 2 * 5_000_390_655}
    assert may_be_scarce(plan)
    assert not plan.skippable
    seen = {engine: observe(plan, engine) for engine in ENGINES}
    assert_agree(seen["native"], seen["reference"])
    assert all(sum(each.of_worker("inflation_contention_ps")) > 0 for each in seen.values())


def test_what_is_written_is_fetched_and_written_back() -> None:
    assert most_asked(plan_of(lines(2 * ENOUGH_PS, mode=Mode.WRITE), 2, effects=FLUID)) == {0: 10_000_000_000}


def test_a_wait_that_is_longer_than_computing_bounds_what_is_asked_for() -> None:
    assert most_asked(plan_of(lines(1), 1, effects=FLUID)) == {0: 6_400_000_000}
    assert most_asked(plan_of(lines(1), 1, effects=replace(FLUID, overlap_ppm=0))) == {0: 64 * MILLION**2 // 10_001}


def test_others_and_unlike_speeds_count() -> None:
    plan = plan_of(lines(ENOUGH_PS), 2, effects=FLUID)
    assert may_be_scarce(revised(plan, effects=replace(FLUID, background=Background(nodes=((0, 1),)))))
    # of one ppm of spread, a random number makes at most 131,070 div 37,837 ppm
    spread = revised(plan, effects=replace(FLUID, worker_spread_ppm=1))
    assert most_asked(spread) == {0: 2 * (64 * MILLION**2 // -(-ENOUGH_PS * MILLION // (MILLION + 3)))}


def test_bytes_from_the_other_node_use_a_link_and_its_controller_alone() -> None:
    # all pages are on node 0: worker 1 waits 20 ns for a line
    plan = plan_of(lines(1), 2, machine=toy(sockets=2, cores=1), effects=FLUID)
    links = [at for at, each in enumerate(resources_of(plan).listed) if each.kind == ResourceKind.LINK]
    assert most_asked(plan) == {0: 9_600_000_000, links[0]: 3_200_000_000}


def test_a_worker_asks_for_one_family_at_a_time() -> None:
    one, other = lines(2 * ENOUGH_PS), lines(ENOUGH_PS)
    both = replace(one, ranges=one.ranges + other.ranges, phases=(*one.phases, replace(one.phases[0], range_family=1)))
    plan = plan_of(both, 2, effects=FLUID)
    assert most_asked(plan) == {0: 10_000_000_000}
    assert_skipping_changes_nothing(plan)


RANDOM_HOMES = stealing(placement={"policy": "random"})


@pytest.mark.parametrize(
    ("plan", "scarce"),
    [
        (plan_of(lines(ENOUGH_PS), 2), False),
        (plan_of(graph(task(NS)), 2, effects=FLUID), False),
        (plan_of(graph(task(task(Run(NS, (Access(0, 0, 64),))), WAIT), regions=(READY,)), 2, effects=FLUID), True),
        (plan_of(lines(ENOUGH_PS), 2, RANDOM_HOMES, effects=FLUID), True),
    ],
    ids=["no contention", "no bytes", "bytes of tasks", "homes that are drawn"],
)
def test_what_is_certain(plan: Plan, scarce: bool) -> None:
    assert may_be_scarce(plan) == scarce


# ---- random plans ----------------------------------------------------------------------------------------------------


def machine_of(chance: Random) -> Machine:
    shape = {"sockets": chance.choice((1, 2, 3)), "cores": chance.choice((1, 2)), "threads": chance.choice((1, 2))}
    caches: dict[str, Any] = {"l2": chance.choice((0, 600))}
    if chance.random() < 0.6:
        caches |= {"llc": chance.choice((1000, 20_000, 1 << 20)), "llc_hit_ns": 15, "llc_remote_hit_ns": 60}
        caches |= {"llc_scope": chance.choice(("socket", "core"))}
        caches |= {"llc_bandwidth_gbs": chance.choice((1, 10))} if chance.random() < 0.3 else {}
    paces = {"busy_ppm": chance.choice((MILLION, 650_000)), "poll_ppm": chance.choice((MILLION, 850_000))}
    return toy_with(shape, caches=caches, smt=paces, clock={"base_ghz": 2, "turbo": [{"active": 1, "ghz": 3.1}]})


def effects_of_traffic(chance: Random) -> Effects:
    return Effects(
        cache=chance.choice(("none", "share", "lru")),
        contention=chance.choice(("fluid", "fluid", "snapshot")),
        queueing=chance.choice(("none", "none", "none", "md1")),
        local_share_ppm=chance.choice((0, 0, 0, 300_000)),
        smt=chance.choice(("none", "compute", "memory")),
        clock=chance.choice(("turbo", "fixed")),
        overlap_ppm=chance.choice((MILLION, 0, 333_333)),
        mlp_ppm=chance.choice((MILLION, 2_500_000)),
        task_noise_ppm=chance.choice((0, 0, 200_000)),
        worker_spread_ppm=chance.choice((0, 0, 200_000)),
    )


def with_bandwidth(plan: Plan, percent: int, margin: int, load: int) -> Plan:
    """The plan on a machine whose controllers and links have so much of what can be asked for, and ``margin``, beside
    ``load``.
    """
    asked, nodes = most_asked(plan), plan.machine.nodes
    enough = [max(1, asked[at] * percent // 100 + margin) for at in range(len(resources_of(plan).listed))]
    links = [at for at, each in enumerate(resources_of(plan).listed) if each.kind == ResourceKind.LINK]
    machine = replace(
        plan.machine,
        imc_bytes_per_s=np.array(enough[:nodes]) + load,
        links=replace(plan.machine.links, bytes_per_s=np.array(enough, np.int64)[links]),
    )
    background = Background(nodes=tuple((node, load) for node in range(nodes))) if load else NO_BACKGROUND
    return revised(plan, machine=machine, effects=replace(plan.effects, background=background))


@settings(max_examples=150)
@given(st.randoms(use_true_random=False))
def test_contention_without_scarcity_changes_nothing(chance: Random) -> None:
    effects = effects_of_traffic(chance)
    plan = plan_on(machine_of(chance), effects, chance, ranges=1)
    percent, margin = chance.choice(((100, 0), (100, 0), (100, 1), (100, -1), (50, 0), (200, 0)))
    plan = with_bandwidth(plan, percent, margin, chance.choice((0, 0, 12_345)))
    kept = effects.local_share_ppm or plan.machine.caches.llc_bytes_per_s
    if any(most_asked(plan)[node] > 1 for node in range(plan.machine.nodes)) and (percent < 100 or margin < 0):
        assert may_be_scarce(plan)
    elif not kept and percent >= 100 and margin >= 0:
        assert not may_be_scarce(plan)
    event("scarce" if may_be_scarce(plan) else "enough")
    seed = chance.getrandbits(64)
    if plan.skippable:
        result = assert_skipping_changes_nothing(plan, seed)
        free = revised(plan, effects=replace(plan.effects, contention="none"))
        assert found(result)["workers"] == found(simulate(free, seed))["workers"]
    beside = {None, "local memory or caches differ between workers, so the span depends on who executes what"}
    assert may_be_scarce(plan) or effects.queueing != "none" or obstacle(plan) in beside
    for each in (plan, event_by_event(plan)):
        assert_agree(observe(each, "native", seed), observe(each, "reference", seed))
