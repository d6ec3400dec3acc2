"""Atomic writes, which leave a file whole or absent however the process ends, and a lock for the only writer.

A file is written under a temporary name, flushed to the disk and renamed; the rename is flushed too. An error that the
user can fix (a full disk, a missing permission, a file in place of a directory) is an `InputError`.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numasim.errors import InputError

LOCK = ".lock"
TEMPORARY = ".tmp-"


@contextmanager
def output_errors(place: Path) -> Iterator[None]:
    """Turn every `OSError` inside into an `InputError` that names ``place``."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        expected = "a directory that can be written, on a disk with free space"
        raise InputError(f"cannot be written ({reason})", place=str(place), expected=expected) from error


def write_whole(path: Path, content: bytes) -> None:
    """Make ``path`` hold ``content``, or leave it as it was. Raises `InputError` where it cannot be written."""
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
    with output_errors(path):
        try:
            with open(temporary, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync(path.parent)


def remove_temporaries(directory: Path) -> None:
    """Remove the temporary files that killed writers left in ``directory``."""
    for path in directory.glob(f"{TEMPORARY}*"):
        path.unlink(missing_ok=True)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Lock ``directory``. The system releases the lock when the process ends, so a kill leaves no stale lock."""
    path = directory / LOCK
    with output_errors(directory):
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


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
