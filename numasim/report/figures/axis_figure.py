"""A figure of one quantity over one axis with intervals: lines with bands over numbers, dots with bars over names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from numasim.engine.columns import DESCRIBED
from numasim.engine.unit_text import scale_of
from numasim.errors import InputError
from numasim.report.answers.statistics import Estimate
from numasim.report.chosen_axes import ChosenAxes, choose_axes, is_numeric
from numasim.report.comparison_cells import DRAWN_COLUMNS, estimate, finished, groups, label, numbers, plain_value
from numasim.report.figures.grid import empty_figure, legend_below, panel_grid
from numasim.report.figures.heading import intervals_heading
from numasim.report.figures.style import line_colour, line_width, marker, styled
from numasim.report.results_table import HasFrame, table_of

# ----------------------------------------------------------------------------------------------------------------------
# The values of an axis as places along x: numbers where they are, on a linear or a logarithmic scale, texts side by
# side.

TICKS = 12  # that fit under a panel
TICK_CHARACTERS = 36  # of all names under a panel that stand side by side; longer ones slant
WIDE_SPAN = 30  # the largest over the smallest value, from which on a scale is logarithmic


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


Estimator = Callable[[pd.DataFrame], Estimate]
Reference = Callable[[pd.DataFrame], Line2D | None]  # the runs of a panel -> a line to compare with
FloatArray = npt.NDArray[np.float64]

FAR_FROM_ZERO = 0.5  # of the largest value
SAME_PLACE = 0.005  # of the span of all values of a panel
SHARED_WIDTH = 2.4  # points, of lines that lie on each other
DASH = 3.0  # widths of the line, of each line where several lie on each other
MARK = 5.5  # points, of the last of several marks in one place
BESIDE = 0.8  # of the distance between two names, at most taken by the estimates of one name


@dataclass(frozen=True)
class Quantity:
    """What a figure shows: how it is estimated from the runs of a cell, divided by ``factor``, and named."""

    label: str
    estimate: Estimator
    factor: float = 1.0
    top: float | None = None  # the largest possible value, if there is one
    share_y: bool = True  # whether panels have one scale


def axis_figure(
    frame: pd.DataFrame, chosen: ChosenAxes, quantity: Quantity, reference: Reference = lambda runs: None
) -> Figure:
    """Draw ``quantity`` of the finished runs over the axis x, with ``reference`` in panels whose x it fits."""
    runs = finished(frame)
    if runs.empty:
        return empty_figure("no finished runs")
    facets = groups(runs, chosen.facet)
    figure, panels = panel_grid(
        [(label(chosen.facet, values), "") for values, _ in facets],
        columns=2,
        width=4.2 if len(facets) > 1 else 5.6,
        height=2.95,
        x_label=chosen.x,
        y_label=quantity.label,
        share_y=quantity.share_y,
        heading=intervals_heading(runs, chosen),
    )
    drawing = _Drawing(chosen, quantity, axis_values(runs, chosen.x), _numbered(runs, chosen.colour))
    handles: dict[str, Artist] = {}
    for axes, (_, rows) in zip(panels, facets, strict=False):  # the grid may show fewer
        for line in drawing.fill(axes, runs.iloc[rows], reference):
            handles.setdefault(str(line.get_label()), line)
    _limit(panels, quantity)
    if len(handles) > 1 or chosen.colour:
        legend_below(figure, list(handles.values()))
    return figure


def _numbered(runs: pd.DataFrame, columns: Sequence[str]) -> dict[str, int]:
    """Give each colour of the whole table its number, so that it is the same in every panel."""
    return {label(columns, values): index for index, (values, _) in enumerate(groups(runs, columns))}


def _limit(panels: Sequence[Axes], quantity: Quantity) -> None:
    """Begin at zero, unless all values are so far from it that their differences would hardly be seen."""
    for together in [panels] if quantity.share_y else [[axes] for axes in panels]:
        least = min(axes.dataLim.y0 for axes in together)
        most = max(axes.dataLim.y1 for axes in together)
        if quantity.top is not None or not least > FAR_FROM_ZERO * most:
            together[0].set_ylim(bottom=0, top=None if quantity.top is None else 1.04 * quantity.top)


def lying_on_each_other(lines: Sequence[FloatArray]) -> list[tuple[int, int]]:
    """For each line [4, values] of a panel: how many lie where it does, itself included, and how many of them before.

    Lines lie on each other where the same places have values that differ by less than `SAME_PLACE` of all values.
    """
    values = np.concatenate([line[1] for line in lines]) if lines else np.zeros(0)
    near = SAME_PLACE * float(np.nanmax(values) - np.nanmin(values)) if (~np.isnan(values)).any() else 0.0
    found: list[list[int]] = []
    for at, line in enumerate(lines):
        for group in found:
            first = lines[group[0]]
            if np.array_equal(first[0], line[0]) and np.allclose(first[1], line[1], rtol=0, atol=near, equal_nan=True):
                group.append(at)
                break
        else:
            found.append([at])
    places = {at: (len(group), turn) for group in found for turn, at in enumerate(group)}
    return [places[at] for at in range(len(lines))]


@dataclass(frozen=True)
class _Drawing:
    chosen: ChosenAxes
    quantity: Quantity
    values: AxisValues
    colours: dict[str, int]

    def fill(self, axes: Axes, runs: pd.DataFrame, reference: Reference) -> list[Line2D]:
        """Draw the runs of a panel, and return the entries of its lines in the legend."""
        named = {
            label(self.chosen.colour, values): runs.iloc[rows] for values, rows in groups(runs, self.chosen.colour)
        }
        points = {name: self._points(each) for name, each in named.items()}
        numeric = self.values.numeric  # dots of one name stand beside each other
        together = lying_on_each_other(list(points.values())) if numeric else [(1, 0)] * len(points)
        lines = [
            self._line(axes, name, each, group, at)
            for (name, each), (group, at) in zip(points.items(), together, strict=True)
        ]
        expected = reference(runs)
        if expected is not None:
            lines.append(axes.add_line(expected))
        places = self.values.places_of(runs)
        self.values.tick(axes, np.unique(places[~np.isnan(places)]))
        return lines

    def _line(self, axes: Axes, name: str, points: FloatArray, together: int, turn: int) -> Line2D:
        """Draw a line, and return its entry in the legend.

        Where several lie on each other, each is seen in turn: by its dashes, and around the marks of later ones.
        """
        index = self.colours[name]
        at, value, low, high = points
        at = at + self._aside(index)
        colour, numeric = line_colour(index), self.values.numeric
        if numeric:
            axes.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0)
        # a point between two gaps has no band, and a dot none at all
        axes.vlines(at, low, high, color=colour, alpha=0.45 if numeric else 0.9, linewidth=1 if numeric else 2)
        look: dict[str, Any] = {
            "color": colour,
            "linestyle": "-" if numeric else "none",
            "linewidth": line_width(index),
            "marker": marker(index),
            "markersize": None if numeric else 7,
            "markeredgecolor": "white",
            "markeredgewidth": 0.6,
            "label": name,
        }
        shared: dict[str, Any] = {
            "linestyle": (-DASH * turn, (DASH, DASH * (together - 1))),
            "linewidth": SHARED_WIDTH,
            "markersize": MARK + 3 * (together - 1 - turn),
        }
        axes.plot(at, value, **look | (shared if together > 1 else {}), clip_on=False, zorder=3)
        return Line2D([], [], **look)

    def _aside(self, index: int) -> float:
        """How far from its place an estimate is drawn, so that those of one name stand beside each other."""
        count = len(self.colours)
        return min(self.values.gap, BESIDE / count) * (index - (count - 1) / 2)

    def _points(self, runs: pd.DataFrame) -> FloatArray:
        """[4, values]: the places on x, ascending, and the value and bounds of the estimate there."""
        places = self.values.places_of(runs)
        found = []
        for place in np.unique(places[~np.isnan(places)]):
            cell = self.quantity.estimate(runs[places == place])
            found.append((place, *(bound / self.quantity.factor for bound in (cell.value, cell.low, cell.high))))
        return np.array(found, np.float64).reshape(-1, 4).T


# ---- Any column of a results table over any axis of the sweep --------------------------------------------------------


@styled
def column(
    results: HasFrame | pd.DataFrame,
    name: str = "makespan_ps",
    *,
    x: str | None = None,
    colour: str | None = None,
    facet: str | None = None,
) -> Figure:
    """Draw a column of numbers of ``results``: medians over the repeats, with intervals.

    ``x``, ``colour`` and ``facet`` are axes of the sweep, or ``machine``, ``workload``, ``strategy`` or ``workers``; by
    default, x is the axis that varies. Numbers on x give lines with bands, names dots with intervals. What else varies
    divides the runs into more panels. Raises `InputError` for a name that is no such column or axis.
    """
    if name not in DRAWN_COLUMNS:
        expected = f"one of {', '.join(DRAWN_COLUMNS)}"
        raise InputError(f"{name!r} is no column of numbers", expected=expected, value=name, known=DRAWN_COLUMNS)
    frame = table_of(results)
    runs = finished(frame)
    chosen = choose_axes(frame, x, colour, facet)
    if runs.empty:
        return empty_figure("no finished runs")
    values = numbers(runs, name)
    if np.isnan(values).all():
        return empty_figure(f"no run has a value of {name}")
    return axis_figure(frame, chosen, quantity(name, float(np.nanmax(np.abs(values)))))


def quantity(name: str, largest: float) -> Quantity:
    """The column ``name`` as what a figure shows, in the unit that suits its ``largest`` value."""
    described = DESCRIBED[name]
    factor, unit = scale_of(largest, described.unit)
    text = f"{described.label} ({unit})" if unit else described.label
    return Quantity(text, lambda runs: estimate(runs, name), factor, share_y=described.kind == "ratio")
