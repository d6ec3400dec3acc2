"""The C text of enumerations, constants, records and counters."""

from __future__ import annotations

from numasim.schema.counter_names import COUNTS, SYNC_COUNTS, TIMES
from numasim.schema.enumerations import CONSTANTS, ENUMERATIONS, Names
from numasim.schema.record_layouts import C_TYPES, RECORDS, Record

HEADING = "/* Generated from numasim/schema by `python -m numasim.schema.generate_c`: not to be edited. */\n"
WITH_END = frozenset({"ns_op"})  # enumerations with a name for the number after the last value
LISTED = frozenset({"ns_lock_kind"})  # enumerations whose values are a list for macros, too


def guarded(name: str, body: str) -> str:
    """A header of that name."""
    return f"{HEADING}#ifndef {name}\n#define {name}\n\n{body}\n#endif\n"


def enumerations() -> str:
    """The header with constants, enumerations and records."""
    parts = [
        "#include <assert.h>\n#include <stddef.h>\n#include <stdint.h>\n",
        "".join(f"#define NS_{name} {_number(value)}\n" for name, value in CONSTANTS.items()),
        *map(_enumeration, ENUMERATIONS),
        "/* The words that stand for values of choices, in their order. */\n"
        + "".join(f"extern const char *const {_words_name(each)}[{len(_words_of(each))}];\n" for each in ENUMERATIONS),
        *map(_record, RECORDS),
    ]
    return guarded("NUMASIM_GENERATED_ENUMERATIONS_H", "\n".join(parts))


def words() -> str:
    """The names of the values of all enumerations."""
    tables = [
        f"const char *const {_words_name(each)}[{len(_words_of(each))}] = {{"
        + ", ".join(f'"{word}"' for word in _words_of(each))
        + "};\n"
        for each in ENUMERATIONS
    ]
    return f'{HEADING}#include "enumerations.h"\n\n' + "".join(tables)


def counters() -> str:
    """The counters of workers as a list of names and as a structure, and those of synchronisation objects."""
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
    return guarded("NUMASIM_GENERATED_COUNTERS_H", heading + "\n".join(parts))


def _listed(macro: str, names: dict[str, str]) -> str:
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
    return f"enum {each.type} {{\n" + ",\n".join(values) + "\n};\n" + _list_of_values(each)


def _list_of_values(each: Names) -> str:
    """The values by their words and their names, so that C can make a table of what it has for each."""
    if each.type not in LISTED:
        return ""
    return "\n" + _listed(f"NS_EACH_{each.type.removeprefix('ns_').upper()}", dict.fromkeys(each.words, ""))


def _words_of(each: Names) -> tuple[str, ...]:
    return (*each.words, "the end") if each.type in WITH_END else each.words


def _words_name(each: Names) -> str:
    return f"{each.type.upper()}_WORD"


def _record(record: Record) -> str:
    members = "".join(f"    {C_TYPES[m.type]} {m.name};{_note(m.note)}\n" for m in record.members)
    text = f"/* {record.note} */\ntypedef struct {record.c_name} {{\n{members}}} {record.c_name};\n"
    asserts = [
        f'static_assert(sizeof({record.c_name}) == {record.bytes}, "{record.c_name} has another size in Python");'
    ]
    asserts += [
        f'static_assert(offsetof({record.c_name}, {name}) == {at}, "{name} is elsewhere in Python");'
        for name, at in record.offsets().items()
    ]
    return text + "\n".join(asserts) + "\n"


def _note(note: str) -> str:
    return f" /* {note} */" if note else ""
