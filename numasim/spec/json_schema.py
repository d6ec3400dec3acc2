"""JSON Schema (draft 2020-12) of every kind of specification, so that editors complete and check YAML."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from numasim.errors import InputError
from numasim.parts import catalog
from numasim.spec.part_reader import CATALOG, PARTS
from numasim.spec.run_spec import FIELDS, Settings
from numasim.spec.sweep_axes import NO_AXES, SPECIAL
from numasim.workload.registry import workload_union

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_LIST: Schema = {"type": "array", "minItems": 1}


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, except that decimals are numbers only, not texts."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> Schema:
        """Return the schema of a number with its bounds."""
        bounds = {name: float(schema[key]) for key, name in _BOUNDS.items() if key in schema}  # type: ignore[literal-required]
        return {"type": "number", **bounds}


def json_schema(kind: str) -> Schema:
    """Return the schema of a run, sweep, machine, strategy, runtime or workload; InputError for another ``kind``."""
    if kind not in _SCHEMAS:
        expected = f"one of {', '.join(_SCHEMAS)}"
        raise InputError(f"there is no schema {kind!r}", expected=expected, value=kind, known=_SCHEMAS)
    return {"$schema": DIALECT, **_SCHEMAS[kind](), "title": f"numasim {kind}"}


def _generated(model: Any) -> Schema:
    schema: Schema = _bounded(TypeAdapter(model).json_schema(schema_generator=_Generator))
    return schema


def _bounded(schema: Any) -> Any:
    """Rename bounds to JSON Schema's keywords: pydantic uses names of its own for those behind a validator."""
    if isinstance(schema, list):
        return [_bounded(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    is_bound = {key: key in _BOUNDS and isinstance(value, int | float | Decimal) for key, value in schema.items()}
    return {_BOUNDS[key] if is_bound[key] else key: _bounded(value) for key, value in schema.items()}


def _part(part: str) -> Schema:
    """Return the schema of a part's file or mapping: complete, or based on another by ``like`` or a shipped name."""
    schema = _generated(PARTS[part])
    schema["properties"]["like"] = _named(part)
    needed = [name for name in schema.pop("required", []) if name != "name"]
    shipped = {"properties": {"name": {"enum": list(catalog.names(CATALOG[part]))}}, "required": ["name"]}
    return {**schema, "anyOf": [{"required": needed}, {"required": ["like"]}, shipped]}


def _named(part: str) -> Schema:
    path = {"type": "string", "pattern": r"[/\\]|\.ya?ml$"}
    return {"anyOf": [{"enum": list(catalog.names(CATALOG[part]))}, path]}


def _workload() -> Schema:
    return _generated(workload_union())


def _run() -> Schema:
    settings = _generated(Settings)
    definitions = dict(settings.pop("$defs"))
    fields = dict(settings["properties"])
    for part in PARTS:
        whole = _part(part)
        definitions |= whole.pop("$defs", {})
        fields[part] = {"anyOf": [_named(part), whole]}
    workload = _workload()
    definitions |= workload.pop("$defs")
    fields["workload"] = {"anyOf": [{"type": "string"}, workload]}
    fields["sweep"] = _axes()
    ordered = {name: fields[name] for name in FIELDS}
    return {"type": "object", "properties": ordered, "additionalProperties": False, "$defs": definitions}


def _axes() -> Schema:
    """Return the schema of the value of ``sweep:``."""
    number = {"type": "number"}
    steps = {
        "type": "object",
        "properties": {"from": number, "to": number, "step": {**number, "exclusiveMinimum": 0}},
        "required": ["from", "to"],
        "additionalProperties": False,
    }
    axis = {"anyOf": [_LIST, steps]}
    top = "|".join(name for name in FIELDS if name not in NO_AXES)
    axes = {"type": "object", "minProperties": 1, "additionalProperties": False}
    named = {rf"^({top})(\..+|\[.+)?$": axis}
    group = {**axes, "patternProperties": named}
    cells = {**_LIST, "items": {"type": "object", "minProperties": 1}}
    special = {"zip": {"anyOf": [group, {**_LIST, "items": group}]}, "include": cells, "exclude": cells}
    return {**group, "properties": {name: special[name] for name in SPECIAL}}


_SCHEMAS: dict[str, Callable[[], Schema]] = {
    "run": _run,
    "sweep": _run,
    **{part: lambda part=part: _part(part) for part in PARTS},  # type: ignore[misc]
    "workload": _workload,
}
