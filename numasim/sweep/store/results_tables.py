"""The tables of a results directory, made from its shards: the same rows always give the same bytes.

results.parquet      a row for each cell and repeat: the columns of a result, the assumed fields of the machine, the
                     sweep axes, the error; recorded programs add the columns of `numasim.sweep.axis_columns`
workers.parquet      a row for each run and worker
node_pairs.parquet   a row for each run, thief's (or accessing) node and victim's (or home) node
iterations.parquet   a row for each run of a phase, of the runs that have more than one
timing.parquet       the engine's wall-clock time of each run, separate because it differs between machines
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from numasim.engine.assumed_values import APART, assumed_fields
from numasim.engine.assumed_values import COLUMN as ASSUMED
from numasim.engine.result import COLUMNS, column_place
from numasim.sweep.axis_columns import axis_column, named_column, recording_columns
from numasim.sweep.planned_runs import PlannedRow
from numasim.sweep.store.parquet import ITERATIONS_TABLE, RUN, column_type, read_shards, table_bytes
from numasim.sweep.store.results_store import ITERATIONS, NODE_PAIRS, RESULTS, TIMING, WORKERS, Store

PAIRS = "node_pairs"  # the nested table of pairs of nodes
NAMED = ("machine", "workload", "strategy")


def write_tables(store: Store, rows: Sequence[PlannedRow], axes: Sequence[str], spec_hash: str) -> None:
    """Write all tables of ``rows``, the results table last. Every row has a run in ``store``."""
    # Listed once: a worker of a killed sweep may still write a shard.
    shards = store.shard_paths()
    runs = read_shards(shards, RUN.names)
    chosen = rows_of_runs(runs)
    once = [chosen[run_id] for run_id in dict.fromkeys(row.run.run_id for row in rows)]
    by_row = runs.take([chosen[row.run.run_id] for row in rows])
    iterations = _long_table(shards, "iterations", once)
    tables = {
        WORKERS: _long_table(shards, "workers", once),
        NODE_PAIRS: _long_table(shards, PAIRS, once),
        ITERATIONS: iterations.select(ITERATIONS_TABLE.names) if len(iterations) else ITERATIONS_TABLE.empty_table(),
        TIMING: runs.select(["run_id", "engine_s"]).take(once),
        RESULTS: results_table(by_row, rows, axes, spec_hash),
    }
    store.folder.write({name: table_bytes(table) for name, table in tables.items()})


def results_table(runs: pa.Table, rows: Sequence[PlannedRow], axes: Sequence[str], spec_hash: str) -> pa.Table:
    """Return the results table; ``runs`` has the run of every row, in the same order."""
    names = {part: named_column(rows, part) for part in NAMED}
    identity = {
        "spec_hash": [spec_hash] * len(rows),
        "seed": [row.cell.spec.seed for row in rows],
        "repeat": [row.repeat for row in rows],
        "workers": [row.cell.spec.workers for row in rows],
        **names,
    }
    columns = {
        name: pa.array(identity[name], column_type(name)) if name in identity else runs[name] for name in COLUMNS
    }
    fields = {id(row.cell): APART.join(assumed_fields(row.cell.spec)) for row in rows}
    columns[ASSUMED] = pa.array([fields[id(row.cell)] for row in rows], pa.string())
    columns |= {name: axis_column(rows, name) for name in axes if name not in COLUMNS}
    columns |= recording_columns(rows, names["workload"])
    return pa.table({**columns, "error": runs["error"]})


def rows_of_runs(runs: pa.Table) -> dict[str, int]:
    """Return one row for each run: the first row without an error, or else the last row."""
    chosen: dict[str, int] = {}
    finished: set[str] = set()
    pairs = zip(runs["run_id"].to_pylist(), runs["error"].to_pylist(), strict=True)
    for row, (run_id, error) in enumerate(pairs):
        if run_id not in finished:
            chosen[run_id] = row
        if error is None:
            finished.add(run_id)
    return chosen


def _long_table(shards: list[Path], name: str, indices: list[int]) -> pa.Table:
    """Return the nested table ``name`` of the runs at ``indices`` as rows, each behind its run_id."""
    table = read_shards(shards, ["run_id", name]).take(indices)
    if name not in table.column_names:
        return table.slice(0, 0)
    lists = pa.concat_arrays(table[name].chunks)
    owner = table["run_id"].take(pc.list_parent_indices(lists))
    rows = lists.flatten()
    fields = sorted((field.name for field in rows.type), key=column_place)
    return pa.table({"run_id": owner, **{field: pc.struct_field(rows, field) for field in fields}})
