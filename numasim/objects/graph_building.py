"""A task graph while it is made: checks of what the user gives, and the dependences that follow from data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from numasim.errors import InputError
from numasim.objects.data_dependences import Block, DataRegion, RegionHistory
from numasim.objects.graph_draft import NO_PARENT, GraphDraft, compute_ps
from numasim.objects.graph_phases import GraphPhase, PhaseOrder
from numasim.objects.graph_ranges import OnNodes, range_family
from numasim.objects.graph_task import Pieces, Task
from numasim.objects.graph_transactions import Objects, memory_of
from numasim.schema.enumerations import MOST_BYTES, Mode, Op
from numasim.workload.graph import Region
from numasim.workload.json_form.graph_models import MOST_KERNELS

SINGLE = (Block, DataRegion, str)
READ, WRITE, UPDATE = int(Mode.READ), int(Mode.WRITE), int(Mode.READ_WRITE)
Access = tuple[int, int, int, int]  # region, offset, bytes, mode


class GraphBuilding:
    """The tasks and regions of a graph so far; ``version`` changes with each of them."""

    def __init__(self, name: str) -> None:
        """Begin with nothing; ``name`` is for errors."""
        self.name = name
        self.draft = GraphDraft()
        self.version = 0
        self.phases = PhaseOrder()
        self._regions: dict[str, DataRegion] = {}
        self._histories: dict[tuple[int, int, int], RegionHistory] = {}  # by parent, phase and region

    def region(self, name: str, size: int, initialised: bool) -> DataRegion:
        """Add a region of memory."""
        if name in self._regions:
            raise InputError(f"the region {name!r} is there already", expected="another name")
        if isinstance(size, bool) or not 1 <= size <= MOST_BYTES:
            raise InputError(f"the region {name!r} has {size} bytes", expected=f"1 to {MOST_BYTES}")
        made = DataRegion(self, len(self._regions), name, int(size))
        self._regions[name] = made
        self.draft.regions.append(Region(name, int(size), initialised))
        self.version += 1
        return made

    def objects(self, name: str, count: int, skew: Any, undo_ns: Any, same: bool) -> Objects:
        """Add a memory of objects."""
        self.draft.words.append(memory_of(name, count, skew, undo_ns, same))
        self.version += 1
        return Objects(self, len(self.draft.words) - 1, name)

    def use(self, task: int, op: Op, word: int) -> None:
        """Add an op on a synchronisation object to the end of a task."""
        self.draft.add_use(task, op, word)
        self.version += 1

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
        """Add a task that ``parent`` spawns now, or a root."""
        cost_ps = compute_ps(cost_ns)
        accesses = self._accesses(reads, writes, updates)
        before = [each.number for each in self._tasks(after)]
        phase = self.phases.number() if parent == NO_PARENT else self.draft.phase[parent]
        made = self.draft.add_task(parent, phase)
        if cost_ps or accesses:
            self._segment(made, cost_ps, kernel, accesses)
        for source in self._sources(parent, phase, made, accesses).union(before):
            self.draft.add_edge(source, made)
        self.version += 1
        return Task(self, made)

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
        """Add a range of items to the phase at hand."""
        phase = self.phases.at.number
        if phase is not None and phase in self.draft.ranges:
            raise InputError("the phase has a range already", expected="barrier() or phase() before the next one")
        family = range_family("items", count, compute_ns, on_nodes, returned, pages, pattern, self._kernel(kernel))
        self.draft.add_range(self.phases.number(), family)
        self.version += 1

    def work(self, task: int, cost_ns: Any, reads: Pieces, writes: Pieces, updates: Pieces, kernel: str) -> None:
        """Add a segment to the end of a task."""
        self._segment(task, compute_ps(cost_ns), kernel, self._accesses(reads, writes, updates))
        self.version += 1

    def wait(self, task: int) -> None:
        """Let a task wait for its children."""
        self.draft.add_wait(task)
        self.version += 1

    def group(self, task: int, op: Op) -> None:
        """Let a task begin a group, or end it."""
        self.draft.add_group(task, op)
        self.version += 1

    def edge(self, before: Task, after: Task) -> None:
        """Let one task wait for the end of another."""
        for each in self._tasks((before, after)):
            if before.number == after.number:
                raise InputError(f"task {each.number} waits for itself", expected="two different tasks")
        self.draft.add_edge(before.number, after.number)
        self.version += 1

    def phase(self, name: str, repeat: int) -> GraphPhase:
        """Begin a new phase: the tasks of the graph from now on start when all before have ended."""
        self.version += 1
        return self.phases.begin(name, repeat)

    def again(self, phase: GraphPhase) -> None:
        """Run a phase again."""
        self.version += 1
        self.phases.again(phase)

    @contextmanager
    def loop(self, repeat: int) -> Iterator[None]:
        """Repeat what is added inside."""
        with self.phases.loop(repeat):
            yield
        self.version += 1

    def _segment(self, task: int, cost_ps: int, kernel: str, accesses: list[Access]) -> None:
        self.draft.add_segment(task, cost_ps, self._kernel(kernel), accesses)

    def _kernel(self, name: str) -> int:
        """The number of a kernel."""
        if name not in self.draft.kernels and len(self.draft.kernels) == MOST_KERNELS:
            raise InputError(f"{name!r} is one kernel too many", expected=f"at most {MOST_KERNELS} kernels")
        return self.draft.kernels.setdefault(name, len(self.draft.kernels))

    def _tasks(self, given: Task | Iterable[Task]) -> Iterable[Task]:
        for each in (given,) if isinstance(given, Task) else given:
            if not isinstance(each, Task) or each.building is not self:
                what = f"a task of another graph than {self.name!r}" if isinstance(each, Task) else repr(each)
                raise InputError(f"got {what} to wait for", expected="tasks that this graph's task() returned")
            yield each

    def _accesses(self, reads: Pieces, writes: Pieces, updates: Pieces) -> list[Access]:
        modes: dict[tuple[int, int, int], int] = {}
        for given, mode in ((reads, READ), (writes, WRITE), (updates, UPDATE)):
            if given != ():
                for each in (given,) if isinstance(given, SINGLE) else given:
                    piece = self._piece(each)
                    modes[piece] = modes.get(piece, 0) | mode
        return [(*piece, mode) for piece, mode in modes.items()]

    def _piece(self, given: Any) -> tuple[int, int, int]:
        """The region's number, offset and bytes of what is read or written."""
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

    def _sources(self, parent: int, phase: int, task: int, accesses: list[Access]) -> set[int]:
        """The tasks that ``task`` waits for because of what they and it access."""
        found: set[int] = set()
        for region, offset, size, mode in accesses:
            key = (parent, phase, region)
            history = self._histories.get(key)
            if history is None:
                history = self._histories[key] = RegionHistory()
            history.access(task, offset, offset + size, mode != READ, found)
        return found
