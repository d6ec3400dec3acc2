"""The two hashes of a run (model 1.3).

A record is five 64-bit words ``(t, rank, actor, a0, a1)``. Its hash is a mix chain over the words; the hash of a set of
records is their sum modulo 2**64, so the order in which an engine emits them does not matter. ``trace_hash`` covers the
records that every mode of every engine produces, ``event_hash`` all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from struct import Struct

import numpy as np
import numpy.typing as npt

from numasim.draws import GAMMA, MASK, mix, mix_array

WORDS = 5
FLUSH_RECORDS = 8_192  # few enough to stay in the cache, enough for NumPy to pay
pack = Struct("=5Q").pack  # one record

Listener = Callable[[npt.NDArray[np.uint64]], None]


class Rank(IntEnum):
    """Kinds of events, in the order in which they happen within one instant (model 1.2)."""

    SEG_END = 0
    GRANT = 1
    RELEASE = 2
    WAKE = 3
    PUT = 4
    LOOK = 5
    POLL = 6
    EPOCH = 7
    END_OF_INSTANT = 8  # a hook, never a record


def record_hash(words: Sequence[int]) -> int:
    """The hash of one record: ``h = mix((h + GAMMA) ^ word)`` over its words, from 0."""
    value = 0
    for word in words:
        value = mix((value + GAMMA & MASK) ^ word)
    return value


def hash_sum(records: npt.NDArray[np.uint64]) -> int:
    """The sum of `record_hash` over the rows of ``records`` [n, 5], modulo 2**64."""
    value = np.zeros(len(records), np.uint64)
    for column in records.T:
        value = mix_array((value + np.uint64(GAMMA)) ^ column)
    return int(value.sum(dtype=np.uint64))


class RecordSet:
    """Records gathered as packed bytes and hashed in batches; the engine appends `pack` (t, rank, actor, a0, a1)."""

    __slots__ = ("_listener", "count", "rows", "total")

    def __init__(self, listener: Listener | None = None) -> None:
        self.rows: list[bytes] = []
        self.total = 0
        self.count = 0
        self._listener = listener

    def add(self, records: npt.NDArray[np.uint64]) -> None:
        """Hash ``records`` [n, 5]."""
        self.total = (self.total + hash_sum(records)) & MASK
        self.count += len(records)
        if self._listener:
            self._listener(records)

    def flush(self) -> None:
        """Hash what has gathered and forget it."""
        if self.rows:
            self.add(np.frombuffer(b"".join(self.rows), np.uint64).reshape(-1, WORDS))
            self.rows.clear()


class Trace:
    """``steps`` hold the records of both hashes, ``details`` those of ``event_hash`` alone."""

    __slots__ = ("complete", "details", "steps")

    def __init__(self, listener: Listener | None = None) -> None:
        self.complete = True  # whether the details hold every record
        self.steps = RecordSet(listener)
        self.details = RecordSet(listener)

    def flush_full(self) -> None:
        """Hash the buffers that have grown long."""
        for records in (self.steps, self.details):
            if len(records.rows) >= FLUSH_RECORDS:
                records.flush()

    def hashes(self) -> tuple[str, str | None]:
        """``trace_hash`` and ``event_hash`` as 16 hex digits; the second is None where details were passed over."""
        self.steps.flush()
        self.details.flush()
        every = (self.steps.total + self.details.total) & MASK
        return f"{self.steps.total:016x}", f"{every:016x}" if self.complete else None
