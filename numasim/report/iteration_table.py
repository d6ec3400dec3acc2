"""Runs by iteration: what the passes of a program's loops took and counted, as a table that figures are drawn from."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from numasim.engine.columns import DESCRIBED, Column
from numasim.engine.phase_rows import SUMS
from numasim.report.comparison_cells import ITERATION, cell_columns, finished

TIME = "time_ps"
ITERATION_COLUMNS = {
    TIME: Column(TIME, "iterations", "time of an iteration", "ps", "How long all phases of it took together."),
    **{name: replace(DESCRIBED[name], label=f"{DESCRIBED[name].label} of an iteration") for name in SUMS},
}


def by_iteration(frame: pd.DataFrame, iterations: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each finished run of a results table and each of its iterations, with the axes of the run.

    ``iterations`` has a row for each run of a phase (`SweepResult.iterations`); those of one iteration are added up.
    Where a program has a loop, phases that run only once are left out, such as one that initialises. Of several loops,
    iterations of one number are added.
    """
    runs = finished(frame)
    axes = [name for name in ("run_id", "repeat", *cell_columns(runs)) if name in runs]
    turns = iterations.groupby(["run_id", "phase"])["turn"].transform("max")
    summed = iterations[turns > 0].groupby(["run_id", ITERATION], sort=False)[[*ITERATION_COLUMNS]].sum()
    return runs[axes].merge(summed.reset_index(), on="run_id")
