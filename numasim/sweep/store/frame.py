"""Results as pandas DataFrames."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from numasim.engine.result import COLUMNS
from numasim.errors import InputError
from numasim.files.reader import TABLE, is_there, open_regular
from numasim.files.writer import reading_errors
from numasim.sweep.store.parquet import unreadable_table
from numasim.sweep.store.results_store import RESULTS, require_unchanged

if TYPE_CHECKING:
    import pandas as pd


def load(path: str | Path) -> pd.DataFrame:
    """Return the results table of a results directory, or of a file with such a table.

    Integers stay integers: a column with nulls, such as a counter of failed runs, has pandas' ``Int64``. Raises
    `InputError` if there is no such table, if the table is damaged, or if the sweep wrote another table.
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
