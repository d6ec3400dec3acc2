"""The kinds of fields of a plan, and the structures of C and C++ that consist of them (`plan_fields`).

Sizes, bounds and conditions are expressions over the fields read before: integers, names of fields and of
`enumerations.CONSTANTS`, ``len(name)``, ``+ - * ( )`` and comparisons, with ``and``, ``or`` and ``not`` between them. A
name is looked up in the entry of a list, then in the structure that contains the list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

U8, I32, U32, I64, U64 = "uint8", "int32", "uint32", "int64", "uint64"


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of plans with the name ``name``, present if the expression ``when`` holds. In C it is the member
    ``member`` of the structure (empty: ``name``), which may lead into an inner structure (``part.name``).
    """

    name: str = field(kw_only=False)
    note: str = ""
    member: str = ""
    when: str = ""

    @property
    def place(self) -> str:
        """Return the member, or path of members, that holds the field."""
        return self.member or self.name


@dataclass(frozen=True, kw_only=True)
class Integer(Field):
    """An integer from ``low`` to ``high``, kept as ``c_type``."""

    low: str = "0"
    high: str
    c_type: str = "int64_t"


@dataclass(frozen=True, kw_only=True)
class Flag(Field):
    """True or false."""


@dataclass(frozen=True, kw_only=True)
class Choice(Field):
    """One of the words of an enumeration."""

    of: Any = field(kw_only=False)  # a Literal of `enumerations`


@dataclass(frozen=True, kw_only=True)
class Value(Field):
    """A number of an enumeration."""

    of: Any = field(kw_only=False)  # an IntEnum of `enumerations`


@dataclass(frozen=True, kw_only=True)
class Array(Field):
    """``size`` numbers of one type, or any number of them if ``size`` is empty, each from ``low`` to ``high``.

    An array with ``full`` in place of ``size`` is empty or has ``full`` numbers. ``shape`` is a note. An array with
    ``points_into`` begins at 0, never falls and ends at the value of this expression. In C the array is a view (pointer
    and length). With ``count``, it is a bare pointer, and the member ``count`` holds the number of rows of ``width``
    numbers; if ``count`` is ``none``, there is no such member.
    """

    type: str = field(kw_only=False)
    shape: str = field(kw_only=False)
    size: str = ""
    full: str = ""
    low: str = ""
    high: str = ""
    points_into: str = ""
    count: str = ""
    width: int = 1


@dataclass(frozen=True, kw_only=True)
class Arrays(Field):
    """``count`` arrays of one type, each empty or of ``size`` numbers from ``low`` to ``high``."""

    type: str
    shape: str
    count: str
    size: str
    low: str
    high: str


@dataclass(frozen=True, kw_only=True)
class Records(Field):
    """Records of a layout of `record_layouts`, as bytes; in C a bare pointer, with their number in member ``count``."""

    of: Any = field(kw_only=False)  # a Record
    count: str


@dataclass(frozen=True, kw_only=True)
class Listed(Field):
    """A list of entries of one structure; of ``count`` entries, if ``count`` is given."""

    of: Structure = field(kw_only=False)
    count: str = ""


@dataclass(frozen=True, kw_only=True)
class Part(Field):
    """A structure within a structure in C; in a plan, its fields stand among the outer fields."""

    of: Structure = field(kw_only=False)


@dataclass(frozen=True, kw_only=True)
class Computed(Field):
    """A member that the reader computes from the fields; plans have no such field."""

    c_type: str = field(kw_only=False)


@dataclass(frozen=True)
class Structure:
    """A structure: ``c_name`` in C, ``cpp_name`` in C++.

    ``checked``: after reading, the function ``<c_name>_check`` (lib/core/plan) checks further conditions and sets the
    `Computed` members. ``requires`` has conditions, each with the sentence about a plan that breaks it. ``order`` is
    the order of the members if it differs from the order of the fields.
    """

    c_name: str
    cpp_name: str
    note: str
    fields: tuple[Field, ...]
    checked: bool = False
    requires: tuple[tuple[str, str], ...] = ()
    order: tuple[str, ...] = ()


# ---- Kinds of fields that several parts of a plan have: costs, shares, times, values of accesses --------------------


def cost(name: str, note: str = "", low: str = "0", member: str = "") -> Integer:
    """Make a field for the time of an operation, in ps."""
    return Integer(name, low=low, high="MOST_COST_PS", note=note, member=member)


def ppm(name: str, note: str = "", low: str = "0", high: str = "MILLION") -> Integer:
    """Make a field for a share in parts per million."""
    return Integer(name, low=low, high=high, note=note)


def times(name: str, shape: str, size: str, note: str = "", member: str = "") -> Array:
    """Make a field for times of segments or tasks, in ps."""
    return Array(name, I64, shape, size=size, high="LONGEST_PS", note=note, member=member)


def latencies(name: str, note: str, member: str = "", count: str = "", when: str = "") -> Array:
    """Make a field for latencies between nodes, in ps."""
    return Array(
        name, type=I64, shape="nodes, nodes", size="nodes * nodes", high="MOST_COST_PS", note=note,
        member=member, count=count, when=when,
    )  # fmt: skip


def by_node(name: str, columns: str, size: str, member: str, note: str = "") -> Arrays:
    """Make a field for times in ps: for each node an array of ``size`` times."""
    shape = f"nodes, {columns}"
    return Arrays(
        name, type=I64, shape=shape, count="nodes", size=size, low="0", high="LONGEST_PS", member=member, note=note
    )


def pointer(name: str, shape: str, size: str, into: str, **more: Any) -> Array:
    """Make a field that says where the entries of each row begin in other arrays, whose length is ``into``."""
    return Array(name, I64, shape, size=size, points_into=into, **more)


def _rows(shape: str, size: str) -> Callable[..., Array]:
    """Return a maker of arrays that have a number for each of some rows, all with the same ``shape`` and ``size``."""

    def of_rows(name: str, type: str, high: str = "", **more: Any) -> Array:
        return Array(name, type, shape, size=size, high=high, **more)

    return of_rows


of_accesses = _rows("accesses", "len(access_region)")
of_domains = _rows("llc domains", "llc_domains")
of_homes = _rows("homes", "len(home)")
of_nodes = _rows("nodes", "nodes")
of_objects = _rows("objects", "len(object_home)")
of_regions = _rows("regions", "len(region_pages)")
of_rows = _rows("rows", "rows")
of_words = _rows("words", "len(word_role)")
of_workers = _rows("workers", "workers")
