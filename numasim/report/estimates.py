"""The estimate of any column over the repeats of a cell: the same in every table, figure and page."""

from __future__ import annotations

import pandas as pd

from numasim.engine.columns import DESCRIBED
from numasim.report.answers.statistics import Estimate, mean_interval, ratio_interval
from numasim.report.comparison_cells import numbers

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
