"""How much of the machine is in use over time, in percent of capacity: a panel for each kind of resource."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from numasim.engine.observe.over_time import OverTime
from numasim.plan.resources import ResourceKind
from numasim.report.figures.style import line_colour
from numasim.report.line_colours import LINE_COLOURS

# ---- A quantity over time as a curve with a limited number of points -------------------------------------------------

POINTS = 256  # further points could not be distinguished


def curve(over_time: OverTime, values: F64, scale: int) -> tuple[F64, F64]:
    """(times, means): where at most `POINTS` steps begin, and the means of ``values`` [bins] over each."""
    pieces = np.arange(0, len(values), -(-len(values) // POINTS))
    widths = np.diff(over_time.edges_ps).astype(np.float64)
    means = np.add.reduceat(values * widths, pieces) / np.add.reduceat(widths, pieces)
    return np.append(over_time.edges_ps[pieces], over_time.makespan_ps) / scale, np.append(means, means[-1])


TITLES = {
    ResourceKind.CONTROLLER: "memory controllers",
    ResourceKind.REMOTE: "memory controllers, for other nodes",
    ResourceKind.LINK: "links",
    ResourceKind.CACHE: "last-level caches",
    ResourceKind.FAULTS: "page faults",
    ResourceKind.LOCK: "lock of the address space",
}
MOST_LINES = 8  # with a name each
BUSIEST = 3  # that have a name where there are more
LEGEND_ROOM = 0.14  # of the highest load for each row of the legend, which is above the lines
LEGEND_COLUMNS = 4
LINE_WIDTH = 1.3

F64 = npt.NDArray[np.float64]


class Line(NamedTuple):
    """One line of a panel."""

    label: str
    percent: F64  # [bins] of capacity


class LoadPanel(NamedTuple):
    """The resources of one kind."""

    title: str
    lines: list[Line]


def load_panels(over_time: OverTime) -> list[LoadPanel]:
    """A panel for each kind of resource that is used during the run."""
    capacity = np.array([resource.capacity for resource in over_time.resources], np.float64)
    percent = 100 * over_time.resource_load / capacity[:, None]
    panels = []
    for kind, title in TITLES.items():
        members = [at for at, resource in enumerate(over_time.resources) if resource.kind == kind]
        if percent[members].any():
            panels.append(LoadPanel(title, _lines(over_time, members, percent)))
    return panels


def draw_loads(axes: Axes, panel: LoadPanel, over_time: OverTime, scale: int) -> None:
    """Draw a panel; ``scale`` is the unit of time, in ps."""
    for index, line in enumerate(panel.lines):
        times, means = curve(over_time, line.percent, scale)
        style = "-" if index < len(LINE_COLOURS) else "--"
        axes.plot(
            times,
            means,
            style,
            drawstyle="steps-post",
            color=line_colour(index),
            linewidth=LINE_WIDTH,
            label=line.label,
        )
    axes.set_xlim(0, over_time.makespan_ps / scale)
    axes.set_ylabel("% of capacity")
    if len(panel.lines) == 1:
        axes.set_ylim(bottom=0)
        return
    highest = max(float(np.max(line.get_ydata())) for line in axes.lines)
    rows = -(-len(panel.lines) // LEGEND_COLUMNS)
    axes.set_yticks([tick for tick in MaxNLocator(5).tick_values(0, highest) if tick <= 1.001 * highest])
    axes.set_ylim(0, highest * (1 + LEGEND_ROOM * rows))
    axes.legend(
        fontsize=8,
        ncols=LEGEND_COLUMNS,
        loc="upper left",
        borderaxespad=0.2,
        labelspacing=0.2,
        columnspacing=1.0,
        handlelength=1.2,
    )


def _lines(over_time: OverTime, members: list[int], percent: F64) -> list[Line]:
    """Each resource, or the busiest ones and the mean of the others."""
    if len(members) <= MOST_LINES:
        return [Line(over_time.resources[at].name, percent[at]) for at in members]
    mean = percent @ np.diff(over_time.edges_ps)
    ranked = sorted(members, key=lambda at: -float(mean[at]))
    named = [Line(over_time.resources[at].name, percent[at]) for at in sorted(ranked[:BUSIEST])]
    others = ranked[BUSIEST:]
    return [*named, Line(f"mean of {len(others)} others", percent[others].mean(axis=0))]
