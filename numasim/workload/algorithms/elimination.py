"""The LU elimination of BOTS SparseLU as a list of block operations, with the fill-in that it creates.

Step k factors the diagonal block (lu0), divides the blocks right of it (fwd) and below it (bdiv), and updates a block
for every pair of those (bmod). A block that an update finds empty is allocated then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numasim.workload.graph import I64

MATRIX, FILL = range(2)


@dataclass(frozen=True)
class Elimination:
    """``columns[k]`` and ``rows[k]`` are the blocks that step k divides; its updates are their product, row by row.

    ``region`` and ``place`` [blocks, blocks] say in which region each block is stored and at which position, -1 for a
    block that stays empty.
    """

    columns: list[I64]
    rows: list[I64]
    region: I64
    place: I64
    initial_blocks: int
    final_blocks: int


def initial_pattern(blocks: int) -> npt.NDArray[np.bool_]:
    """[blocks, blocks] the blocks that the program fills at the start.

    Three diagonals; elsewhere even rows and columns only, and of those every third row right of the diagonal and every
    third column below it.
    """
    row, column = np.indices((blocks, blocks))
    even = (row % 2 == 0) & (column % 2 == 0)
    thirds = np.minimum(row, column) % 3 == 0
    pattern: npt.NDArray[np.bool_] = (np.abs(row - column) <= 1) | even & thirds
    return pattern


def eliminate(blocks: int) -> Elimination:
    """Run the elimination on the pattern alone."""
    present = initial_pattern(blocks)
    region = np.where(present, MATRIX, -1)
    place = np.where(present, np.cumsum(present).reshape(present.shape) - 1, -1)
    initial = int(present.sum())
    columns, rows, filled = [], [], 0
    for k in range(blocks):
        right = np.flatnonzero(present[k, k + 1 :]) + k + 1
        below = np.flatnonzero(present[k + 1 :, k]) + k + 1
        fresh = ~present[np.ix_(below, right)]
        at = (below[:, None] * blocks + right)[fresh]
        present.flat[at], region.flat[at] = True, FILL
        place.flat[at] = filled + np.arange(len(at))
        filled += len(at)
        columns.append(right)
        rows.append(below)
    return Elimination(columns, rows, region, place, initial, initial + filled)
