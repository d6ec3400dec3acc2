"""The records of a compiled strategy: members, types and order, in memory as in C. Notes become comments in C.

Records are packed without gaps: members stand in the order of falling size, and ``pad`` fills the rest.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import accumulate

# the names of the types of members in NumPy, in C, and in Python's `struct`
FORMATS = {"i8": "<i8", "u4": "<u4", "i4": "<i4", "u2": "<u2", "u1": "u1"}
C_TYPES = {"i8": "int64_t", "u4": "uint32_t", "i4": "int32_t", "u2": "uint16_t", "u1": "uint8_t"}
CODES = {"i8": "q", "u4": "I", "i4": "i", "u2": "H", "u1": "B"}


@dataclass(frozen=True)
class Member:
    """A member of a record, of a type of `FORMATS`."""

    name: str
    type: str
    note: str = ""


@dataclass(frozen=True)
class Record:
    """A record with the name ``c_name`` in C and a size of ``bytes``."""

    c_name: str
    note: str
    bytes: int
    members: tuple[Member, ...]

    def descr(self) -> list[tuple[str, str]]:
        """Return the description of the record for `numpy.dtype`."""
        return [(member.name, FORMATS[member.type]) for member in self.members]

    def offsets(self) -> dict[str, int]:
        """Return {member: its offset in bytes}. Raise ValueError if the record has gaps or not ``bytes`` bytes."""
        sizes = [struct.calcsize(CODES[member.type]) for member in self.members]
        if not sum(sizes) == self.bytes == struct.calcsize("".join(CODES[member.type] for member in self.members)):
            raise ValueError(f"the members of {self.c_name} take {sum(sizes)} bytes, or have gaps")
        return dict(zip((member.name for member in self.members), accumulate(sizes, initial=0), strict=False))


LEVEL = Record(
    "ns_level",
    "A steal level, or a dispatch rule.",
    44,
    (
        Member("row", "u4", "the level's first entry in `row`"),
        Member("amount", "u4"),
        Member("most", "u4", "bound of an amount that is a share of the queue; 0: none"),
        Member("first_iteration", "u4"),
        Member("last_iteration", "u4"),
        Member("every", "u4", "tasks of the worker from one poll by the level to the next; 0: the level is in rounds"),
        Member("tries", "u2"),
        Member("sample", "u2"),
        Member("leave", "u2"),
        Member(
            "leap_after", "u2", "fruitless rounds in a leapfrogging join before a round by the level; 0: no such round"
        ),
        Member("pad", "u2"),
        Member("anchor", "u1", "Anchor"),
        Member("pick", "u1", "Pick"),
        Member("visit", "u1", "Visit"),
        Member("segments", "u1", "of a group"),
        Member("watch", "u1", "or NONE8"),
        Member("flags", "u1", "FLAG_ATTEMPT and the other flags of levels in numasim/schema/enumerations.py"),
        Member("chance", "u1", "or NONE8"),
        Member("amount_kind", "u1", "AmountKind"),
        Member("data", "u1", "or NONE8"),
        Member("toggle", "u1", "number of the switch that the level depends on, or NONE8"),
    ),
)
QUEUE = Record(
    "ns_queue",
    "A queue of tasks.",
    20,
    (
        Member("home", "i4", "node of the queue's words; -1 for a queue of the whole machine"),
        Member("owner", "i4", "first worker of its unit"),
        Member("capacity", "i4", "0: without bound"),
        Member("in_a_row", "u2", "of a slot: tasks that its worker takes from it in a row before it closes; 0: any"),
        Member("hidden", "u1", "1: only its owner takes from it"),
        Member("family", "u1"),
        Member("own_end", "u1", "End"),
        Member("steal_end", "u1", "End"),
        Member("full", "u1", "Full"),
        Member("pad", "u1"),
    ),
)
CHANCE = Record(
    "ns_chance",
    "The probability with which a level is entered, and its changes by success and failure.",
    28,
    (
        Member("first_ppm", "i4"),
        Member("most_ppm", "i4"),
        Member("hit_ppm", "i4"),
        Member("miss_ppm", "i4"),
        Member("elsewhere_hit_ppm", "i4"),
        Member("elsewhere_miss_ppm", "i4"),
        Member("level", "i4"),
    ),
)
DATA = Record(
    "ns_data",
    "The conditions of a dispatch rule on a task and its objects.",
    16,
    (
        Member("min_bytes", "i8", "of the objects that count"),
        Member("min_share_ppm", "i4", "of them on the node chosen"),
        Member("rank", "u1", "NodeRank"),
        Member("count", "u1", "Counted"),
        Member("weigh", "u1", "Weigh"),
        Member("flags", "u1", "FLAG_LOOKS and its guards"),
    ),
)
RECORDS = (LEVEL, QUEUE, CHANCE, DATA)
