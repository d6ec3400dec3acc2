"""A figure of one quantity over one axis with intervals: lines with bands over numbers, dots with bars over names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from numasim.engine.columns import DESCRIBED, Column
from numasim.engine.result import Result
from numasim.engine.unit_text import scale_of
from numasim.errors import InputError
from numasim.report.comparison_cells import (
    DRAWN_COLUMNS,
    ITERATION,
    ITERATION_COLUMNS,
    TIME,
    ChosenAxes,
    HasFrame,
    by_iteration,
    choose_axes,
    estimate,
    finished,
    groups,
    intervals_heading,
    is_numeric,
    label,
    numbers,
    plain_value,
    table_of,
)
from numasim.report.figures.style import (
    REFERENCE_COLOUR,
    empty_figure,
    legend_below,
    line_colour,
    line_width,
    marker,
    panel_grid,
    styled,
)

TICKS = 12  # most tick marks under a panel
TICK_CHARACTERS = 36  # most characters of names side by side under a panel; longer names slant
WIDE_SPAN = 30  # from this ratio of the largest to the smallest value of x on, the scale is logarithmic
NAME_GAP = 0.12  # of the distance between two names: from one estimate of a name to the next
BESIDE = 0.8  # of the distance between two names: most room for the estimates of one name
FAR_FROM_ZERO = 0.5  # least ratio of the smallest to the largest value on a scale without zero
SAME_PLACE = 0.005  # of the span of all values of a panel: closer values are drawn in one place
SHARED_WIDTH = 2.4  # width, in points, of lines that coincide
DASH = 3.0  # length of each coinciding line's dashes, in widths of the line
MARK = 5.5  # size, in points, of the last of several marks in one place

FloatArray = npt.NDArray[np.float64]
Reference = Callable[[pd.DataFrame], Line2D | None]  # a function from the runs of a panel to a line to compare with


# ---- The values of an axis as places along x -------------------------------------------------------------------------


@dataclass(frozen=True)
class AxisValues:
    """The values of one axis over a whole figure: numbers ascending, or texts in order of appearance."""

    name: str
    numeric: bool
    names: tuple[str, ...]  # of the values
    places: FloatArray  # [values] the numbers, or 0, 1, 2, ...

    def places_of(self, runs: pd.DataFrame) -> FloatArray:
        """Return the place of each run on x; NaN for a run that does not set the axis."""
        if self.numeric:
            return numbers(runs, self.name)
        place = dict(zip(self.names, self.places, strict=True))
        return np.array([place[plain_value(value)] for value in runs[self.name]], np.float64)

    def tick(self, axes: Axes, shown: FloatArray) -> None:
        """Scale and tick the x axis of a panel in which the places ``shown`` occur, ascending.

        A geometric series of numbers has a logarithmic scale, and so have numbers with a wide span.
        """
        if not self.numeric:
            slanting = sum(map(len, self.names)) + len(self.names) > TICK_CHARACTERS
            places, rotation = range(len(self.names)), 30 if slanting else 0
            axes.set_xticks(places, self.names, rotation=rotation, ha="right" if slanting else "center")
            axes.tick_params(axis="x", length=0)
            axes.set_xlim(-0.6, len(self.names) - 0.4)
            return
        least = shown[shown > 0].min(initial=np.inf)
        if len(shown) > 2 and shown[0] > 0 and np.allclose(shown[1:] / shown[:-1], shown[1] / shown[0]):
            axes.set_xscale("log", base=shown[1] / shown[0])
        elif len(shown) > 2 and shown[0] >= 0 and shown[-1] > WIDE_SPAN * least:
            axes.set_xscale("symlog", linthresh=least) if shown[0] == 0 else axes.set_xscale("log")
        step = -(-len(shown) // TICKS)
        axes.set_xticks(shown[::step], [plain_value(value) for value in shown[::step]])
        axes.minorticks_off()


def axis_values(runs: pd.DataFrame, name: str) -> AxisValues:
    """Return the values of the column ``name`` in ``runs``."""
    if is_numeric(runs, name):
        found = np.unique(numbers(runs, name))
        found = found[~np.isnan(found)]
        return AxisValues(name, True, tuple(map(plain_value, found)), found)
    names = tuple(dict.fromkeys(map(plain_value, runs[name])))
    return AxisValues(name, False, names, np.arange(len(names), dtype=np.float64))


# ---- The figure ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity:
    """The quantity that a figure shows: the median of a ``column``, divided by ``factor``, under a label."""

    column: str
    label: str
    factor: float = 1.0
    top: float | None = None  # the largest possible value, if there is one
    share_y: bool = True  # whether all panels have the same scale


def quantity(described: Column, values: FloatArray, share_y: bool) -> Quantity:
    """Return a column with ``values`` as a quantity, in the unit that suits the largest value."""
    factor, unit = scale_of(float(np.nanmax(np.abs(values))), described.unit)
    text = f"{described.label} ({unit})" if unit else described.label
    return Quantity(described.name, text, factor, share_y=share_y)


def axis_figure(
    frame: pd.DataFrame, chosen: ChosenAxes, shown: Quantity, reference: Reference = lambda runs: None
) -> Figure:
    """Draw a quantity of the finished runs over the axis x, with the line of ``reference`` in each panel."""
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
        y_label=shown.label,
        share_y=shown.share_y,
        heading=intervals_heading(runs, chosen),
    )
    named = {label(chosen.colour, values): index for index, (values, _) in enumerate(groups(runs, chosen.colour))}
    drawing = _Drawing(chosen, shown, axis_values(runs, chosen.x), named)
    handles: dict[str, Artist] = {}
    for axes, (_, rows) in zip(panels, facets, strict=False):  # the grid may have fewer panels
        for line in drawing.fill(axes, runs.iloc[rows], reference):
            handles.setdefault(str(line.get_label()), line)
    for together in [panels] if shown.share_y else [[axes] for axes in panels]:
        least = min(axes.dataLim.y0 for axes in together)
        most = max(axes.dataLim.y1 for axes in together)
        if shown.top is not None or not least > FAR_FROM_ZERO * most:  # else a scale without zero
            together[0].set_ylim(bottom=0, top=None if shown.top is None else 1.04 * shown.top)
    if len(handles) > 1 or chosen.colour:
        legend_below(figure, list(handles.values()))
    return figure


def lying_on_each_other(lines: Sequence[FloatArray]) -> list[tuple[int, int]]:
    """Return for each line [4, values] the number of coinciding lines, itself included, and its place among these.

    Lines coincide if at all places the values differ by less than `SAME_PLACE` of the span of all values.
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
    """The common data of all panels of a figure; ``colours`` has the number of the colour of each name."""

    chosen: ChosenAxes
    quantity: Quantity
    values: AxisValues
    colours: dict[str, int]

    def fill(self, axes: Axes, runs: pd.DataFrame, reference: Reference) -> list[Line2D]:
        """Draw the runs of a panel, and return the legend's entries for the lines of the panel."""
        points = {
            label(self.chosen.colour, values): self._points(runs.iloc[rows])
            for values, rows in groups(runs, self.chosen.colour)
        }
        # dots of one name are drawn side by side
        together = lying_on_each_other(list(points.values())) if self.values.numeric else [(1, 0)] * len(points)
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

    def _points(self, runs: pd.DataFrame) -> FloatArray:
        """Return [4, values]: the places on x, ascending, and the value and bounds of the estimate at each place."""
        places = self.values.places_of(runs)
        found = []
        for place in np.unique(places[~np.isnan(places)]):
            cell = estimate(runs[places == place], self.quantity.column)
            found.append((place, *(bound / self.quantity.factor for bound in (cell.value, cell.low, cell.high))))
        return np.array(found, np.float64).reshape(-1, 4).T

    def _line(self, axes: Axes, name: str, points: FloatArray, together: int, turn: int) -> Line2D:
        """Draw a line, and return the legend's entry for the line.

        Coinciding lines are visible in turn: by their dashes, and by larger marks under the marks of later lines. Dots
        of one name are drawn side by side.
        """
        index, count, numeric = self.colours[name], len(self.colours), self.values.numeric
        at, value, low, high = points
        at = at + min(0.0 if numeric else NAME_GAP, BESIDE / count) * (index - (count - 1) / 2)
        colour = line_colour(index)
        if numeric:
            axes.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0)
        # a point between two gaps has no band, and a dot never has a band
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


