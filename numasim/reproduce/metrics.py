"""Metrics, which sum up the errors of many predicted cells as one number, and questions about predictions (model 7.2).

A metric gets the published values and the predictions of some cells of tables, as arrays. A prediction is the mean over
seeds, a matrix with one resample of the seeds per line, or the prediction of a simple rule. A metric has the same name
in studies, in CSV columns and on pages.

A question defines the prediction, and a simple rule with the same knowledge. For the question ``absolute`` the
prediction is the simulated value; the simple rule has one published column, or the published value before each change.
A study may enter metrics and questions of its own in `METRICS` and `QUESTIONS`, as `experiments/thesis/measures.py`
does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from numasim.reproduce.table_cells import Pair

FloatArray = npt.NDArray[np.float64]

ROUNDING = 1e-12


@dataclass(frozen=True)
class Posed:
    """Published values and predictions of some cells, as a question poses them; NaN stands for a missing value."""

    published: FloatArray  # [cells]
    before: FloatArray  # [cells] the published values before the change
    said: FloatArray  # [..., cells] the predicted values; resamples are lines
    said_before: FloatArray  # [..., cells] the predicted values before the change
    null: FloatArray  # [cells] the prediction of the simple rule that belongs to the question or to the column
    quantity: npt.NDArray[np.str_]  # [cells]
    row: npt.NDArray[np.int64]  # [cells] cells of one row have one number
    column: npt.NDArray[np.int64]  # [cells] cells of one column of one table have one number
    cell: npt.NDArray[np.int64]  # [cells] the number of the cell in the scored class

    def at(self, cells: npt.NDArray[np.int64]) -> Posed:
        """Return the input for ``cells``. A cell may occur several times in ``cells``."""
        return Posed(*(getattr(self, each.name)[..., cells] for each in fields(self)))


@dataclass(frozen=True)
class Metric:
    """A metric, and how it is printed."""

    measure: Callable[[Posed], FloatArray]  # returns the value of each prediction [...]; NaN for too few cells
    label: str  # the name for people
    meaning: str
    rising: bool = False  # whether more is better
    percent: bool = False  # whether the value is printed in percent
    counted: bool = False  # whether the value, a share of the cells, is printed as a number of cells
    each_cell: bool = False  # whether the metric is defined for any subset of cells
    best: float = 0.0
    needs_baseline: bool = False  # whether the metric judges changes
    chance: Callable[[Posed], float] | None = None  # the mean score of a random guess
    # chooses the counted cells by the quantities of the scored class; by default, all cells of the class
    choose: Callable[[Sequence[Pair], Collection[str]], list[Pair]] | None = None

    def meets(self, value: float, bound: float) -> bool:
        """Return whether ``value`` meets ``bound``, up to the rounding of sums."""
        return value >= bound - ROUNDING if self.rising else value <= bound + ROUNDING

    def beats(self, value: float, other: float) -> bool:
        """Return whether ``value`` is better than ``other``."""
        return value > other if self.rising else value < other


def _mape(posed: Posed) -> FloatArray:
    known = posed.published != 0
    published = posed.published[known]
    return mean_of(np.abs(posed.said[..., known] - published) / np.abs(published))


def _absolute_errors(posed: Posed) -> FloatArray:
    return np.asarray(np.abs(posed.said - posed.published))


def _sign_agreement(posed: Posed) -> FloatArray:
    published = np.sign(posed.published - posed.before)
    return mean_of((np.sign(posed.said - posed.said_before) == published).astype(np.float64))


def _coin(posed: Posed) -> float:
    """Return the mean score of a random guess between two equally likely directions. The guess is never "no change"."""
    return float((posed.published != posed.before).mean()) / 2 if posed.published.size else math.nan


def mean_of(errors: FloatArray) -> FloatArray:
    """Return the mean over the cells, the last axis; NaN without cells."""
    return np.asarray(errors.mean(axis=-1)) if errors.shape[-1] else np.full(errors.shape[:-1], np.nan)


METRICS = {
    "mape": Metric(
        _mape,
        "mean relative error",
        "mean of |simulated - published| / published; a published zero does not count",
        percent=True,
        each_cell=True,
    ),
    "median-factor": Metric(
        lambda posed: np.exp(np.median(np.abs(np.log1p(posed.said) - np.log1p(posed.published)), axis=-1)),
        "median factor",
        "median of the factor between the two counts, one added to each so that zeros count too",
        each_cell=True,
        best=1.0,
    ),
    "mean-absolute-error": Metric(
        lambda posed: mean_of(_absolute_errors(posed)),
        "mean absolute error",
        "mean of |simulated - published|, in the unit of the cells",
        each_cell=True,
    ),
    "claims-held": Metric(
        lambda posed: 1 - mean_of(_absolute_errors(posed)),
        "claims that hold",
        "share of the source's claims that hold, each counted by the share of the seeds with which it does",
        rising=True,
        percent=True,
        counted=True,
        each_cell=True,
        best=1.0,
    ),
    "largest-absolute-error": Metric(
        lambda posed: np.asarray(_absolute_errors(posed).max(axis=-1)),
        "largest absolute error",
        "the largest |simulated - published|, in the unit of the cells",
        each_cell=True,
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
}


ABSOLUTE = "absolute"


@dataclass(frozen=True)
class Question:
    """A question: the function from published and simulated values to the input of a metric, and the meaning."""

    pose: Callable[[Posed], Posed]
    needs_baseline: bool  # whether each cell needs a published and a simulated value before the change
    meaning: str


QUESTIONS = {
    ABSOLUTE: Question(lambda posed: posed, needs_baseline=False, meaning="the simulated values as they are"),
}
