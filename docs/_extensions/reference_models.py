"""Models, runs, sweeps and workloads as Markdown: a table of fields for each model and each nested model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib import import_module
from typing import Any

from markdown_text import code, prose, table
from model_links import slug
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from numasim.parts.base import Model
from numasim.parts.choices import choices_of
from numasim.spec.json_schema import PARTS_OF_RUN, SPECIAL_AXES, model_schema
from numasim.spec.run_spec import FIELDS, Settings
from numasim.spec.sweep_axes import RangeSpec
from numasim.workload.registry import PARAMETERS

HEAD = ("field", "type", "default", "unit", "meaning")
UNITS = {
    "_ns": "ns",
    "_ps": "ps",
    "_gbs": "GB/s",
    "ghz": "GHz",
    "_ppm": "ppm",
    "_per_s": "1/s",
    "ps_per_1000_flops": "ps per 1,000 operations",
    "ps_per_1000_comparisons": "ps per 1,000 comparisons",
}
SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
SIZE = "^[0-9]{1,20} *(B|KiB|MiB|GiB|TiB)?$"  # the pattern of a size in text


def models(*names: str) -> str:
    """Return the sections of the models ``names`` (``package.module:Model``) and of all nested models, each once."""
    done: set[type[Model]] = set()
    return "\n".join(text for name in names for text in _sections(_found(name), "", done))


def _found(name: str) -> type[Model]:
    module, _, model = name.partition(":")
    found: type[Model] = getattr(import_module(module), model)
    return found


def _sections(model: type[Model], path: str, done: set[type[Model]]) -> Iterator[str]:
    """Yield the section of a model, then the sections of the models in its fields, depth first."""
    if model in done:
        return
    done.add(model)
    yield section(model, path)
    for name, info in model.model_fields.items():
        for inner in _nested(info):
            yield from _sections(inner, f"{path}.{info.alias or name}".removeprefix("."), done)


def section(model: type[Model], path: str) -> str:
    """Return the section of a model: its description and its fields."""
    place = f"{code(path)}: " if path else ""
    return f"## {title_of(model)}\n\n{place}{prose(model.__doc__)}\n\n{table(HEAD, rows_of(model))}"


def rows_of(model: type[Model]) -> list[tuple[str, ...]]:
    """Return the fields of a model as rows of a table."""
    schema = model_schema(model)
    if "$ref" in schema:  # of a model that is nested in itself
        schema = {**schema["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
    return [_row(name, info, schema) for name, info in model.model_fields.items()]


def title_of(model: type[BaseModel]) -> str:
    """Return the title of a model: its name in words, without the ending, such as ``Link load`` of ``LinkLoadSpec``."""
    name = model.__name__
    for ending in ("Spec", "Parameters", "Entry", "File"):
        name = name.removesuffix(ending)
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()
    return words.capitalize()


def _row(name: str, info: FieldInfo, schema: Mapping[str, Any]) -> tuple[str, ...]:
    shown = info.alias or name
    field = schema["properties"].get(shown, {})
    words = "".join(f"<br>{code(word)}: {prose(meaning)}" for word, meaning in choices_of(info).items() if meaning)
    return (
        code(shown),
        type_text(field, info, schema.get("$defs", {})),
        _default_text(info, field),
        unit_of(name, field),
        prose(info.description) + words,
    )


def unit_of(name: str, field: Mapping[str, Any]) -> str:
    """Return the unit of a field by the end of its name, bytes for sizes, "" for counts and ratios."""
    if any(each.get("pattern") == SIZE for each in _alternatives(field)):
        return "B"
    return next((unit for ending, unit in reversed(UNITS.items()) if name.endswith(ending)), "")


# ---- types ---------------------------------------------------------------------------------------------------------


def type_text(field: Mapping[str, Any], info: FieldInfo, definitions: Mapping[str, Any]) -> str:
    """Return the values that a field accepts, in words."""
    by_name = {inner.__name__: inner for inner in _nested(info)}
    words = dict.fromkeys(_type_words(each, by_name, definitions) for each in _alternatives(field))
    return " or ".join(word for word in words if word != "whole number" or "number" not in words)


def _alternatives(field: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the kinds of values that a schema allows, without null."""
    for key in ("anyOf", "oneOf", "allOf"):
        if key in field:
            return [inner for each in field[key] for inner in _alternatives(each)]
    return [] if field.get("type") == "null" else [field]


