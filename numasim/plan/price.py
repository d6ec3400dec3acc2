"""The price of a segment or item: times, pages and use of resources; and the traffic of a run (model 2.4 and 2.5).

A segment is a part of a task that computes and accesses memory; an item is one of the similar tasks of a range. A
resource is a memory controller, link, last-level cache or the address space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from numasim.parts.unit_factors import MILLION
from numasim.plan.plan import Plan
from numasim.plan.resources import Path
from numasim.workload.graph import I64, Pattern
from numasim.workload.one_worker import LINE_BYTES, MLP

KINDS = ("read", "ownership", "written", "cache")  # kinds of traffic between nodes; the last is from cache to cache
READ, OWNERSHIP, WRITTEN, CACHE = KINDS


@dataclass(slots=True)
class Price:
    """The price of a segment or item; times in picoseconds."""

    compute_ps: int
    wait_ps: int = 0
    local_wait_ps: int = 0  # the wait if all bytes were local
    queued_ps: int = 0  # the additional wait for controllers
    fault_ps: int = 0  # the time of the placed, migrated and unmapped pages
    placed: int = 0  # pages that get their first home
    migrated: int = 0  # pages that get another home
    unmapped: int = 0  # pages that are given back to the operating system
    units: dict[int, int] = field(default_factory=dict)  # {resource: used units}

    def use(self, resource: int, amount: int) -> None:
        """Add ``amount`` units of a resource."""
        if amount:
            self.units[resource] = self.units.get(resource, 0) + amount

    def move(self, path: Path, amount: int) -> None:
        """Add the use of resources by ``amount`` bytes that move along ``path``."""
        for resource, per_line in path:
            self.use(resource, -(-amount * per_line // LINE_BYTES))


class Moved(NamedTuple):
    """[nodes] the bytes fetched from each home, and the bytes written back to each home."""

    fetched: list[int]
    written: list[int]


class Traffic:
    """The bytes that a run moves, and the pages that items of ranges touch first and give back."""

    def __init__(self, nodes: int) -> None:
        self.bytes = {kind: np.zeros((nodes, nodes), np.int64) for kind in KINDS}  # [accessing node, home or sender]
        self.cached_bytes = 0  # served by caches
        self.placed = 0  # pages that items touched first
        self.unmapped = 0  # pages that items gave back
        self.prefetched_bytes = 0  # brought into caches by helpers
        self.used_bytes = 0  # those of the prefetched bytes that workers found in caches

    def from_memory(self) -> I64:
        """Return [accessing node, home] the bytes of all kinds but those from other caches."""
        return self.bytes[READ] + self.bytes[OWNERSHIP] + self.bytes[WRITTEN]


def misses_ps(amount: int, latency_ps: int, mlp: int) -> int:
    """Return the wait in ps for ``amount`` bytes, line by line, of which ``mlp / 1000`` are under way at a time."""
    lines = -(-amount // LINE_BYTES)
    return -(-lines * latency_ps * 1000 // mlp)


def in_proportion(amount: int, parts: Sequence[int]) -> list[int]:
    """Return ``amount`` divided in proportion to ``parts``, in integers with the sum ``amount``."""
    whole, before, found = sum(parts), 0, []
    done = 0
    for part in parts:
        before += part
        cut = amount * before // whole if whole else 0
        found.append(cut - done)
        done = cut
    return found


def mlp_of(plan: Plan) -> list[int]:
    """Return [access patterns] how many misses are under way at a time, times 1000."""
    return [max(1, MLP[pattern] * plan.effects.mlp_ppm // MILLION) for pattern in Pattern]
