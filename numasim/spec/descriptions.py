"""Descriptions for people, in lines of text, of the shipped sweeps, families of workloads and runtimes."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from numasim.parts import catalog
from numasim.parts.base import canonical_json
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.spec.run_spec import read_spec
from numasim.spec.sweep_spec import SweepSpec, load_sweep
from numasim.workload.registry import PARAMETERS, described


def describe_sweep(name: str) -> str:
    """Return lines of text about the shipped sweep ``name``: its description, number of runs, fields and axes."""
    loaded = load_sweep(name)
    rows = [*_common(name, loaded), *_axes(loaded)]
    width = max(len(field) for field, _ in rows)
    return "\n".join([catalog.described("sweeps", name), *(f"  {field:<{width}}  {text}" for field, text in rows)])


def _common(name: str, loaded: SweepSpec) -> Iterator[tuple[str, str]]:
    yield "runs", f"{loaded.runs:,}: {len(loaded.cells):,} cells, {loaded.repeat:,} of each"
    for field, node in read_spec(name).mapping().items():
        if field not in ("sweep", "repeat", *loaded.axes):
            yield str(field), flow(node.plain())


def _axes(loaded: SweepSpec) -> Iterator[tuple[str, str]]:
    for axis in loaded.axes:
        values = dict.fromkeys(flow(cell.axes[axis]) for cell in loaded.cells if axis in cell.axes)
        yield f"sweep.{axis}", ", ".join(values)


def flow(value: Any) -> str:
    """Return ``value`` as YAML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {flow(inner)}' for key, inner in value.items())}}}"
    return value if isinstance(value, str) else canonical_json(value)


# ---- A family of workloads for people: its parameters with their defaults --------------------------------------------


def describe_family(name: str) -> str:
    """Return the description of the family ``name``, and a line with name, default and meaning for each parameter."""
    rows = list(_parameters(name))
    names, defaults = (max(len(row[at]) for row in rows) for at in (0, 1))
    lines = (f"  {name:<{names}}  {default:<{defaults}}  {meaning}".rstrip() for name, default, meaning in rows)
    return "\n".join([f"{name}  {described(name)}", *lines])


def _parameters(name: str) -> Iterator[tuple[str, str, str]]:
    for key, field in PARAMETERS[name].model_fields.items():
        if key != "name":
            default = "needed" if field.is_required() else "may be left out" if field.default is None else field.default
            yield field.alias or key, str(default), field.description or ""


# ---- A runtime for people: every field with its value and its meaning ------------------------------------------------

UNSAID = ("name", "sources")


def describe_runtime(runtime: RuntimeSpec) -> str:
    """Return the name of ``runtime``, and a line with name, value and meaning for each field that has a value."""
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
