"""Simple rules: the predictions of a colleague who simulates nothing and knows as much as the simulation (model 7.2).

A study names several simple rules for a score (`ScoreRule.simple`); the page shows the best rule beside the score, and
the score is called skill only if the score is better than this rule. A rule is

- a number, which is the prediction of every cell, or the predictions [cells];
- a mapping from the row of a cell to the prediction;
- a published column (`Elsewhere`), whose value in the row of the cell is the prediction;
- a function of the posed cells and the cells of tables, which returns the predictions [cells].

A cell whose prediction is NaN has no prediction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from numasim.reproduce.metrics import METRICS, FloatArray, Posed
from numasim.reproduce.study_tables import Elsewhere
from numasim.reproduce.table_cells import Cell, SimpleScore

Function = Callable[[Posed, Sequence[Cell]], FloatArray | Sequence[float]]
SimpleRule = float | FloatArray | Mapping[str, float] | Elsewhere | Function


def simple_scores(
    metric: str, rules: Mapping[str, SimpleRule], posed: Posed, cells: Sequence[Cell]
) -> list[SimpleScore]:
    """Return the score of each rule; ``cells`` has the cells to which the indices ``posed.cell`` refer.

    Rules without a prediction are left out. Each score has the simulation's score on the cells that the rule predicts.
    """
    mine = [cells[index] for index in posed.cell]
    found = []
    for name, rule in rules.items():
        predicted = _predictions(rule, posed, mine)
        known = np.flatnonzero(~np.isnan(predicted))
        if len(known):
            compared = posed.at(known)
            printed = [_printed(mine[index], predicted[index], posed.published[index]) for index in known]
            rival = replace(compared, published=np.array(printed), said=predicted[known], said_before=compared.before)
            value, against = (float(METRICS[metric].measure(each)) for each in (rival, compared))
            found.append(SimpleScore(name, value, against, len(known)))
    return found


def _predictions(rule: SimpleRule, posed: Posed, cells: Sequence[Cell]) -> FloatArray:
    if callable(rule):
        return np.asarray(rule(posed, cells), np.float64)
    if isinstance(rule, Mapping):
        return np.array([rule.get(cell.row, math.nan) for cell in cells], np.float64)
    assert not isinstance(rule, Elsewhere)  # the study has put the published values in place of the column
    return np.broadcast_to(np.asarray(rule, np.float64), len(cells))


def _printed(cell: Cell, predicted: float, published: float) -> float:
    """Return the published value; of a printed range, the value nearest to the predicted value."""
    return min(max(predicted, cell.within.low), cell.within.high) if cell.within else published


def best_rule(metric: str, scores: Sequence[SimpleScore]) -> SimpleScore | None:
    """Return the best of the rules that predict the most cells; None without a rule that has a score."""
    known = [each for each in scores if not math.isnan(each.value)]
    most = max((each.cells for each in known), default=0)
    among = [each for each in known if each.cells == most]
    return (max if METRICS[metric].rising else min)(among, key=lambda each: each.value, default=None)


def mean_of_the_others(posed: Posed, cells: Sequence[Cell]) -> FloatArray:
    """Return for each cell the mean of the other published values; NaN for a single cell."""
    count = posed.published.size
    return (posed.published.sum() - posed.published) / (count - 1) if count > 1 else np.full(count, np.nan)


def rises(posed: Posed, cells: Sequence[Cell]) -> FloatArray:
    """Return for each cell a value above the published value before the change."""
    return posed.before + 1
