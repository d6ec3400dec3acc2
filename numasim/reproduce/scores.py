"""Scores of each class of quantities and of each column of each table, with the best simple rule and intervals.

Only predicted cells that were simulated are scored. The simple rules of a score are the rules of the study
(`numasim.reproduce.simple_rules`); for a cell with a baseline the published value before the change, as if the change
had no effect; for orders and directions a random guess. If the best rule predicts only some cells of a class,
`Score.against_null` is the simulation's score on these cells, so that it can be compared with the rule's score.

An interval over seeds is a percentile bootstrap. Seeds are drawn with replacement, the same seeds for all cells with
the same number of seeds, and the score is computed from the means over the drawn seeds. For few seeds, percentiles are
widened as in `numasim.report.answers.statistics`. With fewer than six seeds the interval is the range of all resamples,
which is still too narrow. A single seed gives no interval. The interval always includes the score: a resampled mean is
noisier than the mean, so the errors of all resamples can be larger than the error of the mean. For an interval over
rows, rows are drawn instead of seeds, with the means over the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from numasim.report.answers.statistics import BOOTSTRAP_SEED, expanded_tail, resample_counts
from numasim.reproduce.metrics import ABSOLUTE, METRICS, QUESTIONS, FloatArray, Metric, Posed
from numasim.reproduce.simple_rules import best_rule, simple_scores
from numasim.reproduce.study import ScoreRule
from numasim.reproduce.table_cells import TRUTH, Cell, Interval, Pair, Role, Score, SimpleScore, Table


def pairs_of(tables: Sequence[Table]) -> list[Pair]:
    """Return every fitted or predicted cell with a published and a simulated number."""
    found = []
    for table in tables:
        at = {(cell.row, cell.column): cell for cell in table.cells}
        known = (cell for cell in table.cells if not math.isnan(cell.mean + cell.published))
        cells = (cell for cell in known if cell.role in (Role.FITTED, Role.PREDICTED))
        found += [Pair(cell, at.get((cell.row, cell.baseline))) for cell in cells]
    return found


def by_column(pairs: Iterable[Pair]) -> Iterable[list[Pair]]:
    """Group the cells of a table that are scored together: cells of a column with the same role and class."""
    groups: dict[tuple[str, Role, str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.cell.column, pair.cell.role, pair.cell.score), []).append(pair)
    return groups.values()


def select(pairs: Sequence[Pair], rule: ScoreRule, *, needs_baseline: bool = False) -> list[Pair]:
    """Return the cells that ``rule`` scores; with ``needs_baseline`` only cells with a simulated baseline."""
    name, choose = rule.of or rule.name, METRICS[rule.metric].choose
    among = [pair for pair in pairs if not rule.tables or pair.cell.table in rule.tables]
    scored = [pair for pair in among if pair.cell.score == name and pair.cell.role is Role.PREDICTED]
    if choose:
        return choose(among, {pair.cell.quantity for pair in scored})
    if not needs_baseline:
        return scored
    return [pair for pair in scored if pair.baseline is not None and not math.isnan(pair.baseline.mean)]


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
    degenerate: str = ""  # in what way all predictions are alike; "" if they differ


def class_scores(tables: Sequence[Table], rules: Iterable[ScoreRule]) -> tuple[Score, ...]:
    """Return the score of each rule over all tables; a class without a cell is left out."""
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
    """Return the metric of ``rule``; ``values_of`` returns a cell's predictions [...], in one shape for all cells."""
    return METRICS[rule.metric].measure(_posed(pairs, rule, values_of))


def table_scores(tables: Sequence[Table], rules: Sequence[ScoreRule]) -> tuple[TableScore, ...]:
    """Return the score of every column of every table, fitted columns too, without inputs and cells without runs."""
    whole = (rule for rule in rules if METRICS[rule.metric].each_cell and rule.question == ABSOLUTE)
    by_class = {rule.name: rule for rule in whole}
    found = []
    for table in tables:
        for pairs in by_column(pairs_of([table])):
            cell = pairs[0].cell
            rule = by_class.get(cell.score) or ScoreRule(cell.quantity, usual_metric(cell))
            score = _score(cell.quantity, replace(rule, null=None, nulls={}, simple={}), pairs)
            flag = degenerate(pairs)
            found.append(TableScore(table.id, cell.column, cell.quantity, cell.variant, cell.role, score, flag))
    return tuple(found)


def usual_metric(cell: Cell) -> str:
    """Return the metric of a quantity that no class scores, by its unit."""
    errors = dict.fromkeys(("1", "%", TRUTH), "mean-absolute-error")
    return (errors | {"count": "median-factor"}).get(cell.unit, "mape")


def degenerate(pairs: Sequence[Pair]) -> str:
    """Return how three or more predictions for unequal published values are all alike; "" if predictions differ."""
    means = {pair.cell.mean for pair in pairs}
    if len(pairs) < 3 or len(means) > 1 or len({pair.cell.published for pair in pairs}) == 1:
        return ""
    return "all zeros" if means == {0.0} else "all equal"


