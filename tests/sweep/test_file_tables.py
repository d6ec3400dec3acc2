"""The described tables are the tables of a sweep, a run, a reproduction and a validation."""

from __future__ import annotations

from pathlib import Path

import numasim as ns
from numasim.cli.file_tables import FILE_TABLES
from numasim.reproduce.csv_files import CELL_COLUMNS, SCORE_COLUMNS
from numasim.validate.comparison_tables import COLUMNS

NAMES = {table.name: [column.name for column in table.columns] for table in FILE_TABLES}
SPEC = {
    "machine": "xeon-e5-2620-2s",
    "workload": {"name": "random-fork-join", "tasks": 20, "low_ns": 500, "high_ns": 5000, "task_bytes": 4096},
    "strategy": "topology-aware",
    "workers": 4,
}


def test_a_sweep_leaves_the_described_tables(tmp_path: Path) -> None:
    done = ns.sweep({**SPEC, "sweep": {"strategy": ["randomized", "topology-aware"]}}, tmp_path / "results", jobs=1)
    assert list(done.to_frame()) == NAMES["results"]
    assert list(done.workers()) == NAMES["workers"]
    assert list(done.node_pairs()) == NAMES["node_pairs"]
    assert list(done.timing()) == NAMES["timing"]


def test_a_run_over_time_has_the_described_tables() -> None:
    result = ns.run({**SPEC, "strategy": "affinity-locks"}, over_time=True)
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


def test_every_column_of_every_table_has_a_meaning() -> None:
    assert [column.name for table in FILE_TABLES for column in table.columns if not column.meaning.endswith(".")] == []
