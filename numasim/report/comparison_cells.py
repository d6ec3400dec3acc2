"""The results table for answers, figures and pages: cells and contenders, values as text, and medians.

A *cell* is a combination of all varied values except the repeat. The *contender* of a cell is the strategy with all
axes inside of the strategy; readers compare contenders. The *facet* of a cell is every other varied value except the
number of workers: machine, workload and the other axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from numasim.engine.assumed_values import COLUMN as ASSUMED
from numasim.engine.columns import DESCRIBED, Column
from numasim.engine.phase_rows import SUMS
from numasim.engine.result import COLUMNS
from numasim.errors import InputError
from numasim.report.answers.statistics import Estimate, bounds, interval_name, median_estimate

NOT_AXES = frozenset({*COLUMNS, "error", "cell", ASSUMED})
ITERATION = "iteration"  # the axis of tables with a row for each iteration of a run
FIELDS = frozenset({"machine", "workload", "strategy", "runtime", "workers", "model", "seed", ITERATION})
NOT_SET = "not set"  # the text for a cell in whose specification the axis has no value
DRAWN_COLUMNS = tuple(  # the columns of numbers, which have a median
    name for name, column in DESCRIBED.items() if column.kind != "text" and column.group != "identity"
)

FloatArray = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Group = tuple[tuple[Any, ...], Rows]  # the values of the columns; the positions of the rows


class HasFrame(Protocol):
    """Results with a table, such as the results of `numasim.sweep` and `numasim.run`."""

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each run."""


def table_of(results: HasFrame | pd.DataFrame) -> pd.DataFrame:
    """Return the results as a table with one row for each run. Raises `InputError` for any other object."""
    if isinstance(results, pd.DataFrame):
        return results
    to_frame: Any = getattr(results, "to_frame", None)
    frame = to_frame() if to_frame is not None else None
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"got {results!r}", expected="what ns.sweep or ns.run returned, or its to_frame()")
    return frame


# ---- Columns and groups ----------------------------------------------------------------------------------------------


def contender_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that distinguish contenders: ``strategy``, and the axes inside of the strategy."""
    return ["strategy", *(name for name in _axes(frame) if name.startswith("strategy."))]


def setting_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns in which compared runs agree, the number of workers last."""
    others = [name for name in _axes(frame) if not name.startswith("strategy.")]
    return ["machine", "workload", *others, "workers"]


def cell_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that identify a cell: the columns of its setting, then those of its contender."""
    return setting_columns(frame) + contender_columns(frame)


def facet_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns of the setting, without the number of workers, that have more than one value."""
    return [name for name in setting_columns(frame)[:-1] if frame[name].nunique(dropna=False) > 1]


def _axes(frame: pd.DataFrame) -> list[str]:
    """Return the columns of fields of a specification, without columns that a user added."""
    return [str(name) for name in frame.columns if name not in NOT_AXES and str(name).partition(".")[0] in FIELDS]


def finished(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs without an error."""
    return frame[frame["error"].isna()] if "error" in frame and frame["error"].notna().any() else frame


def failures(frame: pd.DataFrame, columns: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return each message of failed runs: the number of runs, the message, and ``columns`` of the first run as text."""
    broken = frame[frame["error"].notna()] if "error" in frame else frame.iloc[:0]
    return [
        (len(rows), str(message), label(columns, [broken[name].iloc[rows[0]] for name in columns]))
        for (message,), rows in groups(broken, ["error"])
    ]


def codes(frame: pd.DataFrame, columns: Sequence[str]) -> Rows:
    """Return the number of each row's group, from 0: rows that agree in ``columns`` are one group."""
    return np.asarray(frame.groupby(list(columns), sort=False, dropna=False, observed=True).ngroup(), np.intp)


def groups(frame: pd.DataFrame, columns: Sequence[str]) -> list[Group]:
    """Return the groups of rows that agree in ``columns``, in order of appearance. No columns give one group."""
    if not columns or frame.empty:
        return [((), np.arange(len(frame)))] if len(frame) else []
    numbered = codes(frame, columns)
    order = np.argsort(numbered, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(numbered[order])) + 1)
    heads = frame.iloc[[rows[0] for rows in members]][list(columns)]
    return list(zip(heads.itertuples(index=False, name=None), members, strict=True))


@dataclass(frozen=True)
class Panel:
    """The runs that one panel of a figure shows, and the panel's titles."""

    title: str  # the contender
    subtitle: str  # the facet; empty if the whole figure has one facet
    runs: pd.DataFrame