def _type_words(schema: Mapping[str, Any], by_name: Mapping[str, type[Model]], definitions: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in by_name:
            return f"[{title_of(by_name[name]).lower()}](#{slug(title_of(by_name[name]))})"
        return _all_words(definitions[name], by_name, definitions)
    kind = schema.get("type")
    if kind == "array":
        return _list_words(schema, by_name, definitions)
    values = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    if kind == "object" and isinstance(values, dict):
        return f"mapping of names to {_all_words(values, by_name, definitions)}"
    return _scalar_words(schema)


def _scalar_words(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "yes or no" if set(schema["enum"]) == {"yes", "no"} else "word"
    if "const" in schema:
        return code(schema["const"])
    if schema.get("pattern") == SIZE:
        return "size"
    kind = schema.get("type")
    named = {"integer": "whole number", "number": "number", "string": "text", "boolean": "yes or no"}
    return named.get(str(kind), "mapping" if kind == "object" else "any value") + _range_words(schema)


def _all_words(schema: Mapping[str, Any], by_name: Mapping[str, type[Model]], definitions: Mapping[str, Any]) -> str:
    found = (_type_words(each, by_name, definitions) for each in _alternatives(schema))
    return " or ".join(dict.fromkeys(found))


def _list_words(schema: Mapping[str, Any], by_name: Mapping[str, type[Model]], definitions: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_all_words(each, by_name, definitions) for each in schema['prefixItems'])}]"
    return f"list of {_all_words(schema.get('items', {}), by_name, definitions) or 'values'}"


def _range_words(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    words = [
        f"above {_number(above)}" if above is not None else "",
        f"from {_number(low)}" if low is not None and (above is None or low > above) else "",
        f"to {_number(high)}" if high is not None and (below is None or high < below) else "",
        f"below {_number(below)}" if below is not None else "",
    ]
    return "".join(f" {word}" for word in words if word)


def _number(value: float) -> str:
    exponent, digits = int(value).bit_length() - 1, len(str(int(value))) - 1
    if value > 2**15 and value in (2**exponent, 10**digits):
        return f"2^{exponent}" if value == 2**exponent else f"10^{digits}"
    return f"{int(value):,}" if value == int(value) else str(value)


# ---- defaults ------------------------------------------------------------------------------------------------------


def _default_text(info: FieldInfo, field: Mapping[str, Any]) -> str:
    if info.is_required():
        return "needed"
    value = info.get_default(call_default_factory=True)
    if isinstance(value, int) and not isinstance(value, bool) and unit_of("", field) == "B":
        return code(_size(value))
    return _value_text(value)


def _size(value: int) -> str:
    return next((f"{value // size}{unit}" for size, unit in SIZES if value and value % size == 0), str(value))


def _value_text(value: Any) -> str:
    if value is None or isinstance(value, BaseModel) or value in ((), [], {}):
        return ""
    if isinstance(value, dict | list):
        return ""
    if isinstance(value, bool):
        return code("yes" if value else "no")
    if isinstance(value, tuple):
        return code(f"[{', '.join(map(str, value))}]")
    if isinstance(value, Decimal):
        return code(f"{value.normalize():f}")
    return code(str(value))


def _nested(info: FieldInfo) -> list[type[Model]]:
    """Return the models in the type of a field, each once."""
    return list(dict.fromkeys(_models_in(info.annotation)))


def _models_in(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from _models_in(inner)
    if hasattr(annotation, "__metadata__"):
        yield from _models_in(annotation.__origin__)


def workloads() -> str:
    """Return a section for each family of workloads, by name."""
    return "\n".join(f"## `{name}`\n{section(model, '').partition(chr(10))[2]}" for name, model in PARAMETERS.items())


TYPES_OF_PARTS = {  # type and default of the parts of a run
    "machine": ("name, path or [mapping](machine.md)", "needed"),
    "workload": ("name, [mapping](workloads.md) or [task graph](graph.md)", "needed"),
    "strategy": ("name, path or [mapping](strategy.md)", "needed"),
    "runtime": ("name, path or [mapping](runtime.md)", ""),
    "sweep": ("[mapping](#sweeps)", ""),
}


def run() -> str:
    """Return a table of all fields of a run or sweep, in their order."""
    settings = {row[0]: row for row in rows_of(Settings)}
    parts = {code(name): (code(name), *TYPES_OF_PARTS[name], "", prose(text)) for name, text in PARTS_OF_RUN.items()}
    return table(HEAD, [{**parts, **settings}[code(name)] for name in FIELDS])


def axes() -> str:
    """Return a table of the keys of a sweep that are no axes."""
    return table(("key", "meaning"), [(code(name), prose(text)) for name, text in SPECIAL_AXES.items()])


def ranges() -> str:
    """Return a table of the fields of a range of values."""
    return table(HEAD, rows_of(RangeSpec))
