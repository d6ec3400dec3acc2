"""Text files of other programs: unpacked where the name ends in .gz, and in the encoding that they declare."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from pathlib import Path

from numasim.errors import InputError
from numasim.files.bounded_bytes import read_bytes
from numasim.files.bounded_text import text_of
from numasim.files.file_kinds import MIB, FileKind

HEAD = 4096  # bytes in which a file declares its encoding
_DECLARED = re.compile(rb"""(?:encoding|charset)\s*=\s*["']?(iso-?8859-?1|latin-?1|windows-1252)\b""", re.IGNORECASE)


def read_foreign_text(path: Path, kind: FileKind) -> str:
    """The text in the file ``path``: UTF-8, or Latin-1 where XML or DOT declares that.

    InputError as for `read_text`, for a packed file that is damaged, and for one that is larger than its kind unpacked.
    """
    data = read_bytes(path, kind)
    if path.suffix == ".gz":
        data = _unpacked(data, path, kind)
    if _DECLARED.search(data[:HEAD]) and not _is_utf8(data):
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


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
