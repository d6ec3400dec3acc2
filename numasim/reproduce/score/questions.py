"""What is asked of predictions: whole values, one step beyond what was published before, or what is special to a row.

Each question rests on other knowledge, and its null model has the same, so that a score tells what the simulation adds:

- ``absolute``: the simulated values as they are. The null model has one published column, or what was published before
  each change.
- ``one-step``: the published value before a change times the simulated ratio of after to before. The null model says
  that
  the change does nothing.
- ``interaction``: how a change acts on one row more than on another. A single row says how strong the change is: its
  published ratio over its simulated one is a factor for the simulated ratios of all other rows. Each row is that one in
  turn. The null model, which is told the same row, says that the others change like it.
- ``departure``: whether a row gains more or less from a change than the rows do on average (geometric mean); for signs.

The arrays of a question have a place for each value that it predicts, which `interaction` has for each ordered pair of
rows of a column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from numasim.reproduce.score.metrics import FloatArray, Observations, Prediction

ABSOLUTE = "absolute"


@dataclass(frozen=True)
class Posed:
    """What a metric compares: observations, a prediction, and the null model's values [cells], NaN where it has
    none.
    """

    seen: Observations
    said: Prediction
    null: FloatArray


@dataclass(frozen=True)
class Question:
    """How a question is made of published and simulated values, and what it means."""

    pose: Callable[[Posed], Posed]
    needs_baseline: bool  # whether each cell has to have a published and simulated value before the change
    meaning: str


def _absolute(posed: Posed) -> Posed:
    return posed


def _one_step(posed: Posed) -> Posed:
    before = posed.seen.baseline
    values = before * posed.said.values / posed.said.baseline
    return Posed(posed.seen, replace(posed.said, values=values), before)


def _interaction(posed: Posed) -> Posed:
    seen, ratio, simulated = _ratios(posed)
    target, told = _pairs(seen)
    values = ratio[told] * simulated[..., target] / simulated[..., told]
    observed = replace(seen.at(target), published=ratio[target], baseline=np.ones(len(target)))
    return Posed(observed, Prediction(values, np.ones_like(values)), ratio[told])


def _departure(posed: Posed) -> Posed:
    seen, ratio, simulated = _ratios(posed)
    published, values = (_departures(np.log(each), seen.column) for each in (ratio, simulated))
    return Posed(
        replace(seen, published=published, baseline=np.zeros_like(published)),
        Prediction(values, np.zeros_like(values)),
        np.full_like(published, np.nan),
    )


def _ratios(posed: Posed) -> tuple[Observations, FloatArray, FloatArray]:
    """The observations, and after over before: published [cells] and simulated [..., cells]."""
    return posed.seen, posed.seen.published / posed.seen.baseline, posed.said.values / posed.said.baseline


def _pairs(seen: Observations) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All ordered pairs of cells of one column and different rows."""
    alike = (seen.column[:, None] == seen.column) & (seen.row[:, None] != seen.row)
    first, second = np.nonzero(alike)
    return first.astype(np.int64), second.astype(np.int64)


def _departures(logarithms: FloatArray, column: npt.NDArray[np.int64]) -> FloatArray:
    """Less the mean of their column."""
    found = np.array(logarithms)
    for each in np.unique(column):
        cells = column == each
        found[..., cells] -= found[..., cells].mean(axis=-1, keepdims=True)
    return found


QUESTIONS = {
    ABSOLUTE: Question(_absolute, needs_baseline=False, meaning="the simulated values as they are"),
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
