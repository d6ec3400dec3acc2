"""Shortcut: items of a range that a worker executes one after the other from its own queue, as one event (model 1.8).

A range is many similar tasks, its items; family f is the rule that describes range f. A stretch is the items of one
such event. The times of the items do not depend on other workers. Thieves shorten the stretch at the end of the queue
that the owner does not use. Workers that look at the queue see the items that are left at that instant. All counters
and the trace hash (of the main events of a run) come out as if every item had been an event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.trace_hash import WORDS
from numasim.engine.reference.actors import Worker
from numasim.engine.reference.clock import SEG_END
from numasim.engine.reference.ledger import Executed
from numasim.engine.reference.memory.memory_system import KnownTimes, MemorySystem
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.tables import Tables
from numasim.plan.plan import Plan
from numasim.schema.enumerations import Pick

I64 = npt.NDArray[np.int64]

MOST_ITEMS = 1 << 14  # bounds the memory of a stretch


@dataclass
class Stretch:
    """The item in hand (index 0) and the items after it: item i ends at ``end[i]``, when item i + 1 leaves the queue.

    ``planned`` is the index of the stretch's last item, ``taken`` the number of its items that the queue no longer
    holds, the item in hand not counted.
    """

    family: int
    items: I64  # [items] number of each item in its range
    total_ps: I64  # [items] time of each item
    local_ps: I64  # [items] time of each item if all its bytes were local
    end: I64  # [items] in ps
    planned: int
    taken: int = 0


def may_stretch(plan: Plan, tables: Tables) -> bool:
    """Tell whether stretches are exact: the time of a task depends on no other worker, only probes see the length of a
    queue, each owner takes all tasks of its own queue, and thieves take from the other end.
    """
    steal = plan.steal
    if plan.coupled or len(plan.words) or (steal.queues["own_end"] == steal.queues["steal_end"]).any():
        return False
    sighted = np.isin(steal.level["pick"], (Pick.LONGEST, Pick.SHORTEST)).any() or len(steal.watch)
    plain = tables.own_dispatch and tables.one_queue_each and tables.refill == 0 and plan.join != "strict"
    return bool(plain and not sighted)


class Stretches(Component):
    """Makes one event of the items that a worker takes from its own range."""

    def __init__(
        self, run: RunState, memory: MemorySystem, known: KnownTimes, proceed: Callable[[Worker], None]
    ) -> None:
        """``proceed`` is called with a worker whose stretch has ended."""
        super().__init__(run)
        self._ranges = memory.ranges
        self._known = known
        self._proceed = proceed
        self._stretch: list[Stretch | None] = [None] * len(run.workers)  # by worker
        self._on_end = run.clock.reaction(self._end)

    def start_item(self, w: Worker, task: int) -> None:
        """Start an item, outside of joins as a stretch with the range of items behind it in the worker's own queue."""
        entry = self._own_range(w) if len(w.stack) == 1 else None  # a join may end after any item
        if entry is None:
            self._known.start_item(w, task)
        else:
            self._start(w, task, entry)

    def _own_range(self, w: Worker) -> range | None:
        """Return the range of items that the worker takes next from its own queue; None if it takes no such range."""
        assert w.own is not None
        entries = self._queues.entries[w.own]
        entry = entries[-1 if self._tables.own_end[w.own] else 0] if entries else None
        return entry if isinstance(entry, range) else None

    def _start(self, w: Worker, task: int, entry: range) -> None:
        assert w.own is not None
        ordered = entry[::-1] if self._tables.own_end[w.own] else entry  # in the order in which the worker takes them
        tasks = np.concatenate(([task], np.array(ordered[: MOST_ITEMS - 1], np.int64)))
        family, _ = self._tables.item(task)
        items = tasks - self._tables.range_base[family]
        total, local = self._ranges[family].items(w.node, items)
        end = self._clock.now + w.owed_ps + np.cumsum(total) + np.arange(len(items)) * self._tables.again_ps
        self._stretch[w.id] = Stretch(family, items, total, local, end, planned=len(items) - 1)
        w.pay()
        self._clock.schedule(w, SEG_END, int(end[-1]) - self._clock.now)
        self._clock.instead(w, self._on_end)

    def observe(self, q: int) -> None:
        """Remove from queue ``q`` the items that its owner has taken by now; called before another worker looks."""
        w = self._workers[self._tables.owner[q]]
        stretch = self._stretch[w.id]
        if stretch is not None and w.own == q:
            self._bring_up_to_date(stretch, q)

    def _bring_up_to_date(self, stretch: Stretch, q: int) -> None:
        taken = min(stretch.planned, int(np.searchsorted(stretch.end, self._clock.now, side="right")))
        if taken > stretch.taken:
            self._queues.drop(q, self._tables.own_end[q], taken - stretch.taken)
            stretch.taken = taken

    def stolen_from(self, q: int) -> None:
        """Shorten the stretch of the owner of queue ``q`` by the items that a thief has taken from the other end."""
        w = self._workers[self._tables.owner[q]]
        stretch = self._stretch[w.id]
        if stretch is None or w.own != q:
            return
        entry = self._own_range(w)
        planned = stretch.taken + (len(entry) if entry is not None else 0)
        if planned < stretch.planned:
            stretch.planned = planned
            self._clock.reschedule_flow(w, int(stretch.end[planned]))

    def _end(self, w: Worker) -> None:
        stretch, self._stretch[w.id] = self._stretch[w.id], None
        assert stretch is not None
        assert w.own is not None
        self._bring_up_to_date(stretch, w.own)
        self._count(w, stretch)
        w.stack.pop()
        self._proceed(w)

    def _count(self, w: Worker, stretch: Stretch) -> None:
        done = stretch.planned + 1
        items, total, local = stretch.items[:done], stretch.total_ps[:done], stretch.local_ps[:done]
        tasks = items + self._tables.range_base[stretch.family]
        records = np.zeros((done, WORDS), np.uint64)
        records[:, 0], records[:, 1], records[:, 2], records[:, 3] = stretch.end[:done], SEG_END, w.id, tasks
        self._recorder.trace.details.add(records)
        if self._recorder.log is not None:
            ends = stretch.end[:done].tolist()
            rows = zip(tasks.tolist(), ends, total.tolist(), strict=True)
            self._recorder.log += [Executed(task, 0, w.id, end - step, end) for task, end, step in rows]
        self._known.add_items(w, stretch.family, items, total, local)
        w.tasks += done
        w.overhead_ps += stretch.planned * self._tables.again_ps
        self._progress.finish(done)
