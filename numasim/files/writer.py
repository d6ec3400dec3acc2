"""Writing of files.

A regular file is written under a temporary name in its own folder, flushed to the disk and renamed. However the process
ends, the file has either its old or its whole new contents. A replaced file keeps its mode and, if the system permits,
its owner; a new file has the mode that the umask leaves. Symbolic links are followed and stay: the file at the end of
the links is written. Devices, pipes and open descriptors (/dev/null, a FIFO, /dev/stdout, /dev/fd/3) are written to and
never replaced.

`lib/runtime/source/record/output_file.c` writes by the same rule; `tests/files/test_one_rule.py` tests both writers.
"""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from numasim.errors import InputError
from numasim.files.reader import is_folder, is_there

FILE = "a file in a folder that can be written, on a disk with free space"
FOLDER = "a folder that can be written, on a disk with free space"
READABLE = "files and folders that can be read"
MOST_IN_MEMORY = 2**24
MOST_LINKS = 40  # as in Linux
LONGEST_NAME = 255  # bytes, on all usual file systems
_TEMPORARY = re.compile(r"\.tmp-[0-9a-f]+-(.+)")


def write_bytes(path: Path, content: bytes | BinaryIO) -> Path:
    """Write ``content``, bytes or an open file, to the file at ``path``, or leave the file unchanged; return the path.

    Raises InputError if the file cannot be written.
    """
    with writing(path) as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            content.seek(0)
            copyfileobj(content, file)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write ``text`` in UTF-8 as `write_bytes` does."""
    return write_bytes(path, text.encode())


def store_bytes(path: Path, content: bytes | BinaryIO) -> Path:
    """Write ``content`` as `write_bytes` does, and flush the new name to the disk too."""
    write_bytes(path, content)
    with output_errors(path, FILE), suppress(PermissionError):  # a folder may be writable and not readable
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    return path


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Yield a file; its contents replace the contents of ``path`` when the block ends without an error.

    A device, a pipe or a descriptor gets the contents at once. Raises InputError if ``path`` cannot be written, or if
    the disk is full.
    """
    with output_errors(path, FILE):
        end = end_of_links(path)
        known = _status(end)
    if isinstance(end, int) or (known and not stat.S_ISREG(known.st_mode)):
        with _opened(path, end) as file:
            yield file
        return
    temporary = os.path.join(os.path.dirname(end), temporary_name(os.path.basename(end)))
    with output_errors(path, FILE):
        if is_there(temporary):
            raise _error(errno.EEXIST)
    try:
        with _opened(path, temporary, os.O_CREAT | os.O_EXCL) as file:
            with output_errors(path, FILE):
                _make_like(file.fileno(), known)
            yield file
            file.flush()
            with output_errors(path, FILE):
                os.fsync(file.fileno())
        with output_errors(path, FILE):
            os.replace(temporary, end)
    finally:
        with suppress(OSError):
            os.unlink(temporary)


@contextmanager
def scratch_file(folder: Path) -> Iterator[BinaryIO]:
    """Yield an empty file without a name: in memory up to `MOST_IN_MEMORY` bytes, then on the disk of ``folder``.

    The file is gone when the block or the process ends. Raises InputError if the disk is full.
    """
    with output_errors(folder, FOLDER), SpooledTemporaryFile(MOST_IN_MEMORY, dir=str(folder)) as file:
        yield cast(BinaryIO, file)


def require_writable(path: Path) -> None:
    """Raise InputError if ``path`` certainly cannot be written; change nothing."""
    with output_errors(path, FILE):
        end = end_of_links(path)
        known = _status(end)
        if isinstance(end, str) and known is None and not os.access(os.path.dirname(end) or ".", os.W_OK | os.X_OK):
            raise _error(errno.EACCES)


@contextmanager
def reading_errors(place: Path, expected: str = READABLE) -> Iterator[None]:
    """Turn every OSError of reading in the block into an InputError that names ``place``."""
    try:
        yield
    except OSError as error:
        raise cannot_be_read(place, error, expected) from error


