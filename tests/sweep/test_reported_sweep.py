"""The report of a complete sweep has the same bytes after any interruption."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_sweep import fail_at_two_workers, run_toy, toy_sweep

import numasim.report.sweep_result as reported_sweep_module
from numasim.errors import InputError, Interrupted
from numasim.report.sweep_result import reported_sweep
from numasim.spec.sweep_spec import SweepSpec
from numasim.sweep.store.results_store import ANSWERS, REPORT


@pytest.fixture(autouse=True)
def no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the pictures out of the page: the machine of a toy sweep cannot be drawn."""
    monkeypatch.setattr("numasim.report.sweep_page.page_pictures", lambda *_: [])


def sweep_and_report(sweep: SweepSpec, directory: Path, runner: object = run_toy, **options: object) -> None:
    reported_sweep(sweep, directory, jobs=1, engine="reference", runner=runner, progress=False, **options)  # type: ignore[arg-type]


def left(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in REPORT}


def test_a_stopped_and_resumed_sweep_leaves_the_same_bytes(tmp_path: Path) -> None:
    sweep_and_report(toy_sweep(), tmp_path / "whole")
    sweep_and_report(toy_sweep(), tmp_path / "stopped", fail_at_two_workers, fail_fast=True)
    assert not any((tmp_path / "stopped" / name).exists() for name in REPORT)
    sweep_and_report(toy_sweep(), tmp_path / "stopped")
    assert left(tmp_path / "stopped") == left(tmp_path / "whole")


def test_a_report_that_was_lost_or_not_written_comes_back(tmp_path: Path) -> None:
    sweep_and_report(toy_sweep(), tmp_path)
    before = left(tmp_path)
    for name in REPORT:
        (tmp_path / name).unlink()
    sweep_and_report(toy_sweep(), tmp_path)
    assert left(tmp_path) == before


def test_a_file_of_the_user_is_kept_and_named_before_anything_runs(tmp_path: Path) -> None:
    sweep_and_report(toy_sweep(), tmp_path)
    (tmp_path / ANSWERS).write_text("mine")
    with pytest.raises(InputError, match=f"{ANSWERS}: was changed after `numasim sweep` wrote it"):
        sweep_and_report(toy_sweep(repeat=3), tmp_path, fail_at_two_workers)
    assert (tmp_path / ANSWERS).read_text() == "mine"


def test_a_sweep_of_failures_alone_leaves_a_report(tmp_path: Path) -> None:
    sweep_and_report(toy_sweep(workers=(2,)), tmp_path, fail_at_two_workers)
    assert (tmp_path / ANSWERS).read_text().count("\n") > 1


def test_an_interrupt_of_the_report_says_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reported_sweep_module, "leave_report", interrupt)
    with pytest.raises(KeyboardInterrupt) as interrupted:
        sweep_and_report(toy_sweep(), tmp_path)
    assert str(Interrupted(interrupted.value)) == (
        f"interrupted: all runs are kept in {tmp_path}; the same command writes the report"
    )
