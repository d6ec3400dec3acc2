"""Metrics, which sum up the errors of many predicted cells as one number, and questions about predictions (model 7.2).

The input of a metric is the cells, as arrays, and a prediction of the cells. The prediction is the mean over seeds, a
matrix with one resample of the seeds per line, or the null model. A metric has the same name in studies, in CSV columns
and on pages.

The null model of each question has the same knowledge as the prediction. So a score shows the contribution of the
simulation:

- ``absolute``: the prediction is the simulated value. The null model has one published column, or the published value
  before each change.
- ``one-step``: the prediction is the published value before a change times the simulated ratio of after to before. The
  null model predicts no change.
- ``interaction``: how a change acts on one row more than on another. A single row reveals the strength of the change:
  the row's published ratio over its simulated ratio is a factor for the simulated ratios of all other rows. Each row in
  turn is the revealing row. The null model knows the same row, and predicts that the other rows change like this row.
- ``departure``: whether a row gains more or less from a change than the rows do on average (geometric mean). Only the
  sign counts.

The arrays of a question have an element for each predicted value. The question ``interaction`` has an element for each
ordered pair of rows of a column.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from numasim.report.answers.statistics import BOOTSTRAP_SEED

FloatArray = npt.NDArray[np.float64]

MOST_ORDERS = 40_320  # the orders of eight values, 8!
EQUAL = 1e-9  # rank correlations that differ by less are equal
ROUNDING = 1e-12


@dataclass(frozen=True)
class Observations:
    """Published values of some cells, with all data that a metric needs. All arrays are [cells]."""

    published: FloatArray
    baseline: FloatArray  # the published value before the change; NaN without one
    part: npt.NDArray[np.bool_]  # whether the cell belongs to the part of a pooled share
    row: npt.NDArray[np.int64]  # cells of one row have one number
    column: npt.NDArray[np.int64]  # cells of one column of one table have one number

    def at(self, cells: npt.NDArray[np.int64]) -> Observations:
        """Return the observations of ``cells``. A cell may occur several times in ``cells``."""
        return Observations(
            self.published[cells], self.baseline[cells], self.part[cells], self.row[cells], self.column[cells]
        )


@dataclass(frozen=True)
class Prediction:
    """A prediction of cells. Both arrays are [..., cells]; resamples are lines."""

    values: FloatArray
    baseline: FloatArray


@dataclass(frozen=True)
class Metric:
    """A metric, and how it is printed."""

    measure: Callable[[Observations, Prediction], FloatArray]  # returns [...]; NaN for too few cells
    label: str  # the name for people
    meaning: str
    rising: bool = False  # whether more is better
    percent: bool = False  # whether the value is printed in percent
    each_cell: bool = False  # whether the metric is defined for any subset of cells
    best: float = 0.0
    needs_baseline: bool = False  # whether the metric judges changes
    chance: Callable[[Observations], float] | None = None  # the mean score of a random guess

    def meets(self, value: float, bound: float) -> bool:
        """Return whether ``value`` meets ``bound``, up to the rounding of sums."""
        return value >= bound - ROUNDING if self.rising else value <= bound + ROUNDING

    def beats(self, value: float, other: float) -> bool:
        """Return whether ``value`` is better than ``other``."""
        return value > other if self.rising else value < other


def _mape(seen: Observations, said: Prediction) -> FloatArray:
    known = seen.published != 0
    published = seen.published[known]
    return _mean(np.abs(said.values[..., known] - published) / np.abs(published))


def _median_factor(seen: Observations, said: Prediction) -> FloatArray:
    logarithms = np.abs(np.log1p(said.values) - np.log1p(seen.published))
    return np.asarray(np.exp(np.median(logarithms, axis=-1))) if seen.published.size else _nothing(said)


def _absolute_errors(seen: Observations, said: Prediction) -> FloatArray:
    return np.asarray(np.abs(said.values - seen.published))


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
    """Return the rank correlation along the last axis; 0 if all values of one side are equal. Ties get a mean rank."""
    first, second = _centred_ranks(left), _centred_ranks(right)
    scale = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    return np.asarray((first * second).sum(axis=-1) / np.where(scale == 0, 1, scale))


def _centred_ranks(values: FloatArray) -> FloatArray:
    mine, other = values[..., :, None], values[..., None, :]
    return np.asarray(0.5 * (np.sign(mine - other)).sum(axis=-1))


def _coin(seen: Observations) -> float:
    """Return the mean score of a random guess between two equally likely directions. The guess is never "no change"."""
    return float((seen.published != seen.baseline).mean()) / 2 if seen.published.size else math.nan


def _random_order(seen: Observations) -> float:
    return 0.0 if _ranked_rows(seen) else math.nan


def _least_of_random_orders(seen: Observations) -> float:
    """Return the expected least correlation if each row has an independent random order."""
    scores = [_all_orders(seen.published[cells]) for cells in _ranked_rows(seen)]
    if not scores:
        return math.nan
    values = np.unique(np.concatenate(scores))
    at_least = np.prod([[(row >= value - EQUAL).mean() for value in values] for row in scores], axis=0)
    return float(values[0] + (np.diff(values) * at_least[1:]).sum())


def _all_orders(published: FloatArray) -> FloatArray:
    """Return the rank correlations of ``published`` with all orders; for many values, with random orders."""
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
        "mean relative error",
        "mean of |simulated - published| / published; a published zero does not count",
        percent=True,
        each_cell=True,
    ),
    "median-factor": Metric(
        _median_factor,
        "median factor",
        "median of the factor between the two counts, one added to each so that zeros count too",
        each_cell=True,
        best=1.0,
    ),
    "mean-absolute-error": Metric(
        lambda seen, said: _mean(_absolute_errors(seen, said)),
        "mean absolute error",
        "mean of |simulated - published|, in the unit of the cells",
        each_cell=True,
    ),
    "claims-held": Metric(
        lambda seen, said: 1 - _mean(_absolute_errors(seen, said)),
        "claims that hold",
        "share of the source's claims that hold, each counted by the share of the seeds with which it does",
        rising=True,
        percent=True,
        each_cell=True,
        best=1.0,
    ),
    "mean-log-error": Metric(
        lambda seen, said: _mean(np.abs(np.log(said.values / seen.published))),
        "mean logarithmic error",
        "mean of |ln (simulated / published)|, of ratios",
        each_cell=True,
    ),
    "largest-relative-error": Metric(
        lambda seen, said: _largest(np.abs(said.values / seen.published - 1)),
        "largest relative error",
        "the largest |simulated - published| / published",
        percent=True,
        each_cell=True,
    ),
    "largest-absolute-error": Metric(
        lambda seen, said: _largest(_absolute_errors(seen, said)),
        "largest absolute error",
        "the largest |simulated - published|, in the unit of the cells",
        each_cell=True,
    ),
    "pooled-share": Metric(
        _pooled_share,
        "difference of shares",
        "difference of the shares of one kind of count in all counts, each added up over all cells",
    ),
    "sign-agreement": Metric(
        _sign_agreement,
        "right direction",
        "share of cells that change in the published direction against the strategy before",
        rising=True,
        percent=True,
        best=1.0,
        needs_baseline=True,
        chance=_coin,
    ),
    "rank-correlation": Metric(
        _rank_correlation,
        "rank correlation",
        "Spearman's correlation of the strategies' order, mean over the benchmarks",
        rising=True,
        best=1.0,
        chance=_random_order,
    ),
    "least-rank-correlation": Metric(
        _least_rank_correlation,
        "least rank correlation",
        "Spearman's correlation of the strategies' order, of the benchmark where it is least",
        rising=True,
        best=1.0,
        chance=_least_of_random_orders,
    ),
}


ABSOLUTE = "absolute"


@dataclass(frozen=True)
class Posed:
    """The input of a metric: observations, a prediction, and the null model's values [cells], NaN without a value."""

    seen: Observations
    said: Prediction
    null: FloatArray


