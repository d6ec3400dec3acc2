"""What the commands `run`, `sweep` and `plot` print and draw.

Tables and figures are imported where they are drawn: a run that only prints its counters must not wait for them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from numasim.engine.result import Result, node_pairs

if TYPE_CHECKING:
    import pandas as pd


def print_run(result: Result, as_json: bool) -> None:
    """Print one run: a summary for people, or one JSON object of its columns and the engine's wall-clock time."""
    row = result.row()
    if as_json:
        print(json.dumps({**row, "engine_s": round(result.engine_s, 6)}))
        return
    from rich.console import Console

    from numasim.report.answers.summary import WIDTH, summary

    Console(width=WIDTH).print(summary(row, result.workers))


def print_sweep(directory: Path, draw: bool, quiet: bool) -> None:
    """Print the answer of a finished sweep, and where its tables and figures are."""
    from rich.console import Console

    from numasim.report.answers.answer_table import render
    from numasim.sweep.store.frame import SweepResult

    console = Console()
    if not quiet:
        render(SweepResult(directory).to_frame(), console)
    if draw:
        save_sweep_plots(directory, directory / "figures")
        console.print(f"figures: {directory / 'figures'}", highlight=False)
    console.print(f"results: {directory / 'results.parquet'}", highlight=False)


def save_sweep_plots(results: Path, output: Path) -> list[Path]:
    """Draw the standard figures of a results directory."""
    from numasim.report.figures.plots import save_all
    from numasim.sweep.store.frame import SweepResult

    found = SweepResult(results)
    return save_all(found.to_frame(), found.workers(), found.node_pairs(), output)


def save_figures(result: Result, output: Path) -> list[Path]:
    """Draw the standard figures of a single run and, of a watched run, the figures over time."""
    import pandas as pd

    from numasim.report.figures.plots import save_all
    from numasim.report.figures.run_plots import save_run_plots

    frame = pd.DataFrame([{**result.row(), "error": None}])
    paths = save_all(frame, _worker_rows(result), _node_pair_rows(result), output)
    return paths + (save_run_plots(result, result.over_time, output) if result.over_time else [])


def _worker_rows(result: Result) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    identity = {"run_id": result.identity["run_id"], "worker": np.arange(len(result.workers["node"]))}
    return pd.DataFrame({**identity, **result.workers})


def _node_pair_rows(result: Result) -> pd.DataFrame:
    import pandas as pd

    columns = {name: table.ravel() for name, table in node_pairs(result).items()}
    return pd.DataFrame({"run_id": result.identity["run_id"], **columns})
