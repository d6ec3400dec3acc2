"""Standard output and standard error of a command.

If standard output cannot be written, the command ends quietly or with one sentence. A character that the encoding of a
stream lacks is replaced by legible ASCII. `lib/runtime/driver/main.c` has the same rule in C.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata
from typing import Any, TextIO

from numasim.errors import InputError

# ---- Legible ASCII for characters that the encoding of a terminal lacks ----------------------------------------------

LEGIBLE = "numasim-legible"  # the name of the error handler, for `errors` of a stream
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
_FIRST_LINE, _LAST_LINE = "\u2500", "\u257f"  # the first and last of the characters that draw boxes
_FIRST_BYTE, _LAST_BYTE = 0xDC80, 0xDCFF  # bytes of a path that are not UTF-8, as Python represents them


def legible(character: str) -> str:
    r"""Return ASCII that people read as ``character``; bytes of a path that are not UTF-8 become ``\xff``."""
    if _FIRST_BYTE <= ord(character) <= _LAST_BYTE:
        return f"\\x{ord(character) - 0xDC00:02x}"
    if _FIRST_LINE <= character <= _LAST_LINE:
        return _LINES.get(character, "+")
    plain = _WORDS.get(character) or unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or character.encode("ascii", "backslashreplace").decode()


def legible_text(text: str) -> str:
    """Return ``text`` with legible ASCII for characters that UTF-8 cannot encode, such as bytes of a path."""
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
    """Guard the standard streams of the process.

    Writing to standard output then raises InputError if the output cannot be written, and SystemExit with `PIPE_CLOSED`
    if nobody reads the pipe. Writing to standard error never fails. Other streams, as in tests and notebooks, stay
    unchanged. Raises InputError if standard output is closed.
    """
    closed = sys.stdout is None
    _fill_descriptors()
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(_Stream(ERRORS)), errors=LEGIBLE)
    sys.stderr = _guarded(sys.stderr, sys.__stderr__, _Stream(ERRORS))
    if closed:
        raise InputError("standard output is closed", expected=WRITABLE)
    sys.stdout = _guarded(sys.stdout, sys.__stdout__, _Stream(OUTPUT))


def _fill_descriptors() -> None:
    """Open the null device at each standard descriptor that is closed.

    Otherwise the next opened file would get the number of the closed stream, and the output of the stream.
    """
    for number in range(ERRORS + 1):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the system assigns the lowest free number: the closed one


class _Stream(io.FileIO):
    """A standard descriptor of the process. After the first error of writing, all further output is dropped."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._failed = False

    def write(self, data: Any, /) -> int:
        try:
            if not self._failed:
                return super().write(data)
        except OSError as error:
            self._failed = True
            if self.fileno() == OUTPUT:  # errors of standard error cannot be reported
                if isinstance(error, BrokenPipeError):
                    raise SystemExit(PIPE_CLOSED) from None
                problem = f"standard output cannot be written ({error.strerror})"
                raise InputError(problem, expected=WRITABLE) from error
        return memoryview(data).nbytes


def _guarded(stream: TextIO, own: TextIO | None, raw: _Stream) -> TextIO:
    """Return a stream that writes to ``raw`` if ``stream`` is the ``own`` stream of the process, else ``stream``."""
    if stream is not own:
        return stream
    line_buffering = getattr(stream, "line_buffering", False)
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, LEGIBLE, line_buffering=line_buffering)
