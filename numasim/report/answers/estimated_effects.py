"""How much a column differs between the two sides of a contrast: estimates, intervals, and how sure a sign is.

The difference of a question is the median over its pairs. Amounts (times, bytes, counts, the speedup) differ in percent
of the baseline's value in the same pair; ratios such as ``steal_miss_ratio`` by their own difference, and so do amounts
whose baseline is zero or negative in any pair. Every question is a family of comparisons: `sure` holds Holm's
correction over all of its cells, beside the interval of each alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.engine.columns import DESCRIBED
from numasim.report.answers.contrasts import Contrast
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
from numasim.report.comparison_cells import cell_columns, groups, numbers

SHARES = frozenset(name for name, column in DESCRIBED.items() if column.kind == "ratio" and name != "speedup")

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """The other side of a contrast against the first: medians of both, and of the difference in pairs.

    ``equal``: no pair differs, and there is one. ``correlation`` is Spearman's between the two sides. ``p`` is that of
    the sign test, ``holm_p`` the same after Holm's correction over the question; with fewer than ``needed`` pairs no
    difference of the question can be sure.
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
        """Whether the effect is said as a percentage."""
        return not math.isnan(self.percent.value)

    @property
    def shown(self) -> Estimate:
        """The percentage where there is one, else the difference."""
        return self.percent if self.relative else self.difference

    @property
    def sure(self) -> bool:
        """Whether the sign is sure after Holm's correction; the interval then excludes zero."""
        return self.holm_p < FAMILY_ERROR


def effects(values: FloatArray, column: str, found: Sequence[Contrast]) -> list[Effect]:
    """The effect in each contrast of a question; ``values`` [rows of the table] are those of ``column``."""
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


# ---- What the runs of each cell of a sweep came to: makespan and steal ratios, with intervals ------------------------

ESTIMATED = ("makespan_ps", "steal_miss_ratio", "steal_remote_ratio")


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
