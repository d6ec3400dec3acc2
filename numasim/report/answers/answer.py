"""What a sweep found, one row per cell: makespan, steal ratios, the difference to the first strategy, and its cause.

A strategy is compared with the first one of the sweep over the repeats that share a seed, in the same setting. As the
time split adds up to workers x makespan (model 6), the changes of its components, in percent of the first strategy's
workers x makespan, add up to the difference in percent: the largest change in its direction is what explains it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.report.answers.statistics import (
    Estimate,
    PairedDifference,
    mean_interval,
    paired_difference,
    ratio_interval,
)
from numasim.report.comparison_cells import cell_columns, groups, numbers, setting_columns
from numasim.report.components import COMPONENTS

Rows = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Runs:
    """The columns that the answer needs, one entry a run; NaN in a failed run."""

    pair: npt.NDArray[np.intp]  # equal for equal seed and repeat, and then task durations are equal too
    makespan_ps: FloatArray
    attempts: FloatArray
    misses: FloatArray
    remote: FloatArray
    split_ps: FloatArray  # [components, runs]


def answer(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per cell of a results table, in order of appearance.

    After the columns of the cell come ``runs`` and ``failed``; ``makespan_ps`` (mean), ``steal_miss_ratio`` and
    ``steal_remote_ratio`` (ratios of sums), ``difference_ps`` and ``difference_percent`` to the first strategy, each
    with ``_low`` and ``_high``, its 95 % interval; ``pairs``, ``first_better``, ``sign_p`` (see `statistics`);
    ``explained_by``, a column of the time split, and ``explained_percent``. NaN or None where there is no answer.
    """
    runs = _runs(frame)
    columns, setting = cell_columns(frame), len(setting_columns(frame))
    cells = groups(frame, columns)
    first = cells[0][0][setting:] if cells else ()
    baseline = {values[:setting]: rows for values, rows in cells if values[setting:] == first}
    return pd.DataFrame(
        [
            {
                **dict(zip(columns, values, strict=True)),
                **_own(runs, rows),
                **_against(runs, baseline.get(values[:setting]) if values[setting:] != first else None, rows),
            }
            for values, rows in cells
        ]
    )


def _runs(frame: pd.DataFrame) -> _Runs:
    broken = frame["error"].notna().to_numpy() if "error" in frame else np.zeros(len(frame), bool)

    def column(name: str) -> FloatArray:
        return np.where(broken, np.nan, numbers(frame, name))

    return _Runs(
        pair=np.asarray(frame.groupby(["seed", "repeat"], sort=False).ngroup(), np.intp),
        makespan_ps=column("makespan_ps"),
        attempts=column("steal_attempts"),
        misses=column("steal_false"),
        remote=column("steal_attempts_remote"),
        split_ps=np.stack([column(component.column) for component in COMPONENTS]),
    )


def _own(runs: _Runs, rows: Rows) -> dict[str, Any]:
    makespan_ps = runs.makespan_ps[rows]
    done = int((~np.isnan(makespan_ps)).sum())
    return {
        "runs": done,
        "failed": len(rows) - done,
        **_columns("makespan_ps", mean_interval(makespan_ps)),
        **_columns("steal_miss_ratio", ratio_interval(runs.misses[rows], runs.attempts[rows])),
        **_columns("steal_remote_ratio", ratio_interval(runs.remote[rows], runs.attempts[rows])),
    }


def _against(runs: _Runs, first: Rows | None, rows: Rows) -> dict[str, Any]:
    nothing = np.empty(0, np.intp)
    first, other = _pairs(runs, first, rows) if first is not None else (nothing, nothing)
    compared = paired_difference(runs.makespan_ps[first], runs.makespan_ps[other])
    name, percent = _explanation(runs, first, other)
    return {**_comparison(compared), "explained_by": name, "explained_percent": percent}


def _comparison(compared: PairedDifference) -> dict[str, Any]:
    relative = compared.relative
    percent = Estimate(100 * relative.value, 100 * relative.low, 100 * relative.high, relative.count)
    return {
        **_columns("difference_ps", compared.difference),
        **_columns("difference_percent", percent),
        "pairs": compared.difference.count,
        "first_better": compared.first_better,
        "sign_p": compared.sign_p if compared.difference.count else math.nan,
    }


def _pairs(runs: _Runs, first: Rows, other: Rows) -> tuple[Rows, Rows]:
    """Rows of the two cells that form pairs of finished runs."""
    _, at_first, at_other = np.intersect1d(runs.pair[first], runs.pair[other], return_indices=True)
    first, other = first[at_first], other[at_other]
    both = ~np.isnan(runs.makespan_ps[first] + runs.makespan_ps[other])
    return first[both], other[both]


def _explanation(runs: _Runs, first: Rows, other: Rows) -> tuple[str | None, float]:
    """Name the component with the largest change in the direction of the difference, and its change in percent."""
    before, after = runs.split_ps[:, first].sum(axis=1), runs.split_ps[:, other].sum(axis=1)
    direction = np.sign(after.sum() - before.sum())
    if not direction or not before.sum():
        return None, math.nan
    change = 100 * (after - before) / before.sum()
    largest = int(np.argmax(change * direction))
    return COMPONENTS[largest].column, float(change[largest])


def _columns(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
