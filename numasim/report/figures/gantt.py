"""The activities of every worker in the course of a run, and all steals: a Gantt chart, grouped by node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from numasim.engine.observe.over_time import STATES, OverTime
from numasim.engine.observe.watch import ACTOR, BEGIN, NOBODY, SECOND
from numasim.engine.unit_text import TIME_UNITS
from numasim.errors import InputError
from numasim.report.components import COMPONENTS
from numasim.report.figures.style import legend_below, styled

BY_COLUMN = {component.column: component for component in COMPONENTS}
LABELS = {
    "work_ps": ("work", BY_COLUMN["work_local_ps"].colour),
    "overhead_ps": ("overhead", BY_COLUMN["overhead_ps"].colour),
    "idle_ps": ("idle", BY_COLUMN["idle_backoff_ps"].colour),
    "parked_ps": ("parked", BY_COLUMN["parked_ps"].colour),
    "idle_barrier_ps": ("barrier", BY_COLUMN["idle_barrier_ps"].colour),
}
NEAR, FAR = "#000000", "#D55E00"
NODE_GAP = 0.6  # gap between the workers of two nodes, in rows
NAMED_ROWS = 32  # most rows with a number each; more numbers would touch each other
ROW_INCHES, MOST_INCHES = 0.17, 8.0
WIDTH_INCHES = 10.0
PIXELS = 10  # height of a row, including the thin line below the row
MOST_LINES = 150  # most lines of steals; more would hide the rows below
COUNTED_BARS = 128

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """The layout of rows that are grouped by node.

    ``order`` has the numbers of the rows from top to bottom, ``place[row]`` the centre of a row. ``thickness`` is the
    height of a row, ``height`` the height of all rows. ``node_place`` has the centre of the rows of each of ``nodes``.
    """

    order: npt.NDArray[np.int64]
    place: F64
    thickness: float
    nodes: npt.NDArray[np.int64]
    node_place: F64
    height: float


def rows_by_node(node: npt.NDArray[np.int64]) -> Rows:
    """Return a layout of rows on the nodes ``node`` [rows], one below the other and grouped by node."""
    order = np.argsort(node, kind="stable")
    nodes, group = np.unique(node, return_inverse=True)
    place = np.empty(len(node))
    place[order] = np.arange(len(node)) + NODE_GAP * group[order]
    centres = np.array([place[node == each].mean() for each in nodes])
    thickness = 0.9 if len(node) <= NAMED_ROWS else 1.0
    return Rows(order, place, thickness, nodes, centres, float(place.max()) + 1)


@styled
def timeline(over_time: OverTime) -> Figure:
    """Draw every worker's activities over time, steals as marks in the rows of thieves, and the number of steals."""
    require_over_time(over_time)
    node = over_time.plan.workers.node.astype(np.int64)
    rows = rows_by_node(node)
    figure = Figure(figsize=(WIDTH_INCHES, 2.2 + min(MOST_INCHES, ROW_INCHES * rows.height)), layout="constrained")
    heights = (min(MOST_INCHES, max(1.2, ROW_INCHES * rows.height)), 0.9)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=heights)
    scale, unit = time_scale(over_time)
    _draw_states(above, over_time, rows, scale)
    _draw_steals(above, over_time, rows, scale)
    made, kept = int(over_time.steals_made.sum()), len(over_time.steals)
    steals = f"{made:,} steals" + ("" if made == kept else f", the first {kept:,} of them marked")
    above.set_title(f"{over_time.plan.workload.name}, {over_time.plan.steal.name}: {steals}")
    label_rows(above, rows, "worker")
    _draw_counts(below, over_time, scale)
    below.set_xlabel(f"time ({unit})")
    marks = [
        Line2D([], [], color=colour, marker="o", markersize=4, linewidth=1, label=label)
        for label, colour in (("steal inside a node", NEAR), ("steal from another node", FAR))
    ]
    legend_below(figure, [*state_patches(over_time), *marks])
    return figure


def require_over_time(given: Any) -> None:
    """Raise `InputError` if ``given`` is no run over time: a run without ``over_time=True`` has None instead."""
    if not isinstance(given, OverTime):
        raise InputError(f"got {given!r}", expected="result.over_time of ns.run(..., over_time=True)")


def time_scale(over_time: OverTime) -> tuple[int, str]:
    """Return the unit in which the times of the run are drawn: picoseconds in the unit, and the name of the unit."""
    return next((item for item in TIME_UNITS if over_time.makespan_ps >= item[0]), TIME_UNITS[-1])


