"""The time `serial_ps` with caches, overlap, overlapping misses or noise: worker 0 alone, depth first (model 6)."""

from __future__ import annotations

import numpy as np
import pytest
from engine_setup import NS, SEED, observe, plan_of, runtime, stealing, toy_with
from hypothesis import given, settings
from hypothesis import strategies as st
from random_plans import coupled_plans, graphs, loaded, machines, ranges, seeds, with_effects
from task_graphs import WAIT, Access, Run, body, graph, items, phase, task

from numasim.draws import DrawClass, base, draw
from numasim.plan.effects import Effects, noisy_ps
from numasim.plan.item_prices import ItemPrices, PricedItems, Seat
from numasim.plan.plan import Plan
from numasim.plan.resources import resources_of
from numasim.strategy.dealing import PHASE
from numasim.workload.graph import Deal, Mode, Region, Workload
from numasim.workload.one_worker import access_ps, segment_ps
from numasim.workload.one_worker import serial_ps as declared_serial_ps

quick = settings(max_examples=20)

KIB = 1024
DATA = Region("data", 1 << 20, True)
LOCAL_PS = 100 * NS
TWO = toy_with(
    {"sockets": 2, "cores": 1},
    caches={"llc": "256KiB", "llc_scope": "socket", "llc_hit_ns": 20, "llc_remote_hit_ns": 60},
)


def read(size: int, offset: int = 0, compute_ps: int = 0, mode: Mode = Mode.READ) -> Run:
    return Run(compute_ps, (Access(0, offset, size, mode=mode),))


def serial_of(work: Workload, effects: Effects, workers: int = 2) -> int:
    """Return the serial time of a run whose memory is all on node 1, away from worker 0."""
    costs = {"probe_remote_ns": 100, "push_ns": 70, "take_ns": 30}
    strategy = stealing(placement={"policy": "bind", "node": 1})
    return int(observe(plan_of(work, workers, strategy, runtime(costs=costs), TWO, effects=effects))["serial_ps"])


# ---- by hand -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["share", "lru"])
def test_what_a_parent_has_read_its_children_find(model: str) -> None:
    # 100 lines: 10 ns each as from the own memory, wherever the lines are in the run at hand, and 2 ns from the cache
    steps = (read(6400), task(read(6400)), task(read(6400, compute_ps=300 * NS)), WAIT, 50 * NS)
    work = graph(task(*steps), regions=(DATA,))
    assert serial_of(work, Effects(cache=model)) == (1000 + 200 + 300 + 50) * NS


@pytest.mark.parametrize("model", ["share", "lru"])
def test_the_serial_order_is_depth_first(model: str) -> None:
    # each child reads 192 KiB after its parent; in the order of spawning the cache of 256 KiB would lose these bytes
    # before
    def pair(offset: int) -> object:
        return task(read(192 * KIB, offset), task(read(192 * KIB, offset)))

    work = graph(task(pair(0), pair(256 * KIB), pair(512 * KIB)), regions=(DATA,))
    lines = 192 * KIB // 64
    assert serial_of(work, Effects(cache=model)) == 3 * lines * (10 + 2) * NS


def test_repeats_find_what_the_first_time_left() -> None:
    work = graph(body(read(6400)), phases=(phase(0, repeat=4),), regions=(DATA,))
    assert serial_of(work, Effects(cache="share")) == (1000 + 3 * 200) * NS


def test_effects_of_others_leave_the_serial_time() -> None:
    work = graph(task(*(task(read(6400, compute_ps=700 * NS)) for _ in range(6))), regions=(DATA,))
    alone = serial_of(work, Effects(cache="share"))
    assert alone == (1000 + 5 * 700) * NS
    crowd = Effects("share", "fluid", "md1", 300_000, "memory", "turbo", worker_spread_ppm=200_000)
    assert serial_of(work, crowd) == alone


def test_noise_is_that_of_the_tasks() -> None:
    work = graph(task(*(task(1000 * NS) for _ in range(5))))
    drawn = [draw(base(1, DrawClass.DURATION, 1 + i), i) for i in range(5)]
    found = serial_of(work, Effects(task_noise_ppm=200_000))
    assert found == sum(noisy_ps(1000 * NS, number, 200_000) for number in drawn)


# ---- without caches the serial time is a sum ------------------------------------------------------------------------


