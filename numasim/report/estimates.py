"""The estimate of any column over the repeats of a cell: the same in every table, figure and page."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.engine.columns import DESCRIBED
from numasim.report.answers.statistics import CONFIDENCE, Estimate, mean_interval, ratio_interval
from numasim.report.comparison_cells import numbers

FloatArray = npt.NDArray[np.float64]

RATIOS_OF_SUMS = {  # of what each is the ratio: what has many attempts counts more than what has few
    "steal_miss_ratio": ("steal_false", "steal_attempts"),
    "steal_remote_ratio": ("steal_attempts_remote", "steal_attempts"),
}
DRAWN_COLUMNS = tuple(  # what has a mean
    name for name, column in DESCRIBED.items() if column.kind != "text" and column.group != "identity"
)


def estimate(runs: pd.DataFrame, column: str) -> Estimate:
    """Return the mean of ``column`` over ``runs`` with its 95 % interval, or the ratio of the sums of its parts."""
    if column in RATIOS_OF_SUMS:
        part, whole = RATIOS_OF_SUMS[column]
        return ratio_interval(numbers(runs, part), numbers(runs, whole))
    return mean_interval(numbers(runs, column))


def mean_intervals(values: FloatArray, cell_of: npt.NDArray[np.intp]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """[cells] Means of ``values`` [runs], and the bounds of their intervals, as `mean_interval` has them for one cell.

    ``cell_of`` [runs] numbers the cells from 0. NaN where a cell has no value, bounds also where it has one alone.
    """
    from scipy.special import stdtrit

    cells = int(cell_of.max()) + 1
    known = ~np.isnan(values)
    count = np.bincount(cell_of[known], minlength=cells).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(cell_of[known], values[known], cells) / count
        squares = np.bincount(cell_of[known], (values[known] - mean[cell_of[known]]) ** 2, cells)
        half = stdtrit(count - 1, (1 + CONFIDENCE) / 2) * np.sqrt(squares / (count - 1) / count)
    return mean, mean - half, mean + half
