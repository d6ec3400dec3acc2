"""Questions to the runs of a sweep: how a column differs along an axis, against a baseline.

The answer is a table with a row for each setting and each other value, and a sentence for each value.
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
from numasim.errors import InputError
from numasim.report.answers.contrasts import Contrast, contrasts, setting_columns_of
from numasim.report.answers.effect_sentences import (
    MAKESPAN,
    Answered,
    Question,
    answer_sentence,
    because_text,
    effect_text,
    setting_text,
)
from numasim.report.answers.estimated_effects import Effect, effects
from numasim.report.answers.part_details import assumed_cores, detail, stated_inputs
from numasim.report.answers.statistics import FEWEST, Estimate, range_coverage
from numasim.report.answers.time_parts import PART_COLUMNS, PartChange, causes, part_changes, parts_per_worker
from numasim.report.answers.varying_axes import Axis, find_axis, find_value, natural_axis, value_text, varying_axes
from numasim.report.comparison_cells import cell_columns, numbers
from numasim.report.comparison_cells import value_text as column_text
from numasim.report.results_table import HasFrame, table_of

SHARP = 0.5  # correlation from which on differences in pairs spread less than 0.7 times as much as without pairs
COMPARABLE = tuple(name for name, column in DESCRIBED.items() if column.kind != "text" and column.group != "identity")


@dataclass(frozen=True, repr=False)
class Comparison:
    """The answer to one question.

    ``values`` are those of the axis in the rows of the table, as text, and ``causes`` the parts that explain them, the
    largest first; ``varying`` are the columns of settings that do. ``table`` has a row for each setting and value other
    than the ``baseline``: the columns of the setting and of the axis; ``baseline`` and ``column``; ``pairs``; medians
    ``baseline_median`` and ``median``; ``difference`` and ``percent`` (of the baseline in the same pair; NaN for
    ratios, and for amounts whose baseline is not positive), medians over the pairs, each with ``_low`` and ``_high``,
    its interval (`numasim.report.answers.statistics.median_estimate`); ``correlation``, Spearman's, of the values in
    pairs; ``p``, of the sign test, and ``holm_p``, after Holm's correction over the table; ``sure``, whether that is
    below 0.05; ``because``, in words. For the makespan, columns ``part_...`` have the parts of ``percent``, which add
    up to it. ``sentences`` are one for each value; ``notes`` say how to read them; ``words`` are what a positive and
    a negative difference are called.
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
        """The sentences, the table and the notes as text."""
        shown = {name: [value_text(value) for value in self.table[name]] for name in self.varying}
        shown |= {self.axis: list(self.values)}
        for name in ("baseline_median", "median"):
            shown[name.replace("_", " ")] = [column_text(self.column, value) for value in self.table[name]]
        shown |= {
            f"difference (+: {self.words[0]})": [effect_text(self.column, row) for row in self.table.to_dict("records")]
        }
        text = pd.DataFrame(shown).to_string(index=False) if len(self.table) else "no runs to compare"
        return "\n".join([*self.sentences, "", text, "", *self.notes])

    def __repr__(self) -> str:
        """The sentences alone; ``print`` has the table, too."""
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the sentences, and the table behind a line that opens."""
        from numasim.report.notebooks.comparison_html import comparison_html

        return comparison_html(self.column, self.table, self.sentences, self.notes, self.words)


def compare(
    results: HasFrame | pd.DataFrame,
    axis: str | None = None,
    baseline: object = None,
    column: str = MAKESPAN,
) -> Comparison:
    """Compare the runs of a sweep along one axis.

    ``axis`` is the name of an axis of the sweep or of an identity column that varies (``strategy``, ``workers``,
    ``runtime.backoff.first_ns``; axes that a ``zip:`` moves together are one, ``workload+runtime``); by default
    strategies if they vary, else the first axis beside the workers. ``baseline`` is one of its values, or the object
    that was given as one; by default the first. ``column`` is any numeric column of results. Raises `InputError` for
    what there is not.
    """
    frame = table_of(results)
    axes = varying_axes(frame)
    chosen = natural_axis(axes) if axis is None else find_axis(axes, axis)
    place = 0 if baseline is None else find_value(chosen, baseline)
    return _Answer(frame, chosen, place, _column(frame, column), contrasts(frame, chosen, place)).comparison()


def all_comparisons(frame: pd.DataFrame, columns: Sequence[str], most_rows: int) -> Iterator[Comparison]:
    """Compare the runs along every axis that varies, against its first value, in each of ``columns``.

    Of a large sweep those are left out whose tables, with those before them, would have more than ``most_rows`` rows:
    the last columns first, and of a column the last axes.
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
                yield _Answer(frame, axis, 0, column, each).comparison()


