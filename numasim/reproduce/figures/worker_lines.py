"""Lines over the number of workers, a panel per column: published dashed, simulated solid, error bars over seeds."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from numasim.reproduce.figures.palette import AXIS_WORDS, CAP_POINTS, ERROR_COLOUR, MARKERS, PUBLISHED_LINE
from numasim.reproduce.pages.number_text import column_label, simulated_estimate
from numasim.reproduce.pages.table_layout import Group

PANEL_COLUMNS = 2
PANEL_HEIGHT = 2.7  # inches
TITLE_CHARACTERS = 38  # that fit over a panel
FEWEST_POINTS = 4  # with fewer points a line would suggest a shape


def over_workers(rows: Sequence[str]) -> bool:
    """Whether the keys of the rows are numbers, and enough of them for a line."""
    return len(rows) >= FEWEST_POINTS and all(_is_number(row) for row in rows)


def lines_height(groups: Sequence[Group]) -> float:
    """Return how many inches high the panels of these columns are."""
    return -(-len(groups) // PANEL_COLUMNS) * PANEL_HEIGHT


def draw_lines(figure: SubFigure, groups: Sequence[Group], colours: Sequence[str], x_label: str) -> None:
    """Draw each column in a panel; columns of one quantity share their axis."""
    columns = min(PANEL_COLUMNS, len(groups))
    alike = len({group.first.quantity for group in groups}) == 1
    panels = figure.subplots(-(-len(groups) // columns), columns, squeeze=False, sharey=alike)
    for axes, group, colour in zip(panels.flat, groups, colours, strict=False):
        _curves(axes, group, colour)
        axes.set_title("\n".join(textwrap.wrap(column_label(group.first), TITLE_CHARACTERS)))
        axes.set_xlabel(x_label)
        axes.set_ylabel(AXIS_WORDS.get(group.first.unit, group.first.unit))
        axes.set_ylim(bottom=0)
    for unused in panels.flat[len(groups) :]:
        unused.remove()


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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
