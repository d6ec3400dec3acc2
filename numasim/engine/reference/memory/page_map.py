"""The page map of a run: which node is the home of which page, and what an access finds there (model 2.2, 2.10, 4.12).

Accesses to regions whose homes are known before the run are settled: their bytes are a table. In the other regions
pages are placed and moved while the program runs, some together (`Placement.unit_pages`), by the stage in force:

- an unplaced page that is touched gets the node that the stage wishes for it, or else that of the toucher; reads place
  as well, unless the stage says otherwise, and then find unplaced bytes at home with the reader;
- a marked page that is touched migrates to the node of the toucher, unless it lives there already;
- where memory is looked at, pages without room go to the next node by distance that has room for all that are placed
  together, or stay where they are wanted; pages that would migrate to a full node stay. Either way the mark is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.engine.reference.clock import Clock
from numasim.plan.plan import Plan
from numasim.plan.segment_times import settled_bytes
from numasim.strategy.placement.compile_placement import Stage
from numasim.workload.graph import Mode

I64 = npt.NDArray[np.int64]
I16 = npt.NDArray[np.int16]

UNPLACED = -1


class Touch(NamedTuple):
    """What one access finds and does, and what the toucher pays for it."""

    bytes_by_home: I64  # [nodes] footprint on each home, once everything is placed; passes and writing do not multiply
    placed: int  # pages
    migrated: I64  # [nodes] pages that moved to the toucher's node from each
    faults: int  # page faults, which use the address space
    overhead_ps: int  # of the faults and migrations


@dataclass
class Tally:
    """What has been done with the pages of one access so far."""

    migrated: I64  # [nodes] pages that moved to the toucher's node from each
    placed: int = 0


class PageMap:
    """The homes of all pages while a program runs."""

    def __init__(self, plan: Plan, clock: Clock) -> None:
        accesses, placement = plan.workload.accesses, plan.placement
        self._plan = plan
        self._clock = clock
        self._costs = plan.costs
        self._nodes = plan.machine.nodes
        self._pages = placement.pages.tolist()
        self._unit_pages = [placement.unit_pages(r) for r in range(len(self._pages))]
        self._homes = {r: self._by_unit(r, placement.page_homes(r)) for r in np.flatnonzero(placement.dynamic).tolist()}
        self._marked = {r: np.zeros(len(homes), bool) for r, homes in self._homes.items()}
        self._free = None if placement.capacity is None else placement.capacity.free.copy()
        self._region = accesses.region.tolist()
        columns = (accesses.offset, accesses.row_bytes, accesses.rows, accesses.stride)
        self._shape: list[tuple[int, ...]] = list(zip(*(column.tolist() for column in columns), strict=True))
        self._writes = (accesses.mode != Mode.READ).tolist()
        first, *self._later = placement.stages
        self._enter(first)

    def start_phase(self, phase: int) -> None:
        """Go over to the policy that is in force from ``phase`` (its number, repeats not counted) on, which starts."""
        while self._later and self._later[0].phase <= phase:
            self._enter(self._later.pop(0))

    def touch(self, access: int, node: int) -> Touch:
        """Walk an access that a worker on ``node`` makes now: what it finds unplaced is placed, what is to migrate goes
        to ``node``.
        """
        region = self._region[access]
        tally = Tally(np.zeros(self._nodes, np.int64))
        if region not in self._homes:
            return self._touched(self._settled[access], tally)
        homes = self._homes[region]
        units, pieces = self._split(access)
        due = self._marked[region][units]
        if self._rule.reads_place or self._writes[access]:
            due |= homes[units] == UNPLACED
        for unit in np.unique(units[due]).tolist():
            if homes[unit] == UNPLACED:
                self._place(region, unit, node, tally)
            else:
                self._revisit(region, unit, node, tally)
        found = homes[units]
        return self._touched(self._sum(np.where(found == UNPLACED, node, found), pieces), tally)

    def bytes_at(self, access: int) -> I64:
        """[nodes] the footprint of an access on each home as it is now; unplaced pages are left out."""
        region = self._region[access]
        if region not in self._homes:
            row: I64 = self._settled[access]
            return row
        units, pieces = self._split(access)
        homes = self._homes[region][units]
        return self._sum(homes[homes != UNPLACED], pieces[homes != UNPLACED])

    def page_homes(self, region: int) -> I16:
        """[pages] the node of every page of ``region`` as it is now, -1 where it has none."""
        if region not in self._homes:
            return self._plan.placement.page_homes(region)
        return np.repeat(self._homes[region], self._unit_pages[region])[: self._pages[region]]

    def node_pages(self) -> I64:
        """[nodes] how many pages of the regions that are not settled live on each node."""
        total = np.zeros(self._nodes, np.int64)
        for region in self._homes:
            homes = self.page_homes(region)
            total += np.bincount(homes[homes != UNPLACED], minlength=self._nodes)
        return total

    def _enter(self, stage: Stage) -> None:
        self._rule = stage.rule
        self._wish: dict[int, I16 | None] = {}
        for region, homes in self._homes.items():
            wish = stage.wish[region]
            self._wish[region] = None if wish is None else self._by_unit(region, wish.of_pages(self._pages[region]))
            if stage.rule.marks:
                self._marked[region] = homes != UNPLACED

    def _place(self, region: int, unit: int, node: int, tally: Tally) -> None:
        wish, pages = self._wish[region], self._pages_of(region, unit)
        self._homes[region][unit] = self._room(node if wish is None else int(wish[unit]), pages)
        tally.placed += pages

    def _revisit(self, region: int, unit: int, node: int, tally: Tally) -> None:
        """Touch a unit that is placed and marked."""
        self._marked[region][unit] = False
        self._migrate(region, unit, node, tally)

    def _touched(self, bytes_by_home: I64, tally: Tally) -> Touch:
        costs = self._costs
        overhead_ps = tally.placed * costs.fault_ps + int(tally.migrated.sum()) * costs.migrate_ps
        return Touch(bytes_by_home, tally.placed, tally.migrated, tally.placed, overhead_ps)

    def _migrate(self, region: int, unit: int, node: int, tally: Tally) -> None:
        home, pages = int(self._homes[region][unit]), self._pages_of(region, unit)
        if home == node:
            return
        if self._free is not None:
            if self._free[node] < pages:
                return
            self._free[node] -= pages
            self._free[home] += pages
        self._homes[region][unit] = node
        tally.migrated[home] += pages

    def _room(self, wanted: int, pages: int) -> int:
        """The node that gets ``pages`` pages that are wanted on one."""
        if self._free is None:
            return wanted
        assert self._plan.placement.capacity is not None
        order = self._plan.placement.capacity.order[wanted].tolist()
        node = next((node for node in order if self._free[node] >= pages), wanted)
        self._free[node] -= pages
        return int(node)

    def _by_unit(self, region: int, by_page: I16) -> I16:
        return by_page[:: self._unit_pages[region]].copy()

    def _pages_of(self, region: int, unit: int) -> int:
        pages = self._unit_pages[region]
        return int(min(pages, self._pages[region] - unit * pages))

    def _split(self, access: int) -> tuple[I64, I64]:
        offset, row_bytes, rows, stride = self._shape[access]
        unit_bytes = self._unit_pages[self._region[access]] * self._plan.machine.page_bytes
        return split(offset, row_bytes, rows, stride, unit_bytes)

    def _sum(self, homes: I16, pieces: I64) -> I64:
        total = np.zeros(self._nodes, np.int64)
        np.add.at(total, homes, pieces)
        return total

    @cached_property
    def _settled(self) -> I64:
        return settled_bytes(self._plan)


def split(offset: int, row_bytes: int, rows: int, stride: int, unit_bytes: int) -> tuple[I64, I64]:
    """Cut ``rows`` pieces of ``row_bytes`` at the borders of units of memory: ([pieces] unit, [pieces] bytes)."""
    start = offset + np.arange(rows, dtype=np.int64) * stride
    first = start // unit_bytes
    counts = (start + row_bytes - 1) // unit_bytes - first + 1
    row = np.repeat(np.arange(rows), counts)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    unit = first[row] + nth
    low = np.maximum(start[row], unit * unit_bytes)
    high = np.minimum(start[row] + row_bytes, (unit + 1) * unit_bytes)
    return unit, high - low
