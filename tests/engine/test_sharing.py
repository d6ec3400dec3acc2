"""Max-min fair shares in integers, against a solver in rational arithmetic (model 2.9; model 8, item 8).

A flow is a running segment; its share is the part, in units of 2**-48, that it gets of its demands on all resources.
A share is rounded down once in each step of the algorithm, by less than one unit; sums are exact.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from engine_setup import SEED, Seen, event_by_event, found, observe, plan_of, stealing, toy_with
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from random_plans import AMPLE_GBS, SETTLED, UNCHANGED_PPM, coupled_plans, seeds, with_effects
from task_graphs import body, graph

from numasim.draws import MASK, DrawClass, base, base_array, draw, draw_array
from numasim.engine.reference.memory.flows import ONE, Demands, max_min_shares
from numasim.engine.reference.memory.speeds import Activity, Speeds
from numasim.parts.unit_factors import MILLION
from numasim.plan.build_plan import revised
from numasim.plan.effects import (
    LANES_DEVIATION,
    LEAST_PPM,
    MOST_PPM,
    NO_EFFECTS,
    Effects,
    noise_ppm,
    noisy_array_ps,
    noisy_ps,
)
from numasim.plan.plan import Plan
from numasim.plan.segment_times import RangeTimes, segment_times

Units = st.integers(1, 10**11)


def rate(demand: int, share: int) -> Fraction:
    """Return the bytes per second that a flow gets: its demand times its share, not rounded."""
    return Fraction(demand * share, ONE)


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[int], list[Demands]]:
    """Draw the capacities of resources, and flows that each use some of the resources."""
    capacity = draw(st.lists(Units, min_size=1, max_size=4))
    one = st.dictionaries(st.integers(0, len(capacity) - 1), st.integers(0, 10**11), max_size=len(capacity))
    flows = draw(st.lists(one, max_size=7))
    return capacity, [tuple(sorted(flow.items())) for flow in flows]


@given(networks())
@example(([1, 1], [((0, 10**11), (1, 10**11)), ((0, 1),), ((1, 5),)]))  # shares below one unit in the last place
def test_every_flow_held_back_meets_a_full_resource_where_none_has_more(
    network: tuple[list[int], list[Demands]],
) -> None:
    capacity, flows = network
    shares = max_min_shares(capacity, flows)
    assert all(1 <= share <= ONE for share in shares)
    for flow, share in zip(flows, shares, strict=True):
        if share < ONE:
            assert any(q and is_tight(r, share, capacity[r], flows, shares) for r, q in flow)


def is_tight(resource: int, share: int, capacity: int, flows: list[Demands], shares: list[int]) -> bool:
    """Return whether the resource is full up to rounding and no flow on it has more than ``share``."""
    users = [(dict(flow)[resource], s) for flow, s in zip(flows, shares, strict=True) if dict(flow).get(resource)]
    used = sum(rate(q, s) for q, s in users)
    lost = Fraction(sum(q for q, _ in users), ONE)
    return used + lost >= capacity and all(s <= share for _, s in users)


@given(networks())
def test_no_resource_carries_more_than_it_can(network: tuple[list[int], list[Demands]]) -> None:
    capacity, flows = network
    shares = max_min_shares(capacity, flows)
    for r, most in enumerate(capacity):
        users = [(dict(flow).get(r, 0), share) for flow, share in zip(flows, shares, strict=True)]
        least = sum(rate(q, 1) for q, share in users if share == 1)
        assert sum(rate(q, share) for q, share in users) <= most + least


# ---- compared with an exact solver ----------------------------------------------------------------------------------


def exact_shares(capacity: list[int], flows: list[Demands]) -> list[Fraction]:
    """Return [flows] the max-min shares in rational arithmetic.

    All shares are raised together until a resource is full or a share is 1. The shares of the flows on this resource
    stay; the other shares are raised further (Bertsekas and Gallager, *Data Networks*, 1992, section 6.5.2).
    """
    shares = [Fraction(0)] * len(flows)
    rising = [i for i, flow in enumerate(flows) if any(q for _, q in flow)]
    for i in set(range(len(flows))) - set(rising):
        shares[i] = Fraction(1)
    left = [Fraction(units) for units in capacity]
    while rising:
        asked = [sum(dict(flows[i]).get(r, 0) for i in rising) for r in range(len(capacity))]
        now = shares[rising[0]]
        step = min([1 - now, *(rest / total for rest, total in zip(left, asked, strict=True) if total)])
        for i in rising:
            shares[i] += step
        left = [rest - step * total for rest, total in zip(left, asked, strict=True)]
        full = {r for r, rest in enumerate(left) if not rest}
        rising = [i for i in rising if shares[i] < 1 and not any(q and r in full for r, q in flows[i])]
    return shares


def system_of_flows(chance: Random) -> tuple[list[int], list[Demands]]:
    """Draw up to forty flows over up to a dozen resources, in the bytes per second of real machines."""
    capacity = [chance.randrange(10**8, 10**12) for _ in range(chance.randrange(1, 13))]
    resources = range(len(capacity))
    flows = []
    for _ in range(chance.randrange(1, 41)):
        used = sorted(chance.sample(resources, chance.randrange(1, len(capacity) + 1)))
        flows.append(tuple((r, chance.randrange(10**6, 10**11)) for r in used))
    return capacity, flows


def test_shares_are_those_of_an_exact_solver_to_one_part_in_a_billion() -> None:
    chance = Random(2)
    held_back = 0
    for _ in range(2000):
        capacity, flows = system_of_flows(chance)
        exact = exact_shares(capacity, flows)
        held_back += sum(share < 1 for share in exact)
        for share, right in zip(max_min_shares(capacity, flows), exact, strict=True):
            assert abs(Fraction(share, ONE) - right) <= right / 10**9
    assert held_back > 10_000


# ---- speeds of workers as a function of what all workers do ---------------------------------------------------------

EXECUTES, POLLS, RESTS = Activity.EXECUTES, Activity.POLLS, Activity.RESTS
STEPS = [{"active": 1, "ghz": 4}, {"active": 3, "ghz": 3}]
ALL = Effects(smt="compute", clock="turbo", worker_spread_ppm=100_000)


def plan(cores: int, threads: int, effects: Effects, sockets: int = 1) -> Plan:
    """Return a plan with a worker on every hardware thread, in the order of cores."""
    machine = toy_with(
        {"sockets": sockets, "cores": cores, "threads": threads},
        smt={"busy_ppm": 600_000, "poll_ppm": 900_000},
        clock={"base_ghz": 2, "turbo": STEPS[: 1 + (cores >= 3)]},
    )
    return plan_of(graph(body(1)), machine.threads, stealing(mapping="smt-first"), machine=machine, effects=effects)


def computing(effects: Effects, *activity: Activity, cores: int = 1, threads: int = 1, sockets: int = 1) -> list[int]:
    """Return [workers] the speeds of computing."""
    speeds = Speeds(plan(cores, threads, effects, sockets), SEED).of_all(activity)
    return [speed.compute_ppm for speed in speeds]


def test_several_siblings_multiply() -> None:
    speeds = computing(Effects(smt="compute"), EXECUTES, EXECUTES, POLLS, RESTS, threads=4)
    assert speeds == [540_000, 540_000, 360_000, 324_000]


def test_every_socket_has_its_own_clock() -> None:
    activity = [EXECUTES, RESTS, RESTS, EXECUTES, EXECUTES, RESTS]
    assert computing(Effects(clock="turbo"), *activity, cores=3, sockets=2) == [MILLION] * 3 + [750_000] * 3


@settings(max_examples=30)
@given(st.integers(0, 2**64 - 1), st.lists(st.sampled_from(list(Activity)), min_size=6, max_size=6))
def test_everything_together_is_the_product_rounded_down_step_by_step(seed: int, activity: list[Activity]) -> None:
    found = Speeds(plan(3, 2, ALL), seed).of_all(activity)
    awake = sum(activity[2 * core] != RESTS or activity[2 * core + 1] != RESTS for core in range(3))
    for w, speed in enumerate(found):
        beside = {EXECUTES: 600_000, POLLS: 900_000, RESTS: MILLION}[activity[w ^ 1]]
        own = MILLION + noise_ppm(draw(base(seed, DrawClass.WORKER_SPEED, w), 0), 100_000)
        assert speed.compute_ppm == beside * (MILLION if awake <= 1 else 750_000) // MILLION * own // MILLION
        assert speed.memory_ppm == own


def test_the_slowest_worker_still_moves() -> None:
    machine = toy_with({"cores": 1, "threads": 8}, smt={"busy_ppm": 1, "poll_ppm": 1})
    slow = plan_of(graph(body(1)), 8, machine=machine, effects=Effects(smt="memory"))
    assert set(Speeds(slow, SEED).of_all([EXECUTES] * 8)) == {(1, 1)}


# ---- random deviations ----------------------------------------------------------------------------------------------

numbers = st.integers(0, MASK)
deviations = st.integers(1, MILLION)


@given(st.lists(st.tuples(st.integers(0, 2**41 - 1), numbers), max_size=20), deviations)
def test_arrays_are_numbers_one_by_one(pairs: list[tuple[int, int]], deviation_ppm: int) -> None:
    times = np.array([time_ps for time_ps, _ in pairs], np.int64)
    found = noisy_array_ps(times, np.array([number for _, number in pairs], np.uint64), deviation_ppm)
    assert found.tolist() == [noisy_ps(time_ps, number, deviation_ppm) for time_ps, number in pairs]


def test_the_deviation_of_four_lanes_is_that_of_the_rule() -> None:
    # the sum of four uniform numbers below n has the variance 4 (n**2 - 1) / 12
    assert abs(LANES_DEVIATION**2 - Fraction(4 * (2**32 - 1), 12)) < LANES_DEVIATION


@pytest.mark.parametrize("deviation_ppm", [1000, 100_000, 250_000])
def test_moments(deviation_ppm: int) -> None:
    """Of 100,000 draws: mean 0, the deviation asked for, no skew, flatter tails than a normal distribution's 3."""
    drawn = draw_array(base_array(5, DrawClass.DURATION, np.arange(100_000)), 0)
    noise = noisy_array_ps(np.full(len(drawn), MILLION), drawn, deviation_ppm) - MILLION
    scaled = noise / deviation_ppm
    assert scaled.mean() == pytest.approx(0, abs=4 / len(drawn) ** 0.5)
    assert scaled.std() == pytest.approx(1, rel=0.01)
    assert (scaled**3).mean() == pytest.approx(0, abs=0.03)
    assert (scaled**4).mean() == pytest.approx(3 - 1.2 / 4, rel=0.02)  # 1.2 / lanes below a normal distribution's


