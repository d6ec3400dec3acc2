"""Questions about the runs of a sweep: how a column differs along an axis, against a baseline.

The answer is a table with a row for each setting and each value other than the baseline, and a sentence for each value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from numasim.engine.columns import DESCRIBED
from numasim.engine.remarks import UPPER_BOUND
from numasim.engine.unit_text import MISSING
from numasim.errors import InputError
from numasim.report.answers.effect_sentences import (
    MAKESPAN,
    Cell,
    Question,
    answer_sentence,
    because_text,
    effect_texts,
    setting_text,
)
from numasim.report.answers.estimated_effects import effects
from numasim.report.answers.statistics import FEWEST, pairs_needed, range_coverage
from numasim.report.answers.time_parts import (
    CAUSE_ERROR,
    PART_COLUMNS,
    PartChange,
    assumed_cores,
    causes,
    detail,
    part_changes,
    parts_per_worker,
    stated_inputs,
)
from numasim.report.answers.varying_axes import (
    Axis,
    Contrast,
    contrasts,
    find_axis,
    find_value,
    setting_columns_of,
    value_text,
    varying_axes,
)
from numasim.report.comparison_cells import DRAWN_COLUMNS, HasFrame, cell_columns, numbers, table_of
from numasim.report.components import value_text as column_text

SHARP = 0.5  # from this rank correlation on, differences within pairs are called sharper than between any two runs
ROW_LIMIT = 60  # most rows of a table in a notebook


@dataclass(frozen=True, repr=False)
class Comparison:
    """The answer to one question.

    ``table`` has a row for each setting and each value other than the ``baseline``. The columns of ``table`` are the
    columns of the setting and of the axis; ``baseline`` and ``column``; ``pairs``; the medians ``baseline_median`` and
    ``median``; the medians over the pairs ``difference`` and ``percent`` (of the baseline in the same pair; NaN for
    ratios, and for amounts with a baseline that is not positive), with intervals in ``_low`` and ``_high``
    (`numasim.report.answers.statistics.median_estimate`); Spearman's ``correlation`` of the values in pairs; ``p`` of
    the sign test, and ``holm_p`` after Holm's correction over the table; ``sure``, whether ``holm_p`` is below 0.05;
    and ``because``, the causes in words. For the makespan, the columns ``part_...`` have the parts of ``percent``,
    which add up to ``percent``.

    ``values`` has the value of the axis in each row of the table, as text. ``causes`` has the parts that explain each
    row, the largest first. ``varying`` are the columns of settings that vary. ``sentences`` has one sentence for each
    value. ``notes`` explain how to read the sentences. ``words`` are the words for a positive and for a negative
    difference.
    """

    axis: str
    baseline: str
    column: str
    values: tuple[str, ...]
    causes: tuple[tuple[PartChange, ...], ...]
    varying: tuple[str, ...]
    table: pd.DataFrame
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    words: tuple[str, str]

    def __str__(self) -> str:
        """Return the sentences, the table and the notes as text."""
        names = [*self.varying, self.axis, "baseline median", "median", f"difference (+: {self.words[0]})"]
        texts = [(*row.setting, row.value, *row.medians, row.effect) for row in self.rows()]
        text = pd.DataFrame(texts, columns=names).to_string(index=False) if texts else "no runs to compare"
        return "\n".join([*self.sentences, "", text, "", *self.notes])

    def __repr__(self) -> str:
        """Return the sentences only; ``print`` also shows the table."""
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the sentences, and the table behind a line that opens."""
        from numasim import html as pieces

        nothing = "Nothing to compare: no pair of runs."
        told = pieces.listed(self.sentences) if self.sentences else pieces.paragraph(nothing)
        if self.table.empty:
            return pieces.element("div", told, style=pieces.PANEL)
        width = None if self.column == MAKESPAN else -1  # only a makespan has causes
        lines = []
        for row in self.rows()[:ROW_LIMIT]:
            cells: list[object] = list(row.cells)
            cells[-3] = pieces.element("b", row.difference) if row.sure else row.difference
            lines.append(cells[:width])
        heads = [f"baseline: {self.baseline}" if head == "baseline" else head for head in self.heads[:width]]
        table = pieces.table(heads, lines, left=len(self.varying) + 1, ends_with_text=width is None)
        more = [f"{len(self.table) - ROW_LIMIT} more rows in .table"] if len(self.table) > ROW_LIMIT else []
        below = map(pieces.paragraph, (*more, *self.notes))
        return pieces.element("div", told, pieces.folded("Every setting", table, *below), style=pieces.PANEL)

    @property
    def heads(self) -> tuple[str, ...]:
        """Return the heads of the columns of `TextRow.cells`."""
        return (*self.varying, self.axis, "baseline", "median", "difference", "interval", "because")

    def rows(self) -> list[TextRow]:
        """Return the rows of the table as text, each with the numbers behind the text."""
        records: Any = self.table.to_dict("records")
        rows = []
        for row, value, explained in zip(records, self.values, self.causes, strict=True):
            relative = not pd.isna(row["percent"])
            size = row["percent" if relative else "difference"]
            text, low, high = effect_texts(self.column, row)
            word = f", {self.words[size < 0]}" if size and not pd.isna(size) else ""
            rows.append(
                TextRow(
                    setting=tuple(value_text(row[name]) for name in self.varying),
                    value=value,
                    medians=(column_text(self.column, row["baseline_median"]), column_text(self.column, row["median"])),
                    effect=text + "%" * relative + ("" if low == MISSING else f" ({low} {high})"),
                    difference=text + " %" * relative + word,
                    interval=MISSING if low == MISSING else f"{low} to {high}" + " %" * relative,
                    numbers=row,
                    causes=explained,
                )
            )
        return rows


