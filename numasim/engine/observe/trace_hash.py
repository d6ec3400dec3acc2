"""The two hashes of a run (model 1.3).

A record is five 64-bit words ``(t, rank, actor, a0, a1)``. The hash of a record is a mix chain over the words. The hash
of a set of records is the sum of the hashes modulo 2**64, so that the order of the records plays no part.
``trace_hash`` covers the records that every mode of every engine produces, ``event_hash`` covers all records.
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
pack = Struct("=5Q").pack  # one record

Records = npt.NDArray[np.uint64]
Listener = Callable[[Records], None]


class Rank(IntEnum):
    """Kinds of events, in the order in which they happen within one instant (model 1.2)."""

    SEG_END = 0
    GRANT = 1
    RELEASE = 2
    WAKE = 3
    PUT = 4
    LOOK = 5
    POLL = 6
    ABORT = 7  # the record of an abort; an abort happens within another event
    END_OF_INSTANT = 8  # a hook, never a record


STEP_RANKS = (Rank.RELEASE, Rank.WAKE, Rank.LOOK, Rank.POLL)  # the ranks of records that every mode produces


def hash_sum(records: Records) -> int:
    """Return the sum modulo 2**64 of the hashes of ``records`` [n, 5]; a hash begins with h = 0 and becomes
    ``mix((h + GAMMA) ^ word)`` with each word of the record.
    """
    value = np.zeros(len(records), np.uint64)
    for column in records.T:
        value = mix_array((value + np.uint64(GAMMA)) ^ column)
    return int(value.sum(dtype=np.uint64))


def hexadecimal(total: int) -> str:
    """Return a hash as 16 hex digits."""
    return f"{total:016x}"


class RecordSet:
    """Records gathered as packed bytes and hashed in batches; the engine appends `pack` (t, rank, actor, a0, a1)."""

    __slots__ = ("_listener", "count", "hashed", "rows", "total")

    def __init__(self, listener: Listener | None = None) -> None:
        self.rows: list[bytes] = []
        self.total = 0
        self.count = 0
        self.hashed = True
        self._listener = listener

    def add(self, records: Records) -> None:
        """Hash ``records`` [n, 5]."""
        if self.hashed:
            self.total = (self.total + hash_sum(records)) & MASK
        self.count += len(records)
        if self._listener:
            self._listener(records)

    def flush(self) -> None:
        """Hash the gathered records and discard them."""
        if self.rows and not self.hashed and not self._listener:
            self.rows.clear()
        elif self.rows:
            self.add(np.frombuffer(b"".join(self.rows), np.uint64).reshape(-1, WORDS))
            self.rows.clear()


class Trace:
    """``steps`` are records of both hashes, ``details`` records of ``event_hash`` alone; ``watch`` gets the rows."""

    __slots__ = ("details", "steps", "watch")

    def __init__(self, listener: Listener | None = None, watcher: Watcher | None = None) -> None:
        self.steps = RecordSet(listener)
        self.details = RecordSet(listener)
        self.watch = Watch(watcher) if watcher else None

    def forgo_details(self) -> None:
        """Give up ``event_hash``, because not all events will be simulated; listeners get the records so far."""
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
