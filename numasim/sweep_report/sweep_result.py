"""The results of a sweep: its tables, and the answers that they give."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from numasim.files.presence import is_there
from numasim.sweep.store.frame import load, load_table
from numasim.sweep.store.parquet import ITERATIONS_TABLE
from numasim.sweep.store.results_store import ITERATIONS, NODE_PAIRS, TIMING, WORKERS

if TYPE_CHECKING:
    import pandas as pd

    from numasim.report.answers.question import Comparison


@dataclass(frozen=True)
class SweepResult:
    """The tables of a results directory."""

    directory: Path

    def to_frame(self) -> pd.DataFrame:
        """One row for each cell and repeat: the columns of a result, the sweep axes, the error."""
        return load(self.directory)

    def workers(self) -> pd.DataFrame:
        """One row for each run and worker; producers follow the workers."""
        return load_table(self.directory, WORKERS)

    def node_pairs(self) -> pd.DataFrame:
        """One row for each run and ordered pair of nodes: steals from thief to victim, bytes from accessor to home."""
        return load_table(self.directory, NODE_PAIRS)

    def iterations(self) -> pd.DataFrame:
        """One row for each run of a phase, of the runs that have more than one: when it began, how long it took, and
        what was counted in it (`Result.iterations`).
        """
        if not is_there(self.directory / ITERATIONS):  # left by a version without them
            return self.workers().iloc[:0][["run_id"]].reindex(columns=ITERATIONS_TABLE.names)
        return load_table(self.directory, ITERATIONS)

    def timing(self) -> pd.DataFrame:
        """One row for each run: the wall-clock time of its engine in seconds."""
        return load_table(self.directory, TIMING)

    def compare(self, axis: str | None = None, baseline: object = None, column: str = "makespan_ps") -> Comparison:
        """Compare the runs along one axis: `numasim.report.answers.question.compare` of these results."""
        from numasim.report.answers.question import compare

        return compare(self, axis, baseline, column)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what was swept, what came out, where the files are."""
        from numasim.report.notebooks.sweep_html import sweep_html

        return sweep_html(self.to_frame(), self.directory)
