"""The memory of a run: how long work takes, given the homes of its data and the work of other workers (model 2).

A segment is a part of a task: a time of computing, and accesses to memory. A range is many similar tasks, its items;
family f is the rule that describes range f. In uncoupled runs the times of segments and items depend on no other
worker, and are known when work starts (`KnownTimes`). In coupled runs they are computed while work runs, by a
flow-level model (`flows`). Both classes start segments and items, end them with an event of rank SEG_END, and count
their time and traffic.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.clock import SEG_END
from numasim.engine.reference.ledger import Executed
from numasim.engine.reference.memory.flows import Flows
from numasim.engine.reference.memory.helper_threads import HelperThreads
from numasim.engine.reference.memory.page_map import PageMap
from numasim.engine.reference.run_state import Component, RunState
from numasim.plan.price import Traffic
from numasim.plan.segment_times import AccessTimes, RangeTimes, segment_times

# ---- Uncoupled runs (model 2.3, with contention and cache `none`) ----------------------------------------------------
#
# The time of a segment on a node, and its bytes, are looked up; accesses that place or move pages are added
# when the segment starts (model 2.2 and 2.10).


I64 = npt.NDArray[np.int64]


class KnownTimes(Component):
    """Starts segments and range items of uncoupled runs; their ends are events of rank SEG_END."""

    unsettled = False  # the ends of all work under way are known at any time
    helpers: HelperThreads | None = None  # helper threads need a cache, and caches couple the workers

    def __init__(self, run: RunState, pages: PageMap, ranges: list[RangeTimes]) -> None:
        super().__init__(run)
        times = segment_times(run.plan, run.placement)
        self._ledger = run.recorder.ledger
        self._log = run.recorder.log
        self._path_ps = run.program.path_ps
        self._pages = pages
        self._ranges = ranges
        self._one_family, self._rows = len(ranges) == 1, run.program.rows
        self._times = times
        self._access_times = AccessTimes(run.plan)
        self._open_accesses = times.open_accesses
        self._total_ps, self._local_ps = _lists(times.total_ps), _lists(times.local_ps)  # [nodes][segments]
        nodes = range(run.plan.machine.nodes)
        self._ran: list[list[int]] = [[] for _ in nodes]  # [nodes] segments executed since the last `fold`
        self._ran_items: list[list[list[int]]] = [[[] for _ in nodes] for _ in ranges]  # [ranges][nodes] items, too
        self._node_bytes = np.zeros((len(nodes), len(nodes)), np.int64)  # [accessing node, home node]

    # ---- starts and ends -------------------------------------------------------------------------------------------

    def start_turn(self, turn: int) -> None:
        """Do nothing at the begin of a phase's run number ``turn``: times are the same in all of them."""

    def start_segment(self, w: Worker, task: int, segment: int) -> None:
        """Start a segment, with the overhead that is owed in front of it."""
        node = w.node
        total, local = self._total_ps[node][segment], self._local_ps[node][segment]
        before = self._node_bytes[node].copy() if self._measures else None
        if segment in self._open_accesses:
            total = self.touch(w, segment)
        if self._measures:
            self._measures.bytes[task] += self._times.traffic[segment] + self._node_bytes[node] - before
        self._ran[node].append(segment)
        self._path_ps[task] += local
        w.segment = segment
        self._work(w, task, total, local)

    def start_item(self, w: Worker, task: int) -> None:
        """Start a range item, with the overhead that is owed in front of it."""
        family, item = (0, task - self._rows) if self._one_family else self._tables.item(task)
        times = self._ranges[family]
        total, local = times.item(w.node, item)
        if times.moves_bytes:
            self._ran_items[family][w.node].append(item)
        if local > self._progress.span_ps:
            self._progress.lengthen(local)
        w.segment = 0
        self._work(w, task, total, local)

    def _work(self, w: Worker, task: int, total_ps: int, local_ps: int) -> None:
        owed = w.pay() if w.owed_ps else 0
        w.work_local_ps += local_ps
        w.inflation_numa_ps += total_ps - local_ps
        clock = self._clock
        began = w.began = clock.now + owed
        if self._log is not None:
            self._log.append(Executed(task, w.segment, w.id, began, began + total_ps))
        clock.schedule(w, SEG_END, owed + total_ps)

    def end(self, w: Worker) -> None:
        """Do nothing: the time of a segment or item is counted at its start."""

    def touch(self, w: Worker, segment: int) -> int:
        """Touch the pages of a segment; return its time in ps. The time of faults and migrations is owed overhead."""
        ledger = self._ledger
        wait = int(self._times.settled_ps[w.node, segment])
        for access in self._open_accesses[segment]:
            touch = self._pages.touch(access, w.node)
            traffic, wait_ps = self._access_times.of(access, w.node, touch.bytes_by_home)
            wait += wait_ps
            w.owed_ps += touch.overhead_ps
            ledger.page_faults += touch.placed
            ledger.pages_migrated += int(touch.migrated.sum())
            self._node_bytes[w.node] += traffic + touch.migrated * self._plan.machine.page_bytes
        return max(int(self._times.compute_ps[segment]), wait)

    def activity_changed(self) -> None:
        """Do nothing: in uncoupled runs no worker's speed depends on other workers."""

    # ---- items that shortcuts count many at a time -------------------------------------------------------------------

    def item_ps(self, w: Worker, family: int) -> int:
        """Return the time in ps of each item of a family of equal items on the worker."""
        return self._ranges[family].item(w.node, 0)[0]

    def pass_items(self, w: Worker, family: int, count: int, due_ps: int) -> None:
        """Count ``count`` items of a family of equal items that the worker has executed; ``due_ps`` is not used."""
        total, local = self._ranges[family].item(w.node, 0)
        w.work_local_ps += count * local
        w.inflation_numa_ps += count * (total - local)
        self._node_bytes[w.node] += self._ranges[family].traffic(np.zeros(1, np.int64)) * count

    def add_items(self, w: Worker, family: int, items: I64, total_ps: I64, local_ps: I64) -> None:
        """Count ``items`` (numbers in a family) that the worker has executed, [items] their times and local times."""
        self._node_bytes[w.node] += self._ranges[family].traffic(items)
        w.work_local_ps += int(local_ps.sum())
        w.inflation_numa_ps += int(total_ps.sum() - local_ps.sum())
        self._progress.lengthen(int(local_ps.max()))

    # ---- traffic ---------------------------------------------------------------------------------------------------

    def fold(self) -> None:
        """Add up the bytes of the work that started after the last call of `fold`."""
        for node, segments in enumerate(self._ran):
            if segments:
                self._node_bytes[node] += self._times.traffic[segments].sum(axis=0)
                segments.clear()
        for times, nodes in zip(self._ranges, self._ran_items, strict=True):
            for node, items in enumerate(nodes):
                if items:
                    self._node_bytes[node] += times.traffic(np.array(items))
                    items.clear()

    def node_bytes(self) -> I64:
        """Return [accessing node, home node] the bytes that have moved, up to the last `fold`."""
        return self._node_bytes


def _lists(arrays: list[I64]) -> list[list[int]]:
    """Return [nodes][segments] as lists; nodes with the same array share a list."""
    once = {id(array): array for array in arrays}
    made = {key: array.tolist() for key, array in once.items()}
    return [made[id(array)] for array in arrays]


# ---- The memory of uncoupled and coupled runs -----------------------------------------------------------------------


class MemorySystem:
    """``work`` starts and ends segments and items; ``pages`` are the homes of memory; ``traffic`` counts the bytes that
    have moved in coupled runs; ``helpers`` is None if no worker has a helper thread.
    """

    def __init__(self, run: RunState) -> None:
        plan = run.plan
        self.coupled = plan.coupled
        self.pages = PageMap(plan, run.placement, run.clock)
        self.ranges = [RangeTimes(plan, run.placement, family, run.seed) for family in plan.workload.ranges]
        self.traffic = Traffic(plan.machine.nodes)
        self.known = None if self.coupled else KnownTimes(run, self.pages, self.ranges)
        self.work = self.known or Flows(run, self.pages, self.traffic)
        self.helpers = self.work.helpers
