"""The C text of the structures that plans are read into."""

from __future__ import annotations

from collections.abc import Iterator

from numasim.schema.counter_names import TRAFFIC
from numasim.schema.enumeration_text import HEADING, guarded
from numasim.schema.enumerations import ENUMERATIONS, Names
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

VIEWS = {"uint8": "ns_u8s", "int32": "ns_i32s", "uint32": "ns_u32s", "int64": "ns_i64s", "uint64": "ns_u64s"}
C_TYPES = {"uint8": "uint8_t", "int32": "int32_t", "uint32": "uint32_t", "int64": "int64_t", "uint64": "uint64_t"}


def structures() -> str:
    """The header with all structures, each after those that it contains."""
    includes = '#include <stdbool.h>\n#include <stdint.h>\n\n#include "plan/views.h"\n#include "enumerations.h"\n'
    texts = "".join(f"\n{_structure(each)}" for each in in_order(PLAN))
    return guarded("NUMASIM_GENERATED_PLAN_STRUCTS_H", includes + texts)


def in_order(structure: Structure, seen: set[str] | None = None) -> Iterator[Structure]:
    """All structures that ``structure`` contains, each after its parts, itself last."""
    seen = set() if seen is None else seen
    for field in structure.fields:
        if isinstance(field, (Part, Listed)) and field.of.c_name not in seen:
            yield from in_order(field.of, seen)
    seen.add(structure.c_name)
    yield structure


def listed(structure: Structure) -> bool:
    """Whether plans contain lists of this structure."""
    return any(isinstance(field, Listed) and field.of is structure for each in in_order(PLAN) for field in each.fields)


def enum_of(values: object) -> str:
    """The C type of an enumeration."""
    return next(f"enum {each.type}" for each in ENUMERATIONS if each.values is values or each.values == values)


def _structure(structure: Structure) -> str:
    members = {name: text for field in structure.fields for name, text in _members(field)}
    order = structure.order or tuple(members)
    if sorted(order) != sorted(members):
        raise ValueError(f"the order of {structure.c_name} does not name its members")
    lines = "".join(f"    {members[name]}\n" for name in order)
    text = f"/* {structure.note} */\ntypedef struct {structure.c_name} {{\n{lines}}} {structure.c_name};\n"
    return text + (f"NS_VIEW({structure.c_name}_list, {structure.c_name});\n" if listed(structure) else "")


def _members(field: Field) -> Iterator[tuple[str, str]]:
    """(name, declaration) of the members of a field; none for a field that is a member of a part."""
    if "." in field.place:
        return
    shape = f"[{field.shape}]" if isinstance(field, (Array, Arrays)) else ""
    note = f" /* {' '.join(filter(None, (shape, field.note)))} */" if shape or field.note else ""
    yield field.place, f"{_type(field)}{field.place};{note}"
    if isinstance(field, (Array, Records)) and field.count not in ("", "none"):
        yield field.count, f"uint32_t {field.count};"


def _type(field: Field) -> str:
    """The type that a declaration begins with, and the space or the star behind it."""
    match field:
        case Array():
            type = f"const {C_TYPES[field.type]} *" if field.count else VIEWS[field.type]
        case Records():
            type = f"const {field.of.c_name} *"
        case Integer() | Computed():
            type = field.c_type
        case Choice() | Value():
            type = enum_of(field.of)
        case Listed():
            type = f"{field.of.c_name}_list"
        case Part():
            type = field.of.c_name
        case _:
            type = {Arrays: "ns_i64_lists", Flag: "bool"}[field.__class__]
    return type if type.endswith("*") else f"{type} "


# ---- The C++ names of enumerations, structures and counters, which differ from the C names ---------------------------


def plan_names() -> str:
    """The header."""
    enums = "".join(_enumeration(each) for each in ENUMERATIONS if each.cpp)
    structures = "".join(f"using {each.cpp_name} = {each.c_name};\n" for each in in_order(PLAN) if each.cpp_name)
    traffic = f"enum TrafficKind : std::size_t {{ {', '.join(TRAFFIC.values())}, TRAFFIC_KINDS }};\n"
    names = f"constexpr const char* TRAFFIC_NAMES[] = {{{', '.join(_quoted(name) for name in TRAFFIC)}}};\n"
    return (
        f'{HEADING}#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\n#include "plan_structs.h"\n\n'
        f"namespace numasim {{\n\n{enums}\n{structures}\n"
        f"// Kinds of traffic between nodes, and what they are called in results.\n{traffic}{names}\n"
        "}  // namespace numasim\n"
    )


def _quoted(name: str) -> str:
    return f'"{name}"'


def _enumeration(each: Names) -> str:
    names = each.cpp_names or tuple(each.members)
    pairs = [f"{cpp} = {each.prefix}_{c}" for cpp, c in zip(names, each.members, strict=True)]
    if each.of_words:
        return f"struct {each.cpp} {{\n    static constexpr {each.type} {', '.join(pairs)};\n}};\n"
    return f"enum {each.cpp} : std::uint8_t {{ {', '.join(pairs)} }};\n"
