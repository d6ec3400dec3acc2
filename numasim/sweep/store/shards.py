"""The shards of a results directory, and their runs in the order of a table.

A shard is an immutable file with the rows of a batch. The name of a shard has a number, which orders shards in time,
and a hash of the file's bytes, by which a reader detects truncated shards and other files. Only the process that holds
the lock of the directory writes shards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from numasim.files.reader import TABLE, hash_of, is_regular, open_regular
from numasim.files.writer import scratch_file, store_bytes
from numasim.sweep.store.parquet import together, unreadable_table

WHOLE = "undamaged shards; delete it and run the sweep again, which repeats its runs"
SHARD_NAME = re.compile(r"(\d{6,})-([0-9a-f]{32})\.parquet")
BLOCK = 2**13  # runs that are in memory at once while a table is made
PACKED, ALONE = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False), pa.ipc.IpcReadOptions(use_threads=False)

Places = npt.NDArray[np.int64]


def write_shard(directory: Path, number: int, content: bytes) -> None:
    """Write the Parquet file ``content`` as shard ``number``. Raises `InputError` if the shard cannot be written."""
    store_bytes(directory / f"{number:06d}-{hash_of(content)}.parquet", content)


def is_whole(path: Path) -> bool:
    """Return whether ``path`` has a shard's name and the name has the hash of the content.

    Raises OSError or `InputError` if the file cannot be read.
    """
    named = SHARD_NAME.fullmatch(path.name)
    if not named or not is_regular(path):
        return False
    with open_regular(path, TABLE) as file:
        return hash_of(file) == named[2]


def shard_number(name: str) -> int:
    """Return the number of the shard ``name``."""
    return int(name.partition("-")[0])


def read_shards(paths: Iterable[Path], columns: Sequence[str]) -> pa.Table:
    """Return ``columns`` of all runs in the shards at ``paths``, in that order; a missing column is null."""
    return together([_read(path, columns) for path in paths])


def rows_of_runs(runs: pa.Table, run_ids: pa.Array) -> Places:
    """Return the row of each of ``run_ids`` in ``runs``: the first row without an error, or else the last row."""
    found = []
    ended = pc.is_null(runs["error"]).to_numpy()
    for rows in (np.flatnonzero(ended), np.flatnonzero(~ended)[::-1]):
        places = pc.index_in(run_ids, value_set=runs["run_id"].take(rows).combine_chunks())
        found.append(pa.array(rows, pa.int64()).take(places))
    return np.asarray(pc.coalesce(*found), np.int64)


def runs_in_order(paths: Iterable[Path], columns: Sequence[str], rows: Places, folder: Path) -> Iterator[pa.Table]:
    """Yield ``columns`` of the runs at ``rows`` of all shards, in the order of ``rows``, `BLOCK` runs at a time.

    Each shard is read once. The runs of all shards then wait in a file without a name on the disk of ``folder``.
    """
    by_row = np.argsort(rows, kind="stable")
    blocks: list[list[tuple[int, int, Places]]] = [[] for _ in range(0, len(rows), BLOCK)]
    kinds: dict[pa.Schema, None] = {}
    start = 0
    with scratch_file(folder) as file:
        for some in _in_batches(paths, columns):
            kinds[some.schema] = None
            first, end = np.searchsorted(rows, (start, start + len(some)), sorter=by_row)
            places = np.sort(by_row[first:end])
            chosen = some.take(rows[places] - start)
            start += len(some)
            for block in np.unique(places // BLOCK).tolist():
                low, high = np.searchsorted(places, (block * BLOCK, (block + 1) * BLOCK))
                begin = file.tell()
                with pa.ipc.new_stream(file, some.schema, options=PACKED) as stream:
                    stream.write(chosen.slice(low, high - low))
                blocks[block].append((begin, file.tell() - begin, places[low:high]))
        for parts in blocks:
            tables = [kind.empty_table() for kind in kinds]  # so that all blocks have the same columns
            for begin, size, _ in parts:
                file.seek(begin)
                tables.append(pa.ipc.open_stream(file.read(size), options=ALONE).read_all())
            yield together(tables).take(np.argsort(np.concatenate([places for *_, places in parts])))


def _in_batches(paths: Iterable[Path], columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield ``columns`` of the runs in the shards at ``paths``, in that order, at least `BLOCK` runs at a time."""
    held: list[pa.Table] = []
    for path in paths:
        held.append(_read(path, columns))
        if sum(map(len, held)) >= BLOCK:
            yield together(held)
            held = []
    if held:
        yield together(held)


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    try:
        with open_regular(path, TABLE) as content, pq.ParquetFile(content) as file:
            present = [name for name in columns if name in file.schema_arrow.names]  # failed runs have no tables
            return file.read(present, use_threads=False)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise unreadable_table(path, error, WHOLE) from error
