"""The work of worker 0 alone before phases of a program, as serial phases (model 3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from numasim.workload.builder import frozen
from numasim.workload.graph import Kind, Loop, Op, Phase, Workload


def with_serial_parts(work: Workload, before_ps: Mapping[int, int], name: str) -> Workload:
    """Return ``work``, which is not folded, with serial phases called ``name``; ``before_ps`` has their times by the
    phase behind.

    A repeated phase becomes a loop over both phases. The rows of new bodies come last, so that tasks keep their ids.
    """
    if not before_ps:
        return work
    phases: list[Phase] = []
    begins: list[int] = []  # [phases] the new position of each phase, or of its serial phase
    own_loops: list[Loop] = []
    bodies: list[int] = []
    for number, phase in enumerate(work.phases):
        begins.append(len(phases))
        if number not in before_ps:
            phases.append(phase)
            continue
        phases += [Phase(roots=(work.rows + len(bodies),), serial=True, name=name), replace(phase, repeat=1)]
        bodies.append(before_ps[number])
        if phase.repeat > 1:
            own_loops.append(Loop(begins[-1], len(phases), phase.repeat))
    begins.append(len(phases))
    loops = [Loop(begins[loop.first], begins[loop.end], loop.repeat) for loop in work.loops]
    return replace(
        _with_bodies(work, bodies, len(work.kernels)),
        kernels=(*work.kernels, name),
        phases=tuple(phases),
        loops=tuple(sorted([*loops, *own_loops], key=lambda loop: (loop.first, -loop.end))),
    )


def _with_bodies(work: Workload, times_ps: list[int], kernel: int) -> Workload:
    """Return ``work`` with an implicit body for each of ``times_ps``, which computes for this time."""
    more = len(times_ps)
    ones, new = np.ones(more, np.int64), np.arange(more)
    return replace(
        work,
        op_ptr=frozen(np.concatenate([work.op_ptr, work.op_ptr[-1] + np.cumsum(ones)])),
        op_code=frozen(np.concatenate([work.op_code, np.full(more, Op.RUN, np.uint8)])),
        op_arg=frozen(np.concatenate([work.op_arg, (work.segments + new).astype(np.uint32)])),
        kind=frozen(np.concatenate([work.kind, np.full(more, Kind.IMPLICIT, np.uint8)])),
        parent=frozen(np.concatenate([work.parent, -ones])),
        segment_compute_ps=frozen(np.concatenate([work.segment_compute_ps, np.array(times_ps, np.int64)])),
        segment_kernel=frozen(np.concatenate([work.segment_kernel, np.full(more, kernel, np.uint8)])),
        segment_accesses=frozen(np.concatenate([work.segment_accesses, work.segment_accesses[-1] + 0 * ones])),
        successor_ptr=frozen(np.concatenate([work.successor_ptr, work.successor_ptr[-1] + 0 * ones])),
    )
