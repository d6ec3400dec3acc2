"""Blocks of near neighbours, the static vicinities of home scheduling.

Nearest groups are paired again and again, so that on a mesh four workers form a 2 x 2 block and sixteen a 4 x 4 block;
the resulting order is cut into blocks of the wanted size.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.strategy.worker_units import Units

I64 = npt.NDArray[np.int64]
FARTHEST = np.iinfo(np.int64).max


def vicinities(units: Units, size: int) -> I64:
    """[workers] the block of each worker; every block but the last has ``size`` workers."""
    between = units.distance
    groups = [[worker] for worker in range(units.workers)]
    while len(groups) > 1:
        groups, between = _paired(groups, between)
    block = np.empty(units.workers, np.int64)
    block[groups[0]] = np.arange(units.workers) // size
    return block


def _paired(groups: list[list[int]], between: I64) -> tuple[list[list[int]], I64]:
    """Join each group, in order, with the free group nearest to it; ``between`` sums the distances of members."""
    free = np.ones(len(groups), bool)
    pairs = []
    for a in range(len(groups)):
        if free[a]:
            free[a] = False
            b = int(np.where(free, between[a], FARTHEST).argmin())
            pairs.append([a, b] if free[b] else [a])
            free[b] = False
    merged = [[worker for g in pair for worker in groups[g]] for pair in pairs]
    starts = np.cumsum([0] + [len(pair) for pair in pairs[:-1]])
    order = [g for pair in pairs for g in pair]
    sums = np.add.reduceat(np.add.reduceat(between[np.ix_(order, order)], starts, axis=0), starts, axis=1)
    return merged, sums
