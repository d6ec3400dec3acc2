"""The JSON Schemas (draft 2020-12) of all kinds of specifications, by which editors complete and check YAML.

The pydantic models of specifications describe their fields. This module adds the parts of a run (machine, strategy,
runtime), ``like`` (a part that starts from another part) and the axes of sweeps (fields with a list of values).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from numasim.parts import catalog
from numasim.parts.base import Model
from numasim.parts.choices import spelled
from numasim.spec.part_merge import field_model
from numasim.spec.part_reader import CATALOG, PARTS
from numasim.spec.run_spec import FIELDS, Settings
from numasim.spec.sweep_axes import SPECIAL, TOPS, RangeSpec
from numasim.workload.json_form.graph_models import GraphFile
from numasim.workload.registry import workload_union

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_LIST: Schema = {"type": "array", "minItems": 1}
PARTS_OF_RUN = {
    "machine": "The machine: a shipped name, the path of a file, or a mapping of its fields.",
    "workload": "The program: the name of a workload, a mapping of its parameters, or {file: graph.json}.",
    "strategy": "The strategy: a shipped name, the path of a file, or a mapping of its fields. Default: of a "
    "runtime such as rayon, the strategy of the same name.",
    "runtime": "The runtime: a preset, the path of a file, or a mapping of its fields. Default: ompi for programs of "
    "BOTS and syncbench, bare for all others.",
    "sweep": "Axes of a sweep: a dotted field and its values each. All combinations are run, the last axis fastest.",
}
LIKE = "The part (a shipped name or a path) over which the fields of this mapping are laid, level by level."
SPECIAL_AXES = {
    "zip": "Axes whose values go together, place by place; a list of such groups multiplies them.",
    "include": "Cells to run beside the combinations of the axes, each a mapping of axes to values.",
    "exclude": "Cells to leave out: those in which every named axis has the value, or one of the listed values.",
}
VALUES = "Values of the field of this name: a list, or a range of numbers."


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, except that a decimal is a number and not also a text."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> Schema:
        """Return the schema of a number with its bounds."""
        bounds = {name: float(schema[key]) for key, name in _BOUNDS.items() if key in schema}  # type: ignore[literal-required]
        return {"type": "number", **bounds}


def json_schema(kind: str) -> Schema:
    """Return the schema of a run, sweep, machine, strategy, runtime, workload or task graph (``graph``)."""
    return with_title(kind, _SCHEMAS[kind]())


def with_title(kind: str, schema: Schema) -> Schema:
    """Return ``schema`` as a whole document, with the dialect and a title."""
    return {"$schema": DIALECT, **schema, "title": f"numasim {kind}"}


def model_schema(model: Any) -> Schema:
    """Return the schema of the values that ``model`` accepts."""
    schema: Schema = _bounded(TypeAdapter(model).json_schema(schema_generator=_Generator))
    return schema


def _bounded(schema: Any) -> Any:
    """Return ``schema`` with keywords of JSON Schema in place of pydantic's own names of bounds."""
    if isinstance(schema, list):
        return [_bounded(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    is_bound = {key: key in _BOUNDS and isinstance(value, int | float | Decimal) for key, value in schema.items()}
    return {_BOUNDS[key] if is_bound[key] else key: _bounded(value) for key, value in schema.items()}


def _part(part: str) -> Schema:
    """Return the schema of a part's file or mapping, whose fields may be left out if it names another part."""
    schema = model_schema(PARTS[part])
    schema["properties"]["like"] = {**_named(part), "description": LIKE}
    schema.pop("required", None)
    for model in _merged(PARTS[part]):
        schema["$defs"][model.__name__].pop("required", None)
    needed = _needed(PARTS[part])
    whole = {**needed, "required": [name for name in needed.get("required", []) if name != "name"]}
    shipped = {"properties": {"name": {"enum": list(catalog.names(CATALOG[part]))}}, "required": ["name"]}
    return {**schema, "anyOf": [whole, {"required": ["like"]}, shipped]}


def _merged(model: type[Model]) -> Iterator[type[Model]]:
    """Yield the models of the mappings in a part of ``model`` that ``like`` merges, at all depths."""
    for key in spelled(model):
        inner = field_model(model, key)
        if inner is not None:
            yield inner
            yield from _merged(inner)


def _needed(model: type[Model]) -> Schema:
    """Return the schema of the fields that a mapping of ``model`` needs without ``like``, at all depths."""
    required = [field.alias or name for name, field in model.model_fields.items() if field.is_required()]
    inner = {key: _needed(found) for key in spelled(model) if (found := field_model(model, key))}
    properties = {key: {"if": {"type": "object"}, "then": each} for key, each in inner.items() if each}
    return {**({"required": required} if required else {}), **({"properties": properties} if properties else {})}


def _named(part: str) -> Schema:
    path = {"type": "string", "pattern": r"[/\\]|\.ya?ml$"}
    return {"anyOf": [{"enum": list(catalog.names(CATALOG[part]))}, path]}


def _run() -> Schema:
    settings = model_schema(Settings)
    definitions = dict(settings.pop("$defs"))
    fields = dict(settings["properties"])
    for part in PARTS:
        whole = _part(part)
        definitions |= whole.pop("$defs", {})
        fields[part] = {"anyOf": [_named(part), whole], "description": PARTS_OF_RUN[part]}
    workload = model_schema(workload_union())
    definitions |= workload.pop("$defs")
    fields["workload"] = {"anyOf": [{"type": "string"}, workload], "description": PARTS_OF_RUN["workload"]}
    fields["sweep"] = {**_axes(), "description": PARTS_OF_RUN["sweep"]}
    ordered = {name: fields[name] for name in FIELDS}
    return {"type": "object", "properties": ordered, "additionalProperties": False, "$defs": definitions}


def _axes() -> Schema:
    number = {"type": "number"}
    about = {info.alias or name: info.description for name, info in RangeSpec.model_fields.items()}
    least = {"step": {"exclusiveMinimum": 0}}
    steps = {
        "type": "object",
        "properties": {name: {**number, **least.get(name, {}), "description": text} for name, text in about.items()},
        "required": ["from", "to"],
        "additionalProperties": False,
    }
    axis = {"anyOf": [_LIST, steps], "description": VALUES}
    axes = {"type": "object", "minProperties": 1, "additionalProperties": False}
    named = {rf"^({'|'.join(TOPS)})(\..+|\[.+)?$": axis}
    group = {**axes, "patternProperties": named}
    cells = {**_LIST, "items": {"type": "object", "minProperties": 1}}
    special = {"zip": {"anyOf": [group, {**_LIST, "items": group}]}, "include": cells, "exclude": cells}
    described = {name: {**special[name], "description": SPECIAL_AXES[name]} for name in SPECIAL}
    return {**group, "properties": described}


_SCHEMAS: dict[str, Callable[[], Schema]] = {
    "run": _run,
    "sweep": _run,
    **{part: lambda part=part: _part(part) for part in PARTS},  # type: ignore[misc]
    "workload": lambda: model_schema(workload_union()),
    "graph": lambda: model_schema(GraphFile),
}
