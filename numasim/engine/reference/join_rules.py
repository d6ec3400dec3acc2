"""The tasks that a worker may run while its task waits in a join (`help`, `own`, `strict`, `leapfrog`, model 3.2).

In these joins the waiting task stays on the worker's stack, and the worker runs other tasks on top of it. A task awaits
its children, or the tasks of a group: those that it has spawned between two of its ops, with all their descendants.
"""

from __future__ import annotations

from collections.abc import Iterator

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues
from numasim.strategy.picking import UNKNOWN
from numasim.strategy.probe import Prober
from numasim.workload.graph import Op


class JoinRules:
    """Join `help` allows all tasks, `strict` only descendants of the waiting task, `own` only tasks of the own queue.
    Join `leapfrog` allows steals only from a worker that has begun an awaited task; of several such tasks that have not
    finished, the one begun last counts (A-48).
    """

    def __init__(self, join: str, program: Program, queues: TaskQueues, prober: Prober) -> None:
        self.strict = join == "strict"
        self.leaps = join == "leapfrog"
        self.own_only = join == "own" or (self.leaps and not prober.asks_thief)
        self._program = program
        self._queues = queues
        self._prober = prober
        # {("children", a task) or ("group", a group): {each of these tasks that has begun: its worker, latest last}}
        self._takers: dict[tuple[str, int], dict[int, int]] = {}

    def may_run(self, w: Worker, q: int, end: int) -> bool:
        """Tell whether a strict join lets the worker run the task at ``end`` of queue ``q``."""
        if not w.stack:
            return True
        top = w.stack[-1]
        return bool(top < self._queues.peek(q, end) < self._program.subtree_end[top])

    def may_probe(self, w: Worker) -> bool:
        """Tell whether the worker's join, if it waits in one, lets it look for tasks in queues of other workers."""
        return not (self.own_only and w.stack)

    def is_over(self, w: Worker) -> bool:
        """Tell whether the worker is idle in a join that has ended."""
        return bool(w.stack) and w.idle and not self._program.awaited(w.stack[-1])

    # ---- leapfrogging

    def begun(self, w: Worker, task: int) -> None:
        """Note that the worker has begun a task, or goes on with a begun task from a queue."""
        for waiting in self._waiting_for(task):
            under_way = self._takers.setdefault(waiting, {})
            under_way.pop(task, None)
            under_way[task] = w.id

    def finished(self, task: int) -> None:
        """Note that a task has finished."""
        for waiting in self._waiting_for(task):
            under_way = self._takers.get(waiting, {})
            if under_way.pop(task, None) is not None and not under_way:
                del self._takers[waiting]

    def _waiting_for(self, task: int) -> Iterator[tuple[str, int]]:
        """Yield the keys of `_takers` under which a task may be awaited: the children of its parent, and its group."""
        program = self._program
        if task < program.rows:
            if program.parent[task] >= 0:
                yield "children", program.parent[task]
            if program.group[task] >= 0:
                yield "group", program.group[task]

    def set_out(self, w: Worker) -> None:
        """Tell the strategy whether a worker waits in a leapfrogging join, and from which worker it may steal."""
        if self.leaps:
            self._prober.set_out(w.id, bool(w.stack), self._taker(w) if w.stack else UNKNOWN, w.fails)

    def _taker(self, w: Worker) -> int:
        """Return the other worker that began the latest of the unfinished tasks that the worker's join awaits."""
        program, task = self._program, w.stack[-1]
        at = program.at[task]
        waiting = ("group", program.operand[at]) if program.code[at] == Op.END_GROUP else ("children", task)
        under_way = self._takers.get(waiting, {})
        return next((worker for worker in reversed(under_way.values()) if worker != w.id), UNKNOWN)
