"""A sweep of toy runs: the rows of its tables, resumed and failing sweeps, and the number of processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from toy_sweep import (
    Part,
    counter_value,
    die_at_two_workers,
    divide_by_zero_at_two_workers,
    fail_at_two_workers,
    refuse,
    run_toy,
    sweep_toy,
    toy_spec,
    toy_sweep,
)

from numasim.draws import repeat_seed
from numasim.engine.result import COLUMNS, RATIOS, TEXT
from numasim.errors import InputError
from numasim.spec.sweep_spec import Cell
from numasim.sweep import batch
from numasim.sweep.batch import DIED
from numasim.sweep.store.parquet import failed, rows_of, shard_bytes
from numasim.sweep.store.results_store import SHARDS
from numasim.sweep.store.results_tables import NODE_PAIRS, RESULTS, TIMING, WORKERS
from numasim.sweep.store.shards import write_shard

TABLES = (RESULTS, WORKERS, NODE_PAIRS)


def same_tables(one: Path, other: Path) -> bool:
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in TABLES)


def test_every_cell_and_repeat_has_a_row_in_order_with_its_own_counters(tmp_path: Path) -> None:
    outcome = sweep_toy(toy_sweep(), tmp_path)
    assert (outcome.rows, outcome.executed, outcome.failures, outcome.complete) == (12, 12, {}, True)
    table = pq.read_table(tmp_path / RESULTS)
    rows = table.select(["strategy", "workers", "repeat", "makespan_ps", "trace_hash"]).to_pylist()
    expected = [
        {
            "strategy": strategy,
            "workers": workers,
            "repeat": repeat,
            "makespan_ps": counter_value(repeat_seed(7, repeat), "makespan_ps", workers),
            "trace_hash": f"{repeat_seed(7, repeat):016x}",
        }
        for strategy in "ab"
        for workers in (1, 2, 3)
        for repeat in (0, 1)
    ]
    assert rows == expected


def test_the_schema_is_that_of_a_result_with_nothing_of_pandas(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(), tmp_path)
    file = pq.ParquetFile(tmp_path / RESULTS)
    schema = file.schema_arrow
    assert tuple(schema.names) == (*COLUMNS, "assumed", "error")
    assert schema.metadata is None
    assert file.num_row_groups == 1
    for name in COLUMNS:
        kind = "string" if name in TEXT else "double" if name in RATIOS else "uint64" if name == "seed" else "int64"
        assert str(schema.field(name).type) == kind, name


def test_an_axis_that_is_no_column_of_a_result_gets_its_own(tmp_path: Path) -> None:
    sweep = toy_sweep(workers=(1, 2), strategies=("a",), repeat=1)
    cells = [replace(cell, axes={"workload.n": 2**cell.index}) for cell in sweep.cells]
    sweep_toy(replace(sweep, cells=cells, axes=("workload.n",)), tmp_path)
    table = pq.read_table(tmp_path / RESULTS)
    assert table.column_names[-2:] == ["workload.n", "error"]
    assert table["workload.n"].to_pylist() == [1, 2]


def test_the_largest_seed_is_kept(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(seed=2**64 - 1), tmp_path)
    assert set(pq.read_table(tmp_path / RESULTS)["seed"].to_pylist()) == {2**64 - 1}


def test_the_number_of_processes_changes_no_byte(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(repeat=9), tmp_path / "one")
    sweep_toy(toy_sweep(repeat=9), tmp_path / "many", jobs=2)
    assert len(list((tmp_path / "many" / SHARDS).iterdir())) > 2
    assert same_tables(tmp_path / "one", tmp_path / "many")


def test_more_repeats_and_more_cells_extend_and_end_like_one_sweep(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(workers=(3,), repeat=2), tmp_path / "grown")
    outcome = sweep_toy(toy_sweep(workers=(2, 3), repeat=3), tmp_path / "grown")
    assert outcome.executed == 2 * 2 * 3 - 2 * 1 * 2
    sweep_toy(toy_sweep(workers=(2, 3), repeat=3), tmp_path / "whole")
    assert same_tables(tmp_path / "grown", tmp_path / "whole")


def test_fewer_cells_leave_fewer_rows_and_keep_the_runs(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(), tmp_path)
    assert sweep_toy(toy_sweep(workers=(2,)), tmp_path, refuse).rows == 4
    assert pq.read_table(tmp_path / RESULTS).num_rows == 4
    assert sweep_toy(toy_sweep(), tmp_path, refuse).rows == 12


def test_equal_cells_share_a_run_and_each_has_its_row(tmp_path: Path) -> None:
    sweep = toy_sweep(workers=(2,), strategies=("a",))
    twice = replace(sweep, cells=[*sweep.cells, replace(sweep.cells[0], index=1)])
    outcome = sweep_toy(twice, tmp_path)
    assert (outcome.rows, outcome.executed) == (4, 2)
    assert pq.read_table(tmp_path / WORKERS).num_rows == 2 * 2


def test_the_long_tables_have_a_row_for_each_worker_and_node_pair(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(workers=(3,), strategies=("a",), repeat=2), tmp_path)
    runs = pq.read_table(tmp_path / RESULTS)["run_id"].to_pylist()
    seeds = [repeat_seed(7, repeat) for repeat in (0, 1)]
    assert pq.read_table(tmp_path / WORKERS).to_pylist() == [
        {"run_id": run, "worker": worker, "node": worker % 2, "work_local_ps": 1000 * worker + seed % 1000}
        for run, seed in zip(runs, seeds, strict=True)
        for worker in range(3)
    ]
    assert pq.read_table(tmp_path / NODE_PAIRS).to_pylist() == [
        {
            "run_id": run,
            "node_from": thief,
            "node_to": victim,
            "steal_attempts": seed % 97,
            "steal_success": seed % 89,
            "conflicts": seed % 79,
            "bytes": 2 * thief + victim + 3,
        }
        for run, seed in zip(runs, seeds, strict=True)
        for thief in (0, 1)
        for victim in (0, 1)
    ]
    assert pq.read_table(tmp_path / TIMING)["run_id"].to_pylist() == runs


@pytest.mark.parametrize(
    ("runner", "message", "jobs"),
    [
        (fail_at_two_workers, "workers: two is too many", 1),
        (divide_by_zero_at_two_workers, "ZeroDivisionError: integer division or modulo by zero", 1),
        (die_at_two_workers, DIED, 2),
    ],
)
def test_a_failed_run_has_its_message_and_the_others_their_results(
    tmp_path: Path, runner: object, message: str, jobs: int
) -> None:
    outcome = sweep_toy(toy_sweep(strategies=("a",)), tmp_path, runner, jobs)  # type: ignore[arg-type]
    rows = pq.read_table(tmp_path / RESULTS).to_pylist()
    failed = [row for row in rows if row["workers"] == 2]
    assert outcome.complete
    assert outcome.failures == {row["run_id"]: message for row in failed}
    assert {row["error"] for row in failed} == {message}
    assert {row["makespan_ps"] for row in failed} == {None}
    assert all(row["error"] is None and row["tasks"] is not None for row in rows if row["workers"] != 2)
    assert set(pq.read_table(tmp_path / WORKERS)["run_id"].to_pylist()).isdisjoint(outcome.failures)


def test_failed_runs_alone_are_tried_again_and_their_success_counts(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(), tmp_path / "mended", fail_at_two_workers)
    outcome = sweep_toy(toy_sweep(), tmp_path / "mended")
    assert outcome.executed == 4
    sweep_toy(toy_sweep(), tmp_path / "whole")
    assert same_tables(tmp_path / "mended", tmp_path / "whole")


def test_of_two_failures_the_later_message_stays(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(workers=(2,)), tmp_path, fail_at_two_workers)
    sweep_toy(toy_sweep(workers=(2,)), tmp_path, divide_by_zero_at_two_workers)
    errors = set(pq.read_table(tmp_path / RESULTS)["error"].to_pylist())
    assert errors == {"ZeroDivisionError: integer division or modulo by zero"}


def test_a_failure_after_a_success_counts_for_nothing(tmp_path: Path) -> None:
    sweep_toy(toy_sweep(), tmp_path)
    before = (tmp_path / RESULTS).read_bytes()
    run_id = pq.read_table(tmp_path / RESULTS)["run_id"][0].as_py()
    write_shard(tmp_path / SHARDS, 10**6, shard_bytes(rows_of([failed(run_id, "reference", "too late")])))
    assert sweep_toy(toy_sweep(), tmp_path, refuse).executed == 0
    assert (tmp_path / RESULTS).read_bytes() == before


@pytest.mark.parametrize("jobs", [1, 2])
def test_fail_fast_ends_at_the_first_failure_and_can_be_resumed(tmp_path: Path, jobs: int) -> None:
    sweep = toy_sweep(repeat=20)
    outcome = sweep_toy(sweep, tmp_path / "stopped", fail_at_two_workers, jobs, fail_fast=True)
    assert outcome.failures
    assert not outcome.complete
    assert not (tmp_path / "stopped" / RESULTS).exists()
    assert sweep_toy(sweep, tmp_path / "stopped").executed < outcome.rows
    sweep_toy(sweep, tmp_path / "whole")
    assert same_tables(tmp_path / "stopped", tmp_path / "whole")


def test_runs_for_which_a_batch_had_no_time_are_done_by_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "LONGEST_S", 0.0)
    outcome = sweep_toy(toy_sweep(), tmp_path / "hasty")
    assert (outcome.executed, len(list((tmp_path / "hasty" / SHARDS).iterdir()))) == (12, 12)
    sweep_toy(toy_sweep(), tmp_path / "whole", jobs=2)
    assert same_tables(tmp_path / "hasty", tmp_path / "whole")


@pytest.mark.parametrize("jobs", [0, -1])
def test_jobs_below_one_are_refused_before_anything_is_made(tmp_path: Path, jobs: int) -> None:
    with pytest.raises(InputError, match=f"jobs is {jobs}; expected at least one process"):
        sweep_toy(toy_sweep(), tmp_path / "results", refuse, jobs)
    assert not (tmp_path / "results").exists()


def test_a_counter_beyond_64_bits_fails_its_run_alone(tmp_path: Path) -> None:
    spec = toy_spec(2).model_copy(update={"strategy": Part(name="huge", kind=1)})
    sweep = toy_sweep(strategies=("a",), repeat=1)
    cells = [*sweep.cells, Cell(3, {}, spec)]
    outcome = sweep_toy(replace(sweep, cells=cells), tmp_path, overflow_where_huge)
    (message,) = outcome.failures.values()
    assert "OverflowError" in message


def overflow_where_huge(spec, seed, engine, check):  # type: ignore[no-untyped-def]
    result = run_toy(spec, seed, engine, check)
    if spec.strategy.name == "huge":
        result.counters["work_ps"] = 2**63
    return result
