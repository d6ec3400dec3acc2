"""Reading of JSON value by value, in the order of the text.

The first wrong value ends the reading. Besides the text, the memory holds one value at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed's stubs lack it
from typing import Any

from numasim.errors import InputError
from numasim.files.bounded_json import (
    DECODER,
    finite_number,
    may_have_halves,
    refuse_constant,
    refuse_halves,
)
from numasim.files.reader import MIB

WINDOW = MIB // 16  # characters of the text that are decoded at once: so few that their values fit in a cache
LONGEST = 8 * MIB  # most characters of one value, whose Python objects take up to 25 bytes a character
_SPACE = re.compile(r"[ \t\n\r]*")
_ENDS = {"{": ("]},", "},"), "[": ("],",)}  # first character of an element -> possible ends of the element
_PLAIN: Any = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite_number)
_NEAR_THE_END = 16  # characters before the end of a window, where a value that is cut off may look wrong or shorter


class LongValueError(InputError):
    """A value is too long to be decoded at once."""


@dataclass(frozen=True)
class Batch:
    """Consecutive elements of a list: the values and the text, which ends at ``end``.

    An object that repeats a key has only the last value of the key.
    """

    values: list[Any]
    text: str
    end: int

    def has_distinct_keys(self, keys: int) -> bool:
        """Return whether no object repeats a key; ``keys`` is the sum of all objects' numbers of keys."""
        if self.text.count(":") == keys:
            return True
        try:
            DECODER.scan_once(f"[{self.text}]", 0)
        except InputError:
            return False
        return True

    def has_halves(self) -> bool:
        """Return whether a text in the batch has half a surrogate pair."""
        try:
            refuse_halves(self.values)
        except UnicodeEncodeError:
            return True
        return False


