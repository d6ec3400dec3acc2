"""Times and traffic of range items under caches and shared bandwidth, without the items before them (model 1.8, 2.4).

A range is many similar tasks, its items, that one rule (a family) describes. The price of an item is its times and its
use of resources (memory controllers, links, caches, the address space). The items of a family walk over its regions of
memory again and again. If all these regions together fit into a last-level cache, the cache serves the first pass of
every access, else no byte of it. Of each further pass the cache serves the part that fits into a worker's share of the
cache, which the workers of its domain (cores that share the cache) divide evenly. Bytes on given nodes come from
memory. So the price of an item does not depend on other items, and what a worker demands of resources per second while
it runs a family is the mean over the family's items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from numasim.draws import DrawClass, base_array, draw_array, turn_seed
from numasim.frozen import Frozen
from numasim.machine.topology import WorkerMap
from numasim.plan.address_space import ItemPages, add_mean_pages
from numasim.plan.effects import noisy_array_ps
from numasim.plan.node_bytes import NodeBytes, placed_accesses
from numasim.plan.plan import Keyed, Plan
from numasim.plan.price import OWNERSHIP, READ, WRITTEN, Price, Traffic, in_proportion, misses_ps, mlp_of
from numasim.plan.resources import Resources, resources_of
from numasim.plan.segment_times import AccessTable, access_tables
from numasim.strategy.placement.compile_placement import Placement
from numasim.workload.amounts import exact_sum
from numasim.workload.graph import I64, Mode, RangeFamily
from numasim.workload.one_worker import item_compute_ps, lines_ps, traffic_factor

BLOCK_BITS = 12  # log2 of the number of items whose times are computed together
BLOCK_ITEMS = 1 << BLOCK_BITS
ITEMS_AT_ONCE = 1 << 16  # bounds the memory used to sum over a range


class Seat(NamedTuple):
    """A node and a cache domain; ``workers`` share the cache. Workers with equal seats pay equal prices."""

    node: int
    domain: int
    workers: int


def seats_of(workers: WorkerMap) -> list[Seat]:
    """Return [workers] the seat of each worker."""
    sharers = Counter(workers.llc.tolist())
    places = zip(workers.node.tolist(), workers.llc.tolist(), strict=True)
    return [Seat(node, domain, sharers[domain]) for node, domain in places]


class AccessPrices(Frozen):
    """The price of one access of a family's items; ``table`` gives the row of an item."""

    table: AccessTable
    kind: str  # the kind (`KINDS`) of the fetched bytes
    fetched: I64  # [rows, nodes] bytes fetched from each home
    written: I64  # [rows, nodes] bytes written back to each home
    cached_bytes: int  # that second- and last-level caches serve
    llc_bytes: int  # that the last-level cache serves
    wait_ps: I64  # [rows]


