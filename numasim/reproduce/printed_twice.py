"""The ceiling "printed twice" (model 7.4): if a paper prints two numbers for one value, no model predicts both.

If the paper prints b_1 ... b_k for one value and a model predicts p, the mean error of p against b_1 ... b_k has a
minimum over p (`least_error`). The ceiling bounds a score that counts several of these prints. A score that counts only
one print is not bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from numasim.reproduce.metrics import ABSOLUTE
from numasim.reproduce.programs import Wanted
from numasim.reproduce.scores import pairs_of, select, usual_metric
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import ScoreRule, Study
from numasim.reproduce.study_tables import Elsewhere, Runs, Totals, cells_of
from numasim.reproduce.table_cells import PRINTED_UNITS, Ceiling, Cell, ScoreBound, Table

CellKey = tuple[str, str, str]  # table, column, row
Group = list[Cell]  # the cells of one quantity
HEADINGS = ("printed as", "rows", "not alike", "most apart", "least mean error", "scored")
MEANS = ("mape", "mean-absolute-error")  # metrics that are a mean of distances between values

_PLACES: dict[str, Callable[[float], tuple[float, float]]] = {  # by metric: value -> (place on its scale, weight)
    "mape": lambda value: (value, 1 / abs(value) if value else 0.0),
    "mean-absolute-error": lambda value: (value, 1.0),
    "median-factor": lambda value: (math.copysign(math.log1p(abs(value)), value), 1.0),
}


def least_error(metric: str, published: Sequence[float]) -> float:
    """Return the mean error of the best single prediction of all ``published`` values; 0 if no value counts.

    The best prediction is the weighted median. The error of counts (``median-factor``) is
    |ln(predicted + 1) - ln(published + 1)|. Raise KeyError for a metric that is not computed cell by cell.
    """
    counted = sorted((place, weight) for place, weight in map(_PLACES[metric], published) if weight)
    if not counted:
        return 0.0
    half = math.fsum(weight for _, weight in counted) / 2
    gathered = accumulate(weight for _, weight in counted)
    best = next(place for (place, _), sum_ in zip(counted, gathered, strict=True) if sum_ >= half)
    return math.fsum(weight * abs(place - best) for place, weight in counted) / len(counted)


@dataclass(frozen=True)
class ScoredClass:
    """A score whose metric is a mean over cells, and the cells that the score counts."""

    name: str
    metric: str
    cells: tuple[Cell, ...]

    def bound(self, least: Callable[[Cell], float | None]) -> ScoreBound | None:
        """Return the mean of ``least`` over all cells (0 for a cell without a least error); None if no cell has one.

        ``least`` returns the least error of a cell, None for a cell without a bound.
        """
        errors = [error for error in map(least, self.cells) if error is not None]
        if not errors:
            return None
        return ScoreBound(self.name, self.metric, sum(errors) / len(self.cells), len(errors), len(self.cells))


def scored_classes(tables: Sequence[Table], rules: Iterable[ScoreRule]) -> tuple[ScoredClass, ...]:
    """Return the classes of ``rules`` that are scored by a mean over cells; classes without a cell are left out."""
    pairs, found = pairs_of(tables), []
    for rule in rules:
        if rule.metric in MEANS and rule.question == ABSOLUTE:
            cells = tuple(each.cell for each in select(pairs, rule) if rule.metric != "mape" or each.cell.published)
            found += [ScoredClass(rule.name, rule.metric, cells)] if cells else []
    return tuple(found)


def printed_twice(
    study: Study,
    tables: Sequence[Table],
    rules: Sequence[ScoreRule],
    same: Iterable[Sequence[Elsewhere]] = (),
    because: str = "",
) -> tuple[Ceiling, ...]:
    """Return the ceiling of the values that are printed more than once; an empty tuple if there are no such values.

    Columns of the study with the same prediction are found automatically. ``same`` declares further columns that print
    one quantity, with the reason ``because`` from the paper.
    """
    groups = printed_again(study, same)
    if not groups:
        return ()
    found = (twice_bound(each, groups) for each in scored_classes(tables, rules))
    bounds = tuple(bound for bound in found if bound is not None)
    ceiling = Ceiling(
        name="printed twice",
        finding=_finding(groups, [group for group in groups if _differ(group)]),
        assumes="Assumes that both prints mean what they are read as here, the same runs and the same quantity, so that"
        " a model has one prediction for both.",
        source=because,
        bounds=bounds,
        no_bound=""
        if bounds
        else "no score counts two prints of one value that differ, so that each score can be met by itself.",
        headings=HEADINGS,
        rows=tuple(_row(columns, alike) for columns, alike in _by_columns(groups)),
    )
    return (ceiling,)


def twice_bound(scored: ScoredClass, groups: Iterable[Group]) -> ScoreBound | None:
    """Return the least mean error over a class; None if the error is 0. Each of ``groups`` has one prediction."""
    counted = set(map(key_of, scored.cells))
    least: dict[CellKey, float] = {}
    for group in groups:
        own = [cell for cell in group if key_of(cell) in counted]
        error = least_error(scored.metric, [cell.published for cell in own])
        if error:
            least |= {key_of(cell): error for cell in own}
    return scored.bound(lambda cell: least.get(key_of(cell)))


def printed_again(study: Study, same: Iterable[Sequence[Elsewhere]]) -> list[Group]:
    """Return the values that are printed more than once, as groups of cells in the order of the study.

    Cells are in one group if the study simulates them by the same runs, or if ``same`` declares that their columns
    print one quantity. A column of quotients is no print; a column of a file that several tables show is one print.
    """
    cells = _printed(study)
    groups = {key: {key: cell} for key, cell in cells.items()}
    predictions: dict[str, list[CellKey]] = {}
    for key, cell in cells.items():
        predictions.setdefault(_prediction(study, cell), []).append(key)
    for alike in (*predictions.values(), *_declared(same, cells)):
        merged = {key: cell for one in alike for key, cell in groups[one].items()}
        for key in merged:
            groups[key] = merged
    distinct = {id(group): group for group in groups.values()}
    ordered = ([cell for key, cell in cells.items() if key in group] for group in distinct.values())
    return [group for group in ordered if len(group) > 1]


def _printed(study: Study) -> dict[CellKey, Cell]:
    """Return the cells of printed columns, each column of each file once."""
    shown, found, setting = set(), dict[CellKey, Cell](), Setting(study)
    for table in study.tables.values():
        fresh = set()
        for name, column in table.columns.items():
            source = column.published or name
            if isinstance(source, str) and (table.file, source) not in shown:
                shown.add((table.file, source))
                fresh.add(name)
        found |= {key_of(cell): cell for cell in cells_of(setting, table) if cell.column in fresh}
    return found


def _prediction(study: Study, cell: Cell) -> str:
    """Return a text that is equal for cells with the same prediction."""
    table = study.tables[cell.table]
    read = []
    # the readings that concern single tables; all other readings follow from program, row and variant
    if table.program:
        wanted = Wanted(study.programs[table.program], "" if table.key else cell.row, cell.variant, table=cell.table)
        of_table = (each for each in study.readings.values() if each.scope.tables and each.scope.concerns(wanted))
        read = [each.answers[each.scored].changes for each in of_table]
    # in kinds of tables other than `Runs` and `Totals`, predictions may differ by column
    part = "" if isinstance(table.kind, Runs | Totals) else cell.column
    return repr(
        [table.kind, table.program, table.key, list(filter(None, read)), cell.variant, cell.quantity, part, cell.row]
    )


def _declared(same: Iterable[Sequence[Elsewhere]], cells: Mapping[CellKey, Cell]) -> Iterable[list[CellKey]]:
    for columns in same:
        first = columns[0]
        for row in [row for table, column, row in cells if (table, column) == (first.table, first.column)]:
            yield [key for each in columns if (key := (each.table, each.column, row)) in cells]


def key_of(cell: Cell) -> CellKey:
    """Return table, column and row of a cell."""
    return cell.table, cell.column, cell.row


def column_words(asked: Elsewhere) -> str:
    """Return the name of a column without its unit, for people: ``remote (Table 4.4)``."""
    table = f"Table {asked.table}" if asked.table[:1].isdigit() else asked.table
    ending = next((ending for unit in PRINTED_UNITS if asked.column.endswith(ending := f"_{unit.lower()}")), "")
    return f"{asked.column.removesuffix(ending).replace('_', ' ')} ({table})"


def _finding(groups: Sequence[Group], apart: Sequence[Group]) -> str:
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


def _by_columns(groups: Sequence[Group]) -> Iterable[tuple[tuple[Elsewhere, ...], list[Group]]]:
    """Return pairs of columns and of the groups that are printed in these columns."""
    found: dict[tuple[Elsewhere, ...], list[Group]] = {}
    for group in groups:
        found.setdefault(tuple(Elsewhere(cell.table, cell.column) for cell in group), []).append(group)
    return found.items()


def _row(columns: Sequence[Elsewhere], groups: Sequence[Group]) -> tuple[str, ...]:
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


def _error_text(groups: Sequence[Group]) -> str:
    """Return the mean least error over groups, as text."""
    metric = usual_metric(groups[0][0])
    mean = math.fsum(least_error(metric, [cell.published for cell in group]) for group in groups) / len(groups)
    return {"mape": f"{100 * mean:.2g}%", "median-factor": f"x{math.exp(mean):.3g}"}.get(metric, f"{mean:.3g}")


def _differ(group: Group) -> bool:
    return len({cell.published for cell in group}) > 1


def _factor(group: Group) -> float:
    """Return the factor between the largest and the smallest print. For counts and zeros, one is added to both."""
    values = [abs(cell.published) for cell in group]
    one = group[0].unit == "count" or not min(values)
    return (max(values) + one) / (min(values) + one)
