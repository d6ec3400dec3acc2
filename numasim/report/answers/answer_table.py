"""Answers on the terminal: sentences, then a table 120 columns wide, in which cells without an effect are one line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

from numasim.engine.unit_text import ratio_text, time_text
from numasim.report.answers.effect_sentences import label_of
from numasim.report.answers.effect_table import ROW_LIMIT, Line, Row, print_effects
from numasim.report.answers.estimated_effects import cell_estimates
from numasim.report.answers.part_details import stated_inputs
from numasim.report.answers.question import Comparison, compare
from numasim.report.answers.statistics import FEWEST, interval_name
from numasim.report.answers.summary import WIDTH
from numasim.report.answers.time_parts import PartChange
from numasim.report.answers.varying_axes import value_text, varying_axes
from numasim.report.comparison_cells import cell_columns, failed, groups, label
from numasim.report.comparison_cells import value_text as column_text

HEADINGS = ("makespan", "miss ratio", "remote share")
SENTENCE_LIMIT = 8  # printed; more values than that have the table
FAILURE_LIMIT = 10  # different messages printed


def render(frame: pd.DataFrame, console: Console, folder: str = "RESULTS") -> None:
    """Print what a sweep found: the answer to its natural question, every cell with an effect, and the failed runs.

    ``folder`` is where its results are, for other questions.
    On a console that is not a terminal, such as a file, the table is as wide as it needs to be.
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
            print_effects(_lines_of_cells(cells, frame, comparison), HEADINGS, comparison, console)
            others = [name for name in axes if name != comparison.axis]
            more = [f"other questions: numasim compare {folder} --axis {' or '.join(others)}"] if others else []
            _print_notes([_interval_note(cells), *comparison.notes, *more], console)
        _print_failures(failed(frame), cell_columns(frame), console)


def render_comparison(comparison: Comparison, console: Console) -> None:
    """Print the answer to one question."""
    with _wide_enough(console):
        _print_sentences(comparison, console)
        column = comparison.column
        lines = [
            Line(
                tuple(value_text(row[name]) for name in comparison.varying),
                value,
                (column_text(column, row["baseline_median"]), column_text(column, row["median"])),
                row,
                causes,
            )
            for value, causes, row in _rows(comparison)
        ]
        described = label_of(column)
        print_effects(lines, (f"{described}, {comparison.baseline}", described), comparison, console)
        _print_notes(comparison.notes, console)


def _lines_of_cells(cells: pd.DataFrame, frame: pd.DataFrame, comparison: Comparison) -> list[Line]:
    """A line for each cell; those that are compared follow each other, and settings with few workers come first."""
    columns, axis = cell_columns(frame), comparison.axis.split("+")
    rows = {_key(row, columns): (row, causes) for _, causes, row in _rows(comparison)}
    others = [name for name in columns if name not in axis and name != "workers"]
    lines = []
    for _, members in groups(cells, others):
        for cell in cells.iloc[members].sort_values("workers", kind="stable").to_dict("records"):
            setting = tuple(value_text(cell[name]) for name in comparison.varying)
            value = " + ".join(value_text(cell[name]) for name in axis)
            failures = f" ({cell['failed']} failed)" if cell["failed"] else ""
            row, causes = rows.get(_key(cell, columns), (None, ()))
            lines.append(Line(setting, value + failures, _estimates(cell), row, causes))
    return lines


def _rows(comparison: Comparison) -> Iterator[tuple[str, tuple[PartChange, ...], Row]]:
    """The value, the causes and the numbers of each row of a comparison."""
    yield from zip(comparison.values, comparison.causes, comparison.table.to_dict("records"), strict=True)


def _print_cells(cells: pd.DataFrame, frame: pd.DataFrame, console: Console) -> None:
    """Print cells that nothing is compared with."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("cell", *HEADINGS):
        table.add_column(heading, overflow="fold")
    columns = cell_columns(frame)
    for cell in cells.head(ROW_LIMIT).to_dict("records"):
        failures = f" ({cell['failed']} failed)" if cell["failed"] else ""
        where = label(columns, [cell[name] for name in columns])
        table.add_row(f"{where}{failures}", *_estimates(cell))
    console.print(table, width=WIDTH)
    _print_notes([_interval_note(cells), *stated_inputs(frame)], console)


def _interval_note(cells: pd.DataFrame) -> str:
    """How to read the estimates of cells."""
    runs = cells["runs"][cells["runs"] > 1]
    return f"medians over the repeats, ± the wider side of {interval_name(int(runs.min()) if len(runs) else FEWEST)}"


def _key(row: Row, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(value_text(row[name]) for name in columns)


def _estimates(cell: Row) -> tuple[str, str, str]:
    return _makespan_text(cell), _ratio_range(cell, "steal_miss_ratio"), _ratio_range(cell, "steal_remote_ratio")


def _makespan_text(cell: Row) -> str:
    median, margin = cell["makespan_ps"], _margin(cell, "makespan_ps")
    return time_text(median) + ("" if math.isnan(margin) or not median else f" ±{100 * margin / median:.1f}%")


def _ratio_range(cell: Row, name: str) -> str:
    value, margin = cell[name], _margin(cell, name)
    return ratio_text(value) + ("" if math.isnan(margin) else f" ±{margin:.3f}")


def _margin(cell: Row, name: str) -> float:
    """The wider side of an interval."""
    return float(max(cell[f"{name}_high"] - cell[name], cell[name] - cell[f"{name}_low"]))


def _print_sentences(comparison: Comparison, console: Console) -> None:
    for sentence in comparison.sentences[:SENTENCE_LIMIT]:
        console.print(sentence, width=WIDTH, highlight=False, markup=False)
    if len(comparison.sentences) > SENTENCE_LIMIT:
        console.print(
            f"And {len(comparison.sentences) - SENTENCE_LIMIT} other values of {comparison.axis}.", width=WIDTH
        )


def _print_notes(notes: Sequence[str], console: Console) -> None:
    for note in notes:
        console.print(note, style="dim", width=WIDTH, highlight=False, markup=False)


def _print_failures(broken: pd.DataFrame, columns: Sequence[str], console: Console) -> None:
    """Count the failed runs and list their messages, each with the first cell in which it occurred."""
    if broken.empty:
        return
    console.print(f"failed runs: {len(broken)}", style="bold red", highlight=False)
    messages = groups(broken, ["error"])
    cells = list(broken[list(columns)].itertuples(index=False, name=None))
    for (message,), rows in messages[:FAILURE_LIMIT]:
        first = label(columns, cells[rows[0]])
        text = f"  {len(rows)} x {message} (first: {first})"
        console.print(text, width=WIDTH, markup=False, highlight=False)
    if len(messages) > FAILURE_LIMIT:
        console.print(f"  and {len(messages) - FAILURE_LIMIT} other messages", highlight=False)


@contextmanager
def _wide_enough(console: Console) -> Iterator[None]:
    given = console.width
    console.width = given if console.is_terminal else max(given, WIDTH)
    try:
        yield
    finally:
        console.width = given
