"""Skipping ahead where the speeds of workers change in steps (model 1.7 and 2.6): shared cores, clocks, kinds of cores.

Times by hand: a worker's nominal time is the compute time over its speed, and what is left of it when the speed changes
is scaled.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from engine_setup import NS, SEED, event_by_event, found, plan_of, toy_with
from hypothesis import event, given, settings
from hypothesis import strategies as st
from skippable_drafts import assert_skipping_changes_nothing, plan_on
from task_graphs import WAIT, Access, graph, items, task

from numasim.engine.simulate import ENGINES, simulate
from numasim.parts.unit_factors import MILLION
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.workload.generate import generate
from numasim.workload.graph import Deal, Pattern, Region, Workload
from numasim.workload.registry import workload_spec

pytestmark = pytest.mark.skipif("native" not in ENGINES, reason="the native engine is not built")

quick = settings(max_examples=150)

SMT = Effects(smt="compute")
PACES_PPM = (1_000_000, 999_999, 850_000, 650_000, 333_333, 50_000)  # of a thread beside another
ONE_CORE = toy_with({"cores": 1, "threads": 2}, smt={"busy_ppm": 500_000, "poll_ppm": 800_000})


# ---- random plans ----------------------------------------------------------------------------------------------------


def plan_of_speeds(chance: Random) -> Plan:
    """A plan whose workers are slower beside some that execute or poll, at a lower clock or on a slower core."""
    shape = {
        "sockets": chance.choice((1, 1, 2)),
        "cores": chance.choice((1, 3)),
        "threads": chance.choice((1, 2, 2, 4)),
    }
    paces = {"busy_ppm": chance.choice(PACES_PPM), "poll_ppm": chance.choice(PACES_PPM)}
    clock = {
        "base_ghz": 2,
        "turbo": [{"active": most, "ghz": ghz} for most, ghz in ((1, 3.1), (2, 2.3))[: shape["cores"]]],
    }
    effects = Effects(
        smt=chance.choice(("compute", "compute", "memory", "none")),
        clock=chance.choice(("turbo", "fixed")),
        overlap_ppm=chance.choice((MILLION, MILLION, 0, 333_333)),
        mlp_ppm=chance.choice((MILLION, MILLION, 1_500_000)),
    )
    machine = toy_with(shape, smt=paces, clock=clock)
    if chance.random() < 0.8:
        return plan_on(machine, effects, chance)
    drawn = {"task_noise_ppm": chance.choice((0, 200_000)), "worker_spread_ppm": chance.choice((0, 200_000))}
    return plan_on(machine, replace(effects, cache="share", **drawn), chance, ranges=1)


@quick
@given(st.randoms(use_true_random=False))
def test_skipping_changes_nothing(chance: Random) -> None:
    plan = plan_of_speeds(chance)
    result = assert_skipping_changes_nothing(plan, chance.getrandbits(64))
    event("coupled" if plan.coupled else "uncoupled")
    event("ranges" if plan.workload.ranges else "trees")
    event("slowed" if result.per_worker["inflation_smt_ps"].any() else "at full speed")


# ---- by hand ---------------------------------------------------------------------------------------------------------


def test_a_sibling_that_polls_slows_a_task_down() -> None:
    result = assert_skipping_changes_nothing(plan_of(graph(task(1000 * NS)), 2, machine=ONE_CORE, effects=SMT))
    assert result.counters["makespan_ps"] == 1250 * NS
    assert result.per_worker["inflation_smt_ps"].tolist() == [250 * NS, 0]


def test_what_is_left_of_a_segment_is_scaled_when_its_sibling_starts_and_when_it_stops() -> None:
    # 0 to 100 ns at 0.8: 1150 of 1250 ns are left. Then both execute at 0.5: the child until 900 ns; of 1840 ns, which
    # are 1150 ns at that speed, 1040 ns are left, and at 0.8 they take 650 ns.
    plan = plan_of(graph(task(task(400 * NS), 1000 * NS, WAIT)), 2, machine=ONE_CORE, effects=SMT)
    result = assert_skipping_changes_nothing(plan)
    assert result.counters["makespan_ps"] == 1550 * NS
    assert result.per_worker["inflation_smt_ps"].tolist() == [550 * NS, 400 * NS]


def test_what_comes_behind_the_segment_in_hand_takes_its_time_at_the_other_speed() -> None:
    # worker 0 has 1840 ns from 100 ns on, then the second child, which nobody steals before the join: the thief is busy
    # with the first one, which takes it 2000 ns. At 1940 ns it begins the second, with 160 ns left to the thief; at
    # 2100 ns, 240 of 400 ns are left, which take 150 ns at 0.8.
    plan = plan_of(graph(task(task(1000 * NS), task(200 * NS), 1000 * NS, WAIT)), 2, machine=ONE_CORE, effects=SMT)
    result = assert_skipping_changes_nothing(plan)
    assert result.counters["makespan_ps"] == 2250 * NS
    assert result.per_worker["work_local_ps"].tolist() == [1200 * NS, 1000 * NS]
    assert result.per_worker["inflation_smt_ps"].tolist() == [1050 * NS, 1000 * NS]


def test_items_behind_the_one_in_hand_change_their_times_too() -> None:
    # 500 ns each at 0.8; the far one is stolen at 100 ns and takes the thief until 900 ns. Of the first, 400 ns are
    # left, 640 ns at 0.5. The second begins at 740 ns; at 900 ns, 640 of 800 ns are left, 400 ns at 0.8.
    plan = plan_of(items(3, 400 * NS, 400 * NS, Deal.MASTER), 2, machine=ONE_CORE, effects=SMT)
    result = assert_skipping_changes_nothing(plan)
    assert result.counters["makespan_ps"] == 1300 * NS
    assert result.per_worker["tasks"].tolist() == [2, 1]
    assert result.per_worker["inflation_smt_ps"].tolist() == [500 * NS, 400 * NS]


def test_steals_in_bulk_where_waits_for_memory_hide_all_speeds() -> None:
    # a line takes 100 ns, longer than the 50 ns that 25 ns of computing take at most: nothing changes with the sibling
    region = Region("a", 4096, initialised=True)
    line = Access(0, 0, 64, pattern=Pattern.CHASE)
    work = items(2000, 25 * NS, 25 * NS, Deal.MASTER, (line,), ((1, 0, 0),), (region,))
    result = assert_skipping_changes_nothing(plan_of(work, 2, "randomized", machine=ONE_CORE, effects=SMT))
    assert result.counters["steal_success"] > result.counters["events"]
    assert not result.per_worker["inflation_smt_ps"].any()


def test_a_clock_that_falls_with_load_is_that_of_all_cores_whoever_polls() -> None:
    # nobody rests: 2 of 3 GHz are 666,666 ppm
    machine = toy_with({"cores": 2}, clock={"base_ghz": 2, "turbo": [{"active": 1, "ghz": 3}]})
    plan = plan_of(graph(task(1000 * NS)), 2, machine=machine, effects=Effects(clock="turbo"))
    result = assert_skipping_changes_nothing(plan)
    assert result.counters["makespan_ps"] == -(-1000 * NS * MILLION // 666_666)


def test_the_course_of_a_run_costs_as_many_events_as_it_has_ends_and_probes() -> None:
    machine = toy_with({"cores": 1}, clock={"base_ghz": 2, "turbo": [{"active": 1, "ghz": 3}]})
    plan = plan_of(
        generate(workload_spec("fib", n=30), folded=True), 1, machine=machine, effects=Effects(clock="turbo")
    )
    assert plan.coupled
    result = simulate(plan, SEED)
    assert result.counters["events"] == 2  # the end of the root and that of the phase


@pytest.mark.parametrize("children", [5, 100, 5000])
def test_the_many_children_of_one_task(children: int) -> None:
    work = graph(task(*(step for _ in range(children) for step in (task(90 * NS), 10 * NS)), WAIT))
    result = assert_skipping_changes_nothing(plan_of(work, 2, machine=ONE_CORE, effects=SMT))
    assert result.counters["steal_success"] > children // 5


@pytest.mark.parametrize(
    "work",
    [generate(workload_spec("fib", n=16)), items(30_000, 100 * NS, 900 * NS, Deal.BLOCK)],
    ids=["trees", "ranges"],
)
def test_many_workers(work: Workload) -> None:
    machine = toy_with({"sockets": 4, "cores": 16, "threads": 4}, smt={"busy_ppm": 650_000, "poll_ppm": 850_000})
    plan = plan_of(work, 256, "randomized", machine=machine, effects=SMT)
    skipped = simulate(plan, SEED)
    assert found(skipped) == found(simulate(event_by_event(plan), SEED))
    assert skipped.counters["steal_success"] > 250
