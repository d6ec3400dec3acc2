"""The page map of a run: the home of each page, and the homes that an access finds (model 2.2, 2.10, 2.11, 4.12).

A region is a contiguous range of the program's memory; the home of a page is the node whose memory holds the page.
Accesses to regions whose homes are known before the run are settled: their bytes are a table. In the other regions,
pages are placed and moved while the program runs, by the rules in force (a `Stage`). A *unit* is the pages that are
placed and moved together, often one page. The *toucher* is the worker whose access touches a page.

- An unplaced page that is touched gets the node that the stage wishes for the page, or else the node of the toucher.
  Reads place pages, too, unless the stage lets only writes place; a read then counts unplaced bytes as on its own node.
- If several workers touch an unplaced page, the worker with the first event places the page: events of one instant are
  in the order of their kinds and their workers' numbers (model 1.2). In coupled runs the segments that start in one
  instant touch their pages at the end of the instant, in ascending order of their workers' numbers (`flows`).
- A stage may mark all placed pages when it begins. A marked page that is touched migrates to the toucher's node.
- If memory is scanned, a page that was scanned after its last touch takes a hinting fault at the next touch, and may
  migrate to the node of the toucher.
- If nodes can be full, a unit that is placed goes to the nearest node with room for it, or, without any such node, to
  its own node all the same. Units that would migrate to a full node stay; their marks are removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.engine.reference.clock import Clock
from numasim.parts.models.placement_model import PageRule
from numasim.plan.plan import Plan
from numasim.plan.segment_times import settled_bytes
from numasim.plan.task_objects import OPEN, home_of, item_objects, task_objects
from numasim.strategy.placement.compile_placement import Placement, Stage
from numasim.strategy.similarity import Objects
from numasim.workload.graph import Mode

I64 = npt.NDArray[np.int64]
I16 = npt.NDArray[np.int16]

UNPLACED = -1
NOBODY = -1  # the node of a page's last hinting fault, if it has had none


class Touch(NamedTuple):
    """The bytes and pages of one access, and the overhead that the toucher pays."""

    bytes_by_home: I64  # [nodes] bytes of the access on each home, after placing, each byte counted once
    placed: int  # pages that the access placed
    migrated: I64  # [nodes] pages that moved from each node to the toucher's node
    faults: int  # pages that took a fault: placed, or hinting faults
    overhead_ps: int  # the time of the faults and migrations


@dataclass
class Tally:
    """Counts of the pages that one access, walked unit by unit, has touched so far."""

    migrated: I64  # [nodes] pages that moved from each node to the toucher's node
    placed: int = 0
    hinted: int = 0  # pages that took hinting faults


class Scanner:
    """Automatic NUMA balancing: which touches take hinting faults, and which of these let pages migrate (model 2.11).

    A scan makes the pages of one window of the address space inaccessible until their next touch, which takes a hinting
    fault; each period scans the next window. A scan is no event: how often a page has been scanned follows from the
    time. ``begin`` has for each region the address of each unit, in an address space of ``space_bytes``.
    """

    def __init__(self, rule: PageRule, since_ps: int, begin: dict[int, I64], space_bytes: int) -> None:
        self._rule = rule
        self._first_ps = since_ps + rule.scan_delay_ps
        self._windows = max(1, -(-space_bytes // rule.scan_bytes))
        self._window = {region: places // rule.scan_bytes for region, places in begin.items()}
        self._seen = {region: np.zeros(len(places), np.int64) for region, places in begin.items()}
        self._node = {region: np.full(len(places), NOBODY, np.int64) for region, places in begin.items()}
        self._in_a_row = {region: np.zeros(len(places), np.int64) for region, places in begin.items()}

    def touch(self, region: int, units: I64, now_ps: int) -> npt.NDArray[np.bool_]:
        """Touch ``units`` now; return [units] whether each unit was scanned between its last touch and now."""
        period_ps = self._rule.scan_period_ps
        scans = max(0, now_ps - self._first_ps + period_ps) // period_ps
        times = (scans + self._windows - 1 - self._window[region][units]) // self._windows
        scanned: npt.NDArray[np.bool_] = times > self._seen[region][units]
        self._seen[region][units] = times
        return scanned

    def hint(self, region: int, unit: int, node: int) -> bool:
        """Count a hinting fault at a unit; return whether the unit migrates, after several in a row from ``node``."""
        if self._node[region][unit] != node:
            self._node[region][unit] = node
            self._in_a_row[region][unit] = 0
        self._in_a_row[region][unit] += 1
        return bool(self._in_a_row[region][unit] >= self._rule.migrate_after)


class PageMap:
    """The homes of all pages while a program runs."""

    def __init__(self, plan: Plan, placement: Placement, clock: Clock) -> None:
        accesses = plan.workload.accesses
        self._plan = plan
        self._placement = placement
        self._clock = clock
        self._costs = plan.costs
        self._nodes = plan.machine.nodes
        self._pages = placement.pages.tolist()
        self._unit_pages = [placement.unit_pages(r) for r in range(len(self._pages))]
        self._homes = {r: self._by_unit(r, placement.page_homes(r)) for r in np.flatnonzero(placement.dynamic).tolist()}
        self._marked = {r: np.zeros(len(homes), bool) for r, homes in self._homes.items()}
        self._home_of_node = placement.home_of_node.tolist()
        self._free = None if placement.capacity is None else placement.capacity.free.copy()
        self._region = accesses.region.tolist()
        columns = (accesses.offset, accesses.row_bytes, accesses.rows, accesses.stride)
        self._shape: list[tuple[int, ...]] = list(zip(*(column.tolist() for column in columns), strict=True))
        self._writes = (accesses.mode != Mode.READ).tolist()
        first, *self._later = placement.stages
        self._enter(first)

    def start_phase(self, phase: int) -> None:
        """Enter the stage that is in force from phase number ``phase`` of the program on, unless it is in force."""
        while self._later and self._later[0].phase <= phase:
            self._enter(self._later.pop(0))

    def choose(self, policy: int) -> None:
        """Enter page policy number ``policy`` of those among which the strategy's controller chooses."""
        self._enter(self._placement.stages[1 + policy])

    def touch(self, access: int, node: int) -> Touch:
        """Let a worker on ``node`` touch the pages of an access: they are placed and migrate by the rules above. A node
        without memory counts as the node that holds memory for it.
        """
        node = self._home_of_node[node]
        region = self._region[access]
        tally = Tally(np.zeros(self._nodes, np.int64))
        if region not in self._homes:
            return self._touched(self._settled[access], tally)
        homes = self._homes[region]
        units, pieces = self._split(access)
        unplaced = homes[units] == UNPLACED
        touched = self._scanner.touch(region, units, self._clock.now) if self._scanner else np.zeros(len(units), bool)
        scanned = touched & ~unplaced
        due = self._marked[region][units] | scanned
        if self._rule.reads_place or self._writes[access]:
            due |= unplaced
        hinted = {*units[scanned].tolist()}
        for unit in np.unique(units[due]).tolist():
            if homes[unit] == UNPLACED:
                self._place(region, unit, node, tally)
            else:
                self._revisit(region, unit, node, unit in hinted, tally)
        found = homes[units]
        return self._touched(self._sum(np.where(found == UNPLACED, node, found), pieces), tally)

    def bytes_at(self, access: int) -> I64:
        """Return [nodes] the bytes of an access on each home at present; unplaced pages are left out."""
        region = self._region[access]
        if region not in self._homes:
            row: I64 = self._settled[access]
            return row
        units, pieces = self._split(access)
        homes = self._homes[region][units]
        return self._sum(homes[homes != UNPLACED], pieces[homes != UNPLACED])

    def page_homes(self, region: int) -> I16:
        """Return [pages] the present node of every page of ``region``, -1 for an unplaced page."""
        if region not in self._homes:
            return self._placement.page_homes(region)
        return np.repeat(self._homes[region], self._unit_pages[region])[: self._pages[region]]

    def node_pages(self) -> I64:
        """Return [nodes] how many pages of the regions that are not settled each node holds."""
        total = np.zeros(self._nodes, np.int64)
        for region in self._homes:
            homes = self.page_homes(region)
            total += np.bincount(homes[homes != UNPLACED], minlength=self._nodes)
        return total

    def _enter(self, stage: Stage) -> None:
        self._rule = stage.rule
        self._scanner = self._new_scanner(stage.rule) if stage.rule.scan_period_ps else None
        self._wish: dict[int, I16 | None] = {}
        for region, homes in self._homes.items():
            wish = stage.wish[region]
            self._wish[region] = None if wish is None else self._by_unit(region, wish.of_pages(self._pages[region]))
            if stage.rule.marks:
                self._marked[region] = homes != UNPLACED

    def _new_scanner(self, rule: PageRule) -> Scanner:
        page_bytes = self._plan.machine.page_bytes
        before = np.cumsum([0, *self._pages]) * page_bytes  # [regions + 1]
        begin = {
            region: before[region] + np.arange(len(homes)) * self._unit_pages[region] * page_bytes
            for region, homes in self._homes.items()
        }
        return Scanner(rule, self._clock.now, begin, int(before[-1]))

    def _place(self, region: int, unit: int, node: int, tally: Tally) -> None:
        wish, pages = self._wish[region], self._pages_of(region, unit)
        self._homes[region][unit] = self._room(node if wish is None else int(wish[unit]), pages)
        tally.placed += pages

    def _revisit(self, region: int, unit: int, node: int, hinted: bool, tally: Tally) -> None:
        """Touch a unit that has a home, and is marked or (``hinted``) takes hinting faults."""
        moves = bool(self._marked[region][unit])
        self._marked[region][unit] = False
        if hinted:
            assert self._scanner is not None
            tally.hinted += self._pages_of(region, unit)
            moves |= self._scanner.hint(region, unit, node)
        if moves:
            self._migrate(region, unit, node, tally)

    def _touched(self, bytes_by_home: I64, tally: Tally) -> Touch:
        costs, hint_ps = self._costs, self._rule.hint_fault_ps
        overhead_ps = tally.placed * costs.fault_ps + int(tally.migrated.sum()) * costs.migrate_ps
        overhead_ps += tally.hinted * (costs.fault_ps if hint_ps < 0 else hint_ps)
        return Touch(bytes_by_home, tally.placed, tally.migrated, tally.placed + tally.hinted, overhead_ps)

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
        """Return the node on which ``pages`` pages are placed that a policy wants on node ``wanted``."""
        if self._free is None:
            return wanted
        assert self._placement.capacity is not None
        order = self._placement.capacity.order[wanted].tolist()
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
        return settled_bytes(self._plan.workload, self._placement)


