"""Span of a workload: the time of its critical path, and the number of tasks on its longest chain."""

from __future__ import annotations

import numpy as np

from numasim.workload.dataflow import finish_of_tasks
from numasim.workload.graph import I64, Kind, Op, Workload
from numasim.workload.one_worker import by_task, item_blocks, segment_ps


def span_ps(workload: Workload, latency_ps: int, seed: int = 0) -> int:
    """Return the time in ps on unlimited workers if all bytes have one latency; ``seed`` is the seed of item times."""
    times = segment_ps(workload, latency_ps)
    blocks = (item_blocks(family, latency_ps, seed) for family in workload.ranges)
    longest = [max(int(block.max()) for block in each) for each in blocks]
    spent = by_task(workload, times)
    return _span(workload, times, _none(workload), longest, spent)


def span_tasks(workload: Workload) -> int:
    """Return the number of tasks on the longest chain of tasks that start after one another."""
    counted = (workload.kind == Kind.TASK).astype(np.int64)
    return _span(workload, np.zeros(workload.segments, np.int64), counted, [1] * len(workload.ranges), counted)


def depth(workload: Workload) -> int:
    """Return the number of levels of the deepest spawn tree; 1 for tasks without children and for range items."""
    levels = [1] * workload.rows
    creating = np.flatnonzero(workload.creates)
    parent = np.searchsorted(workload.op_ptr, creating, side="right") - 1
    for row, child in zip(parent[::-1].tolist(), workload.op_arg[creating[::-1]].tolist(), strict=True):
        levels[row] = max(levels[row], 1 + levels[child])  # a child has a higher number than its parent
    return max((levels[root] for root in workload.trees), default=1)


def longest_chains_ps(workload: Workload, segment_ps: I64) -> list[int]:
    """Return [phases] the longest chain of a pass if segment s takes ``segment_ps[s]`` and nothing else takes time."""
    last = _last_ends(workload, segment_ps, _none(workload))
    return [max((last[root] for root in phase.roots), default=0) for phase in workload.phases]


def _none(workload: Workload) -> I64:
    return np.zeros(workload.rows, np.int64)


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
    """Return by root of a phase the end of the last task of the root's tree, if the phase begins at time 0."""
    if workload.folded:
        return _last_ends_of_classes(workload, segment_times, start_times)
    finish, ends = finish_of_tasks(workload, segment_times, start_times), workload.subtree_end()
    return {root: max(finish[root : ends[root]]) for root in workload.trees}


def _last_ends_of_classes(workload: Workload, segment_times: I64, start_times: I64) -> dict[int, int]:
    """Return the same for a folded workload: without dependences no task outside a subtree delays the subtree."""
    program = list(zip(workload.op_code.tolist(), workload.op_arg.tolist(), strict=True))
    segments = segment_times.tolist()
    end, last = [0] * workload.rows, [0] * workload.rows  # of a task, and of the last of its subtree
    for row in reversed(range(workload.rows)):
        clock, joined = int(start_times[row]), 0
        groups: list[int] = []  # open groups: when the last task of each group so far has ended
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
