"""The C text that reads the fields of plans into structures, by calls of functions of lib/core/plan."""

from __future__ import annotations

import re
from collections.abc import Iterator

from numasim.schema.enumerations import CONSTANTS, ENUMERATIONS
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
from numasim.schema.plan_fields import PLAN
from numasim.schema.structure_text import HEADING, VIEWS, enum_of, guarded, in_order, quoted

# ---- Expressions of the schema as C, and the C expression of each field that was read --------------------------------

_TOKEN = re.compile(r"len\((\w+)\)|([A-Za-z_]\w*)")
_OPERATORS = {"and": "&&", "or": "||", "not": "!"}


class Scope:
    """The fields read so far: their values, and their lengths, as C expressions."""

    def __init__(self, outer: Scope | None = None) -> None:
        self._values: dict[str, str] = {}
        self._lengths: dict[str, str] = {}
        self._outer = outer

    def add_value(self, name: str, text: str) -> None:
        """Note that the number or flag ``name`` is kept in the C expression ``text``."""
        self._values[name] = text

    def add_length(self, name: str, text: str) -> None:
        """Note that the field ``name`` has as many entries as the C expression ``text`` says."""
        self._lengths[name] = text

    def translated(self, expression: str) -> str:
        """Return ``expression`` in C, of type int64_t."""
        return _TOKEN.sub(self._token, expression)

    def _token(self, match: re.Match[str]) -> str:
        length, name = match.groups()
        if length:
            return f"(int64_t){self._found('_lengths', length)}"
        if name in _OPERATORS:
            return _OPERATORS[name]
        if name in CONSTANTS:
            return f"NS_{name}"
        return name if name == "INT64_MAX" else f"(int64_t){self._found('_values', name)}"

    def _found(self, kind: str, name: str) -> str:
        scope: Scope | None = self
        while scope is not None:
            if name in getattr(scope, kind):
                return str(getattr(scope, kind)[name])
            scope = scope._outer
        raise KeyError(f"{name} is used in an expression of the schema before it is read")


def reader() -> str:
    """Return the source file: a function for each structure in lists of plans, and one for the whole plan."""
    whole = Scope()
    bodies: list[str] = []
    _function(PLAN, whole, bodies)
    includes = '#include "plan_checks.h"\n\n'
    return HEADING + includes + "\n".join(bodies)


def checks() -> str:
    """Return the header of the functions of lib/core/plan that check the fields after reading."""
    names = [each.c_name for each in in_order(PLAN) if each.checked]
    functions = [f"bool {name}_check(ns_plan_reader *reader, ns_full_plan *plan, {name} *self);\n" for name in names]
    heading = (
        '#include "plan/plan_reader.h"\n\n'
        "/* Functions that check conditions of a plan beyond types, sizes and bounds, and compute members.\n"
        " * Each function is called when its structure has been read, the function of the whole plan last. A function\n"
        " * keeps the first mistake in the reader, and returns whether there is no mistake. */\n"
    )
    return guarded("NUMASIM_GENERATED_PLAN_CHECKS_H", heading + "".join(functions))


def _function(structure: Structure, scope: Scope, bodies: list[str]) -> None:
    """Append the function that reads ``structure`` to ``bodies``, after the functions that this function calls."""
    whole = structure is PLAN
    lines = list(_structure(structure, "plan->" if whole else "self->", scope, bodies))
    name = "bool ns_full_plan_read(ns_plan_reader *reader, ns_full_plan *plan)" if whole else (
        f"static bool read_{structure.c_name}(ns_plan_reader *reader, ns_full_plan *plan, {structure.c_name} *self)"
    )  # fmt: skip
    start = "*plan = (ns_full_plan){0};" if whole else "(void)plan;"
    body = "".join(f"    {line}\n" for line in [start, *lines, "return true;"])
    bodies.append(f"{name} {{\n{body}}}\n")


def _structure(structure: Structure, prefix: str, scope: Scope, bodies: list[str]) -> Iterator[str]:
    for field in structure.fields:
        yield from _conditional(field, prefix, scope, bodies)
    if structure.checked:
        whole = prefix.removesuffix("->").removesuffix(".")
        self = whole if prefix.endswith("->") else f"&{whole}"
        yield f"if (!{structure.c_name}_check(reader, plan, {self})) return false;"


def _conditional(field: Field, prefix: str, scope: Scope, bodies: list[str]) -> Iterator[str]:
    condition = scope.translated(field.when) if field.when else ""
    lines = list(_field(field, prefix, scope, bodies))
    if condition:
        yield f"if ({condition}) {{"
        yield from (f"    {line}" for line in lines)
        yield "}"
    else:
        yield from lines


def _call(function: str, name: str, *arguments: str) -> str:
    return f"if (!{function}({', '.join(('reader', quoted(name), *arguments))})) return false;"


