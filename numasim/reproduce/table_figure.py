"""The figure of a table: published values beside simulated values, with error bars over the seeds.

A table has a group of bars for each row, and a colour for each column. If the values of the rows differ too much for
one axis, each row has a panel. If rows are numbers of workers, each column has a panel with lines: dashed for published
values, solid for simulated values.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter

from numasim.report.figures.style import legend_below, line_colour, panels_of, styled
from numasim.reproduce.table_cells import TRUTH, Cell, Role, Table
from numasim.reproduce.text import Group, column_groups, column_label, row_keys, simulated_estimate

HATCHES = {Role.INPUT: "xx", Role.REFERENCE: "xx", Role.FITTED: "////", Role.PREDICTED: ""}  # hatches of simulated bars
MARKERS = {Role.INPUT: "s", Role.REFERENCE: "s", Role.FITTED: "D", Role.PREDICTED: "o"}  # markers of simulated points
PUBLISHED_ALPHA = 0.25  # opacity of published bars
PUBLISHED_LINE = (0, (4, 2))
ERROR_COLOUR = "#262626"
NEUTRAL = "#7F7F7F"  # the colour of legends
CAP_POINTS = 2.5
COMPACT_FROM = 10_000
AXIS_WORDS = {"count": "count", "1": "ratio", TRUTH: "share of the seeds"}


def y_label(cell: Cell) -> str:
    """Return the label of an axis: the quantity and the unit of a cell."""
    unit = AXIS_WORDS.get(cell.unit, cell.unit)
    words = cell.quantity.removesuffix(f"_{cell.unit.lower()}").replace("_", " ")
    return words if words.endswith(unit) else f"{words} ({unit})"


def compact_counts(axes: Axes) -> None:
    """Label large numbers of the vertical axis as 20 k and 5 M."""
    if axes.get_ylim()[1] >= COMPACT_FROM:
        axes.yaxis.set_major_formatter(EngFormatter())


COMMON_AXIS_FACTOR = 12  # rows share an axis if their largest values differ by at most this factor
PANEL_COLUMNS = 3
NARROW_COLUMNS = 4  # columns of panels, if four columns leave fewer places of the grid empty
PANEL_INCHES = 1.75  # height of a panel of one row
WIDE_INCHES = 3.0  # height of a panel of all rows
BAR_WIDTH = 0.8
PAIR_GAP = 0.25  # the gap between pairs of bars
ROW_GAP = 1.0
FEWEST_BARS = 14  # the width of a panel of all rows suits at least this many bars, so that bars do not become too wide
TICK_CHARACTERS = 90  # the room under a panel of all rows, in characters


def draw_bars(figure: SubFigure, groups: Sequence[Group], rows: Sequence[str], colours: Sequence[str]) -> None:
    """Draw the columns ``groups`` of one quantity in one panel, or in a panel for each row."""
    if _share_axis(groups):
        _together(figure.subplots(), groups, rows, colours)
        return
    columns = _columns(len(rows))
    panels = panels_of(figure, len(rows), columns)
    for axes, row in zip(panels, rows, strict=True):
        _fill(axes, groups, [row], colours)
        axes.set_title(row)
        axes.set_xticks([])
        compact_counts(axes)
    alike = len({cell.quantity for cell in groups[0].cells.values()}) == 1
    for axes in panels[::columns]:
        axes.set_ylabel(y_label(groups[0].first) if alike else "")


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
    """Draw the bars, and return the horizontal middle of each row."""
    axes.grid(visible=False, axis="x")
    used = len(groups) * (2 + PAIR_GAP) - PAIR_GAP  # the width of a row in units of one bar
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
        low = found.low if found.value < 0 else max(0.0, found.low)  # counts and times are never negative
        margins = [[found.value - low], [found.high - found.value]]
        axes.errorbar(left + 1, found.value, margins, color=ERROR_COLOUR, linewidth=1, capsize=CAP_POINTS)


def _share_axis(groups: Sequence[Group]) -> bool:
    sizes: dict[str, list[float]] = {}  # of each row
    for group in groups:
        for row, cell in group.cells.items():
            size = abs(cell.published) if math.isnan(cell.mean) else max(abs(cell.published), abs(cell.mean))
            sizes.setdefault(row, []).append(size)
    largest = [max(row) for row in sizes.values()]
    return max(largest) <= COMMON_AXIS_FACTOR * min(largest)


LINE_COLUMNS = 2
PANEL_HEIGHT = 2.7  # inches
TITLE_CHARACTERS = 38  # the room over a panel, in characters
FEWEST_POINTS = 4  # fewer points get no line, since a line would suggest a shape


def over_workers(rows: Sequence[str]) -> bool:
    """Return whether the names of the rows are numbers, and there are enough of them for a line."""
    try:
        return len(rows) >= FEWEST_POINTS and all(map(math.isfinite, map(float, rows)))
    except ValueError:
        return False


def draw_lines(figure: SubFigure, groups: Sequence[Group], colours: Sequence[str], x_label: str) -> None:
    """Draw each column in a panel; panels share the axis if all columns have one quantity."""
    columns = min(LINE_COLUMNS, len(groups))
    alike = len({group.first.quantity for group in groups}) == 1
    panels = panels_of(figure, len(groups), columns, sharey=alike)
    for axes, group, colour in zip(panels, groups, colours, strict=True):
        _curves(axes, group, colour)
        axes.set_title("\n".join(textwrap.wrap(column_label(group.first), TITLE_CHARACTERS)))
        axes.set_xlabel(x_label)
        axes.set_ylabel(AXIS_WORDS.get(group.first.unit, group.first.unit))
        axes.set_ylim(bottom=0)


def _curves(axes: Axes, group: Group, colour: str) -> None:
    numbers = [float(row) for row in group.cells]
    published = [cell.published for cell in group.cells.values()]
    axes.plot(
        numbers, published, color=colour, linestyle=PUBLISHED_LINE, linewidth=1.4, marker="o", markerfacecolor="white"
    )
    found = [simulated_estimate(cell) for cell in group.cells.values()]
    values = np.array([estimate.value for estimate in found])
    low = np.array([max(0.0, estimate.low) for estimate in found])
    high = np.array([estimate.high for estimate in found])
    axes.plot(numbers, values, color=colour, linewidth=2, zorder=3)
    axes.errorbar(
        numbers,
        values,
        [values - low, high - values],
        fmt="none",
        ecolor=ERROR_COLOUR,
        elinewidth=1,
        capsize=CAP_POINTS,
    )
    for number, cell in zip(numbers, group.cells.values(), strict=True):
        axes.plot(number, cell.mean, color=colour, marker=MARKERS[cell.role], zorder=4)
    axes.set_xticks(numbers, list(group.cells))


WIDTH_INCHES = 8.2
LEGEND_INCHES = 0.7


def table_figure(table: Table) -> Figure | None:
    """Draw the published beside the simulated values, or return None if no cell was simulated.

    In a table with predictions, columns of quantities without a prediction are left out.
    """
    groups = shown_groups(table)
    if not any(cell.simulated for group in groups for cell in group.cells.values()):
        return None
    draw = _lines if over_workers(row_keys(table)) else _bars
    return table.figure(table) or draw(table, groups)


def shown_groups(table: Table) -> list[Group]:
    """Return the columns of quantities that have a prediction in the table; all columns if no quantity has one."""
    groups = column_groups(table)
    predicted = {group.first.quantity for group in groups if Role.PREDICTED in group.roles}
    return [group for group in groups if not predicted or group.first.quantity in predicted]


@styled
def _lines(table: Table, groups: Sequence[Group]) -> Figure:
    height = -(-len(groups) // LINE_COLUMNS) * PANEL_HEIGHT + LEGEND_INCHES
    figure = Figure(figsize=(WIDTH_INCHES, height), layout="constrained")
    colours = [line_colour(index) for index in range(len(groups))]
    (part,) = figure.subfigures(1, 1, squeeze=False).flat
    draw_lines(part, groups, colours, ", ".join(table.key_columns).replace("_", " "))
    published = Line2D([], [], color=NEUTRAL, linestyle=PUBLISHED_LINE, marker="o", markerfacecolor="white")
    published.set_label("published")
    roles = [(role, f"simulated, {role}") for role in _roles(groups)]
    legend_below(
        figure,
        [published, *(Line2D([], [], color=NEUTRAL, marker=MARKERS[role], label=label) for role, label in roles)],
    )
    return figure


@styled
def _bars(table: Table, groups: Sequence[Group]) -> Figure:
    rows = row_keys(table)
    quantities = list(dict.fromkeys(group.first.quantity for group in groups))
    alike = [[group for group in groups if group.first.quantity == quantity] for quantity in quantities]
    panels_inches = -(-len(rows) // _columns(len(rows))) * (PANEL_INCHES + 0.35)  # the height of a panel for each row
    heights = [WIDE_INCHES if _share_axis(some) else panels_inches for some in alike]
    figure = Figure(figsize=(WIDTH_INCHES, sum(heights) + LEGEND_INCHES), layout="constrained")
    colours = {group.column: line_colour(index) for index, group in enumerate(groups)}
    parts = figure.subfigures(len(alike), 1, height_ratios=heights, squeeze=False)
    for part, some in zip(parts.flat, alike, strict=True):
        draw_bars(part, some, rows, [colours[group.column] for group in some])
    columns = [Patch(color=colours[group.column], label=column_label(group.first)) for group in groups]
    published = Patch(facecolor=(NEUTRAL, PUBLISHED_ALPHA), edgecolor=NEUTRAL, label="published")
    simulated = [
        Patch(facecolor=NEUTRAL, edgecolor="white", linewidth=0, hatch=HATCHES[role], label=f"simulated, {role}")
        for role in _roles(groups)
    ]
    legend_below(figure, [*(columns if len(groups) > 1 else []), published, *simulated])
    return figure


def _roles(groups: Sequence[Group]) -> list[Role]:
    present = {role for group in groups for role in group.roles}
    return [role for role in Role if role in present]
