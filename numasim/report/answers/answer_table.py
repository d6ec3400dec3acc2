"""Answers on the terminal: sentences, then a table 120 columns wide, in which cells without an effect are one line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from numasim.engine.unit_text import MISSING, ratio_text, time_text
from numasim.report.answers.effect_sentences import label_of, span_text
from numasim.report.answers.estimated_effects import cell_estimates
from numasim.report.answers.question import Comparison, TextRow, compare
from numasim.report.answers.statistics import FEWEST, interval_name
from numasim.report.answers.summary import WIDTH
from numasim.report.answers.time_parts import stated_inputs
from numasim.report.answers.varying_axes import value_text, varying_axes
from numasim.report.comparison_cells import cell_columns, failures, groups, label

HEADINGS = ("makespan", "miss ratio", "remote share")
SENTENCE_LIMIT = 8  # most sentences printed; the other answers are only in the table
FAILURE_LIMIT = 10  # most different messages of failed runs printed
VALUE_WIDTH = 14  # least width, in characters, of the column of the axis on a narrow terminal
MOST_WIDTH = 40
ROW_LIMIT = 120  # most lines printed; a longer table is cut
FEW_ROWS = 12  # a table of at most so many rows is printed whole, also its rows without an effect


@dataclass(frozen=True)
class Line:
    """A line of the table: the setting, the value of the axis, the estimates, and the row of the comparison.

    The line of a baseline has no row of the comparison.
    """

    setting: tuple[str, ...]
    value: str
    estimates: tuple[str, ...]
    row: TextRow | None

    @property
    def folds(self) -> bool:
        """Return whether several pairs show no sure difference; one line of the table may stand for all such lines."""
        return self.row is not None and not self.row.sure and self.row.numbers["pairs"] > 1

    @property
    def effect(self) -> Text:
        """Return the difference, in green for a sure decrease and in red for a sure increase."""
        if self.row is None or not self.row.numbers["pairs"]:
            return Text(MISSING)
        style = ("green" if self.row.numbers["difference"] < 0 else "red") if self.row.sure else "dim"
        return Text(self.row.effect, style=style if self.row.numbers["pairs"] > 1 else "")


def render(frame: pd.DataFrame, console: Console, folder: str = "RESULTS") -> None:
    """Print the comparison along the first axis of a sweep, every cell with an effect, and the failed runs.

    If only the seed or nothing varies, print the medians of all cells instead of a comparison. ``folder`` has the
    results; the hint at other comparisons names ``folder``. A console that is no terminal, such as a file, is made at
    least `WIDTH` characters wide.
    """
    with _wide_enough(console):
        cells = cell_estimates(frame)
        if cells.empty:
            console.print("no runs")
            return
        axes = [axis.name for axis in varying_axes(frame)]
        comparison = compare(frame) if axes else None
        if comparison is None or "seed" in comparison.axis.split("+"):
            _print_cells(cells, frame, console)
        else:
            _print_sentences(comparison, console)
            _print_effects(_lines_of_cells(cells, frame, comparison), HEADINGS, comparison, console)
            others = [name for name in axes if name != comparison.axis]
            more = [f"other questions: numasim compare {folder} --axis {' or '.join(others)}"] if others else []
            _print_notes([_interval_note(cells), *comparison.notes, *more], console)
        _print_failures(frame, console)


def render_comparison(comparison: Comparison, console: Console) -> None:
    """Print the answer to one question: sentences, table and notes."""
    with _wide_enough(console):
        _print_sentences(comparison, console)
        lines = [Line(row.setting, row.value, row.medians, row) for row in comparison.rows()]
        described = label_of(comparison.column)
        _print_effects(lines, (f"{described}, {comparison.baseline}", described), comparison, console)
        _print_notes(comparison.notes, console)


def _lines_of_cells(cells: pd.DataFrame, frame: pd.DataFrame, comparison: Comparison) -> list[Line]:
    """Return a line for each cell; compared cells are neighbours, and settings with fewer workers come first."""
    columns, axis = cell_columns(frame), comparison.axis.split("+")

    def key(row: Any) -> tuple[str, ...]:
        return tuple(value_text(row[name]) for name in columns)

    rows = {key(row.numbers): row for row in comparison.rows()}
    lines = []
    for _, members in groups(cells, [name for name in columns if name not in axis and name != "workers"]):
        for cell in cells.iloc[members].sort_values("workers", kind="stable").to_dict("records"):
            setting = tuple(value_text(cell[name]) for name in comparison.varying)
            value = " + ".join(value_text(cell[name]) for name in axis)
            lines.append(Line(setting, value + _failures_of(cell), _estimates(cell), rows.get(key(cell))))
    return lines


def _print_effects(lines: list[Line], estimates: Sequence[str], comparison: Comparison, console: Console) -> None:
    """Print a line for each cell, with columns for the setting, the axis and ``estimates``.

    If there are more than `FEW_ROWS` lines, one line stands for all cells without a sure difference. The baseline of a
    setting is printed only beside another line of the setting.
    """
    folded = [line for line in lines if line.folds] if len(lines) > FEW_ROWS else []
    settings = {line.setting for line in lines if line.row is not None and line not in folded}
    shown = [line for line in lines if line not in folded and line.setting in settings]
    explained = any(line.row and line.row.causes for line in shown)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in comparison.varying:
        table.add_column(name, justify="right" if name == "workers" else "left", overflow="fold")
    width = min(MOST_WIDTH, max(VALUE_WIDTH, len(comparison.axis)))
    table.add_column(comparison.axis, overflow="fold", min_width=width)
    against = f"vs {comparison.baseline} (+: {comparison.words[0]})"
    for heading in (*estimates, against, *["because, %"] * explained):
        table.add_column(heading, overflow="fold")
    previous: tuple[str, ...] = ()
    for line in shown[:ROW_LIMIT]:
        setting = ("",) * len(line.setting) if line.setting == previous else line.setting
        causes = line.row.causes if line.row else ()
        because = [", ".join(f"{each.part.label} {each.percent:+.1f}" for each in causes)] * explained
        table.add_row(*setting, line.value, *line.estimates, line.effect, *because)
        previous = line.setting
    if shown:
        console.print(table, width=WIDTH)
    if folded:
        rows = [line.row.numbers for line in folded if line.row]
        relative = all(not math.isnan(row["percent"]) for row in rows)
        span = span_text(comparison.column, [row["percent" if relative else "difference"] for row in rows], relative)
        note = f"no sure difference in {len(folded)} of {len(comparison.table)} cells: {span}"
        console.print(note, width=WIDTH, highlight=False)
    if len(shown) > ROW_LIMIT:
        note = f"{len(shown) - ROW_LIMIT} more lines; the results table has all cells"
        console.print(note, width=WIDTH, highlight=False)


def _print_cells(cells: pd.DataFrame, frame: pd.DataFrame, console: Console) -> None:
    """Print the medians of cells, if only the seed or nothing varies, so that there is nothing to compare."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("cell", *HEADINGS):
        table.add_column(heading, overflow="fold")
    columns = cell_columns(frame)
    for cell in cells.head(ROW_LIMIT).to_dict("records"):
        table.add_row(label(columns, [cell[name] for name in columns]) + _failures_of(cell), *_estimates(cell))
    console.print(table, width=WIDTH)
    _print_notes([_interval_note(cells), *stated_inputs(frame)], console)


