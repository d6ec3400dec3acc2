"""A task graph as an object of Python: built task by task, made from arrays or networkx, or read from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from numasim.errors import InputError
from numasim.html import Html, names_and_values, panel
from numasim.objects.graph_arrays import check_acyclic, costs_ps, edge_columns, pipeline, plain_graph
from numasim.objects.graph_building import GrowingGraph
from numasim.parts.yaml.nodes import Held
from numasim.schema.enumerations import Deal, Op
from numasim.workload.graph import Workload
from numasim.workload.parameters import WorkloadGraph

if TYPE_CHECKING:
    import networkx as nx
    import numpy.typing as npt

    from numasim.objects.machine_object import Machine
    from numasim.parts.models.machine_model import MachineSpec

DEALS = {deal.name.lower(): deal for deal in Deal}
MOST_DRAWN = 60  # tasks
MOST_MEASURED = 200_000  # most tasks of a graph for which a notebook shows work and span


class Graph(GrowingGraph, Held):
    """A program of tasks, with costs, memory and dependences.

    `task` adds a task, which waits for the tasks given as ``after`` and for tasks that access the same memory. A task
    may spawn children and wait for the children. The finished graph is given as ``workload=`` to `numasim.run` and
    `numasim.sweep`, alone or among the values of an axis.

    Tasks that no task spawns start together. ``deal="master"`` gives these tasks to worker 0, which puts the tasks into
    its queue; ``"cyclic"`` deals the tasks to all workers in turn, ``"block"`` in blocks. A task that waits for other
    tasks starts when the other tasks have ended. Creating a task at the start takes no time.
    """

    part = "workload"

    def __init__(self, name: str = "graph", *, deal: str = "master") -> None:
        """Begin a graph without tasks; raise InputError for an unknown ``deal``."""
        if deal not in DEALS:
            raise InputError(f"there is no deal {deal!r}", value=deal, known=DEALS)
        super().__init__(name)
        self._deal = DEALS[deal]
        self._made: tuple[int, Workload] | None = None  # (number of changes, graph) of the last finished graph
        self.names: tuple[str, ...] = ()  # names of the tasks of an imported graph, by number
        self.remarks: tuple[str, ...] = ()  # data that an import leaves out or assumes

    @classmethod
    def _of(cls, workload: Workload) -> Self:
        made = cls(workload.name)
        made._whole, made._made = True, (0, workload)
        return made

    # ---- other ways to make a graph ----

    @classmethod
    def fork_join(cls, function: Callable[..., Any], *arguments: Any, name: str | None = None) -> Self:
        """Return the tree of tasks of ``function(task, *arguments)``.

        Each function is called once, at its spawn. Raise InputError if calls are nested too deep::

            def fib(task, n):
                if n < 2:
                    return task.work(100)
                task.work(50)
                task.spawn(fib, n - 1)
                task.spawn(fib, n - 2)
                task.sync()
                task.work(50)

            graph = ns.Graph.fork_join(fib, 10)
        """
        if not callable(function):
            raise InputError(f"got {function!r}", expected="a function, whose first argument is its task")
        graph = cls(getattr(function, "__name__", "fork-join") if name is None else name)
        try:
            with graph.task() as root:
                function(root, *arguments)
        except RecursionError:
            expected = "fewer levels, or a larger sys.setrecursionlimit()"
            raise InputError(f"the tasks of {graph.name!r} are nested too deep", expected=expected) from None
        return graph

    @classmethod
    def pipeline(
        cls,
        stages: Sequence[Any],
        items: int,
        *,
        name: str = "pipeline",
        item_bytes: int = 0,
        most_items: int | None = None,
    ) -> Self:
        """Return the graph of ``items`` items that go through ``stages``: a task for each item and stage, item by item.

        A stage is a `Stage`, or a number: the cost in ns of a parallel stage. ``item_bytes`` is the memory of each
        item, which the first stage writes and the other stages read and write. At most ``most_items`` items are under
        way at a time (default: any number).
        """
        return cls._of(pipeline(stages, items, name, item_bytes, most_items))

    @classmethod
    def from_edges(
        cls, edges: npt.ArrayLike, costs_ns: npt.ArrayLike, *, name: str = "graph", deal: str = "master"
    ) -> Self:
        """Return the graph of tasks 0, 1, .. with the costs ``costs_ns`` [tasks] in ns, and dependences ``edges``
        [edges, 2].

        An edge leads from a task to a task that waits; repeated edges count once. Raise InputError for cycles, for
        unknown tasks and for negative costs.
        """
        costs = costs_ps(costs_ns)
        return cls._of(plain_graph(name, costs, edge_columns(edges, len(costs)), deal=cls(deal=deal)._deal))

    @classmethod
    def from_networkx(
        cls, graph: nx.DiGraph[Any], *, cost: str = "cost_ns", usual_cost_ns: Any = 0, name: str | None = None
    ) -> Self:
        """Return the graph with a task for each node of a directed graph; a task waits for its predecessors.

        The attribute ``cost`` of a node is the task's cost in ns; ``usual_cost_ns`` is the cost of nodes without the
        attribute. Raise InputError if all nodes have attributes, but no cost. Graphs of `to_networkx` come back equal.
        Edges with ``kind="spawn"`` lead from a task to children, which the task spawns after computing and waits for.
        """
        from numasim.objects.graph_networkx import from_networkx

        return cls._of(from_networkx(graph, cost, usual_cost_ns, name))

    @classmethod
    def shipped(cls, family: str, **parameters: Any) -> Self:
        """Return the graph of a shipped family of `numasim.workloads`, such as ``Graph.shipped("fib", n=10)``."""
        from numasim.parts.yaml.nodes import NO_PLACE, from_python
        from numasim.spec.run_spec import validated_workload
        from numasim.workload.registry import generate

        return cls._of(generate(validated_workload(from_python({"name": family, **parameters}, NO_PLACE))))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the graph in a file, JSON or npz; raise InputError with file and field, or array, for mistakes."""
        from numasim.workload.graph_forms import read_graph

        return cls._of(read_graph(Path(path)))

    @classmethod
    def imported(
        cls,
        path: str | Path,
        *,
        unit: str | None = None,
        usual: str | None = None,
        times: Iterable[str] = (),
        cost: str | None = None,
        bytes: str | None = None,
        memory: bool = True,
    ) -> Self:
        """Return the graph in a file of another program: WfFormat, Pegasus DAX, GraphML, DOT, STG, StarPU, grain
        graphs.

        The contents of the file tell the format. ``unit`` is the unit of time if the file has no unit, such as
        ``"1us"``; ``usual`` is the time of tasks without a time in the file; ``times`` are times of tasks by name,
        label or kernel, such as ``["potrf=1us"]``. In DOT and GraphML ``cost`` is the attribute of nodes with the time
        of a task, and ``bytes`` the attribute of edges with a number of bytes. A file that one task writes and another
        task reads is a dependence and, with ``memory``, a region that both tasks access. ``names`` of the graph are the
        names of tasks in the file; ``remarks`` list used, unused and unknown data. Raise InputError with file and place
        for mistakes.
        """
        from numasim.workload.imports.import_graph import imported
        from numasim.workload.imports.read_graph import Choices

        found = imported(Path(path), Choices.of(unit, usual, cost, bytes, memory, times))
        made = cls._of(found.workload)
        made.names, made.remarks = tuple(found.names), tuple(found.remarks)
        return made

    @classmethod
    def recorded(
        cls,
        program: str | Path,
        *arguments: object,
        threads: int | None = None,
        repeats: int | None = None,
        openmp: str | Path | None = None,
        name: str | None = None,
        on: Machine | str | Path | None = None,
        parallel_part: bool = False,
    ) -> Self:
        """Run an OpenMP program with ``arguments``, as `numasim record` does, and return the program's graph.

        ``threads`` is the program's number of threads (default: 1; refused if the program divides work by the number of
        threads). ``repeats`` is the number of runs (default: 3 to 30, at least 15 for short programs, until times
        settle). ``openmp`` is the file of LLVM's OpenMP runtime. ``on`` is the machine at hand, an object or a file
        with ``core_steps_per_s``; by default the rate of cores is measured. ``parallel_part`` leaves out the work
        between parallel regions. ``remarks`` describe the recording. Raise InputError if the program cannot be
        recorded.
        """
        from numasim.runtime.record.recording import Order, lines_of, record

        command = (str(program), *map(str, arguments))
        library = None if openmp is None else Path(openmp)
        machine = None if on is None else _machine_spec(on)
        order = Order(command, threads, repeats, library, name or "", machine, parallel_part=parallel_part)
        found = record(order)
        made = cls._of(found.workload)
        made.remarks = tuple(lines_of(found))
        return made

    def recorded_on(self, machine: Machine | str | Path) -> Graph:
        """Return the graph as if recorded on ``machine``, an object, a shipped name or a file.

        A run on a machine with another ``core_steps_per_s`` scales the times by both rates. Raise InputError if
        ``machine`` has no ``core_steps_per_s``.
        """
        from numasim.workload.recording.core_rates import recorded_on

        made = Graph._of(recorded_on(self.specified().workload, _machine_spec(machine)))
        made.names, made.remarks = self.names, self.remarks
        return made

    # ---- the finished graph ----

    def _built(self) -> Workload:
        if not self._parent and not self._ranges:
            expected = "at least one, which task() adds, or some, which range() adds"
            raise InputError(f"the graph {self.name!r} has no tasks", expected=expected)
        workload = self._workload_so_far(self._deal)
        spawns = (workload.op_code == Op.SPAWN).any()
        if workload.words or workload.groups or (len(workload.successor) and spawns):
            from numasim.workload.graph_rules import validate

            validate(workload)
        elif len(workload.successor):
            check_acyclic(workload.predecessor, workload.successor, workload.rows)
        return workload

    @property
    def workload(self) -> Workload:
        """The graph as the arrays that engines read; InputError if the graph has no tasks or a cycle."""
        if self._made is None or self._made[0] != self._version:
            self._made = (self._version, self._built())
        return self._made[1]

    @property
    def name(self) -> str:
        """Name of the graph in tables and figures."""
        return self._name

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return self.workload.tasks

    @property
    def edges(self) -> int:
        """Number of dependences; spawns of children do not count."""
        return len(self.workload.successor)

    @property
    def work_ns(self) -> float:
        """Compute time of all tasks together in ns, without the time of accesses, which depends on the machine."""
        return _work_ps(self.workload) / 1000

    @property
    def span_ns(self) -> float:
        """Compute time of the longest chain of tasks in ns: no number of workers is faster."""
        return _span_ps(self.workload) / 1000

    @property
    def parallelism(self) -> float:
        """Work over span: the number of workers that the graph can keep busy; infinite if nothing takes time."""
        return self.work_ns / self.span_ns if self.span_ns else float("inf")

    def describe(self) -> str:
        """Return the graph in some lines of text: tasks, depth, critical path, memory."""
        from numasim.workload.describe import describe

        return describe(self.workload)

    def to_networkx(self) -> nx.DiGraph[Any]:
        """Return a networkx graph: nodes are tasks with ``cost_ns``, edges are dependences or (by ``kind``) spawns."""
        from numasim.objects.graph_networkx import to_networkx

        return to_networkx(self.workload)

    def save(self, path: str | Path) -> Path:
        """Write the graph, for use as ``{file: PATH}``, and return the path: npz if the name ends in .npz, else JSON.

        A graph of a million tasks is written and read many times faster as npz.
        """
        from numasim.workload.graph_forms import write_graph

        write_graph(self.workload, Path(path))
        return Path(path)

    def written(self) -> bytes:
        """Return the JSON file of the graph."""
        from numasim.workload.json_form.graph_io import text_of

        return text_of(self.workload).encode()

    @property
    def contents(self) -> str:
        """The digest of the graph, which is part of the identity of runs."""
        return self.workload.digest()

    def specified(self) -> WorkloadGraph:
        """Return the graph as the workload of a specification."""
        return WorkloadGraph.model_construct(contents=self.contents, workload=self.workload)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same name, tasks, memory and dependences."""
        return isinstance(other, Graph) and self.workload.digest() == other.workload.digest()

    __hash__ = None  # type: ignore[assignment]  # a graph may grow

    def __repr__(self) -> str:
        """Return the name and the size."""
        return f"Graph({self.name!r}: {self.tasks:,} tasks, {self.edges:,} dependences)"

    def _repr_html_(self) -> str:
        rows: list[tuple[object, object, str]] = [
            ("tasks", f"{self.tasks:,}", "how many tasks a run executes"),
            ("dependences", f"{self.edges:,}", "from a task to a task that waits for its end"),
        ]
        if self.tasks <= MOST_MEASURED:
            rows += [
                ("work", f"{self.work_ns:,.1f} ns", "what all tasks compute together"),
                ("span", f"{self.span_ns:,.1f} ns", "what the longest chain of tasks computes"),
                ("parallelism", f"{self.parallelism:,.1f}", "work over span"),
            ]
        rows += [(f"region {region.name}", f"{region.bytes:,} B", "") for region in self.workload.regions[:8]]
        picture: list[Html] = []
        if self.workload.rows <= MOST_DRAWN and not self.workload.ranges:
            from numasim.objects.graph_picture import picture_of

            picture = [picture_of(self.workload)]
        return panel(f"{self.name}: {self.tasks:,} tasks", names_and_values(rows), *picture)


@lru_cache(maxsize=1)
def _work_ps(workload: Workload) -> int:
    from numasim.workload.one_worker import serial_ps

    return serial_ps(workload, 0)


@lru_cache(maxsize=1)
def _span_ps(workload: Workload) -> int:
    from numasim.workload.span import span_ps

    return span_ps(workload, 0)


def _machine_spec(machine: Machine | str | Path) -> MachineSpec:
    """Return the machine of an object, of a shipped name or of a file."""
    from numasim.spec.single_part import read_machine

    return read_machine(str(machine)) if isinstance(machine, str | Path) else machine.spec
