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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from numasim.engine.assumed_values import APART, assumed_fields
from numasim.engine.assumed_values import COLUMN as ASSUMED
from numasim.engine.result import COLUMNS, column_place
from numasim.errors import InputError
from numasim.files.reader import TABLE, is_there, open_regular
from numasim.files.writer import reading_errors, scratch_file
from numasim.parts.base import canonical_json
from numasim.parts.yaml.nodes import Held
from numasim.spec.run_spec import recording_of
from numasim.sweep.planned_runs import PlannedRun
from numasim.sweep.store.parquet import ITERATIONS_TABLE, RUN, column_type, unreadable_table, write_table
from numasim.sweep.store.results_store import ITERATIONS, NODE_PAIRS, RESULTS, TIMING, WORKERS, Store, require_unchanged
from numasim.sweep.store.shards import Places, read_shards, rows_of_runs, runs_in_order

if TYPE_CHECKING:
    import pandas as pd

    from numasim.spec.sweep_spec import Cell, SweepSpec

PAIRS = "node_pairs"  # the nested table of pairs of nodes
NAMED = ("machine", "workload", "strategy")


def write_tables(store: Store, sweep: SweepSpec, runs: Sequence[PlannedRun], spec_hash: str) -> None:
    """Write all tables of ``sweep``, the results table last. Each of ``runs`` has ended in ``store``."""
    # Listed once, because a worker of a killed sweep may still write a shard.
    shards = store.shard_paths()
    ids = pa.array([run.run_id for run in runs], pa.string())
    rows = rows_of_runs(read_shards(shards, ["run_id", "error"]), ids)
    once = rows[np.sort(np.unique(rows, return_index=True)[1])]

    def runs_of(columns: Sequence[str], rows: Places = once) -> Iterator[pa.Table]:
        return runs_in_order(shards, columns, rows, store.directory)

    iterations = (_long_table(each, "iterations") for each in runs_of(["run_id", "iterations"]))
    tables: dict[str, Iterable[pa.Table]] = {
        WORKERS: (_long_table(each, "workers") for each in runs_of(["run_id", "workers"])),
        NODE_PAIRS: (_long_table(each, PAIRS) for each in runs_of(["run_id", PAIRS])),
        ITERATIONS: (
            each.select(ITERATIONS_TABLE.names) if len(each) else ITERATIONS_TABLE.empty_table() for each in iterations
        ),
        TIMING: runs_of(["run_id", "engine_s"]),
        RESULTS: results_tables(runs_of(RUN.names, rows), cells_table(sweep, spec_hash), sweep.repeat),
    }
    with ExitStack() as stack:
        files = {name: stack.enter_context(scratch_file(store.directory)) for name in tables}
        for name, parts in tables.items():
            write_table(files[name], parts)
        store.folder.write(files)


def cells_table(sweep: SweepSpec, spec_hash: str) -> pa.Table:
    """Return the columns of the results table that are equal for all repeats of a cell, with a row for each cell."""
    cells = sweep.cells
    names = {part: named_column(cells, part) for part in NAMED}
    identity: dict[str, Sequence[Any]] = {
        "spec_hash": [spec_hash] * len(cells),
        "seed": [cell.spec.seed for cell in cells],
        "workers": [cell.spec.workers for cell in cells],
        **names,
    }
    columns = {name: pa.array(values, column_type(name)) for name, values in identity.items()}
    columns[ASSUMED] = pa.array([APART.join(assumed_fields(cell.spec)) for cell in cells], pa.string())
    columns |= {name: axis_column(cells, name) for name in sweep.axes if name not in COLUMNS}
    return pa.table(columns | recording_columns(cells, names["workload"]))


def results_tables(runs: Iterable[pa.Table], cells: pa.Table, repeat: int) -> Iterator[pa.Table]:
    """Yield the results table in parts; ``runs`` has the runs of the ``repeat`` repeats of each of ``cells``."""
    start = 0
    for part in runs:
        cell, number = np.divmod(np.arange(start, start + len(part)), repeat)
        start += len(part)
        of_cells = cells.take(cell)
        known = {**dict(zip(part.column_names, part.columns, strict=True)), "repeat": pa.array(number, pa.int64())}
        known |= zip(of_cells.column_names, of_cells.columns, strict=True)
        others = [name for name in cells.column_names if name not in COLUMNS]
        yield pa.table({name: known[name] for name in (*COLUMNS, *others, "error")})


def _long_table(runs: pa.Table, name: str) -> pa.Table:
    """Return the nested table ``name`` of ``runs`` as rows that begin with the run_id."""
    if name not in runs.column_names:
        return runs.slice(0, 0)
    lists = pa.concat_arrays(runs[name].chunks)
    owner = runs["run_id"].take(pc.list_parent_indices(lists))
    rows = lists.flatten()
    fields = sorted((field.name for field in rows.type), key=column_place)
    return pa.table({"run_id": owner, **{field: pc.struct_field(rows, field) for field in fields}})


# ---- Sweep axes as columns: numbers stay numbers, and every other value has a distinct text --------------------------


def axis_column(cells: Sequence[Cell], axis: str) -> pa.Array:
    """Return the column of ``axis``; null for a cell that does not set the axis."""
    values = [cell.axes.get(axis) for cell in cells]
    given = {type(value) for value in values if value is not None}
    if given <= {bool}:
        return pa.array(values, pa.bool_())
    if given <= {int}:
        return pa.array(values, pa.int64())
    if given <= {int, float, Decimal}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array(labels(values), pa.string())


