"""A sweep and what it leaves when every run has ended: files that follow from its tables, for people and programs.

answers.csv   every axis against its first value, in every setting, for a set of columns
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numasim.files.owned_folder import owned_folder
from numasim.sweep.run_sweep import SweepOutcome, run_sweep
from numasim.sweep.store.results_store import ANSWERS, REPORT, SWEEP
from numasim.sweep_report.sweep_result import SweepResult

if TYPE_CHECKING:
    from numasim.spec.sweep_spec import SweepSpec


def reported_sweep(sweep: SweepSpec, directory: str | Path, **options: Any) -> SweepOutcome:
    """`run_sweep` with the same ``options``; a complete sweep leaves its report beside the tables."""
    outcome = run_sweep(sweep, directory, **options)
    if outcome.complete:
        leave_report(outcome.directory)
    return outcome


def leave_report(directory: Path) -> None:
    """Write the files that follow from the tables of a results directory: equal tables leave equal bytes."""
    files = report_files(SweepResult(directory))
    with owned_folder(directory, SWEEP, REPORT) as folder:
        folder.write(files)


def report_files(result: SweepResult) -> dict[str, bytes]:
    """The files by name."""
    from numasim.report.answers.answers_file import answers_csv

    return {ANSWERS: answers_csv(result.to_frame())}
