"""Task counts, operations, bytes and serial times of the BOTS programs at the published sizes, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from really_sorted import really_sorted
from workload_setup import make

from numasim.api import run
from numasim.workload.parameters import compute_ps

RUN = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workers": 1, "seed": 1}


@pytest.mark.parametrize(
    ("n", "levels", "tasks", "streamed_gb", "allocated_gb"),
    [(2048, 5, 19_608, 6.03, 1.90), (4096, 6, 137_257, 43.4, 13.7), (8192, 7, 960_800, 308.6, 97.0)],
)
def test_strassen(n: int, levels: int, tasks: int, streamed_gb: float, allocated_gb: float) -> None:
    work = make("strassen", n=n)
    splits = (7**levels - 1) // 6
    assert work.tasks == work.facts["tasks"] == tasks == splits + 7**levels
    assert (work.facts["splits"], work.facts["leaves"]) == (splits, 7**levels)
    assert work.facts["flops_multiply"] == 7**levels * 2 * 64**3
    sevenfold = [7**level * (n >> level) ** 2 for level in range(levels)]
    assert work.facts["flops_add"] == sum(15 * area // 4 for area in sevenfold)
    assert work.facts["bytes_streamed"] == 70 * sum(sevenfold) == pytest.approx(streamed_gb * 1e9, rel=0.005)
    assert work.facts["bytes_allocated"] == 22 * sum(sevenfold) == pytest.approx(allocated_gb * 1e9, rel=0.005)


def literal_sparselu(blocks: int) -> tuple[int, int, int, int, int]:
    """Return the numbers of tasks of each kernel, counted by the loops of the BOTS program on the pattern of blocks."""

    def filled(i: int, j: int) -> bool:
        if abs(i - j) <= 1:
            return True
        third = i % 3 if i < j else j % 3
        return i % 2 == 0 and j % 2 == 0 and third == 0

    block = [[filled(i, j) for j in range(blocks)] for i in range(blocks)]
    initial = sum(map(sum, block))
    fwd = bdiv = bmod = 0
    for k in range(blocks):
        fwd += sum(block[k][j] for j in range(k + 1, blocks))
        for i in range(k + 1, blocks):
            if block[i][k]:
                bdiv += 1
                for j in range(k + 1, blocks):
                    if block[k][j]:
                        bmod += 1
                        block[i][j] = True
    return fwd, bdiv, bmod, initial, sum(map(sum, block))


@pytest.mark.parametrize(
    ("blocks", "size", "counts", "gflop"),
    [
        (50, 100, (625, 625, 10_425, 364, 1_300), 22.1),
        (128, 64, (4_096, 4_096, 174_784, 1_768, 8_320), 93.8),
        (128, 32, (4_096, 4_096, 174_784, 1_768, 8_320), 11.7),
        (30, 125, (225, 225, 2_255, 168, 480), 9.72),
        (100, 100, (2_500, 2_500, 83_350), 171.7),
        (25, 25, (168, 168, 1_468), 0.05),
        (25, 100, (168, 168, 1_468), 3.3),
        (75, 100, (1_443, 1_443, 36_593), 76.1),
    ],
)
@pytest.mark.parametrize("version", ["sparselu-single", "sparselu-for"])
def test_sparselu(version: str, blocks: int, size: int, counts: tuple[int, ...], gflop: float) -> None:
    """``counts`` are the published numbers of fwd, bdiv and bmod, and, if known, of the first and the last blocks."""
    work = make(version, blocks=blocks, block_size=size)
    found = [work.facts[name] for name in ("fwd", "bdiv", "bmod", "blocks_initial", "blocks_final")]
    assert found == list(literal_sparselu(blocks))
    assert tuple(found[: len(counts)]) == counts
    assert work.facts["tasks_spawned"] == sum(found[:3]) == work.tasks - (version == "sparselu-single")
    assert work.facts["flops"] == pytest.approx(gflop * 1e9, rel=0.1 if gflop < 1 else 0.01)


def test_sort_at_the_published_size() -> None:
    """Every split follows the real permutation, so the counts equal the program's counts."""
    work = really_sorted(n=33_554_432)
    facts = work.facts
    splits, leaves = (4**8 - 1) // 3, 4**8
    assert (facts["sort_splits"], facts["sort_leaves"]) == (splits, leaves) == (21_845, 65_536)
    assert facts["sort_tasks_spawned"] == 4 * splits == 87_380
    assert facts["merge_splits"] == 126_003
    assert facts["merges_serial"] == 191_538 == 3 * splits + facts["merge_splits"]
    assert facts["merge_tasks_spawned"] == 295_696 == 2 * splits + 2 * facts["merge_splits"]
    assert work.tasks == 1 + 87_380 + 295_696
    assert facts["elements_sorted"] == 33_554_432
    assert facts["elements_merged"] == 536_744_909 == 16 * 33_554_432 - facts["merge_splits"]
    merging = work.segment_kernel == work.kernels.index("merge")
    written = work.accesses.row_bytes[work.segment_accesses[:-1][merging] + 1] // 8
    assert written.sum() == 536_744_909
    assert (written.min(), written.max()) == (1_024, 8_165)
    assert round(written.mean()) == 2_802


