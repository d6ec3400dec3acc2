"""JSON with bounded nesting, distinct keys, finite numbers and valid text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

from numasim.errors import InputError
from numasim.files.bounded_text import read_text
from numasim.files.file_kinds import FileKind

DEEPEST = 100  # levels of nesting
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = [0] * 256  # how much deeper a byte leads
for _opening, _closing in ("[]", "{}"):
    _STEPS[ord(_opening)], _STEPS[ord(_closing)] = 1, -1
_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(path: Path, kind: FileKind, place: str | None = None) -> Any:
    """The value in the file ``path``; InputError as for `read_text` and `parse_json`."""
    return parse_json(read_text(path, kind, place), str(path), kind.name)


def parse_json(
    text: str, name: str, expected: str, *, line: int = 0, decimal: Callable[[str], Any] | None = None
) -> Any:
    """The value of ``text``, the file ``name`` or a ``line`` of it; ``decimal`` makes numbers with a point or exponent.

    InputError for a text that is not JSON, and for nesting deeper than `DEEPEST`, a key that stands twice in one
    object, a number that is not finite or has thousands of digits, and half a surrogate pair.
    """
    here = f"{name}:{line}" if line else name
    _refuse_depth(text, here)
    try:
        found = json.loads(
            text,
            object_pairs_hook=distinct_keys,
            parse_constant=refuse_constant,
            parse_float=decimal or finite_number,
        )
        if _HALF_A_CHARACTER.search(text):
            json.dumps(found, ensure_ascii=False, default=str).encode()
    except json.JSONDecodeError as error:
        place = f"{name}:{max(line, 1) + error.lineno - 1}:{error.colno}"
        raise InputError(f"this is not JSON: {error.msg}", place=place, expected=expected) from None
    except UnicodeEncodeError:
        problem, remedy = "a text has half a surrogate pair", "both halves, or the character itself"
        raise InputError(problem, place=here, expected=remedy) from None
    except ValueError:  # int() refuses thousands of digits, which take long
        raise InputError("a whole number has thousands of digits", place=here, expected="at most 4,300") from None
    except InputError as error:
        error.place = here
        raise
    return found


def _refuse_depth(text: str, name: str) -> None:
    brackets = _STRING.sub("", text).encode(errors="replace").translate(None, _NO_BRACKETS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > DEEPEST:
        problem = f"values are nested deeper than {DEEPEST} levels"
        raise InputError(problem, place=name, expected="a flatter document")


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of ``pairs``; InputError for a key that stands there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(f"the key {twice!r} is given twice in one object", expected="every key once")
    return found


def refuse_constant(text: str) -> NoReturn:
    """InputError for NaN and Infinity, which Python would accept."""
    raise InputError(f"{text} is not allowed in JSON", expected="a finite number")


def finite_number(text: str) -> float:
    """The number of ``text``; InputError where it is beyond what 64 bits hold."""
    value = float(text)
    if not math.isfinite(value):
        raise InputError(f"the number {text[:20]} is out of range", expected="a finite number of moderate size")
    return value
