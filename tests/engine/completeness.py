"""Check that Python gives the native engine exactly the fields that `numasim.schema` declares for a structure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import CodeType
from typing import Any

from numasim.schema.field_kinds import Computed, Field, Listed, Part, Structure

Given = Mapping[str, Any]


class SchemaError(Exception):
    """The given fields differ from the schema: a defect of this package, not of the user's input."""


def complete(structure: Structure, given: dict[str, Any]) -> None:
    """Raise SchemaError, which names all differences, unless ``given`` has the fields of ``structure``."""
    if wrong := list(_mistakes(structure, given, given, "")):
        raise SchemaError("; ".join(wrong))


def _mistakes(structure: Structure, given: Given, known: Given, place: str) -> Iterator[str]:
    """Yield the differences of one mapping from its structure; conditions of fields refer to values of ``known``."""
    fields = list(_present(structure, known))
    names = [field.name for field in fields]
    yield from (f"{place}{name} is given, but not in the schema" for name in given if name not in names)
    for field in fields:
        if field.name not in given:
            yield f"{place}{field.name} is in the schema, but not given"
        elif isinstance(field, Listed):
            for at, entry in enumerate(given[field.name]):
                yield from _mistakes(field.of, entry, {**known, **entry}, f"{place}{field.name}.{at}.")


def _present(structure: Structure, known: Given) -> Iterator[Field]:
    """Yield the fields of a structure, and of its parts, whose conditions hold."""
    for field in structure.fields:
        if isinstance(field, Computed) or (field.when and not eval(_compiled(field.when), {"len": len}, dict(known))):
            continue
        if isinstance(field, Part):
            yield from _present(field.of, known)
        else:
            yield field


@cache
def _compiled(condition: str) -> CodeType:
    return compile(condition, "a field's condition", "eval")
