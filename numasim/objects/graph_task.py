"""A task of a graph that is made in Python: what it computes, whom it spawns, and for whom it waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol, Self

from numasim.objects.data_dependences import Block, DataRegion
from numasim.objects.graph_transactions import Objects, Transaction
from numasim.schema.enumerations import Op

Data = Block | DataRegion | str  # a name stands for the whole region of that name
Pieces = Data | Iterable[Data]


class Building(Protocol):
    """The graph that a task is part of, while it is made."""

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
        """Add a task."""

    def work(self, task: int, cost_ns: Any, reads: Pieces, writes: Pieces, updates: Pieces, kernel: str) -> None:
        """Add a segment to the end of a task."""

    def wait(self, task: int) -> None:
        """Let a task wait for its children."""

    def group(self, task: int, op: Op) -> None:
        """Let a task begin a group, or end it."""

    def use(self, task: int, op: Op, word: int) -> None:
        """Add an op on a synchronisation object to the end of a task."""


class Task:
    """A task of a `Graph`, made by `Graph.task` or by another task's `spawn`.

    In a ``with`` block, and as the first argument of a spawned function, it waits at the end for the children that it
    has not waited for, as Cilk's functions do.
    """

    __slots__ = ("_unsynced", "building", "number")

    def __init__(self, building: Building, number: int) -> None:
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
        """Compute for ``cost_ns`` ns, and access memory meanwhile, before what the task does next.

        Nobody waits for what is accessed here: dependences follow from the accesses that a task is made with.
        """
        self.building.work(self.number, cost_ns, reads, writes, updates, kernel)

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
        """Make a child, which any worker may execute from now on, and return it.

        A ``function`` is called at once with the child and the ``arguments``, to say what the child does. The rest is
        as for `Graph.task`; dependences that follow from data are those among the children of one task.
        """
        self._unsynced = True
        child = self.building.task(self.number, cost_ns, reads, writes, updates, after, kernel)
        if function is not None:
            with child:
                function(child, *arguments)
        return child

    def transaction(self, objects: Objects) -> Transaction:
        """A transaction of the task, for a ``with`` block; ``objects`` are those that it opens.

        Where two transactions conflict, one aborts and begins again, with other objects (model 4.11)::

            with task.transaction(accounts) as attempt:
                task.work(300)
                attempt.load()
                task.work(200)
                attempt.store()
        """
        return Transaction(self.building, self.number, objects)

    @contextmanager
    def group(self) -> Iterator[None]:
        """A group, for a ``with`` block, at the end of which the task waits for all tasks that were spawned inside.

        These are the children that it spawns inside and all their descendants, also those whose parents have ended
        without waiting for them, as with ``taskgroup`` of OpenMP (model 3.2)::

            with task.group():
                child = task.spawn(cost_ns=100)
                child.spawn(cost_ns=900)
        """
        before = self._unsynced
        self.building.group(self.number, Op.GROUP)
        try:
            yield
        finally:
            self.building.group(self.number, Op.END_GROUP)
            self._unsynced = self._unsynced and before  # nothing is left of those that were spawned inside

    def sync(self) -> None:
        """Wait until all children spawned so far have finished."""
        if self._unsynced:
            self.building.wait(self.number)
            self._unsynced = False

    def __enter__(self) -> Self:
        """The task itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the children that are left."""
        if kind is None:
            self.sync()

    def __repr__(self) -> str:
        """The number of the task."""
        return f"Task({self.number})"
