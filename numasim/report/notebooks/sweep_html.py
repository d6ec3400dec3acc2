"""A sweep as a notebook shows it: what was swept, what came out in sentences, median makespans, where the files are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from numasim import html as pieces
from numasim.engine.unit_text import time_text
from numasim.html import Html
from numasim.report.answers.part_details import stated_inputs
from numasim.report.answers.question import compare
from numasim.report.answers.varying_axes import Axis, value_text, varying_axes
from numasim.report.comparison_cells import failed, finished

FIXED = ("workload", "machine", "strategy")  # named in the title where all runs have the same
VALUE_LIMIT = 12  # values of an axis, and rows of the table
COLUMN_LIMIT = 8  # of the table of makespans
MESSAGE_LIMIT = 3


def sweep_html(frame: pd.DataFrame, directory: Path) -> str:
    """The HTML of a results table whose files are in ``directory``; the same table gives the same text."""
    axes = varying_axes(frame)
    done = finished(frame)
    return pieces.panel(
        _title(frame),
        *_failures(frame),
        _axes(axes, frame["repeat"].nunique()),
        *(_answer(done) if axes and not done.empty else ()),
        *map(pieces.note, stated_inputs(frame)),
        _files(directory),
    )


def _title(frame: pd.DataFrame) -> str:
    fixed = [value_text(frame[name].iloc[0]) for name in FIXED if frame[name].nunique(dropna=False) == 1]
    return ": ".join([f"Sweep of {len(frame):,} runs", *([", ".join(fixed)] if fixed else [])])


def _failures(frame: pd.DataFrame) -> list[Html]:
    broken = failed(frame)
    if broken.empty:
        return []
    counts = broken["error"].value_counts(sort=False)
    shown = [f"{count} x {message}" for message, count in list(counts.items())[:MESSAGE_LIMIT]]
    more = [f"and {len(counts) - MESSAGE_LIMIT} other messages"] if len(counts) > MESSAGE_LIMIT else []
    return [pieces.note(f"{len(broken)} of {len(frame)} runs failed:", pieces.listed([*shown, *more]))]


def _axes(axes: Sequence[Axis], repeats: int) -> Html:
    rows = [(axis.name, _listed(axis.texts), len(axis.values)) for axis in axes]
    seeds = [("repeat", "each with a seed of its own, which all cells share", repeats)] if repeats > 1 else []
    table = pieces.table(("axis", "values", "number"), [*rows, *seeds], left=2)
    return pieces.section("What was swept", table)


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - VALUE_LIMIT} more" if len(texts) > VALUE_LIMIT else ""
    return ", ".join(texts[:VALUE_LIMIT]) + more


def _answer(done: pd.DataFrame) -> list[Html]:
    """The sentences of the question that the sweep is about, and the medians behind them."""
    axes = varying_axes(done)
    if not axes:
        return []
    compared, others = axes[0], axes[1:]
    asked = pieces.section(
        "What came out",
        pieces.listed(compare(done, compared.name).sentences),
        pieces.paragraph("Other questions: .compare(axis, baseline, column)"),
    )
    return [asked, _medians(done, compared, [name for axis in others for name in axis.columns])]


def _medians(done: pd.DataFrame, compared: Axis, settings: Sequence[str]) -> Html:
    """Median makespans: a row for each setting, a column for each value that is compared."""
    values = range(min(len(compared.values), COLUMN_LIMIT))
    rows = []
    groups = list(done.groupby(list(settings), sort=False, dropna=False)) if settings else [((), done)]
    for setting, runs in groups[:VALUE_LIMIT]:
        codes = pd.Series(compared.codes, done.index)[runs.index]
        medians = runs["makespan_ps"].astype(float).groupby(codes).median()
        cells = [time_text(medians[at]) if at in medians else "" for at in values]
        rows.append([*map(value_text, setting), *cells])
    head = [*settings, *(compared.texts[at] for at in values)]
    left_out = _left_out(len(groups) - VALUE_LIMIT, len(compared.values) - COLUMN_LIMIT)
    return pieces.section("Median makespan", pieces.table(head, rows, left=len(settings)), *left_out)


def _left_out(rows: int, columns: int) -> list[Html]:
    counts = [f"{count} more {what}" for count, what in ((rows, "settings"), (columns, "values")) if count > 0]
    return [pieces.paragraph(" and ".join(counts))] if counts else []


def _files(directory: Path) -> Html:
    line = f"The tables, the answers and the page are in {directory}; numasim view shows the page."
    return pieces.section("Files", pieces.paragraph(line))
