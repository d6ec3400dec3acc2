"""A run over time: what the workers of each node do, the use of the machine, and the lengths of queues."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from numasim.engine.observe.over_time import STATES, OverTime
from numasim.report.figures.gantt import (
    LABELS,
    ROW_INCHES,
    WIDTH_INCHES,
    label_rows,
    paint_rows,
    require_over_time,
    rows_by_node,
    time_scale,
)
from numasim.report.figures.grid import empty_figure, legend_below, panel_grid
from numasim.report.figures.heatmaps import COLOUR_MAP
from numasim.report.figures.load_panels import curve, draw_loads, load_panels
from numasim.report.figures.style import line_colour, line_width, styled

NAMED_NODES = 8  # with a panel each; of more nodes, all are drawn together
MOST_INCHES = 7.0
FAINT = 0.4  # exponent of the colour scale: one task in a queue can be distinguished from none

F64 = npt.NDArray[np.float64]


@styled
def utilisation(over_time: OverTime) -> Figure:
    """Draw what the workers of each node do over time, in percent of them, and how much of the machine they use."""
    require_over_time(over_time)
    nodes = np.unique(over_time.plan.workers.node)
    groups = {f"workers of node {node}": over_time.plan.workers.node == node for node in nodes}
    if len(nodes) > NAMED_NODES:
        groups = {"all workers": np.ones(over_time.plan.workers.workers, bool)}
    loads = load_panels(over_time)
    scale, unit = time_scale(over_time)
    figure, panels = panel_grid(
        [(name, "") for name in groups] + [(panel.title, "") for panel in loads],
        columns=2,
        width=4.9,
        height=2.3,
        x_label=f"time ({unit})",
        y_label="% of workers",
        share_y=False,
    )
    for axes, members in zip(panels, groups.values(), strict=False):
        _draw_states(axes, over_time, members, scale)
    for axes, panel in zip(panels[len(groups) :], loads, strict=True):
        draw_loads(axes, panel, over_time, scale)
    seen = over_time.stretches_ps[: over_time.plan.workers.workers].sum(axis=(0, 2))
    shown = [LABELS[state] for state, total in zip(STATES.values(), seen, strict=True) if total]
    legend_below(figure, [Patch(color=colour, label=label) for label, colour in shown])
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
        axes.plot(
            times, means, drawstyle="steps-post", color=line_colour(index), linewidth=line_width(index), label=name
        )
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_ylabel("tasks waiting")
    axes.set_title(f"{over_time.plan.workload.name}, {over_time.plan.steal.name}: tasks in queues")
    axes.legend(ncols=4, fontsize=9)
