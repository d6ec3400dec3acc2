"""The values of an axis as places along x: numbers where they are, on a linear or a logarithmic scale, texts side by
side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes

from numasim.report.chosen_axes import is_numeric
from numasim.report.comparison_cells import numbers, plain_value

TICKS = 12  # that fit under a panel
TICK_CHARACTERS = 36  # of all names under a panel that stand side by side; longer ones slant
WIDE_SPAN = 30  # the largest over the smallest value, from which on a scale is logarithmic

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AxisValues:
    """The values of one axis over a whole figure, ascending where they are numbers, else in order of appearance."""

    name: str
    numeric: bool
    names: tuple[str, ...]  # of the values
    places: FloatArray  # [values] the numbers, or 0, 1, 2, ...

    def places_of(self, runs: pd.DataFrame) -> FloatArray:
        """[runs] Where on x each run belongs; NaN for a run that does not set the axis."""
        if self.numeric:
            return numbers(runs, self.name)
        place = dict(zip(self.names, self.places, strict=True))
        return np.array([place[plain_value(value)] for value in runs[self.name]], np.float64)

    @property
    def gap(self) -> float:
        """The share of the distance between two values that is left to each of several estimates beside each other."""
        return 0.0 if self.numeric else 0.12

    def tick(self, axes: Axes, shown: FloatArray) -> None:
        """Scale and tick the x axis of a panel in which the places ``shown`` occur, ascending."""
        if self.numeric:
            _number_ticks(axes, shown)
        else:
            _name_ticks(axes, self.names)


def axis_values(runs: pd.DataFrame, name: str) -> AxisValues:
    """Return the values that the column ``name`` takes in ``runs``."""
    if is_numeric(runs, name):
        found = np.unique(numbers(runs, name))
        found = found[~np.isnan(found)]
        return AxisValues(name, True, tuple(map(plain_value, found)), found)
    names = tuple(dict.fromkeys(map(plain_value, runs[name])))
    return AxisValues(name, False, names, np.arange(len(names), dtype=np.float64))


def _number_ticks(axes: Axes, values: FloatArray) -> None:
    """Tick the values that were run; a geometric series and a wide span get a logarithmic axis."""
    least = values[values > 0].min(initial=np.inf)
    if len(values) > 2 and values[0] > 0 and np.allclose(values[1:] / values[:-1], values[1] / values[0]):
        axes.set_xscale("log", base=values[1] / values[0])
    elif len(values) > 2 and values[0] >= 0 and values[-1] > WIDE_SPAN * least:
        axes.set_xscale("symlog", linthresh=least) if values[0] == 0 else axes.set_xscale("log")
    step = -(-len(values) // TICKS)
    axes.set_xticks(values[::step], [plain_value(value) for value in values[::step]])
    axes.minorticks_off()


def _name_ticks(axes: Axes, names: tuple[str, ...]) -> None:
    slanting = sum(map(len, names)) + len(names) > TICK_CHARACTERS
    axes.set_xticks(range(len(names)), names, rotation=30 if slanting else 0, ha="right" if slanting else "center")
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.6, len(names) - 0.4)
