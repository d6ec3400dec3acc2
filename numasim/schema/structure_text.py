"""The C and C++ text of enumerations, records, counters, and the structures that plans are read into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from numasim.schema import field_kinds as kinds
from numasim.schema.enumerations import CONSTANTS, COUNTS, ENUMERATIONS, SYNC_COUNTS, TIMES, TRAFFIC, Names
from numasim.schema.field_kinds import Field, Structure
from numasim.schema.plan_fields import PLAN
from numasim.schema.record_layouts import C_TYPES, RECORDS, Record

# ---- The C text of enumerations, constants, records and counters ----------------------------------------------------


HEADING = "/* Generated from numasim/schema by `python -m numasim.schema.generate_c`: not to be edited. */\n"
WITH_END = frozenset({"ns_op"})  # enumerations with one more value, END, after the last
LISTED = frozenset({"ns_lock_kind"})  # enumerations whose values are a macro, too, which calls a macro for each


def header(body: str) -> str:
    """Return the text of a C header with ``body``."""
    return f"{HEADING}#pragma once\n\n{body}"


def enumerations() -> str:
    """Return the C header with constants, enumerations and records."""
    parts = [
        "#include <assert.h>\n#include <stddef.h>\n#include <stdint.h>\n",
        "".join(f"#define NS_{name} {_number(value)}\n" for name, value in CONSTANTS.items()),
        *map(_enumeration, ENUMERATIONS),
        "/* The words that stand for values of choices, in their order. */\n"
        + "".join(f"extern const char *const {_words_name(each)}[{len(_words_of(each))}];\n" for each in ENUMERATIONS),
        *map(_record, RECORDS),
    ]
    return header("\n".join(parts))


def words() -> str:
    """Return the C source file with the words for the values of all enumerations."""
    tables = [
        f"const char *const {_words_name(each)}[{len(_words_of(each))}] = {{"
        + ", ".join(map(quoted, _words_of(each)))
        + "};\n"
        for each in ENUMERATIONS
    ]
    return f'{HEADING}#include "enumerations.h"\n\n' + "".join(tables)


def counters() -> str:
    """Return the C header with the counters of workers and of synchronisation objects, also as macros."""
    workers = {**COUNTS, **TIMES}
    members = "".join(f"    int64_t {name};\n" for name in workers)
    parts = [
        _listed("NS_EACH_COUNTER", workers),
        f"typedef struct ns_counters {{\n{members}}} ns_counters;\n",
        f"enum {{ NS_COUNTER_COUNT = {len(workers)}, NS_SYNC_COUNTER_COUNT = {len(SYNC_COUNTS)} }};\n",
        _listed("NS_EACH_SYNC_COUNTER", SYNC_COUNTS),
    ]
    notes = "".join(f" *   {name}: {note}\n" for name, note in {**workers, **SYNC_COUNTS}.items() if note)
    heading = f"#include <stdint.h>\n\n/* What is counted:\n{notes} */\n\n"
    return header(heading + "\n".join(parts))


def _listed(macro: str, names: Iterable[str]) -> str:
    lines = [f"#define {macro}(EACH)", *(f"    EACH({name}, {name.upper()})" for name in names)]
    return " \\\n".join(lines) + "\n"


def _number(value: int) -> str:
    if value < 0:
        return f"({value})"
    return str(value) if value < 2**31 else f"INT64_C({value})"


def _enumeration(each: Names) -> str:
    values = [f"    {each.prefix}_{name} = {value}" for name, value in each.members.items()]
    if each.type in WITH_END:
        values.append(f"    {each.prefix}_END")
    text = f"enum {each.type} {{\n" + ",\n".join(values) + "\n};\n"
    if each.type in LISTED:
        text += "\n" + _listed(f"NS_EACH_{each.type.removeprefix('ns_').upper()}", each.words)
    return text


def _words_of(each: Names) -> tuple[str, ...]:
    return (*each.words, "the end") if each.type in WITH_END else each.words


def _words_name(each: Names) -> str:
    return f"{each.type.upper()}_WORD"


def _record(record: Record) -> str:
    notes = [f" /* {m.note} */" if m.note else "" for m in record.members]
    members = "".join(f"    {C_TYPES[m.type]} {m.name};{note}\n" for m, note in zip(record.members, notes, strict=True))
    text = f"/* {record.note} */\ntypedef struct {record.c_name} {{\n{members}}} {record.c_name};\n"
    struct, offsets = record.c_name, record.offsets().items()
    asserts = [f'static_assert(sizeof({struct}) == {record.bytes}, "{struct} has another size in Python");']
    for name, at in offsets:
        asserts.append(f'static_assert(offsetof({struct}, {name}) == {at}, "{name} is elsewhere in Python");')
    return text + "\n".join(asserts) + "\n"


VIEWS = {"uint8": "ns_u8s", "int32": "ns_i32s", "uint32": "ns_u32s", "int64": "ns_i64s", "uint64": "ns_u64s"}


def structures() -> str:
    """Return the C header with all structures, each after those that it contains."""
    includes = '#include <stdbool.h>\n#include <stdint.h>\n\n#include "plan/views.h"\n#include "enumerations.h"\n'
    texts = "".join(f"\n{_structure(each)}" for each in in_order(PLAN))
    return header(includes + texts)


def in_order(structure: Structure, seen: set[str] | None = None) -> Iterator[Structure]:
    """Yield all structures that ``structure`` contains, each after its parts, and ``structure`` last."""
    seen = set() if seen is None else seen
    for field in structure.fields:
        if isinstance(field, (kinds.Part, kinds.Listed)) and field.of.c_name not in seen:
            yield from in_order(field.of, seen)
    seen.add(structure.c_name)
    yield structure


def listed(structure: Structure) -> bool:
    """Return whether plans contain lists of this structure."""
    listed = (field for each in in_order(PLAN) for field in each.fields if isinstance(field, kinds.Listed))
    return any(field.of is structure for field in listed)


def enum_of(values: object) -> str:
    """Return the C type of the enumeration with these ``values``: an IntEnum, or a Literal of words."""
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
    """Yield the name and the declaration of each member of a field; nothing for a field that is a member of a part."""
    if "." in field.place:
        return
    shape = f"[{field.shape}]" if isinstance(field, (kinds.Array, kinds.Arrays)) else ""
    note = f" /* {' '.join(filter(None, (shape, field.note)))} */" if shape or field.note else ""
    yield field.place, f"{_type(field)}{field.place};{note}"
    if isinstance(field, (kinds.Array, kinds.Records)) and field.count not in ("", "none"):
        yield field.count, f"uint32_t {field.count};"


def _type(field: Field) -> str:
    """Return the C type of a member, followed by a space or a star."""
    match field:
        case kinds.Array():
            type = f"const {field.type}_t *" if field.count else VIEWS[field.type]
        case kinds.Records():
            type = f"const {field.of.c_name} *"
        case kinds.Integer() | kinds.Computed():
            type = field.c_type
        case kinds.Choice() | kinds.Value():
            type = enum_of(field.of)
        case kinds.Listed():
            type = f"{field.of.c_name}_list"
        case kinds.Part():
            type = field.of.c_name
        case _:
            type = {kinds.Arrays: "ns_i64_lists", kinds.Flag: "bool"}[field.__class__]
    return type if type.endswith("*") else f"{type} "


# ---- The C++ names of enumerations, structures and kinds of traffic --------------------------------------------------


def plan_names() -> str:
    """Return the header with the C++ names."""
    enums = "".join(_cpp_enumeration(each) for each in ENUMERATIONS if each.cpp)
    structures = "".join(f"using {each.cpp_name} = {each.c_name};\n" for each in in_order(PLAN) if each.cpp_name)
    traffic = f"enum TrafficKind : std::size_t {{ {', '.join(TRAFFIC.values())}, TRAFFIC_KINDS }};\n"
    names = f"constexpr const char* TRAFFIC_NAMES[] = {{{', '.join(map(quoted, TRAFFIC))}}};\n"
    return header(
        '#include <cstddef>\n#include <cstdint>\n\n#include "plan_structs.h"\n\n'
        f"namespace numasim {{\n\n{enums}\n{structures}\n"
        f"// Kinds of traffic between nodes, and what they are called in results.\n{traffic}{names}\n"
        "}  // namespace numasim\n"
    )


def quoted(name: str) -> str:
    """Return a name as a string of C."""
    return f'"{name}"'


def _cpp_enumeration(each: Names) -> str:
    names = each.cpp_names or tuple(each.members)
    pairs = [f"{cpp} = {each.prefix}_{c}" for cpp, c in zip(names, each.members, strict=True)]
    if each.of_words:
        return f"struct {each.cpp} {{\n    static constexpr {each.type} {', '.join(pairs)};\n}};\n"
    return f"enum {each.cpp} : std::uint8_t {{ {', '.join(pairs)} }};\n"
