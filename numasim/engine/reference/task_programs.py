"""The task graph as plain lists, and the progress of each task: what the reference engine executes.

An op is a step of a task: run a segment, spawn, call, wait, ... A group is the tasks that a task, its owner, spawns
between its ops GROUP and END_GROUP, with all their descendants; END_GROUP waits for all of them. A chain of work is
a sequence of segments in which each must end before the next begins.
"""

from __future__ import annotations

import numpy as np

from numasim.engine.reference.tables import Tables
from numasim.plan.plan import Plan
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import Kind, Op, Phase, Workload
from numasim.workload.span import Groups

END = max(Op) + 1  # the code that stands behind the last op of every task
NOBODY = -1


class Program:
    """Lists of one workload that never change (up to ``successors``), and the progress of its tasks in this phase."""

    def __init__(self, work: Workload) -> None:
        rows = self.rows = work.rows
        ends = work.op_ptr[1:]
        self.start = (work.op_ptr[:-1] + np.arange(rows)).tolist()
        self.code = np.insert(work.op_code, ends, END).tolist()
        groups = Groups(work)
        argument = np.where(work.op_code >= Op.GROUP, groups.of_op, work.op_arg)
        self.operand = np.insert(argument, ends, 0).tolist()
        self.group = groups.of_task  # [tasks] the group of each task (model 3.1)
        self.owner = groups.owner
        self.members = [0] * len(self.owner)  # [groups] tasks of the group that have not finished
        self.gathering = bytearray(len(self.owner))  # [groups] 1: the last task of the group resumes the owner
        self.gathered_ps = [0] * len(self.owner)  # [groups] the longest chain of work that ends in a finished task
        self.kind = work.kind.tolist()
        self.parent = work.parent.tolist()
        self.subtree_end = work.subtree_end().tolist()
        self.predecessors = np.bincount(work.successor.astype(np.int64), minlength=rows).tolist()
        pointer, some = work.successor_ptr, np.flatnonzero(np.diff(work.successor_ptr)).tolist()
        self.successors = {task: work.successor[pointer[task] : pointer[task + 1]].tolist() for task in some}
        self.at = list(self.start)  # [tasks] the index of the next op
        self.held = list(self.predecessors)  # [tasks] predecessors that have not finished
        self.pending = [0] * rows  # [tasks] children that have not finished
        self.waiting = bytearray(rows)  # [tasks] 1: the task waits at a WAIT, and its last child resumes it
        self.spawned = bytearray(rows)  # [tasks] 1: spawned, or a root: ready once no predecessor is left
        self.spawner = [0] * rows  # [tasks] the worker that spawned the task
        self.path_ps = [0] * rows  # [tasks] the longest chain of work up to the next op
        self.joined_ps = [0] * rows  # [tasks] the longest chain of work that ends in a finished child
        # [tasks] the cache line of ``pending``, if requests for lines queue up: the worker that has the line, and the
        # time from which the line is free
        self.counter_holder = [NOBODY] * rows
        self.counter_free_ps = [0] * rows

    def reset(self, root: int) -> None:
        """Set ``root`` and the tasks below it back to their first op, and mark the root as spawned."""
        end = self.subtree_end[root]
        size = end - root
        self.at[root:end] = self.start[root:end]
        self.held[root:end] = self.predecessors[root:end]
        self.pending[root:end] = self.path_ps[root:end] = self.joined_ps[root:end] = [0] * size
        self.waiting[root:end] = self.spawned[root:end] = bytes(size)
        self.counter_holder[root:end] = [NOBODY] * size
        self.spawned[root] = 1

    def awaited(self, task: int) -> int:
        """Return the number of unfinished tasks that the task waits for at its present op."""
        at = self.at[task]
        return self.members[self.operand[at]] if self.code[at] == Op.END_GROUP else self.pending[task]


# ---- The number of a new task in its phase, for the dispatch picks `cyclic` and `block` (model 4.13) -----------------


class TaskNumbers:
    """Numbers the tasks of the present phase: root by root, in program order below each root.

    Called tasks and implicit bodies (work for one worker, which cannot be stolen) do not count. The items of a range
    are numbered apart. If no rule of the strategy asks for numbers, every task has the number 0.
    """

    def __init__(self, plan: Plan, tables: Tables) -> None:
        self._tables = tables
        self._asked = plan.steal.numbers_tasks
        if self._asked:
            self._before = offsets(plan.workload.kind == Kind.TASK)  # [rows + 1] tasks in front of each row
            self._end = plan.workload.subtree_end()
        self._number = np.zeros(plan.workload.rows, np.int64)
        self._count = 1

    def start_phase(self, phase: Phase) -> None:
        """Number the tasks of ``phase``."""
        if not self._asked:
            return
        self._count = 0
        for root in phase.roots:
            tasks = self._before[root : self._end[root] + 1] - self._before[root]
            self._number[root : self._end[root]] = self._count + tasks[:-1]
            self._count += int(tasks[-1])

    def index_and_count(self, task: int) -> tuple[int, int]:
        """Return (number of ``task``, tasks of its phase); for an item (its number, items of its range)."""
        if task < len(self._number):
            return int(self._number[task]), self._count
        return self._tables.item_and_count(task)
