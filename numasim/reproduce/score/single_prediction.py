"""One prediction for several published values: the best there is, and its error.

The sum of weighted distances to several values is least at their weighted median (Laplace 1774), on the scale on which
the metric is a distance: values, weighted by 1 / |value|, for relative errors; values for absolute ones; ln(value + 1)
for factors between counts (model 7.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MEANS = ("mape", "mean-absolute-error")  # metrics that are a mean of distances between values


@dataclass(frozen=True)
class _Scale:
    """The scale on which a metric is a weighted distance; a value of weight 0 does not count."""

    place: Callable[[float], float]
    weight: Callable[[float], float]


_SCALES = {
    "mape": _Scale(lambda value: value, lambda value: 1 / abs(value) if value else 0.0),
    "mean-absolute-error": _Scale(lambda value: value, lambda value: 1.0),
    "median-factor": _Scale(lambda value: math.copysign(math.log1p(abs(value)), value), lambda value: 1.0),
}


def least_error(metric: str, published: Sequence[float]) -> float:
    """The mean error of the best single prediction of all ``published``, 0 where none of them counts.

    Of counts (``median-factor``) it is the mean of |ln(predicted + 1) - ln(published + 1)|. Raises KeyError for a
    metric that is not computed cell by cell.
    """
    counted = _counted(metric, published)
    if not counted:
        return 0.0
    best = weighted_median(counted)
    return math.fsum(weight * abs(place - best) for place, weight in counted) / len(counted)


def best_constant(metric: str, published: Sequence[float]) -> float:
    """The one number for all ``published`` that scores best by a metric of `MEANS`; NaN where none of them counts."""
    counted = _counted(metric, published)
    return weighted_median(counted) if counted else math.nan


def _counted(metric: str, published: Sequence[float]) -> list[tuple[float, float]]:
    """The values that count, each with its weight, on the scale of the metric."""
    scale = _SCALES[metric]
    weighted = ((scale.place(value), scale.weight(value)) for value in published)
    return [(place, weight) for place, weight in weighted if weight]


def weighted_median(weighted: Sequence[tuple[float, float]]) -> float:
    """The least of the values, given as (value, weight), at or below which half of all weight lies."""
    half = math.fsum(weight for _, weight in weighted) / 2
    ordered = sorted(weighted)
    gathered = 0.0
    for value, weight in ordered:
        gathered += weight
        if gathered >= half:
            return value
    return ordered[-1][0]
