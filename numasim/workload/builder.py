"""The read-only arrays of a `Workload`, built from trees of tasks that share a few op programs, called shapes.

An op is a step of a task: run a segment, spawn or call a child, wait, or use a synchronisation object. A segment, the
work of one RUN, is a compute time and memory accesses. A generator gives the parent and the `Shape` of every task, with
siblings numbered in program order. `Draft` renumbers the tasks depth first (preorder). The generator then sets compute
times and accesses, as arrays over the tasks of a shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.errors import CheckError
from numasim.frozen import Frozen
from numasim.workload.amounts import Amounts
from numasim.workload.forest_arrays import offsets, preorder, ragged
from numasim.workload.graph import (
    I64,
    SHARED,
    Accesses,
    Deal,
    Kind,
    Loop,
    NodeAccess,
    Op,
    Phase,
    RangeFamily,
    Region,
    Workload,
    compute_bounds,
)
from numasim.workload.sync_parameters import SyncObject

Numbers = npt.NDArray[Any] | int
ARGUMENT = 32  # lowest bits of an op in `programs_of`, which hold the op's argument; the higher bits hold its code

ONCE = {"rows": 1, "passes": 1}  # columns of accesses that are 1, not 0, if they are left out
ACCESS_TYPES = {
    "region": np.uint32,
    "offset": np.int64,
    "row_bytes": np.int64,
    "rows": np.int64,
    "stride": np.int64,
    "mode": np.uint8,
    "pattern": np.uint8,
    "passes": np.uint32,
}


class Shape(Frozen):
    """An op program that many tasks share.

    ``kernels[r]`` and ``accesses[r]`` are the kernel and the number of accesses of the r-th RUN op. ``words[u]`` is the
    synchronisation object of the u-th op that uses a synchronisation object.
    """

    ops: Sequence[int]
    kernels: Sequence[int] = ()
    accesses: Sequence[int] = ()
    words: Sequence[int] = ()


class Draft:
    """A workload under construction: first its tasks, then the compute times and accesses of the tasks' segments."""

    def __init__(
        self, parent: I64, shape: npt.NDArray[Any], shapes: Sequence[Shape], kind: Numbers | None = None
    ) -> None:
        """Lay out the tasks; ``parent``, ``shape`` (index into ``shapes``) and ``kind`` (default: TASK) are [tasks]."""
        self.order, self.position, self.parent = depth_first(parent)
        self._kind = np.zeros(len(parent), np.uint8) if kind is None else np.asarray(kind, np.uint8)[self.order]
        self._shapes = shapes
        self._shape = shape[self.order]
        self._lay_out_ops()
        self._lay_out_segments()

    def _lay_out_ops(self) -> None:
        codes = [np.array(shape.ops, np.uint8) for shape in self._shapes]
        begin = offsets(np.array([len(code) for code in codes]))
        lengths = np.diff(begin)[self._shape]
        self._op_ptr = offsets(lengths)
        self._op_code = np.concatenate(codes)[ragged(begin[self._shape], lengths)]
        self._op_arg = np.zeros(len(self._op_code), np.uint32)
        forks = np.isin(self._op_code, (Op.SPAWN, Op.CALL))
        kids = np.argsort(self.parent, kind="stable")[np.count_nonzero(self.parent < 0) :]
        if not np.array_equal(self.parent[kids], np.repeat(np.arange(len(lengths)), lengths)[forks]):
            raise CheckError("the shapes of a workload's tasks do not spawn the children that their parents claim")
        self._op_arg[forks] = kids
        runs = self._op_code == Op.RUN
        self._op_arg[runs] = np.arange(np.count_nonzero(runs))
        first_word = offsets(np.array([len(shape.words) for shape in self._shapes]))
        words = np.array([word for shape in self._shapes for word in shape.words], np.uint32)
        of_shape = ragged(first_word[self._shape], np.diff(first_word)[self._shape])
        self._op_arg[np.isin(self._op_code, SHARED)] = words[of_shape]

    def _lay_out_segments(self) -> None:
        begin = offsets(np.array([len(shape.kernels) for shape in self._shapes]))
        counts = np.diff(begin)[self._shape]
        self._first_segment = offsets(counts)
        of_shape = ragged(begin[self._shape], counts)
        kernels = [kernel for shape in self._shapes for kernel in shape.kernels]
        accesses = [count for shape in self._shapes for count in shape.accesses]
        self._segment_kernel = np.array(kernels, np.uint8)[of_shape]
        self._segment_accesses = offsets(np.array(accesses, np.int64)[of_shape])
        self._compute_ps = np.zeros(len(of_shape), np.int64)
        total = int(self._segment_accesses[-1])
        self._accesses = {name: np.zeros(total, kind) for name, kind in ACCESS_TYPES.items()}

    def tasks(self, shape: int) -> I64:
        """Return the tasks of ``shape`` by the generator's ids, in the order in which `compute` takes their times."""
        found: I64 = self.order[self._shape == shape]
        return found

    def compute(self, shape: int, compute_ps: Numbers, run: int = 0) -> None:
        """Set the compute time, in ps, of the RUN op number ``run`` of every task of ``shape``."""
        self._compute_ps[self._segments_of(shape, run)] = compute_ps

    def compute_runs(self, shape: int, compute_ps: Numbers) -> None:
        """Set the compute times, in ps, of the RUNs of ``shape``: [runs], or [tasks, runs] in the order of `tasks`."""
        runs = np.arange(len(self._shapes[shape].kernels))
        self._compute_ps[self._segments_of(shape, 0)[:, None] + runs] = compute_ps

    def access(self, shape: int, number: int, *, run: int = 0, **columns: Numbers) -> None:
        """Set access ``number`` of the RUN op ``run`` of every task of ``shape``; arrays are in the order of `tasks`.

        The ``columns`` are those of `Accesses`; a column that is left out is 0, or 1 for ``rows`` and ``passes``.
        """
        at = self._segment_accesses[self._segments_of(shape, run)] + number
        for name, value in {**ONCE, **columns}.items():
            self._accesses[name][at] = value

    def _segments_of(self, shape: int, run: int) -> I64:
        found: I64 = self._first_segment[:-1][self._shape == shape] + run
        return found

    def finish(
        self, *, phases: Sequence[Phase] | None = None, edges: tuple[I64, I64] | None = None, **rest: Any
    ) -> Workload:
        """Return the frozen workload; ``rest`` are arguments of `workload_of`, such as its regions and kernels.

        ``phases`` (default: one phase of all roots) have the ids after renumbering, which ``position`` gives. ``edges``
        are dependences (tasks, tasks that wait for them) in the generator's ids.
        """
        roots = tuple(np.flatnonzero(self.parent < 0).tolist())
        ends = [self.position[side] for side in edges] if edges else None
        return workload_of(
            phases=phases if phases is not None else (Phase(roots=roots),),
            op_ptr=self._op_ptr,
            op_code=self._op_code,
            op_arg=self._op_arg,
            kind=self._kind,
            parent=self.parent,
            compute_ps=self._compute_ps,
            kernel=self._segment_kernel,
            accesses=(self._segment_accesses, self._accesses),
            successors=successors(ends[0], ends[1], len(self.parent)) if ends else None,
            **rest,
        )


