"""What a segment moves, and how long it waits for it: caches, pages and latencies together (model 2.3 to 2.5).

The first pass over an access asks the last-level cache chunk by chunk (`numasim.engine.caches`); of further passes the
second-level cache serves all where the whole footprint of the segment fits into it, else the last-level cache its
share. The rest comes from the homes of the pages, each in proportion to the bytes that it has. What is written is
fetched for ownership and written back. A miss takes the latency between the nodes, ``mlp / 1000`` of one access at a
time; a controller that is busy with others' misses may add the mean wait of an M/D/1 queue to it.

Bytes that the second-level cache serves cost no time of their own: a kernel's compute rate has them in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.engine.caches import CHUNK_BYTES, PART_BYTES, Piece, Place, cache_of
from numasim.engine.pages import PageMap, split
from numasim.engine.plan import Plan
from numasim.engine.resources import Path, Resources
from numasim.spec.units import MILLION
from numasim.workload.graph import Mode, Pattern
from numasim.workload.serial import LINE_BYTES, MLP

I64 = npt.NDArray[np.int64]

KINDS = ("read", "ownership", "written", "cache")  # of traffic between nodes; the last from cache to cache
READ, OWNERSHIP, WRITTEN, CACHE = KINDS
MOST_BUSY_PPM = 950_000  # beyond it the wait of an M/D/1 queue is taken as here


@dataclass(slots=True)
class Price:
    """What a segment costs: times in picoseconds, units by resource. ``local_wait_ps`` is the wait if all its bytes
    were local, ``queued_ps`` what it waits for controllers in addition, ``fault_ps`` the time of its ``placed`` and
    ``migrated`` pages.
    """

    compute_ps: int
    wait_ps: int = 0
    local_wait_ps: int = 0
    queued_ps: int = 0
    fault_ps: int = 0
    placed: int = 0
    migrated: int = 0
    units: dict[int, int] = field(default_factory=dict)

    def use(self, path: Path, amount: int) -> None:
        """Count what moves along ``path``."""
        if amount:
            for resource in path:
                self.units[resource] = self.units.get(resource, 0) + amount


class Moved(NamedTuple):
    """[nodes] bytes that were fetched from each home and written back to it."""

    fetched: list[int]
    written: list[int]


class Traffic:
    """Bytes by kind and pair of nodes, [accessing node, home or sender], and bytes that caches served."""

    def __init__(self, nodes: int) -> None:
        self.bytes = {kind: np.zeros((nodes, nodes), np.int64) for kind in KINDS}
        self.cached_bytes = 0

    def from_memory(self) -> I64:
        """[accessing node, home] bytes of all kinds but those from other caches."""
        return self.bytes[READ] + self.bytes[OWNERSHIP] + self.bytes[WRITTEN]


def misses_ps(amount: int, latency_ps: int, mlp: int) -> int:
    """How long ``amount`` bytes take that come line by line."""
    lines = -(-amount // LINE_BYTES)
    return -(-lines * latency_ps * 1000 // mlp)


def in_proportion(amount: int, parts: Sequence[int]) -> list[int]:
    """``amount`` cut like ``parts``: whole numbers that add up to it."""
    whole, before, found = sum(parts), 0, []
    done = 0
    for part in parts:
        before += part
        cut = amount * before // whole if whole else 0
        found.append(cut - done)
        done = cut
    return found


def mlp_of(plan: Plan) -> list[int]:
    """[patterns] misses under way at once, times 1000."""
    return [max(1, MLP[pattern] * plan.effects.mlp_ppm // MILLION) for pattern in Pattern]


class Memory:
    """The caches and pages of a run, and what its segments find there."""

    def __init__(self, plan: Plan, pages: PageMap, resources: Resources, traffic: Traffic) -> None:
        self._plan = plan
        self._resources = resources
        self._traffic = traffic
        self._cache = cache_of(plan)
        self._pages = pages
        self._mlp = mlp_of(plan)
        self._latency = plan.machine.latency_ps.tolist()
        self._l2_bytes = plan.machine.caches.l2_bytes if plan.effects.cache != "none" else -1
        self.queueing_ps = [0] * plan.machine.nodes  # what a miss waits at each controller

    def price(self, segment: int, compute_ps: int, place: Place) -> Price:
        """What a segment costs that starts now at ``place``; caches and pages are as it leaves them."""
        pointer, accesses = self._plan.workload.segment_accesses, self._plan.workload.accesses
        mine = range(int(pointer[segment]), int(pointer[segment + 1]))
        footprint = sum(int(accesses.row_bytes[j]) * int(accesses.rows[j]) for j in mine)
        price = Price(compute_ps)
        for j in mine:
            self._access(price, j, place, footprint)
        return price

    def _access(self, price: Price, j: int, place: Place, footprint: int) -> None:
        accesses = self._plan.workload.accesses
        total = int(accesses.row_bytes[j]) * int(accesses.rows[j])
        if not total:
            return
        by_home = self._homes(price, j, place.node)
        mode, region, passes = Mode(int(accesses.mode[j])), int(accesses.region[j]), int(accesses.passes[j])
        pieces = self._pieces(j)
        found = self._cache.first_pass(place, region, pieces, writes=mode != Mode.READ)
        moved = sum(found.moved.values())
        again = total * (passes - 1)
        near = again if footprint <= self._l2_bytes else 0
        llc = found.hit
        if again and not near:
            part, whole = self._cache.later_pass(place, region, pieces, footprint)
            llc += again * part // whole
        fetched = total + again - near - llc - moved
        written = fetched + moved if mode != Mode.READ else 0
        times = 1 if mode == Mode.READ else 2
        self._traffic.cached_bytes += times * (near + llc)
        mlp = self._mlp[int(accesses.pattern[j])]
        memory = Moved(in_proportion(fetched, by_home), in_proportion(written, by_home))
        self._from_memory(price, place.node, mode, memory, mlp)
        self._from_caches(price, place, times * llc, found.moved, mlp)

    def _homes(self, price: Price, j: int, node: int) -> list[int]:
        """[nodes] the bytes of an access by home; what it finds unplaced is placed."""
        touch = self._pages.touch(j, node)
        costs, page_bytes = self._plan.costs, self._plan.machine.page_bytes
        moved = touch.migrated.tolist()
        price.placed += touch.placed
        price.migrated += sum(moved)
        price.fault_ps += touch.placed * costs.fault_ps + sum(moved) * costs.migrate_ps
        if self._resources.faults >= 0:
            price.use((self._resources.faults,), touch.placed)
        self._traffic.bytes[READ][node] += touch.migrated * page_bytes
        for home, pages in enumerate(moved):
            price.use(self._resources.reads[node][home], pages * page_bytes)
        return touch.bytes_by_home.tolist()  # type: ignore[no-any-return]

    def _pieces(self, j: int) -> list[Piece]:
        accesses = self._plan.workload.accesses
        offset, row_bytes = int(accesses.offset[j]), int(accesses.row_bytes[j])
        return pieces_of(*split(offset, row_bytes, int(accesses.rows[j]), int(accesses.stride[j]), PART_BYTES))

    def _from_memory(self, price: Price, node: int, mode: Mode, moved: Moved, mlp: int) -> None:
        kind = OWNERSHIP if mode == Mode.WRITE else READ
        self._traffic.bytes[kind][node] += moved.fetched
        self._traffic.bytes[WRITTEN][node] += moved.written
        for home, (read, back) in enumerate(zip(*moved, strict=True)):
            price.use(self._resources.reads[node][home], read)
            price.use(self._resources.writes[node][home], back)
            price.wait_ps += misses_ps(read + back, self._latency[node][home], mlp)
            price.queued_ps += misses_ps(read + back, self.queueing_ps[home], mlp)
        price.local_wait_ps += misses_ps(sum(map(sum, moved)), self._latency[node][node], mlp)

    def _from_caches(self, price: Price, place: Place, hit: int, moved: dict[int, int], mlp: int) -> None:
        caches = self._plan.machine.caches
        near_ps = misses_ps(hit, caches.llc_hit_ps, mlp)
        price.wait_ps += near_ps
        price.local_wait_ps += near_ps
        port = self._resources.llc[place.domain]
        if port >= 0:
            price.use((port,), hit)
        for sender, amount in sorted(moved.items()):
            self._traffic.bytes[CACHE][place.node, sender] += amount
            price.use(self._resources.moves[place.node][sender], amount)
            price.wait_ps += misses_ps(amount, caches.llc_remote_hit_ps, mlp)
            price.local_wait_ps += misses_ps(amount, caches.llc_hit_ps, mlp)


def pieces_of(parts: I64, sizes: I64) -> list[Piece]:
    """What ``sizes`` [n] bytes of the parts ``parts`` [n] of a region are of its chunks."""
    found: dict[int, Piece] = {}
    for part, size in zip(parts.tolist(), sizes.tolist(), strict=True):
        chunk, bit = divmod(part, CHUNK_BYTES // PART_BYTES)
        _, total, touched = found.get(chunk, (chunk, 0, 0))
        found[chunk] = Piece(chunk, total + size, touched | 1 << bit)
    return [found[chunk] for chunk in sorted(found)]
