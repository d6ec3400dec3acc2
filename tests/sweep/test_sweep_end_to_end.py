"""Sweeps from YAML to tables, with real engines: rows, iterations, described columns, and the order of runs."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import numasim as ns
from numasim.draws import repeat_seed
from numasim.engine.simulate import simulate_spec
from numasim.plan.build_plan import build_plan
from numasim.report.sweep_result import SweepResult
from numasim.reproduce.csv_files import CELL_COLUMNS, SCORE_COLUMNS
from numasim.spec.sweep_spec import load_sweep
from numasim.sweep.planned_runs import by_plan, plan_runs
from numasim.sweep.run_sweep import run_sweep
from numasim.sweep.store.parquet import ITERATIONS_TABLE
from numasim.sweep.store.results_store import ITERATIONS
from numasim.validate.comparison_tables import COLUMNS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "_extensions"))

from file_tables import FILE_TABLES

YAML = """
machine: xeon-e5-2620-2s
workload: {name: fib, n: 6}
strategy: randomized
workers: 2
seed: 3
repeat: 2
sweep:
  strategy: [randomized, topology-aware]
  workload.n: [5, 6]
"""


def test_each_row_is_what_the_engine_says_of_its_cell(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(YAML)
    sweep, how = load_sweep(tmp_path / "sweep.yaml"), {"progress": False, "check": True}
    run_sweep(sweep, tmp_path / "results", jobs=2, engine="reference", runner=simulate_spec, **how)
    frame = SweepResult(tmp_path / "results").to_frame()
    assert frame["error"].isna().all()
    assert frame["workload.n"].tolist() == [5, 5, 6, 6] * 2
    assert frame["strategy"].tolist() == ["randomized"] * 4 + ["topology-aware"] * 4
    expected = [
        simulate_spec(cell.spec, repeat_seed(3, repeat), "reference").counters["trace_hash"]
        for cell in sweep.cells
        for repeat in range(2)
    ]
    assert frame["trace_hash"].tolist() == expected


# ---- iterations ----

LOOPS: dict[str, Any] = {"name": "heat", "x": 64, "y": 16, "sweeps": 6}
ONCE: dict[str, Any] = {"name": "fib", "n": 5}
LOOPING: dict[str, Any] = {
    "machine": "opteron-8380-4s",
    "workers": 4,
    "strategy": "randomized",
    "repeat": 2,
    "workload": LOOPS,
}


def swept(folder: Path, **changes: Any) -> SweepResult:
    return ns.sweep({**LOOPING, **changes}, folder, jobs=1, progress=False)


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


# ---- described tables ----

NAMES = {table.name: [column.name for column in table.columns] for table in FILE_TABLES}
CELL = {
    "machine": "xeon-e5-2620-2s",
    "workload": {"name": "random-fork-join", "tasks": 20, "low_ns": 500, "high_ns": 5000, "task_bytes": 4096},
    "strategy": "topology-aware",
    "workers": 4,
}


def test_a_sweep_leaves_the_described_tables(tmp_path: Path) -> None:
    done = ns.sweep({**CELL, "sweep": {"strategy": ["randomized", "topology-aware"]}}, tmp_path / "results", jobs=1)
    assert list(done.to_frame()) == NAMES["results"]
    assert list(done.workers()) == NAMES["workers"]
    assert list(done.node_pairs()) == NAMES["node_pairs"]
    assert list(done.timing()) == NAMES["timing"]


def test_a_run_over_time_has_the_described_tables() -> None:
    result = ns.run({**CELL, "strategy": "affinity-locks"}, over_time=True)
    assert result.over_time is not None
    assert list(result.sync_objects) == NAMES["synchronisation objects"]
    assert list(result.over_time.workers_frame()) == NAMES["workers over time"]
    assert list(result.over_time.queue_length_frame()) == NAMES["queue lengths over time"]
    assert list(result.over_time.resource_load_frame()) == NAMES["loads over time"]
    assert list(result.over_time.steals_frame()) == NAMES["steals over time"]


def test_reproductions_and_validations_leave_the_described_tables() -> None:
    assert list(SCORE_COLUMNS) == NAMES["scores of a reproduction"]
    assert list(CELL_COLUMNS) == NAMES["cells of a reproduction"]
    assert list(COLUMNS) == NAMES["validation"]


# ---- the order of runs ----

SEEDS_OUTSIDE = """
machine: xeon-e5-2620-2s
workload: {name: fib, n: 5}
runtime: bare
workers: 4
repeat: 2
sweep:
  seed: [1, 2, 3]
  workers: [2, 3]
  strategy: [randomized, ring]
"""


def test_the_runs_of_one_plan_follow_each_other_and_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SEEDS_OUTSIDE)
    runs = plan_runs(load_sweep(tmp_path / "sweep.yaml"))
    ordered = by_plan(runs)
    assert sorted(run.run_id for run in ordered) == sorted(run.run_id for run in runs)
    assert [len(list(of_one)) for _, of_one in groupby(ordered, lambda run: id(build_plan(run.spec)))] == [6] * 4
    assert [run.spec.workers for run in ordered] == [2] * 12 + [3] * 12
    first = [run.run_id for run in ordered[:6]]
    assert first == [run.run_id for run in runs if run.run_id in first]
