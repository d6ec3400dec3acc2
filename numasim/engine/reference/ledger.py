"""Counts of a run for the machine and for pairs of nodes (`Worker` has those of workers), and logs for checks.

A range is many similar tasks, its items. A watch is an observer that the caller gives, which receives rows about what
each worker does over time. The trace hash is a hash of the main events of a run, the event hash one of all events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.trace_hash import Trace, pack

if TYPE_CHECKING:  # the native engine's runs read this module, too, without SimPy
    from numasim.engine.reference.clock import Clock


class Executed(NamedTuple):
    """A worker executed a segment of a task from ``start_ps`` to ``end_ps``, overhead not included."""

    task: int
    segment: int
    worker: int
    start_ps: int
    end_ps: int


class Held(NamedTuple):
    """An actor held a lock, or another synchronisation object, from ``start_ps`` to ``end_ps``.

    ``word`` is the number of the lock or synchronisation object. For an object o that a committed transaction opened,
    ``word`` is -1 - o if the transaction read the object, and o plus the number of synchronisation objects if the
    transaction wrote the object; the times are those of the opening and the commit.
    """

    word: int
    actor: int
    start_ps: int
    end_ps: int


class Ledger:
    """Counts of one run; ``log`` and ``held`` are None unless ``keep_log``."""

    def __init__(self, nodes: int, families: int, keep_log: bool) -> None:
        self.node_attempts = [[0] * nodes for _ in range(nodes)]  # [node of the thief][node of the victim]
        self.node_success = [[0] * nodes for _ in range(nodes)]  # [node of the thief][node of the victim]
        self.node_conflicts = [[0] * nodes for _ in range(nodes)]  # [node that aborted][node that had the object]
        self.passed_items = [0] * families  # [ranges] items that were counted without an event for each
        self.page_faults = 0
        self.pages_migrated = 0
        self.log: list[Executed] | None = [] if keep_log else None
        self.held: list[Held] | None = [] if keep_log else None


# ---- Records of the two hashes of a run (model 1.3), and rows for a watch --------------------------------------------


class Recorder:
    """Writes a record (time, rank, actor, two numbers) of each event for the hashes. ``watch`` is None if nobody
    watches; ``log`` is the log of the ledger. ``details`` is the list of packed records of the event hash alone.
    """

    def __init__(self, clock: Clock, trace: Trace, ledger: Ledger) -> None:
        self.trace = trace
        self.ledger = ledger
        self.watch = trace.watch
        self.log = ledger.log
        self._clock = clock
        self._steps = trace.steps.rows
        self.details = trace.details.rows

    def step(self, rank: int, actor: int, first: int, second: int) -> None:
        """Add a record of an event at the present time to both hashes."""
        self._steps.append(pack(self._clock.now, rank, actor, first, second))

    def detail(self, rank: int, actor: int, first: int, second: int) -> None:
        """Add a record of an event at the present time to the event hash alone."""
        self.details.append(pack(self._clock.now, rank, actor, first, second))


# ---- Times and bytes of tasks since an iteration began, for a controller (model 4.12) --------------------------------


I64 = npt.NDArray[np.int64]


class TaskMeasures:
    """Sums over each task's own segments: ``ps`` [tasks] is their time, ``bytes`` [tasks, nodes] the bytes that they
    moved from and to the memory of each node.
    """

    __slots__ = ("bytes", "ps")

    def __init__(self, tasks: int, nodes: int) -> None:
        self.ps = [0] * tasks
        self.bytes = np.zeros((tasks, nodes), np.int64)

    def take(self) -> tuple[I64, I64]:
        """Return ``ps`` and ``bytes`` as arrays, and set both to zero."""
        taken = np.array(self.ps, np.int64), self.bytes
        self.ps[:] = [0] * len(self.ps)
        self.bytes = np.zeros_like(self.bytes)
        return taken
