"""The serial time against the model's arithmetic carried out on Python integers, one access at a time."""

from __future__ import annotations

import pytest
from workload_setup import SMALL, make, serial_segments, small

from numasim.draws import DrawClass, base, below, draw
from numasim.workload.graph import Accesses, Workload
from numasim.workload.one_worker import serial_ps
from numasim.workload.phases import steps

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


def test_matmul_waits_one_whole_miss_a_step() -> None:
    """n = 8192: 8192 misses of 77.3 ns down a column, plus a row of 1024 lines, ten at a time, plus the result."""
    item_ps = 8192 * 77_300 + 1024 * 7_730 + 7_730
    assert serial_ps(make("matmul", n=8192), 77_300) == 67_108_864 * item_ps
