"""The input of BOTS Sort itself: the numbers 0 .. n - 1 in the order that its own generator leaves them.

The program fills the array in ascending order and then swaps element i with element ``x[i] mod n`` for i = 0, 1, ..,
where x is the linear congruential sequence ``x' = 1103515245 x + 12345 mod 2**64`` that starts at 1. The swaps are
sequential; those that touch different elements commute, so they are applied in blocks of about the square root of n,
cut where two of a block meet.
"""

from __future__ import annotations

from itertools import pairwise
from math import isqrt

import numpy as np
import numpy.typing as npt

MULTIPLIER, INCREMENT, FIRST = 1103515245, 12345, 1
U64 = npt.NDArray[np.uint64]
Values = npt.NDArray[np.int32]


def bots_permutation(n: int) -> Values:
    """[n] the elements of the unsorted array, for n < 2**31."""
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
    """Factors and summands that lead from a state to each of the next ``block`` states."""
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
    """The swaps of a block, ascending, that touch an element which an earlier one of the block may have moved."""
    inside = partners - first
    low = np.flatnonzero((inside >= 0) & (inside < len(partners)))
    crossing = np.maximum(low, inside[low])[low != inside[low]]
    return sorted({*crossing.tolist(), *_repeats(partners)})


def _repeats(partners: npt.NDArray[np.int64]) -> list[int]:
    """The positions of repeated numbers; most blocks have none, which a sort without indices finds faster."""
    ascending = np.sort(partners)
    if (ascending[1:] != ascending[:-1]).all():
        return []
    first_seen = np.unique(partners, return_index=True)[1]
    found: list[int] = np.setdiff1d(np.arange(len(partners)), first_seen).tolist()
    return found
