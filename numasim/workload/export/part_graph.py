"""A task graph as nodes (parts of tasks) that run without a break, and edges to nodes that start later.

Formats of other tools only have tasks that start after other tasks have ended. A task of a workload is therefore cut
into parts: behind a wait, a call or spawns, the next part begins. The parts are nodes, and each reason to wait is an
edge. A part is named after its task's number, or NUMBER.PART if the task has several. A segment is what one op RUN of a
task executes: a compute time and accesses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Mode, Op, Workload
from numasim.workload.one_worker import segment_sums
from numasim.workload.span import joins_of, longest_paths
from numasim.workload.unfold import unfolded

CONTINUES, SPAWNS, JOINS, CALLS, DEPENDS, PHASE = "continue", "spawn", "join", "call", "dependence", "phase"
NO_TASK = -1  # in place of a task, for the node between two phases


@dataclass
class PartGraph:
    """Nodes and edges (source, target, reason); ``remarks`` name data of the workload that the graph lacks."""

    name: str
    names: list[str] = field(default_factory=list)
    task: list[int] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)  # [parts] the part's first kernel that has a name, else ""
    compute_ps: list[int] = field(default_factory=list)
    read_bytes: list[int] = field(default_factory=list)
    written_bytes: list[int] = field(default_factory=list)
    edges: list[tuple[int, int, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    part_of_op: list[int] = field(default_factory=list)  # [ops] the part that executes the op

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.names)

    def neighbours(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return ([parts] the nodes before each node, [parts] the nodes after each node), each neighbour once."""
        before: list[dict[int, None]] = [{} for _ in self.names]
        after: list[dict[int, None]] = [{} for _ in self.names]
        for source, target, _ in self.edges:
            before[target][source] = after[source][target] = None
        return list(map(list, before)), list(map(list, after))

    def span_ps(self) -> int:
        """Return the compute time of the longest chain of nodes."""
        source, target = np.array([edge[:2] for edge in self.edges], np.int64).reshape(-1, 2).T
        return max(longest_paths(np.array(self.compute_ps, np.int64), source, target), default=0)


def require_no_ranges(workload: Workload, expected: str) -> None:
    """Raise InputError, with the remedy ``expected``, for a workload with ranges (tasks without rows)."""
    if workload.ranges:
        raise InputError(f"{workload.name!r} has a range of tasks that are not written down", expected=expected)


def part_graph(workload: Workload) -> PartGraph:
    """Return the nodes and edges of ``workload``; raise InputError for ranges and for a workload without tasks."""
    require_no_ranges(workload, "a graph without ranges, or the forms json and npz")
    work = unfolded(workload)
    if not work.rows:
        raise InputError(f"{workload.name!r} has no tasks", expected="a graph with some, or the forms json and npz")
    code, task = work.op_code, np.repeat(np.arange(work.rows), np.diff(work.op_ptr))
    join, ended = joins_of(work)
    begins, ends_empty = _cuts(work, task, join)
    counts = offsets(begins)  # [ops + 1] how many parts, besides first parts of tasks, begin before each op
    pointer = offsets(1 + np.diff(counts[work.op_ptr]) + ends_empty)
    first, last = pointer[:-1], pointer[1:] - 1  # [tasks] the first and the last part
    part = first[task] + counts[1:] - counts[work.op_ptr[task]]  # [ops] the part that executes the op
    graph = PartGraph(work.name, part_of_op=np.where(code == Op.RUN, part, NO_TASK).tolist())
    graph.task = np.repeat(np.arange(work.rows), last - first + 1).tolist()
    graph.names = [
        str(number) if first[number] == last[number] else f"{number}.{at - first[number]}"
        for at, number in enumerate(graph.task)
    ]
    later = np.setdiff1d(np.arange(len(graph.task)), first)
    forks = np.flatnonzero(work.creates)
    kind, join_kind = np.where(code[forks] == Op.CALL, CALLS, SPAWNS), np.where(code[join] == Op.CALL, CALLS, JOINS)
    for source, target, kinds in (
        (later - 1, later, [CONTINUES] * len(later)),
        (part[forks], first[work.op_arg[forks]], kind.tolist()),
        (last[ended], part[join] + 1, join_kind.tolist()),
        (last[work.predecessor], first[work.successor], [DEPENDS] * len(work.successor)),
    ):
        graph.edges += zip(source.tolist(), target.tolist(), kinds, strict=True)
    _add_phases(graph, work)
    _add_segments(graph, work, part[code == Op.RUN])
    graph.remarks += _remarks(work)
    return graph


