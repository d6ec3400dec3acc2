"""Rows of whole numbers that report a run while it goes on, for traces and tables over time (model 6).

A row is seven signed 64-bit words ``(kind, actor, begin_ps, end_ps, first, second, third)``; `Watched` defines the
kinds. WORK, OVERHEAD, IDLE, PARKED and BARRIER are stretches of time of a worker, or of a producer of items that is not
a worker: its number follows the last worker's number. The stretches of a worker follow one another without a gap from 0
to the makespan; the sums of stretches by kind are the time split. In all other rows but PHASE, begin_ps equals end_ps.
Rows of one actor come in order of time. Rows of different actors come in the order in which the rows become known; a
stretch becomes known when it ends.

A watched run simulates every event, even if the run could skip ahead or count items in bulk. The result is the same
except for `mode`, `events` and `event_hash`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from enum import IntEnum

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
Watcher = Callable[[I64], None]  # called with batches of rows [n, COLUMNS]

COLUMNS = 7
KIND, ACTOR, BEGIN, END, FIRST, SECOND, THIRD = range(COLUMNS)
FLUSH_ROWS = 8_192
NOBODY = -1  # the victim of a steal from a queue that several workers share


class Watched(IntEnum):
    """Kinds of rows; in brackets the actor, and the meaning of ``first``, ``second`` and ``third``."""

    WORK = 0  # [worker] task, segment, kernel of a segment or an item that was executed
    OVERHEAD = 1  # [worker] operations of the runtime
    IDLE = 2  # [worker] failed attempts, those of them on other nodes, ps of probing (the remaining ps are back-off)
    PARKED = 3  # [worker] asleep in a blocking join, or a producer that waits for room
    BARRIER = 4  # [worker] waits while worker 0 is in a serial phase
    STEAL = 5  # [thief] queue, victim or NOBODY, tasks
    LENGTH = 6  # [queue] tasks in the queue from now on
    LOAD = 7  # [resource] units per second (bytes, faults, ps of the lock) that are in use from now on
    PHASE = 8  # [number of the run of a phase] from the begin to the end of the run


STRETCHES = (Watched.WORK, Watched.OVERHEAD, Watched.IDLE, Watched.PARKED, Watched.BARRIER)


class Watch:
    """Gathers rows and hands them to a `Watcher` in batches."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._rows: list[tuple[int, ...]] = []
        self._reported_until_ps: defaultdict[int, int] = defaultdict(int)  # the end of each worker's last stretch

    def report(
        self, kind: Watched, actor: int, begin_ps: int, end_ps: int, first: int = 0, second: int = 0, third: int = 0
    ) -> None:
        """Add a row."""
        self._rows.append((kind, actor, begin_ps, end_ps, first, second, third))
        if len(self._rows) >= FLUSH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Hand over the gathered rows."""
        if self._rows:
            self._watcher(np.array(self._rows, np.int64))
            self._rows.clear()

    def load(self, time_ps: int, resource: int, used: int) -> None:
        """Report that ``used`` bytes (or faults) per second of ``resource`` are in use from ``time_ps`` on."""
        self.report(Watched.LOAD, resource, time_ps, time_ps, used)

    def length(self, time_ps: int, queue: int, tasks: int) -> None:
        """Report that there are ``tasks`` in ``queue`` from ``time_ps`` on."""
        self.report(Watched.LENGTH, queue, time_ps, time_ps, tasks)

    def stretch(
        self, kind: Watched, worker: int, began_ps: int, end_ps: int, first: int = 0, second: int = 0, third: int = 0
    ) -> None:
        """Report the worker's stretch from ``began_ps`` to ``end_ps``; unreported time before it is overhead."""
        begin_ps = min(began_ps, end_ps)
        self.overhead(worker, begin_ps)
        self.report(kind, worker, begin_ps, end_ps, first, second, third)
        self._reported_until_ps[worker] = end_ps

    def overhead(self, worker: int, end_ps: int) -> None:
        """Report the worker's unreported time up to ``end_ps`` as overhead."""
        if end_ps > self._reported_until_ps[worker]:
            self.report(Watched.OVERHEAD, worker, self._reported_until_ps[worker], end_ps)
            self._reported_until_ps[worker] = end_ps