def _field(field: Field, prefix: str, scope: Scope, bodies: list[str]) -> Iterator[str]:
    place = f"{prefix}{field.place}"
    match field:
        case Part():
            yield from _structure(field.of, f"{place}.", scope, bodies)
        case Integer():
            scope.add_value(field.name, place)
            bounds = scope.translated(field.low), scope.translated(field.high)
            yield from _converted(
                "int64_t", place, field.c_type, _call("ns_read_integer", field.name, *bounds, "&value")
            )
        case Flag():
            scope.add_value(field.name, place)
            yield _call("ns_read_flag", field.name, f"&{place}")
        case Choice():
            table = next(each for each in ENUMERATIONS if each.values == field.of)
            words = f"{table.type.upper()}_WORD", str(len(table.members))
            yield from _converted(
                "uint32_t", place, enum_of(field.of), _call("ns_read_choice", field.name, *words, "&value")
            )
        case Value():
            bounds = str(int(min(field.of))), str(int(max(field.of)))
            yield from _converted(
                "int64_t", place, enum_of(field.of), _call("ns_read_integer", field.name, *bounds, "&value")
            )
        case Array():
            yield from _array(field, place, prefix, scope)
        case Arrays():
            sizes = (scope.translated(each) for each in (field.count, field.size, field.low, field.high))
            yield _call("ns_read_i64_lists", field.name, *sizes, f"&{place}")
            scope.add_length(field.name, f"{place}.count")
        case Records():
            yield "{"
            yield "    const void *records;"
            arguments = f"sizeof *{place}", f"_Alignof({field.of.c_name})", "&records", f"&{prefix}{field.count}"
            yield "    " + _call("ns_read_records", field.name, *arguments)
            yield f"    {place} = records;"
            yield "}"
            scope.add_length(field.name, f"{prefix}{field.count}")
        case Listed():
            yield from _list(field, place, scope, bodies)
        case Computed():
            pass


def _converted(read_as: str, place: str, c_type: str, call: str) -> Iterator[str]:
    """Yield the lines that read a number into ``value`` and store the number as ``c_type``."""
    yield "{"
    yield f"    {read_as} value;"
    yield f"    {call}"
    yield f"    {place} = ({c_type})value;"
    yield "}"


def _array(field: Array, place: str, prefix: str, scope: Scope) -> Iterator[str]:
    view, kind = VIEWS[field.type], VIEWS[field.type].removeprefix("ns_")
    kept = place
    if field.count:
        kept = f"{field.name}_view"
        yield f"{view} {kept};"
    size = scope.translated(field.size) if field.size else "NS_ANY_SIZE"
    yield _call(f"ns_read_{kind}", field.name, size, f"&{kept}")
    scope.add_length(field.name, f"{kept}.count")
    if field.high:
        bounds = scope.translated(field.low or "0"), scope.translated(field.high)
        yield _call(f"ns_require_{kind}", field.name, kept, *bounds)
    if field.points_into:
        end = scope.translated(field.points_into)
        yield _call(f"ns_require_{kind.removesuffix('s')}_pointer", field.name, kept, end)
    if field.count:
        yield _call("ns_require_countable", field.name, f"{kept}.count")
        yield f"{place} = {kept}.at;"
    if field.count not in ("", "none"):
        if field.width > 1:
            holds = f'{kept}.count % {field.width} == 0, "{field.name} does not have rows of {field.width}"'
            yield f"if (!ns_plan_require(reader, {holds})) return false;"
        rows = f"{kept}.count" + (f" / {field.width}" if field.width > 1 else "")
        yield f"{prefix}{field.count} = (uint32_t)({rows});"


def _list(field: Listed, place: str, scope: Scope, bodies: list[str]) -> Iterator[str]:
    entry = field.of.c_name
    if not any(f"static bool read_{entry}(" in body for body in bodies):
        _function(field.of, Scope(scope), bodies)
    size = scope.translated(field.count) if field.count else "NS_ANY_SIZE"
    yield "{"
    yield "    uint64_t count;"
    yield "    " + _call("ns_read_count", field.name, size, "&count")
    yield f"    {entry} *made = ns_plan_reader_take(reader, count, sizeof *made);"
    yield "    if (!made) return false;"
    yield f"    {place} = ({entry}_list){{made, count}};"
    yield "    for (uint64_t i = 0; i < count; i++) {"
    yield f"        const size_t before = ns_plan_reader_enter(reader, {quoted(field.name)}, i);"
    yield f"        if (!read_{entry}(reader, plan, &made[i])) return false;"
    yield "        ns_plan_reader_leave(reader, before);"
    yield "    }"
    yield "}"
    scope.add_length(field.name, f"{place}.count")
