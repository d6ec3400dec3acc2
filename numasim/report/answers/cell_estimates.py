"""What the runs of each cell of a sweep came to: makespan and steal ratios, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.report.answers.statistics import Estimate, median_estimate
from numasim.report.comparison_cells import cell_columns, groups, numbers

ESTIMATED = ("makespan_ps", "steal_miss_ratio", "steal_remote_ratio")

FloatArray = npt.NDArray[np.float64]


def cell_estimates(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per cell of a results table, in order of appearance.

    After the columns of the cell come ``runs`` and ``failed``, and ``makespan_ps``, ``steal_miss_ratio`` and
    ``steal_remote_ratio``, medians over the runs, each with ``_low`` and ``_high``, its interval
    (`numasim.report.answers.statistics.median_estimate`); NaN where there is none.
    """
    broken = frame["error"].notna().to_numpy() if "error" in frame else np.zeros(len(frame), bool)
    runs = {name: np.where(broken, np.nan, numbers(frame, name)) for name in ESTIMATED}
    columns = cell_columns(frame)
    return pd.DataFrame(
        [
            {**dict(zip(columns, values, strict=True)), **_estimates({name: runs[name][rows] for name in runs})}
            for values, rows in groups(frame, columns)
        ]
    )


def _estimates(runs: dict[str, FloatArray]) -> dict[str, Any]:
    done = int((~np.isnan(runs["makespan_ps"])).sum())
    return {
        "runs": done,
        "failed": len(runs["makespan_ps"]) - done,
        **{key: value for name in ESTIMATED for key, value in _columns(name, median_estimate(runs[name])).items()},
    }


def _columns(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
