"""A task graph as nodes that run without a break and edges from nodes to later nodes.

Formats of other tools only have tasks that start after other tasks have ended. A task is therefore cut at each op that
spawns a task, waits for children or calls a task. The parts are nodes, and each reason to wait is an edge. A task of
one part has the number of the task as its name; other parts have the name NUMBER.PART.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from numasim.errors import InputError
from numasim.workload.algorithms.groups import Groups
from numasim.workload.graph import I64, Accesses, Mode, Op, Workload
from numasim.workload.one_worker import segment_sums
from numasim.workload.unfold import unfolded

CONTINUES, SPAWNS, JOINS, CALLS, DEPENDS, PHASE = "continue", "spawn", "join", "call", "dependence", "phase"
NO_TASK = -1  # of the node between two phases


@dataclass
class PartGraph:
    """Nodes [parts] and edges; ``remarks`` name the contents of the workload that nodes and edges do not hold."""

    name: str
    names: list[str] = field(default_factory=list)
    task: list[int] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)  # of the first segment
    compute_ps: list[int] = field(default_factory=list)
    read_bytes: list[int] = field(default_factory=list)
    written_bytes: list[int] = field(default_factory=list)
    edges: list[tuple[int, int, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    part_of_op: list[int] = field(default_factory=list)  # [ops]

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.names)

    def neighbours(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return ([parts] the nodes before each node, [parts] the nodes after each node), without repetition."""
        before: list[dict[int, None]] = [{} for _ in self.names]
        after: list[dict[int, None]] = [{} for _ in self.names]
        for source, target, _ in self.edges:
            before[target][source] = after[source][target] = None
        return list(map(list, before)), list(map(list, after))

    def span_ps(self) -> int:
        """Return the compute time of the longest chain of nodes."""
        end = [0] * len(self)
        parents, children = self.neighbours()
        left = list(map(len, parents))
        ready = [part for part, count in enumerate(left) if not count]
        while ready:
            part = ready.pop()
            end[part] += self.compute_ps[part]
            for child in children[part]:
                end[child] = max(end[child], end[part])
                left[child] -= 1
                if not left[child]:
                    ready.append(child)
        return max(end, default=0)


def part_graph(workload: Workload) -> PartGraph:
    """Return the nodes and edges of ``workload``; raise InputError for ranges and for a workload without tasks."""
    if workload.ranges:
        raise InputError(
            f"{workload.name!r} has a range of tasks that are not written down",
            expected="a graph without ranges, or the forms json and npz",
        )
    work = unfolded(workload)
    if not work.rows:
        raise InputError(f"{workload.name!r} has no tasks", expected="a graph with some, or the forms json and npz")
    return _Cutting(work).graph


