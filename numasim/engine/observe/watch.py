"""Rows of whole numbers that report a run while it goes on, for traces and tables over time (model 6).

A watched run is one for which the caller gives a `Watcher`. A row is seven signed 64-bit words ``(kind, actor,
begin_ps, end_ps, first, second, third)``; `Watched` defines the kinds. WORK, OVERHEAD, IDLE, PARKED and BARRIER are
stretches: a worker does one thing from ``begin_ps`` to ``end_ps``. A producer, a thread that makes tasks beside the
workers, has stretches, too; its number is the number of workers. A worker's stretches follow one another without a gap
from 0 to the makespan; their sums by kind are the times of the result. In all other rows but PHASE, begin_ps equals
end_ps. Rows of one actor come in order of time. A stretch is reported when it ends.

A watched run simulates every event, even if the run could take shortcuts. The result is the same except for `mode`,
`events` and `event_hash`.
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
FLUSH_ROWS = 8_192  # rows in a full batch
NOBODY = -1  # the victim of a steal from a queue that several workers share


class Watched(IntEnum):
    """Kinds of rows; in brackets the actor, and the meaning of ``first``, ``second`` and ``third``."""

    WORK = 0  # [worker] task, segment, kernel: the worker executed this segment, or the item with this task id
    OVERHEAD = 1  # [worker] operations of the runtime, page faults, waits for locks
    IDLE = 2  # [worker] failed steal attempts, those of them on other nodes, ps of probing (the other ps are back-off)
    PARKED = 3  # [worker] asleep; [producer] waits for room in a queue
    BARRIER = 4  # [worker] waits at a barrier, or while worker 0 alone executes a serial phase
    STEAL = 5  # [thief] queue, its worker or NOBODY, number of tasks
    LENGTH = 6  # [queue] number of tasks in the queue from now on
    LOAD = 7  # [resource] units per second that are in use from now on: bytes, page faults, or ps of a lock
    PHASE = 8  # [number of the run of a phase, counted over the simulation] from the begin to the end of this run


STRETCHES = (Watched.WORK, Watched.OVERHEAD, Watched.IDLE, Watched.PARKED, Watched.BARRIER)


class Watch:
    """Gathers rows and hands them to a `Watcher` in batches."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._rows: list[tuple[int, ...]] = []
        self._reported_until_ps: defaultdict[int, int] = defaultdict(int)  # {worker: end of its last stretch}

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
        """Report that ``used`` units per second of ``resource`` are in use from ``time_ps`` on."""
        self.report(Watched.LOAD, resource, time_ps, time_ps, used)

    def length(self, time_ps: int, queue: int, tasks: int) -> None:
        """Report that ``queue`` holds ``tasks`` tasks from ``time_ps`` on."""
        self.report(Watched.LENGTH, queue, time_ps, time_ps, tasks)

    def stretch(
        self, kind: Watched, worker: int, began_ps: int, end_ps: int, first: int = 0, second: int = 0, third: int = 0
    ) -> None:
        """Report the worker's stretch from ``began_ps`` to ``end_ps``; time since its last stretch is overhead."""
        begin_ps = min(began_ps, end_ps)
        self.overhead(worker, begin_ps)
        self.report(kind, worker, begin_ps, end_ps, first, second, third)
        self._reported_until_ps[worker] = end_ps

    def overhead(self, worker: int, end_ps: int) -> None:
        """Report the worker's time from its last stretch up to ``end_ps``, if any, as overhead."""
        if end_ps > self._reported_until_ps[worker]:
            self.report(Watched.OVERHEAD, worker, self._reported_until_ps[worker], end_ps)
            self._reported_until_ps[worker] = end_ps
