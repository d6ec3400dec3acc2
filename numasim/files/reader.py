"""Reading of files: regular files up to the largest size of their kind, as bytes or as text; whether a file exists.

A device, a named pipe or a socket may have no end. Such a file is refused before anything is read, and without waiting
for another process that opens the file.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from functools import lru_cache
from hashlib import blake2b, file_digest
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from numasim.errors import InputError
from numasim.frozen import Frozen

# ---- The kinds of files that are read, with the largest size of each -------------------------------------------------
#
# The largest sizes are far above the sizes of files that numasim or people write. They are so low that a wrong file of
# the largest size is refused in seconds and without exhausting memory.

KIB, MIB, GIB = 2**10, 2**20, 2**30


class FileKind(Frozen):
    """A kind of files: ``name`` completes the sentence "expected ...", ``most_bytes`` is the largest size."""

    name: str
    most_bytes: int


YAML = FileKind("a YAML file", MIB)
GRAPH = FileKind("a task graph in JSON", 128 * MIB)
PACKED_GRAPH = FileKind("a task graph in npz", GIB)
OTHER_GRAPH = FileKind(
    "a task graph in JSON, WfFormat, DAX, GraphML, DOT, STG, StarPU's tasks.rec or a table of grain graphs", 128 * MIB
)
PYTHON = FileKind("a Python module, a .py file", MIB)
HWLOC = FileKind("hwloc XML, as lstopo writes it", 4 * MIB)
MEASURED = FileKind("a text file of a measuring program, or hwloc XML", 16 * MIB)
SYSFS = FileKind("a file of sysfs", MIB)
CPU_INFO = FileKind("/proc/cpuinfo", 64 * MIB)
CSV = FileKind("a CSV file", 4 * MIB)
PROVENANCE = FileKind("the file that a sweep wrote; choose another directory", 16 * MIB)
RUNS = FileKind("the file as it was written; remove it", 16 * MIB)
MANIFEST = FileKind("the file that numasim wrote; choose another folder", 16 * MIB)
OWN = FileKind("a file that numasim wrote, or another folder", 256 * MIB)
TABLE = FileKind("a results directory; run its sweep again, which makes the tables anew", 64 * GIB)


_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NO_FILES = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe or the output of another command",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class UnreadableError(InputError):
    """A file does not exist, or the system refuses to read it."""


def read_bytes(path: Path, kind: FileKind, place: str | None = None) -> bytes:
    """Return the contents of the file ``path``; ``place`` is the place in a document that names the file, if any.

    Raises InputError for a file that does not exist, cannot be read, is not regular, or is too large for its kind.
    """
    try:
        with open_regular(path, kind, place) as file:
            data = b"".join(_pieces(file, kind.most_bytes))
    except OSError as error:
        raise _unreadable(path, error, kind, place) from None
    if len(data) > kind.most_bytes:
        raise _too_large(path, kind, place)
    return data


def open_regular(path: Path, kind: FileKind, place: str | None = None) -> BufferedReader:
    """Open the file ``path``. Raises InputError as `read_bytes` does."""
    with ExitStack() as closing:
        try:
            handle = os.open(path, _FLAGS)
            closing.callback(os.close, handle)
            status = os.fstat(handle)
        except FileNotFoundError:
            raise _missing(path, kind, place) from None
        except (OSError, ValueError) as error:
            raise _unreadable(path, error, kind, place) from None
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{str(path)!r} is {_what(status.st_mode)}", place=place, expected=kind.name)
        if status.st_size > kind.most_bytes:
            raise _too_large(path, kind, place)
        closing.pop_all()  # the file closes the descriptor
        return os.fdopen(handle, "rb")


def is_file(path: Path) -> bool:
    """Return whether ``path`` is a regular file; False if the system cannot tell, for instance for too long a name."""
    return os.path.isfile(path)


def _pieces(file: BufferedReader, most_bytes: int) -> Iterator[bytes]:
    """Yield at most ``most_bytes`` + 1 bytes of the contents, usually in one piece."""
    left = most_bytes + 1
    size = os.fstat(file.fileno()).st_size + 1  # 1 for files of /proc and /sys, whose size is unknown
    while left > 0 and (piece := file.read(min(left, max(size, 64 * KIB)))):
        left -= len(piece)
        yield piece


def _what(mode: int) -> str:
    return _NO_FILES.get(stat.S_IFMT(mode), "no regular file")


def _missing(path: Path, kind: FileKind, place: str | None) -> UnreadableError:
    if not os.path.isdir(path.parent):
        return UnreadableError(f"there is no folder {str(path.parent)!r}", place=place, expected=kind.name)
    try:
        known = sorted(entry.name for entry in os.scandir(path.parent) if entry.is_file())
    except OSError:
        known = []
    problem = f"there is no file {str(path)!r}"
    return UnreadableError(problem, place=place, expected=kind.name, value=path.name, known=known)


def _unreadable(path: Path, error: OSError | ValueError, kind: FileKind, place: str | None) -> InputError:
    try:
        special = not stat.S_ISREG(mode := os.stat(path).st_mode) and not stat.S_ISDIR(mode)
    except (OSError, ValueError):
        special, mode = False, 0
    if special:  # a socket cannot be opened
        return InputError(f"{str(path)!r} is {_what(mode)}", place=place, expected=kind.name)
    problem = f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}"
    return UnreadableError(problem, place=place, expected=f"{kind.name} that can be read")


def _too_large(path: Path, kind: FileKind, place: str | None) -> InputError:
    size = f"{kind.most_bytes // GIB} GiB" if kind.most_bytes >= GIB else f"{kind.most_bytes // MIB} MiB"
    return InputError(f"{str(path)!r} is larger than {size}", place=place, expected=kind.name)


# ---- Text files: UTF-8, with or without a byte order mark, and without zero bytes ------------------------------------


def read_text(path: Path, kind: FileKind, place: str | None = None) -> str:
    """Return the text of the file ``path``. Raises InputError as `read_bytes` does, and for a byte that is no text."""
    return text_of(read_bytes(path, kind, place), str(path), kind.name)


def text_of(data: bytes, name: str, expected: str) -> str:
    """Return ``data`` of the file ``name`` as text; raise InputError for bytes that are no text in UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place(data, error.start, name)
        raise InputError("this file is not text in UTF-8", place=place, expected=expected) from None
    if "\0" in text:
        place = _place(data, data.index(b"\0"), name)
        raise InputError("the character U+0000 shows that this is a binary file", place=place, expected=expected)
    return text


