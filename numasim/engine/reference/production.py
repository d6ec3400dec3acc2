"""Making the items of implicit ranges: by an extra producer, or by worker 0 before it works (model 3.5, A-1).

The MATMUL program of the thesis (section 3.3) places its task objects round robin over all worker queues. A queue that
is full is passed over; when all are full the producer waits for the next pop.
"""

from __future__ import annotations

from abc import abstractmethod

from simpy import Event

from numasim.engine.observe.trace_hash import Rank, Trace, pack
from numasim.engine.observe.watch import Watched
from numasim.engine.reference.execution import PRODUCTION
from numasim.engine.reference.producer import Producer
from numasim.engine.reference.search import Search
from numasim.engine.reference.timeline import PUT
from numasim.engine.reference.worker import ActorEvent, Worker, priority
from numasim.plan.plan import Plan
from numasim.strategy.probe import NO_ROOM
from numasim.strategy.sync_places import NO_LOCK


class Production(Search):
    """Producers beside the workers, and production as a worker's own work."""

    def __init__(self, plan: Plan, trace: Trace, keep_log: bool) -> None:
        super().__init__(plan, trace, keep_log)
        self.production = range(0)

    @abstractmethod
    def _producer_waits(self, p: Producer) -> None:
        """The producer has found every queue full."""

    def _start_producer(self, items: range) -> None:
        """An extra producer, or production as the first work of worker 0 (A-1)."""
        if self.plan.producer == "master":
            self.workers[0].stack.append(PRODUCTION)
            self.production = items
            return
        ident = len(self.workers)
        p = Producer(ident, self.workers[0].node, ActorEvent(self.env), priority(Rank.PUT, ident), items)
        p.event.actor = p
        self.producers.append(p)
        self._produce_later(p)

    def _produce(self, w: Worker) -> None:
        """Worker 0 creates the next item: into a queue, or executed at once where its own is full."""
        if not self.production:
            w.stack.pop()
            return
        item = self.production[0]
        self.production = self.production[1:]
        if self.inlines and self._must_inline(w):
            w.stack.append(item)
        else:
            self._offer(w, item)

    def _making_ps(self, p: Producer) -> int:
        """How long the next item takes, and the decision where the last one went."""
        return self.tables.push_ps + (self.plan.costs.locate_ps if p.looked else 0)

    def _produce_later(self, p: Producer) -> None:
        step = self._making_ps(p)
        p.due = self.now + step
        p.overhead_ps += step
        p.event.callbacks = [self._on_produce]
        self.env.schedule(p.event, p.priority, step)  # type: ignore[arg-type]

    def _on_produce(self, event: Event) -> None:
        """The producer's next item becomes visible in a queue, or the producer waits for its lock, or for room."""
        p: Producer = event.actor  # type: ignore[attr-defined]
        self.now = p.due
        if self.watch:
            self.watch.tell(Watched.OVERHEAD, p.id, p.due - self._making_ps(p), p.due)
        q = self._place(p.id, p.items[0])
        p.looked = self.prober.looked
        lock = self.tables.queue_lock[q] if q >= 0 else NO_LOCK
        if lock == NO_LOCK:
            self._put_item(p, q)
        else:
            self._request(lock, p.id, lambda _: self._put_item_locked(p, q, lock))

    def _put_item_locked(self, p: Producer, q: int, lock: int) -> None:
        """The lock of a queue is the producer's: put the item there, unless it has become full meanwhile."""
        self._release_lock(lock, p.id)
        self._put_item(p, q if self.queues.length[q] < self.queues.capacity[q] else NO_ROOM)

    def _payer(self, actor: int) -> Worker | Producer:
        return self.workers[actor] if actor < len(self.workers) else self.producers[-1]

    def _put_item(self, p: Producer, q: int) -> None:
        item = p.items[0]
        if q >= 0:
            self.queues.push(q, item)
            self.details.append(pack(self.now, PUT, p.id, item, q))
            p.items = p.items[1:]
        if not p.items:
            return
        if q >= 0 and self.queues.total < self.tables.room:
            self._produce_later(p)
        else:
            p.waiting, p.waiting_since = True, self.now
            self._producer_waits(p)

    def _room_made(self) -> None:
        for p in self.producers:
            if p.waiting:
                p.waiting = False
                p.parked_ps += self.now - p.waiting_since
                if self.watch:
                    self.watch.tell(Watched.PARKED, p.id, p.waiting_since, self.now)
                self._produce_later(p)
