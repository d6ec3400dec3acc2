"""Ranges in bulk: like items advance in closed form between the events that couple workers (model 1.8).

Items that a worker takes from its own queue are one stretch, and production in steady state is followed take by take.
All counters and the trace hash come out as if every item had been an event; after production was passed over the event
hash is not known.
"""

from __future__ import annotations

import numpy as np
from simpy import Event

from numasim.engine.observe.trace_hash import WORDS, Trace
from numasim.engine.reference.ledger import Executed
from numasim.engine.reference.producer import Producer
from numasim.engine.reference.production import Production
from numasim.engine.reference.shortcuts.steady import Moment, Steady, follow, taken_before
from numasim.engine.reference.shortcuts.stretch import Stretch, next_items
from numasim.engine.reference.timeline import SEG_END
from numasim.engine.reference.worker import Worker
from numasim.plan.plan import Plan


class Bulk(Production):
    """Makes one event of the items that a worker takes from its own range, and none of steady production."""

    def __init__(self, plan: Plan, trace: Trace, keep_log: bool) -> None:
        super().__init__(plan, trace, keep_log)
        if self.tables.stretches:
            self.start_item = self._start_items
            self.callbacks[SEG_END] = self.segment_end = [self._on_stretch_end]

    # ---- stretches -------------------------------------------------------------------------------------------------

    def _start_items(self, w: Worker, task: int) -> None:
        entry = self._own_range(w) if len(w.stack) == 1 else None  # a nested item may be the last before a join's end
        if entry is None:
            self._start_item(w, task)
        else:
            self._start_stretch(w, task, entry)

    def _own_range(self, w: Worker) -> range | None:
        """The range from which the worker takes its next items."""
        assert w.own is not None
        entries = self.queues.entries[w.own]
        entry = entries[-1 if self.tables.own_end[w.own] else 0] if entries else None
        return entry if isinstance(entry, range) else None

    def _start_stretch(self, w: Worker, task: int, entry: range) -> None:
        assert w.own is not None
        tasks = next_items(task, entry, bool(self.tables.own_end[w.own]))
        family, _ = self.tables.item(task)
        items = tasks - self.tables.range_base[family]
        total, local = self.ranges[family].items(w.node, items)
        end = self.now + w.owed_ps + np.cumsum(total) + np.arange(len(items)) * self.tables.pop_ps
        w.stretch = Stretch(family, items, total, local, end, planned=len(items) - 1)
        w.overhead_ps += w.owed_ps
        w.owed_ps = 0
        self._schedule(w, SEG_END, int(end[-1]) - self.now)

    def _observe(self, q: int) -> None:
        w = self.workers[self.tables.owner[q]]
        if w.stretch is not None and w.own == q:
            self._bring_up_to_date(w, w.stretch, q)

    def _bring_up_to_date(self, w: Worker, stretch: Stretch, q: int) -> None:
        """Let what has been taken by now leave the queue."""
        taken = stretch.taken_at(self.now)
        if taken > stretch.taken:
            self.queues.drop(q, self.tables.own_end[q], taken - stretch.taken)
            stretch.taken = taken

    def _robbed(self, q: int) -> None:
        """A thief may have taken items off the far end of the owner's stretch."""
        w = self.workers[self.tables.owner[q]]
        if w.stretch is None or w.own != q:
            return
        entry = self._own_range(w)
        planned = w.stretch.taken + (len(entry) if entry is not None else 0)
        if planned < w.stretch.planned:
            w.stretch.planned = planned
            self._cancel(w)
            self._schedule(w, SEG_END, int(w.stretch.end[planned]) - self.now)

    def _on_stretch_end(self, event: Event) -> None:
        w: Worker = event.actor  # type: ignore[attr-defined]
        if w.stretch is None:
            self._on_segment_end(event)
            return
        self.now = w.due
        stretch, w.stretch = w.stretch, None
        assert w.own is not None
        self._bring_up_to_date(w, stretch, w.own)
        self._count_stretch(w, stretch)
        w.stack.pop()
        self._proceed(w)

    def _count_stretch(self, w: Worker, stretch: Stretch) -> None:
        """Count the items of a finished stretch as if each had ended with an event."""
        done = stretch.planned + 1
        items, total, local = stretch.items[:done], stretch.total_ps[:done], stretch.local_ps[:done]
        tasks = items + self.tables.range_base[stretch.family]
        records = np.zeros((done, WORDS), np.uint64)
        records[:, 0], records[:, 1], records[:, 2], records[:, 3] = stretch.end[:done], SEG_END, w.id, tasks
        self.trace.details.add(records)
        if self.ledger.log is not None:
            ends = stretch.end[:done].tolist()
            rows = zip(tasks.tolist(), ends, total.tolist(), strict=True)
            self.ledger.log += [Executed(task, 0, w.id, end - step, end) for task, end, step in rows]
        self.ledger.add_items(stretch.family, w.node, items)
        w.tasks += done
        w.work_local_ps += int(local.sum())
        w.inflation_numa_ps += int(total.sum() - local.sum())
        w.overhead_ps += stretch.planned * self.tables.pop_ps
        self.phase_span_ps = max(self.phase_span_ps, int(local.max()))
        self.outstanding -= done
        if not self.outstanding:
            self._end_phase_after_instant()

    # ---- production ------------------------------------------------------------------------------------------------

    def _producer_waits(self, p: Producer) -> None:
        rule = self.prober.dealing_rule(p.id)
        if self.plan.skip and rule is not None and len(p.items) < p.try_below and self._is_steady():
            family, _ = self.tables.item(p.items[0])
            steady = self._steady_state(p, family, self.prober.turn(p.id, rule))
            moment = follow(steady)
            p.try_below = len(p.items) // 2
            if moment is not None:
                self.prober.turn_to(p.id, rule, moment.cursor)
                self._move_on(p, family, moment, taken_before(steady, moment.time_ps))

    def _is_steady(self) -> bool:
        """Whether nothing but the taking and the making of like items goes on."""
        return (
            not self.settles
            and not self.plan.effects.task_noise_ppm
            and self.tables.one_queue_each
            and not self.locks_search
            and self.queues.total == self.tables.room
            and all(times.uniform for times in self.ranges)
            and all(w.rank == SEG_END and w.due > self.now and self._has_only_an_item(w) for w in self.workers)
            and self._queues_hold_only_items()
        )

    def _queues_hold_only_items(self) -> bool:
        rows = self.program.rows
        return all(isinstance(entry, int) and entry >= rows for entries in self.queues.entries for entry in entries)

    def _has_only_an_item(self, w: Worker) -> bool:
        return len(w.stack) == 1 and w.stack[0] >= self.program.rows and not w.agenda

    def _steady_state(self, p: Producer, family: int, cursor: int) -> Steady:
        tables, queues = self.tables, self.queues
        low = [max(low, tables.refill or 0) for low in queues.low]
        own = [w.own for w in self.workers if w.own is not None]
        return Steady(
            waiting_since=self.now,
            cursor=cursor,
            end=[w.due for w in self.workers],
            period=[tables.pop_ps + self._item_ps(w, family) for w in self.workers],
            spare=[max(0, queues.capacity[q] - low[q] - 2) for q in own],
            push_ps=tables.push_ps,
            left=len(p.items),
        )

    def _item_ps(self, w: Worker, family: int) -> int:
        """What an item takes the worker while nothing changes."""
        if w.flow is None:
            return self.ranges[family].item(w.node, 0)[0]
        return w.flow.steady_ps()

    def _move_on(self, p: Producer, family: int, moment: Moment, taken: list[int]) -> None:
        """Take the state of ``moment``, when worker w has taken ``taken[w]`` items more."""
        made = sum(taken)
        for w, count in zip(self.workers, taken, strict=True):
            self._pass_items(w, family, count)
        self._renumber(made)
        self.outstanding -= made
        p.items = p.items[made:]
        p.overhead_ps += made * self.tables.push_ps
        p.parked_ps += moment.waiting_since - p.waiting_since - made * self.tables.push_ps
        p.waiting_since = moment.waiting_since
        self.ledger.passed_items[family] += made
        self.trace.forgo_details()

    def _pass_items(self, w: Worker, family: int, taken: int) -> None:
        """Count ``taken`` items for a worker and move the end of the one it has in hand."""
        w.tasks += taken
        w.overhead_ps += taken * self.tables.pop_ps
        assert w.own is not None
        self.queues.pushes[w.own] += taken
        due = w.due + taken * (self.tables.pop_ps + self._item_ps(w, family))
        if self.coupled:
            self._pass_flows(w, taken, due)
        else:
            total, local = self.ranges[family].item(w.node, 0)
            w.work_local_ps += taken * local
            w.inflation_numa_ps += taken * (total - local)
            self.ledger.pass_items(family, w.node, taken)
        self._cancel(w)
        self._schedule(w, SEG_END, due - self.now)

    def _renumber(self, made: int) -> None:
        """The items in hand and in the queues are those that come ``made`` items later."""
        for w in self.workers:
            w.stack[0] += made
        for entries in self.queues.entries:
            for place, item in enumerate(entries):
                assert isinstance(item, int)  # a producer makes items one by one
                entries[place] = item + made
