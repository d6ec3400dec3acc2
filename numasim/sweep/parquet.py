"""Arrow tables of runs, and Parquet bytes that depend on the rows alone.

One run is one row: its counters, and as nested lists its per-worker and its node-pair table, so that a run is kept
whole or not at all. Counters are those of `numasim.engine.result.COLUMNS`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from numasim.engine.result import COLUMNS, IDENTITY, RATIOS, TEXT, Result

COUNTERS = COLUMNS[len(IDENTITY) :]
UNSIGNED = frozenset({"seed"})  # a seed has 64 bits and no sign
NODE_PAIR = ("node_from", "node_to", "steal_attempts", "steal_success", "bytes")


def column_type(name: str) -> pa.DataType:
    """Return the Arrow type of a column of the results table."""
    if name in TEXT:
        return pa.string()
    if name in RATIOS:
        return pa.float64()
    return pa.uint64() if name in UNSIGNED else pa.int64()


RUN = pa.schema(
    [("run_id", pa.string()), ("engine", pa.string()), ("error", pa.string()), ("engine_s", pa.float64())]
    + [(name, column_type(name)) for name in COUNTERS]
)


def finished_row(run_id: str, engine: str, result: Result, workers: int) -> pa.Table:
    """Make the row of a run that ended well; ``workers`` is the number of workers, producers left out."""
    counters = replace(result, identity={"workers": workers}).row()
    row = {**counters, "run_id": run_id, "engine": engine, "engine_s": result.engine_s}
    table = pa.Table.from_pylist([row], schema=RUN)
    table = table.append_column("workers", _one_list(_worker_columns(result)))
    return table.append_column("node_pairs", _one_list(_node_pair_columns(result)))


def failed_row(run_id: str, engine: str, message: str) -> pa.Table:
    """Make the row of a run that ended with an error: its message and no counters."""
    return pa.Table.from_pylist([{"run_id": run_id, "engine": engine, "error": message}], schema=RUN)


def together(tables: list[pa.Table]) -> pa.Table:
    """Join the rows of all ``tables``; columns that a table lacks are null."""
    return pa.concat_tables(tables, promote_options="permissive") if tables else RUN.empty_table()


def parquet_bytes(table: pa.Table) -> bytes:
    """``table`` as one row group. Every setting is fixed, so that equal rows give equal bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata(None),
        sink,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=3,
        use_dictionary=True,
        write_statistics=True,
        store_schema=False,
        row_group_size=max(1, table.num_rows),
    )
    return bytes(sink.getvalue())


def _worker_columns(result: Result) -> dict[str, npt.NDArray[Any]]:
    count = len(next(iter(result.workers.values()), ()))
    return {"worker": np.arange(count), **result.workers}


def _node_pair_columns(result: Result) -> dict[str, npt.NDArray[Any]]:
    tables = (result.node_attempts, result.node_success, result.node_bytes)
    thief, victim = np.indices(result.node_bytes.shape)
    return dict(zip(NODE_PAIR, (table.ravel() for table in (thief, victim, *tables)), strict=True))


def _one_list(columns: dict[str, npt.NDArray[Any]]) -> pa.ListArray:
    arrays = [_array(values) for values in columns.values()]
    rows = pa.StructArray.from_arrays(arrays, names=list(columns))
    return pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows)


def _array(values: npt.NDArray[Any]) -> pa.Array:
    if values.dtype.kind in "iu":
        return pa.array(values, pa.int64())
    return pa.array(values.tolist(), pa.float64() if values.dtype.kind == "f" else pa.string())
