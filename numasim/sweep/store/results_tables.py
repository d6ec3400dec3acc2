"""The tables of a results directory, made from its shards: the same rows always give the same bytes.

results.parquet      a row for each cell and repeat: the columns of a result, the assumed fields of the machine, the
                     sweep axes, the error; recorded programs add `TIME_FACTOR` and `RECORDING`
workers.parquet      a row for each run and worker
node_pairs.parquet   a row for each run, thief's (or accessing) node and victim's (or home) node
iterations.parquet   a row for each run of a phase, for the runs that have several
timing.parquet       the engine's wall-clock time of each run, separate because it differs between machines
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from numasim.engine.assumed_values import APART, assumed_fields
from numasim.engine.assumed_values import COLUMN as ASSUMED
from numasim.engine.result import COLUMNS, column_place
from numasim.errors import InputError
from numasim.files.reader import TABLE, is_there, open_regular
from numasim.files.writer import reading_errors
from numasim.parts.base import canonical_json
from numasim.parts.yaml.nodes import Held
from numasim.spec.run_spec import recording_of
from numasim.sweep.planned_runs import PlannedRow
from numasim.sweep.store.parquet import ITERATIONS_TABLE, RUN, column_type, read_shards, table_bytes, unreadable_table
from numasim.sweep.store.results_store import ITERATIONS, NODE_PAIRS, RESULTS, TIMING, WORKERS, Store, require_unchanged

if TYPE_CHECKING:
    import pandas as pd

PAIRS = "node_pairs"  # the nested table of pairs of nodes
NAMED = ("machine", "workload", "strategy")


def write_tables(store: Store, rows: Sequence[PlannedRow], axes: Sequence[str], spec_hash: str) -> None:
    """Write all tables of ``rows``, the results table last. Every row has a run in ``store``."""
    # Listed once, because a worker of a killed sweep may still write a shard.
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
    """Return the nested table ``name`` of the runs at ``indices`` as rows that begin with the run_id."""
    table = read_shards(shards, ["run_id", name]).take(indices)
    if name not in table.column_names:
        return table.slice(0, 0)
    lists = pa.concat_arrays(table[name].chunks)
    owner = table["run_id"].take(pc.list_parent_indices(lists))
    rows = lists.flatten()
    fields = sorted((field.name for field in rows.type), key=column_place)
    return pa.table({"run_id": owner, **{field: pc.struct_field(rows, field) for field in fields}})


# ---- Sweep axes as columns: numbers stay numbers, and every other value has a distinct text --------------------------


def axis_column(rows: Sequence[PlannedRow], axis: str) -> pa.Array:
    """Return the column of ``axis``; null for a cell that does not set the axis."""
    values = [row.cell.axes.get(axis) for row in rows]
    given = {type(value) for value in values if value is not None}
    if given <= {bool}:
        return pa.array(values, pa.bool_())
    if given <= {int}:
        return pa.array(values, pa.int64())
    if given <= {int, float, Decimal}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array(labels(values), pa.string())


def named_column(rows: Sequence[PlannedRow], part: str) -> list[str]:
    """Return the name of the machine, workload or strategy (``part``) of each row's cell.

    If several values of the axis ``part`` have one name, such as two variants of a strategy, the column has the labels
    of the values instead, which differ. The column also has the label of a variant without a name of its own, because
    the variant's name is the name of the original.
    """
    values = [row.cell.axes.get(part) for row in rows]
    parts = [getattr(row.cell.spec, part) for row in rows]
    names = [str(each.name) if hasattr(each, "name") else Path(each.file).stem for each in parts]  # a graph in a file
    labelled = labels(values)
    distinct = [name if text is None else text for name, text in zip(names, labelled, strict=True)]
    if len(set(distinct)) > len(set(names)):
        return distinct
    unnamed = [isinstance(value, Mapping) and "like" in value and "name" not in value for value in values]
    return [text if variant else name for variant, name, text in zip(unnamed, names, distinct, strict=True)]


def labels(values: Sequence[Any]) -> list[str | None]:
    """Return axis values as short texts that differ for different values; ``None`` stays.

    A variant with a name of its own has this name, unless another value has the name, too. If several objects have one
    name, a number follows the name from the second object on.
    """
    keys = [canonical_json(value) for value in values]
    named = Counter(_own_name(value) or label(value) for value in dict(zip(keys, values, strict=True)).values())
    of_value: dict[str, str] = {}
    taken: set[str] = set()
    found: list[str | None] = []
    for key, value in zip(keys, values, strict=True):
        if key not in of_value:
            name = _own_name(value)
            text = name if name and named[name] == 1 else label(value)
            others = (f"{text} ({number})" for number in count(2))
            of_value[key] = next(each for each in chain([text], others) if each not in taken)
            taken.add(of_value[key])
        found.append(None if value is None else of_value[key])
    return found


def _own_name(value: Any) -> str | None:
    return str(value["name"]) if isinstance(value, Mapping) and "name" in value and "like" in value else None


def label(value: Any) -> str:
    """Return an axis value as a short text: ``{name: matmul, n: 256}`` is ``matmul n=256``, an object has its name."""
    if isinstance(value, Held):
        return value.name
    if isinstance(value, dict):
        name = [str(value["name"])] if "name" in value else []
        return " ".join(name + [f"{key}={_nested(part)}" for key, part in value.items() if key != "name"])
    if isinstance(value, list | tuple):
        return f"[{', '.join(_nested(part) for part in value)}]"
    return str(value) if isinstance(value, str | Decimal) else json.dumps(value)


def _nested(part: Any) -> str:
    return f"{{{label(part)}}}" if isinstance(part, dict) else label(part)


# ---- Two columns of recorded programs, which tables of other programs lack -------------------------------------------
#
# ``time_factor`` is the factor of compute times on the machine, null if the rate of a core is unknown for the machine
# of the run or of the recording. ``recording`` has sentences about the recording, one on each line.

TIME_FACTOR, RECORDING = "time_factor", "recording"


def recording_columns(rows: Sequence[PlannedRow], workloads: Sequence[str]) -> dict[str, pa.Array]:
    """Return the columns of ``rows``, whose ``workloads`` have these names; no column if no program was recorded."""
    found = {id(row.cell.spec.workload): row.cell.spec.workload for row in rows}
    recordings = {key: recording_of(workload) for key, workload in found.items()}
    by_row = [recordings[id(row.cell.spec.workload)] for row in rows]
    if not any(by_row):
        return {}
    factors = [
        recorded.factor(row.cell.spec.machine.core_steps_per_s or 0) if recorded else None
        for row, recorded in zip(rows, by_row, strict=True)
    ]
    texts = [
        "\n".join(recorded.remarks(name)) if recorded else None
        for name, recorded in zip(workloads, by_row, strict=True)
    ]
    return {TIME_FACTOR: pa.array(factors, pa.float64()), RECORDING: pa.array(texts, pa.string())}


# ---- Tables as pandas DataFrames -------------------------------------------------------------------------------------


def load(path: str | Path) -> pd.DataFrame:
    """Return the results table of a results directory, or of a file with such a table.

    Integers stay integers: a column with nulls, such as a counter of failed runs, has pandas' ``Int64``. Raises
    `InputError` for a missing, a damaged and a changed table.
    """
    path = Path(path)
    file = path / RESULTS if os.path.isdir(path) else path
    table = _read(file)
    if file != path:
        require_unchanged(path, RESULTS)
    absent = [name for name in (*COLUMNS, "error") if name not in table.column_names]
    if absent:
        raise InputError(
            f"is not a results table, it lacks the column {absent[0]}", place=str(file), expected=TABLE.name
        )
    return _frame(table)


def load_table(directory: Path, name: str) -> pd.DataFrame:
    """Return another table of a results directory, such as `WORKERS`. Raises `InputError` as `load` does."""
    table = _read(directory / name)
    require_unchanged(directory, name)
    return _frame(table)


def _read(file: Path) -> pa.Table:
    with reading_errors(file, TABLE.name):
        missing = not is_there(file)
    if missing:
        raise InputError("is missing: no sweep has ended here", place=str(file), expected=TABLE.name)
    try:
        with open_regular(file, TABLE) as content:
            # Arrow's threads are off: a thread that holds a Python file when the process ends aborts the process.
            return pq.ParquetFile(content, pre_buffer=False).read(use_threads=False)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        expected = "a table of a sweep; delete it and run the sweep again, which makes it anew"
        raise unreadable_table(file, error, expected) from error


def _frame(table: pa.Table) -> pd.DataFrame:
    import pandas as pd

    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    columns = {
        name: column.to_pandas(types_mapper=nullable.get if column.null_count else None)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return pd.DataFrame(columns)
