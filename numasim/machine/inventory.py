"""An inventory of a system: hardware threads, caches, memory and distances, by the system's own numbers.

The readers of sysfs and of hwloc's XML return inventories. `numasim.machine.draft` turns an inventory into a machine
file. A node is a NUMA node. Firmware is the system's tables of distances, bandwidths and latencies (ACPI SLIT, HMAT).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Where = int | tuple[int, int]  # the place of a value: the node of a bandwidth, or (from node, to node) of a latency


@dataclass(frozen=True)
class Thread:
    """A hardware thread that may be used; cores, sockets and nodes are numbers unique in the system."""

    id: int
    core: int
    socket: int
    node: int


@dataclass(frozen=True)
class Cache:
    """A data or unified cache and the hardware threads that share the cache."""

    level: int
    size_bytes: int  # 0: not given
    line_bytes: int  # 0: not given
    threads: frozenset[int]


@dataclass(frozen=True)
class Clock:
    """The clock of the cores, and the source of this value, which begins ``read:``, ``derived:`` or ``assumed:``."""

    ghz: Decimal
    source: str


def clock_in(name: str, source: str) -> Clock | None:
    """Return the clock in a processor's ``name``, such as `@ 2.40GHz`, with its ``source``; None if there is none."""
    found = re.search(r"@ *([0-9]{1,3}\.?[0-9]{0,9}) *GHz", name)
    return Clock(Decimal(found[1]), source) if found else None


@dataclass(frozen=True)
class Inventory:
    """One system; a value that is None or missing was not given."""

    origin: str  # the source of the inventory, for the user
    threads: tuple[Thread, ...]  # in ascending order of ids
    caches: tuple[Cache, ...]
    memory_bytes: dict[int, int]  # usable memory by node, including nodes without hardware threads
    distance: dict[tuple[int, int], Decimal]  # by (from node, to node), as firmware gives distances
    clock: Clock | None
    page_bytes: int | None
    remarks: tuple[str, ...]  # sentences about what was left out
    beside: dict[int, int] = field(default_factory=dict)  # {node without threads: the nearest node with threads}
    speeds: dict[int, int] = field(default_factory=dict)  # {hardware thread: speed in any unit}; empty if not known
    speed_source: str = ""  # the source of the speeds, for the user
    bandwidth_gbs: dict[int, Decimal] = field(default_factory=dict)  # of the memory of a node, 10**9 bytes per second
    latency_ns: dict[tuple[int, int], Decimal] = field(default_factory=dict)  # of a load, by (from node, to node)
    memory_kind: dict[int, str] = field(default_factory=dict)  # by node, such as HBM, if known
    memoryless: frozenset[int] = frozenset()  # nodes without memory, even if no sizes are known
    memory_source: str = ""  # the source of bandwidths and latencies, for the user
    sizes_origin: str = ""  # the source of the sizes of memory, for the user; empty: ``origin``
    mark: str = "read"  # of values from ``origin``: ``read``, or ``derived`` if they follow from what the origin says
    averaged: frozenset[Where] = frozenset()  # where a value is the mean of unlike values for reading and writing
    # Properties that the system does not report. Without "sockets" all nodes count as one socket, without "cores" each
    # hardware thread counts as a core, without "speeds" all kinds of cores count as equally fast, without "cache sizes"
    # last-level caches have an assumed size.
    unsaid: frozenset[str] = frozenset()


Values = Sequence[Decimal]  # the value for reading and the value for writing, or one value for both


def memory_fields(
    bandwidths: Mapping[int, Values], latencies: Mapping[tuple[int, int], Values], gbs: Decimal
) -> dict[str, Any]:
    """Return the fields ``bandwidth_gbs``, ``latency_ns`` and ``averaged`` of an `Inventory`: the means of the values
    for reading and writing. ``bandwidths`` are in units of ``gbs`` * 10**9 bytes per second, ``latencies`` in ns.
    """
    means = {node: round(_mean(values) * gbs, 3) for node, values in bandwidths.items()}
    return {
        "bandwidth_gbs": {node: mean for node, mean in means.items() if mean},
        "latency_ns": {pair: round(_mean(values), 3) for pair, values in latencies.items()},
        "averaged": frozenset(_unlike(bandwidths) | _unlike(latencies)),
    }


def _unlike(values: Mapping[Any, Values]) -> set[Where]:
    return {where for where, both in values.items() if len(set(both)) > 1}


def _mean(values: Values) -> Decimal:
    return sum(values, Decimal(0)) / len(values)
