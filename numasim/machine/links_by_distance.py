"""Which nodes are linked, as far as their distances say: those without an equally short route over a third node."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import lcm
from operator import or_

LEAST = Fraction(1, 10)  # of the local distance; firmware that makes all distances equal leaves every pair linked


def links_of(distance: Sequence[Sequence[Fraction]]) -> Iterator[tuple[int, int]]:
    """Pairs of nodes without an equally short route over a third; they join all nodes.

    ``distance[a][b]`` is relative to the local distance of ``a``; what counts of it is what exceeds 1. The shortest
    pair across any cut is kept. Takes time in proportion to the pairs, times the unlike distances of one node.
    """
    further = _further(distance)
    around = [_around(row) for row in further]
    for a, row in enumerate(further):
        for b in range(a + 1, len(row)):
            if not _is_between(around[a], around[b], row[b]):
                yield a, b


def _further(distance: Sequence[Sequence[Fraction]]) -> list[list[int]]:
    """By how much nodes are further away than a node from itself, the longer of both directions, in a common unit."""
    unit = lcm(LEAST.denominator, *{value.denominator for row in distance for value in row})
    whole = [[value.numerator * (unit // value.denominator) - unit for value in row] for row in distance]
    least = LEAST.numerator * (unit // LEAST.denominator)
    return [[max(there, back, least) for there, back in zip(row, column, strict=True)]
            for row, column in zip(whole, zip(*whole, strict=True), strict=True)]  # fmt: skip


@dataclass(frozen=True)
class _Around:
    """The nodes around one node: sets of nodes, as bits of whole numbers, by their distance in ascending order."""

    distances: list[int]
    rings: list[int]

    @cached_property
    def discs(self) -> list[int]:
        """The nodes nearer than each distance, and at last all."""
        return list(accumulate(self.rings, or_, initial=0))

    def within(self, distance: int) -> int:
        """The nodes that are at most so far away."""
        return self.discs[bisect_right(self.distances, distance)]


def _around(row: Sequence[int]) -> _Around:
    rings: dict[int, int] = {}
    for node, distance in enumerate(row):
        rings[distance] = rings.get(distance, 0) | 1 << node
    distances = sorted(rings)
    return _Around(distances, [rings[distance] for distance in distances])


def _is_between(a: _Around, b: _Around, distance: int) -> bool:
    """Whether a third node is on a route between two of that distance; neither of them is, as no distance is 0."""
    for part, ring in zip(a.distances, a.rings, strict=True):
        if part >= distance:
            return False
        if ring & b.within(distance - part):
            return True
    return False
