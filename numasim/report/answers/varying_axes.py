"""The axes along which the runs of a sweep can be compared, the names of their values, and the pairs of compared runs.

An axis is a column that identifies cells and has more than one value: an identity column (machine, workload, strategy,
workers), a field that the sweep varied, or the seed. Columns that always change together, such as the columns of a
``zip:``, form one axis, such as ``workload+runtime``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from numasim.errors import InputError
from numasim.parts.yaml.nodes import Held
from numasim.report.comparison_cells import Rows, cell_columns, codes, groups
from numasim.sweep.store.results_tables import label as axis_label

NULL = "null"  # the text for a cell in whose specification the field has no value
NUMBERED = re.compile(r" \(\d+\)$")  # the number behind a name that several different values share


@dataclass(frozen=True)
class Axis:
    """Columns that vary together. ``values`` are in order of appearance; ``codes`` [rows] index ``values``."""

    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    codes: Rows

    @property
    def name(self) -> str:
        """Return the names of the columns, joined by plus signs."""
        return "+".join(self.columns)

    @cached_property
    def texts(self) -> list[str]:
        """Return the values as text."""
        return [" + ".join(map(value_text, value)) for value in self.values]


def varying_axes(frame: pd.DataFrame) -> list[Axis]:
    """Return the axes of a results table: strategies first, then other fields, machines, workloads, workers, seeds.

    Raises `InputError` if the table lacks a column that identifies runs.
    """
    required = ("machine", "workload", "strategy", "workers", "seed", "repeat")
    absent = [name for name in required if name not in frame]
    if absent:
        raise InputError(f"the table has no column {absent[0]}", expected="a results table of a sweep")
    pairs = frame.groupby(["seed", "repeat"], dropna=False).ngroups
    several_seeds = pairs > max(frame["seed"].nunique(), frame["repeat"].nunique())
    together: dict[bytes, list[str]] = {}
    for name in [*cell_columns(frame), *(["seed"] if several_seeds else [])]:
        number = codes(frame, [name])
        if number.any():  # columns that group the rows in the same way have the same codes
            together.setdefault(number.tobytes(), []).append(name)
    return [_axis(frame, columns) for columns in sorted(together.values(), key=_place)]


def find_axis(axes: list[Axis], name: str | None) -> Axis:
    """Return the axis called ``name``, or with a column called ``name``; None asks for the first axis.

    Raises `InputError` for an unknown name, and if no axis has two values.
    """
    if name is None:
        if not axes:
            raise InputError("nothing can be compared: no axis has two values", expected="a sweep with an axis")
        return axes[0]
    asked = set(name.replace(" ", "").split("+"))
    for axis in axes:
        if asked <= set(axis.columns):
            return axis
    known = [column for axis in axes for column in dict.fromkeys((axis.name, *axis.columns))]
    expected = ", ".join(axis.name for axis in axes) or "a sweep with an axis"
    raise InputError(f"no axis of these runs is called {name!r}", expected=expected, value=name, known=known)


def find_value(axis: Axis, given: object) -> int:
    """Return the place of the value ``given``: as in the table, as text, as a mapping, or as a value for each column.

    A machine, strategy or graph stands for its name. Raises `InputError` for a value that the axis does not have, and
    for an object if several values have the object's name.
    """
    texts = axis.texts
    wanted = _given_text(axis, given)
    if isinstance(given, Held):
        alike = [text for text in texts if NUMBERED.sub("", text) == given.name]
        if len(alike) > 1:
            raise InputError(f"{axis.name} has {len(alike)} values called {given.name!r}", expected=_listed(alike))
    if wanted in texts:
        return texts.index(wanted)
    found = [place for place, value in enumerate(axis.values) if wanted in map(value_text, value)]
    if len(found) == 1:
        return found[0]
    problem = f"{axis.name} does not take the value {wanted!r}"
    raise InputError(problem, expected=_listed(texts), value=wanted, known=texts)


def value_text(value: Any) -> str:
    """Return a value of one column as text: a whole number without a fraction, `NULL` for a value that is not set."""
    if isinstance(value, Held):
        return value.name
    if pd.isna(value):
        return NULL
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _given_text(axis: Axis, given: object) -> str:
    if isinstance(given, Mapping):
        return axis_label(dict(given))
    if isinstance(given, list | tuple):
        each = (axis_label(dict(part)) if isinstance(part, Mapping) else value_text(part) for part in given)
        return " + ".join(each) if len(axis.columns) > 1 else axis_label(list(given))
    return value_text(given)


def _listed(texts: list[str]) -> str:
    shown = ", ".join(texts[:12])
    return f"one of {shown}" + (f" and {len(texts) - 12} others" if len(texts) > 12 else "")


def _axis(frame: pd.DataFrame, columns: list[str]) -> Axis:
    """Return the axis of ``columns``, ordered: parts such as the machine, then fields of parts, then the workers."""
    order = ("machine", "workload", "strategy")
    columns = sorted(columns, key=lambda name: (order.index(name) if name in order else len(order), name == "workers"))
    number = codes(frame, columns[:1])
    _, first = np.unique(number, return_index=True)
    return Axis(tuple(columns), tuple(frame.iloc[first][columns].itertuples(index=False, name=None)), number)


def _place(columns: list[str]) -> int:
    """Return the sort key of an axis: 0 for strategies and their fields, 4 for seeds."""
    last = {"machine": 2, "workload": 2, "workers": 3, "seed": 4}
    places = [0 if name.partition(".")[0] == "strategy" else last.get(name, 1) for name in columns]
    return max(places) if all(places) else 0


# ---- Contrasts: the pairs of runs of two values of an axis -----------------------------------------------------------


@dataclass(frozen=True)
class Contrast:
    """A value of an axis against the baseline in one setting: all other columns of both cells are equal.

    ``value`` is the place of the value in the axis. ``first`` and ``other`` [pairs] are the rows of baseline and value.
    The runs of a pair share the seed and the repeat, and therefore the draws that do not depend on the axis (model
    1.4). If the seed is the axis, the runs of a pair share the repeat.
    """

    setting: tuple[Any, ...]
    value: int
    first: Rows
    other: Rows


def setting_columns_of(frame: pd.DataFrame, axis: Axis) -> list[str]:
    """Return the columns in which the two runs of a pair agree."""
    return [name for name in cell_columns(frame) if name not in axis.columns]


def contrasts(frame: pd.DataFrame, axis: Axis, baseline: int) -> list[Contrast]:
    """Return the contrast of every value with the baseline in every setting, in order of appearance.

    Runs with an error are left out. A setting without a run of the baseline has no contrast.
    """
    pair = codes(frame, ["repeat"] if "seed" in axis.columns else ["seed", "repeat"])
    done = frame["error"].isna().to_numpy() if "error" in frame else np.ones(len(frame), bool)
    found = []
    for setting, rows in groups(frame, setting_columns_of(frame, axis)):
        of_row = axis.codes[rows]
        first = rows[of_row == baseline]
        for value in dict.fromkeys(of_row.tolist()):
            if value != baseline and len(first):
                sides = [side[done[side]] for side in (first, rows[of_row == value])]
                _, *places = np.intersect1d(*(pair[side] for side in sides), return_indices=True)
                found.append(Contrast(setting, value, *(side[at] for side, at in zip(sides, places, strict=True))))
    return found
