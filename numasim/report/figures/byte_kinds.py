"""Stacked bars of the bytes that a run moves, by kind, within a node and between nodes (model 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from numasim.parts.unit_factors import GIGA
from numasim.report.comparison_cells import finished, largest_panels
from numasim.report.figures.grid import empty_figure, legend_below, panel_grid
from numasim.report.figures.heading import common_heading
from numasim.report.figures.style import line_colour, styled

PANEL_COLUMNS = 4
PLACES = ("same node", "other node")


@dataclass(frozen=True)
class Kind:
    """A kind of traffic: its column in the node-pair table."""

    column: str
    label: str
    colour: str


KINDS = (
    Kind("bytes_read", "read", line_colour(0)),
    Kind("bytes_ownership", "fetched for ownership", line_colour(5)),
    Kind("bytes_written", "written back", line_colour(4)),
    Kind("bytes_cache", "from another cache", line_colour(2)),
)


@styled
def byte_kinds(frame: pd.DataFrame, node_pairs: pd.DataFrame) -> Figure:
    """Draw the bytes of each kind in GB, the mean over the repeats, at the largest number of workers."""
    shown = largest_panels(finished(frame))
    known = [kind for kind in KINDS if kind.column in node_pairs]
    if not known or not shown:
        return empty_figure("the kinds of bytes of these runs are not known")
    figure, axes = panel_grid(
        [(panel.title, panel.subtitle) for panel in shown],
        columns=min(PANEL_COLUMNS, len(shown)),
        width=2.3,
        height=2.6,
        x_label="core and source on",
        y_label="GB moved",
        heading=common_heading(finished(frame)),
    )
    for panel, drawn in zip(axes, shown, strict=False):
        pairs = node_pairs[node_pairs["run_id"].isin(drawn.runs["run_id"])]
        _stack(panel, known, [_amounts(pairs, kind) / GIGA / len(drawn.runs) for kind in known])
    axes[0].set_ylim(0, 1.05 * max(panel.dataLim.y1 for panel in axes) or None)
    legend_below(figure, [Patch(color=kind.colour, label=kind.label) for kind in known])
    return figure


def _amounts(pairs: pd.DataFrame, kind: Kind) -> npt.NDArray[np.float64]:
    """[places] bytes within a node, and between nodes."""
    away = pairs["node_from"] != pairs["node_to"]
    return np.array([pairs.loc[~away, kind.column].sum(), pairs.loc[away, kind.column].sum()], np.float64)


def _stack(panel: Axes, kinds: list[Kind], amounts: list[npt.NDArray[np.float64]]) -> None:
    panel.grid(visible=False, axis="x")
    bottom = np.zeros(len(PLACES))
    for kind, amount in zip(kinds, amounts, strict=True):
        panel.bar(range(len(PLACES)), amount, 0.7, bottom=bottom, color=kind.colour, linewidth=0)
        bottom += amount
    panel.set_xticks(range(len(PLACES)), PLACES)
    panel.tick_params(axis="x", length=0)
    panel.set_xlim(-0.6, len(PLACES) - 0.4)