class JsonWalk:
    """A position in the JSON ``text``, at first at its outermost value.

    Callers turn the errors for a text that is no JSON into InputErrors by `numasim.files.bounded_json.json_errors`.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._begin = 0  # the begin of the window in the text
        self._window = text[:WINDOW]
        self._halves = may_have_halves(text)
        self._at = _after_spaces(text, 0)

    def begins(self, character: str) -> bool:
        """Return whether the value at the position begins with ``character``."""
        return self._text.startswith(character, self._at)

    def value(self, longest: int | None = None) -> Any:
        """Return the value at the position, and move behind the value.

        Raises `LongValueError` for a value of more than ``longest`` characters (default `LONGEST`); the position stays.
        """
        try:
            found, end = DECODER.scan_once(self._window, self._at - self._begin)
            whole = self._is_whole(end)
        except (StopIteration, json.JSONDecodeError):
            whole = False
        if not whole:
            found, end = self._in_a_larger_window(longest or LONGEST)
        if self._halves:
            refuse_halves(found)
        self._at = self._begin + end
        return found

    def members(self) -> Iterator[str]:
        """Yield the keys of the object at the position. At each key the caller reads the value."""
        seen: set[str] = set()
        for _ in self._parts("{", "}"):
            if not self.begins('"'):
                raise self._wrong("Expecting property name enclosed in double quotes")
            key, self._at = scanstring(self._text, self._at + 1, True)
            if self._halves:
                refuse_halves(key)
            if key in seen:
                raise InputError(f"the key {key!r} is given twice in one object", expected="every key once")
            seen.add(key)
            self._at = _after_spaces(self._text, self._at)
            self._pass(":", "Expecting ':' delimiter")
            yield key

    def elements(self, take: Callable[[Batch], bool] | None = None) -> Iterator[int]:
        """Yield the indices of the elements of the list at the position. At each index the caller reads the element.

        Batches of elements are passed to ``take`` first. The elements of a batch for which ``take`` returns True are
        skipped.
        """
        return self._parts("[", "]", take)

    def end(self) -> None:
        """Raise an error if text follows the outermost value."""
        self._at = _after_spaces(self._text, self._at)
        if self._at < len(self._text):
            raise self._wrong("Extra data")

    def _parts(self, opening: str, closing: str, take: Callable[[Batch], bool] | None = None) -> Iterator[int]:
        self._pass(opening, "Expecting value")
        number = refused = 0
        while number or not self.begins(closing):
            batch = self._batch() if take and self._at >= refused else None
            if take and batch and take(batch):
                number, self._at = number + len(batch.values), batch.end
            else:
                refused = batch.end if batch else refused
                yield number
                number += 1
            self._at = _after_spaces(self._text, self._at)
            if self.begins(closing):
                break
            self._pass(",", "Expecting ',' delimiter")
        self._at += 1

    def _pass(self, character: str, problem: str) -> None:
        if not self.begins(character):
            raise self._wrong(problem)
        self._at = _after_spaces(self._text, self._at + 1)

    def _wrong(self, problem: str, at: int | None = None) -> json.JSONDecodeError:
        return json.JSONDecodeError(problem, self._text, self._at if at is None else at)

    def _batch(self) -> Batch | None:
        """Return the next elements that lie whole in the window; None if there is no such element or one is wrong."""
        if 2 * (self._at - self._begin) > len(self._window) and not self._is_last():
            self._begin, self._window = self._at, self._text[self._at : self._at + WINDOW]
        begin = self._at - self._begin
        values, end = self._at_once(begin) or self._one_by_one(begin)
        batch = Batch(values, self._window[begin:end], self._begin + end)
        return batch if values and not (self._halves and batch.has_halves()) else None

    def _at_once(self, begin: int) -> tuple[list[Any], int] | None:
        """Return the elements up to the last likely end of an element, decoded together; None if that is no end."""
        for mark in _ENDS.get(self._window[begin : begin + 1], (",",)):
            cut = self._window.rfind(mark, begin + 1, len(self._window) - 1)
            if cut > (begin + len(self._window)) // 2:
                end = cut + len(mark) - 1
                elements = f"[{self._window[begin:end]}]"
                try:
                    values, passed = _PLAIN.scan_once(elements, 0)
                except (StopIteration, ValueError, InputError):
                    continue
                if passed == len(elements):  # otherwise the list itself ends before
                    return values, end
        return None

    def _one_by_one(self, begin: int) -> tuple[list[Any], int]:
        """Return the elements before the first element that is cut off or wrong."""
        values: list[Any] = []
        at = end = begin
        try:
            while True:
                value, at = _PLAIN.scan_once(self._window, at)
                if not self._is_whole(at):
                    break
                values.append(value)
                end, at = at, _after_spaces(self._window, at)
                if not self._window.startswith(",", at):
                    break
                at = _after_spaces(self._window, at + 1)
        except (StopIteration, ValueError, InputError):
            pass
        return values, end

    def _is_whole(self, end: int) -> bool:
        """Return whether a value that ends at ``end`` in the window also ends there in the text."""
        return end + _NEAR_THE_END < len(self._window) or self._is_last()

    def _is_last(self) -> bool:
        return self._begin + len(self._window) == len(self._text)

    def _in_a_larger_window(self, longest: int) -> tuple[Any, int]:
        """Return the value at the position, and the end of the value in a new window from the position on."""
        for size in sorted({WINDOW, longest}):
            self._begin, self._window = self._at, self._text[self._at : self._at + size]
            try:
                found, end = DECODER.scan_once(self._window, 0)
                if self._is_whole(end):
                    return found, end
                problem, at = "", end
            except StopIteration as stop:
                problem, at = "Expecting value", stop.value
            except json.JSONDecodeError as error:
                problem, at = error.msg, error.pos
            cut_off = problem.startswith("Unterminated string") or at >= len(self._window) - _NEAR_THE_END
            if self._is_last() or not cut_off:
                raise self._wrong(problem, self._begin + at)
        raise LongValueError(f"a value is longer than {longest // MIB} MiB", expected="shorter ones")


def _after_spaces(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
