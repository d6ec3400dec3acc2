"""The estimate of any column over the repeats of a cell: the same in every table, figure and page."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.engine.columns import DESCRIBED
from numasim.report.answers.statistics import Estimate, bounds, median_estimate
from numasim.report.comparison_cells import numbers

FloatArray = npt.NDArray[np.float64]

DRAWN_COLUMNS = tuple(  # what has a median
    name for name, column in DESCRIBED.items() if column.kind != "text" and column.group != "identity"
)


def estimate(runs: pd.DataFrame, column: str) -> Estimate:
    """Return the median of ``column`` over ``runs`` with its interval."""
    return median_estimate(numbers(runs, column))


def median_estimates(values: FloatArray, cell_of: npt.NDArray[np.intp]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """[cells] Medians of ``values`` [runs], and the ends of their intervals, as `median_estimate` has them of one cell.

    ``cell_of`` [runs] numbers the cells from 0. NaN where a cell has no value, ends also where it has one alone.
    """
    known = ~np.isnan(values)
    counts = np.bincount(cell_of[known], minlength=int(cell_of.max()) + 1)
    ordered = values[known][np.lexsort((values[known], cell_of[known]))]
    start = np.cumsum(counts) - counts
    ends = np.array([bounds(count) if count else (0, 0) for count in counts.tolist()], np.intp)

    def at(place: npt.NDArray[np.intp], fewest: int) -> FloatArray:
        found = np.full(len(counts), np.nan)
        has = counts >= fewest
        found[has] = ordered[(start + place)[has]]
        return found

    median = (at((counts - 1) // 2, 1) + at(counts // 2, 1)) / 2
    return median, at(ends[:, 0], 2), at(ends[:, 1], 2)
