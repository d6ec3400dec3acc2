"""Span of a workload: the time of its critical path, and the number of tasks on the longest chain; groups of tasks.

An op is a step of a task: RUN a segment (a compute time and memory accesses), SPAWN or CALL a child, WAIT, ... A task
begins a group by `Op.GROUP` and waits for the group's members at `Op.END_GROUP` (model 3.1). Members are the tasks that
the task, or a call of the task, spawns between the two ops, and all their descendants, except members of inner groups.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Kind, Op, Workload
from numasim.workload.one_worker import by_task, item_blocks, segment_ps


def span_ps(workload: Workload, latency_ps: int, seed: int = 0) -> int:
    """Return the time in ps on unlimited workers if each cache miss takes ``latency_ps``.

    ``seed`` is the seed of random times of range items.
    """
    times = segment_ps(workload, latency_ps)
    blocks = (item_blocks(family, latency_ps, seed) for family in workload.ranges)
    longest = [max(int(block.max()) for block in each) for each in blocks]
    return _span(workload, times, np.zeros(workload.rows, np.int64), longest, by_task(workload, times))


def span_tasks(workload: Workload) -> int:
    """Return the number of tasks on the longest chain of tasks that start after one another."""
    counted = (workload.kind == Kind.TASK).astype(np.int64)
    return _span(workload, np.zeros(workload.segments, np.int64), counted, [1] * len(workload.ranges), counted)


def depth(workload: Workload) -> int:
    """Return the number of levels of the deepest tree of spawns and calls; 1 if no task has a child."""
    levels = [1] * workload.rows
    creating = np.flatnonzero(workload.creates)
    parent = np.searchsorted(workload.op_ptr, creating, side="right") - 1
    for row, child in zip(parent[::-1].tolist(), workload.op_arg[creating[::-1]].tolist(), strict=True):
        levels[row] = max(levels[row], 1 + levels[child])  # a child has a higher number than its parent
    return max((levels[root] for root in workload.trees), default=1)


def longest_chains_ps(workload: Workload, segment_ps: I64) -> list[int]:
    """Return [phases] the longest chain of tasks in ps, without range items, if segment s takes ``segment_ps[s]``."""
    last = _last_ends(workload, segment_ps, np.zeros(workload.rows, np.int64))
    return [max((last[root] for root in phase.roots), default=0) for phase in workload.phases]


def _span(workload: Workload, segment_times: I64, start_times: I64, longest_item: list[int], spent: I64) -> int:
    below = workload.below(spent)
    last = _last_ends(workload, segment_times, start_times)
    total = 0
    for phase, runs in zip(workload.phases, workload.runs, strict=True):
        chain = max((last[root] for root in phase.roots), default=0)
        items = longest_item[phase.range_family] if phase.range_family is not None else 0
        # a serial phase lasts as long as all its work
        once = sum(int(below[root]) for root in phase.roots) if phase.serial else max(chain, items)
        total += runs * once
    return total


def _last_ends(workload: Workload, segment_times: I64, start_times: I64) -> dict[int, int]:
    """Return, by root, the time at which the last task of the root's tree ends if the phase begins at time 0."""
    if workload.folded:
        return _last_ends_of_classes(workload, segment_times, start_times)
    finish, ends = finish_of_tasks(workload, segment_times, start_times), workload.subtree_end()
    return {root: max(finish[root : ends[root]]) for root in workload.trees}


def _last_ends_of_classes(workload: Workload, segment_times: I64, start_times: I64) -> dict[int, int]:
    """Return `_last_ends` of a folded workload, in which a row stands for all equal subtrees and nothing depends."""
    program = list(zip(workload.op_code.tolist(), workload.op_arg.tolist(), strict=True))
    segments = segment_times.tolist()
    end, last = [0] * workload.rows, [0] * workload.rows  # time from a task's start to its end, to its subtree's end
    for row in reversed(range(workload.rows)):
        clock, joined = int(start_times[row]), 0
        groups: list[int] = []  # of each open group, the time at which its last task so far ends
        for code, arg in program[workload.op_ptr[row] : workload.op_ptr[row + 1]]:
            if code == Op.RUN:
                clock += segments[arg]
            elif code == Op.WAIT:
                clock = max(clock, joined)
            elif code == Op.GROUP:
                groups.append(clock)
            elif code == Op.END_GROUP:
                clock = max(clock, groups.pop())
            elif code in (Op.SPAWN, Op.CALL):
                joined = max(joined, clock + end[arg])
                last[row] = max(last[row], clock + last[arg])
                groups = [max(ended, clock + last[arg]) for ended in groups]
                clock += end[arg] if code == Op.CALL else 0
        end[row], last[row] = clock, max(last[row], clock)
    return {root: last[root] for root in workload.trees}


# ---- The order that a task graph prescribes, as a graph of moments, and the longest path through the moments ---------
#
# A moment is the begin of a task, or the end of one of its ops. An edge leads from a moment to each moment that has to
# come later: from op to op, from the moment before a spawn or a call to the begin of the child, from the end of a child
# to the moment after the wait, the call or the end of the group, and along dependences. Synchronisation objects are
# ignored. With an unlimited number of workers, every moment comes as early as its edges allow.


class Moments(NamedTuple):
    """The number of each task's ``begin`` and ``end`` moment [tasks], and the edges from ``source`` to ``target``."""

    begin: I64
    end: I64
    source: I64
    target: I64


