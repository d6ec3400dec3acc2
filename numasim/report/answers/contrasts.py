"""The pairs of runs that a question compares: equal in all but the axis that it asks about, and in the seed too.

A contrast is one value of the axis against the baseline in one setting. Its runs form pairs that share the seed and
the repeat, hence the draws of the model that do not depend on what differs (model 1.4); where the seed itself is the
axis, pairs share the repeat alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.report.answers.varying_axes import Axis
from numasim.report.comparison_cells import cell_columns, groups

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Contrast:
    """A value of an axis, by its place, in one setting; ``first`` and ``other`` [pairs] are the rows of its pairs."""

    setting: tuple[Any, ...]
    value: int
    first: Rows
    other: Rows


def setting_columns_of(frame: pd.DataFrame, axis: Axis) -> list[str]:
    """The columns in which compared runs agree."""
    return [name for name in cell_columns(frame) if name not in axis.columns]


def contrasts(frame: pd.DataFrame, axis: Axis, baseline: int) -> list[Contrast]:
    """Every value but the baseline in every setting, in order of appearance; runs with an error are left out.

    A setting in which the baseline did not run has no contrast.
    """
    pair = _pairs(frame, axis)
    done = frame["error"].isna().to_numpy() if "error" in frame else np.ones(len(frame), bool)
    found = []
    for setting, rows in groups(frame, setting_columns_of(frame, axis)):
        codes = axis.codes[rows]
        first = rows[codes == baseline]
        for value in dict.fromkeys(codes.tolist()):
            if value != baseline and len(first):
                found.append(Contrast(setting, value, *_paired(pair, done, first, rows[codes == value])))
    return found


def _pairs(frame: pd.DataFrame, axis: Axis) -> Rows:
    shared = ["repeat"] if "seed" in axis.columns else ["seed", "repeat"]
    return np.asarray(frame.groupby(shared, sort=False, dropna=False).ngroup(), np.intp)


def _paired(pair: Rows, done: npt.NDArray[np.bool_], first: Rows, other: Rows) -> tuple[Rows, Rows]:
    first, other = first[done[first]], other[done[other]]
    _, at_first, at_other = np.intersect1d(pair[first], pair[other], return_indices=True)
    return first[at_first], other[at_other]
