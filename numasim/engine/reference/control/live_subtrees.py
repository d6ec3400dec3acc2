"""How many subtrees of tier root are live in each unit, and how many it still awaits (model 4.14).

A subtree is live from the begin of its root, a task of tier root inside no other such subtree, until the root and all
its descendants have finished. It counts for the unit of the worker that began the root, wherever its tasks run. Until
it begins, the unit that the root is labelled for awaits it.
"""

from __future__ import annotations

from collections.abc import Sequence

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.control.task_controls import TaskControls
from numasim.engine.reference.task_queues import TaskQueues
from numasim.plan.plan import Plan
from numasim.schema.enumerations import Tier

NONE = -1


class LiveSubtrees:
    """Counts what begins, is spawned and finishes; nobody asks it to where no level is gated."""

    def __init__(self, plan: Plan, controls: TaskControls, queues: TaskQueues) -> None:
        """``controls`` say which subtrees there are; ``queues`` shows the counts to those who decide."""
        self.count = plan.steal.counts_live
        self._gate: list[int] = plan.steal.gate.tolist()
        self._live = [0] * plan.steal.workers
        self._awaited = [0] * plan.steal.workers
        self._controls = controls
        if self.count:
            self._parent: list[int] = plan.workload.parent.tolist()
            self._end: list[int] = plan.workload.subtree_end().tolist()
        queues.live, queues.awaited = self._live, self._awaited
        self.follow()

    def follow(self) -> None:
        """Take over the tiers that are in force, while nothing is live."""
        if not self.count:
            return
        tiers = self._controls.tiers
        self._root: list[int] = []  # [tasks] the root of the subtree that each task is in
        for task, tier in enumerate(tiers):  # parents come before their children
            above = self._root[self._parent[task]] if self._parent[task] >= 0 else NONE
            self._root.append(task if above == NONE and tier == Tier.ROOT else above)
        self._unit = [NONE] * len(tiers)  # [tasks] where the subtree of each root is live
        self._left = [0] * len(tiers)  # [tasks] unfinished tasks in the subtree of each root, among those that exist

    def start_phase(self, roots: Sequence[int]) -> None:
        """A phase with these roots begins, and all its subtrees are to come."""
        if not self.count:
            return
        self._awaited[:] = [0] * len(self._awaited)
        for first in roots:
            for task in range(first, self._end[first]):
                if self._root[task] == task and self._controls.label(task) != NONE:
                    self._awaited[self._controls.label(task)] += 1

    def begin(self, w: Worker, task: int) -> None:
        """The worker begins a task, or goes on with one."""
        if self._root[task] == task and self._unit[task] == NONE:
            self._unit[task] = unit = self._gate[w.id]
            self._live[unit] += 1
            self._left[task] = 1
            if self._controls.label(task) != NONE:
                self._awaited[self._controls.label(task)] -= 1

    def create(self, task: int) -> None:
        """A task has been spawned or called."""
        root = self._root[task]
        if root not in (NONE, task):
            self._left[root] += 1

    def finish(self, task: int) -> None:
        """A task has finished."""
        root = self._root[task]
        if root == NONE:
            return
        self._left[root] -= 1
        if not self._left[root]:
            self._live[self._unit[root]] -= 1
            self._unit[root] = NONE
