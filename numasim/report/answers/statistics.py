"""Estimates with 95 % intervals, and tests of paired differences over repeats that share a seed.

A mean has a Student t interval. A ratio of sums (misses over attempts, change over makespan) has a bootstrap interval
over the repeats, part and whole resampled together from an explicit seed; its percentiles are widened to the t
quantile, because the plain percentile bootstrap is too narrow for few repeats (Hesterberg, The American Statistician
69, 2015). Resamples never leave the range of the repeats, and the range of fewer than six covers the true value in less
than 95 % of samples; there the t interval of the linearised ratio takes its place (Cochran, Sampling Techniques, 1977).
A median has the interval of its order statistics (Conover, Practical Nonparametric Statistics, 1999).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
BOOTSTRAP_REPEATS = 6  # the fewest whose range covers the median with 95 %: 1 - 2 / 2**6
RESAMPLES = 2000
TIE = 0.1  # probability, rounded up, that two differences of the smallest programs are equal and not zero by chance
BOOTSTRAP_SEED = 20180601

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval from ``count`` observations; NaN where they do not determine a number."""

    value: float
    low: float
    high: float
    count: int


NOTHING = Estimate(math.nan, math.nan, math.nan, 0)


def mean_interval(sample: FloatArray) -> Estimate:
    """Mean and Student t interval of ``sample`` [observations]; NaN entries do not count, one alone has no interval."""
    kept = sample[~np.isnan(sample)]
    count = len(kept)
    if count == 0:
        return NOTHING
    mean = float(kept.mean())
    if count == 1:
        return Estimate(mean, math.nan, math.nan, 1)
    half = _t_quantile(count) * float(kept.std(ddof=1)) / math.sqrt(count)
    return Estimate(mean, mean - half, mean + half, count)


def ratio_interval(part: FloatArray, whole: FloatArray, *, seed: int = BOOTSTRAP_SEED) -> Estimate:
    """``sum(part) / sum(whole)`` with its paired bootstrap interval.

    ``part`` and ``whole`` are [observations]; pairs with a NaN do not count. NaN where the wholes add up to zero. With
    fewer than `BOOTSTRAP_REPEATS` observations the interval is that of the linearised ratio.
    """
    kept = ~(np.isnan(part) | np.isnan(whole))
    part, whole = part[kept], whole[kept]
    count, total = len(part), float(whole.sum())
    if count == 0 or total == 0:
        return Estimate(math.nan, math.nan, math.nan, count)
    value = float(part.sum()) / total
    if count == 1:
        return Estimate(value, math.nan, math.nan, 1)
    low, high = _linear_bounds(part, whole) if count < BOOTSTRAP_REPEATS else _bootstrap_bounds(part, whole, seed)
    return Estimate(value, low, high, count)


def median_interval(sample: FloatArray) -> Estimate:
    """Median of ``sample`` [observations] with the interval of its order statistics: no distribution is assumed.

    NaN entries do not count. Fewer than six observations have no interval that covers the median with 95 %: NaN.
    """
    kept = np.sort(sample[~np.isnan(sample)])
    count = len(kept)
    if count == 0:
        return NOTHING
    outside = _order_statistic(count)
    low, high = (float(kept[outside - 1]), float(kept[count - outside])) if outside else (math.nan, math.nan)
    return Estimate(float(np.median(kept)), low, high, count)


def _order_statistic(count: int) -> int:
    """The largest rank from either end with which the interval covers the median with 95 %; 0 if there is none."""
    below, rank = 0, 0
    while 2 * (below + math.comb(count, rank)) * 20 <= 1 << count:  # 5 % of the 2**count sign patterns
        below += math.comb(count, rank)
        rank += 1
    return rank


def difference_p(change: FloatArray) -> float:
    """Two-sided p-value of Student's t test that the mean of ``change`` [pairs] is zero; NaN with fewer than two pairs.

    Where all changes are equal, and not zero, that test says nothing. They may be so because nothing is left to chance,
    or because few values are possible in a small program: it is ``TIE ** (pairs - 1)`` then, and 1 if they are zero.
    """
    from scipy.special import stdtr

    count = len(change)
    if count < 2:
        return math.nan
    mean, spread = float(change.mean()), float(change.std(ddof=1))
    if spread == 0:
        return float(TIE ** (count - 1)) if mean else 1.0
    return 2 * float(stdtr(count - 1, -abs(mean) * math.sqrt(count) / spread))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct the p-values of a family of tests, so that the smallest is that of the family.

    A corrected value below alpha keeps the probability of any error among all of them below alpha, however they depend
    on each other (Holm, Scandinavian Journal of Statistics 6, 1979). NaN stays NaN, and does not count.
    """
    values = np.asarray(p_values, np.float64)
    corrected = np.full(len(values), math.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return [float(each) for each in corrected]


def _t_quantile(count: int) -> float:
    from scipy.special import stdtrit  # scipy.stats would cost a second to import

    return float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))


def _linear_bounds(part: FloatArray, whole: FloatArray) -> tuple[float, float]:
    value = float(part.sum() / whole.sum())
    residual = mean_interval((part - value * whole) / whole.mean())
    return value + residual.low, value + residual.high


def _bootstrap_bounds(part: FloatArray, whole: FloatArray, seed: int) -> tuple[float, float]:
    counts = resample_counts(len(part), seed)
    wholes = counts @ whole
    drawn = wholes != 0  # a resample without a single attempt has no ratio
    ratios = np.sort((counts @ part)[drawn] / wholes[drawn])
    tail = expanded_tail(len(part))
    return quantile_of_sorted(ratios, tail), quantile_of_sorted(ratios, 1 - tail)


def quantile_of_sorted(values: FloatArray, fraction: float) -> float:
    """`numpy.quantile` of sorted values, to the bit: sorting them takes a tenth of what that function does."""
    place = fraction * (len(values) - 1)
    below = int(place)
    beyond = place - below
    low, high = float(values[below]), float(values[min(below + 1, len(values) - 1)])
    return high - (high - low) * (1 - beyond) if beyond >= 0.5 else low + (high - low) * beyond


def expanded_tail(count: int) -> float:
    """Return the percentile, as a fraction, that a bootstrap of ``count`` observations takes for its lower bound."""
    from scipy.special import ndtr

    return float(ndtr(-math.sqrt(count / (count - 1)) * _t_quantile(count)))


@lru_cache(maxsize=16)
def resample_counts(count: int, seed: int) -> FloatArray:
    """Return [resamples, count]: how often each observation occurs in each resample."""
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    return drawn.astype(np.float64)
