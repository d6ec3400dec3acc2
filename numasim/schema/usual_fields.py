"""Kinds of fields that several parts of a plan have: costs, shares, times, what accesses have each."""

from __future__ import annotations

from numasim.schema.field_kinds import I64, Array, Integer


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