# ---- Any column of a results table over any axis of the sweep, and sums over the iterations of a program -------------


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

    ``x``, ``colour`` and ``facet`` are axes of the sweep, or ``machine``, ``workload``, ``strategy`` or ``workers``. By
    default x is the axis that varies. Numbers on x give lines with bands, names give dots with intervals. All other
    axes that vary divide the runs into more panels. Raises `InputError` for a name that is no such column or axis.
    """
    if name not in DRAWN_COLUMNS:
        raise InputError(f"{name!r} is no column of numbers", value=name, known=DRAWN_COLUMNS)
    frame = table_of(results)
    runs = finished(frame)
    chosen = choose_axes(frame, x, colour, facet)
    if runs.empty:
        return empty_figure("no finished runs")
    values = numbers(runs, name)
    if np.isnan(values).all():
        return empty_figure(f"no run has a value of {name}")
    return axis_figure(frame, chosen, quantity(DESCRIBED[name], values, share_y=DESCRIBED[name].kind == "ratio"))


class HasIterations(HasFrame, Protocol):
    """Results of a sweep, such as the results of `numasim.sweep`, with a row for each run of a phase."""

    def iterations(self) -> pd.DataFrame:
        """Return one row for each run of a phase."""


@styled
def iterations(
    results: HasIterations | Result, column: str = TIME, *, colour: str | None = None, facet: str | None = None
) -> Figure:
    """Draw ``column`` over the iterations of a sweep or of a single run: medians over the repeats, in bands.

    ``column`` is ``time_ps`` or a sum of `Result.iterations`, such as ``bytes_remote``. There is a line for each
    strategy, or for each value of the axis ``colour``. All other axes that vary divide the runs into panels, ``facet``
    first. Phases that run only once are left out. Raises `InputError` for another column or axis.
    """
    if column not in ITERATION_COLUMNS:
        raise InputError(f"{column!r} is not counted by iteration", value=column, known=ITERATION_COLUMNS)
    if isinstance(results, pd.DataFrame):
        raise InputError("got a DataFrame", expected="what ns.sweep or ns.run returned, which has iterations")
    frame = table_of(results)
    if isinstance(results, Result):
        runs = by_iteration(frame, [results.iterations.assign(run_id=frame["run_id"].iloc[0])])
    else:
        runs = by_iteration(frame, [results.iterations()])
    if runs.empty:
        return empty_figure("no program with iterations")
    shown = quantity(ITERATION_COLUMNS[column], numbers(runs, column), share_y=False)
    return axis_figure(runs, choose_axes(runs, ITERATION, colour, facet), shown)


# ---- Steals and speedups, a curve for each strategy (thesis, Tables 3.2, 4.2, 4.3; Figure 4.8) -----------------------

UNIFORM_STRATEGY = "randomized"  # victims are uniform among the other workers (thesis eq. 4.2)


@styled
def miss_ratio(results: HasFrame | pd.DataFrame) -> Figure:
    """Draw the share of steal attempts that found nothing. A strategy without attempts has a gap."""
    return _curves(results, Quantity("steal_miss_ratio", "steal miss ratio (misses / attempts)", top=1.0))


@styled
def remote_steal_ratio(results: HasFrame | pd.DataFrame, workers: pd.DataFrame | None = None) -> Figure:
    """Draw the share of steal attempts at another node's queues.

    With the per-worker table (``run_id``, ``node``, ``role``) and runs of ``randomized``, the expected share of uniform
    victims is drawn as well: (P/2)/(P-1) on two nodes with P/2 workers each.
    """

    def reference(runs: pd.DataFrame) -> Line2D | None:
        return _expected_line(runs, workers) if workers is not None else None

    shown = Quantity("steal_remote_ratio", "remote share of steal attempts", top=1.0)
    return _curves(results, shown, reference)


@styled
def speedup(results: HasFrame | pd.DataFrame) -> Figure:
    """Draw serial time over makespan, with the ideal speedup of one for each worker."""

    def reference(runs: pd.DataFrame) -> Line2D:
        counts = np.unique(numbers(runs, "workers"))
        return _reference_line(counts, counts, "ideal")

    return _curves(results, Quantity("speedup", "speedup (serial time / makespan)"), reference)


def expected_remote_share(nodes: npt.NDArray[np.int64]) -> float:
    """Return the probability that a uniform victim among the other workers is on another node.

    ``nodes`` [workers] are the nodes of the workers. All thieves are assumed to make equally many attempts, which
    matters only if nodes have unequal numbers of workers. NaN for a single worker.
    """
    count = len(nodes)
    same = np.bincount(nodes)
    return float(count**2 - (same**2).sum()) / (count * (count - 1)) if count > 1 else float("nan")


def _curves(results: HasFrame | pd.DataFrame, shown: Quantity, reference: Reference = lambda runs: None) -> Figure:
    """Draw a quantity over the axis that varies; over the number of workers, with the line of ``reference``."""
    frame = table_of(results)
    if finished(frame).empty:
        return empty_figure("no finished runs")
    chosen = choose_axes(frame)
    return axis_figure(frame, chosen, shown, reference if chosen.x == "workers" else lambda runs: None)


def _expected_line(runs: pd.DataFrame, workers: pd.DataFrame) -> Line2D | None:
    """Return the line of expected shares for runs of the uniform strategy with known workers; None without runs."""
    uniform = runs[runs["strategy"] == UNIFORM_STRATEGY]
    one_each = uniform.drop_duplicates("workers").sort_values("workers")
    mine = workers[workers["run_id"].isin(one_each["run_id"]) & (workers["role"] == "worker")]
    nodes = {run: table["node"].to_numpy(np.int64) for run, table in mine.groupby("run_id")}
    known = one_each[one_each["run_id"].isin(list(nodes))]
    if known.empty:
        return None
    shares = np.array([expected_remote_share(nodes[run]) for run in known["run_id"]])
    return _reference_line(numbers(known, "workers"), shares, f"{UNIFORM_STRATEGY}, expected")


def _reference_line(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], name: str) -> Line2D:
    return Line2D(x, y, color=REFERENCE_COLOUR, linestyle=(0, (4, 3)), linewidth=1.2, label=name, zorder=4)
