"""Lists of numbers on one line, taken out of a text before it is parsed as YAML.

The parser takes 30 microseconds for a value, and a machine of 256 nodes has a matrix of 65,536 latencies. So each list
such as `[77, 124.5]` is replaced by as many marks as it has characters, which the parser takes for one word, and every
place in the text stays as it is. Where the list was text after all, as in quotes or in the middle of a sentence, the
characters come back. A list is left to the parser where something stands directly behind it, such as a comment.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

MARK = "\ue000"  # of the private use area, which has no characters
_NUMBER = r"[-+]?\.?[0-9][0-9.eE+-]*+"
_NUMBERS = re.compile(rf"(?:(?<=[\s\[,])|^)\[ *+{_NUMBER}(?: *+, *+{_NUMBER})++ *+\](?=[\s,\]}}]|$)")
_MARKS = re.compile(f"{MARK}+")
_OWN_MARK = re.compile(rf"{MARK}|\\u0*e000", re.IGNORECASE)  # itself, or as an escape in quotes
_COMMA = re.compile(" *, *")


@dataclass(frozen=True)
class PackedText:
    """``text`` with marks in place of lists of numbers, which begin at ``starts``, ascending, and read ``lists``."""

    text: str
    starts: list[int]
    lists: list[str]

    def restored(self, value: str, begin: int) -> str:
        """What a scalar that begins at ``begin`` says, for which the parser found ``value``."""
        if not self.lists:
            return value
        at = bisect_left(self.starts, begin)

        def lists(marks: re.Match[str]) -> str:
            nonlocal at
            first, left = at, len(marks[0])
            while left > 0:  # lists that stood on two lines of a text in quotes may have come together
                left -= len(self.lists[at])
                at += 1
            return "".join(self.lists[first:at])

        return _MARKS.sub(lists, value)


def packed(text: str) -> PackedText:
    """``text`` with its lists of numbers taken out; none are where the text has marks of its own."""
    found = [] if _OWN_MARK.search(text) else list(_NUMBERS.finditer(text))
    if not found:
        return PackedText(text, [], [])
    return PackedText(
        _NUMBERS.sub(lambda match: MARK * len(match[0]), text),
        [match.start() for match in found],
        [match[0] for match in found],
    )


def items(numbers: str) -> list[tuple[int, str]]:
    """The items of such a list, each with its distance from the list's beginning."""
    inside = numbers[1:-1]
    first = 1 + len(inside) - len(inside.lstrip(" "))
    found, at = [], first
    for match in _COMMA.finditer(numbers, first, len(numbers) - 1):
        found.append((at, numbers[at : match.start()]))
        at = match.end()
    return [*found, (at, numbers[at:-1].rstrip(" "))]
