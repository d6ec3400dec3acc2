"""Groups of tasks: which group each task belongs to (model 3.1); cycles of tasks.

A task begins a group by `Op.GROUP` and ends the group by `Op.END_GROUP`. The group has the tasks that the task, or a
call of the task, spawns between the two ops, and all descendants of these tasks. Descendants that belong to an inner
group do not count: the task that has begun the inner group waits for the inner group before that task finishes.
"""

from __future__ import annotations

import numpy as np

from numasim.workload.graph import I64, Op, Workload

NO_GROUP = -1


class Groups:
    """The groups of a workload that is not folded, numbered in the order of their first ops.

    ``of_op`` [ops] is the innermost group that the op's task is in at the op; for `Op.GROUP` and `Op.END_GROUP` the
    group that the op begins or ends. ``of_task`` [rows] is the group that counts the task; for a call, the group that
    counts the tasks that the call spawns. Both are `NO_GROUP` if there is no group. ``owner`` [groups] is the task that
    begins and ends each group.
    """

    def __init__(self, workload: Workload) -> None:
        self.of_op = [NO_GROUP] * len(workload.op_code)
        self.of_task = [NO_GROUP] * workload.rows
        self.owner: list[int] = []
        if workload.groups:
            self._find(workload)

    def _find(self, workload: Workload) -> None:
        codes, arguments, ends = workload.op_code.tolist(), workload.op_arg.tolist(), workload.op_ptr.tolist()
        for row in range(workload.rows):  # parents come before their children
            around = [NO_GROUP]
            for op in range(ends[row], ends[row + 1]):
                if codes[op] == Op.GROUP:
                    around.append(len(self.owner))
                    self.owner.append(row)
                self.of_op[op] = around[-1]
                if codes[op] == Op.END_GROUP:
                    around.pop()
                elif codes[op] in (Op.SPAWN, Op.CALL):
                    self.of_task[arguments[op]] = self.of_task[row] if around[-1] == NO_GROUP else around[-1]


# ---- Cycles among tasks that wait for each other ---------------------------------------------------------------------


def cycle_of(source: I64, target: I64, tasks: int) -> list[int]:
    """Return tasks of which each waits for the next, and the last for the first; empty if there is no cycle.

    ``target[i]`` waits for ``source[i]``; ``tasks`` is the number of tasks.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    own = np.flatnonzero(source == target)
    if len(own):
        return [int(source[own[0]])]
    if (source < target).all():
        return []  # no task waits for a task of a higher number
    graph = csr_array((np.ones(len(source), np.int8), (source, target)), shape=(tasks, tasks))
    count, label = connected_components(graph, connection="strong")
    if count == tasks:
        return []
    inside = label[source] == label[target]
    return _circle(dict(zip(target[inside].tolist(), source[inside].tolist(), strict=True)))


def _circle(waits_for: dict[int, int]) -> list[int]:
    seen: dict[int, int] = {}
    task = next(iter(waits_for))
    while task not in seen:
        seen[task] = len(seen)
        task = waits_for[task]
    return list(seen)[seen[task] :]
