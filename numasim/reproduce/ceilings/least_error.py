"""The least error of one prediction for several published values.

The sum of weighted distances to several values is least at their weighted median (Laplace 1774), on the scale on which
the metric is a distance: values, weighted by 1 / |value|, for relative errors; values for absolute ones; ln(value + 1)
for factors between counts (model 7.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


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
    scale = _SCALES[metric]
    weights = [scale.weight(value) for value in published]
    counted = [(scale.place(value), weight) for value, weight in zip(published, weights, strict=True) if weight]
    if not counted:
        return 0.0
    best = weighted_median(counted)
    return math.fsum(weight * abs(place - best) for place, weight in counted) / len(counted)


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