def cannot_be_read(place: Path, error: OSError, expected: str = READABLE) -> InputError:
    """Return the InputError for an unreadable ``place``, with the reason in the system's words."""
    reason = error.strerror or str(error)
    return InputError(f"cannot be read ({reason})", place=str(place), expected=expected)


@contextmanager
def output_errors(place: Path, expected: str) -> Iterator[None]:
    """Turn every OSError of writing in the block into an InputError that names ``place`` and ``expected``."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason})", place=str(place), expected=expected) from error


def temporary_name(name: str) -> str:
    """Return a new temporary name for the unfinished contents of the file ``name``."""
    return os.fsdecode(os.fsencode(f".tmp-{os.urandom(8).hex()}-{name}")[:LONGEST_NAME])


def unfinished(name: str) -> str | None:
    """Return the name of the file to which the temporary name ``name`` belongs, None for other names."""
    found = _TEMPORARY.fullmatch(name)
    return found[1] if found else None


def end_of_links(path: Path | str) -> str | int:
    """Return the end of the symbolic links from ``path``: a path, or the number of a descriptor of this process.

    The file at the end need not exist. Raises OSError for links in a circle.
    """
    end = os.fspath(path)
    for _ in range(MOST_LINKS):
        folder, name = os.path.split(end)
        if name.isdecimal() and os.path.realpath(folder) == f"/proc/{os.getpid()}/fd":
            return int(name)
        try:
            end = os.path.join(folder, os.readlink(end))
        except OSError:  # no link, or no such file
            return end
    raise _error(errno.ELOOP)


def _status(end: str | int) -> os.stat_result | None:
    """Return the status of the file at ``end``, None for a new file. Raises OSError if the file cannot be written."""
    try:
        known = os.stat(end)
    except FileNotFoundError:
        folder = os.path.dirname(cast(str, end))
        if folder and not is_folder(folder):
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder!r}") from None
        return None
    if stat.S_ISDIR(known.st_mode):
        raise _error(errno.EISDIR)
    if isinstance(end, str) and not os.access(end, os.W_OK):
        raise _error(errno.EACCES)
    return known


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class _Named(io.FileIO):
    """An open file with errors that name the path that the user gave."""

    def __init__(self, handle: int, path: Path) -> None:
        super().__init__(handle, "wb")
        self._path = path

    def write(self, data: Any, /) -> int:
        with output_errors(self._path, FILE):
            return super().write(data)

    def close(self) -> None:
        with output_errors(self._path, FILE):
            super().close()


def _opened(path: Path, end: str | int, creating: int = 0) -> BinaryIO:
    with output_errors(path, FILE):
        if isinstance(end, int):
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()  # earlier output of the process precedes the file
            handle = os.dup(end)
        else:
            handle = os.open(end, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC | creating, 0o666)
    return io.BufferedWriter(_Named(handle, path))


def _make_like(handle: int, known: os.stat_result | None) -> None:
    """Give an empty file the owner and the mode of the file that it will replace."""
    if known is None:
        return
    with suppress(PermissionError):
        os.fchown(handle, known.st_uid, known.st_gid)
    os.fchmod(handle, stat.S_IMODE(known.st_mode))


# ---- CSV that a spreadsheet reads as text and numbers, never as formulas ---------------------------------------------
#
# A spreadsheet computes a cell that begins with ``=``, ``+``, ``-`` or ``@``, such as the name of a strategy. A text
# that begins with one of these characters gets an apostrophe in front. A text that begins with an apostrophe gets a
# second apostrophe, so that the original text can be restored. Numbers stay unchanged.

APOSTROPHE = "'"
_FORMULA = re.compile(r"[=+\-@\t\r']")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the names of the ``columns`` and ``rows`` as CSV; cells with text are `quoted`."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([quoted(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return buffer.getvalue()


def quoted(text: str) -> str:
    """Return ``text``, with an apostrophe in front if a spreadsheet might compute the text."""
    return APOSTROPHE + text if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
