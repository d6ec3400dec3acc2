"""Where new tasks go: the dispatch rules of a strategy, full queues, locked queues (model 3.5, 4.2, 4.5).

Interpretations of the model that are decided here:

- If no queue has room for a task, the worker that spawned or released the task executes it at once: a worker cannot
  wait for itself. Released tasks that the worker has not offered yet wait until that task is finished. An extra
  producer waits for the next pop instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from numasim.engine.reference.actors import Producer, Worker
from numasim.engine.reference.clock import PUT
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.memory.page_map import ObjectMap
from numasim.engine.reference.resting import Resting
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.sync.queue_lines import QueueLines
from numasim.engine.reference.sync.sync_objects import SyncObjects
from numasim.engine.reference.task_programs import TaskNumbers
from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import Full
from numasim.strategy.similarity import Objects
from numasim.strategy.sync_places import NO_LOCK


class Dispatcher(Component):
    """Chooses queues for new tasks and puts the tasks there."""

    def __init__(
        self,
        run: RunState,
        memory: MemorySystem,
        sync: SyncObjects,
        proceed: Callable[[Worker], None],
        lines: QueueLines | None,
        resting: Resting | None,
    ) -> None:
        """``proceed`` is called with a worker that has waited for a queue's lock. ``lines`` are the cache lines of
        queues if lines are served (model 5.6), ``resting`` the rules for idle workers if there are any.
        """
        super().__init__(run)
        plan = run.plan
        self.numbers = TaskNumbers(plan, run.tables)
        self.objects = ObjectMap(plan, run.placement, memory.pages) if plan.steal.looks_at_data else None
        self._sync = sync
        self._proceed = proceed
        self._lines = lines
        self._resting = resting
        self._locate_ps = plan.costs.locate_ps
        self._resume_ppm = plan.inline_resume_ppm
        self._overflowed = [False] * len(plan.steal.queues)
        self._puts_take_time = bool(run.tables.push_ps or len(plan.words.queue_lock))
        self._overflows = run.tables.overflows
        self._inline_above = plan.inline_above if plan.inline_above >= 0 else sys.maxsize
        self._rules_ask = len(plan.steal.data) > 0
        self._asks_tasks = plan.steal.asks_tasks
        self._costs = run.tables.latency or self.objects is not None

    # ---- putting ---------------------------------------------------------------------------------------------------

    def offer(self, w: Worker, task: int) -> None:
        """Put a task into a queue: at once, or, if that takes time, as the worker's next step."""
        if self._puts_take_time:
            w.outbox.append(task)
        else:
            self._put(w, self._choose(w, task), task)

    def offer_released(self, w: Worker) -> None:
        """Put the tasks of the outbox into queues, if that takes no time."""
        while w.outbox and not self._puts_take_time:
            self.put_next(w)

    def take_up(self, w: Worker) -> bool:
        """Offer, one by one, the tasks that waited because an earlier task found no room, unless the worker has tasks
        to begin first. Return whether putting the next task takes a step.
        """
        while not w.outbox and w.backlog and len(w.stack) < w.backlog[-1][0] and (w.stack or not w.agenda):
            w.outbox.append(w.backlog.pop()[1])
            self.offer_released(w)
        return bool(w.outbox)

    def put_next(self, w: Worker) -> bool:
        """Put the next task of the outbox into a queue; return False if the worker waits for the queue's lock."""
        q = self._choose(w, w.outbox[0])
        lock = NO_LOCK if q < 0 or q == w.own else self._tables.queue_lock[q]
        if lock == NO_LOCK:
            self._put(w, q, w.outbox.popleft())
            return True
        self._sync.request(lock, w.id, lambda actor: self._put_locked(self._workers[actor], q, lock))
        return False

    def _put_locked(self, w: Worker, q: int, lock: int) -> None:
        """The worker has the queue's lock: put the task there, or elsewhere if the queue became full meanwhile."""
        full = self._queues.length[q] >= self._queues.capacity[q]
        if not full:
            self._put(w, q, w.outbox.popleft())
        self._sync.release(lock, w.id)
        if not full or self.put_next(w):
            self._proceed(w)

    def _put(self, w: Worker, q: int, task: int) -> None:
        if q < 0:
            if self._live.count and task < self._program.rows:
                self._live.begin(w, task)
            w.stack.append(task)
            if self._joins.leaps:
                self._joins.begun(w, task)
            while w.outbox:
                w.backlog.append((len(w.stack), w.outbox.pop()))
        else:
            self.push(w, q, task)

    def push(self, actor: Worker | Producer, q: int, task: int) -> None:
        """Put the task placed last (`place`) into queue ``q``, and copies into the queues that copying rules chose."""
        queues = [*self._prober.copies, q]
        filled = [each for each in queues if self._queues.length[each]] if self._resting else []
        self.deal(q, task)
        for each in queues:
            self._recorder.detail(PUT, actor.id, task, each)
            if self._lines:
                self._lines.push(actor, each)
        for each in queues if self._resting else ():
            self._resting.pushed(actor, each, each in filled)  # type: ignore[union-attr]

    def deal(self, q: int, task: int) -> None:
        """Put a task that is dealt at the start of a phase, as `push` does, but without taking time."""
        queues = [*self._prober.copies, q]
        if len(queues) == 1:
            self._queues.push(q, task)
        else:
            self._queues.push_copies(queues, task)

    # ---- choosing --------------------------------------------------------------------------------------------------

    def must_inline(self, w: Worker) -> bool:
        """Tell whether the worker executes the task that it has just made at once: if too many other tasks are
        unfinished, and from the instant at which its own queue is full until its fill is below the resume fill.
        """
        if self._progress.others > self._inline_above:
            return True
        if not self._overflows:
            return False
        q = w.own
        if q is None or self._tables.full[q] != Full.INLINE:
            return False
        length, capacity = self._queues.length[q], self._queues.capacity[q]
        if length >= capacity:
            self._overflowed[q] = True
        elif length * MILLION < capacity * self._resume_ppm:
            self._overflowed[q] = False
        return self._overflowed[q]

    def place(self, position: int, task: int) -> int:
        """Return the queue that the dispatch rules find for a task; negative if every queue of the rules is full."""
        index, count = self.numbers.index_and_count(task)
        about = self._about(task) if self._rules_ask else ((), True)
        asked = (self._controls.asked_tier(task), self._controls.label(task)) if self._asks_tasks else ()
        return self._prober.place(position, self._queues, index, count, *about, *asked)

    def _choose(self, w: Worker, task: int) -> int:
        """Return the queue for a worker's new task; negative if every queue that the dispatch rules name is full."""
        if w.boundless_own is not None:
            return w.boundless_own  # no strategy with copies has queues without bound
        q = self.place(w.id, task)
        if self._costs:
            # the time to decide, and to move the cache line of each chosen queue that is not the worker's own
            moved = (each for each in (*self._prober.copies, q) if q >= 0 and each != w.own)
            lines_ps = sum(w.line_ps[self._tables.owner[each]] for each in moved) if self._tables.latency else 0
            w.owed_ps += lines_ps + (self._locate_ps if self._prober.looked else 0)
        return q

    def _about(self, task: int) -> tuple[Sequence[Objects], bool]:
        """Return (the task's objects, if dispatch asks for their homes; whether the task waits for no other task)."""
        if task >= self._program.rows:
            return self.objects.of_item(*self._tables.item(task)) if self.objects else (), True
        return self.objects.of_task(task) if self.objects else (), not self._program.predecessors[task]