def _column(frame: pd.DataFrame, name: str) -> str:
    """A column of numbers that the table has, one that was added to it, too."""
    axes = cell_columns(frame)
    added = [str(each) for each in frame.select_dtypes("number") if each not in DESCRIBED and each not in axes]
    known = [*COMPARABLE, *added]
    if name not in known:
        expected = ", ".join(known)
        raise InputError(f"no numeric column of results is called {name!r}", expected=expected, value=name, known=known)
    needed = (name, "serial_ps", *(PART_COLUMNS if name == MAKESPAN else ()))
    absent = [each for each in needed if each not in frame]
    if absent:
        raise InputError(
            f"the table has no column {absent[0]}", expected="a results table of a sweep, with all columns"
        )
    return name


@dataclass(frozen=True)
class _Cell:
    contrast: Contrast
    effect: Effect
    changes: Sequence[PartChange]
    causes: Sequence[PartChange]


class _Answer:
    """The answer of a question while it comes about."""

    def __init__(self, frame: pd.DataFrame, axis: Axis, baseline: int, column: str, found: Sequence[Contrast]) -> None:
        self._frame = frame
        self._axis = axis
        self._baseline = baseline
        self._column = column
        self._columns = setting_columns_of(frame, axis)
        self._numbers = cache(partial(numbers, frame))
        self._cells = self._estimated(found)
        settings = zip(*(map(str, cell.contrast.setting) for cell in self._cells), strict=True)
        self._varying = tuple(
            name for name, values in zip(self._columns, settings, strict=bool(found)) if len(set(values)) > 1
        )

    def comparison(self) -> Comparison:
        """The whole answer."""
        return Comparison(
            self._axis.name,
            self._axis.texts[self._baseline],
            self._column,
            tuple(self._axis.texts[cell.contrast.value] for cell in self._cells),
            tuple(tuple(cell.causes) for cell in self._cells),
            self._varying,
            pd.DataFrame([self._row(cell) for cell in self._cells], columns=None if self._cells else self._names()),
            tuple(self._sentences()),
            tuple(self._notes()),
            self._words(),
        )

    def _estimated(self, found: Sequence[Contrast]) -> list[_Cell]:
        values = self._numbers(self._column)
        estimated = effects(values, self._column, found)
        if self._column != MAKESPAN:
            return [_Cell(contrast, effect, (), ()) for contrast, effect in zip(found, estimated, strict=True)]
        parts = parts_per_worker(self._frame)
        changes = [part_changes(parts, values, contrast) for contrast in found]
        return [
            _Cell(contrast, effect, each, self._detailed(contrast, causes(effect, each)))
            for contrast, effect, each in zip(found, estimated, changes, strict=True)
        ]

    def _detailed(self, contrast: Contrast, found: Sequence[PartChange]) -> list[PartChange]:
        return [replace(each, detail=detail(self._numbers, contrast, each)) for each in found]

    def _names(self) -> list[str]:
        return [*self._columns, *self._axis.columns, "baseline", "column", "pairs"]

    def _row(self, cell: _Cell) -> dict[str, Any]:
        effect = cell.effect
        return {
            **dict(zip(self._columns, cell.contrast.setting, strict=True)),
            **dict(zip(self._axis.columns, self._axis.values[cell.contrast.value], strict=True)),
            "baseline": self._axis.texts[self._baseline],
            "column": self._column,
            "pairs": effect.pairs,
            "baseline_median": effect.first_median,
            "median": effect.median,
            **_columns("difference", effect.difference),
            **_columns("percent", effect.percent),
            "correlation": effect.correlation,
            "p": effect.p,
            "holm_p": effect.holm_p,
            "sure": effect.sure,
            "because": because_text(effect, cell.causes),
            **{f"part_{each.part.name}": each.percent for each in cell.changes},
        }

    def _questions(self) -> list[Question]:
        """One for each value of the axis, the baseline among them."""
        return [
            Question(
                self._axis,
                value,
                self._baseline,
                self._column,
                assumed_cores(self._frame, self._axis, value, self._baseline),
            )
            for value in range(len(self._axis.values))
        ]

    def _sentences(self) -> list[str]:
        sentences = []
        for question in self._questions():
            cells = [cell for cell in self._cells if cell.contrast.value == question.value]
            if cells:
                answers = [Answered(cell.effect, cell.causes, self._where(cell.contrast)) for cell in cells]
                sentences.append(answer_sentence(question, answers))
        return sentences

    def _words(self) -> tuple[str, str]:
        """Those of all sentences, or of the column where some compare machines whose cores are assumed."""
        return max(self._questions(), key=lambda question: question.names_column).words

    def _where(self, contrast: Contrast) -> str:
        """The workload and the workers of a contrast, and what else varies between the contrasts."""
        named = {*self._varying, "workload", "workers"}
        shown = [place for place, name in enumerate(self._columns) if name in named]
        return setting_text([self._columns[at] for at in shown], [contrast.setting[at] for at in shown])

    def _notes(self) -> list[str]:
        return [*stated_inputs(self._frame), *self._statistical_notes()]

    def _statistical_notes(self) -> list[str]:
        shared = "repeat" if "seed" in self._axis.columns else "seed"
        varied = " and the tasks' times (task_noise)" if self._times_vary() else ""
        same = "" if varied else "; tasks take the same times in all repeats"
        pairs = [cell.effect.pairs for cell in self._cells if cell.effect.pairs > 1]
        fewest = min(pairs, default=FEWEST)
        covered = "at least 95 %"
        if fewest < FEWEST:
            covered = f"{100 * range_coverage(fewest):.0f} %, as the range of {fewest} pairs does"
        notes = [
            f"differences: medians over pairs of runs that share the {shared}; intervals cover them with {covered},"
            " whatever the distribution",
            f"intervals cover what seeds draw, such as victims{varied}{same}; not what the model leaves out",
            "sure: the sign test is below 0.05, also after Holm's correction over all settings",
            *self._pairing(),
        ]
        if any(cell.causes for cell in self._cells):
            notes.append(
                "because: parts of the time of a worker in the middle pair, in % of the baseline's makespan; they add"
                " up to the difference"
            )
        return notes

    def _pairing(self) -> list[str]:
        """How much the values of a pair have in common, and what that is worth."""
        known = [cell.effect.correlation for cell in self._cells if not math.isnan(cell.effect.correlation)]
        if not known:
            return []
        usual = float(np.median(known))
        spread = f" (median of {len(known)} settings, {min(known):.2f} to {max(known):.2f})" if len(known) > 1 else ""
        worth = "differences within pairs are sharper than between runs" if usual >= SHARP else "pairs sharpen little"
        return [f"pairs: rank correlation {usual:.2f}{spread}: {worth}"]

    def _times_vary(self) -> bool:
        """Whether repeats differ in the tasks' own times: then their serial times do."""
        serial = self._numbers("serial_ps")
        sides = [rows for cell in self._cells for rows in (cell.contrast.first, cell.contrast.other)]
        return any(bool(np.ptp(serial[rows]) > 0) for rows in sides if len(rows))


def _columns(name: str, estimate: Estimate) -> Mapping[str, float]:
    value = estimate.value if estimate.count else math.nan
    return {name: value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
