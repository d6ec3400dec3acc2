"""The figure of a regression: single runs as points, the simulated line and the printed line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from numasim.report.figures.style import legend_below, line_colour, styled
from numasim.reproduce.quantities import QUANTITIES
from numasim.reproduce.table_cells import Table
from numasim.reproduce.table_figure import PUBLISHED_LINE
from numasim.reproduce.text import UNIT_WORDS, number_text


@styled
def regression_figure(table: Table) -> Figure:
    """Draw the first two of the table's extra series against each other, with both lines."""
    (x_name, x), (y_name, y) = list(table.extra.items())[:2]
    figure = Figure(figsize=(8.2, 4.0), layout="constrained")
    axes = figure.subplots()
    points = axes.plot(
        x, y, linestyle="", marker="o", alpha=0.6, color=line_colour(0), label=f"{len(x)} simulated runs"
    )
    axes.set_xlabel(_axis_label(x_name))
    axes.set_ylabel(_axis_label(y_name))
    axes.axis((*axes.get_xlim(), *axes.get_ylim()))  # the points determine the limits
    cells = {cell.row: cell for cell in table.cells}
    line = ("slope", "intercept", "r")
    simulated = _line(axes, "simulated", [cells[row].mean for row in line], "-", line_colour(0))
    published = _line(axes, "published", [cells[row].published for row in line], PUBLISHED_LINE, "black")
    legend_below(figure, [*points, simulated, published])
    return figure


def _line(axes: Axes, whose: str, statistics: Sequence[float], style: Any, colour: str) -> Line2D:
    """Draw a line across the figure. The label has the equation, and a remark if the line is outside of the limits."""
    slope, intercept, correlation = statistics
    ends = np.array(axes.get_xlim())
    values = intercept + slope * ends
    sign = "-" if slope < 0 else "+"
    told = f"{whose}: {number_text(intercept)} {sign} {number_text(abs(slope))} x, r = {correlation:.2f}"
    if not math.isnan(slope) and (values.max() < axes.get_ylim()[0] or values.min() > axes.get_ylim()[1]):
        told += " (outside of the figure)"
    return axes.plot(ends, values, linestyle=style, color=colour, linewidth=1.6, label=told)[0]


def _axis_label(name: str) -> str:
    quantity = QUANTITIES[name]
    unit = UNIT_WORDS.get(quantity.unit, quantity.unit)
    return f"{quantity.meaning} ({unit})" if unit else quantity.meaning