def named_column(cells: Sequence[Cell], part: str) -> list[str]:
    """Return the name of the machine, workload or strategy (``part``) of each cell.

    If several values of the axis ``part`` have one name, such as two variants of a strategy, the column has the labels
    of the values instead, which differ. The column also has the label of a variant without a name of its own, because
    the variant's name is the name of the original.
    """
    values = [cell.axes.get(part) for cell in cells]
    parts = [getattr(cell.spec, part) for cell in cells]
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


def recording_columns(cells: Sequence[Cell], workloads: Sequence[str]) -> dict[str, pa.Array]:
    """Return the columns of ``cells``, whose ``workloads`` have these names; no column if no program was recorded."""
    found = {id(cell.spec.workload): cell.spec.workload for cell in cells}
    recordings = {key: recording_of(workload) for key, workload in found.items()}
    by_cell = [recordings[id(cell.spec.workload)] for cell in cells]
    if not any(by_cell):
        return {}
    factors = [
        recorded.factor(cell.spec.machine.core_steps_per_s or 0) if recorded else None
        for cell, recorded in zip(cells, by_cell, strict=True)
    ]
    texts = [
        "\n".join(recorded.remarks(name)) if recorded else None
        for name, recorded in zip(workloads, by_cell, strict=True)
    ]
    return {TIME_FACTOR: pa.array(factors, pa.float64()), RECORDING: pa.array(texts, pa.string())}


# ---- Tables as pandas DataFrames -------------------------------------------------------------------------------------


def load(path: str | Path) -> pd.DataFrame:
    """Return the results table of a results directory, or of a file with such a table.

    Integers stay integers: a column with nulls, such as a counter of failed runs, has pandas' ``Int64``. Raises
    `InputError` for a missing, a damaged and a changed table.
    """
    with opened_results(path) as file:
        return frame_of(file.read(use_threads=False))


def load_table(directory: Path, name: str, runs: Collection[str] | None = None) -> pd.DataFrame:
    """Return another table of a results directory, such as `WORKERS`: all rows, or the rows of the run_ids ``runs``.

    Raises `InputError` as `load` does.
    """
    with opened(directory / name) as file:
        require_unchanged(directory, name)
        if runs is None:
            return frame_of(file.read(use_threads=False))
        chosen = pa.array(runs, pa.string())
        found = (part.filter(pc.is_in(part["run_id"], chosen)) for part in _parts(file))
        return frame_of(pa.concat_tables([file.schema_arrow.empty_table(), *found]))


def parts_of_table(directory: Path, name: str) -> Iterator[pd.DataFrame]:
    """Yield a table with several rows of a run, such as `ITERATIONS`, in parts that each have all rows of their runs.

    Raises `InputError` as `load` does.
    """
    with opened(directory / name) as file:
        require_unchanged(directory, name)
        held = file.schema_arrow.empty_table()
        for part in _parts(file):
            held = pa.concat_tables([held, part])
            whole = pc.index(held["run_id"], held["run_id"][-1]).as_py()
            yield frame_of(held.slice(0, whole))
            held = held.slice(whole)
        yield frame_of(held)


def _parts(file: pq.ParquetFile) -> Iterator[pa.Table]:
    return (pa.Table.from_batches([batch]) for batch in file.iter_batches(use_threads=False))


@contextmanager
def opened_results(path: str | Path) -> Iterator[pq.ParquetFile]:
    """Open the results table that `load` returns. Raises `InputError` as `load` does."""
    file = results_file(path)
    with opened(file) as table:
        if file != Path(path):
            require_unchanged(file.parent, RESULTS)
        absent = [name for name in (*COLUMNS, "error") if name not in table.schema_arrow.names]
        if absent:
            problem = f"is not a results table, it lacks the column {absent[0]}"
            raise InputError(problem, place=str(file), expected=TABLE.name)
        yield table


def results_file(path: str | Path) -> Path:
    """Return the path of the results table in the directory ``path``; ``path`` if no directory is there."""
    return Path(path, RESULTS) if os.path.isdir(path) else Path(path)


@contextmanager
def opened(file: Path, **options: Any) -> Iterator[pq.ParquetFile]:
    """Open a table with the ``options`` of a Parquet file. Raises `InputError` for a missing and a damaged table."""
    with reading_errors(file, TABLE.name):
        missing = not is_there(file)
    if missing:
        raise InputError("is missing: no sweep has ended here", place=str(file), expected=TABLE.name)
    try:
        # Arrow's threads are off: a thread that holds a Python file when the process ends aborts the process.
        with open_regular(file, TABLE) as content, pq.ParquetFile(content, pre_buffer=False, **options) as table:
            yield table
    except (pa.ArrowException, OSError, UnicodeError) as error:
        expected = "a table of a sweep; delete it and run the sweep again, which makes it anew"
        raise unreadable_table(file, error, expected) from error


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Return ``table`` as a DataFrame with integers that stay integers."""
    import pandas as pd

    return pd.DataFrame({name: series(table[name], table[name].null_count > 0) for name in table.column_names})


def series(column: pa.ChunkedArray, has_nulls: bool) -> pd.Series[Any]:
    """Return ``column`` with integers that stay integers, also if the column ``has_nulls``."""
    import pandas as pd

    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    made: pd.Series[Any] = column.to_pandas(types_mapper=nullable.get if has_nulls else None)
    return made