def panels(
    runs: pd.DataFrame, facet: Sequence[str] | None = None, contender: Sequence[str] | None = None
) -> list[Panel]:
    """Return the runs of every facet and contender, facet by facet. None stands for the default columns."""
    facet = facet_columns(runs) if facet is None else facet
    contender = contender_columns(runs) if contender is None else contender
    return [
        Panel(label(contender, values), label(facet, setting), runs.iloc[rows].iloc[inside])
        for setting, rows in groups(runs, facet)
        for values, inside in groups(runs.iloc[rows], contender)
    ]


def largest_panels(runs: pd.DataFrame) -> list[Panel]:
    """Return `panels` with only the runs at the largest number of workers of each panel; subtitles name this number."""
    largest = []
    for panel in panels(runs):
        most = panel.runs["workers"].max()
        subtitle = ", ".join(part for part in (panel.subtitle, f"{most:.0f} workers") if part)
        largest.append(Panel(panel.title, subtitle, panel.runs[panel.runs["workers"] == most]))
    return largest


def label(columns: Iterable[str], values: Iterable[Any]) -> str:
    """Describe the values of columns: ``matmul, n=256, 24 workers``. A value that is not set is left out."""
    texts = []
    for column, value in zip(columns, values, strict=True):
        if not pd.isna(value):
            name = "" if column in COLUMNS else f"{column.rpartition('.')[2]}="
            texts.append(f"{name}{plain_value(value)}" + " workers" * (column == "workers"))
    return ", ".join(texts)


def plain_value(value: Any) -> str:
    """Return the value of an axis as text: a whole number without a fraction, also in a column of floats."""
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return NOT_SET if pd.isna(value) else str(value)


# ---- Numbers, and their medians over the repeats of a cell -----------------------------------------------------------


def numbers(frame: pd.DataFrame, column: str) -> FloatArray:
    """Return a column as floats; null becomes NaN."""
    return np.asarray(frame[column].to_numpy(dtype=np.float64, na_value=np.nan), np.float64)


def estimate(runs: pd.DataFrame, column: str) -> Estimate:
    """Return the median of ``column`` over ``runs``, with the interval of `median_estimate`."""
    return median_estimate(numbers(runs, column))


def median_estimates(values: FloatArray, cell_of: Rows) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the `median_estimate` of many cells at once: medians, lower and upper ends of intervals, each [cells].

    ``cell_of`` [runs] has for each of ``values`` [runs] the number of the cell, from 0. A cell without a value has NaN,
    and a cell with a single value has NaN for the ends of the interval.
    """
    known = ~np.isnan(values)
    counts = np.bincount(cell_of[known], minlength=int(cell_of.max()) + 1)
    ordered = values[known][np.lexsort((values[known], cell_of[known]))]
    start = np.cumsum(counts) - counts
    ends = np.array([bounds(count) if count else (0, 0) for count in counts.tolist()], np.intp)

    def at(place: Rows, fewest: int) -> FloatArray:
        found = np.full(len(counts), np.nan)
        has = counts >= fewest
        found[has] = ordered[(start + place)[has]]
        return found

    median = (at((counts - 1) // 2, 1) + at(counts // 2, 1)) / 2
    return median, at(ends[:, 0], 2), at(ends[:, 1], 2)


# ---- Iterations of a program's loops, as a table from which figures are drawn ----------------------------------------

TIME = "time_ps"
ITERATION_COLUMNS = {
    TIME: Column(TIME, "iterations", "time of an iteration", "ps", "The sum of the times of its phases."),
    **{name: replace(DESCRIBED[name], label=f"{DESCRIBED[name].label} of an iteration") for name in SUMS},
}


def by_iteration(frame: pd.DataFrame, iterations: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return a row for each iteration of each finished run of a results table, with the axes of the run.

    ``iterations`` has a row for each run of a phase (`SweepResult.iterations`), in parts of one or more whole runs. The
    rows of one iteration are added up, and so are the rows of equal iterations of several loops. In a program with a
    loop, phases that run only once, such as a phase that initialises, are left out.
    """
    runs = finished(frame)
    axes = [name for name in ("run_id", "repeat", *cell_columns(runs)) if name in runs]
    summed = []
    for part in iterations:
        turns = part.groupby(["run_id", "phase"])["turn"].transform("max")
        summed.append(part[turns > 0].groupby(["run_id", ITERATION], sort=False)[[*ITERATION_COLUMNS]].sum())
    return runs[axes].merge(pd.concat(summed).reset_index(), on="run_id")


