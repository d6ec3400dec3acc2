"""Span of a workload: the time of its critical path, and the number of tasks on its longest chain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numasim.workload.dataflow import Dataflow
from numasim.workload.graph import I64, Kind, Op, Phase, Workload
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
    if workload.folded:
        return _depth_of_classes(workload)
    levels = np.zeros(workload.rows, np.int64)
    ancestor = workload.parent.copy()
    while (inside := ancestor >= 0).any():
        levels[inside] += 1
        ancestor[inside] = workload.parent[ancestor[inside]]
    return int(levels.max(initial=-1)) + 1 if workload.rows else 1


def _depth_of_classes(workload: Workload) -> int:
    levels = [1] * workload.rows
    for row in reversed(range(workload.rows)):
        ops = slice(workload.op_ptr[row], workload.op_ptr[row + 1])
        children = workload.op_arg[ops][workload.creates[ops]].tolist()
        levels[row] = 1 + max((levels[child] for child in children), default=0)
    return max((levels[root] for root in workload.trees), default=1)


def longest_chains_ps(workload: Workload, segment_ps: I64) -> list[int]:
    """Return [phases] the longest chain of a pass if segment s takes ``segment_ps[s]`` and nothing else takes time."""
    longest = (_chains_of_classes if workload.folded else _chains)(workload, segment_ps, _none(workload))
    return [longest(phase) for phase in workload.phases]


def _none(workload: Workload) -> I64:
    return np.zeros(workload.rows, np.int64)


def _span(workload: Workload, segment_times: I64, start_times: I64, longest_item: list[int], spent: I64) -> int:
    below = workload.below(spent)
    longest_chain = (_chains_of_classes if workload.folded else _chains)(workload, segment_times, start_times)
    total = 0
    for phase, runs in zip(workload.phases, workload.runs, strict=True):
        chain = longest_chain(phase)
        items = longest_item[phase.range_family] if phase.range_family is not None else 0
        # a serial phase lasts as long as all its work
        once = sum(int(below[root]) for root in phase.roots) if phase.serial else max(chain, items)
        total += runs * once
    return total


def _chains(workload: Workload, segment_times: I64, start_times: I64) -> Callable[[Phase], int]:
    """Return a function for the longest chain of a phase; call the function for the phases in their order."""
    if is_forward(workload):
        finish = forward_finish(workload, segment_times, start_times)
        return lambda phase: max((finish[root] for root in phase.roots), default=0)
    flow = Dataflow(workload, segment_times, start_times)
    ends = workload.subtree_end()

    def longest(phase: Phase) -> int:
        flow.run(phase)
        return max((max(flow.finish[root : ends[root]]) for root in phase.roots), default=0)

    return longest


def is_forward(workload: Workload) -> bool:
    """Return whether tasks neither spawn nor call, and wait only for tasks of lower numbers."""
    return not workload.creates.any() and bool((workload.predecessor < workload.successor).all())


def forward_finish(workload: Workload, segment_times: I64, start_times: I64) -> list[int]:
    """Return [tasks] the ends of the tasks of a workload that `is_forward`, as `Dataflow` does, in one pass."""
    pointer, successor = workload.successor_ptr.tolist(), workload.successor.tolist()
    spent = (by_task(workload, segment_times) + start_times).tolist()
    finish = [0] * workload.rows  # before the turn of a task: the end of the last predecessor so far
    begin = 0
    for task, (cost, end) in enumerate(zip(spent, pointer[1:], strict=True)):
        done = finish[task] = finish[task] + cost
        for after in successor[begin:end]:
            if finish[after] < done:
                finish[after] = done
        begin = end
    return finish


def _chains_of_classes(workload: Workload, segment_times: I64, start_times: I64) -> Callable[[Phase], int]:
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
    return lambda phase: max((last[root] for root in phase.roots), default=0)
