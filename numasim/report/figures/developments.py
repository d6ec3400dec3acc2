"""A run over time: the activities of each node's workers, the use of the machine, and the lengths of queues."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from numasim.engine.observe.over_time import STATES, OverTime
from numasim.plan.resources import ResourceKind
from numasim.report.components import LINE_COLOURS
from numasim.report.figures.gantt import (
    LABELS,
    ROW_INCHES,
    WIDTH_INCHES,
    label_rows,
    paint_rows,
    require_over_time,
    rows_by_node,
    state_patches,
    time_scale,
)
from numasim.report.figures.style import empty_figure, legend_below, line_colour, line_width, panel_grid, styled
from numasim.report.figures.traffic import COLOUR_MAP

NAMED_NODES = 8  # most nodes with a panel each; more nodes are drawn together
MOST_INCHES = 7.0
FAINT = 0.4  # exponent of the colour scale; at 0.4 a queue of one task visibly differs from an empty queue
POINTS = 256  # most points of a curve; a curve of more points would look the same
TITLES = {
    ResourceKind.CONTROLLER: "memory controllers",
    ResourceKind.REMOTE: "memory controllers, for other nodes",
    ResourceKind.LINK: "links",
    ResourceKind.CACHE: "last-level caches",
    ResourceKind.FAULTS: "page faults",
    ResourceKind.LOCK: "lock of the address space",
}
MOST_LINES = 8  # most resources with a line each
BUSIEST = 3  # resources with a line each if there are more than `MOST_LINES`
LEGEND_ROOM = 0.14  # room above the curves for each row of the legend, in parts of the highest load
LEGEND_COLUMNS = 4

F64 = npt.NDArray[np.float64]


@styled
def utilisation(over_time: OverTime) -> Figure:
    """Draw the activities of the workers of each node over time, in percent, and the use of the machine."""
    require_over_time(over_time)
    nodes = np.unique(over_time.plan.workers.node)
    groups = {f"workers of node {node}": over_time.plan.workers.node == node for node in nodes}
    if len(nodes) > NAMED_NODES:
        groups = {"all workers": np.ones(over_time.plan.workers.workers, bool)}
    loads = resource_loads(over_time)
    scale, unit = time_scale(over_time)
    figure, panels = panel_grid(
        [(name, "") for name in (*groups, *loads)],
        columns=2,
        width=4.9,
        height=2.3,
        x_label=f"time ({unit})",
        y_label="% of workers",
        share_y=False,
    )
    for axes, members in zip(panels, groups.values(), strict=False):
        _draw_states(axes, over_time, members, scale)
    for axes, lines in zip(panels[len(groups) :], loads.values(), strict=True):
        _draw_loads(axes, lines, over_time, scale)
    legend_below(figure, state_patches(over_time))
    return figure


@styled
def queue_lengths(over_time: OverTime) -> Figure:
    """Draw how many tasks wait on each node over time, and in which queue."""
    require_over_time(over_time)
    lengths, home = over_time.queue_length, over_time.plan.steal.queues["home"].astype(np.int64)
    if not lengths.any():
        return empty_figure("no task ever waits in a queue")
    rows = rows_by_node(home)
    tall = min(MOST_INCHES, max(1.2, ROW_INCHES * rows.height))
    figure = Figure(figsize=(WIDTH_INCHES, tall + 2.8), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, tall))
    scale, unit = time_scale(over_time)
    _draw_totals(above, over_time, scale)
    norm = PowerNorm(FAINT, 0, lengths.max())
    image = paint_rows(below, over_time, rows, lengths, scale, cmap=COLOUR_MAP, norm=norm)
    label_rows(below, rows, "queue")
    below.set_xlabel(f"time ({unit})")
    bar = figure.colorbar(image, ax=below, label="tasks in the queue, mean", pad=0.03)
    bar.outline.set_visible(False)
    return figure


def curve(over_time: OverTime, values: F64, scale: int) -> tuple[F64, F64]:
    """Return at most `POINTS` steps: their begins, in units of ``scale``, and the mean of ``values`` [bins] in each."""
    pieces = np.arange(0, len(values), -(-len(values) // POINTS))
    widths = np.diff(over_time.edges_ps).astype(np.float64)
    means = np.add.reduceat(values * widths, pieces) / np.add.reduceat(widths, pieces)
    return np.append(over_time.edges_ps[pieces], over_time.makespan_ps) / scale, np.append(means, means[-1])


def resource_loads(over_time: OverTime) -> dict[str, dict[str, F64]]:
    """Return the loads [bins], in percent of capacity, of all kinds of resources in use: by title and by resource.

    If there are many resources of a kind, the busiest have a line each, and the mean of the others is one line.
    """
    capacity = np.array([resource.capacity for resource in over_time.resources], np.float64)
    percent = 100 * over_time.resource_load / capacity[:, None]
    names = [resource.name for resource in over_time.resources]
    mean = percent @ np.diff(over_time.edges_ps)
    found: dict[str, dict[str, F64]] = {}
    for kind, title in TITLES.items():
        members = [at for at, resource in enumerate(over_time.resources) if resource.kind == kind]
        if not percent[members].any():
            continue
        if len(members) <= MOST_LINES:
            found[title] = {names[at]: percent[at] for at in members}
            continue
        ranked = sorted(members, key=lambda at: -float(mean[at]))
        others = ranked[BUSIEST:]
        found[title] = {names[at]: percent[at] for at in sorted(ranked[:BUSIEST])}
        found[title][f"mean of {len(others)} others"] = percent[others].mean(axis=0)
    return found


def _draw_loads(axes: Axes, lines: dict[str, F64], over_time: OverTime, scale: int) -> None:
    for index, (name, percent) in enumerate(lines.items()):
        axes.plot(
            *curve(over_time, percent, scale),
            "-" if index < len(LINE_COLOURS) else "--",
            drawstyle="steps-post",
            color=line_colour(index),
            linewidth=1.3,
            label=name,
        )
    axes.set_xlim(0, over_time.makespan_ps / scale)
    axes.set_ylabel("% of capacity")
    if len(lines) == 1:
        axes.set_ylim(bottom=0)
        return
    highest = max(float(np.max(line.get_ydata())) for line in axes.lines)
    rows = -(-len(lines) // LEGEND_COLUMNS)
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


def _draw_states(axes: Axes, over_time: OverTime, members: npt.NDArray[np.bool_], scale: int) -> None:
    spent = over_time.stretches_ps[: len(members)][members].sum(axis=0)
    shares = 100 * spent / np.maximum(1, spent.sum(axis=0))
    curves = [curve(over_time, share, scale) for share in shares]
    colours = [LABELS[state][1] for state in STATES.values()]
    axes.stackplot(curves[0][0], [means for _, means in curves], colors=colours, step="post", linewidth=0)
    axes.set_xlim(0, over_time.makespan_ps / scale)
    axes.set_ylim(0, 100)


def _draw_totals(axes: Axes, over_time: OverTime, scale: int) -> None:
    home = over_time.plan.steal.queues["home"]
    nodes = np.unique(home)
    groups = {"any node" if node < 0 else f"node {node}": home == node for node in nodes}
    if len(nodes) > NAMED_NODES:
        groups = {"all nodes": np.ones(len(home), bool)}
    for index, (name, members) in enumerate(groups.items()):
        times, means = curve(over_time, over_time.queue_length[members].sum(axis=0), scale)
        colour, width = line_colour(index), line_width(index)
        axes.plot(times, means, drawstyle="steps-post", color=colour, linewidth=width, label=name)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_ylabel("tasks waiting")
    axes.set_title(f"{over_time.plan.workload.name}, {over_time.plan.steal.name}: tasks in queues")
    axes.legend(ncols=4, fontsize=9)
