"""Shards: immutable files of finished runs, named by a hash of their bytes.

One is written for each batch of runs by the process that ran it. The name lets a reader tell a whole shard from one
that was cut off or put there by somebody else; the leading number orders the shards in time.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from numasim.sweep.files import write_whole
from numasim.sweep.parquet import parquet_bytes

_NAME = re.compile(r"(\d{6,})-([0-9a-f]{32})\.parquet")


def write_shard(directory: Path, number: int, rows: pa.Table) -> Path:
    """Write ``rows`` as shard ``number``. Raises `InputError` where the disk is full or not writable."""
    content = parquet_bytes(rows)
    path = directory / f"{number:06d}-{_checksum(content)}.parquet"
    write_whole(path, content)
    return path


def is_whole(path: Path) -> bool:
    """Tell whether ``path`` has a shard's name and the bytes that the name promises."""
    named = _NAME.fullmatch(path.name)
    return bool(named) and path.is_file() and _checksum(path.read_bytes()) == named[2]  # type: ignore[index]


def shard_number(path: Path) -> int:
    """Return the place of a whole shard in the order of writing."""
    return int(path.name.partition("-")[0])


def read_shard(path: Path, columns: list[str]) -> pa.Table:
    """Read those of ``columns`` that the shard has; a shard of failed runs alone has no nested tables."""
    with pq.ParquetFile(path) as file:
        present = [name for name in columns if name in file.schema_arrow.names]
        return file.read(columns=present)


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
