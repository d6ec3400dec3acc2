"""The tasks that a worker in a nested join may run (`help`, `own`, `strict`, `leapfrog`, model 3.2)."""

from __future__ import annotations

from collections.abc import Iterator

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues
from numasim.strategy.picking import UNKNOWN
from numasim.strategy.probe import Prober
from numasim.workload.graph import Op


class JoinRules:
    """A strict join runs descendants of the waiting task only, join `own` runs tasks of the own queue only.

    In join `leapfrog` a worker steals only from the worker that has begun an awaited task: a child of the waiting task,
    or a task of the awaited group. Of several awaited tasks that have not finished, the task begun last counts (A-48).
    """

    def __init__(self, join: str, program: Program, queues: TaskQueues, prober: Prober) -> None:
        self.strict = join == "strict"
        self.leaps = join == "leapfrog"
        self.own_only = join == "own" or (self.leaps and not prober.asks_thief)
        self._program = program
        self._queues = queues
        self._prober = prober
        # what is awaited, ("children", a task) or ("group", a group) -> {awaited task that is under way: its worker}
        self._takers: dict[tuple[str, int], dict[int, int]] = {}

    def may_run(self, w: Worker, q: int, end: int) -> bool:
        """Tell whether a strict join lets the worker run the task at ``end`` of queue ``q``."""
        if not w.stack:
            return True
        top = w.stack[-1]
        return bool(top < self._queues.peek(q, end) < self._program.subtree_end[top])

    def may_probe(self, w: Worker) -> bool:
        """Tell whether the worker may look for tasks in the queues of others."""
        return not (self.own_only and w.stack)

    def is_over(self, w: Worker) -> bool:
        """Tell whether the nested join in which an idle worker waits has ended."""
        return bool(w.stack) and w.idle and not self._program.awaited(w.stack[-1])

    # ---- leapfrogging

    def begun(self, w: Worker, task: int) -> None:
        """Note that the worker has begun a task, or goes on with a task from a queue."""
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
        """Tell the strategy whether a searching worker waits in a leapfrogging join, and on which worker."""
        if self.leaps:
            self._prober.set_out(w.id, bool(w.stack), self._taker(w) if w.stack else UNKNOWN, w.fails)

    def _taker(self, w: Worker) -> int:
        """Return the worker to steal from, given the waiting task on top of the worker's stack."""
        program, task = self._program, w.stack[-1]
        at = program.at[task]
        waiting = ("group", program.operand[at]) if program.code[at] == Op.END_GROUP else ("children", task)
        under_way = self._takers.get(waiting, {})
        return next((worker for worker in reversed(under_way.values()) if worker != w.id), UNKNOWN)
