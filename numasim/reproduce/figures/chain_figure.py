"""From the first strategy to the last: what each row of a class was published and simulated to take, a panel for a row.

The grey band is as wide as the class' ceiling: no model can be nearer to the published values than that on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from numasim.report.figures.grid import legend_below, panel_grid
from numasim.report.figures.style import line_colour, styled
from numasim.reproduce.figures.table_figure import AXIS_WORDS, ERROR_COLOUR, PUBLISHED_LINE
from numasim.reproduce.table_cells import Cell, Score, Table
from numasim.reproduce.text import simulated_estimate

COLUMNS = 3
PANEL_WIDTH, PANEL_HEIGHT = 2.7, 1.9  # inches
PUBLISHED_COLOUR, SIMULATED_COLOUR = "black", line_colour(0)
BAND_COLOUR = "#D9D9D9"
HEADROOM = 1.08  # over the largest value, and below the smallest if it is negative


def chains(tables: Sequence[Table], score: str) -> dict[str, list[Cell]]:
    """The cells of a class, row by row in the order of tables, each row from the baseline of its first cell on.

    Rows of a single cell are left out.
    """
    found: dict[str, list[Cell]] = {}
    for table in tables:
        at = {(cell.row, cell.column): cell for cell in table.cells}
        for cell in table.cells:
            if cell.score == score:
                before = at.get((cell.row, cell.baseline))
                found.setdefault(cell.row, [before] if before else []).append(cell)
    return {row: cells for row, cells in found.items() if len(cells) > 1}


@styled
def chain_figure(rows: Mapping[str, Sequence[Cell]], score: Score) -> Figure:
    """Draw the `chains` of a class over the variants of its cells, at least one."""
    unit = next(iter(rows.values()))[0].unit
    titles = [(row, "") for row in rows]
    figure, panels = panel_grid(
        titles,
        columns=COLUMNS,
        width=PANEL_WIDTH,
        height=PANEL_HEIGHT,
        x_label="",
        y_label=AXIS_WORDS.get(unit, f"{score.name} ({unit})"),
        share_y=False,
    )
    for axes, cells in zip(panels, rows.values(), strict=False):
        _chain(axes, cells, score.ceiling or 0.0)
    _label_variants(panels, list(rows.values()))
    legend_below(figure, _handles(score))
    return figure


def _chain(axes: Axes, cells: Sequence[Cell], ceiling: float) -> None:
    places = np.arange(len(cells))
    published = np.array([cell.published for cell in cells])
    if ceiling:
        axes.fill_between(places, published * (1 - ceiling), published * (1 + ceiling), color=BAND_COLOUR, linewidth=0)
    axes.plot(places, published, color=PUBLISHED_COLOUR, linestyle=PUBLISHED_LINE, marker="o", markerfacecolor="white")
    found = [simulated_estimate(cell) for cell in cells]
    values = np.array([each.value for each in found])
    margins = [values - [each.low for each in found], [each.high for each in found] - values]
    axes.errorbar(places, values, np.nan_to_num(margins), fmt="none", ecolor=ERROR_COLOUR, elinewidth=1, zorder=4)
    axes.plot(places, values, color=SIMULATED_COLOUR, linewidth=2, marker="s", zorder=3)
    drawn = np.append(published, values)
    lowest = float(np.nanmin(drawn))
    if lowest < 0:
        axes.axhline(0, color=ERROR_COLOUR, linewidth=0.8)
    axes.set_ylim(HEADROOM * min(0.0, lowest), HEADROOM * float(np.nanmax(drawn)))


def _label_variants(panels: Sequence[Axes], rows: Sequence[Sequence[Cell]]) -> None:
    """Name the variants below the lowest panel of each column."""
    for index, (axes, cells) in enumerate(zip(panels, rows, strict=False)):
        names = [cell.variant for cell in cells] if index + COLUMNS >= len(panels) else [""] * len(cells)
        axes.set_xticks(range(len(cells)), names, rotation=40, ha="right", rotation_mode="anchor")


def _handles(score: Score) -> list[Line2D | Patch]:
    published = Line2D([], [], color=PUBLISHED_COLOUR, linestyle=PUBLISHED_LINE, marker="o", markerfacecolor="white")
    published.set_label("published")
    simulated = Line2D([], [], color=SIMULATED_COLOUR, marker="s", linewidth=2, label="simulated, 95 % over seeds")
    if not score.ceiling:
        return [published, simulated]
    return [published, simulated, Patch(facecolor=BAND_COLOUR, label="ceiling: no model is nearer on average")]
