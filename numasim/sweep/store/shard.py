"""Shards: immutable files of finished runs, named by a hash of their bytes.

One is written for each batch of runs, and only by the process that holds the directory. By the name a reader detects
truncated shards and other files; the leading number orders the shards in time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from numasim.files.reader import TABLE, is_regular, open_regular
from numasim.files.writer import store_bytes
from numasim.sweep.store.parquet import together, unreadable_table

WHOLE = "undamaged shards; delete it and run the sweep again, which repeats its runs"
NAME = re.compile(r"(\d{6,})-([0-9a-f]{32})\.parquet")


def write_shard(directory: Path, number: int, content: bytes) -> Path:
    """Write the Parquet file ``content`` as shard ``number``. Raises `InputError` if it cannot be written."""
    path = directory / f"{number:06d}-{_checksum(content)}.parquet"
    store_bytes(path, content)
    return path


def is_whole(path: Path) -> bool:
    """Return whether ``path`` has a shard's name and its content matches the hash in the name.

    Raises OSError or `InputError` where that cannot be read.
    """
    named = NAME.fullmatch(path.name)
    if not named or not is_regular(path):
        return False
    with open_regular(path, TABLE) as file:
        return hashlib.file_digest(file, _hash).hexdigest() == named[2]


def shard_number(name: str) -> int:
    """Return the place of the whole shard ``name`` in the order of writing."""
    return int(name.partition("-")[0])


def read_shards(paths: Iterable[Path], columns: list[str]) -> pa.Table:
    """Read ``columns`` of all runs in the shards at ``paths``, in that order; a column that a shard lacks is null."""
    return together([_read(path, columns) for path in paths])


def _read(path: Path, columns: list[str]) -> pa.Table:
    # A shard of failed runs alone has no nested tables.
    try:
        with open_regular(path, TABLE) as content, pq.ParquetFile(content) as file:
            return file.read([name for name in columns if name in file.schema_arrow.names], use_threads=False)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise unreadable_table(path, error, WHOLE) from error


def _checksum(content: bytes) -> str:
    return _hash(content).hexdigest()


def _hash(content: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(content, digest_size=16)