@dataclass(frozen=True)
class Question:
    """A question: the function that makes a metric's input from published and simulated values, and its meaning in
    words.
    """

    pose: Callable[[Posed], Posed]
    needs_baseline: bool  # whether each cell needs a published and a simulated value before the change
    meaning: str


def _one_step(posed: Posed) -> Posed:
    before = posed.seen.baseline
    values = before * posed.said.values / posed.said.baseline
    return Posed(posed.seen, replace(posed.said, values=values), before)


def _interaction(posed: Posed) -> Posed:
    seen = posed.seen
    ratio, simulated = _ratios(posed)
    target, told = _pairs(seen)
    values = ratio[told] * simulated[..., target] / simulated[..., told]
    observed = replace(seen.at(target), published=ratio[target], baseline=np.ones(len(target)))
    return Posed(observed, Prediction(values, np.ones_like(values)), ratio[told])


def _departure(posed: Posed) -> Posed:
    seen = posed.seen
    ratio, simulated = _ratios(posed)
    published, values = (_departures(np.log(each), seen.column) for each in (ratio, simulated))
    return Posed(
        replace(seen, published=published, baseline=np.zeros_like(published)),
        Prediction(values, np.zeros_like(values)),
        np.full_like(published, np.nan),
    )


def _ratios(posed: Posed) -> tuple[FloatArray, FloatArray]:
    """Return after over before: published [cells] and simulated [..., cells]."""
    return posed.seen.published / posed.seen.baseline, posed.said.values / posed.said.baseline


def _pairs(seen: Observations) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return all ordered pairs of cells of one column and different rows."""
    alike = (seen.column[:, None] == seen.column) & (seen.row[:, None] != seen.row)
    first, second = np.nonzero(alike)
    return first.astype(np.int64), second.astype(np.int64)


def _departures(logarithms: FloatArray, column: npt.NDArray[np.int64]) -> FloatArray:
    """Return each logarithm minus the mean of its column."""
    found = np.array(logarithms)
    for each in np.unique(column):
        cells = column == each
        found[..., cells] -= found[..., cells].mean(axis=-1, keepdims=True)
    return found


QUESTIONS = {
    ABSOLUTE: Question(lambda posed: posed, needs_baseline=False, meaning="the simulated values as they are"),
    "one-step": Question(
        _one_step,
        needs_baseline=True,
        meaning="the published value before a change, times what the simulation says the change does",
    ),
    "interaction": Question(
        _interaction,
        needs_baseline=True,
        meaning="which rows a change helps more than others, when one row says how strong it is; each row in turn",
    ),
    "departure": Question(
        _departure,
        needs_baseline=True,
        meaning="whether a row gains more or less from a change than the rows do on average",
    ),
}
