"""The division of a results table into cells, contenders and facets.

A *cell* is everything but the repeat. Its *contender* is the strategy (and any axis inside it), which is what a reader
compares; its *facet* is what else varies except the number of workers: machine, workload and the other axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.engine.assumed_values import COLUMN as ASSUMED
from numasim.engine.columns import DESCRIBED, Column
from numasim.engine.result import COLUMNS
from numasim.engine.unit_text import MISSING, bytes_text, count_text, ratio_text, time_text
from numasim.report.answers.statistics import Estimate, bounds, median_estimate

NOT_AXES = frozenset({*COLUMNS, "error", "cell", ASSUMED})
ITERATION = "iteration"  # the axis of tables with a row for each iteration of a run
FIELDS = frozenset({"machine", "workload", "strategy", "runtime", "workers", "model", "seed", ITERATION})  # that axes
# begin with
NOT_SET = "not set"  # where a cell has no value of an axis that others have


@dataclass(frozen=True)
class Panel:
    """The runs that one panel of a figure shows, and its titles."""

    title: str  # the contender
    subtitle: str  # the facet, empty where the whole figure has one
    runs: pd.DataFrame


Group = tuple[tuple[Any, ...], npt.NDArray[np.intp]]  # the values of the columns; the positions of the rows


def contender_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that distinguish contenders: ``strategy`` and the axes inside it."""
    return ["strategy", *(name for name in _axes(frame) if name.startswith("strategy."))]


def setting_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that two runs must share to be compared, the number of workers last."""
    others = [name for name in _axes(frame) if not name.startswith("strategy.")]
    return ["machine", "workload", *others, "workers"]


def cell_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that identify a cell: its setting, then its contender."""
    return setting_columns(frame) + contender_columns(frame)


def facet_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns of the setting, without the number of workers, that take more than one value."""
    return [name for name in setting_columns(frame)[:-1] if frame[name].nunique(dropna=False) > 1]


def finished(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs without an error."""
    return frame[frame["error"].isna()] if "error" in frame else frame


def failed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with an error."""
    return frame[frame["error"].notna()] if "error" in frame else frame.iloc[:0]


def groups(frame: pd.DataFrame, columns: Sequence[str]) -> list[Group]:
    """Group the rows that agree in ``columns``, in order of first appearance; no columns give one group of all rows."""
    if not columns or frame.empty:
        return [((), np.arange(len(frame)))] if len(frame) else []
    numbered = frame.groupby(list(columns), sort=False, dropna=False, observed=True).ngroup().to_numpy()
    order = np.argsort(numbered, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(numbered[order])) + 1)
    heads = frame.iloc[[rows[0] for rows in members]][list(columns)]
    return list(zip(heads.itertuples(index=False, name=None), members, strict=True))


def panels(
    runs: pd.DataFrame, facet: Sequence[str] | None = None, contender: Sequence[str] | None = None
) -> list[Panel]:
    """Return the runs of every facet and contender, facet by facet; the columns of both are found if not given."""
    facet = facet_columns(runs) if facet is None else facet
    contender = contender_columns(runs) if contender is None else contender
    return [
        Panel(label(contender, values), label(facet, setting), runs.iloc[rows].iloc[inside])
        for setting, rows in groups(runs, facet)
        for values, inside in groups(runs.iloc[rows], contender)
    ]


def largest_panels(runs: pd.DataFrame) -> list[Panel]:
    """Return `panels`, each with the runs at its largest number of workers, which the subtitle names."""
    return [_largest(panel) for panel in panels(runs)]


def _largest(panel: Panel) -> Panel:
    most = panel.runs["workers"].max()
    subtitle = ", ".join(part for part in (panel.subtitle, f"{most:.0f} workers") if part)
    return Panel(panel.title, subtitle, panel.runs[panel.runs["workers"] == most])


def label(columns: Iterable[str], values: Iterable[Any]) -> str:
    """Describe the values: ``matmul, n=256, 24 workers``; an identity column as its value, an axis as name and value.

    An axis that a cell does not set is left out.
    """
    given = [(column, value) for column, value in zip(columns, values, strict=True) if not pd.isna(value)]
    return ", ".join(_described(column, plain_value(value)) for column, value in given)


def _described(column: str, value: str) -> str:
    if column == "workers":
        return f"{value} workers"
    return value if column in COLUMNS else f"{column.rpartition('.')[2]}={value}"


def plain_value(value: Any) -> str:
    """Write the value of an axis: a whole number without a fraction, also where a column with nulls stores a float."""
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return NOT_SET if pd.isna(value) else str(value)


def numbers(frame: pd.DataFrame, column: str) -> npt.NDArray[np.float64]:
    """Return a column as floats, null as NaN."""
    return np.asarray(frame[column].to_numpy(dtype=np.float64, na_value=np.nan), np.float64)


def _axes(frame: pd.DataFrame) -> list[str]:
    """Columns of fields of a specification, not what a user added."""
    return [str(name) for name in frame.columns if name not in NOT_AXES and str(name).partition(".")[0] in FIELDS]


# ---- Values of a results table as short text, each in the unit that its column has -----------------------------------

WRITERS: Mapping[str, Any] = MappingProxyType({"ps": time_text, "B": bytes_text})


def value_text(name: str, value: Any) -> str:
    """Write ``value`` of the column ``name``; ``-`` where it is missing. Columns of axes are written as they are."""
    if value is None or isinstance(value, str) or name not in DESCRIBED:
        return MISSING if value is None else str(value)
    return _written(DESCRIBED[name], value)


def _written(column: Column, value: Any) -> str:
    if column.unit in WRITERS:
        return str(WRITERS[column.unit](value))
    return ratio_text(value) if column.kind == "ratio" else count_text(value)


# ---- The estimate of any column over the repeats of a cell: the same in every table, figure and page -----------------

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
