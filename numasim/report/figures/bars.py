"""Stacked bars of the time split (model 6): of every cell over the axis that varies, and of each worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from numasim.report.comparison_cells import (
    HasFrame,
    Panel,
    choose_axes,
    common_heading,
    finished,
    largest_panels,
    numbers,
    panels,
    table_of,
)
from numasim.report.components import COMPONENTS
from numasim.report.figures.axis_figure import TICK_CHARACTERS, axis_values
from numasim.report.figures.style import contender_grid_columns, empty_figure, legend_below, panel_grid, styled

BAR_WIDTH = 0.86  # width of a bar, in distances between two bars
CLOSED_BARS = 64  # most bars with room between them
NODE_GAP = 0.025  # gap between the workers of two nodes, in parts of the panel's width
NAMED_WORDS = 12  # most slanting words under a panel; more would touch each other
NAMED_NODES = 4  # most names of nodes; more would touch each other
VISIBLE_PERCENT = 0.1  # a smaller part cannot be seen and has no entry in the legend

FloatArray = npt.NDArray[np.float64]


@styled
def time_split(results: HasFrame | pd.DataFrame) -> Figure:
    """Draw the components of the time of all workers, in percent of workers x makespan, over the axis that varies."""
    runs = finished(table_of(results))
    if runs.empty:
        return empty_figure("no finished runs")
    chosen = choose_axes(runs)
    values = axis_values(runs, chosen.x)
    shown = panels(runs, chosen.facet, chosen.colour)
    figure, axes = _split_grid(shown, chosen.x, "time (% of workers x makespan)")
    splits = []
    for at, panel in enumerate(shown):
        places = values.places_of(panel.runs)
        cells = [(name, panel.runs[places == place]) for name, place in zip(values.names, values.places, strict=True)]
        present = [(name, np.nansum(_split(cell), axis=1)) for name, cell in cells if len(cell)]
        splits.append(_percent(np.array([split for _, split in present]).reshape(-1, len(COMPONENTS)).T))
        if at < len(axes):  # the grid may have fewer panels
            _stack(axes[at], np.arange(len(present)), splits[at], [name for name, _ in present])
    _split_legend(figure, splits)
    return figure


@styled
def worker_time_split(results: HasFrame | pd.DataFrame, workers: pd.DataFrame) -> Figure:
    """Draw the components of each worker's time in percent of the makespan, a bar for each worker.

    A panel shows the runs with the panel's largest number of workers. A bar adds up the worker's times over the
    repeats. The bars of one node's workers stand together. ``workers`` is the table of workers of the sweep or the run:
    ``results.workers()`` or ``result.workers``.
    """
    shown = largest_panels(finished(table_of(results)))
    tables = []
    for panel in shown:
        mine = workers[workers["run_id"].isin(panel.runs["run_id"]) & (workers["role"] == "worker")]
        columns = [component.column for component in COMPONENTS]
        tables.append(mine.groupby(["node", "worker"])[columns].sum().reset_index())
    if all(rows.empty for rows in tables):
        return empty_figure("no per-worker times of finished runs")
    figure, axes = _split_grid(shown, "worker", "time (% of makespan)")
    for panel_axes, rows in zip(axes, tables, strict=False):
        nodes, group = np.unique(rows["node"], return_inverse=True)
        places = np.arange(len(rows)) + NODE_GAP * len(rows) * group
        _stack(panel_axes, places, _percent(_split(rows)), [str(worker) for worker in rows["worker"]])
        if len(nodes) <= NAMED_NODES:
            panel_axes.xaxis.labelpad = 16
            for number, node in enumerate(nodes):
                _name_node(panel_axes, places[group == number].mean(), f"node {node}")
    _split_legend(figure, [_percent(_split(rows)) for rows in tables])
    return figure


def _split_grid(shown: Sequence[Panel], x_label: str, y_label: str) -> tuple[Figure, list[Axes]]:
    titles = [(panel.title, panel.subtitle) for panel in shown]
    figure, axes = panel_grid(
        titles,
        columns=contender_grid_columns(titles),
        width=3.1,
        height=2.35,
        x_label=x_label,
        y_label=y_label,
        heading=common_heading(pd.concat([panel.runs for panel in shown])),
    )
    axes[0].set_ylim(0, 100)
    axes[0].set_yticks(range(0, 101, 20))
    return figure, axes


def _split(table: pd.DataFrame) -> FloatArray:
    """Return the components [components, rows] of a table."""
    return np.stack([numbers(table, component.column) for component in COMPONENTS])


def _percent(split: FloatArray) -> FloatArray:
    total = split.sum(axis=0)
    return 100 * split / np.where(total > 0, total, np.nan)


def _name_node(panel: Axes, middle: float, name: str) -> None:
    panel.annotate(
        name,
        (middle, 0),
        (0, -17),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=9,
    )


def _stack(panel: Axes, places: npt.NDArray[Any], percent: FloatArray, names: Sequence[str]) -> None:
    """Draw ``percent`` [components, bars] at ``places`` [bars], with their names.

    Bars are polygons of one collection for each component, which is fast even with 1024 workers. If all numbers would
    touch each other, only some are written; words that would touch each other slant.
    """
    heights = np.vstack([np.zeros(len(places)), percent.cumsum(axis=0)])
    width = BAR_WIDTH if len(places) <= CLOSED_BARS else 1.0
    left, right = places - width / 2, places + width / 2
    panel.grid(visible=False)
    for component, low, high in zip(COMPONENTS, heights[:-1], heights[1:], strict=True):
        corners = ((left, low), (left, high), (right, high), (right, low))
        bars = list(np.stack([np.stack(corner, axis=1) for corner in corners], 1))
        panel.add_collection(PolyCollection(bars, facecolors=component.colour, linewidths=0, antialiaseds=False))
    if len(places):
        panel.set_xlim(places[0] - 1, places[-1] + 1)
    longest = max(map(len, names), default=0)
    step = max(1, -(-len(names) * (longest + 1) // TICK_CHARACTERS))
    if step > 1 and len(names) <= NAMED_WORDS and not all(name.replace(".", "").isdigit() for name in names):
        panel.set_xticks(places, names, rotation=30, ha="right")
    else:
        panel.set_xticks(places[::step], names[::step])
    panel.tick_params(axis="x", length=0)


def _split_legend(figure: Figure, splits: Sequence[FloatArray]) -> None:
    """Draw a legend of the components that are visible anywhere in the figure."""
    visible = np.any([(split > VISIBLE_PERCENT).any(axis=1) for split in splits], axis=0)
    present = [component for component, seen in zip(COMPONENTS, visible, strict=True) if seen]
    legend_below(figure, [Patch(color=component.colour, label=component.label) for component in present])