def _score(name: str, rule: ScoreRule, pairs: Sequence[Pair]) -> Score:
    metric = METRICS[rule.metric]
    posed = _posed(pairs, rule, _means)
    value = float(metric.measure(posed))
    simple = _simple_scores(metric, rule, posed, [pair.cell for pair in pairs])
    best = best_rule(rule.metric, simple)
    return Score(
        name=name,
        metric=rule.metric,
        value=value,
        seeds=_over_seeds(metric, rule, pairs, value),
        rows=_over_rows(metric, posed, value),
        null=best.value if best else None,
        bound=rule.bound,
        cells=len(pairs),
        against_null=best.against if best else None,
        question=rule.question,
        rule=best.rule if best else "",
        simple=tuple(simple),
        unknown=rule.unknown,
    )


def _simple_scores(metric: Metric, rule: ScoreRule, posed: Posed, cells: Sequence[Cell]) -> list[SimpleScore]:
    """Return the scores of the rules of the study, and of the rule of metric, question or columns."""
    rules = dict(rule.simple)
    if callable(rule.null):
        rules[rule.null.__name__.replace("_", " ")] = rule.null(posed.published)
    elif not metric.chance:
        rules[_usual_rule(rule, cells)] = posed.null
    found = simple_scores(rule.metric, rules, posed, cells)
    if metric.chance:
        chance, value = metric.chance(posed), float(metric.measure(posed))
        found.append(SimpleScore("a random guess", chance, value, len(posed.published)))
    return found


def _usual_rule(rule: ScoreRule, cells: Sequence[Cell]) -> str:
    """Return the name of the rule that belongs to a question or to columns."""
    if rule.metric == "claims-held":
        return "a random order"
    changes = rule.question != ABSOLUTE or (not rule.nulls and any(cell.baseline for cell in cells))
    return "no effect" if changes else "a published column"


def _posed(pairs: Sequence[Pair], rule: ScoreRule, values_of: Callable[[Cell], FloatArray]) -> Posed:
    cells = [pair.cell for pair in pairs]
    _, rows = np.unique([cell.row for cell in cells], return_inverse=True)
    columns: dict[tuple[str, str], int] = {}
    numbers = [columns.setdefault((cell.table, cell.column), len(columns)) for cell in cells]
    said = np.stack(list(map(values_of, cells)), axis=-1)
    said_before = np.full_like(said, math.nan)
    for index, pair in enumerate(pairs):
        if pair.baseline is not None and pair.baseline.simulated:
            said_before[..., index] = values_of(pair.baseline)
    absolute = Posed(
        published=np.array([cell.published for cell in cells], np.float64),
        before=np.array([pair.baseline.published if pair.baseline else math.nan for pair in pairs], np.float64),
        said=said,
        said_before=said_before,
        null=np.array([rule.nulls.get(cell.row) if rule.nulls else cell.null for cell in cells], np.float64),
        quantity=np.array([cell.quantity for cell in cells], np.str_),
        row=rows.astype(np.int64),
        column=np.array(numbers, np.int64),
        cell=np.arange(len(cells)),
    )
    return QUESTIONS[rule.question].pose(absolute)


def _over_seeds(metric: Metric, rule: ScoreRule, pairs: Sequence[Pair], value: float) -> Interval | None:
    """Return the 95 % interval of the score over seeds; None for a single seed."""
    repeats = [len(pair.cell.simulated) for pair in pairs if len(pair.cell.simulated) > 1]
    if not repeats or math.isnan(value):
        return None
    return _interval(metric.measure(_posed(pairs, rule, _resampled)), min(repeats), value)


def _over_rows(metric: Metric, posed: Posed, value: float) -> Interval | None:
    """Return the 95 % interval of the score over rows, such as benchmarks; None for fewer than three rows."""
    rows = np.unique(posed.row)
    if len(rows) < 3 or math.isnan(value):
        return None
    of_row = [np.flatnonzero(posed.row == row) for row in rows]
    drawn = np.random.default_rng(BOOTSTRAP_SEED).integers(0, len(rows), (ROW_RESAMPLES, len(rows)))
    scores = [float(metric.measure(_of_rows(posed, [of_row[row] for row in draw]))) for draw in drawn]
    return _interval(np.array(scores), len(rows), value)


def _of_rows(posed: Posed, rows: Sequence[npt.NDArray[np.int64]]) -> Posed:
    """Return the cells of some rows; a row may occur twice."""
    numbers = np.repeat(np.arange(len(rows)), [len(cells) for cells in rows])
    return replace(posed.at(np.concatenate(rows)), row=numbers)


def _interval(drawn: FloatArray, count: int, value: float) -> Interval | None:
    known = drawn[~np.isnan(drawn)]
    if not known.size:
        return None
    tail = expanded_tail(count)
    low, high = np.quantile(known, (tail, 1 - tail))
    return Interval(min(float(low), value), max(float(high), value))


def _means(cell: Cell) -> FloatArray:
    """Return the cell's mean over the seeds, as an array without dimensions."""
    return np.asarray(cell.mean)


def _resampled(cell: Cell) -> FloatArray:
    """Return [resamples] the cell's means over seeds drawn with replacement."""
    count = len(cell.simulated)
    return np.asarray(resample_counts(count, BOOTSTRAP_SEED) @ np.array(cell.simulated, np.float64) / count)
