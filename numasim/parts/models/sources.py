"""The ``sources`` of a machine file, which say where each value comes from, and the numbers without a source.

A source may begin with a mark: ``measured:`` (a program measured the value on the machine), ``read:`` (a system or its
firmware gave the value), ``derived:`` (the value follows
from other values by a stated rule) or ``assumed:`` (no measurement and no document gives the value). A source without a
mark cites a document, and counts as ``read``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal, get_args

from pydantic import BaseModel

from numasim.errors import InputError

Mark = Literal["measured", "read", "derived", "assumed"]
MARKS: tuple[Mark, ...] = get_args(Mark)


def mark_of(source: str) -> Mark:
    """Return the mark of a source: ``assumed`` also if ``(assumed)`` stands anywhere in the text."""
    if source.startswith("assumed") or "(assumed)" in source:
        return "assumed"
    marks: tuple[Mark, Mark] = ("measured", "derived")
    return next((mark for mark in marks if source.startswith(mark)), "read")


def marked(sources: Mapping[str, str], mark: Mark) -> dict[str, str]:
    """Return the sources with ``mark``, by dotted field; the mark is cut off each source."""
    return {field: text.removeprefix(f"{mark}:").lstrip() for field, text in sources.items() if mark_of(text) == mark}


def check_source_fields(sources: Mapping[str, str], spec: BaseModel) -> None:
    """Raise InputError for a source without text, and for a source of a field that the file does not give."""
    fields = {field for field, _ in _fields(_given(spec))}
    for field, text in sources.items():
        if field not in fields:
            problem = f"this file has no field {field!r}"
            expected = "a dotted field of the machine, such as 'nodes.memory'"
            raise InputError(problem, path=("sources", field), expected=expected, value=field, known=sorted(fields))
        if not text.strip():
            raise InputError(f"the source of {field!r} is empty", path=("sources", field), expected="its source")


def unsourced(spec: BaseModel) -> list[str]:
    """Return the dotted fields with numbers for which neither the field nor any field above it has a source."""
    sources = getattr(spec, "sources", {})
    given = [(field, value) for field, value in _fields(_given(spec)) if not isinstance(value, bool)]
    numbers = {field for field, value in given if isinstance(value, int | Decimal)}
    return sorted(field for field in numbers if not any(f"{field}.".startswith(f"{above}.") for above in sources))


def _given(spec: BaseModel) -> dict[str, Any]:
    return spec.model_dump(by_alias=True, exclude_unset=True, exclude={"sources", "name"})


def _fields(value: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted path and the value of every field; items of a list have the path of the list."""
    if isinstance(value, Mapping):
        pairs = [(f"{above}.{key}" if above else str(key), item) for key, item in value.items()]
    else:
        pairs = [(above, item) for item in value] if isinstance(value, list | tuple) else []
    for path, item in pairs:
        yield path, item
        yield from _fields(item, path)
