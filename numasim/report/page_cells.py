"""The data of the plots of a page: the estimate of every column in every cell of a sweep.

The page of a sweep with very many cells has evenly spaced values of the longest axes, and a sentence that says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from numasim.engine.columns import DESCRIBED, Column
from numasim.engine.unit_text import BYTE_UNITS, TIME_UNITS
from numasim.report.answers.statistics import FEWEST
from numasim.report.chosen_axes import choose_axes, is_numeric, varying_columns
from numasim.report.comparison_cells import (
    DRAWN_COLUMNS,
    ITERATION,
    ITERATION_COLUMNS,
    Rows,
    by_iteration,
    codes,
    finished,
    median_estimates,
    numbers,
    plain_value,
)
from numasim.report.components import LINE_COLOURS

EFFICIENCY = "efficiency"
MOST_NUMBERS = 120_000  # most numbers of a page: about a megabyte
MOST_BY_ITERATION = 50_000  # most numbers of the plot over iterations
FEWEST_VALUES = 3  # fewest values that an axis keeps
DIGITS = 7  # digits of a number; more digits would be finer than any interval


@dataclass(frozen=True)
class PageCells:
    """The data of a plot, and sentences on the values that were left out."""

    plot: dict[str, Any]
    left_out: tuple[str, ...]

    @property
    def json(self) -> str:
        """Return the data as JSON for a script element; no character of the text opens or closes an element."""
        text = json.dumps(self.plot, separators=(",", ":"), allow_nan=False)
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page_cells(frame: pd.DataFrame) -> PageCells | None:
    """Return the cells of the finished runs of a results table; None if no run has finished."""
    runs = finished(frame)
    if runs.empty:
        return None
    columns = [DESCRIBED[name] for name in DRAWN_COLUMNS if not np.isnan(numbers(runs, name)).all()]
    kept, left_out = _thinned(runs, varying_columns(runs) or ["workers"], MOST_NUMBERS // (3 * len(columns)))
    x = choose_axes(kept).x
    # over workers the efficiency and not the makespan, whose fall hides how strategies differ
    first = EFFICIENCY if x == "workers" and DESCRIBED[EFFICIENCY] in columns else columns[0].name
    plot = _plot(kept, columns, varying_columns(kept) or ["workers"], x, first)
    return PageCells(plot, tuple(f"{each} The results table has all." for each in left_out))


def page_iterations(frame: pd.DataFrame, iterations: pd.DataFrame) -> PageCells | None:
    """Return the iterations of the finished runs, each as a cell of its own; None if no program has iterations."""
    runs = by_iteration(frame, iterations)
    if runs.empty:
        return None
    columns = [column for name, column in ITERATION_COLUMNS.items() if numbers(runs, name).any()]
    kept, left_out = _thinned(runs, _by_iteration(runs), MOST_BY_ITERATION // (3 * len(columns)))
    plot = _plot(kept, columns, _by_iteration(kept), ITERATION, columns[0].name)
    return PageCells(plot, tuple(f"Of iterations: {each} iterations.parquet has all." for each in left_out))


def _by_iteration(runs: pd.DataFrame) -> list[str]:
    """Return the axes that vary, then the iteration, also if there is only one iteration."""
    return [*(name for name in varying_columns(runs) if name != ITERATION), ITERATION]


def _plot(runs: pd.DataFrame, columns: Sequence[Column], axes: Sequence[str], x: str, column: str) -> dict[str, Any]:
    """Return the data of a plot over ``axes``; at first the plot shows ``column`` over ``x``."""
    chosen = choose_axes(runs, x)
    first, cell_of = _cells(runs, axes)
    return {
        "axes": [_axis(runs.iloc[first], name) for name in axes],
        "columns": [_column(runs, each, cell_of) for each in columns],
        "repeats": np.bincount(cell_of).tolist(),
        "fewest": FEWEST,
        "units": {"ps": TIME_UNITS, "B": BYTE_UNITS},
        "colours": LINE_COLOURS,
        "start": {
            "column": column,
            "x": chosen.x,
            "colour": chosen.colour[0] if chosen.colour else "",
            "facet": chosen.facet[0] if chosen.facet else "",
        },
    }


def _cells(runs: pd.DataFrame, names: Sequence[str]) -> tuple[Rows, Rows]:
    """Return the position of the first run of each cell [cells], and the number of the cell of each run [runs]."""
    cell_of = codes(runs, names)
    return np.unique(cell_of, return_index=True)[1], cell_of


def _thinned(runs: pd.DataFrame, names: Sequence[str], most: int) -> tuple[pd.DataFrame, list[str]]:
    """Return runs of at most ``most`` cells, with fewer values of the longest axes, and a sentence on missing cells."""
    total = left = len(_cells(runs, names)[0])
    notes: dict[str, str] = {}
    counts = {name: runs[name].nunique(dropna=False) for name in names}
    while left > most:
        name, values = max(((name, _values(runs, name)) for name in names), key=lambda each: len(each[1]))
        if len(values) <= FEWEST_VALUES:
            _, cell_of = _cells(runs, names)
            runs = runs[cell_of < most]
            notes["cells"] = f"the first {most:,} of the cells that are left"
            break
        count = max(FEWEST_VALUES, min(len(values) - 1, len(values) * most // left))
        chosen = [values[at] for at in np.unique(np.linspace(0, len(values) - 1, count).round().astype(int))]
        runs = runs[runs[name].isin(chosen)]
        left = len(_cells(runs, names)[0])
        notes[name] = f"{len(chosen):,} of {counts[name]:,} values of {name}"
    if not notes:
        return runs, []
    shown = len(_cells(runs, names)[0])
    return runs, [f"The plot has {shown:,} of {total:,} cells: {', '.join(notes.values())}."]


def _values(runs: pd.DataFrame, name: str) -> list[Any]:
    """Return the values of an axis: ascending numbers, other values in order of appearance, an unset value last."""
    found = list(runs[name].drop_duplicates())
    given = [value for value in found if not pd.isna(value)]
    missing = [value for value in found if pd.isna(value)]
    return [*(sorted(given) if is_numeric(runs, name) else given), *missing]


def _axis(cells: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return an axis of the plot, and for each cell the place of its value among the axis's values."""
    values, numeric = _values(cells, name), is_numeric(cells, name)
    names = [plain_value(value) for value in values]
    place = {text: at for at, text in enumerate(names)}
    return {
        "name": name,
        "label": name,
        "numeric": numeric,
        "names": names,
        "values": [None if pd.isna(value) else _short(value) if numeric else plain_value(value) for value in values],
        "of": [place[plain_value(value)] for value in cells[name]],
    }


def _column(runs: pd.DataFrame, described: Column, cell_of: Rows) -> dict[str, Any]:
    value, low, high = median_estimates(numbers(runs, described.name), cell_of)
    return {
        "name": described.name,
        "label": described.label,
        "unit": described.unit,
        "meaning": described.meaning,
        "ratio": described.kind == "ratio",
        "value": _packed(value),
        "low": _packed(low),
        "high": _packed(high),
    }


def _packed(values: Iterable[float]) -> Any:
    """Return numbers as a list, or one number if all are equal; null stands for a missing number."""
    short = [_short(value) for value in values]
    return short[0] if all(value == short[0] for value in short) else short


def _short(value: float) -> float | int | None:
    value = float(value)
    if math.isnan(value):
        return None
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded
