"""How much a column differs between the two sides of a contrast: estimates, intervals, and how sure a sign is.

Amounts (times, bytes, counts, the speedup) differ by a percentage of the baseline's sum; ratios such as
``steal_miss_ratio`` by their own difference, and so do amounts whose baseline is zero or negative. Every question is a
family of comparisons: `sure` holds Holm's correction over all of its cells, beside the interval of each alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numasim.engine.columns import DESCRIBED
from numasim.report.answers.contrasts import Contrast
from numasim.report.answers.statistics import Estimate, difference_p, holm, mean_interval, ratio_interval

FAMILY_ERROR = 0.05  # the probability that any difference of a question is called sure by chance
SHARES = frozenset(name for name, column in DESCRIBED.items() if column.kind == "ratio" and name != "speedup")

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """The other side of a contrast against the first: means, difference, percentage of the first one's sum.

    ``p`` is that of the paired t test, ``holm_p`` the same after Holm's correction over the question.
    """

    pairs: int
    first_mean: float
    mean: float
    difference: Estimate
    percent: Estimate
    p: float
    holm_p: float = math.nan

    @property
    def relative(self) -> bool:
        """Whether the effect is said as a percentage."""
        return not math.isnan(self.percent.value)

    @property
    def shown(self) -> Estimate:
        """The percentage where there is one, else the difference."""
        return self.percent if self.relative else self.difference

    @property
    def sure(self) -> bool:
        """Whether the interval excludes zero, after Holm's correction too."""
        return excludes_zero(self.shown) and self.holm_p < FAMILY_ERROR


def effects(values: FloatArray, column: str, found: Sequence[Contrast]) -> list[Effect]:
    """The effect in each contrast of a question; ``values`` [rows of the table] are those of ``column``."""
    alone = [_effect(values[contrast.first], values[contrast.other], column in SHARES) for contrast in found]
    corrected = holm([effect.p for effect in alone])
    return [
        Effect(each.pairs, each.first_mean, each.mean, each.difference, each.percent, each.p, holm_p)
        for each, holm_p in zip(alone, corrected, strict=True)
    ]


def excludes_zero(estimate: Estimate) -> bool:
    """Whether the whole interval is on one side of zero; false without an interval."""
    return estimate.low > 0 or estimate.high < 0


def _effect(first: FloatArray, other: FloatArray, is_share: bool) -> Effect:
    both = ~(np.isnan(first) | np.isnan(other))
    first, other = first[both], other[both]
    change = other - first
    relative = not is_share and len(first) > 0 and bool((first >= 0).all()) and bool(first.any())
    percent = scaled(ratio_interval(change, first), 100) if relative else NO_ESTIMATE
    return Effect(
        pairs=len(first),
        first_mean=_mean(first),
        mean=_mean(other),
        difference=mean_interval(change),
        percent=percent,
        p=difference_p(change),
    )


NO_ESTIMATE = Estimate(math.nan, math.nan, math.nan, 0)


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """An estimate in another unit."""
    return Estimate(factor * estimate.value, factor * estimate.low, factor * estimate.high, estimate.count)


def _mean(sample: FloatArray) -> float:
    return float(sample.mean()) if len(sample) else math.nan
