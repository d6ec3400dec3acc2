"""Steals and speedups over the axis that varies, one curve for each strategy, with bands of intervals.

Over the number of workers, the figures correspond to results of the thesis (Tables 3.2, 4.2, 4.3; Figure 4.8).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from numasim.report.chosen_axes import choose_axes
from numasim.report.comparison_cells import HasFrame, finished, numbers, table_of
from numasim.report.figures.axis_figure import Quantity, Reference, axis_figure
from numasim.report.figures.grid import empty_figure
from numasim.report.figures.style import REFERENCE_COLOUR, styled

UNIFORM_STRATEGY = "randomized"  # victims are uniform among the other workers (thesis eq. 4.2)


@styled
def miss_ratio(results: HasFrame | pd.DataFrame) -> Figure:
    """Draw the share of steal attempts that found nothing. A strategy without attempts has a gap."""
    return _curves(results, Quantity("steal_miss_ratio", "steal miss ratio (misses / attempts)", top=1.0))


@styled
def remote_steal_ratio(results: HasFrame | pd.DataFrame, workers: pd.DataFrame | None = None) -> Figure:
    """Draw the share of steal attempts at another node's queues.

    With the per-worker table (``run_id``, ``node``, ``role``) and runs of ``randomized``, the expected share of uniform
    victims is drawn as well: (P/2)/(P-1) on two nodes with P/2 workers each.
    """

    def reference(runs: pd.DataFrame) -> Line2D | None:
        return _expected_line(runs, workers) if workers is not None else None

    shown = Quantity("steal_remote_ratio", "remote share of steal attempts", top=1.0)
    return _curves(results, shown, reference)


@styled
def speedup(results: HasFrame | pd.DataFrame) -> Figure:
    """Draw serial time over makespan, with the ideal speedup of one for each worker."""

    def reference(runs: pd.DataFrame) -> Line2D:
        counts = np.unique(numbers(runs, "workers"))
        return _reference_line(counts, counts, "ideal")

    return _curves(results, Quantity("speedup", "speedup (serial time / makespan)"), reference)


def expected_remote_share(nodes: npt.NDArray[np.int64]) -> float:
    """Return the probability that a uniform victim among the other workers is on another node.

    ``nodes`` [workers] are the nodes of the workers. All thieves are assumed to make equally many attempts, which
    matters only if nodes have unequal numbers of workers. NaN for a single worker.
    """
    count = len(nodes)
    same = np.bincount(nodes)
    return float(count**2 - (same**2).sum()) / (count * (count - 1)) if count > 1 else float("nan")


def _curves(results: HasFrame | pd.DataFrame, shown: Quantity, reference: Reference = lambda runs: None) -> Figure:
    """Draw a quantity over the axis that varies; over the number of workers, with the line of ``reference``."""
    frame = table_of(results)
    if finished(frame).empty:
        return empty_figure("no finished runs")
    chosen = choose_axes(frame)
    return axis_figure(frame, chosen, shown, reference if chosen.x == "workers" else lambda runs: None)


def _expected_line(runs: pd.DataFrame, workers: pd.DataFrame) -> Line2D | None:
    """Return the line of expected shares for the runs of the uniform strategy whose workers are known."""
    uniform = runs[runs["strategy"] == UNIFORM_STRATEGY]
    one_each = uniform.drop_duplicates("workers").sort_values("workers")
    mine = workers[workers["run_id"].isin(one_each["run_id"]) & (workers["role"] == "worker")]
    nodes = {run: table["node"].to_numpy(np.int64) for run, table in mine.groupby("run_id")}
    known = one_each[one_each["run_id"].isin(list(nodes))]
    if known.empty:
        return None
    shares = np.array([expected_remote_share(nodes[run]) for run in known["run_id"]])
    return _reference_line(numbers(known, "workers"), shares, f"{UNIFORM_STRATEGY}, expected")


def _reference_line(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], name: str) -> Line2D:
    return Line2D(x, y, color=REFERENCE_COLOUR, linestyle=(0, (4, 3)), linewidth=1.2, label=name, zorder=4)
