"""Stacked bars of the time split (model 6): of every cell over the axis that varies, and of each worker at the largest
number of them.
"""

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

from numasim.report.chosen_axes import choose_axes
from numasim.report.comparison_cells import Panel, finished, largest_panels, numbers, panels
from numasim.report.components import COMPONENTS
from numasim.report.figures.axis_figure import AxisValues, axis_values
from numasim.report.figures.grid import contender_grid_columns, empty_figure, legend_below, panel_grid
from numasim.report.figures.heading import common_heading
from numasim.report.figures.style import styled
from numasim.report.results_table import HasFrame, table_of

BAR_WIDTH = 0.86  # of the distance between two bars
CLOSED_BARS = 64  # more bars leave no room between them
NODE_GAP = 0.025  # of the panel's width, between the workers of two nodes
TICK_CHARACTERS = 36  # that fit under a panel
NAMED_WORDS = 12  # more that slant would touch each other
NAMED_NODES = 4  # more names would touch each other
VISIBLE_PERCENT = 0.1  # a smaller part cannot be seen, so it needs no entry in the legend

FloatArray = npt.NDArray[np.float64]


@styled
def time_split(results: HasFrame | pd.DataFrame) -> Figure:
    """Draw where the time of all workers went, in percent of workers x makespan, over the axis that varies."""
    runs = finished(table_of(results))
    if runs.empty:
        return empty_figure("no finished runs")
    chosen = choose_axes(runs)
    values = axis_values(runs, chosen.x)
    shown = panels(runs, chosen.facet, chosen.colour)
    splits = [_over(panel.runs, values) for panel in shown]
    figure, axes = _split_grid(shown, chosen.x, "time (% of workers x makespan)")
    for panel, (names, split) in zip(axes, splits, strict=False):
        _stack(panel, np.arange(len(names)), split)
        _sparse_ticks(panel, np.arange(len(names)), names)
    _split_legend(figure, [split for _, split in splits])
    return figure


@styled
def worker_time_split(results: HasFrame | pd.DataFrame, workers: pd.DataFrame) -> Figure:
    """Draw where the time of each worker went, in percent of the makespan, at the largest number of workers.

    ``workers`` is the per-worker table of the sweep or the run, ``results.workers()`` or ``result.workers``; bars are
    grouped by node, and each is the sum over the repeats.
    """
    shown = largest_panels(finished(table_of(results)))
    tables = [_worker_rows(panel.runs, workers) for panel in shown]
    if all(rows.empty for rows in tables):
        return empty_figure("no per-worker times of finished runs")
    figure, axes = _split_grid(shown, "worker", "time (% of makespan)")
    for panel, rows in zip(axes, tables, strict=False):
        _worker_panel(panel, rows)
    _split_legend(figure, [_percent(_split(rows)) for rows in tables])
    return figure


def _split_grid(shown: Sequence[Panel], x_label: str, y_label: str) -> tuple[Figure, list[Axes]]:
    titles = [(panel.title, panel.subtitle) for panel in shown]
    columns = contender_grid_columns(titles)
    figure, axes = panel_grid(
        titles,
        columns=columns,
        width=3.1,
        height=2.35,
        x_label=x_label,
        y_label=y_label,
        heading=common_heading(pd.concat([panel.runs for panel in shown])),
    )
    axes[0].set_ylim(0, 100)
    axes[0].set_yticks(range(0, 101, 20))
    return figure, axes


def _over(runs: pd.DataFrame, values: AxisValues) -> tuple[list[str], FloatArray]:
    """Return the names of the values of x [values] and the percent of each component there [components, values]."""
    places = values.places_of(runs)
    found = [(name, runs[places == place]) for name, place in zip(values.names, values.places, strict=True)]
    present = [(name, at) for name, at in found if len(at)]
    sums = [np.nansum(_split(at), axis=1) for _, at in present]
    return [name for name, _ in present], _percent(np.array(sums).reshape(-1, len(COMPONENTS)).T)


def _worker_rows(runs: pd.DataFrame, workers: pd.DataFrame) -> pd.DataFrame:
    """One row for each worker, its time split summed over ``runs``, ordered by node."""
    mine = workers[workers["run_id"].isin(runs["run_id"]) & (workers["role"] == "worker")]
    return mine.groupby(["node", "worker"])[[component.column for component in COMPONENTS]].sum().reset_index()


def _split(table: pd.DataFrame) -> FloatArray:
    """[components, rows]."""
    return np.stack([numbers(table, component.column) for component in COMPONENTS])


def _percent(split: FloatArray) -> FloatArray:
    total = split.sum(axis=0)
    return 100 * split / np.where(total > 0, total, np.nan)


def _worker_panel(panel: Axes, rows: pd.DataFrame) -> None:
    nodes, group = np.unique(rows["node"], return_inverse=True)
    places = np.arange(len(rows)) + NODE_GAP * len(rows) * group
    _stack(panel, places, _percent(_split(rows)))
    _sparse_ticks(panel, places, [str(worker) for worker in rows["worker"]])
    if len(nodes) <= NAMED_NODES:
        panel.xaxis.labelpad = 16
        for number, node in enumerate(nodes):
            _name_node(panel, places[group == number].mean(), f"node {node}")


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


def _stack(panel: Axes, places: npt.NDArray[Any], percent: FloatArray) -> None:
    """Draw ``percent`` [components, bars] at ``places`` [bars]; collections are fast even with 1024 workers."""
    heights = np.vstack([np.zeros(len(places)), percent.cumsum(axis=0)])
    width = BAR_WIDTH if len(places) <= CLOSED_BARS else 1.0
    panel.grid(visible=False)
    for component, low, high in zip(COMPONENTS, heights[:-1], heights[1:], strict=True):
        bars = list(_rectangles(places, width, low, high))
        panel.add_collection(PolyCollection(bars, facecolors=component.colour, linewidths=0, antialiaseds=False))
    if len(places):
        panel.set_xlim(places[0] - 1, places[-1] + 1)


def _rectangles(middle: npt.NDArray[Any], width: float, low: FloatArray, high: FloatArray) -> FloatArray:
    """[bars, corners, 2]."""
    left, right = middle - width / 2, middle + width / 2
    return np.stack(
        [np.stack(corner, axis=1) for corner in ((left, low), (left, high), (right, high), (right, low))], 1
    )


def _sparse_ticks(panel: Axes, places: npt.NDArray[Any], names: Sequence[str]) -> None:
    """Name the bars; of numbers that would touch only some are named, and words that would slant."""
    longest = max(map(len, names), default=0)
    step = max(1, -(-len(names) * (longest + 1) // TICK_CHARACTERS))
    if step > 1 and len(names) <= NAMED_WORDS and not all(name.replace(".", "").isdigit() for name in names):
        panel.set_xticks(places, names, rotation=30, ha="right")
    else:
        panel.set_xticks(places[::step], names[::step])
    panel.tick_params(axis="x", length=0)


def _split_legend(figure: Figure, splits: Sequence[FloatArray]) -> None:
    """Name the components that can be seen anywhere in the figure."""
    visible = np.any([(split > VISIBLE_PERCENT).any(axis=1) for split in splits], axis=0)
    present = [component for component, seen in zip(COMPONENTS, visible, strict=True) if seen]
    legend_below(figure, [Patch(color=component.colour, label=component.label) for component in present])
