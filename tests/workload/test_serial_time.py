"""The serial time against the model's arithmetic carried out on Python integers, one access at a time."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workload_setup import SMALL, make, serial_segments, small

from numasim.draws import DrawClass, base, below, below_array, draw
from numasim.workload.graph import Accesses, Workload
from numasim.workload.one_worker import segment_ps, serial_ps
from numasim.workload.phases import steps
from numasim.workload.span import span_ps

OVERLAPPING = {0: 10_000, 1: 4_000, 2: 3_000, 3: 1_000}


def waiting_ps(accesses: Accesses, number: int, latency_ps: int) -> int:
    moved = int(accesses.row_bytes[number]) * int(accesses.rows[number]) * int(accesses.passes[number])
    moved *= 1 if accesses.mode[number] == 1 else 2
    lines = (moved + 63) // 64
    overlap = OVERLAPPING[int(accesses.pattern[number])]
    return (lines * latency_ps * 1000 + overlap - 1) // overlap


def literal_serial_ps(work: Workload, latency_ps: int, seed: int) -> int:
    total = 0
    for segment in serial_segments(work):
        at = range(work.segment_accesses[segment], work.segment_accesses[segment + 1])
        total += max(int(work.segment_compute_ps[segment]), sum(waiting_ps(work.accesses, i, latency_ps) for i in at))
    for step in steps(work.phases, work.loops):
        phase = work.phases[step.phase]
        if phase.range_family is not None:
            family = work.ranges[phase.range_family]
            wait = sum(waiting_ps(family.accesses, i, latency_ps) for i in range(len(family.accesses)))
            for item in range(family.count):
                choice = below(draw(base(seed, DrawClass.DURATION, item), 0), family.high_ps - family.low_ps + 1)
                total += max(family.low_ps + choice, wait)
    return total


# Their items differ by amounts, and are held to the same items as tasks by tests/engine/test_ragged_ranges.py.
RAGGED = {"reduce", "map-reduce", "horizontal-tournament", "vertical-tournament"}


@pytest.mark.parametrize("label", [label for label in SMALL if label not in RAGGED])
@pytest.mark.parametrize("latency_ps", [0, 77_300, 999_999])
def test_serial_time_is_the_sum_of_its_segments(label: str, latency_ps: int) -> None:
    work = small(label)
    assert serial_ps(work, latency_ps, seed=7) == literal_serial_ps(work, latency_ps, 7)


@pytest.mark.parametrize("label", ["fib", "independent", "sparselu-for"])
def test_repeated_phases_take_their_time_again(label: str) -> None:
    work = small(label)
    repeated = replace(work, phases=tuple(replace(phase, repeat=3) for phase in work.phases))
    assert serial_ps(repeated, 77_300, seed=7) == 3 * serial_ps(work, 77_300, seed=7)
    assert span_ps(repeated, 77_300, seed=7) == 3 * span_ps(work, 77_300, seed=7)


def test_serial_time_of_a_fork_join_tree_is_closed_form() -> None:
    work = make("fib", n=15, spawn_ns=3, leaf_ns=Decimal("7.5"), join_ns=11)
    leaves, splits = 987, 986
    assert serial_ps(work, 77_300) == leaves * 7_500 + splits * 14_000


def test_parts_without_time_have_no_segment() -> None:
    work = make("fib", n=5, spawn_ns=0, leaf_ns=1, join_ns=0)
    assert work.segments == 8 == serial_ps(work, 0) // 1_000


def test_matmul_waits_one_whole_miss_a_step() -> None:
    """n = 8192: 8192 misses of 77.3 ns down a column, plus a row of 1024 lines, ten at a time, plus the result."""
    item_ps = 8192 * 77_300 + 1024 * 7_730 + 7_730
    assert serial_ps(make("matmul", n=8192), 77_300) == 67_108_864 * item_ps


def test_range_times_depend_on_the_seed_alone() -> None:
    work = make("independent", tasks=500, low_ns=1, high_ns=9)
    assert serial_ps(work, 0, seed=1) == serial_ps(work, 0, seed=1) != serial_ps(work, 0, seed=2)


def test_segments_take_the_longer_of_computing_and_waiting() -> None:
    work = make("strassen", n=256)
    waits = segment_ps(work, 77_300)
    additions = work.segment_kernel == work.kernels.index("add")
    assert (waits[additions] > work.segment_compute_ps[additions]).all()
    assert (waits[~additions] == work.segment_compute_ps[~additions]).all()


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5), st.integers(1, 2**64 - 1))
def test_array_of_choices_is_exact_for_any_bound(numbers: list[int], bound: int) -> None:
    found = below_array(np.array(numbers, np.uint64), bound)
    assert found.tolist() == [below(number, bound) for number in numbers]
