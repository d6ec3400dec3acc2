"""Scores: of each class of quantities and each column of each table, beside the null model, with intervals over seeds.

Only predicted cells that were simulated are scored. The null model's value is part of each cell: the
published value of the previous strategy, as if the change had no effect. Where only some cells of a class have one,
`Score.against_null` is our score on those cells, so that both scores are over the same cells.

An interval is a percentile bootstrap: seeds are drawn with replacement, the same ones for all cells that were run
equally often, and the score is computed from the means over the drawn seeds. Percentiles are widened for few seeds as
those of `numasim.report.answers.statistics` are, which for fewer than six means the range of all resamples, and even
that is too narrow; one seed has no interval. The value itself always lies inside: a resampled mean is noisier than the
mean, so the errors of resamples can all be larger.

The null model of the sign agreement is right only where the published value did not change either, which is rare. A
harder comparison, to guess the more frequent direction everywhere, is in `Score.remark`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from numasim.report.answers.statistics import BOOTSTRAP_SEED, expanded_tail, resample_counts
from numasim.reproduce.score.metrics import METRICS, FloatArray, Metric, Observations, Prediction
from numasim.reproduce.study.selection import Pair, ScoreRule, by_column, pairs_of, select
from numasim.reproduce.table_cells import Cell, Role, Score, Table

ALL_TABLES = "all"


@dataclass(frozen=True)
class TableScore:
    """The score of one quantity under one variant in one table."""

    table: str
    column: str
    quantity: str
    variant: str
    role: Role
    score: Score


def class_scores(tables: Sequence[Table], rules: Iterable[ScoreRule]) -> tuple[Score, ...]:
    """Score each rule over all tables; a class without a single cell is left out."""
    found = []
    for rule in rules:
        pairs = select(pairs_of(tables), rule)
        if pairs:
            found.append(_score(rule.name, rule, pairs))
    return tuple(found)


def table_scores(tables: Sequence[Table], rules: Sequence[ScoreRule]) -> tuple[TableScore, ...]:
    """Score every column of every table separately, also fitted ones; inputs and cells without runs are left out."""
    by_class = {rule.name: rule for rule in rules if METRICS[rule.metric].each_cell}
    found = []
    for table in tables:
        for pairs in by_column(pairs_of([table])):
            cell = pairs[0].cell
            rule = by_class.get(cell.score) or ScoreRule(cell.quantity, usual_metric(cell))
            score = _score(cell.quantity, rule, pairs)
            found.append(TableScore(table.id, cell.column, cell.quantity, cell.variant, cell.role, score))
    return tuple(found)


def usual_metric(cell: Cell) -> str:
    """Return the metric of a quantity that no class scores, by its unit."""
    return {"1": "mean-absolute-error", "count": "median-factor"}.get(cell.unit, "mape")


def _score(name: str, rule: ScoreRule, pairs: Sequence[Pair]) -> Score:
    metric = METRICS[rule.metric]
    value, low, high = _estimate(metric, pairs, rule)
    compared = [pair for pair in pairs if _null(pair, rule) is not None]
    null = _null_value(metric, compared, rule) if compared else None
    return Score(
        name=name,
        metric=rule.metric,
        value=value,
        low=low,
        high=high,
        null=null,
        bound=rule.bound,
        cells=len(pairs),
        against_null=_value(metric, compared, rule) if compared else None,
        remark=_remark(rule, pairs),
        tried=rule.tried,
    )


def _estimate(metric: Metric, pairs: Sequence[Pair], rule: ScoreRule) -> tuple[float, float, float]:
    """Return the value and its interval, NaN where nothing was repeated."""
    value = _value(metric, pairs, rule)
    repeats = [len(pair.cell.simulated) for pair in pairs if len(pair.cell.simulated) > 1]
    if not repeats or math.isnan(value):
        return value, math.nan, math.nan
    drawn = metric.measure(_observations(pairs, rule), _resampled(pairs))
    tail = expanded_tail(min(repeats))
    low, high = np.nanquantile(drawn, (tail, 1 - tail))
    return value, min(float(low), value), max(float(high), value)


def _value(metric: Metric, pairs: Sequence[Pair], rule: ScoreRule) -> float:
    return float(metric.measure(_observations(pairs, rule), _means(pairs)))


def _null_value(metric: Metric, pairs: Sequence[Pair], rule: ScoreRule) -> float:
    values = np.array([_null(pair, rule) for pair in pairs], np.float64)
    seen = _observations(pairs, rule)
    return float(metric.measure(seen, Prediction(values, seen.baseline)))


def _null(pair: Pair, rule: ScoreRule) -> float | None:
    """The null model's value of a cell, as if nothing changed; the first of ranked variants has its published value."""
    if rule.metric == "sign-agreement" and pair.baseline is not None:
        return pair.baseline.published
    if rule.metric == "rank-correlation" and pair.cell.null is None:
        return pair.cell.published
    return pair.cell.null


def _observations(pairs: Sequence[Pair], rule: ScoreRule) -> Observations:
    _, rows = np.unique([pair.cell.row for pair in pairs], return_inverse=True)
    return Observations(
        published=np.array([pair.cell.published for pair in pairs], np.float64),
        baseline=np.array([pair.baseline.published if pair.baseline else math.nan for pair in pairs], np.float64),
        part=np.array([pair.cell.quantity == rule.part for pair in pairs], np.bool_),
        row=rows.astype(np.int64),
    )


def _means(pairs: Sequence[Pair]) -> Prediction:
    """The prediction by the mean over the seeds: [cells]."""
    return _prediction(pairs, lambda cell: np.asarray(cell.mean))


def _resampled(pairs: Sequence[Pair]) -> Prediction:
    """The predictions by means over drawn seeds: [resamples, cells]."""

    def drawn(cell: Cell) -> FloatArray:
        count = len(cell.simulated)
        return np.asarray(resample_counts(count, BOOTSTRAP_SEED) @ np.array(cell.simulated, np.float64) / count)

    return _prediction(pairs, drawn)


def _prediction(pairs: Sequence[Pair], values_of: Callable[[Cell], FloatArray]) -> Prediction:
    values = np.stack([values_of(pair.cell) for pair in pairs], axis=-1)
    baselines = np.full_like(values, math.nan)
    for index, pair in enumerate(pairs):
        if pair.baseline is not None and pair.baseline.simulated:
            baselines[..., index] = values_of(pair.baseline)
    return Prediction(values, baselines)


def _remark(rule: ScoreRule, pairs: Sequence[Pair]) -> str:
    """For signs, the score of guessing the more frequent direction everywhere."""
    if rule.metric != "sign-agreement":
        return ""
    changes = [np.sign(pair.cell.published - pair.baseline.published) for pair in pairs if pair.baseline]
    most = max(changes.count(sign) for sign in (-1, 0, 1))
    share = most / len(pairs)
    return f"{most} of {len(pairs)} published values change in one direction: to guess it everywhere scores {share:.0%}"