def depth_first(parent: I64) -> tuple[I64, I64, I64]:
    """Renumber a forest depth first, given the ``parent`` [tasks] of each task, -1 for a root.

    Return (the old number by the new number, the new number by the old number, the new parent by the new number).
    """
    order = preorder(parent)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return order, position, np.where(parent < 0, -1, position[parent])[order]


def programs_of(ops: Sequence[Sequence[int]], order: I64, position: I64) -> tuple[I64, I64, I64, I64]:
    """Return (op_ptr, op_code, op_arg) of the tasks in ``order``, and [segments] each segment's old number.

    ``ops`` [tasks] are op programs by old number of the task; an op is its code above `ARGUMENT` bits of argument.
    """
    lengths = np.fromiter(map(len, ops), np.int64, len(ops))
    flat = np.fromiter(chain.from_iterable(ops), np.int64, int(lengths.sum()))
    flat = flat[ragged(offsets(lengths)[:-1][order], lengths[order])]
    codes, arguments = flat >> ARGUMENT, flat & ((1 << ARGUMENT) - 1)
    makes, runs = np.isin(codes, (Op.SPAWN, Op.CALL)), codes == Op.RUN
    arguments[makes] = position[arguments[makes]]
    segments = arguments[runs]
    arguments[runs] = np.arange(len(segments))
    return offsets(lengths[order]), codes, arguments, segments


