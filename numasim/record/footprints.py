"""How many bytes a task accesses by a dependence. A dependence names an address, not a size.

The size is a guess from all addresses that dependences name in the same block of memory. The first rule that applies
decides:

1. Only the beginning of the block is named. The task accesses the whole block; this is no guess.
2. The addresses are the beginnings of the tiles of a row-major matrix that fills the block. A tile is as wide as the
   smallest gap between addresses. A wider gap begins the next group of tiles, and groups begin at even distances. A row
   of the matrix is as long as the largest group. A tile has as many rows as lie between the beginnings of two groups.
3. Otherwise the task accesses the bytes from its address to the next address, or to the end of the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Footprint(NamedTuple):
    """``rows`` rows of ``row_bytes`` bytes, ``stride`` bytes apart, and whether that is a guess."""

    row_bytes: int
    rows: int = 1
    stride: int = 0
    guessed: bool = True


def footprints(offsets: Sequence[int], size: int) -> dict[int, Footprint]:
    """The footprint at each of ``offsets``: bytes from the beginning of a block of ``size`` bytes, ascending."""
    if list(offsets) == [0]:
        return {0: Footprint(size, guessed=False)}
    tile = _tile(offsets, size)
    if tile is not None:
        return dict.fromkeys(offsets, tile)
    return {offset: Footprint(end - offset) for offset, end in pairwise([*offsets, size])}


def _tile(offsets: Sequence[int], size: int) -> Footprint | None:
    """A tile of a matrix of ``size`` bytes whose tiles begin at ``offsets``; None where they are not those of tiles."""
    gaps = [after - before for before, after in pairwise(offsets)]
    width = min(gaps, default=size)
    firsts = [0, *(at for at, gap in enumerate(gaps, 1) if gap > width)]
    longest = max(after - before for before, after in pairwise([*firsts, len(offsets)]))
    height, row = size // len(firsts), longest * width
    begins = [offsets[at] for at in firsts]
    evenly = begins == list(range(0, size, height)) and len(begins) * height == size
    if len(firsts) < 2 or longest < 2 or not evenly or height % row:
        return None
    return Footprint(width, height // row, row)
