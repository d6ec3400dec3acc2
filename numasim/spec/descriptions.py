"""Descriptions of the shipped sweeps, families of workloads and runtimes, as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from numasim.parts import catalog
from numasim.parts.base import REMARKS
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.yaml.document import flow_text
from numasim.spec.run_spec import document_of
from numasim.spec.sweep_spec import SweepSpec, load_sweep
from numasim.workload.registry import PARAMETERS, described


def describe_sweep(name: str) -> str:
    """Return lines of text about the shipped sweep ``name``: its description, number of runs, fields and axes."""
    loaded = load_sweep(name)
    return "\n".join([catalog.described("sweeps", name), *_in_columns(_of_sweep(name, loaded))])


def _of_sweep(name: str, loaded: SweepSpec) -> Iterator[tuple[str, ...]]:
    yield "runs", f"{loaded.runs:,}: {len(loaded.cells):,} cells, {loaded.repeat:,} of each"
    for field, node in document_of(name).mapping().items():
        if field not in ("sweep", "repeat", *loaded.axes):
            yield str(field), flow_text(node.plain())
    for axis in loaded.axes:
        values = dict.fromkeys(flow_text(cell.axes[axis]) for cell in loaded.cells if axis in cell.axes)
        yield f"sweep.{axis}", ", ".join(values)


def _in_columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a line for each row, with its texts in columns."""
    rows = list(rows)
    widths = [max(map(len, texts)) for texts in zip(*rows, strict=True)]
    return ["".join(f"  {text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def describe_family(name: str) -> str:
    """Return the description of the family ``name``, and a line with name, default and meaning for each parameter."""
    return "\n".join([f"{name}  {described(name)}", *_in_columns(_parameters(name))])


def _parameters(name: str) -> Iterator[tuple[str, str, str]]:
    for key, field in PARAMETERS[name].model_fields.items():
        if key != "name":
            default = "needed" if field.is_required() else "may be left out" if field.default is None else field.default
            yield field.alias or key, str(default), field.description or ""


def describe_runtime(runtime: RuntimeSpec) -> str:
    """Return the name of ``runtime``, a line with name, value and meaning for each field, and what is left out."""
    return "\n".join([f"runtime {runtime.name}", *_in_columns(_fields(runtime, "")), *left_out_lines(runtime)])


def left_out_lines(part: StrategySpec | RuntimeSpec) -> list[str]:
    """Return a line for each rule of the real scheduler that the file of ``part`` does not have (``leaves_out``)."""
    return [f"Left out: {sentence}" for sentence in part.leaves_out]


def _fields(model: BaseModel, above: str) -> Iterator[tuple[str, str, str]]:
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        path = f"{above}{field.alias or name}"
        if isinstance(value, BaseModel):
            yield from _fields(value, f"{path}.")
        elif path not in REMARKS:
            yield path, _shown(value), field.description or ""


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return flow_text([part.model_dump(exclude_none=True, exclude_defaults=True) for part in value])
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