def successors(source: I64, target: I64, tasks: int) -> tuple[I64, I64]:
    """Return (successor_ptr [tasks + 1], successor): the tasks that wait for each task, ascending, each once."""
    edges = np.unique(source.astype(np.int64) * tasks + target)
    return offsets(np.bincount(edges // tasks, minlength=tasks)), edges % tasks


def workload_of(
    name: str,
    *,
    op_ptr: Numbers | Sequence[int] = (0,),
    op_code: Numbers | Sequence[int] = (),
    op_arg: Numbers | Sequence[int] = (),
    compute_ps: Numbers | Sequence[int] = (),
    phases: Iterable[Phase],
    kernel: Numbers = 0,
    kind: Numbers = Kind.TASK,
    parent: Numbers = -1,
    accesses: tuple[I64, Mapping[str, Numbers]] | None = None,
    successors: tuple[I64, npt.NDArray[Any]] | None = None,
    parameters: dict[str, Any] | None = None,
    kernels: Sequence[str] = ("",),
    regions: Sequence[Region] = (),
    ranges: Sequence[RangeFamily] = (),
    loops: Sequence[Loop] = (),
    words: Sequence[SyncObject] = (),
    **rest: Any,
) -> Workload:
    """Return the workload with these arrays, converted to the types of `Workload` and read-only. Default: no tasks.

    A single ``kernel``, ``kind`` or ``parent`` counts for all segments or tasks. ``accesses`` are the array
    ``segment_accesses`` and the arguments of `accesses_of`. ``successors`` are ``successor_ptr`` and ``successor``.
    ``rest`` are other fields of `Workload`.
    """
    rows, segments = len(op_ptr) - 1, len(compute_ps)  # type: ignore[arg-type]
    access_ptr, columns = accesses or (np.zeros(segments + 1, np.int64), {})
    successor_ptr, successor = successors or (np.zeros(rows + 1, np.int64), np.zeros(0))
    return Workload(
        name=name,
        parameters=parameters or {},
        kernels=tuple(kernels),
        regions=tuple(regions),
        phases=tuple(phases),
        ranges=tuple(ranges),
        op_ptr=_column(op_ptr, np.int64),
        op_code=_column(op_code, np.uint8),
        op_arg=_column(op_arg, np.uint32),
        kind=_column(kind, np.uint8, rows),
        parent=_column(parent, np.int64, rows),
        segment_compute_ps=_column(compute_ps, np.int64),
        segment_kernel=_column(kernel, np.uint8, segments),
        segment_accesses=_column(access_ptr, np.int64),
        accesses=accesses_of(int(access_ptr[-1]), **columns),
        successor_ptr=_column(successor_ptr, np.int64),
        successor=_column(successor, np.uint32),
        loops=tuple(loops),
        words=tuple(words),
        **rest,
    )


def plain_workload(
    name: str, compute_ps: I64, edges: tuple[I64, I64], deal: Deal = Deal.MASTER, **rest: Any
) -> Workload:
    """Return a workload of root tasks with one segment each. ``edges`` are the pairs (task, task that waits for it).

    ``rest`` are other arguments of `workload_of`.
    """
    count = len(compute_ps)
    return workload_of(
        name,
        phases=(Phase(roots=tuple(range(count)), deal=deal),),
        op_ptr=np.arange(count + 1),
        op_code=np.full(count, Op.RUN),
        op_arg=np.arange(count),
        compute_ps=compute_ps,
        successors=successors(*edges, count),
        **rest,
    )


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make the array read-only and return the array."""
    array.setflags(write=False)
    return array


def accesses_of(count: int = 0, **columns: npt.NDArray[Any] | Sequence[int] | int) -> Accesses:
    """Return ``count`` accesses from columns, in the types of `Accesses` and read-only.

    A single number counts for all accesses. A column that is left out is 0, or 1 for ``rows`` and ``passes``.
    """
    given = {**dict.fromkeys(ACCESS_TYPES, 0), **ONCE, **columns}
    return Accesses(**{name: _column(given[name], kind, count) for name, kind in ACCESS_TYPES.items()})


def _column(values: Any, kind: Any, length: int = 0) -> npt.NDArray[Any]:
    return frozen(np.full(length, values, kind) if np.ndim(values) == 0 else np.ascontiguousarray(values, kind))


def ragged_family(
    name: str,
    count: int,
    compute: Amounts,
    node_accesses: Sequence[NodeAccess] = (),
    kernel: int = 0,
    fresh: Amounts | None = None,
    freed: Amounts | None = None,
) -> RangeFamily:
    """Return a range of ``count`` items that compute for ``compute`` ps and access bytes on given nodes, but no region.

    An item touches ``fresh`` bytes of memory for the first time and returns ``freed`` bytes to the operating system.
    """
    low_ps, high_ps, unlike = compute_bounds(compute)
    none = frozen(np.zeros(0, np.int64))
    ragged = {"compute": unlike, "node_accesses": tuple(node_accesses), "fresh": fresh, "freed": freed}
    return RangeFamily(name, count, low_ps, high_ps, kernel, accesses_of(), none, none, none, **ragged)  # type: ignore[arg-type]


def made_of(spec: Any) -> dict[str, Any]:
    """Return the fields ``name`` and ``parameters`` of the workload that the parameters ``spec`` generate.

    Values other than whole numbers, texts and None become texts.
    """
    parameters = spec.model_dump(exclude={"name"}).items()
    plain = {key: value if isinstance(value, int | str | None) else str(value) for key, value in parameters}
    return {"name": spec.name, "parameters": plain}
