"""What stands on a terminal for a character that its encoding has not, such as one of ASCII alone."""

from __future__ import annotations

import codecs
import unicodedata

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
