"""What a worker that waits in a nested join may run meanwhile (joins `help`, `own`, `strict` of model 3.2)."""

from __future__ import annotations

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues


class JoinRules:
    """A strict join runs descendants of the waiting task only, join `own` tasks of the own queue only."""

    def __init__(self, join: str, program: Program, queues: TaskQueues) -> None:
        self.strict = join == "strict"
        self.own_only = join == "own"
        self._program = program
        self._queues = queues

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
