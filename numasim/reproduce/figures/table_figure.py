"""The figure of a table: bars by row, or lines where the rows are numbers of workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from numasim.report.figures.grid import legend_below
from numasim.report.figures.style import line_colour, styled
from numasim.reproduce.figures.bar_panels import bars_height, draw_bars
from numasim.reproduce.figures.palette import bar_handles, line_handles
from numasim.reproduce.figures.regression_figure import regression_figure
from numasim.reproduce.figures.worker_lines import draw_lines, lines_height, over_workers
from numasim.reproduce.pages.number_text import column_label
from numasim.reproduce.pages.table_layout import Group, column_groups, row_keys
from numasim.reproduce.table_cells import Role, Table

WIDTH_INCHES = 8.2
LEGEND_INCHES = 0.7
FIGURES: dict[str, Callable[[Table], Figure]] = {"regression": regression_figure}  # kinds with figures of their own


def table_figure(table: Table) -> Figure | None:
    """Draw published beside simulated; None where nothing was simulated.

    Columns used only for fitting are left out where the table has predictions: they are of other quantities, and their
    errors are in the table.
    """
    groups = shown_groups(table)
    if not any(cell.simulated for group in groups for cell in group.cells.values()):
        return None
    if table.kind in FIGURES:
        return FIGURES[table.kind](table)
    draw = _lines if over_workers(row_keys(table)) else _bars
    return draw(table, groups)


def shown_groups(table: Table) -> list[Group]:
    """Return the columns whose quantity has a prediction in this table, all of them where none has."""
    groups = column_groups(table)
    predicted = {group.first.quantity for group in groups if Role.PREDICTED in group.roles}
    return [group for group in groups if not predicted or group.first.quantity in predicted]


@styled
def _lines(table: Table, groups: Sequence[Group]) -> Figure:
    figure = Figure(figsize=(WIDTH_INCHES, lines_height(groups) + LEGEND_INCHES), layout="constrained")
    colours = [line_colour(index) for index in range(len(groups))]
    (part,) = figure.subfigures(1, 1, squeeze=False).flat
    draw_lines(part, groups, colours, ", ".join(table.key_columns).replace("_", " "))
    legend_below(figure, line_handles(_roles(groups)))
    return figure


@styled
def _bars(table: Table, groups: Sequence[Group]) -> Figure:
    rows = row_keys(table)
    quantities = list(dict.fromkeys(group.first.quantity for group in groups))
    alike = [[group for group in groups if group.first.quantity == quantity] for quantity in quantities]
    heights = [bars_height(some, rows) for some in alike]
    figure = Figure(figsize=(WIDTH_INCHES, sum(heights) + LEGEND_INCHES), layout="constrained")
    colours = {group.column: line_colour(index) for index, group in enumerate(groups)}
    parts = figure.subfigures(len(alike), 1, height_ratios=heights, squeeze=False)
    for part, some in zip(parts.flat, alike, strict=True):
        draw_bars(part, some, rows, [colours[group.column] for group in some])
    legend_below(figure, [*_column_handles(groups, colours), *bar_handles(_roles(groups))])
    return figure


def _column_handles(groups: Sequence[Group], colours: dict[str, str]) -> list[Artist]:
    if len(groups) == 1:
        return []
    return [Patch(color=colours[group.column], label=column_label(group.first)) for group in groups]


def _roles(groups: Sequence[Group]) -> list[Role]:
    present = {role for group in groups for role in group.roles}
    return [role for role in Role if role in present]
