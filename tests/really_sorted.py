"""BOTS Sort on its own input: the keys are really sorted, and every split is searched as the program searches.

The generator of numasim draws the splits of random keys instead; the C kernel sorts this input.

`bots_permutation` makes the input: the numbers 0 .. n - 1 in the order in which the program's generator leaves them.
The program fills the array in ascending order and then swaps element i with element ``x[i] mod n`` for i = 0, 1, ..,
where x is the linear congruential sequence ``x' = 1103515245 x + 12345 mod 2**64`` that starts at 1. The swaps are
sequential. Swaps of different elements commute, so the swaps are applied in blocks of about the square root of n; a
block is cut where two of its swaps touch one element.
"""

from __future__ import annotations

from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.workload.families.sort import Ranks, Runs, SortParameters, recursion, sort_graph, sort_tree
from numasim.workload.graph import I64, Workload

MULTIPLIER, INCREMENT, FIRST = 1103515245, 12345, 1
U64 = npt.NDArray[np.uint64]
Values = npt.NDArray[np.int32]


def bots_permutation(n: int) -> Values:
    """Return [n] the elements of the unsorted array, for n < 2**31."""
    values = np.arange(n, dtype=np.int32)
    block = isqrt(n)
    powers, sums = _jumps(block)
    state = np.uint64(FIRST)
    for first in range(0, n, block):
        states = powers * state + sums
        state = states[-1]
        _swap(values, first, (states[: n - first] % np.uint64(n)).astype(np.int64))
    return values


def _jumps(block: int) -> tuple[U64, U64]:
    """Return the factors and summands that lead from a state to each of the next ``block`` states."""
    powers = np.multiply.accumulate(np.full(block, MULTIPLIER, np.uint64))
    earlier = np.concatenate([np.ones(1, np.uint64), powers[:-1]])
    return powers, np.add.accumulate(earlier) * np.uint64(INCREMENT)


def _swap(values: Values, first: int, partners: npt.NDArray[np.int64]) -> None:
    """Swap element ``first + k`` with element ``partners[k]`` for k = 0, 1, .. in this order."""
    for low, high in pairwise([0, *_meetings(first, partners), len(partners)]):
        here = values[first + low : first + high].copy()
        there = partners[low:high]
        values[first + low : first + high] = values[there]
        values[there] = here


def _meetings(first: int, partners: npt.NDArray[np.int64]) -> list[int]:
    """Return, ascending, the swaps of a block that touch an element that an earlier swap may have moved."""
    inside = partners - first
    low = np.flatnonzero((inside >= 0) & (inside < len(partners)))
    crossing = np.maximum(low, inside[low])[low != inside[low]]
    return sorted({*crossing.tolist(), *_repeats(partners)})


def _repeats(partners: npt.NDArray[np.int64]) -> list[int]:
    """Return the positions of repeated numbers. Most blocks have none, which a sort without indices finds faster."""
    ascending = np.sort(partners)
    if (ascending[1:] != ascending[:-1]).all():
        return []
    first_seen = np.unique(partners, return_index=True)[1]
    found: list[int] = np.setdiff1d(np.arange(len(partners)), first_seen).tolist()
    return found


def really_sorted(**parameters: Any) -> Workload:
    """Return the task graph of the program on its own input."""
    given = SortParameters(name="sort", **parameters)
    ranks = ranks_in(bots_permutation(given.n), given.quicksort_cutoff)
    return sort_graph(given, *recursion(given.n, given.quicksort_cutoff, given.merge_cutoff, ranks))


def ranks_in(values: Values, quicksort_cutoff: int) -> Ranks:
    """Return a function that finds the splits of merges in a sort of ``values``, by bisection in the sorted runs."""
    stages = runs_before_stages(values, quicksort_cutoff)

    def ranks(merges: Runs) -> I64:
        found = np.zeros(len(merges.stage), np.int64)
        for stage in np.unique(merges.stage).tolist():
            rows = np.flatnonzero(merges.stage == stage)
            here = Runs(*(column[rows] for column in merges))
            pivots = stages[stage][here.low1 + here.size1 // 2]
            found[rows] = bisected(stages[stage], pivots, here.low2, here.size2)
        return found

    return ranks


def runs_before_stages(values: Values, quicksort_cutoff: int) -> dict[int, Values]:
    """Return the array before the merges of each stage: sorted quarters (even), then sorted halves (odd stages)."""
    sorts = sort_tree(len(values), quicksort_cutoff)
    stages = {}
    for level in range(len(sorts.first) - 2):
        ids = np.arange(sorts.first[level], sorts.first[level + 1])
        split = ids[sorts.split[ids]]
        low, size, quarter = sorts.low[split], sorts.size[split], sorts.size[split] // 4
        starts = [low + k * quarter for k in range(4)]
        stages[2 * level] = sorted_pieces(values, [*starts, low + size])
        stages[2 * level + 1] = sorted_pieces(values, [*starts[::2], low + size])
    return stages


def sorted_pieces(values: Values, edges: list[I64]) -> Values:
    """Return the array with the pieces between every two neighbouring ``edges`` sorted."""
    array = values.copy()
    for starts, ends in pairwise(edges):
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            array[start:end].sort()
    return array


def bisected(values: Values, pivot: Values, low: I64, size: I64) -> I64:
    """Return [merges] the number of elements of the sorted run at ``low`` that are at most ``pivot``."""
    start, end = low.copy(), low + size
    while (start < end).any():
        middle = (start + end) // 2
        inside = start < end
        upward = inside & (values[np.where(inside, middle, 0)] <= pivot)
        start = np.where(upward, middle + 1, start)
        end = np.where(inside & ~upward, middle, end)
    return start - low
