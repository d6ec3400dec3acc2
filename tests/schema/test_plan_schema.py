"""Everything in the schema of plans is used: hand-written code in Python and in C or C++ mentions each enumeration
value, record member, field and counter. Failing tests name what is not used. Generated sources agree with the schema.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # its tests compare random plans with the schema

from completeness import SchemaError, complete  # isort: skip

from numasim.engine.reference.sync.cache_lines import SyncCounts
from numasim.schema.enumerations import COUNTS, ENUMERATIONS, SYNC_COUNTS, TIMES, Names
from numasim.schema.field_kinds import Computed, Field, Integer, Listed, Part, Structure
from numasim.schema.generate_c import files
from numasim.schema.plan_fields import PLAN
from numasim.schema.record_layouts import CHANCE, RECORDS, Record

PACKAGE = Path(__file__).parents[2] / "numasim"
GENERATED = PACKAGE.parent / "lib" / "core" / "generated"  # in the source tree, even if another numasim is installed


# Values that C and C++ handle without a name, in the last `else` after all other values.
LEFT_OVER = frozenset(
    {
        *("NS_ROW_IMPLICIT", "NS_USE_READ_WRITE", "NS_DEAL_MASTER", "NS_AMOUNT_COUNT", "NS_END_FRONT", "NS_FULL_NEXT"),
        *("NS_COUNT_BOTH", "NS_WEIGH_OBJECTS", "NS_END_BACK", "NS_FULL_BLOCK"),
        *("NS_PRODUCER_EXTRA", "NS_RULE_LITERAL", "NS_BARRIER_PER_DOMAIN", "NS_CACHE_LRU", "NS_CONTENTION_FLUID"),
    }
)

BY_WORD = frozenset({"GROW", "NEXT"})  # Python finds these values only by the words of specifications


@cache
def words_in(language: str) -> frozenset[str]:
    """Return the identifiers, and strings of one word, in the hand-written code: ``c`` (and C++) or ``python``."""
    suffixes = {".py"} if language == "python" else {".c", ".h", ".cpp", ".hpp"}
    found: set[str] = set()
    for path in (PACKAGE if language == "python" else PACKAGE.parent / "lib").rglob("*"):
        if path.suffix in suffixes and not {"schema", "generated"} & set(path.parts):
            text = path.read_text()
            found.update(re.findall(r"\w+", text), re.findall(r"\w+(?:-\w+)+", text))
    return frozenset(found)


def unused_values(enumerations: Iterable[Names]) -> Iterator[str]:
    """Yield the enumeration values that C and C++, or Python, do not mention."""
    for each in enumerations:
        cpp = each.cpp_names or (tuple(each.members) if each.cpp else ())
        for at, (name, word) in enumerate(zip(each.members, each.words, strict=True)):
            if not {f"{each.prefix}_{name}", *cpp[at : at + 1]} & (words_in("c") | LEFT_OVER):
                yield f"{each.prefix}_{name} in C"
            if (word if each.of_words else name) not in words_in("python") | BY_WORD:
                yield f"{name} in Python"


def fields_of(structure: Structure) -> Iterator[Field]:
    """Yield all fields of a structure, with the fields of its parts and of the structures in its lists."""
    for field in structure.fields:
        if isinstance(field, (Part, Listed)):
            yield from fields_of(field.of)
        if not isinstance(field, (Part, Computed)):
            yield field


def decisive(structure: Structure) -> Iterator[str]:
    """Yield the fields in conditions under which a plan has other fields; the generated sources read these fields."""
    for field in structure.fields:
        yield from re.findall(r"\w+", field.when)
        if isinstance(field, (Part, Listed)):
            yield from decisive(field.of)


def unused_fields(structure: Structure) -> Iterator[str]:
    """Yield the fields that C and C++ never read; every random plan shows that Python gives all fields."""
    read = words_in("c").union(decisive(structure))
    yield from (field.name for field in fields_of(structure) if field.place.rpartition(".")[2] not in read)


def unused_members(records: Iterable[Record]) -> Iterator[str]:
    """Yield the members of records that C and C++, or Python, do not mention."""
    for record in records:
        for member in record.members:
            sides = ("c",) if record is CHANCE else ("c", "python")  # Python gives members of CHANCE by position
            if member.name != "pad":
                yield from (f"{member.name} in {side}" for side in sides if member.name not in words_in(side))


def unused_counters(counters: Mapping[str, str]) -> Iterator[str]:
    """Yield the counters that the engines do not count."""
    for name in counters:
        yield from (f"{name} in {side}" for side in ("c", "python") if name not in words_in(side))


# ---- the schema as it is -------------------------------------------------------------------------------------------


def test_what_is_generated_is_as_the_schema_says() -> None:
    assert {name: (GENERATED / name).read_text() for name in files()} == files()
    assert sorted(path.name for path in GENERATED.iterdir()) == sorted(files())


def test_every_enumeration_value_is_used() -> None:
    assert list(unused_values(ENUMERATIONS)) == []


def test_every_field_is_used() -> None:
    assert list(unused_fields(PLAN)) == []


def test_every_record_member_is_used() -> None:
    assert list(unused_members(RECORDS)) == []


def test_every_counter_is_used() -> None:
    assert list(unused_counters({**COUNTS, **TIMES})) == []
    assert tuple(SYNC_COUNTS) == SyncCounts._fields


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.c_name)
def test_records_have_the_same_layout_in_numpy(record: Record) -> None:
    dtype = np.dtype(record.descr())
    assert dtype.itemsize == record.bytes
    assert dtype.fields is not None
    assert {name: where for name, (_, where) in dtype.fields.items()} == record.offsets()


def test_a_field_that_is_not_given_or_not_known_is_refused() -> None:
    small = Structure("", "", "", (Integer(name="page_bytes", high="1"), Integer(name="forgotten_ps", high="1")))
    with pytest.raises(SchemaError, match="forgotten_ps is in the schema, but not given"):
        complete(small, {"page_bytes": 0})
    with pytest.raises(SchemaError, match="invented is given, but not in the schema"):
        complete(small, {"page_bytes": 0, "forgotten_ps": 1, "invented": 2})
