"""The rows of a task graph from the steps of recorded tasks.

A row is a task, a call or an implicit body of the graph, with its ops. The work between two regions is a serial phase.
The barriers of a region cut the region into parts; each part is a phase, whose roots are the implicit bodies of all
threads. A chunk is a share of a loop's iterations that any thread may take; in the graph, the chunk is a task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from numasim.runtime.record.event_files import Dependence, TaskFlag, Work
from numasim.runtime.record.event_times import PieceCosts
from numasim.runtime.record.event_walk import NOBODY, RecordedTask, Step, Walked
from numasim.schema.enumerations import Kind, Op
from numasim.workload.builder import ARGUMENT

Declared = tuple[int, ...]  # tick, address, bytes, mode, rows, stride
Steps = Sequence[tuple[int, ...]]


@dataclass
class RowPhase:
    """A phase: the rows of its roots, and whether only the first worker executes the phase."""

    roots: list[int]
    serial: bool
    name: str


@dataclass(frozen=True)
class PartWork:
    """One part of a parallel region: the work of its implicit tasks, and the number of its other tasks."""

    name: str
    place: int  # the address in the program where the region begins
    team: int  # the number of threads
    body_ps: int  # the time of all segments of the implicit tasks
    tasks: int


@dataclass
class Rows:
    """The rows of a graph, each parent before its children. ``parent`` to ``place`` and ``ops`` have an item a row."""

    parent: list[int] = field(default_factory=list)  # the row of the parent; a root has `NOBODY`
    kind: list[int] = field(default_factory=list)  # Kind
    task: list[int] = field(default_factory=list)  # the number of the recorded task
    place: list[int] = field(default_factory=list)  # the address of the code that makes the row; 0: unknown
    chunks: set[int] = field(default_factory=set)  # the rows that are chunks of loops
    ops: list[list[int]] = field(default_factory=list)
    compute_ps: list[int] = field(default_factory=list)  # the time of each segment
    segment_row: list[int] = field(default_factory=list)  # the row of each segment
    accesses: dict[int, list[Declared]] = field(default_factory=dict)  # the declared accesses of each segment
    blocked_ps: Counter[int] = field(default_factory=Counter)  # for each row, its time without a processor
    phases: list[RowPhase] = field(default_factory=list)
    parts: list[PartWork] = field(default_factory=list)
    serial_ps: int = 0  # the time of the work between regions
    edges: list[tuple[int, int]] = field(default_factory=list)  # dependences, as (row before, row after)
    odd: Counter[str] = field(default_factory=Counter)


def rows_of(walked: Walked, costs: PieceCosts, *, parallel_part: bool = False) -> Rows:
    """Return the rows of a recording; with ``parallel_part`` only the rows of parallel regions."""
    return _RowMaker(walked, costs, parallel_part).made()


class _RowMaker:
    def __init__(self, walked: Walked, costs: PieceCosts, parallel_part: bool) -> None:
        self._walked = walked
        self._parallel_part = parallel_part
        self._costs = costs.table()
        self._rows = Rows(odd=Counter(walked.odd))
        self._regions = 0
        self._row_of: dict[int, int] = {}  # the row of each task; for an implicit task, the row of its last part

    def made(self) -> Rows:
        """Make all rows, phase by phase, and return them."""
        steps: list[tuple[int, ...]] = []
        initial = self._walked.initial
        for step in self._walked.tasks[initial].steps if initial != NOBODY else ():
            if step[0] == Step.REGION:
                self._serial_phase(steps, f"before region {self._regions + 1}")
                steps = []
                self._region(step[1])
            else:
                steps.append(step)
        self._serial_phase(steps, f"after region {self._regions}")
        self._note_flags()
        return self._rows

    def _serial_phase(self, steps: Steps, name: str) -> None:
        """Add the phase with the initial task's work between two regions."""
        work = self._time(steps)
        self._rows.serial_ps += max(0, work)
        if not self._is_nothing(steps) and not self._parallel_part:
            root = self._tree(self._walked.initial, Kind.IMPLICIT, steps, serial=True)
            self._rows.phases.append(RowPhase([root], True, name))

    def _region(self, number: int) -> None:
        """Add the phases of a parallel region: one phase for each barrier."""
        self._regions += 1
        region, kinds, times = self._walked.regions[number], self._rows.kind, self._rows.compute_ps
        members = region.members
        parts = {index: list(_parts(self._walked.tasks[task].steps)) for index, task in sorted(members.items())}
        for part in range(max(map(len, parts.values()), default=0)):
            rows, segments = len(kinds), len(times)
            cut = [(members[i], *_cut(each[part] if part < len(each) else ())) for i, each in parts.items()]
            mine = [(task, body) for task, body, _ in cut]
            while mine and self._is_nothing(mine[-1][1]):
                mine.pop()
            roots = [self._tree(task, Kind.IMPLICIT, body) for task, body in mine]
            for task, place, chunk in ((task, *each) for task, _, chunks in cut for each in chunks):
                roots.append(self._tree(task, Kind.TASK, chunk))  # any worker may execute the chunk
                self._note_chunk(roots[-1], place, chunk)
            if roots:
                name = f"region {self._regions}, part {part + 1}"
                self._rows.phases.append(RowPhase(roots, False, name))
                bodies = zip(times[segments:], self._rows.segment_row[segments:], strict=True)
                body_ps = sum(time for time, row in bodies if kinds[row] == Kind.IMPLICIT)
                tasks = kinds[rows:].count(Kind.TASK)
                self._rows.parts.append(PartWork(name, region.place, region.team, body_ps, tasks))

    def _note_chunk(self, row: int, place: int, steps: Steps) -> None:
        self._rows.place[row] = place
        self._rows.chunks.add(row)
        made = (self._walked.tasks[step[1]] for step in steps if step[0] == Step.SPAWN)
        self._rows.odd[_APART] += sum(bool(each.dependences) for each in made)

    def _is_nothing(self, steps: Steps) -> bool:
        """Return whether only the recorder and the runtime, not the program itself, spend time in these steps."""
        return self._time(steps) <= 0 and all(step[0] == Step.WORK for step in steps)

    def _time(self, steps: Steps) -> int:
        """Return the program's time in ps."""
        return sum(step[1] - self._costs[step[2], step[3]] for step in steps if step[0] == Step.WORK)

    def _tree(self, task: int, kind: Kind, steps: Steps, *, serial: bool = False) -> int:
        """Add a root and all rows below the root. Return the row of the root."""
        root = self._add(NOBODY, kind, task)
        waiting = [(root, task, steps, serial)]
        while waiting:
            row, number, own, alone = waiting.pop()
            waiting += reversed(self._fill(row, self._walked.tasks[number], own, alone))
        return root

    def _add(self, parent: int, kind: Kind, task: int) -> int:
        row = len(self._rows.parent)
        self._rows.parent.append(parent)
        self._rows.kind.append(kind)
        self._rows.task.append(task)
        self._rows.place.append(self._walked.tasks[task].place)
        self._rows.ops.append([])
        self._row_of[task] = row
        return row

    def _fill(self, row: int, task: RecordedTask, steps: Steps, alone: bool) -> list[tuple[int, int, Steps, bool]]:
        """Give a row its ops. Return the rows below this row that have no ops yet."""
        ops = self._rows.ops[row]
        below: list[tuple[int, int, Steps, bool]] = []
        segment = _Segment(self._rows, row)
        children: list[int] = []
        for step, chunk in _with_chunks(steps):
            match step[0]:
                case Step.CHUNK:
                    segment.end(ops)
                    made = self._add(row, Kind.TASK, self._rows.task[row])
                    self._note_chunk(made, step[1], chunk)
                    ops.append(Op.SPAWN << ARGUMENT | made)
                    below.append((made, self._rows.task[row], chunk, False))
                case Step.WORK:
                    segment.work_ps += step[1] - self._costs[step[2], step[3]]
                    if step[4]:
                        self._rows.blocked_ps[row] += step[4]
                case Step.ACCESS:
                    segment.accesses.append(step[1:])
                case Step.SPAWN:
                    segment.end(ops)
                    children.append(step[1])
                    below.append(self._child(row, task, step[1], alone, ops))
                case Step.WAIT | Step.GROUP_BEGIN | Step.GROUP_WAIT | Step.BARRIER:
                    segment.end(ops)
                    ops.append(_OPS[step[0]] << ARGUMENT)
                case Step.REGION:
                    segment.end(ops)
                    below += self._nested(row, step[1], ops)
        segment.end(ops)
        if not ops:
            segment.end(ops, always=True)
        self._depend(children)
        return below

    def _child(
        self, row: int, task: RecordedTask, number: int, alone: bool, ops: list[int]
    ) -> tuple[int, int, Steps, bool]:
        child = self._walked.tasks[number]
        included = child.in_place or bool(child.flags & task.flags & TaskFlag.FINAL)
        at_once = alone or included
        self._rows.odd["undeferred tasks, as calls"] += included
        if included and child.dependences:
            self._rows.odd["undeferred tasks with dependences, as calls behind a wait for all children"] += 1
            ops.append(Op.WAIT << ARGUMENT)
        made = self._add(row, Kind.CALL if at_once else Kind.TASK, number)
        ops.append((Op.CALL if at_once else Op.SPAWN) << ARGUMENT | made)
        return made, number, child.steps, alone

    def _nested(self, row: int, region: int, ops: list[int]) -> list[tuple[int, int, Steps, bool]]:
        """Add the implicit tasks of an inner region, all of which the worker that meets the region calls in turn."""
        self._rows.odd["nested parallel regions, executed by the worker that meets them"] += 1
        below: list[tuple[int, int, Steps, bool]] = []
        for _, member in sorted(self._walked.regions[region].members.items()):
            made = self._add(row, Kind.CALL, member)
            ops.append(Op.CALL << ARGUMENT | made)
            below.append((made, member, [*self._walked.tasks[member].steps, (Step.WAIT,)], False))
        return below

    def _depend(self, children: Iterable[int]) -> None:
        """Add the dependences among the children of a row. The children are in the order of their creation."""
        writers: dict[int, list[int]] = {}
        readers: dict[int, list[int]] = {}
        for child in children:
            pairs = self._walked.tasks[child].dependences
            row = self._row_of[child]
            if not pairs or self._rows.kind[row] != Kind.TASK:
                continue
            before: set[int] = set()  # the rows whose end this row waits for
            for address, kind in pairs:
                wrote = writers.get(address, [])
                before.update(wrote if kind == Dependence.IN else readers.get(address) or wrote)
            for address, kind in pairs:
                if kind == Dependence.IN:
                    readers.setdefault(address, []).append(row)
                else:
                    writers[address], readers[address] = [row], []
            self._rows.edges += [(each, row) for each in sorted(before - {row})]

    def _note_flags(self) -> None:
        """Count the properties of tasks that OpenMP reports and that a graph cannot express."""
        for number in self._rows.task:
            flags = self._walked.tasks[number].flags
            self._rows.odd["untied tasks, which no other worker goes on with"] += bool(flags & TaskFlag.UNTIED)
            self._rows.odd["offloads to a device"] += bool(flags & TaskFlag.TARGET)
            for _, kind in self._walked.tasks[number].dependences:
                if kind not in frozenset(Dependence):
                    self._rows.odd["dependences other than in, out and inout, taken as inout"] += 1


