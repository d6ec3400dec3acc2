"""Check that Python gives exactly the fields of the schema, each field with the type of the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import CodeType
from typing import Any, get_args

from numasim.schema.field_kinds import (
    Array,
    Arrays,
    Choice,
    Computed,
    Field,
    Flag,
    Integer,
    Listed,
    Part,
    Records,
    Structure,
    Value,
)

Given = Mapping[str, Any]


class SchemaError(Exception):
    """The given fields differ from the schema: a defect of this package, not of the user's input."""


def complete(structure: Structure, given: dict[str, Any]) -> dict[str, Any]:
    """Return ``given`` if it has the fields of ``structure``; else raise SchemaError, which names all differences."""
    wrong = list(_mistakes(structure, given, given, ""))
    if wrong:
        raise SchemaError("; ".join(wrong))
    return given


def _mistakes(structure: Structure, given: Given, known: Given, place: str) -> Iterator[str]:
    """Return the differences of one mapping; ``known`` are the values that conditions refer to."""
    fields = list(_present(structure, known))
    names = [field.name for field in fields]
    yield from (f"{place}{name} is given, but not in the schema" for name in given if name not in names)
    for field in fields:
        if field.name not in given:
            yield f"{place}{field.name} is in the schema, but not given"
        elif isinstance(field, Listed):
            for at, entry in enumerate(given[field.name]):
                yield from _mistakes(field.of, entry, {**known, **entry}, f"{place}{field.name}.{at}.")
        elif not _fits(field, given[field.name]):
            yield f"{place}{field.name} is {_described(given[field.name])}, which is no {type(field).__name__} as there"


def _present(structure: Structure, known: Given) -> Iterator[Field]:
    """Return the fields that are present, including those of parts."""
    for field in structure.fields:
        if isinstance(field, Computed) or not _holds(field.when, known):
            continue
        if isinstance(field, Part):
            yield from _present(field.of, known)
        else:
            yield field


def _holds(condition: str, known: Given) -> bool:
    return not condition or bool(eval(_compiled(condition), {"__builtins__": {}, "len": len}, dict(known)))


@cache
def _compiled(condition: str) -> CodeType:
    return compile(condition, "a field's condition", "eval")


def _fits(field: Field, value: Any) -> bool:
    return bool(_CHECKS[type(field)](field, value))


def _is_array(value: Any, dtype: str) -> bool:
    return getattr(value, "dtype", None) == dtype and value.ndim == 1


def _is_integer(_: Field, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_CHECKS: dict[type[Field], Callable[[Any, Any], bool]] = {
    Array: lambda field, value: _is_array(value, field.type),
    Arrays: lambda field, value: isinstance(value, list) and all(_is_array(each, field.type) for each in value),
    Records: lambda field, value: _is_array(value, "uint8") and len(value) % field.of.bytes == 0,
    Flag: lambda _, value: isinstance(value, bool),
    Integer: _is_integer,
    Value: _is_integer,
    Choice: lambda field, value: value in get_args(field.of),
}


def _described(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    return f"{type(value).__name__}{'' if dtype is None else f' of {dtype}'}"
