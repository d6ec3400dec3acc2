"""The results table of a sweep with its counters in the file: a column of counters is read when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa

from numasim.engine.assumed_values import COLUMN as ASSUMED
from numasim.sweep.store.parquet import COUNTERS, MOST_VALUES
from numasim.sweep.store.results_tables import RECORDING, frame_of, load, opened, opened_results, results_file, series

ROW = "row of the file"
LONG_TEXTS = ("spec_hash", ASSUMED, RECORDING)  # texts that many runs share


class StoredCounters:
    """The counters in a results table; no counter stays in memory."""

    def __init__(self, path: Path) -> None:
        """Open ``path`` as `numasim.sweep.store.results_tables.load` does."""
        with opened_results(path) as file:
            self.metadata = file.metadata
            self.all_names = file.schema_arrow.names
        self.names = frozenset(self.all_names) & frozenset(COUNTERS)
        self._file = results_file(path)

    def read(self, names: Sequence[str], **options: Any) -> pa.Table:
        """Return columns of the table."""
        with opened(self._file, metadata=self.metadata, **options) as file:
            return file.read(names, use_threads=False)


class StoredRuns(pd.DataFrame):
    """A results table, or some of its rows. Columns that are no counters are in memory, as in every DataFrame.

    ``runs["makespan_ps"]`` reads a column of counters from the file, for the rows that the table has. Only a single
    column can be read in this way.
    """

    _metadata: ClassVar[list[str]] = ["stored"]
    stored: StoredCounters | None = None

    @property
    def _constructor(self) -> type[StoredRuns]:
        return StoredRuns

    def __contains__(self, key: object) -> bool:  # type: ignore[misc]  # pandas has it final for type checkers alone
        return super().__contains__(key) or (self.stored is not None and key in self.stored.names)

    def __getitem__(self, key: Any) -> Any:
        """Return a column, or as in every DataFrame some rows or columns."""
        if self.stored is None or not isinstance(key, str) or key not in self.stored.names:
            return super().__getitem__(key)
        column = self.stored.read([key])[key]
        values = series(column.take(pa.array(super().__getitem__(ROW))), has_nulls=column.null_count > 0)
        return pd.Series(values.array, self.index, name=key)


def stored_runs(path: Path) -> pd.DataFrame:
    """Return the results table of a results directory: `StoredRuns` if the table has more than `MOST_VALUES` values.

    Raises `InputError` as `load` does.
    """
    stored = StoredCounters(path)
    if stored.metadata.num_rows * stored.metadata.num_columns <= MOST_VALUES:
        return load(path)
    names = [name for name in stored.all_names if name not in stored.names]
    held = stored.read(names, read_dictionary=[name for name in LONG_TEXTS if name in names])
    runs = StoredRuns(frame_of(held).assign(**{ROW: range(len(held))}))
    runs.stored = stored
    return runs
