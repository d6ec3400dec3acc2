"""Waiting for the cache lines of queues and of join counters, if lines are served (model 5.6).

The words of a queue stand on one line, or each end of the queue on a line of its own. Tasks are put in at the back, so
that a push writes the line of the back. Taking a task writes the line of the end at which the task is taken, and reads
the other line; taking the last task writes both. A probe reads both lines. If the probe would take a task from the
queue as it is when the probe is sent, the probe writes as if it took the task: then looking and taking are one access.
The owner of a queue that finds the queue empty has read both lines.

The counter of a task's children has a line of its own, which is with the worker that spawned the first child that ends.
Every child that ends writes the counter, and so does the task that passes its wait.

An access that has to wait or to move a line is overhead that its worker owes. The line serves accesses in the order of
the events in which they are asked for, from the instant of the event on: what the worker owes before passes while the
worker waits for its turn.
"""

from __future__ import annotations

from numasim.engine.reference.actors import Producer, Worker
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.sync.cache_lines import NOBODY, LineTimes, ServedLine
from numasim.schema.enumerations import End

SHARED_HOME = -1  # in the table of queues: the home is that of the asking worker


class QueueLines(Component):
    """The lines of a run, and what workers owe for them."""

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        self._times = LineTimes(run.plan)
        queues = run.plan.steal.queues
        homes, owners = queues["home"].tolist(), queues["owner"].tolist()
        self._front = [self._line(home, owner) for home, owner in zip(homes, owners, strict=True)]
        self._back = [
            line if count == 1 else self._line(line.home, line.owner)
            for line, count in zip(self._front, run.plan.steal.lines.tolist(), strict=True)
        ]
        self._pool = self._line(SHARED_HOME, 0)
        self._locks = run.tables.queue_lock

    def _line(self, home: int, owner: int) -> ServedLine:
        return ServedLine(self._times.node[owner] if home == SHARED_HOME else home, owner, copies=1 << owner)

    # ---- queues ----------------------------------------------------------------------------------------------------

    def probe(self, w: Worker, q: int, end: int, takes: bool) -> None:
        """A probe sets out to queue ``q``, to take at ``end``: it looks, or, if it ``takes`` tasks as the queue is now,
        looks and takes.
        """
        w.wrote = takes and not self._is_locked(q)
        if w.wrote:
            self._thief_owes(w, self._ends(q, end), writes=1 + (self._queues.length[q] == 1))
        else:
            self._thief_owes(w, self._ends(q, end), writes=0)

    def glance(self, w: Worker, q: int) -> None:
        """The worker looks whether queue ``q`` holds a task, before it sleeps."""
        self._thief_owes(w, (self._front[q], self._back[q]), writes=0)

    def take(self, w: Worker, q: int, end: int) -> None:
        """A probe takes tasks: it writes the line now, unless it has done so when it set out."""
        if not w.wrote:
            self._thief_owes(w, self._ends(q, end), writes=1)

    def pop(self, w: Worker, q: int, end: int) -> None:
        """The owner takes its next task, or sees that there is none."""
        length = self._queues.length[q]
        before = w.owed_ps
        self._access(w, self._ends(q, end), writes=min(length, 1) + (length == 1))
        w.owed_owner_ps += w.owed_ps - before

    def push(self, actor: Worker | Producer, q: int) -> None:
        """A worker or a producer has put a task into queue ``q``."""
        before = actor.owed_ps
        self._serve(actor, self._back[q], writes=True)
        if isinstance(actor, Worker):
            actor.owed_owner_ps += actor.owed_ps - before

    def pool(self, actor: Worker | Producer, writes: bool) -> None:
        """Read or write the word that counts the searching and sleeping workers."""
        before = actor.owed_ps
        self._serve(actor, self._pool, writes)
        if isinstance(actor, Worker):
            actor.owed_owner_ps += actor.owed_ps - before

    def _ends(self, q: int, end: int) -> tuple[ServedLine, ServedLine]:
        """Return the line of one end of a queue, and that of the other."""
        front, back = self._front[q], self._back[q]
        return (back, front) if end == End.BACK else (front, back)

    def _is_locked(self, q: int) -> bool:
        return self._locks[q] >= 0

    def _thief_owes(self, w: Worker, lines: tuple[ServedLine, ServedLine], writes: int) -> None:
        before = w.owed_ps
        self._access(w, lines, writes)
        w.owed_thief_ps += w.owed_ps - before

    def _access(self, w: Worker, lines: tuple[ServedLine, ServedLine], writes: int) -> None:
        """Access both lines; the first ``writes`` of them are written."""
        self._serve(w, lines[0], writes > 0)
        if lines[1] is not lines[0]:
            self._serve(w, lines[1], writes > 1)

    def _serve(self, actor: Worker | Producer, line: ServedLine, writes: bool) -> None:
        actor.owed_ps += self._times.serve(line, actor.id, writes, self._clock.now, actor.owed_ps)

    # ---- join counters ---------------------------------------------------------------------------------------------

    def count_child(self, w: Worker, parent: int, spawner: int) -> None:
        """A child of ``parent`` that ``spawner`` spawned has ended on the worker."""
        if self._program.counter_holder[parent] == NOBODY:
            self._program.counter_holder[parent] = spawner
            self._program.counter_free_ps[parent] = 0
        self._move_counter(w, parent)

    def pass_wait(self, w: Worker, task: int) -> None:
        """The task on the worker has seen that all its children have ended."""
        if self._program.counter_holder[task] != NOBODY:
            self._move_counter(w, task)

    def _move_counter(self, w: Worker, task: int) -> None:
        program, now = self._program, self._clock.now
        holder = program.counter_holder[task]
        if holder == w.id:
            return
        wait_ps = max(0, program.counter_free_ps[task] - now)
        transfer_ps = self._times.between_ps(holder, w.id)
        program.counter_free_ps[task] = now + wait_ps + transfer_ps
        program.counter_holder[task] = w.id
        owed = max(0, wait_ps - w.owed_ps) + transfer_ps
        w.owed_ps += owed
        w.owed_owner_ps += owed
