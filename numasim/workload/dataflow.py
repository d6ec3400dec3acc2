"""The order that a task graph prescribes, as a graph of moments, and the longest path through that graph.

A task has one moment at its begin and one moment after each of its ops; the last moment of a task is its end. An edge
leads from a moment to each moment that has to wait for it: from op to op, from a spawn or a call to the begin of the
child, from the end of a child to the wait, the call or the end of the group, and along dependences. Synchronisation
objects are ignored. With an unlimited number of workers, every moment comes as early as its edges allow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.workload.algorithms.groups import NO_GROUP, Groups, cycle_of
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Op, Workload
from numasim.workload.one_worker import by_task


class Moments(NamedTuple):
    """The moments of all tasks, task by task: ``begin`` and ``end`` [tasks], and the edges ``source`` to ``target``."""

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
    """Return (op, task) for each task whose end a call, a wait or the end of a group awaits, in the order of ops."""
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
    """Return (tasks that a group waits for, the op that ends the group of each of these tasks)."""
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
    if not workload.creates.any():  # then a task is one node
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
    left, spent, finish = unmet.tolist(), times.tolist(), [0] * len(times)  # at first: the end of the last node before
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
    """Return tasks of which each waits for the next, and the last for the first; empty if there is no cycle."""
    moments = moments_of(workload)
    cycle = cycle_of(moments.source, moments.target, len(workload.op_code) + workload.rows)
    tasks = list(dict.fromkeys((np.searchsorted(moments.begin, cycle, side="right") - 1).tolist()))
    first = tasks.index(min(tasks)) if tasks else 0
    return tasks[first:] + tasks[:first]