@dataclass(frozen=True)
class TextRow:
    """A row of a comparison as text, for terminals, notebooks and pages, with the numbers and causes behind the text.

    ``setting`` has the values of the columns of the setting that vary. ``medians`` are the medians of the baseline and
    of the value. ``difference`` has a word for the direction: ``-9.0 %, faster``. ``effect`` is the difference with the
    interval in one narrow column: ``-9.0% (-11.2 -6.7)``.
    """

    setting: tuple[str, ...]
    value: str
    medians: tuple[str, str]
    effect: str
    difference: str
    interval: str
    numbers: Mapping[str, Any]
    causes: tuple[PartChange, ...]

    @property
    def sure(self) -> bool:
        """Return whether the sign of the difference is sure."""
        return bool(self.numbers["sure"])

    @property
    def cells(self) -> tuple[str, ...]:
        """Return all texts of the row, below `Comparison.heads`."""
        because = self.numbers["because"] or ""
        return (*self.setting, self.value, *self.medians, self.difference, self.interval, because)


def compare(
    results: HasFrame | pd.DataFrame,
    axis: str | None = None,
    baseline: object = None,
    column: str = MAKESPAN,
) -> Comparison:
    """Compare the runs of a sweep along one axis.

    ``axis`` is the name of an axis of the sweep or of an identity column that varies: ``strategy``, ``workers``,
    ``runtime.backoff.first_ns``. Axes that a ``zip:`` moves together are one axis, ``workload+runtime``. By default the
    axis is the strategy if strategies vary, else the first axis beside the workers. ``baseline`` is one of the values
    of the axis, or the object that was given as the value; by default the first value. ``column`` is any numeric column
    of results. Raises `InputError` for an axis, value or column that does not exist.
    """
    frame = table_of(results)
    chosen = find_axis(varying_axes(frame), axis)
    place = 0 if baseline is None else find_value(chosen, baseline)
    return _comparison(frame, chosen, place, _column(frame, column), contrasts(frame, chosen, place))


def all_comparisons(frame: pd.DataFrame, columns: Sequence[str], most_rows: int) -> Iterator[Comparison]:
    """Compare the runs along every axis that varies, against the first value of the axis, in each of ``columns``.

    All tables together have at most ``most_rows`` rows. If there would be more rows, comparisons of the last columns
    are left out first, and for one column the comparisons along the last axes.
    """
    found = [(axis, contrasts(frame, axis, 0)) for axis in varying_axes(frame)]
    left = most_rows
    kept: set[tuple[str, str]] = set()
    for column, (axis, each) in product(columns, found):
        if len(each) <= left:
            kept.add((axis.name, column))
            left -= len(each)
    for axis, each in found:
        for column in columns:
            if (axis.name, column) in kept:
                yield _comparison(frame, axis, 0, column, each)


def _column(frame: pd.DataFrame, name: str) -> str:
    """Return the name of a numeric column of the table; the user may have added the column."""
    axes = cell_columns(frame)
    added = [str(each) for each in frame.select_dtypes("number") if each not in DESCRIBED and each not in axes]
    known = [*DRAWN_COLUMNS, *added]
    if name not in known:
        expected = ", ".join(known)
        raise InputError(f"no numeric column of results is called {name!r}", expected=expected, value=name, known=known)
    needed = (name, "serial_ps", *(PART_COLUMNS if name == MAKESPAN else ()))
    absent = [each for each in needed if each not in frame]
    if absent:
        problem = f"the table has no column {absent[0]}"
        raise InputError(problem, expected="a results table of a sweep, with all columns")
    return name


