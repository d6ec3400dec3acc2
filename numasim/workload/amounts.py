"""Amounts: a whole number (ps or bytes) for each item of a range, listed or drawn from a table (model 3.5).

A range is many similar tasks, called items. Each item has a stream of random numbers of its own. A table has parts with
weights. A first random number finds a part, with a probability in proportion to its weight. A second random number
finds a whole number from the part's lowest to its highest number, all equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from numasim.draws import DrawClass, U64Array, base_array, below_array, draw_array
from numasim.frozen import Frozen

I64 = npt.NDArray[np.int64]

COMPUTE_NUMBER = 2  # an item's random numbers 2 and 3 draw its compute time from a table
WORD = 1 << 64


def number_of_access(access: int) -> int:
    """Return the place of the first of the two random numbers that draw an item's bytes of node access ``access``."""
    return COMPUTE_NUMBER + 2 + 2 * access


def numbers_of_pages(accesses: int) -> tuple[int, int]:
    """Return the first random numbers for ``fresh`` and ``freed`` bytes of an item with ``accesses`` node accesses."""
    return number_of_access(accesses), number_of_access(accesses + 1)


class Amounts(Frozen):
    """The numbers of all items (``items``), or a table (the other arrays). The arrays of the unused form are empty."""

    items: I64  # [items] the number of each item
    weight: I64  # [parts] weight of each part of the table, 1 or more
    low: I64  # [parts] lowest number of each part
    high: I64  # [parts] highest number of each part

    @classmethod
    def of_items(cls, numbers: npt.ArrayLike) -> Amounts:
        """Return amounts with a number for each item; a table of one number if all numbers are equal."""
        given = np.array(numbers, np.int64)
        if len(given) and (given == given[0]).all():
            return cls.of_table([1], given[:1], given[:1])
        return cls(_frozen(given), *(_frozen(()) for _ in range(3)))

    @classmethod
    def of_table(cls, weight: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> Amounts:
        """Return amounts that runs draw from a table of parts."""
        return cls(_frozen(()), _frozen(weight), _frozen(low), _frozen(high))

    @property
    def fixed(self) -> bool:
        """Whether all items have the same number."""
        return len(self.weight) == 1 and self.low[0] == self.high[0]

    @property
    def drawn(self) -> bool:
        """Whether the numbers depend on the seed of a run."""
        return len(self.weight) > 0 and not self.fixed

    @property
    def least(self) -> int:
        """The lowest number that an item may have."""
        return int((self.items if len(self.items) else self.low).min())

    @property
    def most(self) -> int:
        """The highest number that an item may have."""
        return int((self.items if len(self.items) else self.high).max())

    @cached_property
    def mean(self) -> int:
        """The mean of the items, or the expected value of the table, rounded down."""
        if len(self.items):
            return exact_sum(self.items) // len(self.items)
        ends = [*self._starts[1:], WORD]
        pairs = zip(self._starts, ends, self.low.tolist(), self.high.tolist(), strict=True)
        return int(sum((end - start) * (low + high) for start, end, low, high in pairs)) // (2 * WORD)

    def mean_of(self, items: I64 | None) -> int:
        """Return the mean number of the given ``items``, rounded down; `mean` if no items are given or listed."""
        if items is None or not len(items) or not len(self.items):
            return self.mean
        return exact_sum(self.items[items]) // len(items)

    def most_of(self, count: int) -> int:
        """Return the sum over all ``count`` items; ``count`` times the highest number if items are not listed."""
        return exact_sum(self.items) if len(self.items) else count * self.most

    @cached_property
    def _starts(self) -> list[int]:
        before = list(accumulate(self.weight.tolist(), initial=0))
        return [each * WORD // before[-1] for each in before[:-1]]

    @cached_property
    def starts(self) -> U64Array:
        """[parts] the lowest 64-bit random number that selects each part."""
        return np.array(self._starts, np.uint64)

    def of(self, items: I64, seed: int, number: int) -> I64:
        """Return [items] the amounts of ``items``; random numbers ``number`` and the next of each item draw amounts."""
        if len(self.items):
            return self.items[items]
        if self.fixed:
            return np.full(len(items), self.low[0])
        streams = base_array(seed, DrawClass.DURATION, items)
        part = np.searchsorted(self.starts, draw_array(streams, number), side="right") - 1
        width = (self.high - self.low + 1)[part].astype(np.uint64)
        return np.asarray(self.low[part] + below_array(draw_array(streams, number + 1), width).astype(np.int64))


def exact_sum(numbers: I64) -> int:
    """Return the exact sum of ``numbers``, which may have more than 63 bits."""
    halves = numbers >> 32, numbers & 0xFFFFFFFF
    return (int(halves[0].sum()) << 32) + int(halves[1].sum())


def _frozen(numbers: npt.ArrayLike | Sequence[int]) -> I64:
    made = np.array(numbers, np.int64)
    made.setflags(write=False)
    return made
