"""The merge recursion of BOTS Sort on its own input.

A merge of two sorted runs whose shorter one exceeds the cut-off takes the middle of the longer run, finds its place
in the shorter one by bisection, puts that element where it belongs and merges what is below and what is above as two
tasks. Where it splits depends on the values, so the recursion follows the real permutation; all merges of one depth
are split at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.workload.algorithms.permutation import Values
from numasim.workload.graph import I64

ARRAY, TEMPORARY = range(2)
Flags = npt.NDArray[np.bool_]


class Runs(NamedTuple):
    """Merges of [low1, low1 + size1) with [low2, low2 + size2) into [target, ..); arrays are [merges], in elements."""

    low1: I64
    size1: I64
    low2: I64
    size2: I64
    target: I64

    def ordered(self) -> Runs:
        """The same merges with the longer run first."""
        swap = self.size2 > self.size1
        return Runs(
            np.where(swap, self.low2, self.low1),
            np.where(swap, self.size2, self.size1),
            np.where(swap, self.low1, self.low2),
            np.where(swap, self.size1, self.size2),
            self.target,
        )

    def halves(self, values: Values) -> Runs:
        """Below and above the middle of the first run, alternating; the middle itself is placed by the split."""
        half = self.size1 // 2
        middle = self.low1 + half
        rank = _rank(values, values[middle], self.low2, self.size2)
        below = (self.low1, half, self.low2, rank, self.target)
        above = (middle + 1, self.size1 - half - 1, self.low2 + rank, self.size2 - rank, self.target + half + rank + 1)
        return Runs(*(np.stack(pair, axis=1).ravel() for pair in zip(below, above, strict=True)))


@dataclass(frozen=True)
class Merges:
    """A forest of merges, numbered depth by depth; ``parent`` is the root's owner for roots, as ``-1 - owner``."""

    runs: Runs
    parent: I64
    serial: Flags  # [merges] whether it merges serially instead of splitting


def merge_forest(values: Values, roots: Runs, owner: I64, cutoff: int) -> Merges:
    """All merges below ``roots`` [roots], whose runs are sorted in ``values``; ``owner`` [roots] are their tasks."""
    runs, parent = roots.ordered(), -1 - owner
    found: list[tuple[Runs, I64, Flags]] = []
    first = 0
    while len(parent):
        serial = runs.size2 <= cutoff
        found.append((runs, parent, serial))
        splits = np.flatnonzero(~serial)
        parent = np.repeat(first + splits, 2)
        first += len(serial)
        runs = Runs(*(column[splits] for column in runs)).halves(values).ordered()
    columns = zip(*(part[0] for part in found), strict=True)
    return Merges(
        Runs(*map(np.concatenate, columns)),
        np.concatenate([part[1] for part in found]),
        np.concatenate([part[2] for part in found]),
    )


def _rank(values: Values, pivot: Values, low: I64, size: I64) -> I64:
    """[merges] how many elements of the sorted run at ``low`` are at most ``pivot``, by bisection."""
    start, end = low.copy(), low + size
    while (start < end).any():
        middle = (start + end) // 2
        inside = start < end
        upward = inside & (values[np.where(inside, middle, 0)] <= pivot)
        start = np.where(upward, middle + 1, start)
        end = np.where(inside & ~upward, middle, end)
    return start - low