def paint_rows(axes: Axes, over_time: OverTime, rows: Rows, values: F64, scale: int, **colours: Any) -> AxesImage:
    """Paint ``values`` [rows, bins], or colours [rows, bins, 3], as one image; ``rows`` has the places of the rows."""
    grid = np.full((round(rows.height * PIXELS), *values.shape[1:]), np.nan)
    for thing, place in enumerate(rows.place):
        first = round(place * PIXELS)
        grid[first : first + round(rows.thickness * PIXELS)] = values[thing]
    reach = (values.shape[1] << over_time.shift) / scale
    picture = np.ma.masked_invalid(grid) if values.ndim == 2 else np.nan_to_num(grid, nan=1)
    extent = (0, reach, len(grid) / PIXELS - rows.thickness / 2, -rows.thickness / 2)
    image = axes.imshow(picture, extent=extent, aspect="auto", interpolation="nearest", zorder=1, **colours)
    axes.set_xlim(0, over_time.makespan_ps / scale)
    return image


def label_rows(axes: Axes, rows: Rows, what: str) -> None:
    """Number as many rows as there is room for, and name the nodes at the right."""
    count = len(rows.order)
    axes.set_ylim(rows.height - 0.5, -0.5)
    axes.grid(visible=False)
    shown = rows.order if count <= NAMED_ROWS else rows.order[:: -(-count // NAMED_ROWS)]
    axes.set_yticks(rows.place[shown], [str(each) for each in shown], fontsize=8)
    axes.set_ylabel(what)
    right = axes.secondary_yaxis("right")
    right.set_yticks(rows.node_place, ["any node" if node < 0 else f"node {node}" for node in rows.nodes])
    right.tick_params(length=0)
    right.spines[:].set_visible(False)


def _draw_states(axes: Axes, over_time: OverTime, rows: Rows, scale: int) -> None:
    """Paint every bin of every worker in the mean colour of the activities in the bin."""
    workers = len(rows.order)
    shares = over_time.stretches_ps[:workers] / np.maximum(1, np.diff(over_time.edges_ps))
    colours = np.array([to_rgb(LABELS[state][1]) for state in STATES.values()])
    painted = np.clip(np.einsum("wsb,sc->wbc", shares, colours), 0, 1)
    paint_rows(axes, over_time, rows, painted, scale)


def _draw_steals(axes: Axes, over_time: OverTime, rows: Rows, scale: int) -> None:
    """Mark steals in the row of the thief. If there are few steals, draw lines from the rows of their victims."""
    node = over_time.plan.workers.node
    steals = over_time.steals[over_time.steals[:, SECOND] != NOBODY]
    for colour, far in ((NEAR, False), (FAR, True)):
        mine = steals[(node[steals[:, ACTOR]] != node[steals[:, SECOND]]) == far]
        at = mine[:, BEGIN] / scale
        thief, victim = rows.place[mine[:, ACTOR]], rows.place[mine[:, SECOND]]
        if over_time.steals_made.sum() <= MOST_LINES:
            axes.vlines(at, np.minimum(thief, victim), np.maximum(thief, victim), color=colour, linewidth=0.6, zorder=3)
        axes.plot(at, thief, linestyle="", marker="o", markersize=2.4, color=colour, zorder=4)


def _draw_counts(axes: Axes, over_time: OverTime, scale: int) -> None:
    """Draw the number of steals in each section of the run."""
    pieces = -(-(len(over_time.edges_ps) - 1) // COUNTED_BARS)
    begins = over_time.edges_ps[:-1:pieces] / scale
    near, far = (np.add.reduceat(made, np.arange(0, len(made), pieces)) for made in over_time.steals_made)
    width = (pieces << over_time.shift) / scale
    axes.bar(begins, near, width, align="edge", color=NEAR)
    axes.bar(begins, far, width, bottom=near, align="edge", color=FAR)
    axes.set_ylim(0, max(1, 1.05 * float((near + far).max())))
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.set_ylabel("steals")


def state_patches(over_time: OverTime) -> list[Patch]:
    """Return an entry of the legend for each activity that any worker has."""
    seen = over_time.stretches_ps[: over_time.plan.workers.workers].sum(axis=(0, 2))
    shown = [LABELS[state] for state, total in zip(STATES.values(), seen, strict=True) if total]
    return [Patch(color=colour, label=label) for label, colour in shown]
