"""The task graph as plain lists, and the progress of each task: what the reference engine executes."""

from __future__ import annotations

import numpy as np

from numasim.engine.reference.tables import Tables
from numasim.plan.plan import Plan
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import Kind, Op, Phase, Workload
from numasim.workload.span import Groups

END = max(Op) + 1  # behind the last op of every task
NOBODY = -1


class Program:
    """Immutable lists of one workload beside the progress of its tasks in the current phase.

    ``at[task]`` is the index of the next op, ``pending`` the number of children that have not finished. ``waiting``
    marks tasks that left their worker's stack at a WAIT. ``path_ps`` is the longest chain of work up to the current op,
    ``joined_ps`` the longest chain of finished children. If lines are served, ``counter_holder`` is the worker that has
    the cache line of the counter ``pending``, and the line is free from ``counter_free_ps`` on. ``held`` counts
    unfinished predecessors; ``spawned`` marks the tasks that wait for nothing but their predecessors: spawned tasks,
    and roots.

    ``group`` is the group of each task (model 3.1). For groups, ``members`` counts the tasks that have not finished,
    ``gathering`` marks groups whose owner has left its worker's stack at the END_GROUP, and ``gathered_ps`` is the
    longest chain of work of finished tasks.
    """

    __slots__ = (
        "at",
        "code",
        "counter_free_ps",
        "counter_holder",
        "gathered_ps",
        "gathering",
        "group",
        "held",
        "joined_ps",
        "kind",
        "members",
        "operand",
        "owner",
        "parent",
        "path_ps",
        "pending",
        "predecessors",
        "rows",
        "spawned",
        "spawner",
        "start",
        "subtree_end",
        "successors",
        "waiting",
    )

    def __init__(self, work: Workload) -> None:
        rows = self.rows = work.rows
        ends = work.op_ptr[1:]
        self.start = (work.op_ptr[:-1] + np.arange(rows)).tolist()
        self.code = np.insert(work.op_code, ends, END).tolist()
        groups = Groups(work)
        argument = np.where(work.op_code >= Op.GROUP, groups.of_op, work.op_arg)
        self.operand = np.insert(argument, ends, 0).tolist()
        self.group = groups.of_task
        self.owner = groups.owner
        self.members = [0] * len(self.owner)
        self.gathering = bytearray(len(self.owner))
        self.gathered_ps = [0] * len(self.owner)
        self.kind = work.kind.tolist()
        self.parent = work.parent.tolist()
        self.subtree_end = work.subtree_end().tolist()
        self.predecessors = np.bincount(work.successor.astype(np.int64), minlength=rows).tolist()
        self.successors = _successors(work)
        self.at = list(self.start)
        self.held = list(self.predecessors)
        self.pending = [0] * rows
        self.waiting = bytearray(rows)
        self.spawned = bytearray(rows)
        self.spawner = [0] * rows
        self.path_ps = [0] * rows
        self.joined_ps = [0] * rows
        self.counter_holder = [NOBODY] * rows
        self.counter_free_ps = [0] * rows

    def reset(self, root: int) -> None:
        """Bring the tasks below ``root`` to their beginning, and the root as far as its predecessors let it go."""
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


def _successors(work: Workload) -> dict[int, list[int]]:
    """Return, for each task that others wait for, these others."""
    pointer = work.successor_ptr
    return {
        int(t): work.successor[pointer[t] : pointer[t + 1]].tolist() for t in np.flatnonzero(np.diff(pointer)).tolist()
    }


# ---- Which task of how many a new task is, for the dispatch picks `cyclic` and `block` (model 4.13) -----------------


class TaskNumbers:
    """Numbers the tasks of the present phase: root by root, in program order below each root.

    Calls and implicit bodies have no number of their own. The items of a range are numbered apart. If no rule of the
    strategy asks for numbers, no numbers are kept.
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
