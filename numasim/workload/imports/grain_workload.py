"""A table of grain graphs becomes a workload: tasks that spawn their children and wait for them at their joins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np

from numasim.schema.enumerations import Op
from numasim.workload.builder import workload_of
from numasim.workload.forest_arrays import offsets, preorder
from numasim.workload.graph import I64, Phase, Workload
from numasim.workload.imports.plain_workload import kernels_of, refuse_cycles
from numasim.workload.imports.readers.grain_graph import Grain, Grains

WAIT = -1  # a step that is no child


def grain_workload(found: Grains, times_ps: I64) -> Workload:
    """The workload of ``found``, whose tasks work for ``times_ps``; InputError for a task below itself."""
    graph, grains = found.graph, found.grains
    parent = np.array([graph.numbers.get(grain.parent, -1) for grain in grains], np.int64)
    below = np.flatnonzero(parent >= 0)
    refuse_cycles(graph, parent[below], below)
    order = preorder(parent)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    kernels, kernel = kernels_of(graph.kinds)
    codes: list[int] = []
    arguments: list[int] = []
    segments: list[int] = []
    segment_kernel: list[int] = []
    lengths: list[int] = []
    for task in order.tolist():
        before = len(codes)
        for code, value in _program(grains, task, int(times_ps[task])):
            codes.append(code)
            if code == Op.RUN:
                arguments.append(len(segments))
                segments.append(value)
                segment_kernel.append(int(kernel[task]))
            else:
                arguments.append(int(position[value]) if code == Op.SPAWN else value)
        lengths.append(len(codes) - before)
    return workload_of(
        graph.name,
        kernels=kernels,
        phases=(Phase(roots=roots) for roots in _roots(graph.phases, parent, position)),
        op_ptr=offsets(np.array(lengths)),
        op_code=codes,
        op_arg=arguments,
        parent=np.where(parent < 0, -1, position[parent])[order],
        compute_ps=segments,
        kernel=np.array(segment_kernel),
    )


def _roots(phases: Sequence[int], parent: I64, position: I64) -> Iterator[tuple[int, ...]]:
    """The tasks without a parent in the table, by their loops."""
    roots = np.flatnonzero(parent < 0)
    of_root = np.array(phases, np.int64)[roots]
    for loop in np.unique(of_root).tolist():
        yield tuple(np.sort(position[roots[of_root == loop]]).tolist())


def _program(grains: list[Grain], task: int, work_ps: int) -> Iterator[tuple[int, int]]:
    """The ops of a task: it computes between its spawns and joins for as long as was recorded there."""
    steps: list[int] = []
    for _, joined in groupby(grains[task].children, key=lambda child: grains[child].join):
        steps += [*joined, WAIT]
    parts = _split(work_ps, _fragments(grains, task, steps), len(steps))
    for step, part in zip((*steps, None), parts, strict=True):
        if part or not (steps or part):
            yield int(Op.RUN), part
        if step is not None:
            yield (int(Op.WAIT), 0) if step == WAIT else (int(Op.SPAWN), step)


def _fragments(grains: list[Grain], task: int, steps: list[int]) -> list[int]:
    """How many cycles were recorded before each step and after the last one; empty where that is not known.

    The instant of a wait is that of its end, so that the piece before it holds what the task was not at work.
    """
    grain = grains[task]
    waits = iter(grain.waits)
    instants = [next(waits, None) if step == WAIT else grains[step].created for step in steps]
    if grain.executed is None or any(instant is None for instant in instants):
        return []
    ends = [0, *(instant or 0 for instant in instants), max(grain.executed, 0)]
    lengths = [after - before for before, after in pairwise(ends)]
    if min(lengths) < 0:
        return []
    waited = [at for at, step in enumerate(steps) if step == WAIT]
    idle = sum(lengths[at] for at in waited)
    taken = min(grain.overhead, idle)
    for at in waited:
        lengths[at] -= taken * lengths[at] // max(idle, 1)
    return lengths


def _split(work_ps: int, lengths: list[int], steps: int) -> list[int]:
    """``work_ps`` in proportion to ``lengths``; all of it first where nothing is known."""
    total = sum(lengths)
    if not total:
        return [work_ps, *[0] * steps]
    before, parts, done = 0, [], 0
    for length in lengths:
        before += length
        parts.append(work_ps * before // total - done)
        done += parts[-1]
    return parts
