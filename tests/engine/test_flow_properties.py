"""Properties of flows under any plan: model 8, items 7 and 8."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from engine_setup import Seen, event_by_event, found, observe
from hypothesis import event, given, settings
from random_plans import AMPLE_GBS, SETTLED, UNCHANGED_PPM, coupled_plans, seeds, with_effects

from numasim.plan.build_plan import revised
from numasim.plan.effects import NO_EFFECTS, Effects
from numasim.plan.plan import Plan
from numasim.plan.segment_times import RangeTimes, segment_times

quick = settings(max_examples=25)

PLAIN = {
    "cache": "none",
    "queueing": "none",
    "smt": "none",
    "clock": "fixed",
    "overlap_ppm": 1_000_000,
    "mlp_ppm": UNCHANGED_PPM,
    "task_noise_ppm": 0,
    "worker_spread_ppm": 0,
}


@quick
@given(plan=coupled_plans(placements=SETTLED, **PLAIN), seed=seeds)
def test_no_segment_takes_less_than_alone_or_than_its_bytes(plan: Plan, seed: int) -> None:
    """Without caches a segment's own time follows from its node, and its bytes from the pages."""
    seen = observe(event_by_event(plan), seed)
    longer = 0
    for length_ps, alone_ps, traffic in by_segment(plan, seen, seed):
        assert length_ps >= alone_ps
        longer += length_ps > alone_ps
        if plan.effects.contention != "none" and not plan.workload.ranges:  # items ask for what the mean one needs
            # what a flow asks for is rounded down, by one byte per second at most
            assert (length_ps * plan.machine.imc_bytes_per_s + alone_ps >= traffic * 10**12).all()
    event("some wait" if longer else "all run freely")
    assert longer == 0 or plan.effects.contention != "none"


def by_segment(plan: Plan, seen: Seen, seed: int) -> list[tuple[int, int, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """Return (length, length if it were alone, [nodes] bytes) of everything that was executed."""
    alone_by_rule = revised(plan, effects=NO_EFFECTS)  # what is coupled finds its times out while it runs
    placement = plan.placement.drawn(seed)
    times = segment_times(alone_by_rule, placement)
    ranges = [RangeTimes(plan, placement, family, seed) for family in plan.workload.ranges]
    found = []
    for each in seen.log or ():
        node = int(plan.workers.node[each.worker])
        if each.task < plan.workload.rows:
            alone, traffic = int(times.total_ps[node][each.segment]), times.traffic[each.segment]
        else:
            item = each.task - plan.workload.rows
            alone, traffic = ranges[0].item(node, item)[0], ranges[0].traffic(np.array([item]))
        found.append((each.end_ps - each.start_ps, alone, traffic))
    return found


@quick
@given(plan=coupled_plans(gbs=(AMPLE_GBS,)), seed=seeds)
def test_contention_plays_no_part_below_capacity(plan: Plan, seed: int) -> None:
    plan = event_by_event(revised(plan, costs=replace(plan.costs, faults_per_s=0)))
    none, snapshot, fluid = (
        observe(with_effects(plan, contention=name), seed) for name in ("none", "snapshot", "fluid")
    )
    assert found(none.result) == found(snapshot.result) == found(fluid.result)
    assert none["event_hash"] == snapshot["event_hash"] == fluid["event_hash"]


@quick
@given(plan=coupled_plans(gbs=(10,), most_workers=1, mlp_ppm=UNCHANGED_PPM, local_share_ppm=0), seed=seeds)
def test_one_worker_alone_contends_with_nobody(plan: Plan, seed: int) -> None:
    """A flow of memory asks for 6.4 GB/s at most and what it finds in the cache for 32: only the latter is too much."""
    plan = with_effects(revised(plan, costs=replace(plan.costs, faults_per_s=0)), cache="none")
    none, fluid = (observe(with_effects(plan, contention=name), seed) for name in ("none", "fluid"))
    assert found(none.result) == found(fluid.result)


@quick
@given(plan=coupled_plans(gbs=(3,), most_workers=1, placements=SETTLED, **PLAIN | {"contention": "fluid"}), seed=seeds)
def test_one_worker_alone_gets_no_more_than_there_is(plan: Plan, seed: int) -> None:
    seen = observe(event_by_event(plan), seed)
    waits = sum(length - alone for length, alone, _ in by_segment(plan, seen, seed))
    event("waits" if waits else "runs freely")
    assert seen["inflation_contention_ps"] == waits
    assert plan.workload.ranges or seen["imc_busy_max"] <= 1


@quick
@given(plan=coupled_plans(placements=SETTLED, **PLAIN | {"contention": "none", "local_share_ppm": 0}), seed=seeds)
def test_finding_out_while_running_equals_knowing_beforehand(plan: Plan, seed: int) -> None:
    """Effects that change nothing: the same run with times from tables, to the last event."""
    known = event_by_event(revised(plan, effects=Effects()))
    assert plan.coupled
    assert not known.coupled
    while_running, beforehand = observe(event_by_event(plan), seed), observe(known, seed)
    left, right = found(while_running.result), found(beforehand.result)
    left["pairs"] = {name: left["pairs"][name] for name in right["pairs"]}  # tables do not tell kinds of bytes apart,
    left["counters"]["link_busy_max"] = right["counters"]["link_busy_max"]  # nor the ways that they take
    assert left == right
    assert while_running.stretches == beforehand.stretches
    assert while_running["event_hash"] == beforehand["event_hash"]
