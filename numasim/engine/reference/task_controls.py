"""The tiers and labels of tasks that are in force: decisions of a strategy for all tasks (model 4.14).

A strategy can keep subtrees of tasks together. The tier of a task is its place among them: free (above), root (topmost
task) or local (below). The label of a task is the number of the unit (core, node, ...) for which the task is meant. A
switch is a bit that turns steal levels and dispatch rules on and off. An item is one of the similar tasks of a range.
"""

from __future__ import annotations

from collections.abc import Sequence

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.tables import Tables
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues
from numasim.plan.plan import Plan
from numasim.schema.enumerations import Tier
from numasim.strategy.control.controller import I32, U8
from numasim.strategy.control.task_control import TaskControl
from numasim.strategy.picking import UNKNOWN
from numasim.strategy.probe import Prober
from numasim.strategy.steal_plan import Adaptive

LOCAL = int(Tier.LOCAL)


class TaskControls:
    """The run's own copy of the tiers, labels and switches; they stay the same while a phase runs."""

    def __init__(self, control: TaskControl, tables: Tables, program: Program, queues: TaskQueues) -> None:
        """Begin with the tiers, labels and switches of ``control``; the switches are kept in ``queues``."""
        self._tables = tables
        self._program = program
        self._queues = queues
        self._item_units = control.item_units
        self._item_labels: list[int] = control.item_labels.tolist()
        self.tiers: list[int] = control.tiers.tolist() or [LOCAL] * program.rows
        self._labels: list[int] = control.labels.tolist() or [UNKNOWN] * program.rows
        queues.switches = control.switches

    def follow(self, tiers: U8 | None, labels: I32 | None, switches: int | None) -> None:
        """Put the given values into force, between two iterations; None leaves a value unchanged."""
        if tiers is not None:
            self.tiers = tiers.tolist()
        if labels is not None:
            self._labels = labels.tolist()
        if switches is not None:
            self._queues.switches = switches

    def asked_tier(self, task: int) -> int:
        """Return the tier by which dispatch rules place a task.

        A task that has not begun counts by its own tier. A task that has begun, and whose worker went on with the child
        that it spawned, counts by the tier of this child. An item counts as local.
        """
        program = self._program
        if task >= program.rows:
            return LOCAL
        at = program.at[task]
        return self.tiers[task if at == program.start[task] else program.operand[at - 1]]

    def label(self, task: int) -> int:
        """Return the label of a task; UNKNOWN if it has none."""
        if task < self._program.rows:
            return self._labels[task]
        if self._item_labels:
            return self._item_labels[task - self._program.rows]
        if not self._item_units:
            return UNKNOWN
        item, count = self._tables.item_and_count(task)
        return item * self._item_units // count


# ---- How many subtrees of tier root are live in each unit, and how many each unit awaits (model 4.14) ---------------
#
# A subtree is a task of tier root that has no ancestor of tier root, with all its descendants. It is live from the
# begin of its root until all its tasks have finished. A live subtree counts for the unit of the worker that began its
# root, wherever the other tasks run. Before its root begins, the unit that the root's label names awaits the subtree.


NONE = -1


class LiveSubtrees:
    """Counts live and awaited subtrees by unit, if the strategy has a gate: a level closed at so many of them."""

    def __init__(self, plan: Plan, controls: TaskControls, queues: TaskQueues) -> None:
        """``controls`` has the tiers and labels; the counts are kept in ``queues``."""
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
        """Find the subtree of each task by the tiers that are in force; called while no subtree is live."""
        if not self.count:
            return
        tiers = self._controls.tiers
        self._root: list[int] = []  # [tasks] the root of each task's subtree, or NONE
        for task, tier in enumerate(tiers):  # parents come before their children
            above = self._root[self._parent[task]] if self._parent[task] >= 0 else NONE
            self._root.append(task if above == NONE and tier == Tier.ROOT else above)
        self._unit = [NONE] * len(tiers)  # [tasks] the unit for which the subtree of each root counts; NONE: not live
        self._left = [0] * len(tiers)  # [tasks] spawned or called, unfinished tasks in the subtree of each root

    def start_phase(self, roots: Sequence[int]) -> None:
        """Count, at the begin of a phase with these root tasks, the subtrees below them that each unit awaits."""
        if not self.count:
            return
        self._awaited[:] = [0] * len(self._awaited)
        for first in roots:
            for task in range(first, self._end[first]):
                if self._root[task] == task and self._controls.label(task) != NONE:
                    self._awaited[self._controls.label(task)] += 1

    def begin(self, w: Worker, task: int) -> None:
        """Note that the worker begins a task, or goes on with one."""
        if self._root[task] == task and self._unit[task] == NONE:
            self._unit[task] = unit = self._gate[w.id]
            self._live[unit] += 1
            self._left[task] = 1
            if self._controls.label(task) != NONE:
                self._awaited[self._controls.label(task)] -= 1

    def create(self, task: int) -> None:
        """Note that a task has been spawned or called."""
        root = self._root[task]
        if root not in (NONE, task):
            self._left[root] += 1

    def finish(self, task: int) -> bool:
        """Note that a task has finished. Return whether the task was the last unfinished task of its subtree."""
        root = self._root[task]
        if root == NONE:
            return False
        self._left[root] -= 1
        if self._left[root]:
            return False
        self._live[self._unit[root]] -= 1
        self._unit[root] = NONE
        return True


# ---- Whether a worker that spawns begins the child at once, if steals from it and its stack decide (A-50) -----------


class SpawnOrder:
    """Decides whether a worker begins a child at its spawn, and puts the parent into a queue: as long as few of its
    tasks are stolen, and as the depth of its stack of calls stays below a limit.

    On the stack of calls, a child begun at its spawn stands one above its parent. A task from a queue stands at the
    bottom, unless it is a parent that this same worker has put into the queue at a spawn.
    """

    def __init__(self, rule: Adaptive, rows: int, workers: int, prober: Prober) -> None:
        self._rule = rule
        self._prober = prober
        self._depth = [0] * rows  # [tasks] on its worker's stack of calls
        self._left_by = [0] * rows  # [tasks] the worker that last put the task, as a parent, into a queue at a spawn
        self._work_first = [rule.work_first] * workers  # [workers] whether children are begun at their spawns
        self._spawns = [0] * workers  # [workers] spawns after the worker's last decision
        self._robbed = [0] * workers  # [workers] tasks stolen from the worker up to its last decision

    def goes_first(self, w: Worker, parent: int, child: int) -> bool:
        """Count a spawn; tell whether the worker begins the child at once and puts the parent into a queue."""
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
        """Note that the worker has taken a task from a queue; ``started``: the task has begun before."""
        if not started or self._left_by[task] != w.id:
            self._depth[task] = 0

    def at_bottom(self, task: int) -> None:
        """Note that a task (new, or resumed behind a join) is at the bottom of its worker's stack of calls."""
        self._depth[task] = 0

    def called(self, caller: int, callee: int) -> None:
        """Put a called task at the depth of its caller."""
        self._depth[callee] = self._depth[caller]
