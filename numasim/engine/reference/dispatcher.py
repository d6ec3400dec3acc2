"""Where new tasks go: the dispatch rules of a strategy, full queues, locked queues (model 3.5, 4.2, 4.5).

A dispatch rule is an entry of the strategy's list of choices of a queue; some rules put a copy of a task into several
queues. A slot is a small queue in front of a worker's own queue. A queue that spills gives half of its tasks to another
queue when it is full. The outbox is a worker's list of ready tasks that it puts into queues in its next steps; the
backlog is its list of tasks that wait because no queue had room.

Interpretations of the model that are decided here:

- A task that has left a slot goes to a queue as the worker's next step, if putting a task takes time. When a full queue
  spills, the worker chooses the other queue before it waits for that queue's lock, and chooses again if the full queue
  has room by then.
- If no queue has room for a task, the worker that spawned or released the task executes it at once: a worker cannot
  wait for itself. The other tasks of its outbox wait until that task is finished. An extra producer (a thread that
  makes the items of a range) waits instead until a task leaves a queue.
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
from numasim.strategy.probe import NO_ROOM
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
        queues if requests for lines queue up (model 5.6), ``resting`` the rules for idle workers if there are any.
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
        self._move_ps = plan.costs.move_ps
        self._spilling = plan.steal.spills.tolist()
        self._source = NO_ROOM  # the queue that spills as the task last chosen for is put, if one does
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
            self._put(w, self._choose(w, task), task, self._source)

    def offer_released(self, w: Worker) -> None:
        """Put all tasks of the outbox into queues, if that takes no time."""
        while w.outbox and not self._puts_take_time:
            self.put_next(w)

    def take_up(self, w: Worker) -> bool:
        """Move tasks from the backlog to the outbox as the stack's height allows; return whether the outbox has any."""
        while not w.outbox and w.backlog and len(w.stack) < w.backlog[-1][0] and (w.stack or not w.agenda):
            w.outbox.append(w.backlog.pop()[1])
            self.offer_released(w)
        return bool(w.outbox)

    def put_next(self, w: Worker) -> bool:
        """Put the next task of the outbox into a queue; return False if the worker waits for the queue's lock."""
        q = self._choose(w, w.outbox[0])
        lock, source = NO_LOCK if q < 0 or q == w.own else self._tables.queue_lock[q], self._source
        if lock == NO_LOCK:
            self._put(w, q, w.outbox.popleft(), source)
            return True
        self._sync.request(lock, w.id, lambda actor: self._put_locked(self._workers[actor], q, lock, source))
        return False

    def _put_locked(self, w: Worker, q: int, lock: int, source: int) -> None:
        """Put the task into the queue whose lock the worker has got, or choose again if queues changed; release it."""
        stands = self._is_full(source) if source >= 0 else not self._is_full(q)
        if stands:
            self._put(w, q, w.outbox.popleft(), source)
        self._sync.release(lock, w.id)
        if stands or self.put_next(w):
            self._proceed(w)

    def _is_full(self, q: int) -> bool:
        return self._queues.length[q] >= self._queues.capacity[q]

    def _put(self, w: Worker, q: int, task: int, source: int) -> None:
        """Put a task into queue ``q``, chosen for the worker, with half of the tasks of queue ``source`` if ``source``
        spills. If ``q`` is negative, the worker begins the task at once, and its outbox goes to the backlog.
        """
        w.first_rule = 0
        if q < 0:
            if self._live.count and task < self._program.rows:
                self._live.begin(w, task)
            w.stack.append(task)
            if self._joins.leaps:
                self._joins.begun(w, task)
            while w.outbox:
                w.backlog.append((len(w.stack), w.outbox.pop()))
        elif source >= 0:
            self._spill(w, source, q, task)
        elif q == w.slot and self._is_full(q):
            self._displace(w, q, task)
        else:
            self.push(w, q, task)

    def _displace(self, w: Worker, slot: int, task: int) -> None:
        """Put a task into the worker's full slot; the rules behind the slot's place the task that leaves the slot."""
        older, w.first_rule = self._queues.pop(slot, 0), self._prober.rule + 1
        self.push(w, slot, task)
        if self._puts_take_time:
            w.outbox.appendleft(older)
        else:
            self._put(w, self._choose(w, older), older, self._source)

    def _spill(self, w: Worker, source: int, q: int, task: int) -> None:
        """Move half of the tasks of the full queue ``source``, and then ``task``, to the back of queue ``q``."""
        end = int(self._tables.full[source] == Full.SPILL_NEWEST)
        moved = [self._queues.pop(source, end) for _ in range(self._queues.capacity[source] // 2)]
        if self._lines:
            self._lines.pop(w, source, end)
        w.owed_ps += len(moved) * self._move_ps
        leaving = [*(moved[::-1] if end else moved), task]
        self.push(w, q, leaving[0])
        for each in leaving[1:]:
            self._queues.push(q, each)
            self._recorder.detail(PUT, w.id, each, q)

    def push(self, actor: Worker | Producer, q: int, task: int) -> None:
        """Put the task that `place` chose for last into queue ``q``, and copies into the queues that copying rules
        chose; record this, charge for cache lines, and wake sleeping workers by the rules for idle workers.
        """
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
        """Put the task that `place` chose for last into queue ``q``, with copies, but charge and wake nobody."""
        queues = [*self._prober.copies, q]
        if len(queues) == 1:
            self._queues.push(q, task)
        else:
            self._queues.push_copies(queues, task)

    # ---- choosing --------------------------------------------------------------------------------------------------

    def must_inline(self, w: Worker) -> bool:
        """Tell whether the worker executes the task that it has just made at once: if too many other tasks are
        unfinished, and, if its own queue is one that makes its owner do so when full, from the instant at which the
        queue is full until its fill is below the fraction `resume`.
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

    def place(self, position: int, task: int, first: int = 0, spills: bool = False, slots: bool = False) -> int:
        """Return the queue that the dispatch rules from number ``first`` on find for a task of the actor ``position``;
        negative if every queue of the rules is full. ``spills``: full queues that spill count as queues with room;
        ``slots``: slots may be chosen (`Prober.place`).
        """
        index, count = self.numbers.index_and_count(task)
        about = self._about(task) if self._rules_ask else ((), True)
        asked = (self._controls.asked_tier(task), self._controls.label(task)) if self._asks_tasks else ()
        return self._prober.place(
            position, self._queues, index, count, *about, *asked, first=first, spills=spills, slots=slots
        )

    def _choose(self, w: Worker, task: int) -> int:
        """Return the queue for a worker's new task; negative if every queue that the dispatch rules name is full."""
        if w.boundless_own is not None:
            return w.boundless_own
        run = 0 if w.slot is None else self._tables.in_a_row[w.slot]
        q = self.place(w.id, task, w.first_rule, spills=True, slots=not run or w.slot_run < run)
        self._source = q if q >= 0 and self._spilling[q] and self._is_full(q) else NO_ROOM
        if self._source >= 0:
            q = self.place(w.id, task, self._prober.rule + 1)
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