@quick
@given(work=st.one_of(graphs(), ranges()), overlap_ppm=st.sampled_from([0, 400_000]), seed=st.integers(0, 99))
def test_without_caches_it_is_the_sum_of_what_is_declared(work: Workload, overlap_ppm: int, seed: int) -> None:
    machine = loaded(2, 2, 1, "socket", 3)
    plain = plan_of(work, 3, "randomized", machine=machine, effects=Effects(contention="fluid"))
    assert observe(plain, seed)["serial_ps"] == declared_serial_ps(work, LOCAL_PS, seed)
    partly = with_effects(plain, overlap_ppm=overlap_ppm)
    if not work.ranges:
        assert observe(partly, seed)["serial_ps"] == combined_sum(work, partly.effects)


def combined_sum(work: Workload, effects: Effects) -> int:
    """Return the sum over all segments; each segment runs once and takes as long as its waits."""
    running = np.concatenate([[0], np.cumsum(access_ps(work.accesses, LOCAL_PS))])
    waits = np.diff(running[work.segment_accesses])
    assert (np.maximum(work.segment_compute_ps, waits) == segment_ps(work, LOCAL_PS)).all()
    pairs = zip(work.segment_compute_ps.tolist(), waits.tolist(), strict=True)
    return sum(effects.combined_ps(compute, wait) for compute, wait in pairs)


# ---- ranges --------------------------------------------------------------------------------------------------------


@quick
@given(work=ranges(), plan_machine=machines((3,)), data=st.data())
def test_ranges_in_closed_form_are_the_sum_over_items(
    work: Workload, plan_machine: object, data: st.DataObject
) -> None:
    effects = Effects(
        cache=data.draw(st.sampled_from(["none", "share", "lru"])),
        overlap_ppm=data.draw(st.sampled_from([0, 400_000, 1_000_000])),
        mlp_ppm=data.draw(st.sampled_from([300_000, 1_000_000])),
        task_noise_ppm=data.draw(st.sampled_from([0, 200_000])),
    )
    plan = plan_of(work, 1, machine=plan_machine, effects=effects)  # type: ignore[arg-type]
    family = work.ranges[0]
    prices = ItemPrices(plan, plan.placement.drawn(SEED), resources_of(plan), family, Seat(0, 0, 1))
    priced, total = PricedItems(plan, prices, family, SEED), 0
    for turn in range(work.phases[0].repeat):
        priced.start_turn(turn)
        one_by_one = [priced.price(item).compute_ps for item in range(family.count)]
        in_turn = sum(effects.combined_ps(compute, prices.local_wait_ps) for compute in one_by_one)
        assert priced.local_sum_ps() == in_turn
        total += in_turn
    seen = observe(plan)
    assert (seen["serial_ps"], seen["work_ps"]) == (total, total)


def test_a_range_whose_data_fit_is_served_by_the_cache() -> None:
    # 64 lines an item: 2 ns each where all 128 KiB fit into the 256 KiB of the cache together, else 10 ns
    for size, line_ns in ((128, 2), (512, 10)):
        data = (Region("data", size * KIB, True),)
        work = items(32, 0, None, Deal.CYCLIC, (Access(0, 0, 4 * KIB),), ((1, 4 * KIB, 0),), data)
        assert serial_of(work, Effects(cache="share")) == 32 * 64 * line_ns * NS


# ---- one worker ----------------------------------------------------------------------------------------------------


@quick
@given(plan=coupled_plans(most_workers=1, placements=("first-touch-master",), cache="none"), seed=seeds)
def test_one_worker_without_caches_does_its_work_in_the_serial_time(plan: Plan, seed: int) -> None:
    if plan.control.dealing:
        plan = with_effects(plan, task_noise_ppm=0)  # noise would change the time for labels, `dealing_ps`
    seen = observe(plan, seed)
    assert seen["serial_ps"] == seen["work_ps"] - dealing_ps(plan)


def dealing_ps(plan: Plan) -> int:
    """Return the time of worker 0 for the labels of items, a phase of one body each that is no part of
    the serial time.
    """
    work = plan.workload
    dealt = [(phase.roots, runs) for phase, runs in zip(work.phases, work.runs, strict=True) if phase.name == PHASE]
    assert len(dealt) == plan.control.dealing
    return sum(runs * int(segment_ps(work, 0)[work.op_arg[work.op_ptr[row]]]) for (row,), runs in dealt)
