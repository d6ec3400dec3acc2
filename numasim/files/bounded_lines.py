"""The lines of a text file one by one, in bounded memory, unpacked where the name ends in .gz.

However far a packed file unpacks, no more than one line of it is held.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from numasim.errors import InputError
from numasim.files.bounded_bytes import open_regular
from numasim.files.bounded_text import text_of
from numasim.files.file_kinds import MIB, FileKind

LONGEST_LINE = MIB  # bytes


def bounded_lines(path: Path, kind: FileKind) -> Iterator[tuple[int, str]]:
    """(number, text) of each line; InputError as for `read_text`, for a line longer than `LONGEST_LINE`, and for a
    packed file that breaks off or is damaged.
    """
    number = 0
    with open_regular(path, kind) as raw, gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw as file:
        while True:
            number += 1
            try:
                line = file.readline(LONGEST_LINE + 1)
            except (OSError, EOFError, zlib.error) as error:
                reason = getattr(error, "strerror", None) or str(error)
                place = f"{path}:{number}"
                raise InputError(f"cannot be read from here on: {reason}", place=place, expected=kind.name) from None
            if not line:
                return
            if len(line) > LONGEST_LINE:
                problem = f"this line is longer than {LONGEST_LINE // MIB} MiB"
                raise InputError(problem, place=f"{path}:{number}", expected=kind.name)
            yield number, text_of(line, str(path), kind.name, number)
