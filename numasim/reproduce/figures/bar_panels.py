"""Grouped bars of a table: published beside simulated, a colour for each column, error bars over the seeds.

Rows whose values are too far apart to share an axis get a panel each.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from numasim.reproduce.figures.palette import (
    CAP_POINTS,
    ERROR_COLOUR,
    HATCHES,
    PUBLISHED_ALPHA,
    compact_counts,
    y_label,
)
from numasim.reproduce.pages.number_text import simulated_estimate
from numasim.reproduce.pages.table_layout import Group
from numasim.reproduce.table_cells import Cell

COMMON_AXIS_FACTOR = 12  # between largest and smallest row that may share an axis
PANEL_COLUMNS = 3
NARROW_COLUMNS = 4  # where that leaves fewer places empty
PANEL_INCHES = 1.75  # height of a panel of one row
WIDE_INCHES = 3.0  # height of a panel of all rows
BAR_WIDTH = 0.8  # of what a pair of bars has
PAIR_GAP = 0.25  # between pairs
ROW_GAP = 1.0
FEWEST_BARS = 14  # that a panel of all rows has room for, so that bars do not become too wide
TICK_CHARACTERS = 90  # that fit under a panel of all rows


def bars_height(groups: Sequence[Group], rows: Sequence[str]) -> float:
    """Return how many inches high the panels of these columns are."""
    if _share_axis(groups):
        return WIDE_INCHES
    return -(-len(rows) // _columns(len(rows))) * (PANEL_INCHES + 0.35)


def draw_bars(figure: SubFigure, groups: Sequence[Group], rows: Sequence[str], colours: Sequence[str]) -> None:
    """Draw the cells of ``groups``, which have one quantity, in one panel or in one for each row."""
    if _share_axis(groups):
        _together(figure.subplots(), groups, rows, colours)
        return
    columns = _columns(len(rows))
    panels = figure.subplots(-(-len(rows) // columns), columns, squeeze=False)
    for axes, row in zip(panels.flat, rows, strict=False):
        _fill(axes, groups, [row], colours)
        axes.set_title(row)
        axes.set_xticks([])
        compact_counts(axes)
    alike = len({cell.quantity for cell in groups[0].cells.values()}) == 1
    for axes in panels[:, 0]:
        axes.set_ylabel(y_label(groups[0].first) if alike else "")
    for unused in panels.flat[len(rows) :]:
        unused.remove()


def _together(axes: Axes, groups: Sequence[Group], rows: Sequence[str], colours: Sequence[str]) -> None:
    middles = _fill(axes, groups, rows, colours)
    width = TICK_CHARACTERS // len(rows)
    axes.set_xticks(middles, ["\n".join(textwrap.wrap(row, width)) for row in rows])
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(y_label(groups[0].first))
    compact_counts(axes)


def _columns(count: int) -> int:
    empty = {columns: -count % columns for columns in (PANEL_COLUMNS, NARROW_COLUMNS)}
    return min(count, NARROW_COLUMNS if empty[NARROW_COLUMNS] < empty[PANEL_COLUMNS] else PANEL_COLUMNS)


def _fill(axes: Axes, groups: Sequence[Group], rows: Sequence[str], colours: Sequence[str]) -> list[float]:
    """Draw the bars and return the middle of each row."""
    axes.grid(visible=False, axis="x")
    used = len(groups) * (2 + PAIR_GAP) - PAIR_GAP  # bars of a row, one unit each
    gap = max(ROW_GAP, FEWEST_BARS / len(rows) - used) if len(rows) > 1 else ROW_GAP
    middles = []
    for index, row in enumerate(rows):
        left = index * (used + gap)
        for place, (group, colour) in enumerate(zip(groups, colours, strict=True)):
            if row in group.cells:
                _pair(axes, left + place * (2 + PAIR_GAP), group.cells[row], colour)
        middles.append(left + (used - 1) / 2)
    axes.set_xlim(middles[0] - (used + gap) / 2, middles[-1] + (used + gap) / 2)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    return middles


def _pair(axes: Axes, left: float, cell: Cell, colour: str) -> None:
    axes.bar(left, cell.published, BAR_WIDTH, color=(colour, PUBLISHED_ALPHA), edgecolor=colour, linewidth=1)
    if math.isnan(cell.mean):
        axes.annotate("none", (left + 1, 0), (0, 3), textcoords="offset points", ha="center", fontsize=8, rotation=90)
        return
    found = simulated_estimate(cell)
    axes.bar(left + 1, found.value, BAR_WIDTH, color=colour, edgecolor="white", linewidth=0, hatch=HATCHES[cell.role])
    if not math.isnan(found.low):
        low = found.low if found.value < 0 else max(0.0, found.low)  # counts and times are not negative
        margins = [[found.value - low], [found.high - found.value]]
        axes.errorbar(left + 1, found.value, margins, color=ERROR_COLOUR, linewidth=1, capsize=CAP_POINTS)


def _share_axis(groups: Sequence[Group]) -> bool:
    sizes = [max(map(_size, row)) for row in _by_row(groups)]
    return max(sizes) <= COMMON_AXIS_FACTOR * min(sizes)


def _size(cell: Cell) -> float:
    return abs(cell.published) if math.isnan(cell.mean) else max(abs(cell.published), abs(cell.mean))


def _by_row(groups: Sequence[Group]) -> list[list[Cell]]:
    rows: dict[str, list[Cell]] = {}
    for group in groups:
        for key, cell in group.cells.items():
            rows.setdefault(key, []).append(cell)
    return list(rows.values())
