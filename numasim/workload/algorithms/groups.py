"""Groups of tasks: which group each task belongs to, and the rule that groups stand in brackets (model 3.1).

A group has the tasks that its task spawns between `Op.GROUP` and the `Op.END_GROUP` that ends it, or that calls made
there spawn, and all their descendants, but for those that belong to a group which was begun inside it. Who has begun
such a group has waited for it before it finishes, so that the end of the outer group covers them.
"""

from __future__ import annotations

import numpy as np

from numasim.errors import InputError
from numasim.workload.graph import I64, Op, Workload

NO_GROUP = -1


def check_groups(workload: Workload) -> None:
    """InputError for a task that ends a group which it has not begun, or that ends without ending one."""
    if not workload.groups:
        return
    open_groups = _open_groups(workload)
    row = np.repeat(np.arange(workload.rows), np.diff(workload.op_ptr))
    for op in np.flatnonzero(open_groups < 0)[:1].tolist():
        place = ("tasks", int(row[op]), "ops", int(op - workload.op_ptr[row[op]]))
        raise InputError("no group is open that this op could end", path=place, expected='["group"] before it')
    last = workload.op_ptr[1:][np.diff(workload.op_ptr) > 0] - 1  # of each row that has ops
    for op in last[open_groups[last] > 0][:1].tolist():
        path = ("tasks", int(row[op]), "ops")
        raise InputError("the task ends inside a group", path=path, expected='["end_group"] in the same task')


def _open_groups(workload: Workload) -> I64:
    """[ops] how many groups the task is in behind each of its ops."""
    begins, ends = workload.op_code == Op.GROUP, workload.op_code == Op.END_GROUP
    running = np.cumsum(begins.astype(np.int64) - ends)
    before = np.append(0, running)[workload.op_ptr[:-1]]
    inside: I64 = running - np.repeat(before, np.diff(workload.op_ptr))
    return inside


class Groups:
    """The groups of a workload that is not folded, numbered in the order of their first ops.

    ``of_op`` [ops] is the innermost group that its task is in at each op, of `Op.GROUP` and `Op.END_GROUP` their own;
    ``of_task`` [rows] the one that counts a task, of a call that which counts the tasks that it spawns. Both are
    `NO_GROUP` where there is none. ``owner`` [groups] is the task that begins and ends each.
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
    """Tasks of which each waits for the next, and the last for the first; none where there is no cycle.

    ``target[i]`` waits for ``source[i]``; ``tasks`` is their number.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    own = np.flatnonzero(source == target)
    if len(own):
        return [int(source[own[0]])]
    if (source < target).all():
        return []  # in the order of numbers nobody waits for a later task
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
