"""The words of a text in DOT: names, quoted texts, numbers, HTML and signs, with the lines on which they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from numasim.errors import InputError

EXPECTED = "a digraph of the DOT language"
NAME, QUOTED, SIGN, END = "name", "quoted", "sign", "end"
_WORD = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])\#[^\n]*)"""
    r"""|(?P<name>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))"""
    r"""|(?P<quoted>"[^"\\]*+(?:\\.[^"\\]*+)*+")"""
    r"""|(?P<sign>->|--|[{}\[\];,=:+])""",
    re.DOTALL,
)
_ANGLE = re.compile("[<>]")


class Word(NamedTuple):
    """One word: its kind, what it says, and where it begins."""

    kind: str
    text: str
    at: int


class DotText:
    """A text and the lines of its characters."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self._begins = [0, *(found.end() for found in re.finditer("\n", text))]

    def line(self, at: int) -> int:
        """The number of the line of a character."""
        return bisect_right(self._begins, at)

    def refuse(self, problem: str, at: int, expected: str = EXPECTED) -> NoReturn:
        """Raise an InputError with the line of a character."""
        line = self.line(at)
        place = f"{self.path}:{line}:{at - self._begins[line - 1] + 1}"
        raise InputError(problem, place=place, expected=expected)

    def words(self) -> Iterator[Word]:
        """The words in their order, the last one being `END`; InputError for what is none."""
        text, at, end = self.text, 0, len(self.text)
        while at < end:
            found = _WORD.match(text, at)
            if found is None:
                if text[at] != "<":
                    self._refuse_word(at)
                close = self._close(at)
                yield Word(QUOTED, text[at:close], at)
                at = close
                continue
            kind, begin, at = found.lastgroup, at, found.end()
            if kind == QUOTED:
                yield Word(QUOTED, _unquoted(found[0]), begin)
            elif kind in (NAME, SIGN):
                yield Word(kind, found[0], begin)
        yield Word(END, "", max(end - 1, 0))

    def _close(self, at: int) -> int:
        """Where the HTML that begins there ends."""
        depth = 0
        for found in _ANGLE.finditer(self.text, at):
            depth += 1 if found[0] == "<" else -1
            if depth == 0:
                return found.end()
        self.refuse("an HTML text is not closed", at, "a > for each <")

    def _refuse_word(self, at: int) -> NoReturn:
        if self.text[at] == '"':
            self.refuse("a quoted text is not closed", at, 'a second "')
        if self.text.startswith("/*", at):
            self.refuse("a remark is not closed", at, "*/")
        self.refuse(f"the character {self.text[at]!r} begins no word", at)


def _unquoted(text: str) -> str:
    return text[1:-1].replace("\\\r\n", "").replace("\\\n", "").replace('\\"', '"')
