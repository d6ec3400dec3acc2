"""Whether a run can go on: when something can change next, and whether anything can change (model 1.5 and 3.2).

A worker is at work while its pending event belongs to a task; an idle worker searches for a task by rounds of probes.
"""

from __future__ import annotations

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.reference.actors import Sleep, Worker
from numasim.engine.reference.clock import LOOK, WAKE
from numasim.engine.reference.run_state import RunState


class Liveness:
    """Looks at all actors of a run; changes nothing."""

    def __init__(self, run: RunState) -> None:
        self._run = run

    def next_change(self) -> int:
        """Return the time in ps before which no task can come into a queue and no join can end, given that all queues
        are empty: the next event of a worker at work or of a producer, or now. Raise DeadlockError if there is none.
        """
        run = self._run
        if not run.progress.unfinished or run.progress.begins:
            return run.clock.now
        if any(w.reserved >= 0 for w in run.workers):
            return run.clock.now
        due = [w.due for w in run.workers if self._is_at_work(w) or run.joins.is_over(w)]
        due += [p.due for p in run.producers if p.items and not p.waiting]
        if not due:
            raise self.deadlock()
        return min(due)

    def can_go_on(self) -> bool:
        """Tell whether anything but fruitless probes can ever happen."""
        return self.is_under_way() or any(map(self.can_find, self._run.progress.team))

    def is_under_way(self) -> bool:
        """Tell whether anything but searching happens: some worker is at work, has a task taken in advance or can go on
        behind its join, a producer makes items, or the workers of a phase are being started.
        """
        run = self._run
        return (
            run.progress.begins
            or any(self._is_at_work(w) or w.reserved >= 0 or run.joins.is_over(w) for w in run.workers)
            or any(p.items and not p.waiting for p in run.producers)
        )

    def progress(self) -> tuple[int, int]:
        """Return (unfinished tasks, executed tasks): one of them changes with every task that is made or executed."""
        return self._run.progress.unfinished, sum(w.tasks for w in self._run.workers)

    def deadlock(self, passed: bool = False) -> DeadlockError:
        """Return the error of a run in which nothing changes any more, or (``passed``) thieves only pass tasks on."""
        return DeadlockError(self._run.plan, self._run.progress.unfinished, self._run.clock.now, passed)

    def _is_at_work(self, w: Worker) -> bool:
        """Tell whether the worker's pending event belongs to a task: not to a probe, a back-off or a sleep."""
        return w.rank < LOOK and not w.waiting and not (w.idle and w.rank == WAKE) and w.sleep != Sleep.ASLEEP

    def can_find(self, w: Worker) -> bool:
        """Tell whether some round of probes can bring the worker a task while no queue changes."""
        run = self._run
        if w.waiting:
            return False
        for q in (w.own, w.slot):
            if q is not None and run.queues.length[q] and self._may_take(w, q, run.tables.own_end[q]):
                return True
        if not run.joins.may_probe(w):
            return False
        run.joins.set_out(w)
        length, ends = run.queues.length, run.tables.probe_end
        return any(
            run.prober.amount(level, length[q]) and self._may_take(w, q, ends[level][q])
            for level, q in run.prober.within_reach(w.id, run.queues)
        )

    def _may_take(self, w: Worker, q: int, end: int) -> bool:
        """Tell whether the worker may take the task at ``end`` of queue ``q``, or drop it as a task begun elsewhere."""
        run = self._run
        return not run.joins.strict or run.queues.is_claimed(q, end) or run.joins.may_run(w, q, end)
