"""Chooses the axes of a sweep that a figure shows along x, as colours and as panels, and the heading above all panels.

No two settings are ever averaged: an axis that varies and is neither x nor colour divides the runs into panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from numasim.errors import InputError
from numasim.report.answers.statistics import interval_name
from numasim.report.comparison_cells import cell_columns, contender_columns, groups, label

USUAL_X = "workers"
MOST_NAMED = 3  # most machines in a heading; if there are more machines, the heading has their number


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
    """Return whether the values of ``known`` axes determine the value of an ``other`` axis, as in a ``zip:``."""
    if runs.empty:
        return True
    return int(runs.groupby(list(known), dropna=False, observed=True)[other].nunique(dropna=False).max()) <= 1


def _usual_x(runs: pd.DataFrame, varying: Sequence[str], contenders: Sequence[str]) -> str:
    """Return x among the axes that vary. Numbers that follow from an axis of names are not x.

    An example is the number of workers that follows from the machine: each machine is filled with workers.
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
    """Return the machines and the other values common to ``runs``: ``xeon-e5-2620-2s, strassen n=1024, 24 workers``."""
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
