"""Metrics of the error of predictions: one number for many cells, by name (model 7.2).

A metric takes the cells as arrays and a prediction of them, which is the mean over seeds, one resample of the seeds
per line, or the null model. Its name is the same in study files, in CSV columns and on the pages.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numasim.report.answers.statistics import BOOTSTRAP_SEED

FloatArray = npt.NDArray[np.float64]

MOST_ORDERS = 40_320  # of eight
EQUAL = 1e-9  # between rank correlations
ROUNDING = 1e-12


@dataclass(frozen=True)
class Observations:
    """The published values of some cells, and what a metric needs to know of them; all arrays are [cells]."""

    published: FloatArray
    baseline: FloatArray  # published value of the cell whose change is judged; NaN where there is none
    part: npt.NDArray[np.bool_]  # whether the cell belongs to the part of a pooled share
    row: npt.NDArray[np.int64]  # cells of one row have one number
    column: npt.NDArray[np.int64]  # cells of one column of one table have one number

    def at(self, cells: npt.NDArray[np.int64]) -> Observations:
        """The observations of these cells, of which one may occur twice."""
        return Observations(
            self.published[cells], self.baseline[cells], self.part[cells], self.row[cells], self.column[cells]
        )


@dataclass(frozen=True)
class Prediction:
    """A prediction of the same cells; both arrays are [..., cells], a line for each resample."""

    values: FloatArray
    baseline: FloatArray


@dataclass(frozen=True)
class Metric:
    """A metric, and how it is printed."""

    measure: Callable[[Observations, Prediction], FloatArray]  # -> [...]; NaN where the cells do not determine it
    label: str  # for people
    rising: bool  # whether more is better
    percent: bool  # whether it is printed in percent
    each_cell: bool  # whether it is computed cell by cell, so that any subset of cells has it
    meaning: str
    best: float = 0.0
    needs_baseline: bool = False  # whether it judges changes
    chance: Callable[[Observations], float] | None = None  # what a guess at random scores on average

    def meets(self, value: float, bound: float) -> bool:
        """Whether ``value`` meets ``bound``, up to the rounding of sums."""
        return value >= bound - ROUNDING if self.rising else value <= bound + ROUNDING

    def beats(self, value: float, other: float) -> bool:
        """Whether ``value`` is better than ``other``."""
        return value > other if self.rising else value < other


def _mape(seen: Observations, said: Prediction) -> FloatArray:
    known = seen.published != 0
    published = seen.published[known]
    return _mean(np.abs(said.values[..., known] - published) / np.abs(published))


def _median_factor(seen: Observations, said: Prediction) -> FloatArray:
    logarithms = np.abs(np.log1p(said.values) - np.log1p(seen.published))
    return np.asarray(np.exp(np.median(logarithms, axis=-1))) if seen.published.size else _nothing(said)


def _mean_absolute_error(seen: Observations, said: Prediction) -> FloatArray:
    return _mean(np.abs(said.values - seen.published))


def _claims_held(seen: Observations, said: Prediction) -> FloatArray:
    return 1 - _mean(np.abs(said.values - seen.published))


def _mean_log_error(seen: Observations, said: Prediction) -> FloatArray:
    return _mean(np.abs(np.log(said.values / seen.published)))


def _largest_relative_error(seen: Observations, said: Prediction) -> FloatArray:
    return _largest(np.abs(said.values / seen.published - 1))


def _largest_absolute_error(seen: Observations, said: Prediction) -> FloatArray:
    return _largest(np.abs(said.values - seen.published))


def _pooled_share(seen: Observations, said: Prediction) -> FloatArray:
    return np.asarray(np.abs(_share(said.values, seen.part) - _share(seen.published, seen.part)))


def _share(values: FloatArray, part: npt.NDArray[np.bool_]) -> FloatArray:
    whole = np.asarray(values.sum(axis=-1))
    return np.asarray(values[..., part].sum(axis=-1) / np.where(whole == 0, np.nan, whole))


def _sign_agreement(seen: Observations, said: Prediction) -> FloatArray:
    published = np.sign(seen.published - seen.baseline)
    return _mean((np.sign(said.values - said.baseline) == published).astype(np.float64))


def _rank_correlation(seen: Observations, said: Prediction) -> FloatArray:
    found = _rank_correlations(seen, said)
    return np.asarray(np.mean(found, axis=0)) if found else _nothing(said)


def _least_rank_correlation(seen: Observations, said: Prediction) -> FloatArray:
    found = _rank_correlations(seen, said)
    return np.asarray(np.min(found, axis=0)) if found else _nothing(said)


def _rank_correlations(seen: Observations, said: Prediction) -> list[FloatArray]:
    return [spearman(said.values[..., cells], seen.published[cells]) for cells in _ranked_rows(seen)]


def _ranked_rows(seen: Observations) -> list[npt.NDArray[np.bool_]]:
    rows = [seen.row == row for row in np.unique(seen.row)]
    return [cells for cells in rows if cells.sum() > 1]


def spearman(left: FloatArray, right: FloatArray) -> FloatArray:
    """Rank correlation along the last axis, ties sharing their mean rank; 0 where all values of one side are equal."""
    first, second = _centred_ranks(left), _centred_ranks(right)
    scale = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    return np.asarray((first * second).sum(axis=-1) / np.where(scale == 0, 1, scale))


def _centred_ranks(values: FloatArray) -> FloatArray:
    mine, other = values[..., :, None], values[..., None, :]
    return np.asarray(0.5 * (np.sign(mine - other)).sum(axis=-1))


def _coin(seen: Observations) -> float:
    """Two directions, equally likely; a value that does not change is never guessed."""
    return float((seen.published != seen.baseline).mean()) / 2 if seen.published.size else math.nan


def _random_order(seen: Observations) -> float:
    return 0.0 if _ranked_rows(seen) else math.nan


def _least_of_random_orders(seen: Observations) -> float:
    """The expectation of the least of independent random orders, one for each row, from all orders that there are."""
    scores = [_all_orders(seen.published[cells]) for cells in _ranked_rows(seen)]
    if not scores:
        return math.nan
    values = np.unique(np.concatenate(scores))
    at_least = np.prod([[(row >= value - EQUAL).mean() for value in values] for row in scores], axis=0)
    return float(values[0] + (np.diff(values) * at_least[1:]).sum())


def _all_orders(published: FloatArray) -> FloatArray:
    """The rank correlation of every order with that of ``published``, or of so many random ones where there are
    more.
    """
    count = len(published)
    if math.factorial(count) <= MOST_ORDERS:
        orders = np.array(list(itertools.permutations(range(count))), np.float64)
    else:
        orders = np.random.default_rng(BOOTSTRAP_SEED).permuted(np.tile(np.arange(count), (MOST_ORDERS, 1)), axis=1)
    return np.round(spearman(orders.astype(np.float64), published), 12)


def _mean(errors: FloatArray) -> FloatArray:
    return np.asarray(errors.mean(axis=-1)) if errors.shape[-1] else np.full(errors.shape[:-1], np.nan)


def _largest(errors: FloatArray) -> FloatArray:
    return np.asarray(errors.max(axis=-1)) if errors.shape[-1] else np.full(errors.shape[:-1], np.nan)


def _nothing(said: Prediction) -> FloatArray:
    return np.full(said.values.shape[:-1], np.nan)


METRICS = {
    "mape": Metric(
        _mape,
        label="mean relative error",
        rising=False,
        percent=True,
        each_cell=True,
        meaning="mean of |simulated - published| / published; a published zero does not count",
    ),
    "median-factor": Metric(
        _median_factor,
        label="median factor",
        rising=False,
        percent=False,
        each_cell=True,
        meaning="median of the factor between the two counts, one added to each so that zeros count too",
        best=1.0,
    ),
    "mean-absolute-error": Metric(
        _mean_absolute_error,
        label="mean absolute error",
        rising=False,
        percent=False,
        each_cell=True,
        meaning="mean of |simulated - published|, in the unit of the cells",
    ),
    "claims-held": Metric(
        _claims_held,
        label="claims that hold",
        rising=True,
        percent=True,
        each_cell=True,
        meaning="share of the source's claims that hold, each counted by the share of the seeds with which it does",
        best=1.0,
    ),
    "mean-log-error": Metric(
        _mean_log_error,
        label="mean logarithmic error",
        rising=False,
        percent=False,
        each_cell=True,
        meaning="mean of |ln (simulated / published)|, of ratios",
    ),
    "largest-relative-error": Metric(
        _largest_relative_error,
        label="largest relative error",
        rising=False,
        percent=True,
        each_cell=True,
        meaning="the largest |simulated - published| / published",
    ),
    "largest-absolute-error": Metric(
        _largest_absolute_error,
        label="largest absolute error",
        rising=False,
        percent=False,
        each_cell=True,
        meaning="the largest |simulated - published|, in the unit of the cells",
    ),
    "pooled-share": Metric(
        _pooled_share,
        label="difference of shares",
        rising=False,
        percent=False,
        each_cell=False,
        meaning="difference of the shares of one kind of count in all counts, each added up over all cells",
    ),
    "sign-agreement": Metric(
        _sign_agreement,
        label="right direction",
        rising=True,
        percent=True,
        each_cell=False,
        meaning="share of cells that change in the published direction against the strategy before",
        best=1.0,
        needs_baseline=True,
        chance=_coin,
    ),
    "rank-correlation": Metric(
        _rank_correlation,
        label="rank correlation",
        rising=True,
        percent=False,
        each_cell=False,
        meaning="Spearman's correlation of the strategies' order, mean over the benchmarks",
        best=1.0,
        chance=_random_order,
    ),
    "least-rank-correlation": Metric(
        _least_rank_correlation,
        label="least rank correlation",
        rising=True,
        percent=False,
        each_cell=False,
        meaning="Spearman's correlation of the strategies' order, of the benchmark where it is least",
        best=1.0,
        chance=_least_of_random_orders,
    ),
}
