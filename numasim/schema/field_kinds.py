"""The kinds of fields of a plan, and the structures of C and C++ that consist of them (`plan_fields`).

Sizes, bounds and conditions are expressions over the fields read before, in the syntax that Python and C share:
integers, names of fields and of `enumerations.CONSTANTS`, ``len(name)``, ``+ - * ( )`` and comparisons, with ``and``,
``or`` and ``not`` between them. A name is looked up in the entry of a list, then in the structure that contains the
list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

U8, I32, U32, I64, U64 = "uint8", "int32", "uint32", "int64", "uint64"


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field that plans give by ``name``; structures call it ``member``, which may lead into a part (``part.name``).

    It is present if ``when`` holds.
    """

    name: str
    note: str = ""
    member: str = ""
    when: str = ""

    @property
    def place(self) -> str:
        """The member, or path of members, that holds it."""
        return self.member or self.name


@dataclass(frozen=True, kw_only=True)
class Integer(Field):
    """An integer from ``low`` to ``high``, kept as ``c_type``."""

    low: str = "0"
    high: str
    c_type: str = "int64_t"


@dataclass(frozen=True, kw_only=True)
class Word(Field):
    """An unsigned integer of 64 bits, without bounds; in files alone."""


@dataclass(frozen=True, kw_only=True)
class Flag(Field):
    """True or false."""


@dataclass(frozen=True, kw_only=True)
class Choice(Field):
    """One of the words of an enumeration."""

    of: Any  # a Literal of `enumerations`


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """Any text; in files alone."""


@dataclass(frozen=True, kw_only=True)
class Value(Field):
    """A number of an enumeration."""

    of: Any  # an IntEnum of `enumerations`


@dataclass(frozen=True, kw_only=True)
class Array(Field):
    """``size`` numbers of one type, or any number of them, each from ``low`` to ``high``.

    ``shape`` is a note. An array that ``points_into`` others begins at 0, never falls and ends at
    what this expression says. It is kept as a view; with ``count``, as a bare pointer and the member ``count`` that
    says how many rows of ``width`` numbers there are; as a bare pointer alone where ``count`` is ``none``.
    """

    type: str
    shape: str
    size: str = ""
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
    """Records of a layout of `record_layouts`, as bytes; kept as a bare pointer, with their number in ``count``."""

    of: Any  # a Record
    count: str


@dataclass(frozen=True, kw_only=True)
class Listed(Field):
    """A list of entries of one structure; where ``count`` is given, of so many."""

    of: Structure
    count: str = ""


@dataclass(frozen=True, kw_only=True)
class Part(Field):
    """A structure within a structure, whose fields stand among those of the other."""

    of: Structure


@dataclass(frozen=True, kw_only=True)
class Computed(Field):
    """A member that the reader computes from the fields: it is in the structure, but in no plan."""

    c_type: str


@dataclass(frozen=True)
class Structure:
    """Fields that belong together: ``c_name`` in C, ``cpp_name`` in C++.

    ``checked``: the function ``<c_name>_check`` (lib/core/plan) checks further conditions and computes the computed
    members. ``order`` is that of the members if it differs from that of the fields.
    """

    c_name: str
    cpp_name: str
    note: str
    fields: tuple[Field, ...]
    checked: bool = False
    order: tuple[str, ...] = ()


# ---- Kinds of fields that several parts of a plan have: costs, shares, times, what accesses have each ----------------


def cost(name: str, note: str = "", low: str = "0", member: str = "") -> Integer:
    """What an operation takes, in ps."""
    return Integer(name=name, low=low, high="MOST_COST_PS", note=note, member=member)


def ppm(name: str, note: str = "", low: str = "0", high: str = "MILLION") -> Integer:
    """A share in parts per million."""
    return Integer(name=name, low=low, high=high, note=note)


def times(name: str, shape: str, size: str, note: str = "", member: str = "") -> Array:
    """Times that segments or tasks take, in ps."""
    return Array(name=name, type=I64, shape=shape, size=size, high="LONGEST_PS", note=note, member=member)


def latencies(name: str, note: str, member: str = "", count: str = "", when: str = "") -> Array:
    """Latencies between nodes, in ps."""
    return Array(
        name=name, type=I64, shape="nodes, nodes", size="nodes * nodes", high="MOST_COST_PS", note=note,
        member=member, count=count, when=when,
    )  # fmt: skip


def of_accesses(name: str, type: str, member: str, high: str = "", low: str = "", note: str = "") -> Array:
    """What each access of the plan has one of."""
    return Array(
        name=name, type=type, shape="accesses", size="len(access_region)", low=low, high=high, member=member, note=note
    )
