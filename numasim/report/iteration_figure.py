"""What the iterations of programs took and counted, one after the other: lines over the number of the iteration."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from numasim.engine.result import Result
from numasim.engine.unit_text import scale_of
from numasim.errors import InputError
from numasim.report.chosen_axes import choose_axes
from numasim.report.comparison_cells import ITERATION, estimate, numbers
from numasim.report.figures.axis_figure import Quantity, axis_figure
from numasim.report.figures.grid import empty_figure
from numasim.report.figures.style import styled
from numasim.report.iteration_table import ITERATION_COLUMNS, TIME, by_iteration
from numasim.report.results_table import HasFrame, table_of


class HasIterations(HasFrame, Protocol):
    """Results of a sweep, such as those of `numasim.sweep`, with a row for each run of a phase."""

    def iterations(self) -> pd.DataFrame:
        """One row for each run of a phase."""


@styled
def iterations(
    results: HasIterations | Result, column: str = TIME, *, colour: str | None = None, facet: str | None = None
) -> Figure:
    """Draw ``column`` over the iterations of a sweep or of a single run: medians over the repeats, in bands.

    ``column`` is ``time_ps`` or a sum of `Result.iterations`, such as ``bytes_remote``. A line is a strategy, unless
    ``colour`` names another axis; what else varies divides the runs into panels, ``facet`` first. Phases that run only
    once are left out. Raises `InputError` for another column or axis.
    """
    if column not in ITERATION_COLUMNS:
        expected = f"one of {', '.join(ITERATION_COLUMNS)}"
        raise InputError(f"{column!r} is not counted by iteration", expected=expected, value=column)
    runs = by_iteration(*_tables(results))
    if runs.empty:
        return empty_figure("no program with iterations")
    described = ITERATION_COLUMNS[column]
    factor, unit = scale_of(float(np.nanmax(np.abs(numbers(runs, column)))), described.unit)
    text = f"{described.label} ({unit})" if unit else described.label
    quantity = Quantity(text, lambda cell: estimate(cell, column), factor, share_y=False)
    return axis_figure(runs, choose_axes(runs, ITERATION, colour, facet), quantity)


def _tables(results: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The results table, and the runs of phases."""
    if isinstance(results, Result):
        frame = results.to_frame()
        return frame, results.iterations.assign(run_id=frame["run_id"].iloc[0])
    frame = table_of(results)
    if isinstance(results, pd.DataFrame):
        raise InputError("got a DataFrame", expected="what ns.sweep or ns.run returned, which has iterations")
    return frame, results.iterations()
