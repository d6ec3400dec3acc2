"""Estimates with intervals, and tests of paired differences over repeats that share a seed.

Answers, tables, figures and pages estimate medians. The interval of a median is the interval of its order statistics,
and the test of a paired difference is the sign test (Conover, Practical Nonparametric Statistics, 1999, sections 3.2
and 3.4). Both hold for every distribution, also for skewed distributions and for distributions of few values: of n
independent observations, the number of observations above the median is binomial. With fewer than `FEWEST`
observations no interval covers the median with 95 %.

Studies and validation compare simulated means with published or measured means. A mean has a Student t interval. A
ratio of sums (misses over attempts) has a bootstrap interval over the repeats: a resample takes part and whole of the
same repeats, by random numbers from an explicit seed. Its percentiles are widened to the t quantile, because the plain
percentile bootstrap is too narrow for few repeats (Hesterberg, The American Statistician 69, 2015). With fewer than
`FEWEST` repeats, a ratio has the t interval of the linearised ratio (Cochran, Sampling Techniques, 1977). Both
intervals cover less than 95 % under a heavy tail.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
FAMILY_ERROR = 0.05  # the probability that any difference of a question is called sure by chance
FEWEST = 6  # of fewer observations even the range covers the median with less than 95 %; of six with 1 - 2 / 2**6
RESAMPLES = 2000
BOOTSTRAP_SEED = 20180601

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value and its interval from ``count`` observations. NaN stands for a number that cannot be determined."""

    value: float
    low: float
    high: float
    count: int

    def columns(self, name: str) -> dict[str, float]:
        """Return the value and the ends of the interval as columns of a table: NAME, NAME_low and NAME_high."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}


NOTHING = Estimate(math.nan, math.nan, math.nan, 0)


def mean_interval(sample: FloatArray) -> Estimate:
    """Return the mean of the numbers in ``sample``, with its Student t interval; one number has no interval."""
    kept = sample[~np.isnan(sample)]
    count = len(kept)
    if count == 0:
        return NOTHING
    mean = float(kept.mean())
    if count == 1:
        return Estimate(mean, math.nan, math.nan, 1)
    half = _t_quantile(count) * float(kept.std(ddof=1)) / math.sqrt(count)
    return Estimate(mean, mean - half, mean + half, count)


def ratio_interval(part: FloatArray, whole: FloatArray) -> Estimate:
    """Return ``sum(part) / sum(whole)`` with its paired bootstrap interval; NaN if the sum of ``whole`` is zero.

    ``part`` and ``whole`` are [observations]; pairs with a NaN do not count. Fewer than `FEWEST` observations have the
    interval of the linearised ratio.
    """
    kept = ~(np.isnan(part) | np.isnan(whole))
    part, whole = part[kept], whole[kept]
    count, total = len(part), float(whole.sum())
    if count == 0 or total == 0:
        return Estimate(math.nan, math.nan, math.nan, count)
    value = float(part.sum()) / total
    if count == 1:
        return Estimate(value, math.nan, math.nan, 1)
    if count < FEWEST:
        residual = mean_interval((part - value * whole) / whole.mean())
        return Estimate(value, value + residual.low, value + residual.high, count)
    counts = resample_counts(count, BOOTSTRAP_SEED)
    wholes = counts @ whole
    drawn = wholes != 0  # a resample with a sum of zero has no ratio
    tail = expanded_tail(count)
    low, high = np.quantile((counts @ part)[drawn] / wholes[drawn], (tail, 1 - tail))
    return Estimate(value, float(low), float(high), count)


def median_interval(sample: FloatArray) -> Estimate:
    """Return `median_estimate` of ``sample``; with fewer than six observations, the ends of the interval are NaN."""
    found = median_estimate(sample)
    return found if found.count >= FEWEST else Estimate(found.value, math.nan, math.nan, found.count)


def median_estimate(sample: FloatArray) -> Estimate:
    """Return the median of ``sample`` [observations] with the interval of its order statistics.

    NaN entries do not count. Fewer than six observations have their range in place of an interval; the function
    `range_coverage` returns how often the range covers the median. A single observation has no interval.
    """
    kept = np.sort(sample[~np.isnan(sample)])
    count = len(kept)
    if count == 0:
        return NOTHING
    low, high = (kept[end] for end in bounds(count)) if count > 1 else (math.nan, math.nan)
    return Estimate(float(np.median(kept)), float(low), float(high), count)


@lru_cache(maxsize=1024)
def bounds(count: int) -> tuple[int, int]:
    """Return the indices of the ends of the median's interval among ``count`` sorted observations.

    The interval is the narrowest that covers the median with 95 %; few observations have the whole range.
    """
    # Of the 2**count sign patterns ``below`` have fewer than ``rank`` observations below the median, ``more`` exactly.
    rank, below, more = 0, 0, 1
    while 2 * (below + more) * 20 <= 1 << count:  # 5 % of all patterns
        rank, below, more = rank + 1, below + more, more * (count - rank) // (rank + 1)
    return max(rank - 1, 0), count - max(rank, 1)


def range_coverage(count: int) -> float:
    """Return the probability that the true median lies between the extremes of ``count`` observations."""
    return 1 - 2.0 ** (1 - count)


def interval_name(count: int) -> str:
    """Return the name of the interval of the median of ``count`` observations, two or more."""
    if count >= FEWEST:
        return "95 % intervals"
    return f"the range of {count}, which covers {100 * range_coverage(count):.0f} %"


def sign_p(change: FloatArray) -> float:
    """Return the two-sided p-value of the sign test that the median of ``change`` [pairs] is zero.

    A change of zero counts as a change in the less frequent direction. The p-value is then at most 0.05 exactly if the
    interval of the median excludes zero. NaN for fewer than six pairs, which cannot have such a small p-value.
    """
    from scipy.special import bdtr  # importing scipy.stats would take a second

    count = len(change)
    if count < FEWEST:
        return math.nan
    most = max(np.count_nonzero(change > 0), np.count_nonzero(change < 0))
    return min(1.0, 2 * float(bdtr(count - most, count, 0.5)))


def pairs_needed(tests: int, error: float = FAMILY_ERROR) -> int:
    """Return the fewest pairs with which one of ``tests`` differences can be sure after `holm`.

    If all pairs have one sign, the p-value of the difference, times ``tests``, is then below ``error``.
    """
    return max(FEWEST, math.floor(1 + math.log2(tests / error)) + 1)


def rank_correlation(first: FloatArray, other: FloatArray) -> float:
    """Return Spearman's correlation of two values over pairs, -1 to 1; NaN for fewer than six pairs or equal values."""
    ranks = [_ranks(side) for side in (first, other)]
    spread = [float(each.std()) for each in ranks] if len(first) >= FEWEST else [0.0]
    if not all(spread):
        return math.nan
    return float(np.mean((ranks[0] - ranks[0].mean()) * (ranks[1] - ranks[1].mean())) / math.prod(spread))


def _ranks(values: FloatArray) -> FloatArray:
    """Return ranks; equal ``values`` have the mean of their ranks (scipy.stats.rankdata takes a second to import)."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a family of tests after Holm's correction (Scandinavian Journal of Statistics 6, 1979).

    If values below alpha are called sure, the probability of any error in the family is below alpha, however the tests
    depend on each other. NaN stays NaN and does not count.
    """
    values = np.asarray(p_values, np.float64)
    corrected = np.full(len(values), math.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return [float(each) for each in corrected]


def _t_quantile(count: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))


def expanded_tail(count: int) -> float:
    """Return the percentile, as a fraction, of the lower bound of a bootstrap of ``count`` observations."""
    from scipy.special import ndtr

    return float(ndtr(-math.sqrt(count / (count - 1)) * _t_quantile(count)))


@lru_cache(maxsize=16)
def resample_counts(count: int, seed: int) -> FloatArray:
    """Return how often each observation occurs in each resample [resamples, count]."""
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    return drawn.astype(np.float64)