def _comparison(frame: pd.DataFrame, axis: Axis, baseline: int, column: str, found: Sequence[Contrast]) -> Comparison:
    """Return the answer from the contrasts of the axis."""
    columns = setting_columns_of(frame, axis)
    varying = [name for at, name in enumerate(columns) if len({str(each.setting[at]) for each in found}) > 1]
    cells = _cells(frame, column, found, columns, {*varying, "workload", "workers"})
    questions = [
        Question(axis, value, baseline, column, assumed_cores(frame, axis, value, baseline))
        for value in range(len(axis.values))
    ]
    answered = [(each, [cell for cell in cells if cell.contrast.value == each.value]) for each in questions]
    rows = [
        {
            **dict(zip(columns, cell.contrast.setting, strict=True)),
            **dict(zip(axis.columns, axis.values[cell.contrast.value], strict=True)),
            "baseline": axis.texts[baseline],
            "column": column,
            "pairs": cell.effect.pairs,
            "baseline_median": cell.effect.first_median,
            "median": cell.effect.median,
            **cell.effect.difference.columns("difference"),
            **cell.effect.percent.columns("percent"),
            "correlation": cell.effect.correlation,
            "p": cell.effect.p,
            "holm_p": cell.effect.holm_p,
            "sure": cell.effect.sure,
            "because": because_text(cell.effect, cell.causes),
            **{f"part_{each.part.name}": each.percent for each in cell.changes},
        }
        for cell in cells
    ]
    return Comparison(
        axis.name,
        axis.texts[baseline],
        column,
        tuple(axis.texts[cell.contrast.value] for cell in cells),
        tuple(tuple(cell.causes) for cell in cells),
        tuple(varying),
        pd.DataFrame(rows, columns=None if rows else [*columns, *axis.columns, "baseline", "column", "pairs"]),
        tuple(answer_sentence(question, members) for question, members in answered if members),
        (*stated_inputs(frame), *_statistical_notes(frame, axis, cells)),
        max(questions, key=lambda question: question.names_column).words,  # all name the column if any does
    )


def _cells(
    frame: pd.DataFrame, column: str, found: Sequence[Contrast], columns: Sequence[str], named: set[str]
) -> list[Cell]:
    """Return a cell for each contrast; the cell's setting in words has the columns ``named``."""
    values_of = cache(partial(numbers, frame))
    parts = parts_per_worker(frame) if column == MAKESPAN else None
    places = [at for at, name in enumerate(columns) if name in named]
    cells = []
    for contrast, effect in zip(found, effects(values_of(column), column, found), strict=True):
        changes = [] if parts is None else part_changes(parts, values_of(column), contrast)
        explained = [replace(each, detail=detail(values_of, contrast, each)) for each in causes(effect, changes)]
        where = setting_text([columns[at] for at in places], [contrast.setting[at] for at in places])
        cells.append(Cell(contrast, effect, changes, explained, where))
    return cells


def _statistical_notes(frame: pd.DataFrame, axis: Axis, cells: Sequence[Cell]) -> list[str]:
    shared = "repeat" if "seed" in axis.columns else "seed"
    serial = numbers(frame, "serial_ps")
    sides = [rows for cell in cells for rows in (cell.contrast.first, cell.contrast.other)]
    varied = any(np.ptp(serial[rows]) > 0 for rows in sides if len(rows))
    times = " and the tasks' times (task_noise)" if varied else "; tasks take the same times in all repeats"
    fewest = min((cell.effect.pairs for cell in cells if cell.effect.pairs > 1), default=FEWEST)
    covered = "at least 95 %"
    if fewest < FEWEST:
        covered = f"{100 * range_coverage(fewest):.0f} %, as the range of {fewest} pairs does"
    notes = [
        f"differences: medians over pairs of runs that share the {shared}; intervals cover them with {covered},"
        " whatever the distribution",
        f"intervals cover what seeds draw, such as victims{times}; not what the model leaves out",
        "sure: the sign test is below 0.05, also after Holm's correction over all settings",
    ]
    known = [cell.effect.correlation for cell in cells if not math.isnan(cell.effect.correlation)]
    if known:
        usual = float(np.median(known))
        spread = f" (median of {len(known)} settings, {min(known):.2f} to {max(known):.2f})" if len(known) > 1 else ""
        worth = "differences within pairs are sharper than between runs" if usual >= SHARP else "pairs sharpen little"
        notes.append(f"pairs: rank correlation {usual:.2f}{spread}: {worth}")
    if any(cell.causes for cell in cells):
        notes.append(
            "because: parts of the time of a worker in the middle pair, in % of the baseline's makespan; they add"
            " up to the difference"
        )
    fewest_for_causes = pairs_needed(1, CAUSE_ERROR)
    if any(cell.changes and cell.effect.sure and cell.effect.pairs < fewest_for_causes for cell in cells):
        notes.append(f"because: no cause is named with fewer than {fewest_for_causes} pairs")
    if any(each.part.name == "queue_lines" for cell in cells for each in cell.causes):
        notes.append(UPPER_BOUND)
    return notes
