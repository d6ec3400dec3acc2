"""The output of the commands `run`, `sweep` and `plot`: printed tables and figures.

Modules of tables and figures are imported inside functions, so that a run without tables and figures starts quickly.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from numasim.engine.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from numasim.files.owned_folder import OwnedFolder
    from numasim.spec.run_spec import RunSpec


def print_run(result: Result, as_json: bool) -> None:
    """Print one run: a summary, or one JSON object with the columns and the wall-clock time of the engine."""
    row = result.row()
    if as_json:
        print(json.dumps({**row, "engine_s": round(result.engine_s, 6), "remarks": result.remarks}))
        return
    from rich.console import Console

    from numasim.report.answers.summary import WIDTH, summary

    console = Console(width=WIDTH)
    console.print(summary(row, result.per_worker))
    for remark in result.remarks:
        console.print(f"note: {remark}", highlight=False)


def print_sweep(directory: Path, draw: bool, quiet: bool, specs: Collection[RunSpec] = ()) -> None:
    """Print the answer of a finished sweep with the cells ``specs``, and the paths of the tables."""
    from rich.console import Console

    from numasim.engine.remarks import free_operations
    from numasim.report.answers.answer_table import render
    from numasim.report.stored_runs import stored_runs
    from numasim.sweep.store.results_store import ANSWERS, RESULTS

    console = Console()
    if not quiet:
        frame = stored_runs(directory)
        render(frame, console, str(directory))
        free = free_operations(specs)
        for remark in (*free, *_remarks_of_sweep(frame), *_without_memory(frame, specs)):
            console.print(f"note: {remark}", highlight=False)
    if draw:
        save_sweep_plots(directory, directory / "figures")
        console.print(f"figures: {directory / 'figures'}", highlight=False)
    console.print(f"page: {directory / 'index.html'}", highlight=False)
    console.print(f"results: {directory / RESULTS}, answers: {directory / ANSWERS}", highlight=False, soft_wrap=True)


def _remarks_of_sweep(frame: pd.DataFrame) -> list[str]:
    """Return a line with the number of runs that have a remark, and the first remark; nothing if there are none."""
    from numasim.engine.remarks import REMARKED, remarks
    from numasim.report.comparison_cells import finished

    done = finished(frame)
    names = ("workload", "strategy", "workers", *REMARKED)
    rows = (dict(zip(names, values, strict=True)) for values in zip(*(done[name] for name in names), strict=True))
    found = ((row, sentence) for row in rows for sentence in remarks(row, row["workers"]))
    for first, sentence in found:
        where = f"{first['workload']} under {first['strategy']} with {first['workers']} workers"
        return [f"{1 + sum(1 for _ in found)} of {len(done)} runs, the first of them {where}: {sentence}"]
    return []


def _without_memory(frame: pd.DataFrame, specs: Collection[RunSpec]) -> list[str]:
    """Return a remark for each file of a task graph whose finished runs all move no bytes."""
    from numasim.engine.remarks import without_memory
    from numasim.report.comparison_cells import finished
    from numasim.workload.parameters import WorkloadFile

    graphs = dict.fromkeys(spec.workload.file for spec in specs if isinstance(spec.workload, WorkloadFile))
    if not graphs:
        return []
    done = finished(frame)
    moved = [done[name].groupby(done["workload"]).sum() for name in ("bytes_local", "bytes_remote", "bytes_cache")]
    return [without_memory(file) for file in graphs if all(each.get(Path(file).stem, 1) == 0 for each in moved)]


def require_plots(results: Path) -> None:
    """Raise `InputError` before a sweep if the figures of the sweep cannot be written."""
    from numasim.files.owned_folder import require_free
    from numasim.report.figures.plots import FIGURES, PLOTS, USUAL_FOLDER, files_of

    require_free(results / USUAL_FOLDER, FIGURES, files_of(PLOTS))


def save_sweep_plots(results: Path, output: Path, pdf: bool = False) -> list[Path]:
    """Draw the standard figures of a results directory, with ``pdf`` also as PDF, and return their paths."""
    from numasim.report.figures.plots import save_all
    from numasim.report.stored_runs import stored_runs
    from numasim.sweep.store.results_store import NODE_PAIRS, WORKERS
    from numasim.sweep.store.results_tables import load_table

    tables = stored_runs(results), load_table(results, WORKERS), load_table(results, NODE_PAIRS)
    return save_all(*tables, output, pdf=pdf)


def save_column_figure(
    results: Path, file: Path, column: str, *, x: str | None, colour: str | None, facet: str | None
) -> Path:
    """Draw a column of a results directory over the given axes, and return the file."""
    from numasim.report.figures.axis_figure import column as column_figure
    from numasim.report.figures.plots import kind_of, save
    from numasim.sweep.store.results_tables import load

    kind_of(file)  # reports a wrong file name before any table is read
    return save(column_figure(load(results), column, x=x, colour=colour, facet=facet), file)


def run_figures_folder(output: Path | None, over_time: bool) -> AbstractContextManager[OwnedFolder | None]:
    """Return the folder for the figures of a run, with figures over time if ``over_time``; None without ``output``.

    Before the run, raises `InputError` if the folder cannot be written or the user changed a figure.
    """
    if output is None:
        return nullcontext()
    from numasim.files.owned_folder import owned_folder
    from numasim.report.figures.plots import PLOTS, RUN_FIGURES, RUN_PLOTS, files_of

    return owned_folder(output, RUN_FIGURES, files_of([*PLOTS, *(RUN_PLOTS if over_time else ())]))


def save_figures(result: Result, folder: OwnedFolder) -> list[Path]:
    """Draw the standard figures of a single run, with figures over time if the run was watched; return their paths."""
    from numasim.report.figures.plots import Tables, run_figures, standard_figures

    figures = standard_figures(Tables(result.to_frame(), result.workers, result.node_pairs))
    return folder.write_only(figures | (run_figures(result, result.over_time) if result.over_time else {}))