def _cuts(work: Workload, task: I64, join: I64) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return ([ops] whether the op begins another part of its task, [tasks] whether the task's last part has no ops).

    ``task`` [ops] is the task of each op, ``join`` are the ops that wait. A part begins with the first run, spawn or
    call behind a join, and with a run behind a spawn. If a task ends with a join, the task's last part has no ops.
    """
    code, joins = work.op_code, np.zeros(len(work.op_code), np.bool_)
    joins[join] = True
    before = offsets(joins)
    acting = np.flatnonzero(np.isin(code, (Op.RUN, Op.SPAWN, Op.CALL)))
    earlier, later = acting[:-1], acting[1:]
    cut = (before[later] > before[earlier]) | ((code[earlier] == Op.SPAWN) & (code[later] == Op.RUN))
    begins = np.zeros(len(code), np.bool_)
    begins[later[cut & (task[earlier] == task[later])]] = True
    last = work.op_ptr[1:].copy()
    last[task[acting]] = acting
    return begins, before[work.op_ptr[1:]] > before[last]


def _add_segments(graph: PartGraph, work: Workload, part: I64) -> None:
    """Add the compute times, bytes and kernels of segments; ``part`` has the part of each RUN, in the order of ops."""
    segment, accesses = work.op_arg[work.op_code == Op.RUN], work.accesses
    walked = accesses.row_bytes * accesses.rows * accesses.passes
    read, written = (np.where(accesses.mode & mode, walked, 0) for mode in (Mode.READ, Mode.WRITE))
    for name, values in (
        ("compute_ps", work.segment_compute_ps),
        ("read_bytes", segment_sums(read, work.segment_accesses)),
        ("written_bytes", segment_sums(written, work.segment_accesses)),
    ):
        sums = np.zeros(len(graph), np.int64)
        np.add.at(sums, part, values[segment])
        setattr(graph, name, sums.tolist())
    graph.kernels = [""] * len(graph)
    for at, kernel in zip(part[::-1].tolist(), work.segment_kernel[segment[::-1]].tolist(), strict=True):
        graph.kernels[at] = work.kernels[kernel] or graph.kernels[at]


def _add_phases(graph: PartGraph, work: Workload) -> None:
    """Add a node between each two phases: it follows the last parts of the first and precedes those of the second."""
    with_roots = [phase for phase in work.phases if phase.roots]
    of_root = {root: number for number, phase in reversed([*enumerate(with_roots)]) for root in phase.roots}
    of_task: list[int] = []  # [tasks] the first phase that executes the task
    for number, parent in enumerate(work.parent.tolist()):
        of_task.append(of_root[number] if parent < 0 else of_task[parent])
    ends: list[list[int]] = [[] for _ in with_roots]  # [phases] the parts without edges to others
    starts: list[list[int]] = [[] for _ in with_roots]  # [phases] the parts without edges from others
    sources, targets = {edge[0] for edge in graph.edges}, {edge[1] for edge in graph.edges}
    for part, task in enumerate(graph.task):
        ends[of_task[task]] += [part] * (part not in sources)
        starts[of_task[task]] += [part] * (part not in targets)
    for phase in range(1, len(with_roots)):
        node = len(graph)
        graph.task.append(NO_TASK)
        graph.names.append(f"phase.{phase}")
        graph.edges += [(part, node, PHASE) for part in ends[phase - 1]]
        graph.edges += [(node, part, PHASE) for part in starts[phase]]
        if phase > 1:
            graph.edges.append((node - 1, node, PHASE))


def _remarks(work: Workload) -> Iterator[str]:
    """Yield the names of data of ``work`` that nodes and edges do not have."""
    if work.uses.any():
        counted = Counter(Op(code).name.lower() for code in work.op_code[work.uses].tolist())
        ops = ", ".join(f"{count:,} {name}" for name, count in sorted(counted.items()))
        yield f"operations on synchronisation objects ({ops})"
    if sum(work.runs) > len(work.phases) or len(work.trees) < sum(len(phase.roots) for phase in work.phases):
        yield "repeats of phases"
    if len(work.accesses):
        yield "which memory is accessed, of which the bytes remain"
    if any(phase.deal or phase.serial for phase in work.phases):
        yield "to which workers tasks are dealt"


# ---- The executions of a run: the worker, the begin and the end of each segment of each task -------------------------


@dataclass(frozen=True)
class Executed:
    """What a run executed: segments in the order of their begins; ``node`` [workers] is each worker's NUMA node."""

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
    """The times and the worker of the first execution of a part."""

    worker: int
    begin_ps: int
    end_ps: int


def part_times(graph: PartGraph, work: Workload, executed: Executed) -> list[PartTimes | None]:
    """Return [parts] the times of each part; None for a part without segments.

    If a task runs several times, its first run counts. A transaction lasts from the beginning of its first attempt to
    the end of its last attempt.
    """
    parts: dict[tuple[int, int], list[int]] = {}  # by (task, segment), the parts that execute it, in program order
    runs = np.flatnonzero(work.op_code == Op.RUN)
    tasks = np.searchsorted(work.op_ptr, runs, side="right") - 1
    for op, task, segment in zip(runs.tolist(), tasks.tolist(), work.op_arg[runs].tolist(), strict=True):
        parts.setdefault((task, segment), []).append(graph.part_of_op[op])
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
            continue
        part = parts[key][min(at, len(parts[key]) - 1)]
        known = found[part]
        found[part] = PartTimes(known.worker, known.begin_ps, end_ps) if known else PartTimes(worker, begin_ps, end_ps)
    return found
