"""What the runs of each cell of a sweep came to: makespan and steal ratios, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.report.answers.statistics import Estimate, mean_interval, ratio_interval
from numasim.report.comparison_cells import cell_columns, groups, numbers

COUNTERS = ("makespan_ps", "steal_attempts", "steal_false", "steal_attempts_remote")

FloatArray = npt.NDArray[np.float64]


def cell_estimates(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per cell of a results table, in order of appearance.

    After the columns of the cell come ``runs`` and ``failed``, and ``makespan_ps`` (mean), ``steal_miss_ratio`` and
    ``steal_remote_ratio`` (ratios of sums), each with ``_low`` and ``_high``, its 95 % interval; NaN where there is
    none.
    """
    broken = frame["error"].notna().to_numpy() if "error" in frame else np.zeros(len(frame), bool)
    runs = {name: np.where(broken, np.nan, numbers(frame, name)) for name in COUNTERS}
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
        **_columns("makespan_ps", mean_interval(runs["makespan_ps"])),
        **_columns("steal_miss_ratio", ratio_interval(runs["steal_false"], runs["steal_attempts"])),
        **_columns("steal_remote_ratio", ratio_interval(runs["steal_attempts_remote"], runs["steal_attempts"])),
    }


def _columns(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
