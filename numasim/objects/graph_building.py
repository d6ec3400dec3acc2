"""A task graph while Python code makes it: tasks, memory, phases, transactions, and the dependences that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, pairwise
from math import prod
from types import TracebackType
from typing import Any, Self

import numpy as np

from numasim.errors import InputError
from numasim.objects.data_dependences import Block, DataRegion, RegionHistory
from numasim.objects.distributions import OnNodes, range_family
from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import LONGEST_PS, MOST_BYTES, MOST_ITEMS, Deal, Mode, Op
from numasim.workload.builder import successors, workload_of
from numasim.workload.forest_arrays import offsets, preorder, ragged
from numasim.workload.graph import I64, Phase, RangeFamily, Region, Workload
from numasim.workload.graph_rules import MOST_NESTED
from numasim.workload.json_form.graph_models import MOST_KERNELS
from numasim.workload.phases import Loop
from numasim.workload.sync_parameters import MAX_PARTIES, MOST_SKEW_PPM, Role, SyncObject

SINGLE = (Block, DataRegion, str)
Data = Block | DataRegion | str  # a name stands for the whole region of that name
Pieces = Data | Iterable[Data]
Access = tuple[int, int, int, int]  # region, offset, bytes, mode
NO_PARENT = -1
_ARGUMENT = 32  # bits of an op's argument, below its code


@dataclass(eq=False)
class GraphPhase:
    """Tasks of a graph that start together when all earlier phases have ended; `Graph.again` runs the tasks again."""

    building: GraphBuilding
    name: str
    repeat: int  # how often the phase runs in a row
    number: int | None = None  # None while the phase has no tasks


@dataclass(frozen=True)
class Objects:
    """A memory of objects, which `Graph.objects` makes; transactions open some of the objects."""

    building: GraphBuilding
    number: int
    name: str


class Task:
    """A task of a `Graph`, which `Graph.task` or another task's `spawn` makes.

    A task in a ``with`` block, or as the first argument of a spawned function, waits at the end for all children that
    the task has not waited for, as a function of Cilk does.
    """

    __slots__ = ("_unsynced", "building", "number")

    def __init__(self, building: GraphBuilding, number: int) -> None:
        """``number`` counts the tasks in the order of their creation."""
        self.building, self.number, self._unsynced = building, number, False

    def work(
        self,
        cost_ns: Any = 0,
        *,
        reads: Pieces = (),
        writes: Pieces = (),
        updates: Pieces = (),
        kernel: str = "",
    ) -> None:
        """Compute for ``cost_ns`` ns and access memory meanwhile, before the task's next step.

        No task waits for these accesses: dependences follow only from the accesses that a task is made with.
        """
        accesses = self.building.accesses(reads, writes, updates)
        self.building.add_segment(self.number, compute_ps(cost_ns), kernel, accesses)

    def spawn(
        self,
        function: Callable[..., Any] | None = None,
        *arguments: Any,
        cost_ns: Any = 0,
        reads: Pieces = (),
        writes: Pieces = (),
        updates: Pieces = (),
        after: Task | Iterable[Task] = (),
        kernel: str = "",
    ) -> Task:
        """Make a child, which any worker may execute from now on, and return the child.

        A ``function`` is called at once with the child and the ``arguments``, and says what the child does. The other
        arguments are those of `Graph.task`. Dependences follow from data only among children of one task.
        """
        self._unsynced = True
        child = self.building.task(self.number, cost_ns, reads, writes, updates, after, kernel)
        if function is not None:
            with child:
                function(child, *arguments)
        return child

    def transaction(self, objects: Objects) -> Transaction:
        """Return a transaction of the task on ``objects``, for a ``with`` block.

        If two transactions conflict, one aborts and begins again with other objects (model 4.11)::

            with task.transaction(accounts) as attempt:
                task.work(300)
                attempt.load()
                task.work(200)
                attempt.store()
        """
        return Transaction(self, objects)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Make a group, for a ``with`` block: at the end the task waits for all tasks that were spawned inside.

        The group holds the children that the task spawns inside and all their descendants, including descendants whose
        parents have ended without waiting for them, as ``taskgroup`` of OpenMP does (model 3.2)::

            with task.group():
                child = task.spawn(cost_ns=100)
                child.spawn(cost_ns=900)
        """
        before = self._unsynced
        self.building.add_op(self.number, Op.GROUP)
        try:
            yield
        finally:
            self.building.add_op(self.number, Op.END_GROUP)
            self._unsynced = self._unsynced and before  # no task that was spawned inside is left

    def sync(self) -> None:
        """Wait until all children spawned so far have finished."""
        if self._unsynced:
            self.building.add_op(self.number, Op.WAIT)
            self._unsynced = False

    def __enter__(self) -> Self:
        """Return the task itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the children that are left."""
        if kind is None:
            self.sync()

    def __repr__(self) -> str:
        """Return the number of the task."""
        return f"Task({self.number})"