def split(offset: int, row_bytes: int, rows: int, stride: int, unit_bytes: int) -> tuple[I64, I64]:
    """Cut rows at the borders of units of ``unit_bytes``; return ([pieces] unit, [pieces] bytes)."""
    start = offset + np.arange(rows, dtype=np.int64) * stride
    first = start // unit_bytes
    counts = (start + row_bytes - 1) // unit_bytes - first + 1
    row = np.repeat(np.arange(rows), counts)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    unit = first[row] + nth
    low = np.maximum(start[row], unit * unit_bytes)
    high = np.minimum(start[row] + row_bytes, (unit + 1) * unit_bytes)
    return unit, high - low


# ---- The objects of tasks (Vikranth's thesis, sections 5.3 to 5.5; model 4.5) ----------------------------------------


class ObjectMap:
    """The objects of every task of a run (the pieces of memory that its segments access), with their present homes."""

    def __init__(self, plan: Plan, placement: Placement, pages: PageMap) -> None:
        table = task_objects(plan.workload, placement)
        self._pages = pages
        self._ptr = table.ptr.tolist()
        columns = (table.home, table.mode, table.count, table.bytes)
        self._entries = list(zip(*(column.tolist() for column in columns), strict=True))
        self._access = table.access.tolist()
        self._families = [item_objects(plan, placement, family) for family in plan.workload.ranges]

    def of_task(self, task: int) -> list[Objects]:
        """Return the objects of a graph task."""
        return [self._entry(at) for at in range(self._ptr[task], self._ptr[task + 1])]

    def of_item(self, family: int, item: int) -> list[Objects]:
        """Return the objects of item ``item`` of range ``family`` (a range is many similar tasks)."""
        return [each.of(item) for each in self._families[family]]

    def _entry(self, at: int) -> Objects:
        home, mode, count, size = self._entries[at]
        if home == OPEN:
            home = home_of(self._pages.bytes_at(self._access[at])[None, :])[0]
        return Objects(int(home), mode, count, size)
