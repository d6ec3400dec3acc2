"""The standard figures by name, written to a directory; equal figures give equal bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from numasim.engine.observe.over_time import OverTime
from numasim.engine.result import Result
from numasim.errors import InputError
from numasim.files.owned_folder import FolderKind, owned_folder
from numasim.files.writer import require_writable, write_bytes
from numasim.report.comparison_cells import finished
from numasim.report.figures.axis_figure import miss_ratio, remote_steal_ratio, speedup
from numasim.report.figures.bars import time_split, worker_time_split
from numasim.report.figures.developments import queue_lengths, utilisation
from numasim.report.figures.gantt import timeline
from numasim.report.figures.style import fix_layout, rules
from numasim.report.figures.traffic import node_bytes, node_steals, node_traffic

DOTS_PER_INCH = 150
USUAL_FOLDER = "figures"  # the usual folder in a results directory
NO_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
}

STANDARD_KINDS = ("png", "svg")  # the file formats of each standard figure


@dataclass(frozen=True)
class Tables:
    """The tables of a sweep: one row per run; per run and worker; per run and pair of nodes."""

    frame: pd.DataFrame
    workers: pd.DataFrame
    node_pairs: pd.DataFrame


PLOTS: dict[str, Callable[[Tables], Figure]] = {
    "miss_ratio": lambda tables: miss_ratio(tables.frame),
    "remote_steal_ratio": lambda tables: remote_steal_ratio(tables.frame, tables.workers),
    "speedup": lambda tables: speedup(tables.frame),
    "time_split": lambda tables: time_split(tables.frame),
    "worker_time_split": lambda tables: worker_time_split(tables.frame, tables.workers),
    "node_steals": lambda tables: node_steals(tables.frame, tables.node_pairs),
    "node_bytes": lambda tables: node_bytes(tables.frame, tables.node_pairs),
}


def save(figure: Figure, path: str | Path) -> Path:
    """Write ``figure`` to ``path``, a .png, .svg or .pdf, without a date. Raises `InputError` if that is impossible."""
    return write_bytes(Path(path), drawn(figure, kind_of(Path(path))))


def drawn(figure: Figure, kind: str) -> bytes:
    """Return ``figure`` as png, svg or pdf, without a date."""
    buffer = io.BytesIO()
    with rules():
        fix_layout(figure)
        figure.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, metadata=NO_METADATA[kind])
    return buffer.getvalue()


def kind_of(path: Path) -> str:
    """Return png, svg or pdf, the suffix of ``path``. Raises `InputError` for another suffix or an unwritable path."""
    if path.suffix[1:] not in NO_METADATA:
        raise InputError(f"{path}: unsupported figure format", expected="a name that ends in .png, .svg or .pdf")
    require_writable(path)
    return path.suffix[1:]


def save_all(
    frame: pd.DataFrame, workers: pd.DataFrame, node_pairs: pd.DataFrame, directory: Path, *, pdf: bool = False
) -> list[Path]:
    """Write every standard figure as PNG and SVG, and with ``pdf`` as PDF, to ``directory``, which is made if missing.

    Returns the paths. A table without a finished run has no figures. Before anything is drawn, raises `InputError` for
    a folder that holds other files, and for a figure that the user changed.
    """
    if finished(frame).empty:
        return []
    kinds = (*STANDARD_KINDS, "pdf") if pdf else STANDARD_KINDS
    with owned_folder(directory, FIGURES, files_of(PLOTS, kinds)) as folder:
        return folder.write_only(standard_figures(Tables(frame, workers, node_pairs), kinds))


def standard_figures(tables: Tables, kinds: Sequence[str] = STANDARD_KINDS) -> dict[str, bytes]:
    """Return every standard figure in each of ``kinds``, by the name of its file; no figure without a finished run."""
    return (
        {} if finished(tables.frame).empty else as_files(((name, draw(tables)) for name, draw in PLOTS.items()), kinds)
    )


def files_of(names: Iterable[str], kinds: Sequence[str] = STANDARD_KINDS) -> list[str]:
    """Return the names of the files of figures."""
    return [f"{name}.{kind}" for name in names for kind in kinds]


def as_files(figures: Iterable[tuple[str, Figure]], kinds: Sequence[str] = STANDARD_KINDS) -> dict[str, bytes]:
    """Return named figures in each of the ``kinds``, by the names of their files."""
    return {f"{name}.{kind}": drawn(figure, kind) for name, figure in figures for kind in kinds}


def svg_text(figure: Figure) -> str:
    """Return ``figure`` as the text of an SVG, without a date."""
    return drawn(figure, "svg").decode()


FIGURES = FolderKind("numasim plot")


# ---- The figures of a single run that was watched --------------------------------------------------------------------

RUN_FIGURES = FolderKind("numasim run --plot")
RUN_PLOTS: dict[str, Callable[[Result, OverTime], Figure]] = {
    "timeline": lambda _, over_time: timeline(over_time),
    "utilisation": lambda _, over_time: utilisation(over_time),
    "queue_lengths": lambda _, over_time: queue_lengths(over_time),
    "node_traffic": lambda result, over_time: node_traffic(over_time.plan.machine, result),
}


def run_figures(result: Result, over_time: OverTime) -> dict[str, bytes]:
    """Return every figure as PNG and SVG by the name of its file."""
    return as_files((name, draw(result, over_time)) for name, draw in RUN_PLOTS.items())
