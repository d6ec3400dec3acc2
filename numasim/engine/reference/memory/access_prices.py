"""The bytes that a segment moves, and the wait for the bytes: caches, pages and latencies (model 2.3 to 2.5).

A segment is a part of a task: a time of computing, and accesses (bytes of a region of memory, walked in one pass or
several). A domain is the cores that share a last-level cache; the home of a page is the node whose memory holds it.

The first pass over an access asks the last-level caches chunk by chunk (`caches` in this package). Further passes are
served by the second-level cache if all bytes of the segment fit there, else in part by the last-level cache. Bytes
that no cache serves come from the homes of the pages, in proportion to the bytes of the access there. Written bytes are
fetched for ownership and written back. A miss takes the latency between the nodes, with ``mlp / 1000`` misses of an
access under way at a time; a wait for the controller (`queueing_ps`) may be added.

Bytes that the second-level cache serves cost no time of their own: the compute rate of a kernel includes them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.engine.reference.memory.caches import CHUNK_BYTES, PART_BYTES, Piece, Place, cache_of
from numasim.engine.reference.memory.page_map import PageMap, split
from numasim.plan.plan import Plan
from numasim.plan.price import CACHE, OWNERSHIP, READ, WRITTEN, Moved, Price, Traffic, in_proportion, misses_ps, mlp_of
from numasim.plan.resources import Resources
from numasim.workload.graph import Mode

I64 = npt.NDArray[np.int64]

Brought = dict[tuple[int, int], int]  # bytes that a helper has brought in, by (op of the task, access)
MOST_BUSY_PPM = 950_000  # the wait at a controller with a higher load is the wait at this load


class AccessPricing:
    """Prices segments, given the caches and pages of a run."""

    def __init__(self, plan: Plan, pages: PageMap, resources: Resources, traffic: Traffic) -> None:
        self._plan = plan
        self._resources = resources
        self._traffic = traffic
        self._cache = cache_of(plan)
        self._pages = pages
        self._mlp = mlp_of(plan)
        self._latency = plan.machine.latency_ps.tolist()
        self._l2_bytes = plan.machine.caches.l2_bytes if plan.effects.cache != "none" else -1
        self.queueing_ps = [0] * plan.machine.nodes  # [nodes] the mean wait of a miss at each memory controller

    def price(
        self, segment: int, compute_ps: int, place: Place, *, op: int = 0, brought: Brought | None = None
    ) -> Price:
        """Return the cost of a segment that starts now at ``place``, and change caches and pages as the segment does.

        Bytes that a helper thread has ``brought`` for op ``op`` of the segment's task count as used if the segment
        finds them; they are removed from ``brought``.
        """
        pointer, accesses = self._plan.workload.segment_accesses, self._plan.workload.accesses
        mine = range(int(pointer[segment]), int(pointer[segment + 1]))
        footprint = sum(int(accesses.row_bytes[j]) * int(accesses.rows[j]) for j in mine)
        price = Price(compute_ps)
        for j in mine:
            hit = self._access(price, j, place, footprint)
            if brought:
                self._traffic.used_bytes += min(hit, brought.pop((op, j), 0))
        return price

    def price_ahead(self, price: Price, j: int, place: Place) -> tuple[int, int]:
        """Add to ``price`` the cost of reading access ``j`` once; return (bytes found in the own cache, all bytes)."""
        total = int(self._plan.workload.accesses.row_bytes[j]) * int(self._plan.workload.accesses.rows[j])
        by_home = self._homes(price, j, place.node)
        region = int(self._plan.workload.accesses.region[j])
        found = self._cache.first_pass(place, region, self._pieces(j), writes=False)
        mlp = self._mlp[int(self._plan.workload.accesses.pattern[j])]
        fetched = total - found.hit - sum(found.moved.values())
        moved = Moved(in_proportion(fetched, by_home), in_proportion(0, by_home))
        self._from_memory(price, place.node, Mode.READ, moved, mlp)
        self._from_caches(price, place, found.hit, found.moved, mlp)
        return found.hit, total

    def _access(self, price: Price, j: int, place: Place, footprint: int) -> int:
        """Add the cost of access ``j`` to ``price``; return the bytes that the first pass finds in the own cache."""
        accesses = self._plan.workload.accesses
        total = int(accesses.row_bytes[j]) * int(accesses.rows[j])
        if not total:
            return 0
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
        return found.hit

    def _homes(self, price: Price, j: int, node: int) -> list[int]:
        """Touch the pages of access ``j``, add the cost of it to ``price``, and return [nodes] the bytes by home."""
        touch = self._pages.touch(j, node)
        page_bytes = self._plan.machine.page_bytes
        moved = touch.migrated.tolist()
        price.placed += touch.placed
        price.migrated += sum(moved)
        price.fault_ps += touch.overhead_ps
        if self._resources.faults >= 0:
            price.use(self._resources.faults, touch.faults * self._resources.fault_units)
        self._traffic.bytes[READ][node] += touch.migrated * page_bytes
        for home, pages in enumerate(moved):
            price.move(self._resources.reads[node][home], pages * page_bytes)
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
            price.move(self._resources.reads[node][home], read)
            price.move(self._resources.writes[node][home], back)
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
            price.use(port, hit)
        for sender, amount in sorted(moved.items()):
            self._traffic.bytes[CACHE][place.node, sender] += amount
            price.move(self._resources.moves[place.node][sender], amount)
            price.wait_ps += misses_ps(amount, caches.llc_remote_hit_ps, mlp)
            price.local_wait_ps += misses_ps(amount, caches.llc_hit_ps, mlp)


def pieces_of(parts: I64, sizes: I64) -> list[Piece]:
    """Return the `Piece` of each chunk, for ``sizes`` [n] bytes in the parts with the numbers ``parts`` [n]."""
    found: dict[int, Piece] = {}
    for part, size in zip(parts.tolist(), sizes.tolist(), strict=True):
        chunk, bit = divmod(part, CHUNK_BYTES // PART_BYTES)
        _, total, touched = found.get(chunk, (chunk, 0, 0))
        found[chunk] = Piece(chunk, total + size, touched | 1 << bit)
    return [found[chunk] for chunk in sorted(found)]
