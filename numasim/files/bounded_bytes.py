"""The bytes of a regular file, up to the size of its kind.

A device, a named pipe or a socket has no end, or none that can be waited for: it is refused before anything is read,
and without waiting for another process to open it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path

from numasim.errors import InputError
from numasim.files.file_kinds import GIB, KIB, MIB, FileKind

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NO_FILES = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe or the output of another command",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class UnreadableError(InputError):
    """There is no such file, or the system does not let it be read."""


def read_bytes(path: Path, kind: FileKind, place: str | None = None) -> bytes:
    """The contents of the file ``path``; ``place`` is where a document names it, if one does.

    InputError where there is no such file, it cannot be read, is no regular file, or is larger than its kind may be.
    """
    try:
        with open_regular(path, kind, place) as file:
            data = b"".join(_pieces(file, kind.most_bytes))
    except OSError as error:
        raise _unreadable(path, error, kind, place) from None
    if len(data) > kind.most_bytes:
        raise _too_large(path, kind, place)
    return data


def require_file(path: Path, kind: FileKind, place: str | None = None) -> None:
    """InputError unless ``path`` is a regular file that can be opened."""
    open_regular(path, kind, place).close()


def open_regular(path: Path, kind: FileKind, place: str | None = None) -> BufferedReader:
    """The file ``path``, opened; InputError as for `read_bytes`, with the size that it has now."""
    try:
        handle = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise _missing(path, kind, place) from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error, kind, place) from None
    try:
        return _file_of(handle, path, kind, place)
    except OSError as error:
        raise _unreadable(path, error, kind, place) from None


def _file_of(handle: int, path: Path, kind: FileKind, place: str | None) -> BufferedReader:
    """The regular file that was opened as ``handle``, which is closed where it is none, or too large."""
    with ExitStack() as closing:
        closing.callback(os.close, handle)
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{str(path)!r} is {_what(status.st_mode)}", place=place, expected=kind.name)
        if status.st_size > kind.most_bytes:
            raise _too_large(path, kind, place)
        closing.pop_all()
        return os.fdopen(handle, "rb", closefd=True)


def is_file(path: Path) -> bool:
    """Whether ``path`` is a regular file; no, where that cannot be found out, for instance for too long a name."""
    return os.path.isfile(path)


def _pieces(file: BufferedReader, most_bytes: int) -> Iterator[bytes]:
    """The contents, as a rule in one piece; no more than one byte above ``most_bytes``."""
    left = most_bytes + 1
    size = os.fstat(file.fileno()).st_size + 1  # 1 for files of /proc and some of /sys, which do not know their size
    while left > 0 and (piece := file.read(min(left, max(size, 64 * KIB)))):
        left -= len(piece)
        yield piece


def _what(mode: int) -> str:
    return _NO_FILES.get(stat.S_IFMT(mode), "no regular file")


def _missing(path: Path, kind: FileKind, place: str | None) -> UnreadableError:
    if not os.path.isdir(path.parent):
        return UnreadableError(f"there is no folder {str(path.parent)!r}", place=place, expected=kind.name)
    return UnreadableError(
        f"there is no file {str(path)!r}",
        place=place,
        expected=kind.name,
        value=path.name,
        known=_files_in(path.parent),
    )


def _files_in(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError:
        return []


def _unreadable(path: Path, error: OSError | ValueError, kind: FileKind, place: str | None) -> InputError:
    try:
        special = not stat.S_ISREG(mode := os.stat(path).st_mode) and not stat.S_ISDIR(mode)
    except (OSError, ValueError):
        special, mode = False, 0
    if special:  # a socket cannot be opened
        return InputError(f"{str(path)!r} is {_what(mode)}", place=place, expected=kind.name)
    reason = getattr(error, "strerror", None) or error
    return UnreadableError(
        f"cannot read {str(path)!r}: {reason}", place=place, expected=f"{kind.name} that can be read"
    )


def _too_large(path: Path, kind: FileKind, place: str | None) -> InputError:
    size = f"{kind.most_bytes // GIB} GiB" if kind.most_bytes >= GIB else f"{kind.most_bytes // MIB} MiB"
    return InputError(f"{str(path)!r} is larger than {size}", place=place, expected=kind.name)
