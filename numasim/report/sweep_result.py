"""The results of a sweep: its tables, and the answers that they give."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from numasim.files.reader import is_there
from numasim.sweep.store.frame import load, load_table
from numasim.sweep.store.parquet import ITERATIONS_TABLE
from numasim.sweep.store.results_store import ITERATIONS, NODE_PAIRS, TIMING, WORKERS

if TYPE_CHECKING:
    import pandas as pd

    from numasim.report.answers.question import Comparison


from typing import TYPE_CHECKING, Any

from numasim.errors import InputError, when_interrupted
from numasim.files.owned_folder import owned_folder
from numasim.files.reader import YAML, read_text
from numasim.files.writer import reading_errors
from numasim.sweep.run_sweep import SweepOutcome, run_sweep
from numasim.sweep.store.results_store import ANSWERS, PAGE, REPORT, RESULTS, SPEC, SWEEP

if TYPE_CHECKING:
    from numasim.spec.sweep_spec import SweepSpec


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


# ----------------------------------------------------------------------------------------------------------------------
# A sweep and what it leaves when every run has ended: files that follow from its tables, for people and programs.
#
# answers.csv   every axis against its first value, in every setting, for a set of columns
# index.html    the page: sentences, an interactive plot, tables, the machine's traffic, the specification


def reported_sweep(sweep: SweepSpec, directory: str | Path, **options: Any) -> SweepOutcome:
    """`run_sweep` with the same ``options``; a complete sweep leaves its report beside the tables."""
    outcome = run_sweep(sweep, directory, **options)
    if outcome.complete:
        kept = f"all runs are kept in {outcome.directory}; the same command writes the report"
        with when_interrupted(lambda: kept):
            leave_report(outcome.directory, sweep)
    return outcome


def leave_report(directory: Path, sweep: SweepSpec | None) -> None:
    """Write the files that follow from the tables of a results directory: equal tables leave equal bytes.

    ``sweep`` is what was run there, if it is known; the page then has the machine with its traffic.
    """
    files = report_files(SweepResult(directory), sweep)
    with owned_folder(directory, SWEEP, REPORT) as folder:
        folder.write(files)


def report_files(result: SweepResult, sweep: SweepSpec | None) -> dict[str, bytes]:
    """The files by name."""
    from numasim.report.answers.answers_file import answers_csv
    from numasim.report.page.sweep_page import sweep_page

    frame = result.to_frame()
    spec = read_text(result.directory / SPEC, YAML)
    page = sweep_page(frame, result.node_pairs(), spec, sweep, result.iterations())
    return {ANSWERS: answers_csv(frame), PAGE: page.encode()}


def current_page(directory: Path) -> Path:
    """The page of a results directory, written anew where it is missing or older than the results.

    Raises `InputError` where no sweep has ended, or the page is a file of the user's.
    """
    page, results = directory / PAGE, directory / RESULTS
    load(directory)  # InputError where no sweep has ended
    with reading_errors(page):
        if not page.is_file() or page.stat().st_mtime_ns < results.stat().st_mtime_ns:
            leave_report(directory, _sweep_of(directory))
    return page


def _sweep_of(directory: Path) -> SweepSpec | None:
    """The sweep that a results directory keeps; None where its files are elsewhere, so that it cannot be read."""
    from numasim.spec.sweep_spec import load_sweep

    try:
        return load_sweep(directory / SPEC)
    except InputError:
        return None
