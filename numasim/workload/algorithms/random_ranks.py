"""The rank of a sorted run's middle element in another sorted run, for random keys.

In a merge of two sorted runs of random keys every interleaving is equally likely. Let b elements of one run lie below
the run's middle and a elements above. The middle then stands behind r of the other run's m elements in C(b + r, r) C(a
+ m - r, m - r) of the C(a + b + 1 + m, m) interleavings: r has the negative hypergeometric distribution (Johnson, Kemp
and Kotz, Univariate Discrete Distributions, 2005, section 6.2.2) of mean m (b + 1) / (a + b + 2). The elements below
and the elements above are random merges again, independent of each other.

If all interleavings can be counted in 64 bits, an interleaving is drawn. Larger merges draw by rejection (Devroye,
Non-Uniform Random Variate Generation, 1986, section II.3). The weights g(d) = p(mode + d) / p(mode) fall ever faster on
either side of the mode (the distribution is log-concave), so a width w with g(w) <= 1/2 gives g(j w + u) <= 2**-j. A
distance j w + u is proposed with probability 2**-j / (4 w) and accepted with probability 2**j g. Bounds on g in fixed
point decide nearly every comparison; exact products of integers decide the other comparisons. All numbers are integers,
and the probability of a rank is exact up to the resolution 2**-64 of a draw.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, perm
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.draws import U64Array, below_array, draw_array
from numasim.workload.graph import I64

DIGITS = 31  # binary digits of a weight in fixed point, behind the point
ONE = 1 << DIGITS
COUNTED = 62  # most elements of a merge with fewer than 2**63 interleavings
DRAWS = 3  # draws of a proposal: side and factor, offset, decision
Flags = npt.NDArray[np.bool_]


class Sides(NamedTuple):
    """The numbers of elements around the mode of each merge, seen from one side of the mode; arrays are [merges].

    If the middle has the most probable rank (the mode), these numbers of elements of the middle's own run and of the
    other run lie behind and ahead of the middle. The weight g(d) is the product over i = 1 .. d of

        (both_behind + i) (other_ahead - i + 1) / ((other_behind + i) (own_ahead + other_ahead - i + 1)).
    """

    both_behind: I64
    other_behind: I64
    other_ahead: I64
    own_ahead: I64

    def take(self, rows: I64 | Flags) -> Sides:
        """Return the merges ``rows`` alone."""
        return Sides(*(column[rows] for column in self))

    def factors(self, distance: I64) -> tuple[I64, I64, I64, I64]:
        """Return the starts A of the four products (A + 1) .. (A + distance): two in the numerator, two below."""
        ahead = self.other_ahead - distance
        return self.both_behind, ahead, self.other_behind, self.own_ahead + ahead


def random_ranks(below: I64, above: I64, other: I64, streams: U64Array) -> I64:
    """Return [merges] the number of ``other`` elements below the middle of a run.

    The run has ``below`` elements below the middle and ``above`` elements above, together at least one; all sizes are
    below 2**28. Each merge draws from its own stream.
    """
    ranks = np.zeros(len(other), np.int64)
    few = below + 1 + above + other <= COUNTED
    for rows, drawn in ((np.flatnonzero(few), ranks_by_counting), (np.flatnonzero(~few), ranks_by_rejection)):
        ranks[rows] = drawn(below[rows], above[rows], other[rows], streams[rows])
    return ranks


def ranks_by_counting(below: I64, above: I64, other: I64, streams: U64Array) -> I64:
    """Return the ranks of `random_ranks` for merges of at most 62 elements, by drawing an interleaving."""
    ways = _binomials()
    drawn = below_array(draw_array(streams, 0), ways[below + 1 + above + other, other])
    ranks, rows = np.zeros(len(other), np.int64), np.arange(len(other))
    while len(rows):
        rank, rest = ranks[rows], other[rows] - ranks[rows]
        here = ways[below[rows] + rank, rank] * ways[above[rows] + rest, rest]
        onward = drawn[rows] >= here
        rows, here = rows[onward], here[onward]
        drawn[rows] -= here
        ranks[rows] += 1
    return ranks


@lru_cache(maxsize=1)
def _binomials() -> U64Array:
    """Return [n, k] the binomial coefficients up to n = 62."""
    return np.array([[comb(n, k) for k in range(COUNTED + 1)] for n in range(COUNTED + 1)], np.uint64)


def ranks_by_rejection(below: I64, above: I64, other: I64, streams: U64Array) -> I64:
    """Return the ranks of `random_ranks` for merges of every size."""
    mode = np.minimum(other, below * (other + 1) // (below + above))
    upward = Sides(below + mode, mode, other - mode, above)
    downward = Sides(above + other - mode, other - mode, mode, below)
    width = _widths(upward, downward)
    ranks = np.zeros(len(mode), np.int64)
    open_rows = np.arange(len(mode))
    attempt = 0
    while len(open_rows):
        numbers = [draw_array(streams[open_rows], DRAWS * attempt + k) for k in range(DRAWS)]
        up = numbers[0] & np.uint64(1) == 1
        factor = _zeros_at_the_end(numbers[0] >> np.uint64(1))
        offset = below_array(numbers[1], width[open_rows].astype(np.uint64)).astype(np.int64)
        distance = factor * width[open_rows] + offset
        both = zip(upward.take(open_rows), downward.take(open_rows), strict=True)
        side = Sides(*(np.where(up, above_mode, below_mode) for above_mode, below_mode in both))
        taken = _accepted(side, distance, factor, numbers[2]) & (up | (distance > 0))
        done = open_rows[taken]
        ranks[done] = mode[done] + np.where(up, distance, -distance)[taken]
        open_rows = open_rows[~taken]
        attempt += 1
    return ranks


def _zeros_at_the_end(numbers: U64Array) -> I64:
    """Return how many low bits of each number are zero, 63 for the number 0; k or more zeros have probability 2**-k."""
    zeros = np.zeros(len(numbers), np.int64)
    rows = np.arange(len(numbers))
    for k in range(63):
        rows = rows[numbers[rows] >> np.uint64(k) & np.uint64(1) == 0]
        zeros[rows] = k + 1
    return zeros


def _widths(upward: Sides, downward: Sides) -> I64:
    """Return a width, near the smallest, at which the weights of both sides are certainly at most a half."""
    other = upward.other_behind + upward.other_ahead
    own = upward.both_behind - upward.other_behind + upward.own_ahead + 1
    square = 25 * (other * (other + own) // (4 * own)) // 16  # of 5/4 standard deviations, if the middle is the median
    width = np.ones(len(other), np.int64)
    while (grows := 4 * width * width <= square).any():
        width[grows] *= 2
    for part in (2, 4, 8, 16):
        larger = width + width // part
        width = np.where(larger * larger <= square, larger, width)
    rows = np.arange(len(width))
    while len(rows):
        high = np.maximum(*(bounds(side.take(rows), width[rows])[1] for side in (upward, downward)))
        rows = rows[high > ONE // 2]
        width[rows] += (width[rows] + 7) // 8
    return width


def _accepted(side: Sides, distance: I64, factor: I64, numbers: U64Array) -> Flags:
    """Return whether ``number / 2**64 < 2**factor g(distance)``, computed exactly if the bounds do not decide."""
    low, high = bounds(side, distance)
    coarse = (numbers >> np.uint64(64 - DIGITS)).astype(np.int64)
    shift = np.minimum(factor, DIGITS)
    surely = coarse + 1 <= low << shift
    possible = (coarse < high << shift) & (distance <= side.other_ahead)
    taken = surely & possible
    rows = np.flatnonzero(possible & ~surely)
    half = bounds(side.take(rows), distance[rows] // 2)[1]  # g(d) <= g(d / 2)**2: far out the tighter bound
    rows = rows[coarse[rows] < (half * half >> DIGITS) + 1 << shift[rows]]
    starts = np.stack(side.take(rows).factors(distance[rows]), axis=1)
    for row, row_starts in zip(rows.tolist(), starts.tolist(), strict=True):
        taken[row] = exactly_accepted(row_starts, int(distance[row]), int(factor[row]), int(numbers[row]))
    return taken


def exactly_accepted(starts: list[int], distance: int, factor: int, number: int) -> bool:
    """Return whether ``number / 2**64`` < 2**factor * g(distance), where the four products of g begin at ``starts``."""
    upper, more_upper, lower, more_lower = (perm(start + distance, distance) for start in starts)
    return number * lower * more_lower < upper * more_upper << (64 + factor)


def bounds(side: Sides, distance: I64) -> tuple[I64, I64]:
    """Return [merges] bounds on the weight g(distance), in units of 2**-31; 0 beyond the end of the other run.

    Of (A + 1) .. (A + d) the factors i and d + 1 - i have the product M**2 - (i - (d + 1) / 2)**2, where M is the mean
    of the d factors. Let s = d (d**2 - 1) / (24 M**2). The product of the d factors is M**d times a share between 1 - s
    and exp(-s); exp(-s) is less than 1 - t + t**2 / 2 for every t <= s.
    """
    inside = distance <= side.other_ahead
    d = np.where(inside, distance, 0)
    means = [2 * start + d + 1 for start in side.factors(d)]  # twice the mean of each product
    (least1, most1), (least2, most2), (least3, most3), (least4, most4) = (_share(d, mean) for mean in means)
    low, high = _power(*_ratio(means[0] * means[1], means[2] * means[3]), d)
    low = (low * (least1 * least2 >> DIGITS)) // ((most3 * most4 >> DIGITS) + 1)
    least = least3 * least4 >> DIGITS
    high = (high * ((most1 * most2 >> DIGITS) + 1)) // np.maximum(least, 1) + 1
    high = np.where(least > 0, np.minimum(ONE, high), ONE)
    return np.where(inside, np.minimum(ONE, low), 0), np.where(inside, high, 0)


def _share(d: I64, twice_mean: I64) -> tuple[I64, I64]:
    """Return bounds on the product of d factors over the d-th power of the factors' mean, in units of 2**-31."""
    inner, outer = ((side << DIGITS) // twice_mean for side in (np.maximum(d - 1, 0), d + 1))
    small = np.minimum(ONE, d * (inner * outer >> DIGITS) // 6)
    large = np.minimum(ONE, d * (((inner + 1) * (outer + 1) >> DIGITS) + 1) // 6 + 1)
    return ONE - large, np.minimum(ONE, ONE - small + (small * small >> DIGITS + 1) + 1)


def _ratio(upper: I64, lower: I64) -> tuple[I64, I64]:
    """Return bounds on ``upper / lower``, at most one, in units of 2**-31, of positive numbers below 2**62."""
    shift = np.zeros(len(lower), np.int64)
    for step in (16, 8, 4, 2, 1):
        shift += np.where(lower >> shift >= 1 << (DIGITS + step - 1), step, 0)
    small, large = np.minimum(upper, lower) >> shift, lower >> shift
    return (small << DIGITS) // (large + 1), np.minimum(ONE, ((small + 1) << DIGITS) // large + 1)


def _power(low: I64, high: I64, exponent: I64) -> tuple[I64, I64]:
    """Return bounds on a power of a number, which lies between ``low`` and ``high`` and is at most 1; unit: 2**-31."""
    low_power, high_power = np.full_like(low, ONE), np.full_like(high, ONE)
    for bit in range(int(exponent.max(initial=0)).bit_length()):
        odd = exponent >> bit & 1 == 1
        low_power = np.where(odd, low_power * low >> DIGITS, low_power)
        high_power = np.where(odd, np.minimum(ONE, (high_power * high >> DIGITS) + 1), high_power)
        low, high = low * low >> DIGITS, np.minimum(ONE, (high * high >> DIGITS) + 1)
    return low_power, high_power
