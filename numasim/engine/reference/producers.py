"""Making the items (similar tasks) of a range: by an extra producer, or by worker 0 as its first work (model 3.5, A-1).

A producer is an actor beside the workers. The dispatch rules of the strategy choose the queue of each item: the MATMUL
program of Vikranth's thesis (section 3.3) deals its items round robin over all worker queues. If no queue of the rules
has room, the producer waits until a task leaves a queue.
"""

from __future__ import annotations

from collections.abc import Callable

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.observe.watch import Watched
from numasim.engine.reference.actors import Producer, Worker
from numasim.engine.reference.dispatcher import Dispatcher
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.sync.sync_objects import SyncObjects
from numasim.strategy.probe import NO_ROOM
from numasim.strategy.sync_places import NO_LOCK

PRODUCTION = -1  # in place of a task, on the stack of worker 0 while it makes items


class Producers(Component):
    """Lets producers, or worker 0, make the items of ranges."""

    def __init__(
        self,
        run: RunState,
        sync: SyncObjects,
        dispatcher: Dispatcher,
        producer_waits: Callable[[Producer], None] | None,
    ) -> None:
        """``producer_waits``, a shortcut, is called with a producer that begins to wait for room."""
        super().__init__(run)
        self._sync = sync
        self._dispatcher = dispatcher
        self._producer_waits = producer_waits
        self._by_master = run.plan.producer == "master"
        self._locate_ps = run.plan.costs.locate_ps
        self._on_made = run.clock.reaction(self._made)
        self._left_for_master = range(0)

    def start(self, items: range) -> None:
        """Let a new producer make ``items`` (task ids), or let worker 0 make them as its first work (A-1)."""
        self._progress.unmade += len(items)
        if self._by_master:
            self._workers[0].stack.append(PRODUCTION)
            self._left_for_master = items
            return
        p = Producer(len(self._workers), self._workers[0].node, self._clock.new_event(), items)
        self._producers.append(p)
        self._make_next(p)

    # ---- worker 0 --------------------------------------------------------------------------------------------------

    def produce(self, w: Worker) -> None:
        """Let worker 0 make the next item and queue it, or execute it if `must_inline`; without an item, end."""
        if not self._left_for_master:
            w.stack.pop()
            return
        item = self._left_for_master[0]
        self._left_for_master = self._left_for_master[1:]
        self._progress.unmade -= 1
        if self._dispatcher.must_inline(w):
            w.stack.append(item)
        else:
            self._dispatcher.offer(w, item)

    # ---- extra producers -------------------------------------------------------------------------------------------

    def _make_next(self, p: Producer) -> None:
        # the time to put the next item, to have looked up the last item's data, to wake sleepers, and of cache lines
        step = self._tables.push_ps + (self._locate_ps if p.looked else 0) + p.owed_ps
        p.overhead_ps += step
        p.making_ps, p.owed_ps = step, 0
        self._clock.schedule_actor(p, Rank.PUT, p.id, self._clock.now + step, self._on_made)

    def _made(self, p: Producer) -> None:
        """Put the item that the producer has made into a queue, or let it wait for the queue's lock or for room."""
        if self._recorder.watch:
            self._recorder.watch.report(Watched.OVERHEAD, p.id, p.due - p.making_ps, p.due)
        q = self._dispatcher.place(p.id, p.items[0])
        p.looked = self._prober.looked
        lock = self._tables.queue_lock[q] if q >= 0 else NO_LOCK
        if lock == NO_LOCK:
            self._put(p, q)
        else:
            self._sync.request(lock, p.id, lambda _: self._put_locked(p, q, lock))

    def _put_locked(self, p: Producer, q: int, lock: int) -> None:
        """Release the queue's lock, which the producer has got, and put the item there unless the queue is full."""
        self._sync.release(lock, p.id)
        self._put(p, q if self._queues.length[q] < self._queues.capacity[q] else NO_ROOM)

    def _put(self, p: Producer, q: int) -> None:
        item = p.items[0]
        if q >= 0:
            self._dispatcher.push(p, q, item)
            p.items = p.items[1:]
            self._progress.unmade -= 1
        if not p.items:
            return
        if q >= 0 and self._queues.total < self._tables.room:
            self._make_next(p)
        else:
            p.waiting, p.waiting_since = True, self._clock.now
            if self._producer_waits:
                self._producer_waits(p)

    def room_made(self) -> None:
        """Let the producers that wait for room go on, after a task has left a queue."""
        for p in self._producers:
            if p.waiting:
                p.waiting = False
                now = self._clock.now
                p.parked_ps += now - p.waiting_since
                if self._recorder.watch:
                    self._recorder.watch.report(Watched.PARKED, p.id, p.waiting_since, now)
                self._make_next(p)
