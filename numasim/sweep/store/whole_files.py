"""A lock for the only writer of a directory, and what killed writers left there."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numasim.errors import InputError
from numasim.files.writer import output_errors

LOCK = ".lock"
TEMPORARY = ".tmp-"
DIRECTORY = "a directory that can be written, on a disk with free space"


def remove_temporaries(directory: Path) -> None:
    """Remove the temporary files that killed writers left in ``directory``."""
    for path in directory.glob(f"{TEMPORARY}*"):
        path.unlink(missing_ok=True)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Lock ``directory``. The system releases the lock when the process ends, so a kill leaves no stale lock."""
    path = directory / LOCK
    with output_errors(directory, DIRECTORY):
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(lock, path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(lock)


def _lock(lock: int, path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The last holder may have removed the file between our opening and locking it: then the lock has no effect.
        if os.fstat(lock).st_ino == os.stat(path).st_ino:
            return
    except (BlockingIOError, FileNotFoundError):
        pass
    expected = "another directory, or to wait until that sweep has ended"
    raise InputError("another sweep is writing here", place=str(path.parent), expected=expected)
