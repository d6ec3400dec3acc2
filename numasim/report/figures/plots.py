"""The standard figures by name, and all of them written to a directory with the same bytes every time."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from numasim.errors import InputError
from numasim.files.writer import require_writable, write_bytes
from numasim.report.comparison_cells import finished
from numasim.report.figures.bars import time_split, worker_time_split
from numasim.report.figures.curves import miss_ratio, remote_steal_ratio, speedup
from numasim.report.figures.heatmaps import node_bytes, node_steals
from numasim.report.figures.style import rules

DOTS_PER_INCH = 150
NO_METADATA: dict[str, dict[str, str | None]] = {"png": {"Software": None}, "svg": {"Date": None}}


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


def plot(name: str, tables: Tables) -> Figure:
    """Draw the figure called ``name``; an unknown name is an `InputError`."""
    if name not in PLOTS:
        raise InputError(f"no figure is called {name!r}", expected=", ".join(PLOTS), value=name, known=PLOTS)
    return PLOTS[name](tables)


def save(figure: Figure, path: Path) -> Path:
    """Write ``figure`` to ``path``, a .png or a .svg, without a date; an `InputError` where that cannot be done."""
    return write_bytes(path, drawn(figure, kind_of(path)))


def drawn(figure: Figure, kind: str) -> bytes:
    """Return ``figure`` as png or svg, without a date."""
    buffer = io.BytesIO()
    with rules():
        _fix_layout(figure)
        figure.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, metadata=NO_METADATA[kind])
    return buffer.getvalue()


def kind_of(path: Path) -> str:
    """Return png or svg, the suffix of ``path``; an `InputError` for another one, or where no file can be written."""
    if path.suffix[1:] not in NO_METADATA:
        raise InputError(f"{path}: unsupported figure format", expected="a name that ends in .png or .svg")
    require_writable(path)
    return path.suffix[1:]


def _fix_layout(figure: Figure) -> None:
    """Lay the figure out once; a second write would start where the first one, at another resolution, left it."""
    if isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def save_all(frame: pd.DataFrame, workers: pd.DataFrame, node_pairs: pd.DataFrame, directory: Path) -> list[Path]:
    """Write every standard figure as PNG and SVG to ``directory``, made if missing, and return the paths.

    A table without a finished run has no figures.
    """
    if finished(frame).empty:
        return []
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{directory} cannot hold figures: {error.strerror}", expected="a directory") from error
    tables = Tables(frame, workers, node_pairs)
    return [
        save(figure, directory / f"{name}.{kind}")
        for name, figure in ((name, plot(name, tables)) for name in PLOTS)
        for kind in NO_METADATA
    ]
