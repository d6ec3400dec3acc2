"""The table of iterations of a sweep: its runs and columns, also of a sweep that was extended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numasim as ns
from numasim.report.sweep_result import SweepResult
from numasim.sweep.store.parquet import ITERATIONS_TABLE
from numasim.sweep.store.results_store import ITERATIONS

LOOPS: dict[str, Any] = {"name": "heat", "x": 64, "y": 16, "sweeps": 6}
ONCE: dict[str, Any] = {"name": "fib", "n": 5}
SWEEP: dict[str, Any] = {
    "machine": "opteron-8380-4s",
    "workers": 4,
    "strategy": "randomized",
    "repeat": 2,
    "workload": LOOPS,
}


def swept(folder: Path, **changes: Any) -> SweepResult:
    return ns.sweep({**SWEEP, **changes}, folder, jobs=1, progress=False)


def test_rows_are_those_of_the_runs_that_loop(tmp_path: Path) -> None:
    result = swept(tmp_path, sweep={"workload": [LOOPS, ONCE]})
    rows, frame = result.iterations(), result.to_frame()
    assert list(rows.columns) == ITERATIONS_TABLE.names
    looping = frame[frame["workload"] == "heat"]
    assert list(dict.fromkeys(rows["run_id"])) == list(looping["run_id"])
    for run_id, of_run in rows.groupby("run_id"):
        (run,) = looping[looping["run_id"] == run_id].to_dict("records")
        assert len(of_run) == LOOPS["sweeps"]
        assert (int(of_run["tasks"].sum()), int(of_run["time_ps"].sum())) == (run["tasks"], run["makespan_ps"])
        assert set(of_run["name"]) == {"a to b", "b to a"}
    page = (tmp_path / "index.html").read_text()
    assert 'id="iterations-chart-data"' in page


def test_without_loops_the_table_is_empty_and_the_page_has_one_plot(tmp_path: Path) -> None:
    rows = swept(tmp_path, workload=ONCE).iterations()
    assert (len(rows), list(rows.columns)) == (0, ITERATIONS_TABLE.names)
    assert 'id="iterations-chart-data"' not in (tmp_path / "index.html").read_text()


def test_a_sweep_that_is_extended_has_the_bytes_of_one_that_ran_at_once(tmp_path: Path) -> None:
    axes = {"strategy": ["randomized", "cilk"]}
    swept(tmp_path / "halves", sweep={"strategy": ["randomized"]})
    swept(tmp_path / "halves", sweep=axes)
    swept(tmp_path / "whole", sweep=axes)
    halves, whole = ((tmp_path / name / ITERATIONS).read_bytes() for name in ("halves", "whole"))
    assert halves == whole


def test_results_of_a_version_without_iterations_have_none(tmp_path: Path) -> None:
    result = swept(tmp_path)
    (tmp_path / ITERATIONS).unlink()
    assert (len(result.iterations()), list(result.iterations().columns)) == (0, ITERATIONS_TABLE.names)
