"""Ceiling "twice": what is printed twice and not alike no model can predict both times.

For the published values b_1 ... b_k of one prediction the least error is min over p of the mean of the errors of p
against each of them (`least_error`). A score is bounded only where it counts several of the b: one that counts a single
print can be met.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from numasim.reproduce.ceilings.ceiling import Ceiling, ScoreBound
from numasim.reproduce.ceilings.printed_column import column_words
from numasim.reproduce.ceilings.same_prediction import printed_again
from numasim.reproduce.ceilings.scored_class import ScoredClass, key_of
from numasim.reproduce.score.scores import usual_metric
from numasim.reproduce.score.single_prediction import least_error
from numasim.reproduce.study.ceiling_specs import ColumnName, TwiceSpec
from numasim.reproduce.study.contents import Study
from numasim.reproduce.table_cells import Cell, factor_error

NAME = "printed twice"
HEADINGS = ("printed as", "rows", "not alike", "most apart", "least mean error", "scored")
ASSUMES = (
    "Assumes that both prints mean what they are read as here, the same runs and the same quantity, so that a model has"
    " one prediction for both."
)
NO_BOUND = "no score counts two prints of one value that differ, so that each score can be met by itself."


def twice_ceiling(study: Study, asked: TwiceSpec, classes: Sequence[ScoredClass]) -> Ceiling | None:
    """What is printed more than once, and what the differences bound; None where everything is printed once."""
    groups = printed_again(study, asked.same)
    if not groups:
        return None
    bounds = tuple(bound for each in classes if (bound := twice_bound(each, groups)) is not None)
    apart = [group for group in groups if _differ(group)]
    return Ceiling(
        name=NAME,
        kind="twice",
        finding=_finding(groups, apart),
        assumes=ASSUMES,
        source=asked.because or "",
        bounds=bounds,
        no_bound="" if bounds else NO_BOUND,
        headings=HEADINGS,
        rows=tuple(_row(columns, alike) for columns, alike in _by_columns(groups)),
    )


def twice_bound(scored: ScoredClass, groups: Iterable[Sequence[Cell]]) -> ScoreBound | None:
    """The least mean error over a class, of which ``groups`` are cells with one prediction; None where it is 0."""
    counted = {key_of(cell) for cell in scored.cells}
    least: dict[tuple[str, str, str], float] = {}
    for group in groups:
        own = [cell for cell in group if key_of(cell) in counted]
        error = least_error(scored.metric, [cell.published for cell in own])
        if error:
            least |= {key_of(cell): error for cell in own}
    return scored.bound(lambda cell: least.get(key_of(cell)))


def _finding(groups: Sequence[Sequence[Cell]], apart: Sequence[Sequence[Cell]]) -> str:
    said = f"{len(groups)} values are printed more than once, {len(apart)} of them not alike"
    if not apart:
        return f"{said}."
    columns, alike = max(_by_columns(apart), key=lambda found: max(map(_factor, found[1])))
    most = max(alike, key=_factor)
    return (
        f"{said}. The most apart are {' and '.join(map(column_words, columns))}, of {most[0].row} by"
        f" {_apart_text(_factor(most))}: one prediction for all prints of a value errs by at least"
        f" {_error_text(alike)} there in the mean."
    )


def _by_columns(groups: Sequence[Sequence[Cell]]) -> Iterable[tuple[tuple[ColumnName, ...], list[Sequence[Cell]]]]:
    """The groups of the same columns together."""
    found: dict[tuple[ColumnName, ...], list[Sequence[Cell]]] = {}
    for group in groups:
        found.setdefault(tuple(_column(cell) for cell in group), []).append(group)
    return found.items()


def _row(columns: Sequence[ColumnName], groups: Sequence[Sequence[Cell]]) -> tuple[str, ...]:
    apart = [group for group in groups if _differ(group)]
    scored = {cell.score for group in groups for cell in group if cell.score}
    prints = sum(bool(cell.score) for cell in groups[0])
    return (
        ", ".join(map(column_words, columns)),
        str(len(groups)),
        str(len(apart)),
        _apart_text(max(map(_factor, apart))) if apart else "",
        _error_text(apart) if apart else "",
        f"{prints} of {len(columns)} ({', '.join(sorted(scored))})" if scored else "none",
    )


def _apart_text(factor: float) -> str:
    return f"a factor of {factor:.3g}" if factor >= 2 else f"{100 * (factor - 1):.2g}%"


def _error_text(groups: Sequence[Sequence[Cell]]) -> str:
    """The mean over groups, as errors of that unit are written."""
    metric = usual_metric(groups[0][0])
    mean = math.fsum(least_error(metric, [cell.published for cell in group]) for group in groups) / len(groups)
    return {"mape": f"{100 * mean:.2g}%", "median-factor": f"x{math.exp(mean):.3g}"}.get(metric, f"{mean:.3g}")


def _column(cell: Cell) -> ColumnName:
    return ColumnName(table=cell.table, column=cell.column)


def _differ(group: Sequence[Cell]) -> bool:
    return len({cell.published for cell in group}) > 1


def _factor(group: Sequence[Cell]) -> float:
    """The factor between the largest and the smallest print; of counts and where one is 0, one is added to each."""
    values = [abs(cell.published) for cell in group]
    if group[0].unit == "count" or not min(values):
        return factor_error(max(values), min(values))
    return max(values) / min(values)
