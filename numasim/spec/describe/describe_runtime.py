"""A runtime for people: every field with its value, and what it means where that is described."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from numasim.parts.models.runtime_model import RuntimeSpec

UNSAID = ("name", "sources")


def describe(runtime: RuntimeSpec) -> str:
    """The name, then a line for each field that has a value: its dotted name, the value and its meaning."""
    rows = list(_fields(runtime, ""))
    names, values = (max(len(row[at]) for row in rows) for at in (0, 1))
    lines = (f"  {name:<{names}}  {value:<{values}}  {meaning}".rstrip() for name, value, meaning in rows)
    return "\n".join([f"runtime {runtime.name}", *lines])


def _fields(model: BaseModel, above: str) -> Iterator[tuple[str, str, str]]:
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        path = f"{above}{field.alias or name}"
        if isinstance(value, BaseModel):
            yield from _fields(value, f"{path}.")
        elif value is not None and path not in UNSAID:
            yield path, _shown(value), field.description or ""


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
