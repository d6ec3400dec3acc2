"""Unfolding: from a folded workload, with one row for all equal subtrees, to a workload with a row for every task.

Tasks are numbered depth first, so the first id of a subtree follows from the sizes of all earlier subtrees. The tasks
of one depth are numbered together. An op is a step of a task, such as to run a segment or to spawn a child.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.workload.builder import frozen
from numasim.workload.forest_arrays import offsets, ragged
from numasim.workload.graph import I64, Accesses, Op, Workload
from numasim.workload.totals import MAX_TASKS

_KEPT = "_unfolded"


def unfolded(work: Workload) -> Workload:
    """Return the program with a row for every task: ``work`` itself unless ``work`` is folded.

    The result is kept for later calls. Raise InputError for more tasks than `MAX_TASKS`.
    """
    if not work.folded:
        return work
    kept = vars(work)
    if _KEPT not in kept:
        kept[_KEPT] = unfold(work)
    return cast(Workload, kept[_KEPT])


def unfold(work: Workload) -> Workload:
    """Return a folded workload with a row, ops and segments for each task; InputError for too many tasks."""
    roots = np.array(work.trees, np.int64)
    starts = offsets(work.sizes[roots])
    if starts[-1] > MAX_TASKS:
        problem = f"the {starts[-1]:,} tasks of {work.name} do not fit in memory one by one"
        expected = f"at most {MAX_TASKS:,} tasks, or a run that skips ahead on an engine that can"
        raise InputError(problem, expected=expected)
    distance = _child_distance(work)
    row, parent = _placed(work, roots, starts, distance)
    op_ptr, op_code, op_arg, segments = _programs(work, row, distance)
    accesses = np.diff(work.segment_accesses)[segments]
    rows = ragged(work.segment_accesses[segments], accesses)
    copied = {entry.name: frozen(getattr(work.accesses, entry.name)[rows]) for entry in fields(Accesses)}
    phases, done = [], 0
    for phase in work.phases:
        phases.append(replace(phase, roots=tuple(starts[done : done + len(phase.roots)].tolist())))
        done += len(phase.roots)
    columns: dict[str, npt.NDArray[Any]] = {
        "op_ptr": op_ptr,
        "op_code": op_code,
        "op_arg": op_arg,
        "kind": work.kind[row],
        "parent": parent,
        "segment_compute_ps": work.segment_compute_ps[segments],
        "segment_kernel": work.segment_kernel[segments],
        "segment_accesses": offsets(accesses),
        "successor_ptr": np.zeros(len(row) + 1, np.int64),
    }
    made: dict[str, Any] = {name: frozen(column) for name, column in columns.items()}
    return replace(work, folded=False, phases=tuple(phases), accesses=Accesses(**copied), **made)


def _placed(work: Workload, roots: I64, starts: I64, distance: I64) -> tuple[I64, I64]:
    """Return ([tasks] row in ``work``, [tasks] parent) of the trees of ``roots``, which begin at the ids ``starts``.

    ``distance`` [ops] is the id of the child that the op creates minus the id of the op's own task.
    """
    creating = np.flatnonzero(work.creates)
    pointer = np.searchsorted(creating, work.op_ptr)
    row = np.empty(starts[-1], np.int64)
    parent = np.full(starts[-1], -1, np.int64)
    level, at = roots, starts[:-1]
    while len(level):
        row[at] = level
        children = pointer[level + 1] - pointer[level]
        ops = creating[ragged(pointer[level], children)]
        parents = np.repeat(at, children)
        level, at = work.op_arg[ops].astype(np.int64), parents + distance[ops]
        parent[at] = parents
    return row, parent


def _child_distance(work: Workload) -> I64:
    """Return [ops] 1 plus the number of tasks in the subtrees that earlier ops of the same task create."""
    created = np.zeros(len(work.op_code), np.int64)
    created[work.creates] = work.sizes[work.op_arg[work.creates]]
    before = offsets(created)
    return 1 + before[:-1] - np.repeat(before[work.op_ptr[:-1]], np.diff(work.op_ptr))


def _programs(
    work: Workload, row: I64, distance: I64
) -> tuple[I64, npt.NDArray[np.uint8], npt.NDArray[np.uint32], I64]:
    """Return (op_ptr, op_code, op_arg) of all tasks, and [segments] the segment of ``work`` that each one repeats."""
    lengths = np.diff(work.op_ptr)[row]
    ops = ragged(work.op_ptr[row], lengths)
    code, arg = work.op_code[ops], work.op_arg[ops]
    creates, runs = work.creates[ops], code == Op.RUN
    segments = arg[runs].astype(np.int64)
    arg[creates] = np.repeat(np.arange(len(row)), lengths)[creates] + distance[ops[creates]]
    arg[runs] = np.arange(len(segments))
    return offsets(lengths), code, arg, segments
