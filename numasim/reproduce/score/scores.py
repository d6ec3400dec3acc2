"""Scores: of each class of quantities and each column of each table, beside a null model, with intervals.

Only predicted cells that were simulated are scored. A null model knows as much as the prediction (`questions`); where
it is part of each cell, it is the published value of the previous strategy, as if the change had no effect. Where only
some cells of a class have one, `Score.against_null` is our score on those cells, so that both scores are over the same
cells. Orders and directions are held against a guess at random, which has not read what was published.

An interval over seeds is a percentile bootstrap: seeds are drawn with replacement, the same ones for all cells that
were run equally often, and the score is computed from the means over the drawn seeds. Percentiles are widened for few
seeds as those of `numasim.report.answers.statistics` are, which for fewer than six means the range of all resamples,
and even that is too narrow; one seed has no interval. The value itself always lies inside: a resampled mean is noisier
than the mean, so the errors of resamples can all be larger. An interval over rows draws rows instead, of the seeds'
means.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from numasim.report.answers.statistics import BOOTSTRAP_SEED, expanded_tail, resample_counts
from numasim.reproduce.score.metrics import METRICS, FloatArray, Metric, Observations, Prediction
from numasim.reproduce.score.questions import ABSOLUTE, QUESTIONS, Posed
from numasim.reproduce.score.single_prediction import best_constant
from numasim.reproduce.study.selection import Pair, ScoreRule, by_column, pairs_of, select
from numasim.reproduce.table_cells import Cell, Interval, Role, Score, Table

ALL_TABLES = "all"
ROW_RESAMPLES = 1_000


@dataclass(frozen=True)
class TableScore:
    """The score of one quantity under one variant in one table."""

    table: str
    column: str
    quantity: str
    variant: str
    role: Role
    score: Score
    degenerate: str = ""  # how its predictions are all alike, "" where they are not


def class_scores(tables: Sequence[Table], rules: Iterable[ScoreRule]) -> tuple[Score, ...]:
    """Score each rule over all tables; a class without a single cell is left out."""
    found = []
    for rule in rules:
        pairs = scored_pairs(tables, rule)
        if pairs:
            found.append(_score(rule.name, rule, pairs))
    return tuple(found)


def scored_pairs(tables: Sequence[Table], rule: ScoreRule) -> list[Pair]:
    """Return the cells that ``rule`` scores, each with the cell before the change."""
    needed = METRICS[rule.metric].needs_baseline or QUESTIONS[rule.question].needs_baseline
    return select(pairs_of(tables), rule, needs_baseline=needed)


def measured(pairs: Sequence[Pair], rule: ScoreRule, values_of: Callable[[Cell], FloatArray]) -> FloatArray:
    """Return the metric of ``rule`` for other predictions: ``values_of`` each cell -> [...], the same for all cells."""
    posed = _posed(pairs, rule, values_of)
    return METRICS[rule.metric].measure(posed.seen, posed.said)


def table_scores(tables: Sequence[Table], rules: Sequence[ScoreRule]) -> tuple[TableScore, ...]:
    """Score every column of every table separately, also fitted ones; inputs and cells without runs are left out."""
    whole = (rule for rule in rules if METRICS[rule.metric].each_cell and rule.question == ABSOLUTE)
    by_class = {rule.name: rule for rule in whole}
    found = []
    for table in tables:
        for pairs in by_column(pairs_of([table])):
            cell = pairs[0].cell
            rule = by_class.get(cell.score) or ScoreRule(cell.quantity, usual_metric(cell))
            score = _score(cell.quantity, replace(rule, null={}, best_constant=False), pairs)
            flag = degenerate(pairs)
            found.append(TableScore(table.id, cell.column, cell.quantity, cell.variant, cell.role, score, flag))
    return tuple(found)


def usual_metric(cell: Cell) -> str:
    """Return the metric of a quantity that no class scores, by its unit."""
    return {"1": "mean-absolute-error", "%": "mean-absolute-error", "count": "median-factor"}.get(cell.unit, "mape")


def degenerate(pairs: Sequence[Pair]) -> str:
    """Say how at least three predictions are all alike although the published values are not; "" where they differ."""
    means = {pair.cell.mean for pair in pairs}
    if len(pairs) < 3 or len(means) > 1 or len({pair.cell.published for pair in pairs}) == 1:
        return ""
    return "all zeros" if means == {0.0} else "all equal"


def _score(name: str, rule: ScoreRule, pairs: Sequence[Pair]) -> Score:
    metric = METRICS[rule.metric]
    posed = _posed(pairs, rule, _means)
    value = _value(metric, posed)
    null, against = _null_score(metric, rule, posed, value)
    return Score(
        name=name,
        metric=rule.metric,
        value=value,
        seeds=_over_seeds(metric, rule, pairs, value),
        rows=_over_rows(metric, posed),
        null=null,
        bound=rule.bound,
        cells=len(pairs),
        against_null=against,
        question=rule.question,
        remark=_remark(rule, pairs),
        unknown=rule.unknown,
    )


def _null_score(metric: Metric, rule: ScoreRule, posed: Posed, value: float) -> tuple[float | None, float | None]:
    """The score of the null model, and ours on the cells that it has."""
    if metric.chance:
        return metric.chance(posed.seen), value
    if rule.best_constant:
        published = posed.seen.published
        posed = replace(posed, null=np.full_like(published, best_constant(rule.metric, published.tolist())))
    known = np.flatnonzero(~np.isnan(posed.null))
    if not len(known):
        return None, None
    compared = _of_cells(posed, known)
    rival = replace(compared, said=Prediction(compared.null, compared.seen.baseline))
    return _value(metric, rival), _value(metric, compared)


def _posed(pairs: Sequence[Pair], rule: ScoreRule, values_of: Callable[[Cell], FloatArray]) -> Posed:
    nulls = np.array([_null(pair, rule) for pair in pairs], np.float64)
    return QUESTIONS[rule.question].pose(Posed(_observations(pairs, rule), _prediction(pairs, values_of), nulls))


def _null(pair: Pair, rule: ScoreRule) -> float:
    value = rule.null.get(pair.cell.row) if rule.null else pair.cell.null
    return math.nan if value is None else value


def _value(metric: Metric, posed: Posed) -> float:
    return float(metric.measure(posed.seen, posed.said))


def _over_seeds(metric: Metric, rule: ScoreRule, pairs: Sequence[Pair], value: float) -> Interval | None:
    """The 95 % interval of the score over seeds; None where nothing was repeated."""
    repeats = [len(pair.cell.simulated) for pair in pairs if len(pair.cell.simulated) > 1]
    if not repeats or math.isnan(value):
        return None
    posed = _posed(pairs, rule, _resampled)
    return _interval(metric.measure(posed.seen, posed.said), min(repeats), value)


def _over_rows(metric: Metric, posed: Posed) -> Interval | None:
    """The 95 % interval of the score over rows, such as benchmarks; None for fewer than three."""
    value, rows = _value(metric, posed), np.unique(posed.seen.row)
    if len(rows) < 3 or math.isnan(value):
        return None
    of_row = [np.flatnonzero(posed.seen.row == row) for row in rows]
    drawn = np.random.default_rng(BOOTSTRAP_SEED).integers(0, len(rows), (ROW_RESAMPLES, len(rows)))
    scores = [_value(metric, _of_rows(posed, [of_row[row] for row in draw])) for draw in drawn]
    return _interval(np.array(scores), len(rows), value)


def _of_rows(posed: Posed, rows: Sequence[npt.NDArray[np.int64]]) -> Posed:
    """Some rows, of which one may occur twice."""
    found = _of_cells(posed, np.concatenate(rows))
    numbers = np.repeat(np.arange(len(rows)), [len(cells) for cells in rows])
    return replace(found, seen=replace(found.seen, row=numbers))


def _of_cells(posed: Posed, cells: npt.NDArray[np.int64]) -> Posed:
    said = Prediction(posed.said.values[..., cells], posed.said.baseline[..., cells])
    return Posed(posed.seen.at(cells), said, posed.null[cells])


def _interval(drawn: FloatArray, count: int, value: float) -> Interval | None:
    known = drawn[~np.isnan(drawn)]
    if not known.size:
        return None
    tail = expanded_tail(count)
    low, high = np.quantile(known, (tail, 1 - tail))
    return Interval(min(float(low), value), max(float(high), value))


def _observations(pairs: Sequence[Pair], rule: ScoreRule) -> Observations:
    _, rows = np.unique([pair.cell.row for pair in pairs], return_inverse=True)
    columns: dict[tuple[str, str], int] = {}
    numbers = [columns.setdefault((pair.cell.table, pair.cell.column), len(columns)) for pair in pairs]
    return Observations(
        published=np.array([pair.cell.published for pair in pairs], np.float64),
        baseline=np.array([pair.baseline.published if pair.baseline else math.nan for pair in pairs], np.float64),
        part=np.array([pair.cell.quantity == rule.part for pair in pairs], np.bool_),
        row=rows.astype(np.int64),
        column=np.array(numbers, np.int64),
    )


def _means(cell: Cell) -> FloatArray:
    """The mean over the seeds, of no dimension."""
    return np.asarray(cell.mean)


def _resampled(cell: Cell) -> FloatArray:
    """Means over drawn seeds: [resamples]."""
    count = len(cell.simulated)
    return np.asarray(resample_counts(count, BOOTSTRAP_SEED) @ np.array(cell.simulated, np.float64) / count)


def _prediction(pairs: Sequence[Pair], values_of: Callable[[Cell], FloatArray]) -> Prediction:
    values = np.stack([values_of(pair.cell) for pair in pairs], axis=-1)
    baselines = np.full_like(values, math.nan)
    for index, pair in enumerate(pairs):
        if pair.baseline is not None and pair.baseline.simulated:
            baselines[..., index] = values_of(pair.baseline)
    return Prediction(values, baselines)


def _remark(rule: ScoreRule, pairs: Sequence[Pair]) -> str:
    """For the direction of whole changes, the score of guessing the more frequent one everywhere."""
    if rule.metric != "sign-agreement" or rule.question != ABSOLUTE:
        return ""
    changes = [np.sign(pair.cell.published - pair.baseline.published) for pair in pairs if pair.baseline]
    most = max(changes.count(sign) for sign in (-1, 0, 1))
    share = most / len(pairs)
    return f"{most} of {len(pairs)} published values change in one direction: to guess it everywhere scores {share:.0%}"
