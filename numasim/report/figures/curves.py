"""Steals and speedups over the axis that varies, one curve per strategy, with bands of intervals.

Against the number of workers they are those of the thesis (Tables 3.2, 4.2, 4.3; Figure 4.8).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from numasim.report.chosen_axes import choose_axes
from numasim.report.comparison_cells import estimate, finished, numbers
from numasim.report.figures.axis_figure import Quantity, Reference, axis_figure
from numasim.report.figures.grid import empty_figure
from numasim.report.figures.style import REFERENCE_COLOUR, styled
from numasim.report.results_table import HasFrame, table_of

UNIFORM_STRATEGY = "randomized"  # the strategy whose victims are uniform among the other workers (thesis eq. 4.2)


@styled
def miss_ratio(results: HasFrame | pd.DataFrame) -> Figure:
    """Draw steal attempts that found nothing over all attempts; a gap where a strategy made no attempt."""
    return _curves(table_of(results), _quantity("steal_miss_ratio", "steal miss ratio (misses / attempts)", top=1.0))


@styled
def remote_steal_ratio(results: HasFrame | pd.DataFrame, workers: pd.DataFrame | None = None) -> Figure:
    """Draw steal attempts at another node's queues over all attempts.

    With the per-worker table (``run_id``, ``node``, ``role``) and runs of ``randomized``, the expected share of
    uniform victims is drawn as well: (P/2)/(P-1) on two nodes with P/2 workers each.
    """

    def reference(runs: pd.DataFrame) -> Line2D | None:
        return _expected_line(runs, workers) if workers is not None else None

    return _curves(
        table_of(results), _quantity("steal_remote_ratio", "remote share of steal attempts", top=1.0), reference
    )


@styled
def speedup(results: HasFrame | pd.DataFrame) -> Figure:
    """Draw serial time over makespan, with the ideal speedup of one per worker."""

    def reference(runs: pd.DataFrame) -> Line2D:
        counts = np.unique(numbers(runs, "workers"))
        return _reference_line(counts, counts, "ideal")

    return _curves(table_of(results), _quantity("speedup", "speedup (serial time / makespan)"), reference)


def expected_remote_share(nodes: npt.NDArray[np.int64]) -> float:
    """Return the chance that a uniform victim among the others is on another node.

    ``nodes`` is [workers]; thieves are assumed to make equally many attempts, which matters only where nodes have
    unequal numbers of workers. NaN for a lone worker.
    """
    count = len(nodes)
    same = np.bincount(nodes)
    return float(count**2 - (same**2).sum()) / (count * (count - 1)) if count > 1 else float("nan")


def _quantity(column: str, label: str, top: float | None = None) -> Quantity:
    return Quantity(label, lambda runs: estimate(runs, column), top=top)


def _curves(frame: pd.DataFrame, quantity: Quantity, reference: Reference = lambda runs: None) -> Figure:
    """Draw over the axis that varies; what to compare with is known against the number of workers."""
    if finished(frame).empty:
        return empty_figure("no finished runs")
    chosen = choose_axes(frame)
    return axis_figure(frame, chosen, quantity, reference if chosen.x == "workers" else lambda runs: None)


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
