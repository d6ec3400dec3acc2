"""Arrow tables of runs, and Parquet bytes that depend on the rows alone.

One run is one row: its counters, and its per-worker and node-pair tables as nested lists, so that a run is stored
completely or not at all. Counters are those of `numasim.engine.result.COLUMNS`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from numasim.engine.phase_rows import COLUMNS as PHASE_COLUMNS
from numasim.engine.result import COLUMNS, IDENTITY, RATIOS, TEXT, Result, node_pair_columns, worker_columns
from numasim.errors import InputError
from numasim.files.writer import cannot_be_read

Columns = dict[str, npt.NDArray[Any]]
ITERATION_COLUMNS = ("phase", "name", *(name for name in PHASE_COLUMNS if name != "phase"))
COUNTERS = COLUMNS[len(IDENTITY) :]
UNSIGNED = frozenset({"seed"})  # a seed has 64 bits and no sign


def column_type(name: str) -> pa.DataType:
    """Return the Arrow type of a column of the results table."""
    if name in TEXT:
        return pa.string()
    if name in RATIOS:
        return pa.float64()
    return pa.uint64() if name in UNSIGNED else pa.int64()


ITERATIONS_TABLE = pa.schema(
    [("run_id", pa.string()), *((name, pa.string() if name == "name" else pa.int64()) for name in ITERATION_COLUMNS)]
)
RUN = pa.schema(
    [("run_id", pa.string()), ("engine", pa.string()), ("error", pa.string()), ("engine_s", pa.float64())]
    + [(name, column_type(name)) for name in COUNTERS]
)


@dataclass(frozen=True)
class EndedRun:
    """The row of one run, and its nested tables by name, columns of equal length each; a failed run has none."""

    row: dict[str, Any]
    nested: dict[str, Columns] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The common property of runs in one table: the names and kinds of all nested columns."""
        return tuple(
            (table, name, values.dtype.kind)
            for table, columns in self.nested.items()
            for name, values in columns.items()
        )


def finished(run_id: str, engine: str, result: Result, workers: int) -> EndedRun:
    """Record a run that succeeded; ``workers`` is the number of workers without producers.

    Raises OverflowError for a counter of more than 64 bits.
    """
    counters = result.row_of({"workers": workers})
    array("q", [value for value in counters.values() if isinstance(value, int)])  # refuses values that fit no column
    row = {**counters, "run_id": run_id, "engine": engine, "engine_s": result.engine_s}
    nested = {"workers": worker_columns(result), "node_pairs": node_pair_columns(result)}
    if result.phases_run > 1:
        nested["iterations"] = _iteration_columns(result)
    return EndedRun(row, nested)


def failed(run_id: str, engine: str, message: str) -> EndedRun:
    """Record a run that ended with an error: its message and no counters."""
    return EndedRun({"run_id": run_id, "engine": engine, "error": message})


def rows_of(runs: Sequence[EndedRun]) -> pa.Table:
    """Make one row of each run, in order."""
    return together([_rows_of_like(list(like)) for _, like in groupby(runs, key=lambda run: run.shape)])


def _rows_of_like(runs: Sequence[EndedRun]) -> pa.Table:
    table = pa.Table.from_pylist([run.row for run in runs], schema=RUN)
    for name in runs[0].nested:
        table = table.append_column(name, _lists([run.nested[name] for run in runs]))
    return table


def together(tables: list[pa.Table]) -> pa.Table:
    """Join the rows of all ``tables``; columns that a table lacks are null."""
    return pa.concat_tables(tables, promote_options="permissive") if tables else RUN.empty_table()


def table_bytes(table: pa.Table) -> bytes:
    """A table of results for its readers: small, with statistics of its columns."""
    return _parquet(table, compression="zstd", compression_level=3, write_statistics=True)


def shard_bytes(table: pa.Table) -> bytes:
    """The rows of a batch for this package alone: Zstandard takes several times as long for a column of few values."""
    return _parquet(table, compression="snappy", write_statistics=False)


def _parquet(table: pa.Table, **options: Any) -> bytes:
    """``table`` as one row group. Every setting is fixed, so that equal rows give equal bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata(None),
        sink,
        version="2.6",
        data_page_version="1.0",
        use_dictionary=True,
        store_schema=False,
        row_group_size=max(1, table.num_rows),
        **options,
    )
    return bytes(sink.getvalue())


def unreadable_table(path: Path, error: Exception, expected: str) -> InputError:
    """The error for a table that was not read: in the system's words if it has a number of its own; else it is damaged,
    and something else is ``expected``.
    """
    if isinstance(error, OSError) and error.errno is not None:
        return cannot_be_read(path, error)
    return InputError("is damaged or not a Parquet file", place=str(path), expected=expected)


def _iteration_columns(result: Result) -> Columns:
    """The values of each run of a phase, with its name behind its number."""
    names = np.array(result.phase_names, np.str_)[result.phase_rows["phase"]]
    return {name: names if name == "name" else result.phase_rows[name] for name in ITERATION_COLUMNS}


def _lists(tables: Sequence[Columns]) -> pa.ListArray:
    """Make a list array with one list of structs for each of ``tables``, which have the same columns."""
    lengths = [len(next(iter(columns.values()))) for columns in tables]
    arrays = [_array(np.concatenate([columns[name] for columns in tables])) for name in tables[0]]
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(arrays, names=list(tables[0])))


def _array(values: npt.NDArray[Any]) -> pa.Array:
    if values.dtype.kind in "iu":
        return pa.array(values, pa.int64())
    return pa.array(values.tolist(), pa.float64() if values.dtype.kind == "f" else pa.string())
