"""The places of Strassen's temporaries: freed memory is reused, or memory is fresh each time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from workload_setup import make

from numasim.workload.graph import Mode, Workload

HEAP = 3
LEAST_QUADRANT_BYTES = 2 * 128**2  # bytes of a task of 128 x 128 doubles, the smallest task that is split
N, SPLITS = 2048, (1, 7, 49, 343, 2401)  # the size, and [levels] the number of tasks with temporaries
QUADRANT_BYTES = [2 * (N >> level) ** 2 for level in range(len(SPLITS))]


def blocks(work: Workload) -> dict[int, np.ndarray]:
    """Return the first byte of the block of temporaries of every task, by the number of bytes of its first write."""
    accesses = work.accesses
    first = (accesses.region == HEAP) & (accesses.mode == Mode.WRITE) & (accesses.rows == 1)
    whole = first & (accesses.row_bytes >= 8 * LEAST_QUADRANT_BYTES)  # leaves write to parts of blocks
    sizes = accesses.row_bytes[whole] // 8  # eight temporaries are written before the products
    return {int(size): accesses.offset[whole][sizes == size] for size in np.unique(sizes)}


@pytest.mark.parametrize(("heap", "in_use"), [("fresh", SPLITS), ("arenas", (1, 7, 49, 49, 49))])
def test_blocks_are_fresh_or_one_for_each_size_and_subtree(heap: str, in_use: tuple[int, ...]) -> None:
    work = make("strassen", n=N, heap=heap)
    for blocks_in_use, quadrant in zip(in_use, QUADRANT_BYTES, strict=True):
        assert len(set(blocks(work)[quadrant].tolist())) == blocks_in_use
    size = sum(11 * quadrant * used for quadrant, used in zip(QUADRANT_BYTES, in_use, strict=True))
    assert work.regions[HEAP].bytes == size
    assert (size == work.facts["bytes_allocated"]) == (heap == "fresh")


def test_blocks_do_not_overlap() -> None:
    work = make("strassen", n=1024)
    spans = sorted({(int(begin), int(begin) + 11 * size) for size, begins in blocks(work).items() for begin in begins})
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_the_heap_changes_nothing_but_places() -> None:
    recycled, fresh = make("strassen", n=512, heap="arenas"), make("strassen", n=512, heap="fresh")
    assert recycled.facts == fresh.facts
    assert (recycled.accesses.row_bytes == fresh.accesses.row_bytes).all()
    assert (recycled.op_arg == fresh.op_arg).all()
    assert recycled.digest() != fresh.digest()