def test_extremes_are_cut() -> None:
    least, most = 0, MASK  # all lanes 0, all lanes full: 131,070 / 37,837 = 3.464 deviations away, towards zero
    assert (noise_ppm(least, 100_000), noise_ppm(most, 100_000)) == (-346_406, 346_406)
    assert (noise_ppm(least, 259_000), noise_ppm(least, 260_000)) == (-897_194, LEAST_PPM)
    assert (noise_ppm(most, 866_000), noise_ppm(most, 867_000)) == (131_070 * 866_000 // 37_837, MOST_PPM)
    assert noisy_ps(1000, least, MILLION) == 100
    assert noisy_ps(1000, most, MILLION) == 4000


# ---- flows under any plan (model 8, items 7 and 8) -------------------------------------------------------------------

quick = settings(max_examples=25)

PLAIN = {
    **{"cache": "none", "queueing": "none", "smt": "none", "clock": "fixed", "overlap_ppm": 1_000_000},
    **{"mlp_ppm": UNCHANGED_PPM, "task_noise_ppm": 0, "worker_spread_ppm": 0},
}


@quick
@given(plan=coupled_plans(placements=SETTLED, **PLAIN), seed=seeds)
def test_no_segment_takes_less_than_alone_or_than_its_bytes(plan: Plan, seed: int) -> None:
    """Without caches the time of a segment alone follows from its node, and its bytes by node follow from the pages."""
    seen = observe(event_by_event(plan), seed)
    longer = 0
    for length_ps, alone_ps, traffic in by_segment(plan, seen, seed):
        assert length_ps >= alone_ps
        longer += length_ps > alone_ps
        if plan.effects.contention != "none" and not plan.workload.ranges:  # items demand as their mean
            # the demand of a flow is rounded down, by one byte per second at most
            assert (length_ps * plan.machine.imc_bytes_per_s + alone_ps >= traffic * 10**12).all()
    event("some wait" if longer else "all run freely")
    assert longer == 0 or plan.effects.contention != "none"


def by_segment(plan: Plan, seen: Seen, seed: int) -> list[tuple[int, int, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """Return (time, time of the same segment alone, [nodes] bytes) of all executed stretches."""
    alone_by_rule = revised(plan, effects=NO_EFFECTS)  # a coupled run has no times in advance
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
    kinds = ("none", "snapshot", "fluid")
    none, snapshot, fluid = (observe(with_effects(plan, contention=kind), seed) for kind in kinds)
    assert found(none.result) == found(snapshot.result) == found(fluid.result)
    assert none["event_hash"] == snapshot["event_hash"] == fluid["event_hash"]


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
    """The effects only couple workers: times found during the run equal those from tables, to the last event."""
    known = event_by_event(revised(plan, effects=Effects()))
    assert plan.coupled
    assert not known.coupled
    while_running, beforehand = observe(event_by_event(plan), seed), observe(known, seed)
    left, right = found(while_running.result), found(beforehand.result)
    left["pairs"] = {name: left["pairs"][name] for name in right["pairs"]}  # a run from tables counts no bytes by kind,
    left["counters"]["link_busy_max"] = right["counters"]["link_busy_max"]  # nor on links
    assert left == right
    assert while_running.stretches == beforehand.stretches
    assert while_running["event_hash"] == beforehand["event_hash"]
