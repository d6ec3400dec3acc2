"""A family of workloads for people: its parameters, which are needed, and what the others are without a value."""

from __future__ import annotations

from collections.abc import Iterator

from numasim.workload.registry import PARAMETERS, described


def describe_family(name: str) -> str:
    """What the family ``name`` is, and a line for each parameter: its name, its default and its meaning."""
    rows = list(_parameters(name))
    names, defaults = (max(len(row[at]) for row in rows) for at in (0, 1))
    lines = (f"  {name:<{names}}  {default:<{defaults}}  {meaning}".rstrip() for name, default, meaning in rows)
    return "\n".join([f"{name}  {described(name)}", *lines])


def _parameters(name: str) -> Iterator[tuple[str, str, str]]:
    for key, field in PARAMETERS[name].model_fields.items():
        if key != "name":
            default = "needed" if field.is_required() else "may be left out" if field.default is None else field.default
            yield field.alias or key, str(default), field.description or ""
