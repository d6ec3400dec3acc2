"""Figures of the table of node pairs: heat maps of steals and bytes, and bars of bytes by kind (model 6)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch

from numasim.parts.unit_factors import GIGA
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
    """Draw successful steals by nodes of thief and victim, in percent of all steals, with the most workers."""
    return _heatmaps(results, node_pairs, "steal_success", ("thief's node", "victim's node"), "successful steals")


@styled
def node_bytes(results: HasFrame | pd.DataFrame, node_pairs: pd.DataFrame) -> Figure:
    """Draw bytes moved by node of the core and home node of the memory, in percent of all, with the most workers."""
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
