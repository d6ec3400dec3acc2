"""Transactions of a graph that is made in Python: memories of objects, and the attempts that open them (model 4.11)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from types import TracebackType
from typing import Any, Protocol, Self

from numasim.errors import InputError
from numasim.objects.graph_draft import compute_ps
from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import Op
from numasim.workload.algorithms.object_memories import MOST_SKEW_PPM
from numasim.workload.sync_parameters import MAX_PARTIES, Role, SyncObject


class Building(Protocol):
    """The graph that transactions are part of, while it is made."""

    def use(self, task: int, op: Op, word: int) -> None:
        """Add an op on a synchronisation object to the end of a task."""


@dataclass(frozen=True)
class Objects:
    """A memory of objects, made by `Graph.objects`, of which transactions open some."""

    building: Building
    number: int
    name: str


def memory_of(name: str, count: int, skew: Any, undo_ns: Any, same: bool) -> SyncObject:
    """A memory of ``count`` objects; InputError for values that no memory has."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_PARTIES:
        raise InputError(f"{name!r} has {count} objects", expected=f"1 to {MAX_PARTIES}")
    try:
        skew_ppm = round(Decimal(str(skew)) * MILLION)
    except ArithmeticError:
        skew_ppm = -1
    if not 0 <= skew_ppm <= MOST_SKEW_PPM:
        raise InputError(f"the skew of {name!r} is {skew}", expected=f"0 to {MOST_SKEW_PPM // MILLION}")
    undo_ps = compute_ps(undo_ns)
    return SyncObject(name, Role.OBJECTS, parties=count, skew_ppm=skew_ppm, undo_ps=undo_ps, same=bool(same))


class Transaction:
    """A transaction of a task, in a ``with`` block: it begins with the block and commits at its end.

    What the task does inside (`Task.work`) is done again by every attempt.
    """

    def __init__(self, building: Building, task: int, objects: Objects) -> None:
        """``objects`` are those that it opens; InputError for those of another graph."""
        if not isinstance(objects, Objects) or objects.building is not building:
            raise InputError(f"got {objects!r} to open", expected="what this graph's objects() returned")
        self._building, self._task, self._objects = building, task, objects

    def load(self, times: int = 1) -> None:
        """Open an object to read it, or so many; each is drawn by each attempt."""
        self._use(Op.LOAD, times)

    def store(self, times: int = 1) -> None:
        """Open an object to write it, or so many; each is drawn by each attempt."""
        self._use(Op.STORE, times)

    def _use(self, op: Op, times: int = 1) -> None:
        for _ in range(times):
            self._building.use(self._task, op, self._objects.number)

    def __enter__(self) -> Self:
        """Begin."""
        self._use(Op.BEGIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit."""
        self._use(Op.COMMIT)
