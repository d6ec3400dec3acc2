"""Whether a worker that spawns goes on with the child, where that adapts to its thieves and its stack (A-50)."""

from __future__ import annotations

from numasim.engine.reference.actors import Worker
from numasim.strategy.probe import Prober
from numasim.strategy.steal_plan import Adaptive


class SpawnOrder:
    """The present order of every worker; how deep each task stands on the stack of calls of the worker that runs it.

    A child that is begun as it is spawned stands above its parent. A task that comes from a queue stands at the bottom,
    unless it is the rest of a parent that the worker has put there itself.
    """

    def __init__(self, rule: Adaptive, rows: int, workers: int, prober: Prober) -> None:
        self._rule = rule
        self._prober = prober
        self._depth = [0] * rows
        self._left_by = [0] * rows  # the worker that last put the rest of a parent into a queue
        self._work_first = [rule.work_first] * workers
        self._spawns = [0] * workers  # since the order was last decided
        self._robbed = [0] * workers  # tasks that others had taken then

    def goes_first(self, w: Worker, parent: int, child: int) -> bool:
        """Whether the worker begins the child that it spawns now, and puts the rest of the parent into a queue."""
        self._decide(w.id)
        first = self._work_first[w.id] and len(w.stack) - 1 + self._depth[parent] < self._rule.stack
        if first:
            self._depth[child] = self._depth[parent] + 1
            self._left_by[parent] = w.id
        return first

    def _decide(self, worker: int) -> None:
        self._spawns[worker] += 1
        if self._spawns[worker] == self._rule.every:
            robbed = self._prober.robbed(worker)
            self._work_first[worker] = robbed - self._robbed[worker] < self._rule.steals
            self._spawns[worker], self._robbed[worker] = 0, robbed

    def begun(self, w: Worker, task: int, started: bool) -> None:
        """The worker has taken a task from a queue, or goes on with one that it has ``started``."""
        if not started or self._left_by[task] != w.id:
            self._depth[task] = 0

    def at_bottom(self, task: int) -> None:
        """The task has nothing below it: it is new, or goes on behind a join that it was left at."""
        self._depth[task] = 0

    def called(self, caller: int, callee: int) -> None:
        """A call stands where its caller does."""
        self._depth[callee] = self._depth[caller]
