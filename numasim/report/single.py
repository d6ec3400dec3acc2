"""What the commands `run`, `sweep` and `plot` print and draw."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console

from numasim.engine.result import Result
from numasim.report.answer_table import WIDTH, render
from numasim.report.plots import save_all
from numasim.report.summary import summary
from numasim.sweep.frame import SweepResult


def print_run(result: Result, as_json: bool) -> None:
    """Print one run: a summary for people, or one JSON object of its columns and the engine's wall-clock time."""
    row = result.row()
    if as_json:
        print(json.dumps({**row, "engine_s": round(result.engine_s, 6)}))
    else:
        Console(width=WIDTH).print(summary(row, result.workers))


def print_sweep(directory: Path, draw: bool, quiet: bool) -> None:
    """Print the answer of a finished sweep, and where its tables and figures are."""
    found = SweepResult(directory)
    console = Console()
    if not quiet:
        render(found.to_frame(), console)
    if draw:
        save_sweep_plots(directory, directory / "figures")
        console.print(f"figures: {directory / 'figures'}", highlight=False)
    console.print(f"results: {directory / 'results.parquet'}", highlight=False)


def save_sweep_plots(results: Path, output: Path) -> list[Path]:
    """Draw the standard figures of a results directory."""
    found = SweepResult(results)
    return save_all(found.to_frame(), found.workers(), found.node_pairs(), output)


def save_run_plots(result: Result, output: Path) -> list[Path]:
    """Draw the standard figures of a single run."""
    run_id = result.identity["run_id"]
    workers = pd.DataFrame({"run_id": run_id, "worker": np.arange(len(result.workers["node"])), **result.workers})
    node_from, node_to = np.indices(result.node_bytes.shape)
    pairs = pd.DataFrame(
        {
            "run_id": run_id,
            "node_from": node_from.ravel(),
            "node_to": node_to.ravel(),
            "steal_attempts": result.node_attempts.ravel(),
            "steal_success": result.node_success.ravel(),
            "bytes": result.node_bytes.ravel(),
        }
    )
    frame = pd.DataFrame([{**result.row(), "error": None}])
    return save_all(frame, workers, pairs, output)
