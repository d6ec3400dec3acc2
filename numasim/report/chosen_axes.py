"""Which axes of a sweep a figure shows: along x, as colour, and as panels; chosen, or found in what varies.

No two settings are ever averaged: an axis that varies and is neither x nor colour divides the runs into panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from numasim.errors import InputError
from numasim.report.comparison_cells import cell_columns, contender_columns

USUAL_X = "workers"


@dataclass(frozen=True)
class ChosenAxes:
    """The columns of a results table that a figure's x, its colours and its panels stand for."""

    x: str
    colour: tuple[str, ...]
    facet: tuple[str, ...]


def choose_axes(
    runs: pd.DataFrame, x: str | None = None, colour: str | None = None, facet: str | None = None
) -> ChosenAxes:
    """Return the axes of a figure of ``runs``; those that are None are found in what varies.

    By default x is the number of workers where that varies, else the first axis of numbers that varies, else the first
    that varies. Colours are the strategies, or where these are x or do not vary, the first other axis. All other axes
    that vary are panels. Raises `InputError` for a name that is no axis of the sweep.
    """
    given = [name for name in (x, colour, facet) if name is not None]
    for name in given:
        _require_axis(runs, name)
    free = [name for name in varying_columns(runs) if name not in given]
    x = x or _usual_x(runs, free)
    known = list(dict.fromkeys((x, *given)))
    rest = [name for name in free if name != x and not follows_from(runs, known, name)]
    colours = [colour] if colour else _usual_colours(runs, rest)
    return ChosenAxes(x, tuple(colours), (*([facet] if facet else ()), *(name for name in rest if name not in colours)))


def varying_columns(runs: pd.DataFrame) -> list[str]:
    """Return the columns that distinguish cells and take more than one value."""
    return [name for name in cell_columns(runs) if runs[name].nunique(dropna=False) > 1]


def is_numeric(runs: pd.DataFrame, axis: str) -> bool:
    """Whether the values of an axis are numbers, which have an order and distances."""
    return bool(is_numeric_dtype(runs[axis]) and not is_bool_dtype(runs[axis]))


def follows_from(runs: pd.DataFrame, known: Sequence[str], other: str) -> bool:
    """Whether the values of some axes determine that of another one, as in axes that move together."""
    if runs.empty:
        return True
    return int(runs.groupby(list(known), dropna=False, observed=True)[other].nunique(dropna=False).max()) <= 1


def _require_axis(runs: pd.DataFrame, name: str) -> None:
    known = cell_columns(runs)
    if name not in known:
        raise InputError(
            f"there is no axis {name!r} in this sweep", expected=f"one of {', '.join(known)}", value=name, known=known
        )


def _usual_x(runs: pd.DataFrame, varying: Sequence[str]) -> str:
    numeric = [name for name in varying if is_numeric(runs, name) and not _only_accompanies(runs, name, varying)]
    if USUAL_X in numeric or not varying:
        return USUAL_X
    return (numeric or [name for name in contender_columns(runs) if name in varying] or list(varying))[0]


def _only_accompanies(runs: pd.DataFrame, name: str, varying: Sequence[str]) -> bool:
    """Whether an axis of numbers follows from one of names, such as the workers from the machine that they fill."""
    return any(follows_from(runs, [other], name) for other in varying if not is_numeric(runs, other))


def _usual_colours(runs: pd.DataFrame, rest: Sequence[str]) -> list[str]:
    contenders = [name for name in contender_columns(runs) if name in rest]
    return contenders or list(rest[:1])
