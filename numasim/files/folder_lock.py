"""A lock for the only writer of a folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from numasim.errors import InputError
from numasim.files.writer import FOLDER, output_errors

LOCK = ".numasim.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock ``folder``. The system releases the lock when the process ends, so a kill leaves no stale lock."""
    path = folder / LOCK
    with output_errors(folder, FOLDER):
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        with output_errors(folder, FOLDER):
            _lock(lock, path)
        try:
            yield
        finally:
            with suppress(OSError):  # the next command locks it all the same
                path.unlink()
    finally:
        with suppress(OSError):  # it is closed even so
            os.close(lock)


def _lock(lock: int, path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The last holder may have removed the file between our opening and locking it: then the lock has no effect.
        if os.fstat(lock).st_ino == os.stat(path).st_ino:
            return
    except (BlockingIOError, FileNotFoundError):
        pass
    expected = "another folder, or to wait until that command has ended"
    raise InputError("another command is writing here", place=str(path.parent), expected=expected)
