"""The times in which items of ranges touch memory for the first time and give memory back (model 2.5 and 3.5).

A range is many similar tasks, its items, that one rule (a family) describes. A page fault takes the lock of the address
space shared. Giving memory back to the operating system takes the lock exclusively: no other thread faults or gives
back memory meanwhile. The lock is held for every page given back and for every flush of the translation look-aside
buffers; a flush interrupts all other threads of the process. Giving back a page takes longer the farther the page's
home (the node whose memory holds it) is from the worker, because the kernel's record of the page lies in the home.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numasim.errors import InputError
from numasim.plan.node_bytes import NodeBytes, placed_accesses
from numasim.plan.plan import Plan
from numasim.plan.price import Price, Traffic
from numasim.plan.resources import Resources, lock_ps_of_fault
from numasim.schema.enumerations import LONGEST_PS
from numasim.workload.amounts import Amounts, numbers_of_pages
from numasim.workload.graph import I64, RangeFamily


class PageCosts(NamedTuple):
    """The times in ps of first touches and of giving back memory."""

    page_bytes: int
    fault_ps: int  # time of a first touch of a page
    unmap_ps: int  # time of giving back a page of the own node
    unmap_far_ps: I64  # [worker's node, home] time of giving back a page
    flush_ps: int  # time of a flush
    batch: int  # pages that an item gives back for each flush; 0: one flush for all pages of the item

    @classmethod
    def of(cls, plan: Plan) -> PageCosts:
        """Return the costs of a plan; the time of a flush grows with the number of the other workers."""
        costs, others = plan.costs, plan.workers.workers - 1
        far_ps = (  # for each node: the cost of the own node, times the latency of the home over that of the own node
            [min(costs.unmap_ps * far // row[node], LONGEST_PS) if row[node] else costs.unmap_ps for far in row]
            for node, row in enumerate(plan.machine.latency_ps.tolist())
        )
        return cls(
            page_bytes=plan.machine.page_bytes,
            fault_ps=costs.fault_ps,
            unmap_ps=costs.unmap_ps,
            unmap_far_ps=np.array(list(far_ps), np.int64),
            flush_ps=costs.shootdown_ps * others,
            batch=costs.unmap_batch,
        )

    def pages(self, amount: int) -> int:
        """Return the number of pages of ``amount`` bytes, rounded up."""
        return -(-amount // self.page_bytes)

    def unmapping_ps(self, pages: int, elsewhere: int = 0, elsewhere_ps: int = 0) -> int:
        """Return the time in ps in which an item gives back ``pages`` pages of the own node, and ``elsewhere`` other
        pages, which take ``elsewhere_ps``; flushes included.
        """
        together = pages + elsewhere
        flushes = -(-together // self.batch) if self.batch else min(together, 1)
        return pages * self.unmap_ps + elsewhere_ps + flushes * self.flush_ps


class ItemPages:
    """The pages that the items of a family touch first and give back in a run with ``seed``, as seen from ``node``."""

    def __init__(self, plan: Plan, family: RangeFamily, seed: int, node: int) -> None:
        self._costs = PageCosts.of(plan)
        self._on_nodes = NodeBytes(plan, family, seed)
        self._far_ps = self._costs.unmap_far_ps[node]
        numbers = numbers_of_pages(len(family.node_accesses))
        self._amounts = tuple(zip((family.fresh, family.freed), numbers, strict=True))
        self._seed = seed

    def pages(self, items: I64) -> tuple[I64, I64, I64, I64]:
        """Return, each [items], the pages touched first, the pages of the own node given back, the pages of homes that
        the family names given back, and the time in ps of giving back the last ones.
        """
        fresh, near = (self._of(amounts, number, items) for amounts, number in self._amounts)
        far = self._on_nodes.returned_pages(items, self._costs.page_bytes)
        return fresh, near, far.sum(axis=1), far @ self._far_ps

    def _of(self, amounts: Amounts | None, number: int, items: I64) -> I64:
        if amounts is None:
            return np.zeros(len(items), np.int64)
        return np.asarray(-(-amounts.of(items, self._seed, number) // self._costs.page_bytes))

    def add_to(self, price: Price, placed: int, near: int, far: int, far_ps: int) -> None:
        """Add the pages of an item, as `pages` returns them, to the price of the item."""
        price.placed += placed
        price.unmapped += near + far
        price.fault_ps += placed * self._costs.fault_ps + self._costs.unmapping_ps(near, far, far_ps)

    def count(self, items: I64, traffic: Traffic, times: int = 1) -> None:
        """Count the pages of ``items`` in ``traffic``, ``times`` times."""
        fresh, near, far, _ = self.pages(items)
        traffic.placed += times * int(fresh.sum())
        traffic.unmapped += times * (int(near.sum()) + int(far.sum()))


def add_mean_pages(
    price: Price, plan: Plan, family: RangeFamily, resources: Resources, node: int, items: I64 | None
) -> None:
    """Add the time of the pages of the mean item (over ``items``, None: over all) to its ``price`` for a worker of
    ``node``, and the units of the address space that these pages take.
    """
    costs = PageCosts.of(plan)
    given = (family.fresh, family.freed)
    placed, near = (costs.pages(each.mean_of(items)) if each is not None else 0 for each in given)
    held_ps = costs.unmapping_ps(near, *_mean_far(plan, family, costs, node, items))
    price.fault_ps += placed * costs.fault_ps + held_ps
    if resources.faults >= 0:
        price.use(resources.faults, placed * resources.fault_units + held_ps)


def _mean_far(plan: Plan, family: RangeFamily, costs: PageCosts, node: int, items: I64 | None) -> tuple[int, int]:
    """Return (pages of homes that the family names and the mean item gives back, their time in ps on ``node``)."""
    pages = elsewhere_ps = 0
    for access in placed_accesses(plan, family):
        of_homes = access.returned_pages(np.array([access.given.amounts.mean_of(items)]), costs.page_bytes)[0]
        pages += int(of_homes.sum())
        elsewhere_ps += int(of_homes @ costs.unmap_far_ps[node, access.homes])
    return pages, elsewhere_ps


def check_pages(plan: Plan) -> None:
    """Raise InputError if the page faults and returned pages of an item can take longer than the longest run."""
    costs, fault_ps = PageCosts.of(plan), max(plan.costs.fault_ps, lock_ps_of_fault(plan.costs))
    for number, family in enumerate(plan.workload.ranges):
        fresh = costs.pages(family.fresh.most) * fault_ps if family.fresh is not None else 0
        near = costs.pages(family.freed.most) if family.freed is not None else 0
        returning = [access for access in family.node_accesses if access.returned_ppm]
        far = sum(costs.pages(access.amounts.most) + len(access.nodes) for access in returning)
        freed = costs.unmapping_ps(near, far, far * int(costs.unmap_far_ps.max()))
        if fresh + freed > LONGEST_PS:
            key = "fresh" if fresh > freed else "freed" if near else "node_accesses"
            raise InputError(
                f"the pages of an item take {fresh + freed} ps",
                path=("ranges", number, key),
                expected=f"at most {LONGEST_PS} ps, by the costs of the runtime and pages of {costs.page_bytes} bytes",
            )
