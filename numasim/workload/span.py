"""Span of a workload: the time of its critical path, and the number of tasks on its longest chain."""

from __future__ import annotations

import itertools

import numpy as np

from numasim.workload.dataflow import Dataflow
from numasim.workload.graph import I64, Kind, Phase, RangeFamily, Workload
from numasim.workload.serial import access_ps, item_blocks, segment_ps, task_ps


def span_ps(workload: Workload, latency_ps: int, seed: int = 0) -> int:
    """Time on workers without end if all bytes have one latency, in ps; ``seed`` draws the times of range items."""
    times = segment_ps(workload, latency_ps)
    longest = [_longest_item_ps(family, latency_ps, seed) for family in workload.ranges]
    spent = task_ps(workload, times)
    return _span(workload, times, np.zeros(workload.rows, np.int64), longest, spent)


def span_tasks(workload: Workload) -> int:
    """Number of tasks on the longest chain of tasks that start after one another."""
    counted = (workload.kind == Kind.TASK).astype(np.int64)
    return _span(workload, np.zeros(workload.segments, np.int64), counted, [1] * len(workload.ranges), counted)


def depth(workload: Workload) -> int:
    """Number of levels of the deepest spawn tree; 1 for tasks without children, also for range items."""
    levels = np.zeros(workload.rows, np.int64)
    ancestor = workload.parent.copy()
    while (inside := ancestor >= 0).any():
        levels[inside] += 1
        ancestor[inside] = workload.parent[ancestor[inside]]
    return int(levels.max(initial=-1)) + 1 if workload.rows else 1


def _span(workload: Workload, segment_times: I64, start_times: I64, longest_item: list[int], spent: I64) -> int:
    flow = Dataflow(workload, segment_times, start_times)
    ends = workload.subtree_end()
    total = 0
    for phase in workload.phases:
        flow.run(phase)
        inside = [(root, int(ends[root])) for root in phase.roots]
        once = _serial(inside, spent) if phase.serial else _longest(phase, inside, flow, longest_item)
        total += phase.repeat * once
    return total


def _serial(inside: list[tuple[int, int]], spent: I64) -> int:
    """A serial phase lasts as long as all its work."""
    return sum(int(spent[low:high].sum()) for low, high in inside)


def _longest(phase: Phase, inside: list[tuple[int, int]], flow: Dataflow, longest_item: list[int]) -> int:
    items = longest_item[phase.range_family] if phase.range_family is not None else 0
    return max(itertools.chain([items], *(flow.finish[low:high] for low, high in inside)))


def _longest_item_ps(family: RangeFamily, latency_ps: int, seed: int) -> int:
    wait_ps = int(access_ps(family.accesses, latency_ps).sum())
    return max(itertools.chain([wait_ps], (int(block.max()) for block in item_blocks(family, seed))))
