"""Curves against the number of workers, one per strategy, with 95 % bands (thesis Tables 3.2, 4.2, 4.3; Figure 4.8)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from numasim.report.answers.statistics import Estimate, mean_interval, ratio_interval
from numasim.report.comparison_cells import contender_columns, facet_columns, finished, groups, label, numbers
from numasim.report.figures.grid import empty_figure, legend_below, panel_grid
from numasim.report.figures.style import REFERENCE_COLOUR, line_colour, line_width, marker, styled

UNIFORM_STRATEGY = "randomized"  # the strategy whose victims are uniform among the other workers (thesis eq. 4.2)

Estimator = Callable[[pd.DataFrame], Estimate]
Reference = Callable[[pd.DataFrame], Line2D | None]  # the runs of a panel -> a line to compare with


@styled
def miss_ratio(frame: pd.DataFrame) -> Figure:
    """Draw steal attempts that found nothing over all attempts; a gap where a strategy made no attempt."""
    return _curves(frame, "steal miss ratio (misses / attempts)", _ratio_of("steal_false"), top=1.0)


@styled
def remote_steal_ratio(frame: pd.DataFrame, workers: pd.DataFrame | None = None) -> Figure:
    """Draw steal attempts at another node's queues over all attempts.

    With the per-worker table (``run_id``, ``node``, ``role``) and runs of ``randomized``, the expected share of
    uniform victims is drawn as well: (P/2)/(P-1) on two nodes with P/2 workers each.
    """

    def reference(runs: pd.DataFrame) -> Line2D | None:
        return _expected_line(runs, workers) if workers is not None else None

    share = _ratio_of("steal_attempts_remote")
    return _curves(frame, "remote share of steal attempts", share, reference=reference, top=1.0)


@styled
def speedup(frame: pd.DataFrame) -> Figure:
    """Draw serial time over makespan, with the ideal speedup of one per worker."""

    def reference(runs: pd.DataFrame) -> Line2D:
        counts = np.unique(numbers(runs, "workers"))
        return _reference_line(counts, counts, "ideal")

    return _curves(frame, "speedup (serial time / makespan)", _mean_speedup, reference=reference)


def expected_remote_share(nodes: npt.NDArray[np.int64]) -> float:
    """Return the chance that a uniform victim among the others is on another node.

    ``nodes`` is [workers]; thieves are assumed to make equally many attempts, which matters only where nodes have
    unequal numbers of workers. NaN for a lone worker.
    """
    count = len(nodes)
    same = np.bincount(nodes)
    return float(count**2 - (same**2).sum()) / (count * (count - 1)) if count > 1 else float("nan")


def _ratio_of(column: str) -> Estimator:
    return lambda runs: ratio_interval(numbers(runs, column), numbers(runs, "steal_attempts"))


def _mean_speedup(runs: pd.DataFrame) -> Estimate:
    return mean_interval(numbers(runs, "speedup"))


def _curves(
    frame: pd.DataFrame,
    y_label: str,
    estimate: Estimator,
    *,
    reference: Reference = lambda runs: None,
    top: float | None = None,
) -> Figure:
    runs = finished(frame)
    if runs.empty:
        return empty_figure("no finished runs")
    columns = facet_columns(runs)
    facets = groups(runs, columns)
    titles = [(label(columns, values), "") for values, _ in facets]
    figure, panels = panel_grid(titles, columns=2, width=4.2, height=2.95, x_label="workers", y_label=y_label)
    handles: dict[str, Line2D] = {}
    for axes, (_, rows) in zip(panels, facets, strict=False):  # the grid may show fewer
        for line in _fill_panel(axes, runs.iloc[rows], _contenders(runs), estimate, reference):
            handles.setdefault(str(line.get_label()), line)
    panels[0].set_ylim(bottom=0, top=None if top is None else 1.04 * top)
    legend_below(figure, list(handles.values()))
    return figure


def _contenders(runs: pd.DataFrame) -> dict[str, int]:
    """Give each contender of the whole table its number, so that it has one colour in every panel."""
    columns = contender_columns(runs)
    return {label(columns, values): index for index, (values, _) in enumerate(groups(runs, columns))}


def _fill_panel(
    axes: Axes, runs: pd.DataFrame, contenders: dict[str, int], estimate: Estimator, reference: Reference
) -> list[Line2D]:
    columns = contender_columns(runs)
    lines = []
    for values, rows in groups(runs, columns):
        name = label(columns, values)
        lines.append(_curve(axes, runs.iloc[rows], name, contenders[name], estimate))
    expected = reference(runs)
    if expected is not None:
        lines.append(axes.add_line(expected))
    _worker_ticks(axes, np.unique(numbers(runs, "workers")))
    return lines


def _curve(axes: Axes, runs: pd.DataFrame, name: str, index: int, estimate: Estimator) -> Line2D:
    counts, value, low, high = _points(runs, estimate)
    colour = line_colour(index)
    axes.fill_between(counts, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.vlines(counts, low, high, color=colour, alpha=0.45, linewidth=1)  # a point between two gaps has no band
    return axes.plot(
        counts,
        value,
        color=colour,
        linewidth=line_width(index),
        marker=marker(index),
        markeredgecolor="white",
        markeredgewidth=0.6,
        label=name,
        clip_on=False,
        zorder=3,
    )[0]


def _points(runs: pd.DataFrame, estimate: Estimator) -> npt.NDArray[np.float64]:
    """[4, counts]: the number of workers, ascending, and the value and bounds of the estimate there."""
    found = [(values[0], estimate(runs.iloc[rows])) for values, rows in groups(runs, ["workers"])]
    ordered = sorted(found, key=lambda cell: cell[0])
    return np.array([(count, cell.value, cell.low, cell.high) for count, cell in ordered], np.float64).T


def _worker_ticks(axes: Axes, counts: npt.NDArray[np.float64]) -> None:
    """Tick the worker counts that were run; a geometric series gets a logarithmic axis."""
    if len(counts) > 2 and np.allclose(counts[1:] / counts[:-1], counts[1] / counts[0]):
        axes.set_xscale("log", base=counts[1] / counts[0])
    step = -(-len(counts) // 12)
    axes.set_xticks(counts[::step], [f"{count:.0f}" for count in counts[::step]])
    axes.minorticks_off()


def _expected_line(runs: pd.DataFrame, workers: pd.DataFrame) -> Line2D | None:
    uniform = runs[runs["strategy"] == UNIFORM_STRATEGY]
    one_each = uniform.drop_duplicates("workers").sort_values("workers")
    nodes = {run: table["node"] for run, table in _workers_of(one_each, workers).groupby("run_id")}
    known = one_each[one_each["run_id"].isin(list(nodes))]
    if known.empty:
        return None
    shares = [expected_remote_share(nodes[run].to_numpy(np.int64)) for run in known["run_id"]]
    return _reference_line(numbers(known, "workers"), np.array(shares), f"{UNIFORM_STRATEGY}, expected")


def _workers_of(runs: pd.DataFrame, workers: pd.DataFrame) -> pd.DataFrame:
    return workers[workers["run_id"].isin(runs["run_id"]) & (workers["role"] == "worker")]


def _reference_line(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], name: str) -> Line2D:
    return Line2D(x, y, color=REFERENCE_COLOUR, linestyle=(0, (4, 3)), linewidth=1.2, label=name, zorder=4)
