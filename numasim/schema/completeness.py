"""Whether the fields that Python gives are those of the schema, no more and no fewer, each of its type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    Text,
    Value,
    Word,
)

Given = Mapping[str, Any]


class SchemaMismatch(Exception):
    """The fields that are given are not those of the schema: a mistake in this package, not in what users write."""


def complete(structure: Structure, given: dict[str, Any]) -> dict[str, Any]:
    """``given``, which has the fields of ``structure``; else SchemaMismatch, which names them all."""
    wrong = list(_mistakes(structure, given, given, ""))
    if wrong:
        raise SchemaMismatch("; ".join(wrong))
    return given


def _mistakes(structure: Structure, given: Given, known: Given, place: str) -> Iterator[str]:
    """What is wrong with the fields of one mapping; ``known`` are the values that conditions speak of."""
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
    """The fields that are there, those of parts among them."""
    for field in structure.fields:
        if isinstance(field, Computed) or not _holds(field.when, known):
            continue
        if isinstance(field, Part):
            yield from _present(field.of, known)
        else:
            yield field


def _holds(condition: str, known: Given) -> bool:
    return not condition or bool(eval(condition, {"__builtins__": {}, "len": len}, dict(known)))


def _fits(field: Field, value: Any) -> bool:
    match field:
        case Array():
            return getattr(value, "dtype", None) == field.type and value.ndim == 1
        case Arrays():
            return isinstance(value, list) and all(each.dtype == field.type and each.ndim == 1 for each in value)
        case Records():
            return getattr(value, "dtype", None) == "uint8" and len(value) % field.of.bytes == 0
        case Flag():
            return isinstance(value, bool)
        case Integer() | Word() | Value():
            return isinstance(value, int) and not isinstance(value, bool)
        case Choice():
            return value in get_args(field.of)
        case Text():
            return isinstance(value, str)
    return False


def _described(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    return f"{type(value).__name__}{'' if dtype is None else f' of {dtype}'}"
