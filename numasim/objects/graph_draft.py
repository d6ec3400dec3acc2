"""Tasks, segments and dependences in the order in which they are made, and the workload that they become."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.objects.graph_phases import PhaseOrder
from numasim.schema.enumerations import LONGEST_PS, Deal, Kind, Op
from numasim.workload.builder import accesses_of, frozen
from numasim.workload.forest_arrays import offsets, preorder, ragged
from numasim.workload.graph import I64, Pattern, Phase, RangeFamily, Region, Workload
from numasim.workload.sync_parameters import SyncObject

_ARGUMENT = 32  # bits of an op's argument, below its code
NO_PARENT = -1
ACCESS = ("region", "offset", "row_bytes", "mode")
Array = npt.NDArray[Any]


def compute_ps(cost_ns: Any) -> int:
    """A cost in whole picoseconds, to the nearest; InputError for one that is negative, too long or no number."""
    try:
        cost_ps = round(cost_ns * 1000)
        if 0 <= cost_ps <= LONGEST_PS:
            return int(cost_ps)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        pass
    raise InputError(f"the cost of a task is {cost_ns} ns", expected=f"0 to {LONGEST_PS // 1000} ns")


class GraphDraft:
    """The columns of a graph that grows; tasks have the numbers of their creation."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.phase: list[int] = []
        self.ops: list[list[int]] = []  # of each task, each op as one number
        self.compute_ps: list[int] = []
        self.kernel: list[int] = []
        self.accesses: list[int] = []  # of each segment, how many
        self.rows: list[int] = []  # of accesses, each as four numbers: `ACCESS`
        self.kernels: dict[str, int] = {}
        self.regions: list[Region] = []
        self.words: list[SyncObject] = []
        self.ranges: dict[int, RangeFamily] = {}  # by their phase
        self.source: list[int] = []
        self.target: list[int] = []

    def add_task(self, parent: int, phase: int) -> int:
        """Append a task, which its parent spawns now, and return its number."""
        task = len(self.parent)
        self.parent.append(parent)
        self.phase.append(phase)
        self.ops.append([])
        if parent != NO_PARENT:
            self.ops[parent].append((Op.SPAWN << _ARGUMENT) | task)
        return task

    def add_wait(self, task: int) -> None:
        """Let ``task`` wait for the children that it has spawned so far."""
        self.ops[task].append(Op.WAIT << _ARGUMENT)

    def add_group(self, task: int, op: Op) -> None:
        """Let ``task`` begin a group, or end it."""
        self.ops[task].append(op << _ARGUMENT)

    def add_use(self, task: int, op: Op, word: int) -> None:
        """Let ``task`` use a synchronisation object."""
        self.ops[task].append((op << _ARGUMENT) | word)

    def add_segment(self, task: int, cost_ps: int, kernel: int, accesses: Sequence[tuple[int, int, int, int]]) -> None:
        """Let ``task`` compute and access memory: (region, offset, bytes, mode) each."""
        self.ops[task].append((Op.RUN << _ARGUMENT) | len(self.compute_ps))
        self.compute_ps.append(cost_ps)
        self.kernel.append(kernel)
        self.accesses.append(len(accesses))
        for access in accesses:
            self.rows += access

    def add_range(self, phase: int, family: RangeFamily) -> None:
        """Give a phase the items of a family."""
        self.ranges[phase] = family

    def add_edge(self, source: int, target: int) -> None:
        """Let ``target`` wait for the end of ``source``; between phases that is so anyway."""
        if self.phase[source] == self.phase[target]:
            self.source.append(source)
            self.target.append(target)

    def finished(self, name: str, deal: Deal, parameters: dict[str, Any], order_of_phases: PhaseOrder) -> Workload:
        """The workload of everything so far; its tasks are numbered depth first."""
        parent = np.array(self.parent, np.int64)
        order = preorder(parent)
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        op_ptr, codes, arguments, segments = self._programs(order, position)
        access_count = np.array(self.accesses, np.int64)
        rows = ragged(offsets(access_count)[:-1][segments], access_count[segments])
        successor_ptr, successor = successors(position[self.source], position[self.target], len(parent))
        accesses = np.array(self.rows, np.int64).reshape(-1, len(ACCESS))[rows]
        columns = {name: np.ascontiguousarray(accesses[:, at]) for at, name in enumerate(ACCESS)}
        ones = np.ones(len(rows), np.int64)
        return Workload(
            name=name,
            parameters=parameters,
            kernels=tuple(self.kernels) or ("",),
            regions=tuple(self.regions),
            phases=self._phases(position, parent, deal, order_of_phases),
            loops=order_of_phases.loops(),
            ranges=tuple(self.ranges.values()),
            op_ptr=frozen(op_ptr),
            op_code=frozen(codes),
            op_arg=frozen(arguments),
            kind=frozen(np.full(len(parent), Kind.TASK, np.uint8)),
            parent=frozen(np.where(parent < 0, -1, position[parent])[order]),
            segment_compute_ps=frozen(np.array(self.compute_ps, np.int64)[segments]),
            segment_kernel=frozen(np.array(self.kernel, np.uint8)[segments]),
            segment_accesses=frozen(offsets(access_count[segments])),
            accesses=accesses_of(**columns, rows=ones, stride=0 * ones, passes=ones, pattern=Pattern.SEQUENTIAL * ones),
            successor_ptr=frozen(successor_ptr),
            successor=frozen(successor),
            words=tuple(self.words),
        )

    def _programs(self, order: I64, position: I64) -> tuple[I64, Array, Array, I64]:
        """(op_ptr, op_code, op_arg, [segments] the segments in the order of the ops) of the tasks in ``order``."""
        lengths = np.fromiter(map(len, self.ops), np.int64, len(self.ops))
        flat = np.fromiter(chain.from_iterable(self.ops), np.int64, int(lengths.sum()))
        flat = flat[ragged(offsets(lengths)[:-1][order], lengths[order])]
        codes, arguments = (flat >> _ARGUMENT).astype(np.uint8), flat & ((1 << _ARGUMENT) - 1)
        spawns, runs = codes == Op.SPAWN, codes == Op.RUN
        arguments[spawns] = position[arguments[spawns]]
        segments = arguments[runs]
        arguments[runs] = np.arange(len(segments))
        return offsets(lengths[order]), codes, arguments.astype(np.uint32), segments

    def _phases(self, position: I64, parent: I64, deal: Deal, order: PhaseOrder) -> tuple[Phase, ...]:
        roots = np.flatnonzero(parent < 0)
        phase = np.array(self.phase, np.int64)[roots]  # ascends: roots are added phase by phase
        numbers = [run.number for run in order.runs if run.number is not None]
        first = np.searchsorted(phase, np.arange(max(numbers) + 2))
        tasks = [tuple(position[roots[low:high]].tolist()) for low, high in pairwise(first.tolist())]
        families = {number: family for family, number in enumerate(self.ranges)}
        return tuple(
            Phase(
                roots=tasks[run.number],
                range_family=families.get(run.number),
                deal=deal,
                repeat=run.repeat,
                name=run.name,
            )
            for run in order.runs
            if run.number is not None
        )


def successors(source: I64, target: I64, tasks: int) -> tuple[I64, npt.NDArray[np.uint32]]:
    """(successor_ptr [tasks + 1], successor) of dependences, each once, in ascending order."""
    edges = np.unique(source.astype(np.int64) * tasks + target)
    return offsets(np.bincount(edges // tasks, minlength=tasks)), (edges % tasks).astype(np.uint32)
