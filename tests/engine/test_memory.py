"""Memory times, bytes by node, first touch and page faults, on two nodes by hand (model 2.2 to 2.5).

A line takes 100 ns from the own node and 200 ns from the other node; ten sequential misses overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_setup import NS, Seen, observe, plan_of, run, runtime, stealing, toy, toy_with
from hypothesis import given
from hypothesis import strategies as st
from task_graphs import WAIT, Access, Run, body, graph, in_turn, items, phase, task

from numasim.engine.reference.memory.page_map import split
from numasim.parts.base import canonical_json
from numasim.parts.models.placement_model import PlacementSpec
from numasim.plan.effects import NO_EFFECTS, Effects
from numasim.plan.plan import Plan
from numasim.plan.skippable import obstacle
from numasim.workload.graph import Deal, Mode, Pattern, Region, Workload

DATA = Region("data", 1 << 20, True)
FRESH = Region("fresh", 1 << 20, False)
KIB = 1024
TWO_NODES = toy(sockets=2, cores=1)
GRANULE = 16 * 4 * KIB  # bytes placed together


def on_both(*steps: Run, regions: tuple[Region, ...] = (DATA,)) -> Workload:
    """Return a program with the steps as a body on worker 0 (node 0), and the same steps on worker 1 (node 1)."""
    return graph(body(*steps), body(*steps), phases=(phase(0, 1, deal=Deal.CYCLIC),), regions=regions)


def times(seen: Seen) -> list[int]:
    """Return the time of the one segment of each worker."""
    return [end - start for _, _, start, end in seen.stretches]


def test_remote_bytes_take_the_latency_of_their_home() -> None:
    # 6400 bytes are 100 lines: 1000 ns from node 0, 2000 ns from node 1; all data are at home on node 0
    seen = run(on_both(Run(0, (Access(0, 0, 6400),))), machine=TWO_NODES)
    assert times(seen) == [1000 * NS, 2000 * NS]
    assert seen.result.node_bytes.tolist() == [[6400, 0], [6400, 0]]
    assert (seen["bytes_local"], seen["bytes_remote"]) == (6400, 6400)
    assert seen.of_worker("inflation_numa_ps") == [0, 1000 * NS]
    assert seen["work_local_ps"] == 2000 * NS


def test_computing_hides_memory_up_to_its_own_length() -> None:
    seen = run(on_both(Run(1500 * NS, (Access(0, 0, 6400),))), machine=TWO_NODES)
    assert times(seen) == [1500 * NS, 2000 * NS]
    assert seen.of_worker("work_local_ps") == [1500 * NS, 1500 * NS]
    assert seen.of_worker("inflation_numa_ps") == [0, 500 * NS]


@pytest.mark.parametrize(
    ("pattern", "overlap_x1000"),
    [(Pattern.SEQUENTIAL, 10_000), (Pattern.STRIDED, 4_000), (Pattern.RANDOM, 3_000), (Pattern.CHASE, 1_000)],
)
def test_patterns_overlap_their_misses(pattern: Pattern, overlap_x1000: int) -> None:
    seen = run(on_both(Run(0, (Access(0, 0, 6400, pattern=pattern),))), machine=TWO_NODES)
    assert times(seen) == [-(-100 * 100 * NS * 1000 // overlap_x1000), -(-100 * 200 * NS * 1000 // overlap_x1000)]


@pytest.mark.parametrize(("mode", "factor"), [(Mode.READ, 1), (Mode.WRITE, 2), (Mode.READ_WRITE, 2)])
@pytest.mark.parametrize("passes", [1, 3])
def test_writes_move_twice_and_passes_repeat(mode: Mode, factor: int, passes: int) -> None:
    seen = run(on_both(Run(0, (Access(0, 0, 6400, mode=mode, passes=passes),))), machine=TWO_NODES)
    assert times(seen) == [1000 * NS * factor * passes, 2000 * NS * factor * passes]
    assert seen["bytes_local"] == 6400 * factor * passes


def test_a_line_is_paid_once_begun_and_so_is_a_picosecond() -> None:
    # 65 bytes are 2 lines: 2 * 100 ns * 1000 / 3000 rounds up to 66667 ps
    seen = run(on_both(Run(0, (Access(0, 0, 65, pattern=Pattern.RANDOM),))), machine=TWO_NODES)
    assert times(seen) == [66_667, 133_334]


def test_accesses_of_a_segment_add_up() -> None:
    both = (Access(0, 0, 6400), Access(0, 8192, 640, rows=2, stride=8192))
    seen = run(on_both(Run(0, both)), machine=TWO_NODES)
    assert times(seen) == [1200 * NS, 2400 * NS]


# ---- first touch ---------------------------------------------------------------------------------------------------


def test_first_touch_places_pages_on_the_toucher_and_faults_are_overhead() -> None:
    # worker 1 steals the first child and touches granule 0, worker 0 touches granule 1; then worker 0 reads both
    touch = [Run(0, (Access(0, i * GRANULE, GRANULE, mode=Mode.WRITE),)) for i in range(2)]
    work = graph(task(task(touch[0]), task(touch[1]), WAIT, Run(0, (Access(0, 0, 2 * GRANULE),))), regions=(FRESH,))
    how = runtime(join="help", costs={"probe_remote_ns": 100, "fault_ns": 10})
    seen = run(work, machine=TWO_NODES, how=how)
    # writing 64 KiB moves 2048 lines of 10 ns each; before that, the faults of 16 pages take 160 ns
    written = 20_480 * NS
    assert seen.stretches[1:] == ((0, 2, 160 * NS, 160 * NS + written), (1, 1, 260 * NS, 260 * NS + written))
    assert seen["page_faults"] == 32
    assert seen["overhead_ps"] == 320 * NS
    # the reader finds 1024 lines on either node
    read = seen.stretches[0]
    assert (read[1], read[3] - read[2]) == (0, (10_240 + 20_480) * NS)
    assert seen.result.node_bytes.tolist() == [[2 * GRANULE + GRANULE, GRANULE], [0, 2 * GRANULE]]


@given(st.integers(0, 10_000), st.integers(1, 5_000), st.integers(1, 6), st.integers(0, 9_000))
def test_cutting_at_granules_equals_walking_the_bytes(offset: int, row_bytes: int, rows: int, stride: int) -> None:
    granule, pieces = split(offset, row_bytes, rows, stride, 1000)
    found = np.bincount(granule, weights=pieces, minlength=70)
    starts = offset + np.arange(rows) * stride
    walked = np.concatenate([np.arange(start, start + row_bytes) for start in starts]) // 1000
    assert found.tolist() == np.bincount(walked, minlength=70).tolist()


# ---- ranges --------------------------------------------------------------------------------------------------------


def test_items_of_a_range_move_their_accesses() -> None:
    # item i reads page i of interleaved data: even items are local on node 0, odd ones on node 1; 64 lines a page
    work = items(4, 0, accesses=(Access(0, 0, 4 * KIB),), steps=((1, 4 * KIB, 0),), deal=Deal.BLOCK, regions=(DATA,))
    how = runtime(costs={"probe_remote_ns": 9000})
    seen = run(work, strategy=stealing(placement="interleave"), machine=TWO_NODES, how=how)
    assert seen.stretches_ns == ((0, 0, 0, 640), (0, 1, 640, 1920), (1, 2, 0, 1280), (1, 3, 1280, 1920))
    assert seen.result.node_bytes.tolist() == [[4 * KIB, 4 * KIB]] * 2


def test_drawn_times_of_items_belong_to_the_item() -> None:
    work = items(50, 100 * NS, 900 * NS)
    alone, many = run(work, workers=1), run(work, workers=4, machine=toy(2, 2))
    lengths = [{task_id: end - start for _, task_id, start, end in seen.stretches} for seen in (alone, many)]
    assert lengths[0] == lengths[1]
    assert all(100 * NS <= length <= 900 * NS for length in lengths[0].values())
    assert len(set(lengths[0].values())) > 40


@pytest.mark.parametrize(
    ("granule", "page", "faults"),
    # at least a page, and whole pages
    [
        *(("64KiB", "4KiB", 16), ("64KiB", "64KiB", 1), ("64KiB", "1MiB", 1), ("130KiB", "64KiB", 2)),
        *((16, "4KiB", 16), (16, "64KiB", 16)),
    ],
)
def test_a_granule_is_a_size_or_a_number_of_pages(granule: str | int, page: str, faults: int) -> None:
    """One byte is touched: as many pages are placed as there are in a granule."""
    machine = toy_with({"sockets": 2, "cores": 1}, page=page)
    touches = graph(task(Run(0, (Access(0, 0, 1),))), regions=(Region("fresh", 1 << 21, False),))
    strategy = stealing(placement={"policy": "first-touch", "granule": granule})
    assert run(touches, 1, strategy, machine=machine)["page_faults"] == faults


# ---- automatic numa balancing (model 2.11); `test_pages` compares it with scans one by one ---------------------------

STEP_NS, HINT_NS = 100_000, 100
SCAN: dict[str, Any] = {"delay_ns": 50_000, "period_ns": STEP_NS, "size": "1MiB", "fault_ns": HINT_NS}


def scanned(effects: Effects, **costs: float) -> Plan:
    """Return a plan in which worker 1 twice reads 16 pages of node 0 and computes for 100 us; the scan comes before the
    second read.
    """
    step = Run(STEP_NS * NS, (Access(0, 0, GRANULE),))
    work = in_turn((1, step), (1, step), regions=(Region("data", GRANULE, True),))
    strategy = stealing(placement={"policy": "numa-balancing", "scan": SCAN, "granule": 16})
    return plan_of(work, 2, strategy, runtime(costs=costs), TWO_NODES, effects=effects)


def test_hinting_faults_use_the_address_space() -> None:
    """The second read takes 16 faults, at 10^5 faults per second.

    The read computes for 100 us and pays 1.6 us. Its demand is 16 faults in 101.6 us, 157480 per second, and its share
    is 10^5 / 157480, in units of 2^-48; so the second read takes about 160 us.
    """
    seen = observe(scanned(Effects(contention="fluid"), faults_per_s=10**5))
    nominal_ps = (STEP_NS + 16 * HINT_NS) * NS
    share = (10**5 << 48) // (16 * 10**12 // nominal_ps)
    assert seen["makespan_ps"] == STEP_NS * NS - (-(nominal_ps << 48) // share)
    assert seen.of_worker("overhead_ps") == [0, 16 * HINT_NS * NS]


def test_what_is_scanned_is_not_skipped() -> None:
    plan = scanned(NO_EFFECTS)
    assert not plan.skippable
    assert obstacle(plan) is not None


# ---- what can be written down --------------------------------------------------------------------------------------


def test_the_identity_is_that_of_the_scans_and_without_them_names_none() -> None:
    first_touch = (
        '{"changes":[],"grain":null,"granule":"64KiB","node":null,"nodes":null,"overflow":"none",'
        '"policy":"first-touch","tasks":null,"touch_on_read":true}'
    )
    assert canonical_json(PlacementSpec(policy="first-touch").model_dump()) == first_touch

    def contents(**scan: Any) -> str:
        change = {"phase": 0, "policy": "numa-balancing", **scan}
        return stealing(placement={"policy": "numa-balancing", **scan, "changes": [change]}).contents_json

    spelt_out = {"delay_ns": 10**9, "period_ns": 1e9, "size": "256MiB", "migrate_after": 2}
    assert contents() == contents(scan={}) == contents(scan=spelt_out)
    assert contents() != contents(scan={"period_ns": 1})
