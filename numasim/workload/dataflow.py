"""The start and finish of every task with an unlimited number of workers: the critical path of a task graph.

A task starts when the task has been spawned and its predecessors have finished. A task finishes at the end of its
program, which includes the waits for children. Synchronisation objects are ignored. Tasks that never finish wait for
each other in a cycle: the evaluation is also the test for cycles.
"""

from __future__ import annotations

import numpy as np

from numasim.workload.algorithms.groups import NO_GROUP, Groups
from numasim.workload.graph import I64, Kind, Op, Phase, Workload

UNFINISHED = -1
GOES, WAITS, GATHERS = -3, -2, -1  # the causes of a blocked task, besides the callee of a CALL


class Dataflow:
    """One evaluation of a workload's graph, phase by phase. ``finish`` [tasks] is `UNFINISHED` or a time."""

    def __init__(self, workload: Workload, segment_times: I64, start_times: I64) -> None:
        """``segment_times`` [segments] and ``start_times`` [tasks] (spent before the first op) in any one unit."""
        self._codes = workload.op_code.tolist()
        self._args = workload.op_arg.tolist()
        self._end = workload.op_ptr[1:].tolist()
        self._parent: list[int] = workload.parent.tolist()
        self._segment = segment_times.tolist()
        self._start = start_times.tolist()
        self._pointer = workload.successor_ptr.tolist()
        self._successor: list[int] = workload.successor.tolist()
        self.at = workload.op_ptr[:-1].tolist()
        self.unmet = np.bincount(workload.successor, minlength=workload.rows).tolist()
        self.pending = [0] * workload.rows
        self.finish = [UNFINISHED] * workload.rows
        self.spawned = [False] * workload.rows
        self._latest_child = [0] * workload.rows
        self._clock = [0] * workload.rows
        self._blocked = [GOES] * workload.rows
        self._ready: list[int] = []
        groups = Groups(workload)
        self._group, self._group_of_op, self._owner = groups.of_task, groups.of_op, groups.owner
        self._called = (workload.kind == Kind.CALL).tolist()
        self._members = [0] * len(groups.owner)  # of each group: tasks that have not finished, and the last end of one
        self._latest_member = [0] * len(groups.owner)

    def run(self, phase: Phase) -> None:
        """Evaluate one pass of a phase, which begins at time 0.

        A root of an earlier phase keeps its end from that phase: all tasks that the root waits for are in both phases.
        """
        for root in phase.roots:
            if not self.spawned[root]:
                self._release(root, 0)
        while self._ready:
            self._advance(self._ready.pop())

    def _release(self, task: int, time: int) -> None:
        self.spawned[task] = True
        self._clock[task] = max(time, self._clock[task])
        if not self.unmet[task]:
            self._clock[task] += self._start[task]
            self._ready.append(task)

    def _advance(self, task: int) -> None:
        """Execute ops until the task blocks or ends."""
        clock, at = self._clock[task], self.at[task]
        while at < self._end[task]:
            code, arg = self._codes[at], self._args[at]
            if code == Op.WAIT and self.pending[task]:
                return self._block(task, at, clock, WAITS)
            if code == Op.END_GROUP and self._members[self._group_of_op[at]]:
                return self._block(task, at, clock, GATHERS)
            at += 1
            if code == Op.RUN:
                clock += self._segment[arg]
            elif code == Op.WAIT:
                clock = max(clock, self._latest_child[task])
            elif code == Op.END_GROUP:
                clock = max(clock, self._latest_member[self._group_of_op[at - 1]])
            elif code in (Op.SPAWN, Op.CALL):
                self.pending[task] += 1
                if self._counting_group(arg) != NO_GROUP:
                    self._members[self._group[arg]] += 1
                self._release(arg, clock)
                if code == Op.CALL:
                    return self._block(task, at, clock, arg)
        self._finish(task, clock)

    def _block(self, task: int, at: int, clock: int, on: int) -> None:
        self.at[task], self._clock[task], self._blocked[task] = at, clock, on

    def _finish(self, task: int, clock: int) -> None:
        self.finish[task] = clock
        parent = self._parent[task]
        if parent >= 0:
            self._return(parent, task, clock)
        if self._counting_group(task) != NO_GROUP:
            self._leave(self._group[task], clock)
        for successor in self._successor[self._pointer[task] : self._pointer[task + 1]]:
            self.unmet[successor] -= 1
            self._clock[successor] = max(self._clock[successor], clock)
            if self.spawned[successor]:
                self._release(successor, 0)

    def _return(self, parent: int, child: int, clock: int) -> None:
        """Tell the parent that a child has finished; the parent continues once the last awaited child has."""
        self.pending[parent] -= 1
        self._latest_child[parent] = max(self._latest_child[parent], clock)
        on = self._blocked[parent]
        if on == child:
            self._clock[parent] = clock
        if on == child or (on == WAITS and not self.pending[parent]):
            self._blocked[parent] = GOES
            self._ready.append(parent)

    def _counting_group(self, task: int) -> int:
        """Return the group that waits for the task; no group waits for a call (the caller waits)."""
        return NO_GROUP if self._called[task] else self._group[task]

    def _leave(self, group: int, clock: int) -> None:
        """Count a finished task of the group; the group's owner continues once the last awaited task has finished."""
        self._members[group] -= 1
        self._latest_member[group] = max(self._latest_member[group], clock)
        owner = self._owner[group]
        at_end = self._blocked[owner] == GATHERS and self._group_of_op[self.at[owner]] == group
        if at_end and not self._members[group]:
            self._blocked[owner] = GOES
            self._ready.append(owner)

    def cycle(self) -> list[int]:
        """Return tasks that wait for each other in a cycle, in the order of waiting; empty if all have finished."""
        left = [task for task, time in enumerate(self.finish) if time == UNFINISHED]
        if not left:
            return []
        seen: dict[int, int] = {}
        task: int = left[0]
        while task not in seen:
            seen[task] = len(seen)
            task = self._waits_for(task)
        return list(seen)[seen[task] :]

    def _waits_for(self, task: int) -> int:
        """Return one unfinished task that must finish, or continue, before ``task`` can continue."""
        if not self.spawned[task] and self._parent[task] >= 0:
            return self._parent[task]
        if self.unmet[task]:
            edges = np.flatnonzero(np.equal(self._successor, task))
            sources: list[int] = (np.searchsorted(self._pointer, edges, side="right") - 1).tolist()
            return next(source for source in sources if self.finish[source] == UNFINISHED)
        if self._blocked[task] >= 0:
            return self._blocked[task]
        if self._blocked[task] == GATHERS:
            group = self._group_of_op[self.at[task]]
            return next(t for t, of in enumerate(self._group) if of == group and self.finish[t] == UNFINISHED)
        return next(c for c, parent in enumerate(self._parent) if parent == task and self.finish[c] == UNFINISHED)