class _Cutting:
    """The parts of a workload during cutting, task by task."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        self.graph = PartGraph(work.name, part_of_op=[NO_TASK] * len(work.op_code))
        self._first: list[int] = []  # [tasks] part
        self._last: list[int] = []
        self._ends: list[tuple[int, int, str]] = []  # (task, part, kind): the part starts after the task's last part
        self._left_out: Counter[str] = Counter()
        self._reads, self._writes = (_bytes_by_segment(work, mode) for mode in (Mode.READ, Mode.WRITE))
        self._compute, self._kernel = work.segment_compute_ps.tolist(), work.segment_kernel.tolist()
        bounds, codes, arguments = work.op_ptr.tolist(), work.op_code.tolist(), work.op_arg.tolist()
        spawned: list[tuple[int, int, str]] = []  # (part, task, kind)
        groups = Groups(work)
        self._group_of_op = groups.of_op
        self._members: dict[int, list[int]] = {}  # the tasks of each group
        for task, group in enumerate(groups.of_task):
            self._members.setdefault(group, []).append(task)
        for task in range(work.rows):
            self._cut(task, range(bounds[task], bounds[task + 1]), codes, arguments, spawned)
        self._name_parts()
        self._connect(spawned)
        self._phases()
        self._remark()

    def _cut(
        self, task: int, ops: range, codes: list[int], arguments: list[int], spawned: list[tuple[int, int, str]]
    ) -> None:
        """Add the parts of one task; ``spawned`` collects (child, part) for tasks that parts spawn."""
        part = self._new(task)
        self._first.append(part)
        cut = False  # whether the next segment begins another part
        pending: list[int] = []  # children that the next wait waits for
        joined: list[tuple[int, str]] = []  # tasks before the next part
        for op in ops:
            code, argument = codes[op], arguments[op]
            if code in (Op.RUN, Op.SPAWN, Op.CALL) and (joined or (cut and code == Op.RUN)):
                part, cut = self._next(task, part, joined), False
            if code == Op.RUN:
                self.graph.part_of_op[op] = part
                self._compute_in(part, argument)
            elif code == Op.SPAWN:
                spawned.append((part, argument, SPAWNS))
                pending.append(argument)
                cut = True
            elif code == Op.CALL:
                spawned.append((part, argument, CALLS))
                joined.append((argument, CALLS))
            elif code == Op.WAIT:
                joined += [(child, JOINS) for child in pending]
                pending.clear()
            elif code == Op.END_GROUP:
                joined += [(member, JOINS) for member in self._members.get(self._group_of_op[op], ())]
            elif code != Op.GROUP:
                self._left_out[Op(code).name.lower()] += 1
        if joined:
            part = self._next(task, part, joined)
        self._last.append(part)

    def _new(self, task: int) -> int:
        graph = self.graph
        graph.task.append(task)
        graph.kernels.append("")
        for column in (graph.compute_ps, graph.read_bytes, graph.written_bytes):
            column.append(0)
        return len(graph.task) - 1

    def _next(self, task: int, before: int, joined: list[tuple[int, str]]) -> int:
        part = self._new(task)
        self.graph.edges.append((before, part, CONTINUES))
        self._ends += [(each, part, kind) for each, kind in joined]
        joined.clear()
        return part

    def _compute_in(self, part: int, segment: int) -> None:
        graph = self.graph
        graph.kernels[part] = graph.kernels[part] or self._work.kernels[self._kernel[segment]]
        graph.compute_ps[part] += self._compute[segment]
        graph.read_bytes[part] += self._reads[segment]
        graph.written_bytes[part] += self._writes[segment]

    def _name_parts(self) -> None:
        first, last = self._first, self._last
        self.graph.names = [
            str(task) if first[task] == last[task] else f"{task}.{part - first[task]}"
            for part, task in enumerate(self.graph.task)
        ]

    def _connect(self, spawned: list[tuple[int, int, str]]) -> None:
        edges, work = self.graph.edges, self._work
        edges += [(part, self._first[task], kind) for part, task, kind in spawned]
        edges += [(self._last[task], part, kind) for task, part, kind in self._ends]
        pairs = zip(work.predecessor.tolist(), work.successor.tolist(), strict=True)
        edges += [(self._last[before], self._first[after], DEPENDS) for before, after in pairs]

    def _phases(self) -> None:
        """Add a node between two phases, which starts after the first phase has ended."""
        phase_of = self._phase_of_parts()
        starts = self._without(1, phase_of)
        ends = self._without(0, phase_of)
        for phase in range(1, len(starts)):
            node = self._new(NO_TASK)
            self.graph.names.append(f"phase.{phase}")
            self.graph.edges += [(part, node, PHASE) for part in ends[phase - 1]]
            self.graph.edges += [(node, part, PHASE) for part in starts[phase]]
            if phase > 1:
                self.graph.edges.append((node - 1, node, PHASE))

    def _phase_of_parts(self) -> list[int]:
        """Return [parts] the first phase of the part's tree, counting phases with roots."""
        of_root: dict[int, int] = {}
        with_roots = [phase for phase in self._work.phases if phase.roots]
        for number, phase in enumerate(with_roots):
            for root in phase.roots:
                of_root.setdefault(root, number)
        self._count = len(with_roots)
        of_task: list[int] = []
        for task, parent in enumerate(self._work.parent.tolist()):
            of_task.append(of_root[task] if parent < 0 else of_task[parent])
        return [of_task[task] for task in self.graph.task]

    def _without(self, end: int, phase_of: list[int]) -> list[list[int]]:
        """Return [phases] the parts that no edge has as its ``end`` (0: source, 1: target)."""
        taken = {edge[end] for edge in self.graph.edges}
        found: list[list[int]] = [[] for _ in range(self._count)]
        for part, phase in enumerate(phase_of):
            if part not in taken:
                found[phase].append(part)
        return found

    def _remark(self) -> None:
        """Yield names of the contents that nodes and edges do not hold."""
        work, remarks = self._work, self.graph.remarks
        if self._left_out:
            ops = ", ".join(f"{count:,} {name}" for name, count in sorted(self._left_out.items()))
            remarks.append(f"operations on synchronisation objects ({ops})")
        if sum(work.runs) > len(work.phases) or len(work.trees) < sum(len(phase.roots) for phase in work.phases):
            remarks.append("repeats of phases")
        if len(work.accesses):
            remarks.append("which memory is accessed, of which the bytes remain")
        if any(phase.deal or phase.serial for phase in work.phases):
            remarks.append("to which workers tasks are dealt")


def _bytes_by_segment(work: Workload, mode: Mode) -> list[int]:
    """Return [segments] the bytes read or written, every pass counted."""
    accesses: Accesses = work.accesses
    walked: I64 = accesses.row_bytes * accesses.rows * accesses.passes
    found: list[int] = segment_sums(np.where(accesses.mode & mode, walked, 0), work.segment_accesses).tolist()
    return found
