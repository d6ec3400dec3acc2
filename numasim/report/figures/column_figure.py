"""Any column of a results table over any axis of the sweep."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from numasim.engine.columns import DESCRIBED
from numasim.engine.unit_text import scale_of
from numasim.errors import InputError
from numasim.report.chosen_axes import choose_axes
from numasim.report.comparison_cells import finished, numbers
from numasim.report.estimates import DRAWN_COLUMNS, estimate
from numasim.report.figures.axis_figure import Quantity, axis_figure
from numasim.report.figures.grid import empty_figure
from numasim.report.figures.style import styled
from numasim.report.results_table import HasFrame, table_of


@styled
def column(
    results: HasFrame | pd.DataFrame,
    name: str = "makespan_ps",
    *,
    x: str | None = None,
    colour: str | None = None,
    facet: str | None = None,
) -> Figure:
    """Draw a column of numbers of ``results``: medians over the repeats, with intervals.

    ``x``, ``colour`` and ``facet`` are axes of the sweep, or ``machine``, ``workload``, ``strategy`` or ``workers``; by
    default, x is the axis that varies. Numbers on x give lines with bands, names dots with intervals. What else varies
    divides the runs into more panels. Raises `InputError` for a name that is no such column or axis.
    """
    if name not in DRAWN_COLUMNS:
        expected = f"one of {', '.join(DRAWN_COLUMNS)}"
        raise InputError(f"{name!r} is no column of numbers", expected=expected, value=name, known=DRAWN_COLUMNS)
    frame = table_of(results)
    runs = finished(frame)
    chosen = choose_axes(frame, x, colour, facet)
    if runs.empty:
        return empty_figure("no finished runs")
    values = numbers(runs, name)
    if np.isnan(values).all():
        return empty_figure(f"no run has a value of {name}")
    return axis_figure(frame, chosen, quantity(name, float(np.nanmax(np.abs(values)))))


def quantity(name: str, largest: float) -> Quantity:
    """The column ``name`` as what a figure shows, in the unit that suits its ``largest`` value."""
    described = DESCRIBED[name]
    factor, unit = scale_of(largest, described.unit)
    text = f"{described.label} ({unit})" if unit else described.label
    return Quantity(text, lambda runs: estimate(runs, name), factor, share_y=described.kind == "ratio")
