"""The results table of a sweep with its counters in the file: a column of counters is read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa

from numasim.engine.assumed_values import COLUMN as ASSUMED
from numasim.sweep.store.parquet import COUNTERS, MOST_VALUES
from numasim.sweep.store.results_tables import RECORDING, frame_of, load, opened, opened_results, results_file, series

ROW = "row of the file"
LONG_TEXTS = ("spec_hash", ASSUMED, RECORDING)  # texts that many runs share


class StoredRuns(pd.DataFrame):
    """A results table, or some of its rows. Columns that are no counters are in memory, as in every DataFrame.

    ``runs["makespan_ps"]`` reads a column of counters from the file, for the rows that the table has. Only a single
    column can be read in this way. ``counters`` are the names of these columns, and ``read`` reads columns of the file.
    """

    _metadata: ClassVar[list[str]] = ["counters", "read"]
    counters: frozenset[str] = frozenset()
    read: Callable[[Sequence[str]], pa.Table]

    @property
    def _constructor(self) -> type[StoredRuns]:
        return StoredRuns

    def __contains__(self, key: object) -> bool:  # type: ignore[misc]  # pandas has it final for type checkers alone
        return super().__contains__(key) or key in self.counters

    def __getitem__(self, key: Any) -> Any:
        """Return a column, or as in every DataFrame some rows or columns."""
        if not isinstance(key, str) or key not in self.counters:
            return super().__getitem__(key)
        column = self.read([key])[key]
        values = series(column.take(pa.array(super().__getitem__(ROW))), has_nulls=column.null_count > 0)
        return pd.Series(values.array, self.index, name=key)


def stored_runs(path: Path) -> pd.DataFrame:
    """Return the results table of a results directory: `StoredRuns` if the table has more than `MOST_VALUES` values.

    Raises `InputError` as `load` does.
    """
    with opened_results(path) as file:
        metadata, names = file.metadata, file.schema_arrow.names
    if metadata.num_rows * len(names) <= MOST_VALUES:
        return load(path)

    def read(chosen: Sequence[str], **options: Any) -> pa.Table:
        with opened(results_file(path), metadata=metadata, **options) as file:
            return file.read(chosen, use_threads=False)

    held = [name for name in names if name not in COUNTERS]
    table = read(held, read_dictionary=[name for name in LONG_TEXTS if name in held])
    runs = StoredRuns(frame_of(table).assign(**{ROW: range(len(table))}))
    runs.counters, runs.read = frozenset(names) & frozenset(COUNTERS), read
    return runs
