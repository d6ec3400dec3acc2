"""The view of a sweep in a notebook: the axes, the answer in sentences, the median makespans, and the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from numasim import html as pieces
from numasim.engine.unit_text import time_text
from numasim.html import Html
from numasim.report.answers.question import compare
from numasim.report.answers.time_parts import stated_inputs
from numasim.report.answers.varying_axes import Axis, value_text, varying_axes
from numasim.report.comparison_cells import failures, finished

FIXED = ("workload", "machine", "strategy")  # named in the title if all runs have the same value
VALUE_LIMIT = 12  # most values of an axis, and most rows of the table
COLUMN_LIMIT = 8  # most columns of the table of makespans
MESSAGE_LIMIT = 3


def sweep_html(frame: pd.DataFrame, directory: Path) -> str:
    """Return the HTML of a results table with files in ``directory``. The same table gives the same text."""
    axes = varying_axes(frame)
    done = finished(frame)
    fixed = [value_text(frame[name].iloc[0]) for name in FIXED if frame[name].nunique(dropna=False) == 1]
    files = f"The tables, the answers and the page are in {directory}; numasim view shows the page."
    return pieces.panel(
        ": ".join([f"Sweep of {len(frame):,} runs", *([", ".join(fixed)] if fixed else [])]),
        *_failures(frame),
        _axes(axes, frame["repeat"].nunique()),
        *(_answer(done) if axes and not done.empty else ()),
        *map(pieces.note, stated_inputs(frame)),
        pieces.section("Files", pieces.paragraph(files)),
    )


def _failures(frame: pd.DataFrame) -> list[Html]:
    found = failures(frame, ())
    if not found:
        return []
    shown = [f"{count} x {message}" for count, message, _ in found[:MESSAGE_LIMIT]]
    more = [f"and {len(found) - MESSAGE_LIMIT} other messages"] if len(found) > MESSAGE_LIMIT else []
    broken = sum(count for count, _, _ in found)
    return [pieces.note(f"{broken} of {len(frame)} runs failed:", pieces.listed([*shown, *more]))]


def _axes(axes: Sequence[Axis], repeats: int) -> Html:
    rows = []
    for axis in axes:
        more = f" and {len(axis.texts) - VALUE_LIMIT} more" if len(axis.texts) > VALUE_LIMIT else ""
        rows.append((axis.name, ", ".join(axis.texts[:VALUE_LIMIT]) + more, len(axis.values)))
    if repeats > 1:
        rows.append(("repeat", "each with a seed of its own, which all cells share", repeats))
    return pieces.section("What was swept", pieces.table(("axis", "values", "number"), rows, left=2))


def _answer(done: pd.DataFrame) -> list[Html]:
    """Return the sentences of the comparison along the first axis, and a table of the medians behind the sentences."""
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
    """Return median makespans: a row for each setting, a column for each compared value."""
    values = range(min(len(compared.values), COLUMN_LIMIT))
    rows = []
    groups = list(done.groupby(list(settings), sort=False, dropna=False)) if settings else [((), done)]
    for setting, runs in groups[:VALUE_LIMIT]:
        codes = pd.Series(compared.codes, done.index)[runs.index]
        medians = runs["makespan_ps"].astype(float).groupby(codes).median()
        cells = [time_text(medians[at]) if at in medians else "" for at in values]
        rows.append([*map(value_text, setting), *cells])
    head = [*settings, *(compared.texts[at] for at in values)]
    left_out = {"settings": len(groups) - VALUE_LIMIT, "values": len(compared.values) - COLUMN_LIMIT}
    counts = [f"{count} more {what}" for what, count in left_out.items() if count > 0]
    below = [pieces.paragraph(" and ".join(counts))] if counts else []
    return pieces.section("Median makespan", pieces.table(head, rows, left=len(settings)), *below)
