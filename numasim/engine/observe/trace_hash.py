"""The two hashes of a run (model 1.3).

An event of a run gives a record of five 64-bit words: time in ps, rank (kind of event), actor (worker or object), and
two numbers about the event. The hash of a record mixes the words one by one. The hash of a set of records is the sum of
their hashes modulo 2**64, so that the order of the records plays no part. ``trace_hash`` covers the records that every
engine produces, whichever shortcuts it takes; ``event_hash`` covers the records of all events.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from struct import Struct

import numpy as np
import numpy.typing as npt

from numasim.draws import GAMMA, MASK, mix_array
from numasim.engine.observe.watch import Watch, Watcher

WORDS = 5
FLUSH_RECORDS = 8_192  # few enough to stay in the cache, enough for NumPy to be fast
pack = Struct("=5Q").pack  # makes the bytes of a record

Records = npt.NDArray[np.uint64]
Listener = Callable[[Records], None]


class Rank(IntEnum):
    """Kinds of events, in the order in which they happen within one instant (model 1.2)."""

    SEG_END = 0  # a segment or range item ends
    GRANT = 1  # an actor gets a lock
    RELEASE = 2  # a barrier opens, or a phase ends
    WAKE = 3  # a worker goes on after a sleep
    PUT = 4  # a step of overhead ends; records: a task is put into a queue
    LOOK = 5  # a probe looks at its queue; records: a steal
    POLL = 6  # a back-off ends; records: a worker is idle no longer
    ABORT = 7  # an attempt aborts: a record only, of an abort within another event
    END_OF_INSTANT = 8  # after all other events of an instant; never a record


STEP_RANKS = (Rank.RELEASE, Rank.WAKE, Rank.LOOK, Rank.POLL)  # the ranks of records in both hashes


def hash_sum(records: Records) -> int:
    """Return the sum modulo 2**64 of the hashes of ``records`` [n, 5]; a hash begins as h = 0, and each word of the
    record turns h into ``mix((h + GAMMA) ^ word)``.
    """
    value = np.zeros(len(records), np.uint64)
    for column in records.T:
        value = mix_array((value + np.uint64(GAMMA)) ^ column)
    return int(value.sum(dtype=np.uint64))


def hexadecimal(total: int) -> str:
    """Return a hash as 16 hex digits."""
    return f"{total:016x}"


class RecordSet:
    """Records that are hashed in batches; the engine appends the bytes of each record (`pack`) to ``rows``. ``count``
    counts hashed records, ``total`` is the sum of their hashes if ``hashed``.
    """

    __slots__ = ("_listener", "count", "hashed", "rows", "total")

    def __init__(self, listener: Listener | None = None) -> None:
        self.rows: list[bytes] = []
        self.total = 0
        self.count = 0
        self.hashed = True
        self._listener = listener

    def add(self, records: Records) -> None:
        """Hash ``records`` [n, 5] if ``hashed``, and give them to the listener."""
        if self.hashed:
            self.total = (self.total + hash_sum(records)) & MASK
        self.count += len(records)
        if self._listener:
            self._listener(records)

    def flush(self) -> None:
        """Hash the gathered rows, give them to the listener, and discard them."""
        if self.rows and not self.hashed and not self._listener:
            self.rows.clear()
        elif self.rows:
            self.add(np.frombuffer(b"".join(self.rows), np.uint64).reshape(-1, WORDS))
            self.rows.clear()


class Trace:
    """``steps`` are records of both hashes, ``details`` those of ``event_hash`` alone; ``watch`` passes rows on."""

    __slots__ = ("details", "steps", "watch")

    def __init__(self, listener: Listener | None = None, watcher: Watcher | None = None) -> None:
        self.steps = RecordSet(listener)
        self.details = RecordSet(listener)
        self.watch = Watch(watcher) if watcher else None

    def forgo_details(self) -> None:
        """Give up ``event_hash``, because not all events will be simulated; listeners get records all the same."""
        self.details.hashed = False

    def flush_full(self) -> None:
        """Hash the buffers that have grown long."""
        for records in (self.steps, self.details):
            if len(records.rows) >= FLUSH_RECORDS:
                records.flush()

    def hashes(self) -> tuple[str, str | None]:
        """Return ``trace_hash`` and ``event_hash`` as 16 hex digits; the second is None after `forgo_details`."""
        self.steps.flush()
        self.details.flush()
        if self.watch:
            self.watch.flush()
        every = (self.steps.total + self.details.total) & MASK
        return hexadecimal(self.steps.total), hexadecimal(every) if self.details.hashed else None
