"""The hash of a file's contents, computed again only if the file may have changed."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from numasim.files.reader import FileKind, read_bytes

RESTING_S = 2.0  # a file that changed more recently may change again without a change of its times


@dataclass(frozen=True)
class _State:
    """The identity of the file at a path, and the times of its changes."""

    device: int
    inode: int
    size: int
    written_ns: int
    changed_ns: int


def hash_of_file(path: Path, kind: FileKind) -> str:
    """Return the 128-bit BLAKE2b hash of the contents of ``path``, 32 hex digits; InputError as for `read_bytes`."""
    before = _state_of(path)
    if before is None or time.time() - max(before.written_ns, before.changed_ns) / 1e9 < RESTING_S:
        return _read_hash(path, kind)
    return _kept_hash(path, kind, before)


@lru_cache(maxsize=8)
def _kept_hash(path: Path, kind: FileKind, _: _State) -> str:
    return _read_hash(path, kind)


def _read_hash(path: Path, kind: FileKind) -> str:
    return blake2b(read_bytes(path, kind), digest_size=16).hexdigest()


def _state_of(path: Path) -> _State | None:
    """Return the state of the file, None if the system cannot tell; reading then raises the error."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return _State(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
