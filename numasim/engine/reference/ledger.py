"""Counts of a run for the machine and for pairs of nodes (`Worker` has those of workers), and logs for checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.trace_hash import Trace, pack

if TYPE_CHECKING:  # the native engine's runs read this module, too, without SimPy
    from numasim.engine.reference.clock import Clock


class Executed(NamedTuple):
    """A stretch of work, for the checks: from ``start_ps`` to ``end_ps``, overhead not included."""

    task: int
    segment: int
    worker: int
    start_ps: int
    end_ps: int


class Held(NamedTuple):
    """An actor held a lock, or another synchronisation object, from ``start_ps`` to ``end_ps``.

    For transactions, ``word`` is -1 - o if the transaction has read object o of the memories, and o plus the number of
    synchronisation objects if the transaction has written object o. The times are those of the opening and the commit.
    """

    word: int
    actor: int
    start_ps: int
    end_ps: int


class Ledger:
    """Counts of one run; ``log`` and ``held`` are kept if the checks need them."""

    def __init__(self, nodes: int, families: int, keep_log: bool) -> None:
        self.node_attempts = [[0] * nodes for _ in range(nodes)]  # [node of the thief][node of the victim]
        self.node_success = [[0] * nodes for _ in range(nodes)]
        self.node_conflicts = [[0] * nodes for _ in range(nodes)]  # [node that aborted][node that had the object]
        self.passed_items = [0] * families  # items that were counted in closed form
        self.page_faults = 0
        self.pages_migrated = 0
        self.log: list[Executed] | None = [] if keep_log else None
        self.held: list[Held] | None = [] if keep_log else None


# ---- Records of the two hashes of a run (model 1.3), and rows for a watch --------------------------------------------


class Recorder:
    """Writes records, with the time of the clock. ``watch`` is None if nobody watches; ``log`` is the log of the
    ledger.

    ``details`` takes packed records of the event hash alone. `detail` packs a record for ``details``; the ends of
    segments, the most frequent events, pack their records themselves.
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
        """Add a record to both hashes."""
        self._steps.append(pack(self._clock.now, rank, actor, first, second))

    def detail(self, rank: int, actor: int, first: int, second: int) -> None:
        """Add a record to the event hash alone."""
        self.details.append(pack(self._clock.now, rank, actor, first, second))


# ---- Times and bytes of tasks since an iteration began, for a controller (model 4.12) --------------------------------


I64 = npt.NDArray[np.int64]


class TaskMeasures:
    """Sums over the own segments of each task: ``ps`` [tasks] is the time of the segments, ``bytes`` [tasks, nodes] the
    bytes that the segments moved from and to memory, by home.
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
