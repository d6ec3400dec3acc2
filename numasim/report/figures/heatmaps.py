"""Heat maps of the tasks and bytes moved between nodes, one panel for each strategy (thesis chapters 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from numasim.report.comparison_cells import finished, largest_panels
from numasim.report.figures.grid import contender_grid_columns, empty_figure, panel_grid
from numasim.report.figures.heading import common_heading
from numasim.report.figures.style import styled
from numasim.report.results_table import HasFrame, table_of

COLOUR_MAP = "Blues"
LABELLED_NODES = 8  # more nodes leave no room for a number in each square

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Quantity:
    """What a heat map counts: its column in the node-pair table, and the names of the axes and the amount."""

    column: str
    from_label: str
    to_label: str
    name: str


STEALS = _Quantity("steal_success", "thief's node", "victim's node", "successful steals")
BYTES = _Quantity("bytes", "core's node", "home node of the memory", "bytes moved")


@styled
def node_steals(results: HasFrame | pd.DataFrame, node_pairs: pd.DataFrame) -> Figure:
    """Draw successful steals by node of the thief and node of the victim, in percent of all, with the most workers."""
    return _heatmaps(table_of(results), node_pairs, STEALS)


@styled
def node_bytes(results: HasFrame | pd.DataFrame, node_pairs: pd.DataFrame) -> Figure:
    """Draw bytes moved by node of the core and home node of the memory, in percent of all, with the most workers."""
    return _heatmaps(table_of(results), node_pairs, BYTES)


def _heatmaps(frame: pd.DataFrame, node_pairs: pd.DataFrame, quantity: _Quantity) -> Figure:
    shown = largest_panels(finished(frame))
    shares = [_shares(node_pairs[node_pairs["run_id"].isin(panel.runs["run_id"])], quantity.column) for panel in shown]
    if not any(np.nansum(share) for share in shares):
        return empty_figure(f"no {quantity.name} in these runs")
    titles = [(panel.title, panel.subtitle) for panel in shown]
    figure, panels = panel_grid(
        titles,
        columns=contender_grid_columns(titles),
        width=2.75,
        height=2.6,
        x_label=quantity.to_label,
        y_label=quantity.from_label,
        share_y=False,  # machines differ in their number of nodes
        heading=common_heading(finished(frame)),
    )
    most = np.nanmax([np.nanmax(share, initial=0) for share in shares])
    images = [_heatmap(axes, share, most) for axes, share in zip(panels, shares, strict=False)]
    rows = -(-len(panels) // contender_grid_columns(titles))
    bar = figure.colorbar(images[0], ax=panels, label=f"{quantity.name} (% of all)", shrink=0.8 / rows, aspect=18)
    bar.outline.set_visible(False)
    return figure


def _shares(pairs: pd.DataFrame, column: str) -> FloatArray:
    """[from, to] percent of the sum over the runs; NaN where nothing moved."""
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
        _write_numbers(axes, share, most)
    return image


def _write_numbers(axes: Axes, share: FloatArray, most: float) -> None:
    size = 11 if len(share) <= 4 else 7
    for (row, column), percent in np.ndenumerate(share):
        text = "-" if np.isnan(percent) else f"{percent:.1f}" if 0 < percent < 10 else f"{percent:.0f}"
        colour = "white" if percent > 0.65 * most else "black"
        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size)
