"""The axes along which the runs of a sweep can be compared, and how their values are named.

An axis is a column that identifies cells and takes more than one value: an identity column (machine, workload,
strategy, workers), a field that the sweep varied, or the seed. Columns that always change together, as those of a
``zip:`` do, form one axis, such as ``workload+runtime``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.errors import InputError
from numasim.parts.yaml.nodes import Held
from numasim.report.comparison_cells import cell_columns
from numasim.sweep.axis_columns import label as axis_label

NULL = "null"  # a value that a cell does not set

NUMBERED = re.compile(r" \(\d+\)$")  # what tells unlike values of one name apart

Codes = npt.NDArray[np.intp]  # of the rows of a table: the number of the value that each has


@dataclass(frozen=True)
class Axis:
    """Columns that change together; the values are in the order in which they appear, ``codes`` [rows] count them."""

    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    codes: Codes

    @property
    def name(self) -> str:
        """The columns, joined by a plus."""
        return "+".join(self.columns)

    @cached_property
    def texts(self) -> list[str]:
        """The values as text."""
        return [" + ".join(map(value_text, value)) for value in self.values]


def varying_axes(frame: pd.DataFrame) -> list[Axis]:
    """The axes of a results table in the order in which one asks about them: strategies first, workers and seeds last.

    Raises `InputError` where the table lacks a column that identifies runs.
    """
    required = ("machine", "workload", "strategy", "workers", "seed", "repeat")
    absent = [name for name in required if name not in frame]
    if absent:
        raise InputError(f"the table has no column {absent[0]}", expected="a results table of a sweep")
    together: dict[bytes, list[str]] = {}
    for name in _possible_columns(frame):
        codes = _codes(frame, name)
        if codes.any():
            together.setdefault(codes.tobytes(), []).append(name)
    return [_axis(frame, _in_order(columns)) for columns in sorted(together.values(), key=_place)]


def natural_axis(axes: list[Axis]) -> Axis:
    """The axis that a sweep is about: strategies if they vary, else the first axis that does; workers if no other.

    Raises `InputError` where nothing varies.
    """
    if not axes:
        raise InputError("nothing can be compared: no axis has two values", expected="a sweep with an axis")
    return axes[0]


def find_axis(axes: list[Axis], name: str) -> Axis:
    """The axis called ``name``, or that one of its columns is; `InputError` for an unknown one."""
    asked = set(name.replace(" ", "").split("+"))
    for axis in axes:
        if asked <= set(axis.columns):
            return axis
    known = [column for axis in axes for column in dict.fromkeys((axis.name, *axis.columns))]
    expected = ", ".join(axis.name for axis in axes) or "a sweep with an axis"
    raise InputError(f"no axis of these runs is called {name!r}", expected=expected, value=name, known=known)


def find_value(axis: Axis, given: object) -> int:
    """The place of a value of ``axis``, given as it is in the table, as text, as a mapping, or one for each column.

    A machine, strategy or graph stands for its name. Raises `InputError` for a value that the axis does not take, and
    for an object whose name several values have.
    """
    texts = axis.texts
    wanted = _given_texts(axis, given)
    if isinstance(given, Held):
        alike = [text for text in texts if NUMBERED.sub("", text) == given.name]
        if len(alike) > 1:
            raise InputError(f"{axis.name} has {len(alike)} values called {given.name!r}", expected=_listed(alike))
    for place, text in enumerate(texts):
        if text in wanted:
            return place
    parts = [[value_text(part) for part in value] for value in axis.values]
    found = [place for place, each in enumerate(parts) if wanted & set(each)]
    if len(found) == 1:
        return found[0]
    shown = next(iter(wanted))
    raise InputError(
        f"{axis.name} does not take the value {shown!r}", expected=_listed(texts), value=shown, known=texts
    )


def value_text(value: Any) -> str:
    """A value of one column as text: a whole number without a fraction, a value that a cell does not set as null."""
    if isinstance(value, Held):
        return value.name
    if pd.isna(value):
        return NULL
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _given_texts(axis: Axis, given: object) -> set[str]:
    if isinstance(given, Mapping):
        return {axis_label(dict(given))}
    if isinstance(given, list | tuple):
        each = (axis_label(dict(part)) if isinstance(part, Mapping) else value_text(part) for part in given)
        return {" + ".join(each)} if len(axis.columns) > 1 else {axis_label(list(given))}
    return {value_text(given)}


def _listed(texts: list[str]) -> str:
    shown = ", ".join(texts[:12])
    return f"one of {shown}" + (f" and {len(texts) - 12} others" if len(texts) > 12 else "")


def _possible_columns(frame: pd.DataFrame) -> list[str]:
    pairs = frame.groupby(["seed", "repeat"], dropna=False).ngroups
    several_seeds = pairs > max(frame["seed"].nunique(), frame["repeat"].nunique())
    return [*cell_columns(frame), *(["seed"] if several_seeds else [])]


def _codes(frame: pd.DataFrame, column: str) -> Codes:
    """Equal for columns that divide the rows in the same way."""
    return np.asarray(frame.groupby(column, sort=False, dropna=False, observed=True).ngroup(), np.intp)


def _axis(frame: pd.DataFrame, columns: list[str]) -> Axis:
    codes = _codes(frame, columns[0])
    _, first = np.unique(codes, return_index=True)
    values = tuple(frame.iloc[np.sort(first)][columns].itertuples(index=False, name=None))
    return Axis(tuple(columns), values, codes)


def _in_order(columns: list[str]) -> list[str]:
    """Workload before the runtime that belongs to it; a part before its own fields."""
    order = ("machine", "workload", "strategy")
    return sorted(columns, key=lambda name: (order.index(name) if name in order else len(order), name == "workers"))


def _place(columns: list[str]) -> int:
    """Strategies and what is in them come first, then other fields, what runs where, workers, seeds."""
    last = {"machine": 2, "workload": 2, "workers": 3, "seed": 4}
    places = [0 if name.partition(".")[0] == "strategy" else last.get(name, 1) for name in columns]
    return max(places) if all(places) else 0