class ItemPrices:
    """Memory times and traffic of the items of one family for workers at ``seat``, equal in all runs of a plan.

    ``dealt`` are the items that the strategy deals to the node of the seat; None if the strategy deals no items.
    """

    def __init__(
        self,
        plan: Plan,
        placement: Placement,
        resources: Resources,
        family: RangeFamily,
        seat: Seat,
        dealt: I64 | None = None,
    ) -> None:
        self._family = family
        self.node = seat.node
        self._llc = resources.llc[seat.domain]
        self._resources = resources
        caches, accesses = plan.machine.caches, family.accesses
        cached = plan.effects.cache != "none"
        llc_bytes = plan.machine.llc_bytes_of_domain[seat.domain]
        footprint = int((accesses.row_bytes * accesses.rows).sum())
        swept = sum(plan.workload.regions[r].bytes for r in sorted(set(accesses.region.tolist())))
        self._fits_l2 = cached and footprint <= caches.l2_bytes
        self._fits_llc = cached and 0 < swept <= llc_bytes
        share = llc_bytes // seat.workers if cached else 0
        self._later = (min(share, footprint), max(1, footprint))
        self._mlp = mlp_of(plan)
        self._latency = plan.machine.latency_ps[seat.node]
        self._hit_ps = caches.llc_hit_ps
        self.local_wait_ps = 0
        tables = access_tables(plan, placement, family)
        self.accesses = [self._price(table, j) for j, table in enumerate(tables)]
        self.mean = self._mean(plan, dealt)

    def count(self, items: I64, traffic: Traffic, times: int = 1) -> None:
        """Count the bytes of ``items`` in ``traffic``, ``times`` times."""
        for access in self.accesses:
            rows = access.table.index(items)
            traffic.bytes[access.kind][self.node] += times * access.fetched[rows].sum(axis=0)
            traffic.bytes[WRITTEN][self.node] += times * access.written[rows].sum(axis=0)
            traffic.cached_bytes += times * len(items) * access.cached_bytes

    def wait_ps(self, items: I64) -> I64:
        """Return [items] the wait in ps for memory and caches, without bytes on given nodes."""
        wait = np.zeros(len(items), np.int64)
        for access in self.accesses:
            wait += access.wait_ps[access.table.index(items)]
        return wait

    def _price(self, table: AccessTable, j: int) -> AccessPrices:
        accesses = self._family.accesses
        mode, passes, mlp = Mode(int(accesses.mode[j])), int(accesses.passes[j]), self._mlp[int(accesses.pattern[j])]
        total = int(accesses.row_bytes[j] * accesses.rows[j])
        by_home = table.traffic // int(traffic_factor(accesses)[j])
        again = total * (passes - 1)
        near = again if self._fits_l2 else 0
        part, whole = self._later
        llc = (total if self._fits_llc else 0) + (0 if near else again * part // whole)
        missed = total + again - near - llc
        fetched = np.array([in_proportion(missed, row) for row in by_home.tolist()], np.int64)
        written = fetched if mode != Mode.READ else np.zeros_like(fetched)
        times = 1 if mode == Mode.READ else 2
        near_ps = misses_ps(times * llc, self._hit_ps, mlp)
        moved = fetched + written
        wait = lines_ps(moved, self._latency, mlp).sum(axis=1) + near_ps
        self.local_wait_ps += near_ps + misses_ps(int(moved[0].sum()), int(self._latency[self.node]), mlp)
        kind = OWNERSHIP if mode == Mode.WRITE else READ
        return AccessPrices(table, kind, fetched, written, times * (near + llc), times * llc, wait)

    def _mean(self, plan: Plan, dealt: I64 | None) -> Price:
        """Return the price of the mean of the ``dealt`` items (None: of all), from which a worker's demands follow."""
        count, family = self._family.count, self._family
        compute = family.compute
        price = Price((family.low_ps + family.high_ps) // 2 if compute is None else compute.mean_of(dealt))
        for access in self.accesses:
            often = how_often(access.table, count)
            price.wait_ps += int((often * access.wait_ps).sum()) // count
            for home, (read, back) in enumerate(zip(often @ access.fetched, often @ access.written, strict=True)):
                price.move(self._resources.reads[self.node][home], int(read) // count)
                price.move(self._resources.writes[self.node][home], int(back) // count)
            if self._llc >= 0:
                price.use(self._llc, access.llc_bytes)
        for placed in placed_accesses(plan, family):
            placed.use(price, self._resources, self.node, dealt)
        add_mean_pages(price, plan, family, self._resources, self.node, dealt)
        return price


def item_prices(plan: Plan, placement: Placement) -> Mapping[Seat, Sequence[ItemPrices]]:
    """Return {seat: [families] the prices of items} in runs of ``plan`` whose homes are ``placement``.

    Plans that differ in their strategies alone share the prices if they deal the items to the same nodes.
    """
    nodes = plan.control.item_nodes.tobytes()
    parts = (plan.workload, plan.machine, plan.workers, plan.effects, plan.costs, nodes)
    return _prices_of(Keyed(parts, plan), placement)


@lru_cache(maxsize=2)
def _prices_of(shared: Keyed[Plan], placement: Placement) -> dict[Seat, list[ItemPrices]]:
    plan, resources = shared.value, resources_of(shared.value)
    return {
        seat: [
            ItemPrices(plan, placement, resources, family, seat, dealt)
            for family, dealt in zip(plan.workload.ranges, _dealt_to(plan, seat.node), strict=True)
        ]
        for seat in dict.fromkeys(seats_of(plan.workers))
    }


def _dealt_to(plan: Plan, node: int) -> list[I64 | None]:
    """Return [families] the items that the strategy deals to ``node``; None if the strategy deals no items."""
    nodes, families = plan.control.item_nodes, plan.workload.ranges
    if not len(nodes):
        return [None] * len(families)
    parts = np.split(nodes, np.cumsum([family.count for family in families])[:-1])
    return [np.flatnonzero(part == node) for part in parts]


class PricedItems:
    """The items of one family in a run of ``plan`` with ``seed``: prices, and the draws of the run."""

    def __init__(self, plan: Plan, prices: ItemPrices, family: RangeFamily, seed: int) -> None:
        self.mean = prices.mean
        self._prices = prices
        self._node_bytes = NodeBytes(plan, family, seed)
        self._pages = ItemPages(plan, family, seed, prices.node)
        self._family = family
        self._effects = plan.effects
        self._seed = seed
        self._noise_seed = seed
        self._blocks: dict[int, tuple[list[int], ...]] = {}

    def start_turn(self, turn: int) -> None:
        """Let later prices have the random deviations of run number ``turn`` of the phase; before, the number is 0."""
        if self._effects.task_noise_ppm:
            self._noise_seed = turn_seed(self._seed, turn)
            self._blocks.clear()

    def price(self, item: int) -> Price:
        """Return the price of ``item``, without the use of resources."""
        block = self._blocks.get(item >> BLOCK_BITS)
        if block is None:
            block = self._blocks[item >> BLOCK_BITS] = self._block(item >> BLOCK_BITS << BLOCK_BITS)
        compute, wait, local_wait, *pages = (column[item & BLOCK_ITEMS - 1] for column in block)
        price = Price(compute, wait, local_wait)
        self._pages.add_to(price, *pages)
        return price

    def _block(self, first: int) -> tuple[list[int], ...]:
        """Return, for a block of items from ``first`` on, each [items]: compute times, waits, waits if all bytes were
        local, and the values of `ItemPages.pages`.
        """
        items = np.arange(first, min(first + BLOCK_ITEMS, self._family.count))
        wait, local_wait = self._waits_ps(items)
        columns = (self._compute_ps(items), self._prices.wait_ps(items) + wait, local_wait, *self._pages.pages(items))
        return tuple(column.tolist() for column in columns)

    def count(self, items: I64, traffic: Traffic, times: int = 1) -> None:
        """Count the bytes and the pages of ``items`` in ``traffic``, ``times`` times."""
        self._prices.count(items, traffic, times)
        self._node_bytes.count(items, self._prices.node, traffic, times)
        self._pages.count(items, traffic, times)

    def local_sum_ps(self) -> int:
        """Return the sum of all items' times in ps if all their bytes were local."""
        count, alike = self._family.count, self._family.alike
        if alike and not self._effects.task_noise_ppm:
            each = self.price(0)
            return count * self._effects.combined_ps(each.compute_ps, each.local_wait_ps)
        total = 0
        for first in range(0, count, ITEMS_AT_ONCE):
            items = np.arange(first, min(first + ITEMS_AT_ONCE, count))
            _, local_wait = self._waits_ps(items)
            total += exact_sum(self._effects.combined_array_ps(self._compute_ps(items), local_wait))
        return total

    def _waits_ps(self, items: I64) -> tuple[I64, I64]:
        """Return ([items] wait for bytes on given nodes, [items] wait for all bytes if they were local), in ps."""
        wait, local_wait = self._node_bytes.waits_ps(items, self._prices.node)
        return wait, local_wait + self._prices.local_wait_ps

    def _compute_ps(self, items: I64) -> I64:
        compute = item_compute_ps(self._family, items, self._seed)
        if self._effects.task_noise_ppm:
            numbers = draw_array(base_array(self._noise_seed, DrawClass.DURATION, items), 1)
            compute = noisy_array_ps(compute, numbers, self._effects.task_noise_ppm)
        return compute


def how_often(table: AccessTable, count: int) -> I64:
    """Return [rows] how many of ``count`` items use each row of the table."""
    rows = np.arange(len(table.traffic))
    if table.by_quotient and table.by_remainder:
        return (rows < count).astype(np.int64)
    if table.by_quotient:
        return np.minimum(table.divisor, count - rows * table.divisor)
    if table.by_remainder:
        return (count - rows + table.divisor - 1) // table.divisor
    return np.array([count])