def _place(data: bytes, at: int, name: str) -> str:
    begin = data.rfind(b"\n", 0, at) + 1
    column = len(data[begin:at].decode("utf-8-sig", "replace")) + 1
    line = data.count(b"\n", 0, at) + 1
    return f"{name}:{line}:{column}"


# ---- Text files of other programs: unpacked if the name ends in .gz, decoded by the encoding that the text declares --

HEAD = 4096  # bytes at the begin of a file, where a file declares its encoding
_DECLARED = re.compile(rb"""(?:encoding|charset)\s*=\s*["']?(iso-?8859-?1|latin-?1|windows-1252)\b""", re.IGNORECASE)


def read_foreign_text(path: Path, kind: FileKind) -> str:
    """Return the text of the file ``path``: UTF-8, or Latin-1 if a declaration in XML or DOT says so.

    Raises InputError as `read_text` does, for a damaged packed file, and for a file that is too large unpacked.
    """
    data = read_bytes(path, kind)
    if path.suffix == ".gz":
        data = _unpacked(data, path, kind)
    if _DECLARED.search(data[:HEAD]):
        try:
            data.decode()
        except UnicodeDecodeError:
            data = data.decode("latin-1").encode()
    return text_of(data, str(path), kind.name)


def _unpacked(data: bytes, path: Path, kind: FileKind) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            found = file.read(kind.most_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"this file cannot be unpacked: {error}", place=str(path), expected=kind.name) from None
    if len(found) > kind.most_bytes:
        problem = f"{str(path)!r} is larger than {kind.most_bytes // MIB} MiB unpacked"
        raise InputError(problem, expected=kind.name)
    return found


# ---- The hash of a file's contents, computed again only if the file may have changed ---------------------------------

RESTING_S = 2.0  # seconds; after so long without a change, the next change surely gives the file another time stamp


def hash_of_file(path: Path, kind: FileKind) -> str:
    """Return the 128-bit BLAKE2b hash of the file ``path``, 32 hex digits. Raises InputError as `read_bytes` does."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return _read_hash(path, kind)  # raises the InputError
    if time.time() - max(found.st_mtime, found.st_ctime) < RESTING_S:
        return _read_hash(path, kind)
    state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return _kept_hash(path, kind, state)


@lru_cache(maxsize=8)
def _kept_hash(path: Path, kind: FileKind, _: tuple[int, ...]) -> str:
    return _read_hash(path, kind)


def _read_hash(path: Path, kind: FileKind) -> str:
    return hash_of(read_bytes(path, kind))


def hash_of(content: bytes | BinaryIO) -> str:
    """Return the 128-bit BLAKE2b hash of ``content``, bytes or an open file, as 32 hex digits."""
    if isinstance(content, bytes):
        return blake2b(content, digest_size=16).hexdigest()
    content.seek(0)
    return file_digest(content, lambda: blake2b(digest_size=16)).hexdigest()  # type: ignore[arg-type]


# ---- Numbers in the text of a file that is not YAML or JSON ----------------------------------------------------------

_WHOLE = re.compile(r"-?[0-9]{1,19}")


def whole_number(text: str) -> int:
    """Return the number in the ASCII digits ``text``. Raises ValueError for other texts and for more than 64 bits."""
    value = int(text) if _WHOLE.fullmatch(text) else 2**63
    if not -(2**63) <= value < 2**63:
        raise ValueError("no whole number of 64 bits")
    return value


# ----------------------------------------------------------------------------------------------------------------------
# Whether a path exists, and the kind of its file. The functions raise OSError if the system cannot tell.


def is_there(path: Path | str) -> bool:
    """Return whether ``path`` exists; True for a dangling link. Raises OSError if the system cannot tell."""
    return _mode(path, follow=False) is not None


def is_folder(path: Path | str) -> bool:
    """Return whether ``path`` leads to a folder. Raises OSError if the system cannot tell."""
    return stat.S_ISDIR(_mode(path) or 0)


def is_regular(path: Path | str) -> bool:
    """Return whether ``path`` leads to a regular file. Raises OSError if the system cannot tell."""
    return stat.S_ISREG(_mode(path) or 0)


def _mode(path: Path | str, follow: bool = True) -> int | None:
    """Return the mode of the file at ``path``, None if there is no file."""
    try:
        return os.stat(path, follow_symlinks=follow).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