def moments_of(workload: Workload) -> Moments:
    """Return the moments of a workload that is not folded."""
    tasks = np.arange(workload.rows)
    begin, end = workload.op_ptr[:-1] + tasks, workload.op_ptr[1:] + tasks
    before = np.arange(len(workload.op_code)) + np.repeat(tasks, np.diff(workload.op_ptr))
    op, ended = joins_of(workload)
    edges = (
        (before, before + 1),
        (before[workload.creates], begin[workload.op_arg[workload.creates]]),
        (end[ended], before[op] + 1),
        (end[workload.predecessor], begin[workload.successor]),
    )
    source, target = (np.concatenate(side) for side in zip(*edges, strict=True))
    return Moments(begin, end, source, target)


def joins_of(workload: Workload) -> tuple[I64, I64]:
    """Return (op, task) for each task whose end an op waits for: a call, a wait or the end of a group; by op."""
    forks = np.flatnonzero(workload.creates)
    child, called = workload.op_arg[forks].astype(np.int64), workload.op_code[forks] == Op.CALL
    waits = np.append(np.flatnonzero(workload.op_code == Op.WAIT), len(workload.op_code))
    wait = waits[np.searchsorted(waits, forks)]  # the next wait, perhaps of a later task
    awaited = ~called & (wait < workload.op_ptr[workload.parent[child] + 1])
    members, group_ends = _group_ends(workload)
    op = np.concatenate([forks[called], wait[awaited], group_ends])
    order = np.argsort(op, kind="stable")
    return op[order], np.concatenate([child[called], child[awaited], members])[order]


def _group_ends(workload: Workload) -> tuple[I64, I64]:
    """Return (the members of all groups, for each member the op that ends its group)."""
    if not workload.groups:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    groups = Groups(workload)
    of_task, ends = np.array(groups.of_task, np.int64), np.flatnonzero(workload.op_code == Op.END_GROUP)
    end_of_group = np.zeros(len(groups.owner), np.int64)
    end_of_group[np.array(groups.of_op, np.int64)[ends]] = ends
    members = np.flatnonzero(of_task != NO_GROUP)
    return members, end_of_group[of_task[members]]


def finish_of_tasks(workload: Workload, segment_times: I64, start_times: I64) -> list[int]:
    """Return [tasks] the time at which each task ends, if phases begin at time 0 and workers are unlimited.

    Segment s takes ``segment_times[s]``; task t takes ``start_times[t]`` before its first op.
    """
    if not workload.creates.any():  # without spawns and calls, tasks in place of moments are the nodes of the graph
        return longest_paths(by_task(workload, segment_times) + start_times, workload.predecessor, workload.successor)
    moments = moments_of(workload)
    times = np.zeros(len(workload.op_code) + workload.rows, np.int64)
    runs = np.flatnonzero(workload.op_code == Op.RUN)
    times[runs + np.searchsorted(workload.op_ptr, runs, side="right")] = segment_times[workload.op_arg[runs]]
    times[moments.begin] = start_times
    finish = longest_paths(times, moments.source, moments.target)
    return [finish[end] for end in moments.end.tolist()]


def longest_paths(times: I64, source: I64, target: npt.NDArray[Any]) -> list[int]:
    """Return [nodes] the time at which each node ends; a node takes ``times`` [nodes] after the last node before it.

    An edge leads from ``source[i]`` to ``target[i]``; the graph has no cycle.
    """
    order = np.argsort(source, kind="stable")
    pointer = offsets(np.bincount(source, minlength=len(times))).tolist()
    following: list[int] = np.asarray(target)[order].tolist()
    unmet = np.bincount(target, minlength=len(times))
    ready = np.flatnonzero(unmet == 0)[::-1].tolist()
    left, spent, finish = (
        unmet.tolist(),
        times.tolist(),
        [0] * len(times),
    )  # finish: until a node ends, the latest end of the nodes before it
    while ready:
        node = ready.pop()
        done = finish[node] = finish[node] + spent[node]
        for after in following[pointer[node] : pointer[node + 1]]:
            if finish[after] < done:
                finish[after] = done
            left[after] -= 1
            if not left[after]:
                ready.append(after)
    return finish


def cycle_of_tasks(workload: Workload) -> list[int]:
    """Return the tasks of a cycle, each waiting for the next and the last for the first, the lowest first; or none."""
    moments = moments_of(workload)
    cycle = cycle_of(moments.source, moments.target, len(workload.op_code) + workload.rows)
    tasks = list(dict.fromkeys((np.searchsorted(moments.begin, cycle, side="right") - 1).tolist()))
    first = tasks.index(min(tasks)) if tasks else 0
    return tasks[first:] + tasks[:first]


NO_GROUP = -1


class Groups:
    """The groups of a workload that is not folded, numbered in the order of their first ops.

    ``of_op`` [ops] is the innermost group that the op's own task has open at the op; `Op.GROUP` and `Op.END_GROUP` are
    in their group. ``of_task`` [rows] is the group that has the task as a member; for a call, the group that has the
    tasks that the call spawns. Both are `NO_GROUP` if there is no group. ``owner`` [groups] begins and ends the group.
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
    """Return the tasks of a cycle, in which each task waits for the next and the last for the first; empty if none.

    Task ``target[i]`` waits for task ``source[i]``; ``tasks`` is the number of tasks.
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
    waits_for = dict(zip(target[inside].tolist(), source[inside].tolist(), strict=True))
    path, task = [], next(iter(waits_for))
    seen = set[int]()
    while task not in seen:
        seen.add(task)
        path.append(task)
        task = waits_for[task]
    return path[path.index(task) :]
