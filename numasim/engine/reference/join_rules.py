"""What a worker that waits in a nested join may run meanwhile (`help`, `own`, `strict`, `leapfrog` of model 3.2)."""

from __future__ import annotations

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues
from numasim.strategy.picking import UNKNOWN
from numasim.strategy.probe import Prober


class JoinRules:
    """A strict join runs descendants of the waiting task only, join `own` tasks of the own queue only.

    In join `leapfrog` a worker steals only from the worker that has begun a child of the waiting task: of several that
    have not finished, the one begun last (A-48).
    """

    def __init__(self, join: str, program: Program, queues: TaskQueues, prober: Prober) -> None:
        self.strict = join == "strict"
        self.leaps = join == "leapfrog"
        self.own_only = join == "own" or (self.leaps and not prober.asks_thief)
        self._program = program
        self._queues = queues
        self._prober = prober
        self._takers: dict[int, dict[int, int]] = {}  # waiting task -> its children under way -> the worker of each

    def may_run(self, w: Worker, q: int, end: int) -> bool:
        """Whether a strict join lets the worker run the task at ``end`` of queue ``q``."""
        if not w.stack:
            return True
        top = w.stack[-1]
        return bool(top < self._queues.peek(q, end) < self._program.subtree_end[top])

    def may_probe(self, w: Worker) -> bool:
        """Whether the worker may look for tasks in the queues of others."""
        return not (self.own_only and w.stack)

    def is_over(self, w: Worker) -> bool:
        """Whether the nested join that an idle worker waits in has come to its end."""
        return bool(w.stack) and w.idle and not self._program.pending[w.stack[-1]]

    # ---- leapfrogging

    def begun(self, w: Worker, task: int) -> None:
        """The worker has begun a task, or goes on with one that it has taken from a queue."""
        parent = self._program.parent[task] if task < self._program.rows else UNKNOWN
        if parent >= 0:
            children = self._takers.setdefault(parent, {})
            children.pop(task, None)
            children[task] = w.id

    def finished(self, task: int) -> None:
        """A task has finished."""
        children = self._takers.get(self._program.parent[task], {})
        if children.pop(task, None) is not None and not children:
            del self._takers[self._program.parent[task]]

    def set_out(self, w: Worker) -> None:
        """Tell the strategy of the join that a searching worker waits in."""
        if self.leaps:
            self._prober.set_out(w.id, bool(w.stack), self._taker(w) if w.stack else UNKNOWN)

    def _taker(self, w: Worker) -> int:
        """The worker that the worker on top of whose stack is a waiting task steals from."""
        children = self._takers.get(w.stack[-1], {})
        return next((worker for worker in reversed(children.values()) if worker != w.id), UNKNOWN)
