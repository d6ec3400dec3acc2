"""The executions of a run: the worker, the begin and the end of each segment of each task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from numasim.workload.export.part_graph import PartGraph
from numasim.workload.graph import I64, Op, Workload


@dataclass(frozen=True)
class Executed:
    """[executions] in the order of their beginnings; ``node`` [workers] is the node of each worker."""

    task: I64
    segment: I64
    worker: I64
    begin_ps: I64
    end_ps: I64
    node: I64
    makespan_ps: int
    clock_hz: int


@dataclass(frozen=True)
class PartTimes:
    """The time of the first execution of a part, and the worker."""

    worker: int
    begin_ps: int
    end_ps: int


def part_times(graph: PartGraph, work: Workload, executed: Executed) -> list[PartTimes | None]:
    """Return [parts] the times of each part; None for a part that executes nothing.

    The first run counts if a task runs again in a later phase. A transaction lasts from the beginning of the first
    attempt to the end of the last attempt.
    """
    parts = _parts_by_segment(graph, work)
    begins = np.flatnonzero(work.op_code == Op.BEGIN)
    retries = set((np.searchsorted(work.op_ptr, begins, side="right") - 1).tolist())
    recorded = (executed.task, executed.segment, executed.worker, executed.begin_ps, executed.end_ps)
    columns = [column.tolist() for column in recorded]
    seen: Counter[tuple[int, int]] = Counter()
    found: list[PartTimes | None] = [None] * len(graph)
    for task, segment, worker, begin_ps, end_ps in zip(*columns, strict=True):
        key = task, segment
        at, seen[key] = seen[key], seen[key] + 1
        if at >= len(parts[key]) and task not in retries:
            continue  # a later run of the task
        part = parts[key][min(at, len(parts[key]) - 1)]
        known = found[part]
        found[part] = PartTimes(known.worker, known.begin_ps, end_ps) if known else PartTimes(worker, begin_ps, end_ps)
    return found


def _parts_by_segment(graph: PartGraph, work: Workload) -> dict[tuple[int, int], list[int]]:
    """Return by (task, segment) the parts in which the task runs the segment, in program order."""
    runs = np.flatnonzero(work.op_code == Op.RUN)
    tasks = np.searchsorted(work.op_ptr, runs, side="right") - 1
    found: dict[tuple[int, int], list[int]] = {}
    for op, task, segment in zip(runs.tolist(), tasks.tolist(), work.op_arg[runs].tolist(), strict=True):
        found.setdefault((task, segment), []).append(graph.part_of_op[op])
    return found
