"""Ranges in bulk: production in steady state is passed over, not gone through item by item (model 1.8).

All counters and the trace hash come out as if every item had been an event; the event hash is not known then.
"""

from __future__ import annotations

from numasim.engine.production import Production
from numasim.engine.producer import Producer
from numasim.engine.steady import Moment, Steady, follow, taken_before
from numasim.engine.timeline import SEG_END
from numasim.engine.worker import Worker


class Bulk(Production):
    """Passes over steady production when the producer finds every queue full."""

    def _producer_waits(self, p: Producer) -> None:
        if self.plan.skip and len(p.items) < p.try_below and self._is_steady():
            family, _ = self.tables.item(p.items[0])
            steady = self._steady_state(p, family)
            moment = follow(steady)
            p.try_below = len(p.items) // 2
            if moment is not None:
                self._move_on(p, family, moment, taken_before(steady, moment.time_ps))

    def _is_steady(self) -> bool:
        """Whether nothing but the taking and the making of like items goes on."""
        return (
            self.tables.one_queue_each
            and all(times.uniform for times in self.ranges)
            and all(w.rank == SEG_END and w.due > self.now and self._has_only_an_item(w) for w in self.workers)
        )

    def _has_only_an_item(self, w: Worker) -> bool:
        return len(w.stack) == 1 and w.stack[0] >= self.program.rows and not w.agenda

    def _steady_state(self, p: Producer, family: int) -> Steady:
        tables, queues = self.tables, self.queues
        low = [max(low, tables.refill or 0) for low in queues.low]
        own = [w.own for w in self.workers if w.own is not None]
        return Steady(
            waiting_since=self.now,
            cursor=self.prober.turn(p.id),
            end=[w.due for w in self.workers],
            period=[tables.pop_ps + self.ranges[family].item(w.node, 0)[0] for w in self.workers],
            spare=[max(0, queues.capacity[q] - low[q] - 2) for q in own],
            push_ps=tables.push_ps,
            left=len(p.items),
        )

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
        self.prober.turn_to(p.id, moment.cursor)
        self.ledger.passed_items[family] += made
        self.trace.complete = False

    def _pass_items(self, w: Worker, family: int, taken: int) -> None:
        """Count ``taken`` items for a worker and move the end of the one it has in hand."""
        total, local = self.ranges[family].item(w.node, 0)
        w.tasks += taken
        w.work_local_ps += taken * local
        w.inflation_numa_ps += taken * (total - local)
        w.overhead_ps += taken * self.tables.pop_ps
        self.ledger.pass_items(family, w.node, taken)
        assert w.own is not None
        self.queues.pushes[w.own] += taken
        due = w.due + taken * (self.tables.pop_ps + total)
        self._cancel(w)
        self._schedule(w, SEG_END, due - self.now)

    def _renumber(self, made: int) -> None:
        """The items in hand and in the queues are those that come ``made`` items later."""
        for w in self.workers:
            w.stack[0] += made
        for q, entries in enumerate(self.queues.entries):
            self.queues.entries[q] = type(entries)(int(item) + made for item in entries)
