"""A task graph that grows while Python code adds tasks, memory, phases and transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from math import prod
from typing import Any, Self

import numpy as np

from numasim.errors import InputError
from numasim.objects.data_dependences import Block, DataRegion, RegionHistory, Tiles
from numasim.objects.distributions import OnNodes, range_family
from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import LONGEST_PS, MOST_BYTES, MOST_ITEMS, Deal, Mode, Op
from numasim.workload.builder import ARGUMENT, depth_first, programs_of, successors, workload_of
from numasim.workload.forest_arrays import offsets, ragged
from numasim.workload.graph import I64, Phase, RangeFamily, Region, Workload
from numasim.workload.graph_rules import MOST_NESTED
from numasim.workload.json_form.graph_models import MOST_KERNELS
from numasim.workload.phases import Loop
from numasim.workload.sync_parameters import MAX_PARTIES, MOST_SKEW_PPM, Role, SyncObject

SINGLE = (Block, DataRegion, str)
Data = Block | DataRegion | str  # a name stands for the whole region of that name
Pieces = Data | Iterable[Data]
ThreeOfPieces = tuple[Pieces, Pieces, Pieces]  # that a task reads, writes and updates
Access = tuple[int, int, int, int]
ACCESS_COLUMNS = ("region", "offset", "row_bytes", "mode")  # of an `Access`
NO_PARENT = -1
NOTHING: OnNodes = {}


@dataclass(eq=False)
class GraphPhase:
    """Tasks of a graph that start together, after all earlier phases; `Graph.again` runs these tasks again."""

    graph: GrowingGraph = field(repr=False)
    name: str
    repeat: int  # how often the phase runs in a row
    serial: bool = False  # worker 0 works alone, while the other workers wait
    number: int | None = None  # None while the phase has no tasks


@dataclass(frozen=True)
class Objects:
    """A memory of objects, which `Graph.objects` makes; transactions open some of the objects."""

    graph: GrowingGraph = field(repr=False)
    number: int
    name: str


class Task:
    """A task of a `Graph`, which `Graph.task` or `spawn` of another task makes.

    At the end of a ``with`` block of the task, and at the end of a spawned function, the task waits for all its
    children for which it has not waited yet, as at the end of a function of Cilk.
    """

    __slots__ = ("_unsynced", "graph", "number")

    def __init__(self, graph: GrowingGraph, number: int) -> None:
        """Make task ``number``, counted in the order of creation."""
        self.graph, self.number, self._unsynced = graph, number, False

    def work(
        self,
        cost_ns: Any = 0,
        *,
        reads: Pieces = (),
        writes: Pieces = (),
        updates: Pieces = (),
        kernel: str = "",
    ) -> None:
        """Add a step: the task computes for ``cost_ns`` ns and accesses memory meanwhile.

        No task waits for these accesses: dependences follow only from the accesses given when a task is made.
        """
        accesses = self.graph._accesses_of((reads, writes, updates))
        self.graph._add_segment(self.number, compute_ps(cost_ns), kernel, accesses)

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
        """Make a child, which any worker may execute from this step on, and return the child.

        A ``function`` is called at once with the child and the ``arguments``, and adds the steps of the child. The
        other arguments are those of `Graph.task`. Dependences follow from data only among children of one task.
        """
        self._unsynced = True
        child = self.graph._add_task(self.number, cost_ns, (reads, writes, updates), after, kernel)
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
        """Make a group, for a ``with`` block: at the end the task waits for all tasks of the group.

        The group has the children that the task spawns inside the block and all their descendants, also if the parent
        of a descendant ends without waiting, as ``taskgroup`` of OpenMP does (model 3.2)::

            with task.group():
                child = task.spawn(cost_ns=100)
                child.spawn(cost_ns=900)
        """
        before = self._unsynced
        self.graph._add_op(self.number, Op.GROUP)
        try:
            yield
        finally:
            self.graph._add_op(self.number, Op.END_GROUP)
            self._unsynced = self._unsynced and before  # no task that was spawned inside is left

    def sync(self) -> None:
        """Wait until all children spawned so far have finished."""
        if self._unsynced:
            self.graph._add_op(self.number, Op.WAIT)
            self._unsynced = False

    def __enter__(self) -> Self:
        """Return the task itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for all children for which the task has not waited yet, unless the block ended with an error."""
        if kind is None:
            self.sync()

    def __repr__(self) -> str:
        """Return the number of the task."""
        return f"Task({self.number})"


class Transaction:
    """A transaction of a task, for a ``with`` block: begins with the block and commits at the end of the block.

    Every attempt repeats all work that the task does inside (`Task.work`).
    """

    def __init__(self, task: Task, objects: Objects) -> None:
        """Make a transaction that opens ``objects``; raise InputError for objects of another graph."""
        if not isinstance(objects, Objects) or objects.graph is not task.graph:
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
            self._task.graph._add_op(self._task.number, op, self._objects.number)

    def __enter__(self) -> Self:
        """Begin the transaction."""
        self._use(Op.BEGIN)
        return self

    def __exit__(self, *_: object) -> None:
        """Commit the transaction."""
        self._use(Op.COMMIT)


def compute_ps(cost_ns: Any) -> int:
    """Return a cost in whole picoseconds, rounded; InputError unless the cost is a number within bounds."""
    try:
        cost_ps = round(cost_ns * 1000)
        if 0 <= cost_ps <= LONGEST_PS:
            return int(cost_ps)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        pass
    raise InputError(f"the cost of a task is {cost_ns} ns", expected=f"0 to {LONGEST_PS // 1000} ns")


class GrowingGraph:
    """The part of a `Graph` to which Python code adds tasks: the columns of the graph, one entry for each task or op.

    Tasks are numbered in the order of their creation. A whole graph, such as a graph of a file, refuses additions.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._whole = False
        self._version = 0  # the number of changes
        self._parent: list[int] = []
        self._ranges: dict[int, RangeFamily] = {}  # by phase
        self._words: list[SyncObject] = []
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
        self._open_loops: list[int] = []  # numbers of open loops

    def _change(self) -> None:
        """Count a change. Raises InputError for a graph that is whole."""
        if self._whole:
            raise InputError(f"the graph {self._name!r} is whole", expected="a new ns.Graph(), to add to")
        self._version += 1

    # ---- memory ----

    def region(self, name: str, size: int, *, initialised: bool = True) -> DataRegion:
        """Return a new region of ``size`` bytes; ``region[a:b]`` is a part that tasks can read and write.

        The master writes an ``initialised`` region before tasks start; else the first access places each page.
        """
        self._change()
        if name in self._regions:
            raise InputError(f"the region {name!r} is there already", expected="another name")
        if isinstance(size, bool) or not 1 <= size <= MOST_BYTES:
            raise InputError(f"the region {name!r} has {size} bytes", expected=f"1 to {MOST_BYTES}")
        made = self._regions[name] = DataRegion(self, len(self._regions), name, int(size))
        self._region_rows.append(Region(name, int(size), initialised))
        return made

    def tiles(self, name: str, rows: int, columns: int, *, tile_bytes: int, initialised: bool = True) -> Tiles:
        """Return a new region of ``rows`` x ``columns`` tiles; ``tiles[i, j]`` is a tile to read and write."""
        if min(rows, columns) < 1:
            raise InputError(f"{name!r} has {rows} x {columns} tiles", expected="at least one")
        return Tiles(self.region(name, rows * columns * tile_bytes, initialised=initialised), rows, columns, tile_bytes)

    def objects(self, name: str, count: int, *, skew: Any = 0, undo_ns: Any = 0, same: bool = False) -> Objects:
        """Return a new memory of ``count`` objects, which transactions of tasks open (`Task.transaction`).

        Objects are drawn by Zipf's law of exponent ``skew``; with 0 all objects are equally likely. An aborted attempt
        takes ``undo_ns`` more, at least a nanosecond. The next attempt opens other objects, or the ``same`` objects
        again.
        """
        self._change()
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_PARTIES:
            raise InputError(f"{name!r} has {count} objects", expected=f"1 to {MAX_PARTIES}")
        try:
            skew_ppm = round(Decimal(str(skew)) * MILLION)
        except ArithmeticError:
            skew_ppm = -1
        if not 0 <= skew_ppm <= MOST_SKEW_PPM:
            raise InputError(f"the skew of {name!r} is {skew}", expected=f"0 to {MOST_SKEW_PPM // MILLION}")
        self._words.append(SyncObject(name, Role.OBJECTS, 0, count, skew_ppm, compute_ps(undo_ns), bool(same)))
        return Objects(self, len(self._words) - 1, name)

    def _accesses_of(self, pieces: ThreeOfPieces) -> list[Access]:
        """Return one access for each piece of memory that is read, written or updated, with its mode."""
        modes: dict[tuple[int, int, int], int] = {}
        for given, mode in zip(pieces, (Mode.READ, Mode.WRITE, Mode.READ_WRITE), strict=True):
            if given != ():
                for each in (given,) if isinstance(given, SINGLE) else given:
                    piece = self._piece(each)
                    modes[piece] = modes.get(piece, 0) | int(mode)
        return [(*piece, mode) for piece, mode in modes.items()]

    def _piece(self, given: Any) -> tuple[int, int, int]:
        """Return (region's number, offset, bytes) of a piece of memory; a name or a region stands for all its bytes."""
        if isinstance(given, str):
            if given not in self._regions:
                expected = None if self._regions else "a region that region() made"
                raise InputError(f"there is no region {given!r}", expected=expected, value=given, known=self._regions)
            given = self._regions[given]
        if isinstance(given, DataRegion):
            given = given.whole
        if not isinstance(given, Block):
            expected = "a region, a tile, or bytes such as region[0:64]"
            raise InputError(f"got {given!r} to read or write", expected=expected)
        if given.region.graph is not self:
            raise InputError(f"the region {given.region.name!r} is one of another graph", expected="one of this graph")
        return given.region.number, given.offset, given.size

    # ---- tasks ----

    def task(
        self,
        cost_ns: Any = 0,
        *,
        reads: Pieces = (),
        writes: Pieces = (),
        updates: Pieces = (),
        after: Task | Iterable[Task] = (),
        kernel: str = "",
    ) -> Task:
        """Add a task that no task spawns, and return the task.

        The task computes for ``cost_ns`` ns (rounded to whole ps) and reads and writes memory meanwhile: regions, parts
        of regions, tiles, or names of regions; ``updates`` are both read and written. The task waits for the tasks
        ``after``, for earlier tasks that write memory that this task accesses, and for earlier tasks that access memory
        that this task writes. ``kernel`` is the kind of work in kernel rates and results.
        """
        return self._add_task(NO_PARENT, cost_ns, (reads, writes, updates), after, kernel)

    def _add_task(
        self, parent: int, cost_ns: Any, pieces: ThreeOfPieces, after: Task | Iterable[Task], kernel: str
    ) -> Task:
        """Add and return a task that ``parent`` spawns now, or a root."""
        self._change()
        cost_ps = compute_ps(cost_ns)
        accesses = self._accesses_of(pieces)
        sources = {each.number for each in self._tasks(after)}
        phase = self._current_phase() if parent == NO_PARENT else self._phase[parent]
        made = len(self._parent)
        self._parent.append(parent)
        self._phase.append(phase)
        self._ops.append([])
        if parent != NO_PARENT:
            self._add_op(parent, Op.SPAWN, made)
        if cost_ps or accesses:
            self._add_segment(made, cost_ps, kernel, accesses)
        for region, offset, size, mode in accesses:
            history = self._histories.setdefault((parent, phase, region), RegionHistory())
            history.access(made, offset, offset + size, mode != Mode.READ, sources)
        for source in sources:
            self._add_edge(source, made)
        return Task(self, made)

    def _add_op(self, task: int, op: Op, argument: int = 0) -> None:
        """Add an op to the end of a task."""
        self._change()
        self._ops[task].append((op << ARGUMENT) | argument)

    def _add_segment(self, task: int, cost_ps: int, kernel: str, accesses: Sequence[Access]) -> None:
        """Let ``task`` compute and access memory."""
        number = self._kernel_number(kernel)
        self._add_op(task, Op.RUN, len(self._compute_ps))
        self._compute_ps.append(cost_ps)
        self._kernel.append(number)
        self._access_count.append(len(accesses))
        for access in accesses:
            self._accesses += access

    def edge(self, before: Task, after: Task) -> None:
        """Let the task ``after`` wait for the end of ``before``."""
        self._change()
        for each in self._tasks((before, after)):
            if before.number == after.number:
                raise InputError(f"task {each.number} waits for itself", expected="two different tasks")
        self._add_edge(before.number, after.number)

    def _add_edge(self, source: int, target: int) -> None:
        if self._phase[source] == self._phase[target]:  # a later phase starts after an earlier one anyway
            self._edges.append((source, target))

    def _tasks(self, given: Task | Iterable[Task]) -> Iterable[Task]:
        for each in (given,) if isinstance(given, Task) else given:
            if not isinstance(each, Task) or each.graph is not self:
                what = f"a task of another graph than {self._name!r}" if isinstance(each, Task) else repr(each)
                raise InputError(f"got {what} to wait for", expected="tasks that this graph's task() returned")
            yield each

    def _kernel_number(self, name: str) -> int:
        if name not in self._kernels and len(self._kernels) == MOST_KERNELS:
            raise InputError(f"{name!r} is one kernel too many", expected=f"at most {MOST_KERNELS} kernels")
        return self._kernels.setdefault(name, len(self._kernels))

    # ---- phases, ranges and loops (model 3.5 and 3.6) ----

    def range(
        self,
        count: int,
        compute_ns: Any = 0,
        *,
        reads: OnNodes = NOTHING,
        writes: OnNodes = NOTHING,
        updates: OnNodes = NOTHING,
        fresh: Any = None,
        freed: Any = None,
        returned: float | Decimal = 0,
        pattern: str = "sequential",
        kernel: str = "",
    ) -> None:
        """Add a range of ``count`` items, which are tasks without rows of their own, to the current phase.

        An item computes for ``compute_ns`` ns: a number, an array with a number for each item, or a `Distribution` from
        which every run draws. ``reads``, ``writes`` and ``updates`` map nodes of the machine to the bytes that an item
        reads or writes on the node, in the same forms: ``{0: sizes, 1: 64}``. The nodes of a tuple have equal parts of
        an item's bytes; a repeated node has a part for each mention. No cache serves these bytes, and no task waits for
        these accesses. ``pattern`` is the order of the accesses: sequential, strided, random or chase. ``fresh`` are
        bytes of memory that an item touches for the first time, each page with a page fault; ``freed`` are bytes that
        an item gives back; both have the forms of ``compute_ns``. ``returned``, from 0 to 1, is the part that an item
        gives back of the memory of its bytes on nodes (model 3.5). A phase has at most one range.
        """
        self._change()
        on_nodes = {Mode.READ: reads, Mode.WRITE: writes, Mode.READ_WRITE: updates}
        pages = {"fresh": fresh, "freed": freed}
        if self._at.number in self._ranges:
            raise InputError("the phase has a range already", expected="barrier() or phase() before the next one")
        number = self._kernel_number(kernel)
        family = range_family("items", count, compute_ns, on_nodes, returned, pages, pattern, number)
        self._ranges[self._current_phase()] = family

    def barrier(self) -> None:
        """Begin a new phase: tasks added from now on start when all earlier tasks have ended."""
        self.phase()

    def phase(self, name: str = "", *, repeat: int = 1, serial: bool = False) -> GraphPhase:
        """Begin a new phase, as `barrier` does, and return the phase, which `again` takes.

        Results and changes of the placement refer to the ``name``. A phase with a task or a range runs ``repeat`` times
        in a row. In a ``serial`` phase worker 0 works alone, while the other workers wait.
        """
        self._change()
        self._require_times(repeat)
        self._at = GraphPhase(self, name, repeat, serial)
        return self._at

    def again(self, phase: GraphPhase) -> None:
        """Run the tasks of an earlier phase again in a new phase, when all earlier tasks have ended."""
        self._change()
        if not isinstance(phase, GraphPhase) or phase.graph is not self:
            raise InputError(f"got {phase!r} to run again", expected="what phase() of this graph returned")
        if phase.number is None:
            raise InputError(f"the phase {phase.name!r} has no tasks", expected="a phase that task() has added some to")
        self._require_times(phase.repeat)
        self._runs.append(phase)
        self.phase()

    @contextmanager
    def loop(self, repeat: int) -> Iterator[None]:
        """Repeat ``repeat`` times the phases that are added inside a ``with`` block; loops may be nested.

        Two sweeps over two grids, from one into the other and back::

            with graph.loop(100):
                for part in parts:
                    graph.task(800, reads=old[part], writes=new[part])
                graph.barrier()
                for part in parts:
                    graph.task(800, reads=new[part], writes=old[part])

        Raise InputError for a loop without tasks. No barrier is needed before and behind the loop.
        """
        self._require_times(repeat)
        if len(self._open_loops) == MOST_NESTED:
            raise InputError("loops are nested too deep", expected=f"at most {MOST_NESTED} in each other")
        self.phase()
        number, first = len(self._loops), len(self._runs)
        self._loops.append(Loop(first, first, repeat))
        self._open_loops.append(number)
        yield
        if len(self._runs) == first:
            raise InputError("the loop is empty", expected="at least one task in it")
        self._loops[number] = Loop(first, len(self._runs), repeat)
        self._open_loops.pop()
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
        runs = repeat * prod(self._loops[number].repeat for number in self._open_loops)
        if runs > MOST_ITEMS:
            expected = f"at most {MOST_ITEMS:,} times, with the loops around"
            raise InputError(f"the phases would run {runs:,} times", expected=expected)

    # ---- the finished graph ----

    def _workload_so_far(self, deal: Deal) -> Workload:
        """Return the workload of everything so far. The workload's tasks are numbered depth first."""
        above = np.array(self._parent, np.int64)
        order, position, parent = depth_first(above)
        op_ptr, codes, arguments, segments = programs_of(self._ops, order, position)
        count = np.array(self._access_count, np.int64)
        rows = ragged(offsets(count)[:-1][segments], count[segments])
        columns = np.array(self._accesses, np.int64).reshape(-1, 4)[rows].T
        source, target = position[np.array(self._edges, np.int64).reshape(-1, 2)].T
        ends = dict.fromkeys(self._open_loops, len(self._runs))  # an open loop ends with the last phase so far
        closed = (Loop(each.first, ends.get(at, each.end), each.repeat) for at, each in enumerate(self._loops))
        return workload_of(
            self._name,
            kernels=tuple(self._kernels) or ("",),
            regions=self._region_rows,
            phases=self._phases(position, above, deal),
            loops=[each for each in closed if each.first < each.end],
            ranges=tuple(self._ranges.values()),
            op_ptr=op_ptr,
            op_code=codes,
            op_arg=arguments,
            parent=parent,
            compute_ps=np.array(self._compute_ps, np.int64)[segments],
            kernel=np.array(self._kernel, np.uint8)[segments],
            accesses=(offsets(count[segments]), dict(zip(ACCESS_COLUMNS, columns, strict=True))),
            successors=successors(source, target, len(parent)),
            words=self._words,
        )

    def _phases(self, position: I64, parent: I64, deal: Deal) -> Iterator[Phase]:
        roots = np.flatnonzero(parent < 0)
        phase = np.array(self._phase, np.int64)[roots]  # ascends: roots are added phase by phase
        numbers = [run.number for run in self._runs if run.number is not None]
        first = np.searchsorted(phase, np.arange(max(numbers) + 2))
        tasks = [tuple(position[roots[low:high]].tolist()) for low, high in pairwise(first.tolist())]
        families = {number: family for family, number in enumerate(self._ranges)}
        for number, run in zip(numbers, self._runs, strict=True):
            yield Phase(tasks[number], families.get(number), deal, run.serial, run.repeat, run.name)