class Transaction:
    """A transaction of a task, in a ``with`` block: begins with the block and commits at the end of the block.

    Every attempt repeats all work that the task does inside (`Task.work`).
    """

    def __init__(self, task: Task, objects: Objects) -> None:
        """``objects`` are the objects to open; InputError for objects of another graph."""
        if not isinstance(objects, Objects) or objects.building is not task.building:
            raise InputError(f"got {objects!r} to open", expected="what this graph's objects() returned")
        self._task, self._objects = task, objects

    def load(self, times: int = 1) -> None:
        """Open ``times`` objects to read them; each attempt draws each object."""
        self._use(Op.LOAD, times)

    def store(self, times: int = 1) -> None:
        """Open ``times`` objects to write them; each attempt draws each object."""
        self._use(Op.STORE, times)

    def _use(self, op: Op, times: int = 1) -> None:
        for _ in range(times):
            self._task.building.add_op(self._task.number, op, self._objects.number)

    def __enter__(self) -> Self:
        """Begin."""
        self._use(Op.BEGIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit."""
        self._use(Op.COMMIT)


def compute_ps(cost_ns: Any) -> int:
    """Return a cost in whole picoseconds, rounded; InputError for a negative or too long cost, or for no number."""
    try:
        cost_ps = round(cost_ns * 1000)
        if 0 <= cost_ps <= LONGEST_PS:
            return int(cost_ps)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        pass
    raise InputError(f"the cost of a task is {cost_ns} ns", expected=f"0 to {LONGEST_PS // 1000} ns")


class GraphBuilding:
    """The columns of a graph that grows. Tasks have the numbers of their creation; each change raises ``version``."""

    def __init__(self, name: str) -> None:
        """Begin without tasks; ``name`` is for errors."""
        self.name = name
        self.version = 0
        self.parent: list[int] = []
        self.ranges: dict[int, RangeFamily] = {}  # by phase
        self.words: list[SyncObject] = []
        self._phase: list[int] = []  # of each task
        self._ops: list[list[int]] = []  # of each task, each op as one number
        self._compute_ps: list[int] = []
        self._kernel: list[int] = []
        self._access_count: list[int] = []  # of each segment
        self._accesses: list[int] = []  # four numbers for each access
        self._kernels: dict[str, int] = {}
        self._regions: dict[str, DataRegion] = {}
        self._region_rows: list[Region] = []
        self._edges: list[tuple[int, int]] = []
        self._histories: dict[tuple[int, int, int], RegionHistory] = {}  # by parent, phase and region
        self._at = GraphPhase(self, "", 1)  # the phase of tasks that are added now
        self._phase_count = 0
        self._runs: list[GraphPhase] = []  # phases in the order in which they run
        self._loops: list[Loop] = []  # an open loop ends before its first phase
        self._open: list[int] = []  # numbers of open loops

    # ---- memory ----

    def region(self, name: str, size: int, initialised: bool) -> DataRegion:
        """Add and return a region of memory."""
        if name in self._regions:
            raise InputError(f"the region {name!r} is there already", expected="another name")
        if isinstance(size, bool) or not 1 <= size <= MOST_BYTES:
            raise InputError(f"the region {name!r} has {size} bytes", expected=f"1 to {MOST_BYTES}")
        made = self._regions[name] = DataRegion(self, len(self._regions), name, int(size))
        self._region_rows.append(Region(name, int(size), initialised))
        self.version += 1
        return made

    def objects(self, name: str, count: int, skew: Any, undo_ns: Any, same: bool) -> Objects:
        """Add and return a memory of ``count`` objects; InputError for values that no memory has."""
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_PARTIES:
            raise InputError(f"{name!r} has {count} objects", expected=f"1 to {MAX_PARTIES}")
        try:
            skew_ppm = round(Decimal(str(skew)) * MILLION)
        except ArithmeticError:
            skew_ppm = -1
        if not 0 <= skew_ppm <= MOST_SKEW_PPM:
            raise InputError(f"the skew of {name!r} is {skew}", expected=f"0 to {MOST_SKEW_PPM // MILLION}")
        self.words.append(SyncObject(name, Role.OBJECTS, 0, count, skew_ppm, compute_ps(undo_ns), bool(same)))
        self.version += 1
        return Objects(self, len(self.words) - 1, name)

    def accesses(self, reads: Pieces, writes: Pieces, updates: Pieces) -> list[Access]:
        """Return one access for each piece of memory, with its mode."""
        modes: dict[tuple[int, int, int], int] = {}
        for given, mode in ((reads, Mode.READ), (writes, Mode.WRITE), (updates, Mode.READ_WRITE)):
            if given != ():
                for each in (given,) if isinstance(given, SINGLE) else given:
                    piece = self._piece(each)
                    modes[piece] = modes.get(piece, 0) | int(mode)
        return [(*piece, mode) for piece, mode in modes.items()]

    def _piece(self, given: Any) -> tuple[int, int, int]:
        """Return the region's number, offset and bytes of ``given``, which a task reads or writes."""
        if isinstance(given, str):
            if given not in self._regions:
                expected = f"one of {', '.join(self._regions)}" if self._regions else "a region that region() made"
                raise InputError(
                    f"there is no region {given!r}", expected=expected, value=given, known=list(self._regions)
                )
            given = self._regions[given]
        if isinstance(given, DataRegion):
            given = given.whole
        if not isinstance(given, Block):
            raise InputError(
                f"got {given!r} to read or write", expected="a region, a tile, or bytes such as region[0:64]"
            )
        if given.region.graph is not self:
            raise InputError(f"the region {given.region.name!r} is one of another graph", expected="one of this graph")
        return given.region.number, given.offset, given.size

    # ---- tasks ----

    def task(
        self,
        parent: int,
        cost_ns: Any,
        reads: Pieces,
        writes: Pieces,
        updates: Pieces,
        after: Task | Iterable[Task],
        kernel: str,
    ) -> Task:
        """Add and return a task that ``parent`` spawns now, or a root."""
        cost_ps = compute_ps(cost_ns)
        accesses = self.accesses(reads, writes, updates)
        sources = {each.number for each in self._tasks(after)}
        phase = self._current_phase() if parent == NO_PARENT else self._phase[parent]
        made = len(self.parent)
        self.parent.append(parent)
        self._phase.append(phase)
        self._ops.append([])
        if parent != NO_PARENT:
            self.add_op(parent, Op.SPAWN, made)
        if cost_ps or accesses:
            self.add_segment(made, cost_ps, kernel, accesses)
        for region, offset, size, mode in accesses:
            history = self._histories.setdefault((parent, phase, region), RegionHistory())
            history.access(made, offset, offset + size, mode != Mode.READ, sources)
        for source in sources:
            self._add_edge(source, made)
        self.version += 1
        return Task(self, made)

    def add_op(self, task: int, op: Op, argument: int = 0) -> None:
        """Add an op to the end of a task."""
        self._ops[task].append((op << _ARGUMENT) | argument)
        self.version += 1

    def add_segment(self, task: int, cost_ps: int, kernel: str, accesses: Sequence[Access]) -> None:
        """Let ``task`` compute and access memory."""
        number = self._kernel_number(kernel)
        self.add_op(task, Op.RUN, len(self._compute_ps))
        self._compute_ps.append(cost_ps)
        self._kernel.append(number)
        self._access_count.append(len(accesses))
        for access in accesses:
            self._accesses += access

    def edge(self, before: Task, after: Task) -> None:
        """Let the task ``after`` wait for the end of ``before``."""
        for each in self._tasks((before, after)):
            if before.number == after.number:
                raise InputError(f"task {each.number} waits for itself", expected="two different tasks")
        self._add_edge(before.number, after.number)
        self.version += 1

    def _add_edge(self, source: int, target: int) -> None:
        if self._phase[source] == self._phase[target]:  # a later phase starts after an earlier one anyway
            self._edges.append((source, target))

    def _tasks(self, given: Task | Iterable[Task]) -> Iterable[Task]:
        for each in (given,) if isinstance(given, Task) else given:
            if not isinstance(each, Task) or each.building is not self:
                what = f"a task of another graph than {self.name!r}" if isinstance(each, Task) else repr(each)
                raise InputError(f"got {what} to wait for", expected="tasks that this graph's task() returned")
            yield each

    def _kernel_number(self, name: str) -> int:
        if name not in self._kernels and len(self._kernels) == MOST_KERNELS:
            raise InputError(f"{name!r} is one kernel too many", expected=f"at most {MOST_KERNELS} kernels")
        return self._kernels.setdefault(name, len(self._kernels))

    # ---- phases, ranges and loops (model 3.5 and 3.6) ----

    def range(
        self,
        count: Any,
        compute_ns: Any,
        on_nodes: Mapping[Mode, OnNodes],
        returned: Any,
        pages: Mapping[str, Any],
        pattern: str,
        kernel: str,
    ) -> None:
        """Add a range of items to the current phase."""
        if self._at.number in self.ranges:
            raise InputError("the phase has a range already", expected="barrier() or phase() before the next one")
        number = self._kernel_number(kernel)
        family = range_family("items", count, compute_ns, on_nodes, returned, pages, pattern, number)
        self.ranges[self._current_phase()] = family
        self.version += 1

    def phase(self, name: str = "", repeat: int = 1) -> GraphPhase:
        """Begin and return a new phase; the phase runs once it has a task or a range."""
        self._require_times(repeat)
        self._at = GraphPhase(self, name, repeat)
        self.version += 1
        return self._at

    def again(self, phase: GraphPhase) -> None:
        """Run the tasks of an earlier phase again."""
        if not isinstance(phase, GraphPhase) or phase.building is not self:
            raise InputError(f"got {phase!r} to run again", expected="what phase() of this graph returned")
        if phase.number is None:
            raise InputError(f"the phase {phase.name!r} has no tasks", expected="a phase that task() has added some to")
        self._require_times(phase.repeat)
        self._runs.append(phase)
        self.phase()

    @contextmanager
    def loop(self, repeat: int) -> Iterator[None]:
        """Repeat the phases that are added inside; InputError for a loop without phases."""
        self._require_times(repeat)
        if len(self._open) == MOST_NESTED:
            raise InputError("loops are nested too deep", expected=f"at most {MOST_NESTED} in each other")
        self.phase()
        number, first = len(self._loops), len(self._runs)
        self._loops.append(Loop(first, first, repeat))
        self._open.append(number)
        yield
        if len(self._runs) == first:
            raise InputError("the loop is empty", expected="at least one task in it")
        self._loops[number] = Loop(first, len(self._runs), repeat)
        self._open.pop()
        self.phase()

    def _current_phase(self) -> int:
        """Return the number of the phase that a task or range is added to."""
        if self._at.number is None:
            self._at.number = self._phase_count
            self._phase_count += 1
            self._runs.append(self._at)
        return self._at.number

    def _require_times(self, repeat: int) -> None:
        if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
            raise InputError(f"got {repeat!r} as the number of repeats", expected="a whole number from 1 on")
        runs = repeat * prod(self._loops[number].repeat for number in self._open)
        if runs > MOST_ITEMS:
            raise InputError(
                f"the phases would run {runs:,} times", expected=f"at most {MOST_ITEMS:,} times, with the loops around"
            )

    # ---- the finished graph ----

    def finished(self, name: str, deal: Deal) -> Workload:
        """Return the workload of everything so far. The workload's tasks are numbered depth first."""
        parent = np.array(self.parent, np.int64)
        order = preorder(parent)
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        op_ptr, codes, arguments, segments = self._programs(order, position)
        count = np.array(self._access_count, np.int64)
        rows = ragged(offsets(count)[:-1][segments], count[segments])
        columns = np.array(self._accesses, np.int64).reshape(-1, 4)[rows].T
        source, target = position[np.array(self._edges, np.int64).reshape(-1, 2)].T
        return workload_of(
            name,
            kernels=tuple(self._kernels) or ("",),
            regions=self._region_rows,
            phases=self._phases(position, parent, deal),
            loops=self._loops_so_far(),
            ranges=tuple(self.ranges.values()),
            op_ptr=op_ptr,
            op_code=codes,
            op_arg=arguments,
            parent=np.where(parent < 0, -1, position[parent])[order],
            compute_ps=np.array(self._compute_ps, np.int64)[segments],
            kernel=np.array(self._kernel, np.uint8)[segments],
            accesses=(
                offsets(count[segments]),
                dict(zip(("region", "offset", "row_bytes", "mode"), columns, strict=True)),
            ),
            successors=successors(source, target, len(parent)),
            words=tuple(self.words),
        )

    def _programs(self, order: I64, position: I64) -> tuple[I64, I64, I64, I64]:
        """Return (op_ptr, op_code, op_arg) of the tasks in ``order``, and the segments in the order of the ops."""
        lengths = np.fromiter(map(len, self._ops), np.int64, len(self._ops))
        flat = np.fromiter(chain.from_iterable(self._ops), np.int64, int(lengths.sum()))
        flat = flat[ragged(offsets(lengths)[:-1][order], lengths[order])]
        codes, arguments = flat >> _ARGUMENT, flat & ((1 << _ARGUMENT) - 1)
        spawns, runs = codes == Op.SPAWN, codes == Op.RUN
        arguments[spawns] = position[arguments[spawns]]
        segments = arguments[runs]
        arguments[runs] = np.arange(len(segments))
        return offsets(lengths[order]), codes, arguments, segments

    def _phases(self, position: I64, parent: I64, deal: Deal) -> Iterator[Phase]:
        roots = np.flatnonzero(parent < 0)
        phase = np.array(self._phase, np.int64)[roots]  # ascends: roots are added phase by phase
        numbers = [run.number for run in self._runs if run.number is not None]
        first = np.searchsorted(phase, np.arange(max(numbers) + 2))
        tasks = [tuple(position[roots[low:high]].tolist()) for low, high in pairwise(first.tolist())]
        families = {number: family for family, number in enumerate(self.ranges)}
        for number, run in zip(numbers, self._runs, strict=True):
            yield Phase(tasks[number], families.get(number), deal, repeat=run.repeat, name=run.name)

    def _loops_so_far(self) -> tuple[Loop, ...]:
        """Return the loops as `Workload.loops`; an open loop ends with the last phase so far."""
        ends = {number: len(self._runs) for number in self._open}
        closed = (Loop(each.first, ends.get(at, each.end), each.repeat) for at, each in enumerate(self._loops))
        return tuple(each for each in closed if each.first < each.end)
