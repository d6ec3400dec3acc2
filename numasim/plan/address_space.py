"""What it costs that items of ranges touch memory for the first time and give it back (model 2.5 and 3.5).

A page fault takes the lock of the address space shared. Giving back memory takes it exclusively, so that nobody else
faults or gives back memory meanwhile, and holds it for every page and for every flush of the translation look-aside
buffers, which all other threads of the process are interrupted for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.plan.plan import Plan
from numasim.plan.price import Price, Traffic
from numasim.plan.resources import Resources, lock_ps_of_fault
from numasim.schema.enumerations import LONGEST_PS
from numasim.workload.amounts import Amounts, numbers_of_pages
from numasim.workload.graph import RangeFamily

I64 = npt.NDArray[np.int64]


class PageCosts(NamedTuple):
    """Times in ps: of a page that is touched first, of one that is given back, and of a flush, of which there is one
    for every ``batch`` pages that an item gives back, or one an item where that is 0.
    """

    page_bytes: int
    fault_ps: int
    unmap_ps: int
    flush_ps: int
    batch: int

    @classmethod
    def of(cls, plan: Plan) -> PageCosts:
        """Those of a plan: a flush interrupts all of its workers but one."""
        costs, others = plan.costs, plan.workers.workers - 1
        return cls(
            page_bytes=plan.machine.page_bytes,
            fault_ps=costs.fault_ps,
            unmap_ps=costs.unmap_ps,
            flush_ps=costs.shootdown_ps * others,
            batch=costs.unmap_batch,
        )

    def pages(self, amount: int) -> int:
        """The pages of so many bytes."""
        return -(-amount // self.page_bytes)

    def unmapping_ps(self, pages: int) -> int:
        """How long giving back so many pages takes."""
        flushes = -(-pages // self.batch) if self.batch else min(pages, 1)
        return pages * self.unmap_ps + flushes * self.flush_ps


class ItemPages:
    """The pages that the items of a family touch first and give back in a run with ``seed``."""

    def __init__(self, plan: Plan, family: RangeFamily, seed: int) -> None:
        self._costs = PageCosts.of(plan)
        numbers = numbers_of_pages(len(family.node_accesses))
        self._amounts = tuple(zip((family.fresh, family.freed), numbers, strict=True))
        self._seed = seed

    def pages(self, items: I64) -> tuple[I64, I64]:
        """([items] pages that each touches first, [items] that it gives back)."""
        fresh, freed = (self._of(amounts, number, items) for amounts, number in self._amounts)
        return fresh, freed

    def _of(self, amounts: Amounts | None, number: int, items: I64) -> I64:
        if amounts is None:
            return np.zeros(len(items), np.int64)
        return np.asarray(-(-amounts.of(items, self._seed, number) // self._costs.page_bytes))

    def add_to(self, price: Price, placed: int, unmapped: int) -> None:
        """Add so many pages to the price of an item."""
        price.placed += placed
        price.unmapped += unmapped
        price.fault_ps += placed * self._costs.fault_ps + self._costs.unmapping_ps(unmapped)

    def count(self, items: I64, traffic: Traffic, times: int = 1) -> None:
        """Count the pages of ``items``, multiplied by ``times``."""
        fresh, freed = self.pages(items)
        traffic.placed += times * int(fresh.sum())
        traffic.unmapped += times * int(freed.sum())


def add_mean_pages(price: Price, plan: Plan, family: RangeFamily, resources: Resources) -> None:
    """Add what the pages of a family's mean item cost, and ask for of the address space."""
    costs = PageCosts.of(plan)
    placed, unmapped = (costs.pages(each.mean) if each is not None else 0 for each in (family.fresh, family.freed))
    held_ps = costs.unmapping_ps(unmapped)
    price.fault_ps += placed * costs.fault_ps + held_ps
    if resources.faults >= 0:
        price.use(resources.faults, placed * resources.fault_units + held_ps)


def check_pages(plan: Plan) -> None:
    """An InputError for items whose pages take longer than a run may."""
    costs, fault_ps = PageCosts.of(plan), max(plan.costs.fault_ps, lock_ps_of_fault(plan.costs))
    for number, family in enumerate(plan.workload.ranges):
        fresh = costs.pages(family.fresh.most) * fault_ps if family.fresh is not None else 0
        freed = costs.unmapping_ps(costs.pages(family.freed.most)) if family.freed is not None else 0
        if fresh + freed > LONGEST_PS:
            key = "fresh" if fresh > freed else "freed"
            raise InputError(
                f"the pages of an item take {fresh + freed} ps",
                path=("ranges", number, key),
                expected=f"at most {LONGEST_PS} ps, by the costs of the runtime and pages of {costs.page_bytes} bytes",
            )
