"""What a run counts per machine and per node pair, beside the counters of its workers, and its logs for the checks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.trace_hash import Trace, pack
from numasim.engine.reference.clock import Clock


class Executed(NamedTuple):
    """One stretch of work, for the checks: from ``start_ps`` to ``end_ps``, overhead not included."""

    task: int
    segment: int
    worker: int
    start_ps: int
    end_ps: int


class Held(NamedTuple):
    """A lock, or another synchronisation object, was an actor's from ``start_ps`` to ``end_ps``.

    Object o of the memories of transactions is word -1 - o for a transaction that has read it, and o more than there
    are synchronisation objects for one that has written it, from when it was opened to the commit.
    """

    word: int
    actor: int
    start_ps: int
    end_ps: int


class Ledger:
    """Counts of one run; ``log`` and ``held`` are kept where the checks need them."""

    def __init__(self, nodes: int, families: int, keep_log: bool) -> None:
        self.node_attempts = [[0] * nodes for _ in range(nodes)]  # [node of the thief][node of the victim]
        self.node_success = [[0] * nodes for _ in range(nodes)]
        self.node_conflicts = [[0] * nodes for _ in range(nodes)]  # [node of who aborted][node of who had the object]
        self.passed_items = [0] * families  # items that were counted in closed form
        self.page_faults = 0
        self.pages_migrated = 0
        self.log: list[Executed] | None = [] if keep_log else None
        self.held: list[Held] | None = [] if keep_log else None


# ---- What is recorded of a run as it goes on: records of its two hashes (model 1.3), rows for a watch, the ledger.


class Recorder:
    """Records carry the time of the clock. ``watch`` is None where nobody watches; ``log`` is that of the ledger.

    ``details`` takes packed records of the event hash alone; `detail` packs them, which the ends of segments, being the
    most frequent events, do themselves.
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


# ---- What tasks took and moved since an iteration began, for a controller (model 4.12) ------------------------------


I64 = npt.NDArray[np.int64]


class TaskMeasures:
    """Sums over the own segments of each task: ``ps`` [tasks] how long they took, ``bytes`` [tasks, nodes] what they
    moved from and to memory, by home.
    """

    __slots__ = ("bytes", "ps")

    def __init__(self, tasks: int, nodes: int) -> None:
        self.ps = [0] * tasks
        self.bytes = np.zeros((tasks, nodes), np.int64)

    def take(self) -> tuple[I64, I64]:
        """Both as arrays; the sums begin anew."""
        taken = np.array(self.ps, np.int64), self.bytes
        self.ps[:] = [0] * len(self.ps)
        self.bytes = np.zeros_like(self.bytes)
        return taken