_APART = "tasks with dependences made in a chunk of a loop, which are those within the chunk alone"
_OPS: dict[int, int] = {
    Step.WAIT: Op.WAIT,
    Step.GROUP_BEGIN: Op.GROUP,
    Step.GROUP_WAIT: Op.END_GROUP,
    Step.BARRIER: Op.WAIT,  # the barrier of a region that one worker executes
}


class _Segment:
    """The work of a row between two of its ops."""

    def __init__(self, rows: Rows, row: int) -> None:
        self._rows, self._row = rows, row
        self.work_ps = 0
        self.accesses: list[Declared] = []

    def end(self, ops: list[int], *, always: bool = False) -> None:
        """Add an op for the segment, unless the segment is empty."""
        if self.work_ps > 0 or self.accesses or always:
            number = len(self._rows.compute_ps)
            ops.append(Op.RUN << ARGUMENT | number)
            self._rows.compute_ps.append(max(0, self.work_ps))
            self._rows.segment_row.append(self._row)
            if self.accesses:
                self._rows.accesses[number] = self.accesses
        self.work_ps, self.accesses = 0, []


def _with_chunks(steps: Steps) -> Iterable[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    """Return the steps of a thread. A step that begins a chunk comes with the steps of the chunk."""
    chunk: list[tuple[int, ...]] | None = None
    found: list[tuple[tuple[int, ...], list[tuple[int, ...]]]] = []
    for step in steps:
        if step[0] == Step.CHUNK:
            chunk = []
            found.append((step, chunk))
        elif step[0] == Step.CHUNK_END:
            chunk = None
        elif chunk is not None:
            chunk.append(step)
        else:
            found.append((step, []))
    return found


def _cut(steps: Steps) -> tuple[Steps, list[tuple[int, Steps]]]:
    """Return the steps that a thread takes for itself, and the chunks that are dealt out: the place and steps of each.

    Chunks of a dynamic loop are dealt out, since a dynamic loop has many chunks of about the same size. In other loops
    the first chunks are the largest, and have to begin first. So the thread spawns the chunks of other loops and all
    chunks in a group, and other workers take these chunks in their order.
    """
    body: list[tuple[int, ...]] = []
    dealt: list[tuple[int, Steps]] = []
    groups = 0
    for step, chunk in _with_chunks(steps):
        groups += (step[0] == Step.GROUP_BEGIN) - (step[0] == Step.GROUP_WAIT)
        if step[0] == Step.CHUNK and step[2] == Work.LOOP_DYNAMIC and not groups:
            dealt.append((step[1], chunk))
        else:
            body += [step, *chunk, *([(Step.CHUNK_END,)] if step[0] == Step.CHUNK else [])]
    return body, dealt


def _parts(steps: Steps) -> Iterable[list[tuple[int, ...]]]:
    """Yield the steps between barriers."""
    part: list[tuple[int, ...]] = []
    for step in steps:
        if step[0] == Step.BARRIER:
            yield part
            part = []
        else:
            part.append(step)
    yield part
