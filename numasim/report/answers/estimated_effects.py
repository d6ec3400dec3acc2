"""Differences of a column between the two sides of a contrast: estimates, intervals, and tests of the sign.

The difference in a contrast is the median over the contrast's pairs. The difference of an amount (time, bytes, count,
speedup) is in percent of the baseline's value in the same pair. The difference of a ratio such as ``steal_miss_ratio``
is in the unit of the column, and so is the difference of an amount whose baseline is zero or negative in any pair. All
contrasts of a question are one family of tests, to which Holm's correction is applied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.engine.columns import DESCRIBED
from numasim.report.answers.statistics import (
    FAMILY_ERROR,
    NOTHING,
    Estimate,
    holm,
    median_estimate,
    pairs_needed,
    rank_correlation,
    sign_p,
)
from numasim.report.answers.varying_axes import Contrast
from numasim.report.comparison_cells import cell_columns, groups, numbers

SHARES = frozenset(name for name, column in DESCRIBED.items() if column.kind == "ratio" and name != "speedup")

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """The value of a contrast against the baseline: the medians of both, and of the differences in pairs.

    ``equal``: there is a pair, and no pair differs. ``correlation`` is Spearman's correlation of the two sides. ``p``
    is the p-value of the sign test, ``holm_p`` the p-value after Holm's correction over the question. With fewer than
    ``needed`` pairs, no difference of the question can be sure.
    """

    pairs: int
    first_median: float
    median: float
    difference: Estimate
    percent: Estimate
    equal: bool
    correlation: float
    p: float
    holm_p: float = math.nan
    needed: int = 0

    @property
    def relative(self) -> bool:
        """Return whether the effect is given as a percentage."""
        return not math.isnan(self.percent.value)

    @property
    def shown(self) -> Estimate:
        """Return the percentage if the effect has a percentage, else the difference."""
        return self.percent if self.relative else self.difference

    @property
    def sure(self) -> bool:
        """Return whether the sign is sure after Holm's correction. The interval of a sure effect excludes zero."""
        return self.holm_p < FAMILY_ERROR


def effects(values: FloatArray, column: str, found: Sequence[Contrast]) -> list[Effect]:
    """Return the effect in each contrast of a question; ``values`` [rows of the table] are the values of ``column``."""
    alone = [_effect(values[contrast.first], values[contrast.other], column in SHARES) for contrast in found]
    corrected = holm([effect.p for effect in alone])
    needed = pairs_needed(max(1, sum(effect.pairs > 0 for effect in alone)))
    return [replace(each, holm_p=holm_p, needed=needed) for each, holm_p in zip(alone, corrected, strict=True)]


def _effect(first: FloatArray, other: FloatArray, is_share: bool) -> Effect:
    both = ~(np.isnan(first) | np.isnan(other))
    first, other = first[both], other[both]
    change = other - first
    relative = not is_share and len(first) > 0 and bool((first > 0).all())
    return Effect(
        pairs=len(first),
        first_median=median_estimate(first).value,
        median=median_estimate(other).value,
        difference=median_estimate(change),
        percent=median_estimate(100 * change / first) if relative else NOTHING,
        equal=len(first) > 0 and not change.any(),
        correlation=rank_correlation(first, other),
        p=sign_p(change),
    )


# ---- The makespan and the steal ratios of each cell of a sweep, with intervals ---------------------------------------

ESTIMATED = ("makespan_ps", "steal_miss_ratio", "steal_remote_ratio")


def cell_estimates(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each cell of a results table, in order of appearance.

    After the columns of the cell come ``runs``, ``failed``, and each column of `ESTIMATED`: the median over the runs;
    ``_low`` and ``_high`` are the ends of the interval (`numasim.report.answers.statistics.median_estimate`).
    NaN stands for a missing value.
    """
    broken = frame["error"].notna().to_numpy() if "error" in frame else np.zeros(len(frame), bool)
    runs = {name: np.where(broken, np.nan, numbers(frame, name)) for name in ESTIMATED}
    columns = cell_columns(frame)
    cells = []
    for values, rows in groups(frame, columns):
        done = int((~np.isnan(runs["makespan_ps"][rows])).sum())
        cell = {**dict(zip(columns, values, strict=True)), "runs": done, "failed": len(rows) - done}
        for name in ESTIMATED:
            cell |= median_estimate(runs[name][rows]).columns(name)
        cells.append(cell)
    return pd.DataFrame(cells)
