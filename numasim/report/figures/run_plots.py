"""The figures of a single run that was watched, by name, and all of them written to a directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from numasim.engine.observe.over_time import OverTime
from numasim.engine.result import Result
from numasim.files.owned_folder import FolderKind, owned_folder
from numasim.report.figures.developments import queue_lengths, utilisation
from numasim.report.figures.gantt import timeline
from numasim.report.figures.plots import as_files, files_of
from numasim.report.figures.traffic import node_traffic

RUN_PLOTS: dict[str, Callable[[Result, OverTime], Figure]] = {
    "timeline": lambda _, over_time: timeline(over_time),
    "utilisation": lambda _, over_time: utilisation(over_time),
    "queue_lengths": lambda _, over_time: queue_lengths(over_time),
    "node_traffic": lambda result, over_time: node_traffic(over_time.plan.machine, result),
}


def save_run_plots(result: Result, over_time: OverTime, directory: Path) -> list[Path]:
    """Write every figure as PNG and SVG to ``directory``, made if missing, and return the paths.

    Raises `InputError` before anything is drawn for a folder that holds other files, or a figure that the user changed.
    """
    with owned_folder(directory, RUN_FIGURES, files_of(RUN_PLOTS)) as folder:
        return folder.write_only(run_figures(result, over_time))


def run_figures(result: Result, over_time: OverTime) -> dict[str, bytes]:
    """Return every figure as PNG and SVG by the name of its file."""
    return as_files((name, draw(result, over_time)) for name, draw in RUN_PLOTS.items())


RUN_FIGURES = FolderKind("numasim run --plot")
