"""Graphs of tasks that nobody spawns, from arrays: a million tasks without an object for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.objects.graph_draft import successors
from numasim.schema.enumerations import LONGEST_PS, Deal, Kind, Op
from numasim.workload.algorithms.groups import cycle_of
from numasim.workload.builder import ACCESS_TYPES, accesses_of, frozen
from numasim.workload.graph import I64, Phase, Region, Workload

Array = npt.NDArray[Any]


def costs_ps(costs_ns: Any, tasks: int | None = None) -> I64:
    """[tasks] costs in whole picoseconds, to the nearest; one number stands for all of ``tasks``."""
    given = np.asarray(costs_ns)
    if given.dtype == object or given.dtype.kind not in "iuf":
        try:
            given = given.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("the costs are no numbers", expected="ns, one for each task") from None
    if given.ndim == 0 and tasks is not None:
        given = np.full(tasks, given)
    if given.ndim != 1 or (tasks is not None and len(given) != tasks):
        expected = f"{tasks} costs, one for each task" if tasks is not None else "a cost for each task"
        raise InputError(f"the costs have the shape {given.shape}", expected=expected)
    most_ns = LONGEST_PS // 1000
    wrong = np.flatnonzero(~((given >= 0) & (given <= most_ns)))
    if len(wrong):
        raise InputError(f"the cost of task {wrong[0]} is {given[wrong[0]]} ns", expected=f"0 to {most_ns} ns")
    whole = given.dtype.kind in "iu"
    return given.astype(np.int64) * 1000 if whole else np.rint(given * 1000).astype(np.int64)


def edge_columns(edges: Any, tasks: int) -> tuple[I64, I64]:
    """(sources, targets) of an array of edges [edges, 2]; InputError for tasks that are not there."""
    given = np.asarray(edges)
    if given.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise InputError(
            f"the edges are an array of {given.dtype} with the shape {given.shape}",
            expected="whole numbers with the shape (edges, 2): the task before and the task after",
        )
    wrong = np.flatnonzero(((given < 0) | (given >= tasks)).any(axis=1))
    if len(wrong):
        a, b = given[wrong[0]].tolist()
        raise InputError(f"edge {wrong[0]} leads from task {a} to task {b}", expected=f"tasks 0 to {tasks - 1}")
    return given[:, 0].astype(np.int64), given[:, 1].astype(np.int64)


def plain_graph(
    name: str,
    compute_ps: I64,
    edges: tuple[I64, I64],
    *,
    kernels: tuple[tuple[str, ...], Array] | None = None,
    blocks: tuple[Region, I64, int, Array] | None = None,
    deal: Deal = Deal.MASTER,
    parameters: Mapping[str, Any] = {},
) -> Workload:
    """A workload whose tasks are all roots, each with one segment, and wait for each other by ``edges``.

    ``kernels`` are names and the number of each task's; ``blocks`` a region of which each task accesses a block: the
    offsets, the bytes of a block, and the modes.
    """
    count = len(compute_ps)
    if not count:
        raise InputError(f"the graph {name!r} has no tasks", expected="at least one")
    check_acyclic(*edges, count)
    names, kernel = kernels or (("",), np.zeros(count, np.uint8))
    columns: dict[str, Any] = dict.fromkeys(ACCESS_TYPES, ())
    if blocks is not None:
        _, offset, size, mode = blocks
        ones = np.ones(count, np.int64)
        columns = {"region": 0 * ones, "offset": offset, "row_bytes": size * ones, "rows": ones, "stride": 0 * ones}
        columns |= {"mode": mode, "pattern": 0 * ones, "passes": ones}
    successor_ptr, successor = successors(*edges, count)
    numbers = np.arange(count + 1)
    return Workload(
        name=name,
        parameters=dict(parameters),
        kernels=names,
        regions=(blocks[0],) if blocks is not None else (),
        phases=(Phase(roots=tuple(range(count)), deal=deal),),
        ranges=(),
        op_ptr=frozen(numbers.copy()),
        op_code=frozen(np.full(count, Op.RUN, np.uint8)),
        op_arg=frozen(numbers[:-1].astype(np.uint32)),
        kind=frozen(np.full(count, Kind.TASK, np.uint8)),
        parent=frozen(np.full(count, -1, np.int64)),
        segment_compute_ps=frozen(compute_ps),
        segment_kernel=frozen(np.asarray(kernel, np.uint8)),
        segment_accesses=frozen(numbers.copy() if blocks is not None else np.zeros(count + 1, np.int64)),
        accesses=accesses_of(**columns),
        successor_ptr=frozen(successor_ptr),
        successor=frozen(successor),
    )


def check_acyclic(source: I64, target: I64, tasks: int) -> None:
    """InputError, with the tasks of a cycle, where tasks wait for each other in one."""
    circle = cycle_of(source, target, tasks)
    if len(circle) == 1:
        raise InputError(f"task {circle[0]} waits for itself", expected="a graph without cycles")
    if circle:
        text = " after ".join(map(str, [*circle[:8], circle[0]]))
        raise InputError(f"tasks wait for each other in a cycle: {text}", expected="a graph without cycles")