def test_blocks_of_sparselu_may_have_pages_of_their_own() -> None:
    """30 x 30 blocks of 125 x 125 floats in pages of 64 KiB (home scheduling, section 5.1): 62,500 bytes in each."""
    page = 64 * 1024
    plain, paged = (make("sparselu-single", blocks=30, block_size=125, alignment=step) for step in (1, page))
    assert (plain.facts["blocks_initial"], plain.facts["blocks_final"], plain.tasks) == (168, 480, 2706)
    assert [region.bytes for region in plain.regions] == [168 * 62_500, 312 * 62_500]
    assert [region.bytes for region in paged.regions] == [168 * page, 312 * page]
    assert set(paged.accesses.row_bytes.tolist()) == {62_500}
    np.testing.assert_array_equal(paged.accesses.offset // page, plain.accesses.offset // 62_500)
    assert not (paged.accesses.offset % page).any()
    doubles = make("sparselu-single", blocks=30, block_size=125, element_bytes=8, alignment=page)
    assert [region.bytes for region in doubles.regions] == [168 * 2 * page, 312 * 2 * page]


def test_home_test_refers_to_regions_of_its_own() -> None:
    """Each task waits for 10 lines, one at a time; with nine cache hits for every miss it makes 100 references."""
    work = make("home-test", threads=3, bytes=640, hit_share=0.9, ps_per_1000_references=2_000_000)
    assert work.segment_compute_ps.tolist() == [100 * 2000] * 3
    assert work.facts["references"] == 300
    assert sorted(work.accesses.offset.tolist()) == [0, 640, 1280]
    assert set(work.accesses.row_bytes.tolist()) == {640}
    assert [region.bytes for region in work.regions] == [3 * 640]


@pytest.mark.parametrize(
    ("workload", "published_s"),
    [({"name": "strassen", "n": 2048}, 1.81542), ("sparselu-single", 11.1524), ("sparselu-for", 10.842)],
)
def test_default_rates_give_the_published_serial_times(workload: object, published_s: float) -> None:
    """Serial times agree with thesis Table 3.4 within 5 %: rates derived from the table's rows differ by as much."""
    assert run(RUN, workload=workload).row()["serial_ps"] / 1e12 == pytest.approx(published_s, rel=0.05)


@pytest.mark.parametrize(
    ("units", "rate", "expected"), [(0, 5, 0), (1, 499, 0), (1, 500, 1), (3, 1000, 3), (7, 1500, 11)]
)
def test_compute_times_round_to_the_nearest(units: int, rate: int, expected: int) -> None:
    assert compute_ps(units, rate) == expected
