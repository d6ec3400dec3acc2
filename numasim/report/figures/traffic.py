"""Figures of steals and bytes between nodes: heat maps, bars of bytes by kind, a drawing of the machine (model 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch

from numasim.engine.collect_result import link_bytes
from numasim.engine.result import Result
from numasim.engine.unit_text import bytes_text
from numasim.machine.drawing import Layout, bend, between, lay_out
from numasim.machine.topology import Machine
from numasim.parts.unit_factors import GIGA, PS_PER_S
from numasim.report.comparison_cells import HasFrame, common_heading, finished, largest_panels, table_of
from numasim.report.figures.style import (
    contender_grid_columns,
    empty_figure,
    legend_below,
    line_colour,
    panel_grid,
    styled,
)

COLOUR_MAP = "Blues"
LABELLED_NODES = 8  # most nodes with a number in each square; more nodes leave no room
BYTE_COLUMNS = 4  # columns of panels with bars of bytes
PLACES = ("same node", "other node")
KINDS = {  # column of the table: label and colour
    "bytes_read": ("read", line_colour(0)),
    "bytes_ownership": ("fetched for ownership", line_colour(5)),
    "bytes_written": ("written back", line_colour(4)),
    "bytes_cache": ("from another cache", line_colour(2)),
}

FloatArray = npt.NDArray[np.float64]


@styled
def node_steals(results: HasFrame | pd.DataFrame, node_pairs: pd.DataFrame) -> Figure:
    """Draw successful steals by nodes of thief and victim, in percent of all, of the runs with most workers."""
    return _heatmaps(results, node_pairs, "steal_success", ("thief's node", "victim's node"), "successful steals")


@styled
def node_bytes(results: HasFrame | pd.DataFrame, node_pairs: pd.DataFrame) -> Figure:
    """Draw moved bytes by node of the core and node of the memory, in percent of all, of the runs with most workers."""
    return _heatmaps(results, node_pairs, "bytes", ("core's node", "home node of the memory"), "bytes moved")


def _heatmaps(
    results: HasFrame | pd.DataFrame, node_pairs: pd.DataFrame, column: str, nodes: tuple[str, str], name: str
) -> Figure:
    """Draw a heat map of a column of ``node_pairs`` for each contender; ``nodes`` are the labels of y and x."""
    runs = finished(table_of(results))
    shown = largest_panels(runs)
    shares = [_shares(node_pairs[node_pairs["run_id"].isin(panel.runs["run_id"])], column) for panel in shown]
    if not any(np.nansum(share) for share in shares):
        return empty_figure(f"no {name} in these runs")
    titles = [(panel.title, panel.subtitle) for panel in shown]
    figure, panels = panel_grid(
        titles,
        columns=contender_grid_columns(titles),
        width=2.75,
        height=2.6,
        x_label=nodes[1],
        y_label=nodes[0],
        share_y=False,  # machines differ in their number of nodes
        heading=common_heading(runs),
    )
    most = np.nanmax([np.nanmax(share, initial=0) for share in shares])
    images = [_heatmap(axes, share, most) for axes, share in zip(panels, shares, strict=False)]
    rows = -(-len(panels) // contender_grid_columns(titles))
    bar = figure.colorbar(images[0], ax=panels, label=f"{name} (% of all)", shrink=0.8 / rows, aspect=18)
    bar.outline.set_visible(False)
    return figure


def _shares(pairs: pd.DataFrame, column: str) -> FloatArray:
    """Return the sum over the runs [from, to], in percent; NaN if the sum is zero."""
    nodes = int(pairs[["node_from", "node_to"]].to_numpy().max(initial=0)) + 1
    total = np.zeros((nodes, nodes))
    np.add.at(total, (pairs["node_from"].to_numpy(int), pairs["node_to"].to_numpy(int)), pairs[column].to_numpy(float))
    return 100 * total / total.sum() if total.any() else np.full_like(total, np.nan)


def _heatmap(axes: Axes, share: FloatArray, most: float) -> AxesImage:
    nodes = len(share)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    image = axes.imshow(share, cmap=COLOUR_MAP, vmin=0, vmax=most, aspect="auto")  # a fixed aspect breaks the layout
    ticks = np.arange(0, nodes, -(-nodes // LABELLED_NODES))
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.tick_params(length=0)
    if nodes <= LABELLED_NODES:
        size = 11 if nodes <= 4 else 7
        for (row, column), percent in np.ndenumerate(share):
            text = "-" if np.isnan(percent) else f"{percent:.1f}" if 0 < percent < 10 else f"{percent:.0f}"
            colour = "white" if percent > 0.65 * most else "black"
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size)
    return image


@styled
def byte_kinds(frame: pd.DataFrame, node_pairs: pd.DataFrame) -> Figure:
    """Draw the bytes of each kind in GB, within a node and between nodes, at the largest number of workers.

    Bars are means over the repeats.
    """
    runs = finished(frame)
    shown = largest_panels(runs)
    known = [column for column in KINDS if column in node_pairs]
    if not known or not shown:
        return empty_figure("the kinds of bytes of these runs are not known")
    figure, axes = panel_grid(
        [(panel.title, panel.subtitle) for panel in shown],
        columns=min(BYTE_COLUMNS, len(shown)),
        width=2.3,
        height=2.6,
        x_label="core and source on",
        y_label="GB moved",
        heading=common_heading(runs),
    )
    for panel, drawn in zip(axes, shown, strict=False):
        pairs = node_pairs[node_pairs["run_id"].isin(drawn.runs["run_id"])]
        away = pairs["node_from"] != pairs["node_to"]
        panel.grid(visible=False, axis="x")
        bottom = np.zeros(len(PLACES))
        for column in known:
            moved = np.array([pairs.loc[~away, column].sum(), pairs.loc[away, column].sum()], np.float64)
            amount = moved / GIGA / len(drawn.runs)
            panel.bar(range(len(PLACES)), amount, 0.7, bottom=bottom, color=KINDS[column][1], linewidth=0)
            bottom += amount
        panel.set_xticks(range(len(PLACES)), PLACES)
        panel.tick_params(axis="x", length=0)
        panel.set_xlim(-0.6, len(PLACES) - 0.4)
    axes[0].set_ylim(0, 1.05 * max(panel.dataLim.y1 for panel in axes) or None)
    legend_below(figure, [Patch(color=KINDS[column][1], label=KINDS[column][0]) for column in known])
    return figure


# ---- The machine with the load of its memory controllers and links during a run --------------------------------------

LOAD_COLOURS = "YlOrBr"
LEAST_WIDTH = 6.5  # least width, in inches
HEADER, FOOTER = 0.75, 0.2
ASIDE = 0.11  # distance of the arrow of each direction of a link from the link's middle, in inches
SMALL_BOXES = "in each box the node, and for how much of the time its cores execute tasks"
THINNEST, THICKEST = 0.8, 5.0  # widths of links, in points
EXECUTED = ("work_local_ps", "inflation_numa_ps", "inflation_smt_ps", "inflation_contention_ps")  # of a worker's time
MOST_LABELLED = 24  # most labelled links, both directions counted; more labels would touch each other

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Loads:
    """Bytes and load of every controller and link; the load is in percent of the capacity during the run."""

    controller_bytes: npt.NDArray[np.int64]
    controller_percent: F64
    link_bytes: npt.NDArray[np.int64]
    link_percent: F64
    away_percent: F64  # [nodes] percent of the bytes of a node's memory that cores of other nodes moved
    busy_percent: F64  # [nodes] percent of the run in which the workers of a node executed tasks; NaN without workers

    @property
    def largest_percent(self) -> float:
        """Return the load of the busiest controller or link."""
        return max(float(self.controller_percent.max()), float(self.link_percent.max(initial=0)))


def loads_of(machine: Machine, result: Result) -> Loads:
    """Return the loads of a run."""
    moved, makespan_ps = result.node_bytes, max(1, int(result.counters["makespan_ps"]))
    served, carried = moved.sum(axis=0), link_bytes(machine, result)

    def percent(amount: npt.NDArray[np.int64], rate: npt.NDArray[np.int64]) -> F64:
        return 100 * amount * PS_PER_S / (np.maximum(1, rate).astype(np.float64) * makespan_ps)

    away = served - np.diag(moved)
    return Loads(
        controller_bytes=served,
        controller_percent=percent(served.astype(np.float64), machine.imc_bytes_per_s),
        link_bytes=carried,
        link_percent=percent(carried.astype(np.float64), machine.links.bytes_per_s),
        away_percent=100 * away / np.maximum(1, served),
        busy_percent=_busy_percent(machine, result),
    )


def _busy_percent(machine: Machine, result: Result) -> F64:
    if not result.per_worker:  # only the row of the run is known
        return np.full(machine.nodes, np.nan)
    of_worker = result.per_worker["role"] == "worker"
    node = result.per_worker["node"][of_worker]
    executed = sum((result.per_worker[part][of_worker].astype(np.float64) for part in EXECUTED), np.zeros(len(node)))
    whole = np.bincount(node, minlength=machine.nodes) * float(max(1, result.counters["makespan_ps"]))
    with np.errstate(invalid="ignore"):
        return np.asarray(100 * np.bincount(node, executed, machine.nodes) / np.where(whole > 0, whole, np.nan))


@styled
def node_traffic(machine: Machine, result: Result, most: float = 0) -> Figure:
    """Draw the machine with the loads of memory controllers and links as colours, and with the moved bytes.

    Colours go up to the largest load, or to ``most`` percent if ``most`` is larger, so that pictures can be compared. A
    mesh of tiles is drawn as a mesh. Small boxes show the share of the time in which a node's cores execute tasks.
    """
    layout, loads = lay_out(machine), loads_of(machine, result)
    width, height = layout.extent
    figure = Figure(figsize=(max(width, LEAST_WIDTH) + 1.2, height + HEADER + FOOTER))
    page = figure.get_figwidth(), figure.get_figheight()
    axes = figure.add_axes((0, FOOTER / page[1], 1 - 1.2 / page[0], height / page[1]))
    left = (max(width, LEAST_WIDTH) - width) / 2
    axes.set_xlim(-left, width + left)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    most = max(1.0, most, loads.largest_percent)
    for link in range(len(machine.links.source)):
        _draw_link(axes, machine, layout, loads, most, link)
    for node in range(machine.nodes):
        _draw_node(axes, layout, loads, most, node)
    total = int(result.node_bytes.sum())
    remote = total - int(np.trace(result.node_bytes))
    share = f", {100 * remote / total:.1f} % of them to or from another node" if total else ""
    title = f"{machine.name}: {bytes_text(total)} moved{share}"
    figure.text(0.2 / page[0], 1 - 0.3 / page[1], title, fontsize=10.5, weight="bold")
    if not layout.detailed and result.per_worker:
        figure.text(0.2 / page[0], 1 - 0.52 / page[1], SMALL_BOXES, fontsize=9)
    mappable = ScalarMappable(Normalize(0, most), colormaps[LOAD_COLOURS])
    bar = figure.colorbar(mappable, cax=figure.add_axes((1 - 0.95 / page[0], 0.15, 0.16 / page[0], 0.6)))
    bar.set_label("mean load (% of capacity)")
    bar.outline.set_visible(False)
    return figure


def _draw_node(axes: Axes, layout: Layout, loads: Loads, most: float, node: int) -> None:
    x, y = layout.centre[node]
    percent = float(loads.controller_percent[node])
    fill = colormaps[LOAD_COLOURS](percent / most)
    axes.add_patch(
        FancyBboxPatch(
            (x - layout.width / 2, y - layout.height / 2),
            layout.width,
            layout.height,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=fill,
            edgecolor="#4D4D4D",
            linewidth=0.8,
            zorder=3,
        )
    )
    ink = "white" if np.dot(fill[:3], (0.2126, 0.7152, 0.0722)) < 0.4 else "black"
    lines = [f"node {node}" if layout.detailed else str(node)]
    if layout.detailed:
        moved = bytes_text(int(loads.controller_bytes[node]))
        lines += [
            f"controller {percent:.1f} %",
            f"{moved} of its memory",
            f"{loads.away_percent[node]:.1f} % for others",
        ]
    elif not np.isnan(loads.busy_percent[node]):
        lines.append(f"{loads.busy_percent[node]:.0f} %")
    for at, text in enumerate(lines):
        down = (at - (len(lines) - 1) / 2) * (0.24 if layout.detailed else 0.2)
        weight = "bold" if at == 0 else "normal"
        axes.text(x, y - down, text, ha="center", va="center", fontsize=9, color=ink, weight=weight, zorder=6)


def _draw_link(axes: Axes, machine: Machine, layout: Layout, loads: Loads, most: float, link: int) -> None:
    """Draw one direction of a link beside the other direction. A busier link is thicker."""
    source, target = int(machine.links.source[link]), int(machine.links.target[link])
    low, high = min(source, target), max(source, target)
    ends = between(layout, low, high)
    curvature = bend(layout, low, high, ends)
    if source > target:
        ends, curvature = ends[::-1], -curvature
    along = ends[1] - ends[0]
    length = float(np.hypot(*along))
    right = np.array([along[1], -along[0]]) / max(length, 1e-9)
    ends = ends + ASIDE * right
    percent = float(loads.link_percent[link])
    width = THINNEST + (THICKEST - THINNEST) * percent / most
    axes.add_patch(
        FancyArrowPatch(
            tuple(ends[0]),
            tuple(ends[1]),
            arrowstyle="-|>",
            connectionstyle=f"arc3,rad={curvature}",
            mutation_scale=8 + 2 * width,  # of the arrowhead
            linewidth=width,
            facecolor=colormaps[LOAD_COLOURS](percent / most),
            edgecolor=colormaps[LOAD_COLOURS]((0.35 * most + 0.65 * percent) / most),
            shrinkA=0,
            shrinkB=0,
            zorder=2,
        )
    )
    if layout.detailed and len(machine.links.source) <= MOST_LABELLED:
        text = f"{bytes_text(int(loads.link_bytes[link]))}\n{percent:.1f} %"
        slanting = bool((abs(along) > 0.3).all()) and not curvature
        aside = curvature / 2 * length + 0.2 + 0.2 * abs(right[0])  # text is wider than it is high
        x, y = ends[0] + (0.3 if slanting else 0.5) * along + aside * right
        axes.text(x, y, text, ha="center", va="center", fontsize=7.5, zorder=5, linespacing=1.05)
