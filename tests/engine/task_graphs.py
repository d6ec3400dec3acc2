"""Task graphs written as nested Python, for tests that are worked out by hand; times in picoseconds.

A segment is a part of a task: a compute time and memory accesses. A range is many similar tasks, its items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from numasim.workload.builder import ACCESS_TYPES, accesses_of, workload_of
from numasim.workload.graph import Deal, Kind, Mode, Op, Pattern, Phase, RangeFamily, Region, Workload
from numasim.workload.sync_parameters import SyncObject


class Access(NamedTuple):
    """One access; by default it reads one contiguous piece of memory in sequence."""

    region: int
    offset: int
    row_bytes: int
    rows: int = 1
    stride: int = 0
    mode: Mode = Mode.READ
    pattern: Pattern = Pattern.SEQUENTIAL
    passes: int = 1


@dataclass(frozen=True)
class Run:
    """A segment that computes for ``compute_ps`` and makes accesses."""

    compute_ps: int
    accesses: tuple[Access, ...] = ()


@dataclass(frozen=True)
class Task:
    """A task; ``after`` names the tasks on which it depends."""

    steps: tuple[Any, ...]
    name: str = ""
    after: tuple[str, ...] = ()
    kind: Kind = Kind.TASK


@dataclass
class _Rows:
    """The arrays of a workload while the tree is walked in preorder."""

    parent: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    ops: list[list[tuple[int, int]]] = field(default_factory=list)
    compute_ps: list[int] = field(default_factory=list)
    accesses: list[tuple[Access, ...]] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    after: list[tuple[str, int]] = field(default_factory=list)

    def add(self, task: Task, parent: int) -> int:
        row = len(self.parent)
        self.parent.append(parent)
        self.kind.append(int(task.kind))
        self.ops.append([])
        self.names[task.name] = row
        self.after += [(predecessor, row) for predecessor in task.after]
        for step in task.steps:
            self.ops[row].append(self._op(step, row))
        return row

    def _op(self, step: Any, row: int) -> tuple[int, int]:
        if isinstance(step, Task):
            return int(Op.CALL if step.kind == Kind.CALL else Op.SPAWN), self.add(step, row)
        if step is WAIT:
            return int(Op.WAIT), 0
        if isinstance(step, Use):
            return int(step.op), step.word
        run = step if isinstance(step, Run) else Run(step)
        self.compute_ps.append(run.compute_ps)
        self.accesses.append(run.accesses)
        return int(Op.RUN), len(self.compute_ps) - 1


WAIT = "wait"


class Use(NamedTuple):
    """An op on a synchronisation object."""

    op: Op
    word: int = 0


def task(*steps: Any, name: str = "", after: tuple[str, ...] = ()) -> Task:
    """Return a spawned task; a step is a time, a `Run`, a `Task` to spawn or call, ``WAIT``, or a `Use`."""
    return Task(steps, name, after)


def call(*steps: Any) -> Task:
    """Return an inline call."""
    return Task(steps, kind=Kind.CALL)


def body(*steps: Any) -> Task:
    """Return an implicit body, which one worker is given at the start of a phase."""
    return Task(steps, kind=Kind.IMPLICIT)


def phase(*roots: int, **options: Any) -> Phase:
    return Phase(roots=roots, **options)


def graph(
    *roots: Task, phases: tuple[Phase, ...] | None = None, regions: tuple[Region, ...] = (),
    words: tuple[SyncObject, ...] = (), deal: Deal = Deal.MASTER,
) -> Workload:  # fmt: skip
    """Return the workload of some root tasks; by default in one phase, in which all roots are dealt by ``deal``."""
    rows = _Rows()
    ids = tuple(rows.add(root, -1) for root in roots)
    ops = [op for task in rows.ops for op in task]
    edges = sorted((rows.names[name], row) for name, row in rows.after)
    return Workload(
        name="hand-made",
        parameters={},
        kernels=("work",),
        regions=regions,
        phases=phases if phases is not None else (Phase(roots=ids, deal=deal),),
        ranges=(),
        op_ptr=_offsets(len(task) for task in rows.ops),
        op_code=np.array([code for code, _ in ops], np.uint8),
        op_arg=np.array([operand for _, operand in ops], np.uint32),
        kind=np.array(rows.kind, np.uint8),
        parent=np.array(rows.parent, np.int64),
        segment_compute_ps=np.array(rows.compute_ps, np.int64),
        segment_kernel=np.zeros(len(rows.compute_ps), np.uint8),
        segment_accesses=_offsets(len(accesses) for accesses in rows.accesses),
        accesses=table([access for accesses in rows.accesses for access in accesses]),
        successor_ptr=_offsets(sum(1 for source, _ in edges if source == row) for row in range(len(rows.parent))),
        successor=np.array([target for _, target in edges], np.uint32),
        words=words,
    )


def in_turn(
    *steps: tuple[int, Run], regions: tuple[Region, ...], workers: int = 2, names: tuple[str, ...] = ()
) -> Workload:
    """Return a program with a phase for each (worker, segment); the other workers have empty bodies in the phase."""
    bodies = [body(step) if w == worker else body() for worker, step in steps for w in range(workers)]
    phases = (
        phase(*range(at * workers, (at + 1) * workers), deal=Deal.CYCLIC, name=name)
        for at, name in enumerate(names or [""] * len(steps))
    )
    return graph(*bodies, phases=tuple(phases), regions=regions)


def items(
    count: int, low_ps: int, high_ps: int | None = None, deal: Deal = Deal.MASTER, accesses: tuple[Access, ...] = (),
    steps: tuple[tuple[int, int, int], ...] = (), regions: tuple[Region, ...] = (), repeat: int = 1,
) -> Workload:  # fmt: skip
    """Return ``count`` range items; ``steps`` are (divisor, step_div, step_mod) of each access."""
    rule = np.array(steps, np.int64).reshape(-1, 3)
    family = RangeFamily(
        name="item",
        count=count,
        low_ps=low_ps,
        high_ps=low_ps if high_ps is None else high_ps,
        kernel=0,
        accesses=table(list(accesses)),
        divisor=rule[:, 0],
        step_div=rule[:, 1],
        step_mod=rule[:, 2],
    )
    phase = Phase(range_family=0, deal=deal, repeat=repeat)
    return workload_of("items", ranges=(family,), phases=(phase,), kernels=("work",), regions=regions)


def table(accesses: list[Access]) -> Any:
    columns = zip(*accesses, strict=True) if accesses else [()] * len(ACCESS_TYPES)
    return accesses_of(**{name: list(column) for name, column in zip(ACCESS_TYPES, columns, strict=True)})


def _offsets(lengths: Iterator[int]) -> Any:
    return np.concatenate([[0], np.cumsum(np.array([*lengths], np.int64))]).astype(np.int64)


def two_that_drip(alone_ps: int) -> Workload:
    """Return two tasks that each alternate between computing for ``alone_ps`` or more and spawning two other tasks."""
    return graph(task(_drips(16, alone_ps), _drips(12, alone_ps), WAIT))


def _drips(count: int, alone_ps: int) -> Task:
    """Return a task that computes ``count`` times, for alternating times, and each time then spawns two tasks."""
    ns, steps = 1000, list[object]()
    for at in range(count):
        steps += [alone_ps + 1_300 * ns * (at % 7), task((90 + 50 * (at % 5)) * ns)]
        steps += [task(task(60 * ns), 300 * ns, WAIT)]
    return task(*steps, WAIT)


def longest_path_ps(work: Workload, roots: Sequence[int], start_ps: int = 0) -> int:
    """Return the longest path in ps through a graph with a node for every op of the trees of ``roots`` and an edge from
    each op to the ops that must come after it; a spawned task begins ``start_ps`` after it could begin.
    """
    network, ends = nx.DiGraph(), work.subtree_end().tolist()
    for row in (row for root in roots for row in range(root, ends[root])):
        around: list[list[int]] = []  # the tasks of each open group
        children: list[int] = []
        ops = range(int(work.op_ptr[row]), int(work.op_ptr[row + 1]))
        for before, after in pairwise([(row, "begin"), *((row, op) for op in ops), (row, "end")]):
            spawned = before[1] == "begin" and work.parent[row] >= 0 and work.kind[row] == Kind.TASK
            network.add_edge(before, after, weight=start_ps if spawned else 0)
        for op in ops:
            code, arg = work.op_code[op], int(work.op_arg[op])
            follows = op + 1 if op + 1 in ops else "end"
            if code == Op.RUN:
                network.add_edge((row, op), (row, follows), weight=int(work.segment_compute_ps[arg]))
            if code in (Op.SPAWN, Op.CALL):
                network.add_edge((row, op), (arg, "begin"), weight=0)
                children.append(arg)
                for group in around:
                    group.extend(range(arg, ends[arg]))
            if code == Op.CALL:
                network.add_edge((arg, "end"), (row, follows), weight=0)
            if code == Op.GROUP:
                around.append([])
            for ended in children if code == Op.WAIT else around.pop() if code == Op.END_GROUP else ():
                network.add_edge((ended, "end"), (row, follows), weight=0)
        for successor in work.successor[work.successor_ptr[row] : work.successor_ptr[row + 1]].tolist():
            network.add_edge((row, "end"), (successor, "begin"), weight=0)
    return int(nx.dag_longest_path_length(network))
