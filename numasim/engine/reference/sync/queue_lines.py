"""Waiting for the cache lines of queues and of join counters, for runs in which requests for a line queue up (model
5.6, `line: yes`).

The words of a queue stand on one line, or each end of the queue has a line of its own. Tasks are put in at the back, so
that a push writes the line of the back end. Taking a task writes the line of the end at which the task is taken, and
reads the other line; taking the last task writes both lines. A probe (a thief's look at a queue) reads both lines. If
the queue holds a task for the thief as the probe starts, and has no lock, the probe writes at once, as if it took the
task: looking and taking are one access. An owner that finds its queue empty has read both lines.

The counter of a task's unfinished children has a line of its own. At first the line is with the worker that spawned the
first child that ends. Every child that ends writes the counter, and so does the task when it passes its wait.

The time of an access that waits for a line or moves a line is overhead, which the worker pays before its next event. A
line serves accesses in the order of the events that ask for them, from the instant of the event on. Overhead that the
worker owed before the access passes while the worker waits for the line.
"""

from __future__ import annotations

from numasim.engine.reference.actors import Producer, Worker
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.sync.cache_lines import NOBODY, LineTimes, ServedLine
from numasim.schema.enumerations import End

SHARED_HOME = -1  # home of a queue of the whole machine, in the table of queues; here: the node of the queue's owner


class QueueLines(Component):
    """The cache lines of queues, join counters and the count of idle workers; all methods charge overhead for them."""

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
        """Charge the worker as it starts a probe of queue ``q`` that is to take tasks at ``end``.

        ``takes``: the probe would take tasks from the queue as the queue is now. The probe then writes lines at once,
        unless the queue has a lock; any other probe reads both lines.
        """
        w.wrote = bool(takes and self._locks[q] < 0)
        self._thief_owes(w, self._ends(q, end), writes=1 + (self._queues.length[q] == 1) if w.wrote else 0)

    def glance(self, w: Worker, q: int) -> None:
        """Charge the worker for looking whether queue ``q`` holds a task, before the worker sleeps."""
        self._thief_owes(w, (self._front[q], self._back[q]), writes=0)

    def take(self, w: Worker, q: int, end: int) -> None:
        """Charge a worker that steals from queue ``q`` at ``end``, unless its probe wrote the line when it started."""
        if not w.wrote:
            self._thief_owes(w, self._ends(q, end), writes=1)

    def pop(self, w: Worker, q: int, end: int) -> None:
        """Charge the owner of queue ``q`` for taking its next task, or for seeing that there is no task."""
        length = self._queues.length[q]
        before = w.owed_ps
        self._access(w, self._ends(q, end), writes=min(length, 1) + (length == 1))
        w.owed_owner_ps += w.owed_ps - before

    def push(self, actor: Worker | Producer, q: int) -> None:
        """Charge a worker or a producer for putting a task into queue ``q``."""
        self._owner_owes(actor, self._back[q], writes=True)

    def pool(self, actor: Worker | Producer, writes: bool) -> None:
        """Charge the actor for reading or writing the word with which idle workers are counted."""
        self._owner_owes(actor, self._pool, writes)

    def _owner_owes(self, actor: Worker | Producer, line: ServedLine, writes: bool) -> None:
        before = actor.owed_ps
        self._serve(actor, line, writes)
        if isinstance(actor, Worker):
            actor.owed_owner_ps += actor.owed_ps - before

    def _ends(self, q: int, end: int) -> tuple[ServedLine, ServedLine]:
        """Return the line of one end of a queue, and the line of the other end."""
        front, back = self._front[q], self._back[q]
        return (back, front) if end == End.BACK else (front, back)

    def _thief_owes(self, w: Worker, lines: tuple[ServedLine, ServedLine], writes: int) -> None:
        before = w.owed_ps
        self._access(w, lines, writes)
        w.owed_thief_ps += w.owed_ps - before

    def _access(self, w: Worker, lines: tuple[ServedLine, ServedLine], writes: int) -> None:
        """Access the two ``lines`` of a queue; write the first ``writes`` of them, read the others."""
        self._serve(w, lines[0], writes > 0)
        if lines[1] is not lines[0]:
            self._serve(w, lines[1], writes > 1)

    def _serve(self, actor: Worker | Producer, line: ServedLine, writes: bool) -> None:
        actor.owed_ps += self._times.serve(line, actor.id, writes, self._clock.now, actor.owed_ps)

    # ---- join counters ---------------------------------------------------------------------------------------------

    def count_child(self, w: Worker, parent: int, spawner: int) -> None:
        """Charge the worker that ended a child of ``parent`` for the join counter; ``spawner`` spawned the child."""
        if self._program.counter_holder[parent] == NOBODY:
            self._program.counter_holder[parent] = spawner
            self._program.counter_free_ps[parent] = 0
        self._move_counter(w, parent)

    def pass_wait(self, w: Worker, task: int) -> None:
        """Charge the worker for the join counter, as its task passes its wait for its children."""
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
