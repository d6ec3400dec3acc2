"""The C text that reads the fields of plans into structures, by calls of functions of lib/core/plan."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator

from numasim.schema import field_kinds as kinds
from numasim.schema.enumerations import CONSTANTS, ENUMERATIONS
from numasim.schema.field_kinds import Field, Structure
from numasim.schema.plan_fields import PLAN
from numasim.schema.structure_text import HEADING, VIEWS, enum_of, header, in_order, quoted

# ---- Expressions of the schema as C, and the C expression of each field that was read --------------------------------

_TOKEN = re.compile(r"len\(\w+\)|[A-Za-z_]\w*")
_OPERATORS = {"and": "&&", "or": "||", "not": "!", "INT64_MAX": "INT64_MAX"}

Known = ChainMap[
    str, str
]  # {field that was read, or ``len(field)``: its C expression}; names of the innermost structure are found first


def in_c(expression: str, known: Known) -> str:
    """Return ``expression`` in C, of type int64_t. Raise KeyError for a field that has not been read."""

    def token(match: re.Match[str]) -> str:
        name = match[0]
        if name in _OPERATORS:
            return _OPERATORS[name]
        return f"NS_{name}" if name in CONSTANTS else f"(int64_t){known[name]}"

    return _TOKEN.sub(token, expression)


def reader() -> str:
    """Return the C source file with a function that reads the plan, and one for each structure in lists of it."""
    whole = Known()
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
    return header(heading + "".join(functions))


def _function(structure: Structure, known: Known, bodies: list[str]) -> None:
    """Append the C function that reads ``structure`` to ``bodies``, after the functions that it calls."""
    whole = structure is PLAN
    lines = list(_structure(structure, "plan->" if whole else "self->", known, bodies))
    name = "bool ns_full_plan_read(ns_plan_reader *reader, ns_full_plan *plan)" if whole else (
        f"static bool read_{structure.c_name}(ns_plan_reader *reader, ns_full_plan *plan, {structure.c_name} *self)"
    )  # fmt: skip
    start = "*plan = (ns_full_plan){0};" if whole else "(void)plan;"
    body = "".join(f"    {line}\n" for line in [start, *lines, "return true;"])
    bodies.append(f"{name} {{\n{body}}}\n")


def _structure(structure: Structure, prefix: str, known: Known, bodies: list[str]) -> Iterator[str]:
    for field in structure.fields:
        condition = in_c(field.when, known) if field.when else ""
        lines = _field(field, prefix, known, bodies)
        yield from (f"if ({condition}) {{", *(f"    {line}" for line in lines), "}") if condition else lines
    for condition, sentence in structure.requires:
        yield f"if (!ns_plan_require(reader, {in_c(condition, known)}, {quoted(sentence)})) return false;"
    if structure.checked:
        whole = prefix.removesuffix("->").removesuffix(".")
        self = whole if prefix.endswith("->") else f"&{whole}"
        yield f"if (!{structure.c_name}_check(reader, plan, {self})) return false;"


def _call(function: str, name: str, *arguments: str) -> str:
    return f"if (!{function}({', '.join(('reader', quoted(name), *arguments))})) return false;"


def _field(field: Field, prefix: str, known: Known, bodies: list[str]) -> Iterator[str]:
    place = f"{prefix}{field.place}"
    match field:
        case kinds.Part():
            yield from _structure(field.of, f"{place}.", known, bodies)
        case kinds.Integer():
            known[field.name] = place
            bounds = in_c(field.low, known), in_c(field.high, known)
            read = _call("ns_read_integer", field.name, *bounds, "&value")
            yield from _converted("int64_t", place, field.c_type, read)
        case kinds.Flag():
            known[field.name] = place
            yield _call("ns_read_flag", field.name, f"&{place}")
        case kinds.Choice():
            table = next(each for each in ENUMERATIONS if each.values == field.of)
            words = f"{table.type.upper()}_WORD", str(len(table.members))
            read = _call("ns_read_choice", field.name, *words, "&value")
            yield from _converted("uint32_t", place, enum_of(field.of), read)
        case kinds.Value():
            bounds = str(int(min(field.of))), str(int(max(field.of)))
            read = _call("ns_read_integer", field.name, *bounds, "&value")
            yield from _converted("int64_t", place, enum_of(field.of), read)
        case kinds.Array():
            yield from _array(field, place, prefix, known)
        case kinds.Arrays():
            sizes = (in_c(each, known) for each in (field.count, field.size, field.low, field.high))
            yield _call("ns_read_i64_lists", field.name, *sizes, f"&{place}")
            known[f"len({field.name})"] = f"{place}.count"
        case kinds.Records():
            yield "{"
            yield "    const void *records;"
            arguments = f"sizeof *{place}", f"_Alignof({field.of.c_name})", "&records", f"&{prefix}{field.count}"
            yield "    " + _call("ns_read_records", field.name, *arguments)
            yield f"    {place} = records;"
            yield "}"
            known[f"len({field.name})"] = f"{prefix}{field.count}"
        case kinds.Listed():
            yield from _list(field, place, known, bodies)
        case kinds.Computed():
            pass


def _converted(read_as: str, place: str, c_type: str, call: str) -> Iterator[str]:
    """Yield lines that read a number into ``value``, by ``call``, and store it at ``place`` as ``c_type``."""
    yield "{"
    yield f"    {read_as} value;"
    yield f"    {call}"
    yield f"    {place} = ({c_type})value;"
    yield "}"


def _array(field: kinds.Array, place: str, prefix: str, known: Known) -> Iterator[str]:
    view, kind = VIEWS[field.type], VIEWS[field.type].removeprefix("ns_")
    kept = place
    if field.count:
        kept = f"{field.name}_view"
        yield f"{view} {kept};"
    size = in_c(field.size, known) if field.size else "NS_ANY_SIZE"
    yield _call(f"ns_read_{kind}", field.name, size, f"&{kept}")
    known[f"len({field.name})"] = f"{kept}.count"
    if field.full:
        yield _call("ns_require_full", field.name, f"{kept}.count", in_c(field.full, known))
    if field.high:
        bounds = in_c(field.low or "0", known), in_c(field.high, known)
        yield _call(f"ns_require_{kind}", field.name, kept, *bounds)
    if field.points_into:
        end = in_c(field.points_into, known)
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


def _list(field: kinds.Listed, place: str, known: Known, bodies: list[str]) -> Iterator[str]:
    entry = field.of.c_name
    if not any(f"static bool read_{entry}(" in body for body in bodies):
        _function(field.of, known.new_child(), bodies)
    size = in_c(field.count, known) if field.count else "NS_ANY_SIZE"
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
    known[f"len({field.name})"] = f"{place}.count"