# ---- The axes of a figure along x, as colours and as panels ----------------------------------------------------------

# No two settings are ever averaged: an axis that varies and is neither x nor colour divides the runs into panels.

USUAL_X = "workers"
MOST_NAMED = 3  # most machines that a heading names; for more machines, the heading has their number


@dataclass(frozen=True)
class ChosenAxes:
    """The columns of a results table that a figure shows along x, as colours and as panels."""

    x: str
    colour: tuple[str, ...]
    facet: tuple[str, ...]


def choose_axes(
    runs: pd.DataFrame, x: str | None = None, colour: str | None = None, facet: str | None = None
) -> ChosenAxes:
    """Return the axes of a figure of ``runs``. An axis that is None is chosen among the axes that vary.

    By default x is the number of workers if it varies, else the first axis of numbers that varies, else the first axis
    that varies. Colours are the strategies; if strategies are x or do not vary, colours are the first other axis. All
    other axes that vary are panels. Raises `InputError` for a name that is no axis of the sweep.
    """
    given = [name for name in (x, colour, facet) if name is not None]
    known = cell_columns(runs)
    for name in given:
        if name not in known:
            raise InputError(f"there is no axis {name!r} in this sweep", value=name, known=known)
    contenders = contender_columns(runs)
    free = [name for name in varying_columns(runs) if name not in given]
    x = x or _usual_x(runs, free, contenders)
    chosen = list(dict.fromkeys((x, *given)))
    rest = [name for name in free if name != x and not follows_from(runs, chosen, name)]
    colours = [colour] if colour else [name for name in contenders if name in rest] or rest[:1]
    return ChosenAxes(x, tuple(colours), (*([facet] if facet else ()), *(name for name in rest if name not in colours)))


def varying_columns(runs: pd.DataFrame) -> list[str]:
    """Return the columns that distinguish cells and have more than one value."""
    return [name for name in cell_columns(runs) if runs[name].nunique(dropna=False) > 1]


def is_numeric(runs: pd.DataFrame, axis: str) -> bool:
    """Return whether the values of an axis are numbers, which have an order and distances."""
    return bool(is_numeric_dtype(runs[axis]) and not is_bool_dtype(runs[axis]))


def follows_from(runs: pd.DataFrame, known: Sequence[str], other: str) -> bool:
    """Return whether equal values of the ``known`` axes imply equal values of the ``other`` axis, as in a ``zip:``."""
    if runs.empty:
        return True
    return int(runs.groupby(list(known), dropna=False, observed=True)[other].nunique(dropna=False).max()) <= 1


def _usual_x(runs: pd.DataFrame, varying: Sequence[str], contenders: Sequence[str]) -> str:
    """Return the default x axis: the number of workers, else the first numeric axis, else the first of contenders.

    A numeric axis is passed over if its values follow from an axis of names: the number of workers follows from the
    machine if each machine is filled with workers.
    """
    names = [name for name in varying if not is_numeric(runs, name)]
    numeric = [
        name
        for name in varying
        if is_numeric(runs, name) and not any(follows_from(runs, [other], name) for other in names)
    ]
    if USUAL_X in numeric or not varying:
        return USUAL_X
    return (numeric or [name for name in contenders if name in varying] or list(varying))[0]


# ---- The heading of a figure: the values common to all panels, and the meaning of the bands --------------------------


def common_heading(runs: pd.DataFrame) -> str:
    """Return the machines and the values that all ``runs`` share: ``xeon-e5-2620-2s, strassen n=1024, 24 workers``."""
    machines = [str(name) for name in runs["machine"].drop_duplicates()]
    texts = [", ".join(machines) if len(machines) <= MOST_NAMED else f"{len(machines)} machines"]
    varying = varying_columns(runs)
    equal = [name for name in cell_columns(runs) if name not in varying and name != "machine"]
    texts += [label([name], [runs[name].iloc[0]]) for name in equal]
    return ", ".join(filter(None, texts))


def intervals_heading(runs: pd.DataFrame, chosen: ChosenAxes) -> str:
    """Return `common_heading`, the number of repeats, and the name of the repeats' intervals."""
    columns = list(dict.fromkeys((chosen.x, *chosen.colour, *chosen.facet)))
    counts = sorted({len(rows) for _, rows in groups(runs, columns)})
    if counts[-1] == 1:
        return f"{common_heading(runs)}; one run of each, no intervals"
    repeats = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    fewest = min(count for count in counts if count > 1)
    return f"{common_heading(runs)}; medians of {repeats} repeats with {interval_name(fewest)}"