def _interval_note(cells: pd.DataFrame) -> str:
    """Return the note that explains the estimates of cells and their intervals."""
    runs = cells["runs"][cells["runs"] > 1]
    return f"medians over the repeats, ± the wider side of {interval_name(int(runs.min()) if len(runs) else FEWEST)}"


def _failures_of(cell: Any) -> str:
    return f" ({cell['failed']} failed)" if cell["failed"] else ""


def _estimates(cell: Any) -> tuple[str, ...]:
    """Return the texts below `HEADINGS`: for each heading a median, and the wider side of the median's interval."""
    margins = {
        name: float(max(cell[f"{name}_high"] - cell[name], cell[name] - cell[f"{name}_low"]))
        for name in ("makespan_ps", "steal_miss_ratio", "steal_remote_ratio")
    }
    makespan, *ratios = margins
    median, margin = cell[makespan], margins[makespan]
    percent = "" if math.isnan(margin) or not median else f" ±{100 * margin / median:.1f}%"
    texts = (
        ratio_text(cell[name]) + ("" if math.isnan(margins[name]) else f" ±{margins[name]:.3f}") for name in ratios
    )
    return (time_text(median) + percent, *texts)


def _print_sentences(comparison: Comparison, console: Console) -> None:
    for sentence in comparison.sentences[:SENTENCE_LIMIT]:
        console.print(sentence, width=WIDTH, highlight=False, markup=False)
    more = len(comparison.sentences) - SENTENCE_LIMIT
    if more > 0:
        console.print(f"And {more} other values of {comparison.axis}.", width=WIDTH)


def _print_notes(notes: Sequence[str], console: Console) -> None:
    for note in notes:
        console.print(note, style="dim", width=WIDTH, highlight=False, markup=False)


def _print_failures(frame: pd.DataFrame, console: Console) -> None:
    """Print the number of failed runs and their messages, each with the first cell in which the message occurred."""
    found = failures(frame, cell_columns(frame))
    if not found:
        return
    console.print(f"failed runs: {sum(count for count, _, _ in found)}", style="bold red", highlight=False)
    for count, message, first in found[:FAILURE_LIMIT]:
        console.print(f"  {count} x {message} (first: {first})", width=WIDTH, markup=False, highlight=False)
    if len(found) > FAILURE_LIMIT:
        console.print(f"  and {len(found) - FAILURE_LIMIT} other messages", highlight=False)


@contextmanager
def _wide_enough(console: Console) -> Iterator[None]:
    given = console.width
    console.width = given if console.is_terminal else max(given, WIDTH)
    try:
        yield
    finally:
        console.width = given
