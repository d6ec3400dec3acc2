"""An inventory of a system: hardware threads, caches, memory and distances, by the system's own numbers.

The readers of sysfs and of hwloc's XML return one; `numasim.machine.draft` makes a machine file of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from numasim.files.whole_numbers import whole_number

MOST_PROCESSORS = 65_536  # of one system; Linux itself is built for 8,192 at most


@dataclass(frozen=True)
class Thread:
    """A hardware thread that may be used; cores, sockets and nodes are numbers unique in the system."""

    id: int
    core: int
    socket: int
    node: int


@dataclass(frozen=True)
class Cache:
    """A data or unified cache and the hardware threads that share it."""

    level: int
    size_bytes: int
    line_bytes: int  # 0: not given
    threads: frozenset[int]


@dataclass(frozen=True)
class Clock:
    """The clock of the cores and its source."""

    ghz: Decimal
    source: str


@dataclass(frozen=True)
class Inventory:
    """One system; a value that is None or missing was not given."""

    origin: str  # the source of the inventory, for the user
    threads: tuple[Thread, ...]  # ascending ids
    caches: tuple[Cache, ...]
    memory_bytes: dict[int, int]  # by node, including nodes without hardware threads
    distance: dict[tuple[int, int], Decimal]  # as given by firmware: from node, to node
    clock: Clock | None
    page_bytes: int | None
    remarks: tuple[str, ...]  # properties that were left out


def number_list(text: str) -> frozenset[int]:
    """The numbers of a list as the kernel writes it: ``0-3,8``.

    ValueError for anything else, and for a number that is not below `MOST_PROCESSORS`.
    """
    numbers: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, dash, last = part.partition("-")
        low, high = whole_number(first), whole_number(last if dash else first)
        if not 0 <= low <= high < MOST_PROCESSORS:
            raise ValueError(f"{part} is no range of processors")
        if not {low, high} <= numbers:
            numbers.update(range(low, high + 1))
    return frozenset(numbers)


def as_list(numbers: frozenset[int]) -> str:
    """Numbers as the kernel writes them."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
