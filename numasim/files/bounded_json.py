"""Reading of JSON: nesting is bounded, the keys of an object differ, numbers are finite, texts are valid Unicode."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from numasim.errors import InputError
from numasim.files.reader import MIB, FileKind, read_text

DEEPEST = 100  # levels of nesting
_NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
NEWLINE = "\n"
_STEPS = [(chr(byte) in "[{") - (chr(byte) in "]}") for byte in range(256)]  # change of the nesting depth by a byte
SHORT = 2**16  # characters; the decoder soon finds that a text of at most this length is cut off
_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(path: Path, kind: FileKind, place: str | None = None) -> Any:
    """Return the value in the file ``path``. Raises InputError as `read_text` and `parse_json` do."""
    return parse_json(read_text(path, kind, place), str(path), kind.name)


def parse_json(text: str, name: str, expected: str, *, decimal: Callable[[str], Any] | None = None) -> Any:
    """Return the value of ``text`` of the file ``name``; ``decimal`` converts numbers with a point or exponent.

    Raises InputError for a text that is no JSON, nesting deeper than `DEEPEST`, a repeated key in one object, a number
    that is not finite or has thousands of digits, and half a surrogate pair.
    """
    with json_errors(text, name, expected):
        found = _decoder(decimal or finite_number).decode(text)
        if may_have_halves(text):
            refuse_halves(found)
    return found


def may_have_halves(text: str) -> bool:
    """Return whether ``text`` has an escape of one or both halves of a surrogate pair."""
    return "\\" in text and bool(_HALF_A_CHARACTER.search(text))


def refuse_halves(value: Any) -> None:
    """Raise UnicodeEncodeError for half a surrogate pair in ``value``."""
    json.dumps(value, ensure_ascii=False, default=str).encode()


@contextmanager
def json_errors(text: str, name: str, expected: str) -> Iterator[None]:
    """Raise InputError for too deep nesting of ``text``; turn decoding errors of the block into placed InputErrors."""
    deepest, left_open = depths(text)
    if deepest > DEEPEST:
        problem = f"values are nested deeper than {DEEPEST} levels"
        raise InputError(problem, place=name, expected="a flatter document")
    if left_open and len(text) > SHORT:  # the decoder would see the missing bracket only at the end of the text
        place = f"{name}:{text.count(NEWLINE) + 1}:{len(text) - text.rfind(NEWLINE)}"
        problem = f"this is not JSON: the text ends and {left_open} of its brackets are open"
        raise InputError(problem, place=place, expected="the whole file")
    try:
        yield
    except json.JSONDecodeError as error:
        place = f"{name}:{error.lineno}:{error.colno}"
        raise InputError(f"this is not JSON: {error.msg}", place=place, expected=expected) from None
    except UnicodeEncodeError:
        problem, remedy = "a text has half a surrogate pair", "both halves, or the character itself"
        raise InputError(problem, place=name, expected=remedy) from None
    except ValueError:  # int() refuses thousands of digits, because the conversion is slow
        raise InputError("a whole number has thousands of digits", place=name, expected="at most 4,300") from None
    except InputError as error:
        error.place = error.place or name
        raise


def depths(text: str) -> tuple[int, int]:
    """Return the deepest nesting in ``text``, and the number of open brackets at its end."""
    import numpy as np

    marks = text.encode(errors="replace")
    if b"\\" in marks:  # after pairs of backslashes are removed, a backslash before a quote escapes the quote
        marks = marks.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = marks.translate(None, _NO_MARKS)
    marks = marks.replace(b'""', b"")  # no bracket lies between adjacent quotes
    steps_of = np.array(_STEPS, np.int8)
    deepest = depth = quotes = 0
    for begin in range(0, len(marks), MIB):
        part = np.frombuffer(marks, np.uint8, min(MIB, len(marks) - begin), begin)
        before = quotes + np.cumsum(part == ord('"'), dtype=np.uint8)  # modulo 256: only the parity counts
        found = depth + np.cumsum(steps_of[part] * (1 - (before & 1)).view(np.int8), dtype=np.int32)
        deepest, depth, quotes = max(deepest, int(found.max())), int(found[-1]), int(before[-1]) & 1
    return deepest, depth


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of ``pairs``. Raises InputError for a repeated key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(f"the key {twice!r} is given twice in one object", expected="every key once")
    return found


def refuse_constant(text: str) -> NoReturn:
    """Raise InputError for NaN and Infinity, which Python would accept."""
    raise InputError(f"{text} is not allowed in JSON", expected="a finite number")


def finite_number(text: str) -> float:
    """Return the number of ``text``. Raises InputError for a number beyond the range of 64-bit floating point."""
    value = float(text)
    if not math.isfinite(value):
        raise InputError(f"the number {text[:20]} is out of range", expected="a finite number of moderate size")
    return value


def _decoder(decimal: Callable[[str], Any]) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=distinct_keys, parse_constant=refuse_constant, parse_float=decimal)


DECODER: Any = _decoder(finite_number)  # of type Any, since typeshed lacks `scan_once`
