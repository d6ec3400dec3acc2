"""Standard output and standard error of a command: where they take nothing more, it ends quietly or in one sentence,
and where their encoding lacks a character, what people read as it stands there.

`lib/runtime/driver/standard_streams.c` is the same rule in C.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata
from typing import Any, TextIO

from numasim.errors import InputError

# ---- What stands on a terminal for a character that its encoding has not, such as one of ASCII alone -----------------

LEGIBLE = "numasim-legible"  # the name of the rule, as `errors` of a stream
_WORDS = {
    "\u00d7": "x",  # times
    "µ": "u",
    "μ": "u",
    "±": "+-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "·": ".",
    "…": "...",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "█": "#",
    "▓": "=",
    "▒": ":",
    "░": ".",
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
}
_LINES = {"─": "-", "━": "-", "╌": "-", "│": "|", "┃": "|", "╎": "|"}
_FIRST_LINE, _LAST_LINE = "\u2500", "\u257f"  # of the characters that draw boxes
_FIRST_BYTE, _LAST_BYTE = 0xDC80, 0xDCFF  # bytes of a path that are not UTF-8, as Python represents them


def legible(character: str) -> str:
    r"""ASCII that people read as ``character``; bytes of a path that are not UTF-8 become ``\xff``."""
    if _FIRST_BYTE <= ord(character) <= _LAST_BYTE:
        return f"\\x{ord(character) - 0xDC00:02x}"
    if _FIRST_LINE <= character <= _LAST_LINE:
        return _LINES.get(character, "+")
    plain = _WORDS.get(character) or unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or character.encode("ascii", "backslashreplace").decode()


def legible_text(text: str) -> str:
    """``text`` with what UTF-8 cannot hold, such as the bytes of a path, in legible characters."""
    return text.encode(errors=LEGIBLE).decode()


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(legible, error.object[error.start : error.end])), error.end


codecs.register_error(LEGIBLE, _replace)


OUTPUT, ERRORS = 1, 2  # descriptors
PIPE_CLOSED = 141  # the status that a shell gives to a program ended by SIGPIPE: 128 + 13
WRITABLE = "a terminal, a pipe, a file on a disk with free space, or /dev/null"


def guard_standard_streams() -> None:
    """Let writing to standard output raise `InputError` where it cannot be written, and `SystemExit` with
    `PIPE_CLOSED` where nobody reads it any more; nothing that is written to standard error fails, and no character.

    Streams that are not those of the process, as in tests and notebooks, stay as they are. Raises `InputError` where
    standard output is closed.
    """
    closed = sys.stdout is None
    _fill_descriptors()
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(_Errors(ERRORS)), errors=LEGIBLE)
    sys.stderr = _guarded(sys.stderr, sys.__stderr__, _Errors(ERRORS))
    if closed:
        raise InputError("standard output is closed", expected=WRITABLE)
    sys.stdout = _guarded(sys.stdout, sys.__stdout__, _Output(OUTPUT))


def _fill_descriptors() -> None:
    """Open what is closed of the three standard descriptors: else the next file would get its number, and with it what
    is meant for the stream.
    """
    for number in range(ERRORS + 1):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number


class _Stream(io.FileIO):
    """One of the standard descriptors; after the first error all that is written is dropped."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._failed = False

    def write(self, data: Any, /) -> int:
        try:
            if not self._failed:
                return super().write(data)
        except OSError as error:
            self._failed = True
            self.fail(error)
        return memoryview(data).nbytes

    def fail(self, error: OSError) -> None:
        """Tell of the first error."""


class _Errors(_Stream):
    """Standard error: nobody can be told."""


class _Output(_Stream):
    """Standard output."""

    def fail(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            raise SystemExit(PIPE_CLOSED)
        raise InputError(f"standard output cannot be written ({error.strerror})", expected=WRITABLE) from error


def _guarded(stream: TextIO, own: TextIO | None, raw: _Stream) -> TextIO:
    """``stream`` by way of ``raw`` where it is the process's ``own``."""
    if stream is not own:
        return stream
    line_buffering = getattr(stream, "line_buffering", False)
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, LEGIBLE, line_buffering=line_buffering)
