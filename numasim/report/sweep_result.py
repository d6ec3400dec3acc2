"""The results of a sweep: the tables, the answers to questions, and the files that follow from the tables.

answers.csv   every axis against its first value, in every setting, for a set of columns
index.html    the page: sentences, an interactive plot, tables, the machine's traffic, the specification
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numasim.errors import InputError, when_interrupted
from numasim.files.owned_folder import owned_folder
from numasim.files.reader import YAML, read_text
from numasim.files.writer import reading_errors
from numasim.sweep.run_sweep import SweepOutcome, run_sweep
from numasim.sweep.store.results_store import (
    ANSWERS,
    ITERATIONS,
    NODE_PAIRS,
    PAGE,
    REPORT,
    RESULTS,
    SPEC,
    SWEEP,
    TIMING,
    WORKERS,
)
from numasim.sweep.store.results_tables import load, load_table, parts_of_table

if TYPE_CHECKING:
    import pandas as pd

    from numasim.report.answers.question import Comparison
    from numasim.spec.sweep_spec import SweepSpec


@dataclass(frozen=True)
class SweepResult:
    """The tables of a results directory."""

    directory: Path

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each cell and repeat: the columns of a result, the sweep axes, the error."""
        return load(self.directory)

    def workers(self) -> pd.DataFrame:
        """Return one row for each run and worker; producers follow the workers."""
        return load_table(self.directory, WORKERS)

    def node_pairs(self) -> pd.DataFrame:
        """Return one row for each run and ordered pair of nodes: steals by thief and victim, bytes by core and home."""
        return load_table(self.directory, NODE_PAIRS)

    def iterations(self) -> pd.DataFrame:
        """Return one row for each run of a phase, for the runs that have several.

        The columns are begin, duration and counters of the phase (`Result.iterations`).
        """
        return load_table(self.directory, ITERATIONS)

    def timing(self) -> pd.DataFrame:
        """Return one row for each run: the wall-clock time of its engine in seconds."""
        return load_table(self.directory, TIMING)

    def compare(self, axis: str | None = None, baseline: object = None, column: str = "makespan_ps") -> Comparison:
        """Compare the runs along one axis: `numasim.report.answers.question.compare` for these results."""
        from numasim.report.answers.question import compare
        from numasim.report.stored_runs import stored_runs

        return compare(stored_runs(self.directory), axis, baseline, column)

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the axes, the answer, and the files."""
        from numasim.report.notebooks.sweep_html import sweep_html
        from numasim.report.stored_runs import stored_runs

        return sweep_html(stored_runs(self.directory), self.directory)


def reported_sweep(sweep: SweepSpec, directory: str | Path, **options: Any) -> SweepOutcome:
    """Call `run_sweep` with the same ``options``; after a complete sweep, write the report beside the tables."""
    outcome = run_sweep(sweep, directory, **options)
    if outcome.complete:
        kept = f"all runs are kept in {outcome.directory}; the same command writes the report"
        with when_interrupted(lambda: kept):
            leave_report(outcome.directory, sweep)
    return outcome


def leave_report(directory: Path, sweep: SweepSpec | None) -> None:
    """Write the files that follow from the tables of a results directory. Equal tables give equal bytes.

    ``sweep`` is the specification of the runs. If ``sweep`` is known, the page has pictures of the machine.
    """
    from numasim.report.answers.answers_file import answers_csv
    from numasim.report.stored_runs import stored_runs
    from numasim.report.sweep_page import pictured_runs, sweep_page

    frame = stored_runs(directory)
    pairs = load_table(directory, NODE_PAIRS, pictured_runs(frame))
    iterations = parts_of_table(directory, ITERATIONS)
    page = sweep_page(frame, pairs, read_text(directory / SPEC, YAML), sweep, iterations)
    files = {ANSWERS: answers_csv(frame), PAGE: page.encode()}
    with owned_folder(directory, SWEEP, REPORT) as folder:
        folder.write(files)


def current_page(directory: Path) -> Path:
    """Return the page of a results directory. A page that is missing or older than the results is written anew.

    Raises `InputError` if no sweep has ended in ``directory``, and if the page is a file of the user.
    """
    from numasim.spec.sweep_spec import load_sweep

    page, results = directory / PAGE, directory / RESULTS
    load(directory)  # raises InputError if no sweep has ended
    with reading_errors(page):
        if not page.is_file() or page.stat().st_mtime_ns < results.stat().st_mtime_ns:
            try:
                sweep = load_sweep(directory / SPEC)
            except InputError:  # the specification refers to files that are elsewhere
                sweep = None
            leave_report(directory, sweep)
    return page
