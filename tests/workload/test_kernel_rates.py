"""What the kernels of BOTS cost: rates are parameters, serial times follow from them in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from workload_setup import make

from numasim.api import run
from numasim.workload.graph import Pattern
from numasim.workload.kernel_rates import compute_ps
from numasim.workload.one_worker import LINE_BYTES, MLP, segment_ps, serial_ps

LATENCY_PS = 77_300
BASE = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workers": 1, "seed": 1}


@dataclass(frozen=True)
class Part:
    """``count`` like segments of ``units`` units of work that wait ``wait_ps`` for memory."""

    count: int
    units: int
    wait_ps: int


def wait_ps(*traffic_bytes: int) -> int:
    """Memory time of accesses that move these many bytes each, all local and sequential."""
    lines = [-(-moved // LINE_BYTES) for moved in traffic_bytes]
    return sum(-(-count * LATENCY_PS * 1000 // MLP[Pattern.SEQUENTIAL]) for count in lines)


def strassen_parts(n: int, cutoff: int = 64) -> list[Part]:
    """Leaves read A and B and write C; a split of size n streams 48 n^2 bytes before and 22 n^2 after its products."""
    parts, tasks = [], 1
    while n > cutoff:
        area = (n // 2) ** 2
        before = wait_ps(32 * area, 32 * area, 2 * 64 * area)
        after = wait_ps(24 * area, 2 * 32 * area)
        parts += [Part(tasks, 8 * area, before), Part(tasks, 7 * area, after)]
        n, tasks = n // 2, tasks * 7
    matrix = 8 * n * n
    return [*parts, Part(tasks, 2 * n**3, wait_ps(matrix, matrix, 2 * matrix))]


def sort_parts(n: int, leaf: int = 512) -> list[Part]:
    """Leaves of 512 elements cost 9 comparisons an element; then 16 merging passes of one comparison an element."""
    passes = (n // leaf).bit_length() - 1
    quicksort = Part(n // leaf, leaf * 9, wait_ps(2 * 8 * leaf))
    merge = Part(passes * n // leaf, leaf, wait_ps(8 * leaf, 2 * 8 * leaf))
    return [quicksort, merge]


def sparselu_parts(blocks: int = 128, size: int = 64) -> list[Part]:
    """Counts for an even number of blocks; every kernel reads its operands and updates one block of floats."""
    half, block = blocks // 2, 4 * size**2
    divide, update = size * (size - 1) // 2, size * (size - 1) * (2 * size - 1) // 3
    panels = half**2
    inner = panels + half * (half - 1) * (2 * half - 1) // 3
    return [
        Part(blocks, divide + update, wait_ps(2 * block)),
        Part(panels, size**2 * (size - 1), wait_ps(block, 2 * block)),
        Part(panels, size**3, wait_ps(block, 2 * block)),
        Part(inner, 2 * size**3, wait_ps(block, block, 2 * block)),
    ]


def total_ps(parts: list[Part], ps_per_1000: int) -> int:
    return sum(part.count * max((part.units * ps_per_1000 + 500) // 1000, part.wait_ps) for part in parts)


@pytest.mark.parametrize("rate", [0, 60_000, 177_800])
def test_serial_times_of_strassen_follow_from_the_rate(rate: int) -> None:
    for n in (512, 2048):
        work = make("strassen", n=n, ps_per_1000_flops=rate)
        assert serial_ps(work, LATENCY_PS) == total_ps(strassen_parts(n), rate)


@pytest.mark.parametrize("rate", [0, 90_000])
@pytest.mark.parametrize("version", ["sparselu-single", "sparselu-for"])
def test_serial_times_of_sparselu_follow_from_the_rate(version: str, rate: int) -> None:
    assert serial_ps(make(version, ps_per_1000_flops=rate), LATENCY_PS) == total_ps(sparselu_parts(), rate)


@pytest.mark.parametrize("rate", [4_000_000, 7_983_000])
def test_serial_times_of_sort_follow_from_the_rate_but_for_its_splits(rate: int) -> None:
    """The parts count whole passes; every split of the graph places one element without a serial merge."""
    n = 2**19
    work = make("sort", n=n, ps_per_1000_comparisons=rate)
    expected = total_ps(sort_parts(n, leaf=512), rate)
    missing = work.facts["merge_splits"] * rate // 1000
    assert serial_ps(work, LATENCY_PS) + missing == pytest.approx(expected, abs=work.segments)


def test_the_rate_of_strassen_additions_does_not_matter_where_they_wait_for_memory() -> None:
    work = make("strassen", n=2048)
    additions = work.segment_kernel == work.kernels.index("add")
    assert (segment_ps(work, LATENCY_PS)[additions] > 2 * work.segment_compute_ps[additions]).all()


@pytest.mark.parametrize(
    ("workload", "published_s"),
    [({"name": "strassen", "n": 2048}, 1.81542), ("sparselu-single", 11.1524), ("sparselu-for", 10.842)],
)
def test_default_rates_give_the_published_serial_times(workload: object, published_s: float) -> None:
    """Of thesis Table 3.4, to the 5 % by which its rows disagree about one rate."""
    assert run({**BASE, "workload": workload}).row()["serial_ps"] / 1e12 == pytest.approx(published_s, rel=0.05)


@pytest.mark.parametrize(
    ("units", "rate", "expected"), [(0, 5, 0), (1, 499, 0), (1, 500, 1), (3, 1000, 3), (7, 1500, 11)]
)
def test_compute_times_round_to_the_nearest(units: int, rate: int, expected: int) -> None:
    assert compute_ps(units, rate) == expected
