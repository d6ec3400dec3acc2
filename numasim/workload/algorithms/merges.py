"""The merge recursion of BOTS Sort.

A merge of two sorted runs whose shorter one exceeds the cut-off takes the middle of the longer run, finds its place
in the shorter one by bisection, puts that element where it belongs and merges what is below and what is above as two
tasks. Where that place is depends on the values, and who asks for the recursion says it; all merges of one depth are
split at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.workload.graph import I64

ARRAY, TEMPORARY = range(2)
Flags = npt.NDArray[np.bool_]


class Runs(NamedTuple):
    """Merges of [low1, low1 + size1) with [low2, low2 + size2) into [target, ..); arrays are [merges], in elements.

    The merges of one ``stage`` are those that find the whole array in runs of one kind; no element is in two of them.
    """

    low1: I64
    size1: I64
    low2: I64
    size2: I64
    target: I64
    stage: I64

    def ordered(self) -> Runs:
        """The same merges with the longer run first."""
        swap = self.size2 > self.size1
        return Runs(
            np.where(swap, self.low2, self.low1),
            np.where(swap, self.size2, self.size1),
            np.where(swap, self.low1, self.low2),
            np.where(swap, self.size1, self.size2),
            self.target,
            self.stage,
        )

    def halves(self, rank: I64) -> Runs:
        """Below and above the middle of the first run, alternating; the middle itself is placed by the split.

        Of the second run ``rank`` [merges] elements are below the middle.
        """
        half = self.size1 // 2
        middle, target = self.low1 + half, self.target + half + rank + 1
        below = (self.low1, half, self.low2, rank, self.target, self.stage)
        above = (middle + 1, self.size1 - half - 1, self.low2 + rank, self.size2 - rank, target, self.stage)
        return Runs(*(np.stack(pair, axis=1).ravel() for pair in zip(below, above, strict=True)))


Ranks = Callable[[Runs], I64]  # [merges] how many elements of the second run the middle of the first one is behind


@dataclass(frozen=True)
class Merges:
    """A forest of merges, numbered depth by depth; ``parent`` is the root's owner for roots, as ``-1 - owner``."""

    runs: Runs
    parent: I64
    serial: Flags  # [merges] whether it merges serially instead of splitting


def merge_forest(ranks: Ranks, roots: Runs, owner: I64, cutoff: int) -> Merges:
    """All merges below ``roots`` [roots], which split where ``ranks`` says; ``owner`` [roots] are their tasks."""
    runs, parent = roots.ordered(), -1 - owner
    found: list[tuple[Runs, I64, Flags]] = []
    first = 0
    while len(parent) or not found:
        serial = runs.size2 <= cutoff
        found.append((runs, parent, serial))
        splits = np.flatnonzero(~serial)
        parent = np.repeat(first + splits, 2)
        first += len(serial)
        split = Runs(*(column[splits] for column in runs))
        runs = split.halves(ranks(split)).ordered()
    columns = zip(*(part[0] for part in found), strict=True)
    return Merges(
        Runs(*map(np.concatenate, columns)),
        np.concatenate([part[1] for part in found]),
        np.concatenate([part[2] for part in found]),
    )
