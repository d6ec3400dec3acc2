"""Arrow tables of runs, and Parquet bytes that depend only on the rows.

One run is one row: its counters, and its per-worker and node-pair tables as nested lists, so that a run is stored
completely or not at all. Counters are the columns of `numasim.engine.result.COLUMNS`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from typing import Any, BinaryIO

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


def column_type(name: str) -> pa.DataType:
    """Return the Arrow type of a column of the results table."""
    if name in TEXT:
        return pa.string()
    if name in RATIOS:
        return pa.float64()
    return pa.uint64() if name == "seed" else pa.int64()  # a seed has 64 bits and no sign


ITERATIONS_TABLE = pa.schema(
    [("run_id", pa.string()), *((name, pa.string() if name == "name" else pa.int64()) for name in ITERATION_COLUMNS)]
)
RUN = pa.schema(
    [("run_id", pa.string()), ("engine", pa.string()), ("error", pa.string()), ("engine_s", pa.float64())]
    + [(name, column_type(name)) for name in COUNTERS]
)


# ---- Runs as rows ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EndedRun:
    """The row of one run, and the run's nested tables by name, with columns of equal length; none for a failed run."""

    row: dict[str, Any]
    nested: dict[str, Columns] = field(default_factory=dict)


def finished(run_id: str, engine: str, result: Result, workers: int) -> EndedRun:
    """Record a run that succeeded; ``workers`` is the number of workers without producers.

    Raises OverflowError for a counter of more than 64 bits.
    """
    counters = result.row_of({"workers": workers})
    array("q", [value for value in counters.values() if isinstance(value, int)])  # refuses values that fit no column
    row = {**counters, "run_id": run_id, "engine": engine, "engine_s": result.engine_s}
    nested = {"workers": worker_columns(result), "node_pairs": node_pair_columns(result)}
    if result.phases_run > 1:
        names = np.array(result.phase_names, np.str_)[result.phase_rows["phase"]]
        columns = {"name": names} | dict(result.phase_rows)
        nested["iterations"] = {name: columns[name] for name in ITERATION_COLUMNS}
    return EndedRun(row, nested)


def failed(run_id: str, engine: str, message: str) -> EndedRun:
    """Record a run that ended with an error: the message of the error and no counters."""
    return EndedRun({"run_id": run_id, "engine": engine, "error": message})


def rows_of(runs: Sequence[EndedRun]) -> pa.Table:
    """Return a table with one row for each run, in order."""

    def shape(run: EndedRun) -> list[tuple[str, str, str]]:
        """Return the names and kinds of all nested columns, which are equal for runs in one table."""
        return [
            (table, name, each.dtype.kind) for table, columns in run.nested.items() for name, each in columns.items()
        ]

    tables = []
    for _, group in groupby(runs, key=shape):
        like = list(group)
        table = pa.Table.from_pylist([run.row for run in like], schema=RUN)
        for name in like[0].nested:
            table = table.append_column(name, _lists([run.nested[name] for run in like]))
        tables.append(table)
    return together(tables)


def together(tables: list[pa.Table]) -> pa.Table:
    """Return the rows of all ``tables``; columns that a table lacks are null."""
    return pa.concat_tables(tables, promote_options="permissive") if tables else RUN.empty_table()


def _lists(tables: Sequence[Columns]) -> pa.ListArray:
    """Return a list array with one list of structs for each of ``tables``, which have the same columns."""
    lengths = [len(next(iter(columns.values()))) for columns in tables]
    arrays = []
    for name in tables[0]:
        values = np.concatenate([columns[name] for columns in tables])
        kind = {"f": pa.float64(), "i": pa.int64(), "u": pa.int64()}.get(values.dtype.kind, pa.string())
        arrays.append(pa.array(values.tolist() if kind == pa.string() else values, kind))
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(arrays, names=list(tables[0])))


# ---- Parquet ---------------------------------------------------------------------------------------------------------

MOST_VALUES = 2**23  # most values of a row group: 64 MB in memory, and some 100,000 rows of the results table


def write_table(file: BinaryIO, tables: Iterable[pa.Table]) -> None:
    """Write a table of results as Parquet for users: small, with statistics of the columns.

    ``tables`` are the rows in parts that have one schema. The division into parts changes no byte of the file.
    """
    _write(file, _row_groups(tables), compression="zstd", compression_level=3, write_statistics=True)


def shard_bytes(table: pa.Table) -> bytes:
    """Return the rows of a batch as Parquet, without Zstandard, which would be slow for columns of few values."""
    sink = pa.BufferOutputStream()
    _write(sink, [table], compression="snappy", write_statistics=False)
    return bytes(sink.getvalue())


def _row_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the rows of ``tables`` in row groups of `MOST_VALUES` values, and the rest as the last row group."""
    rest = iter(tables)
    held = next(rest)
    rows = max(1, MOST_VALUES // held.num_columns)
    for table in chain(rest, [held.slice(0, 0)]):
        while len(held) > rows:
            yield held.slice(0, rows)
            held = held.slice(rows)
        held = pa.concat_tables([held, table])
    yield held


def _write(sink: Any, groups: Iterable[pa.Table], **options: Any) -> None:
    """Write each of ``groups`` as one row group. Every setting is fixed, so that equal rows give equal bytes."""
    plain = (group.replace_schema_metadata(None).combine_chunks() for group in groups)
    first = next(plain)
    fixed = {"version": "2.6", "data_page_version": "1.0", "use_dictionary": True, "store_schema": False}
    with pq.ParquetWriter(sink, first.schema, **fixed, **options) as writer:
        for group in chain([first], plain):
            writer.write_table(group, row_group_size=max(1, len(group)))


def unreadable_table(path: Path, error: Exception, expected: str) -> InputError:
    """Return the error for a table that cannot be read.

    An error of the system is given in the system's words. Other tables are damaged; ``expected`` names the remedy.
    """
    if isinstance(error, OSError) and error.errno is not None:
        return cannot_be_read(path, error)
    return InputError("is damaged or not a Parquet file", place=str(path), expected=expected)
