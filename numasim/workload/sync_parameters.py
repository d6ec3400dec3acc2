"""Synchronisation objects: locks, atomic counters, conditions, barriers, memories of objects (model 3.1, 4.11, 5).

A program declares its synchronisation objects and the worker that owns each; the strategy chooses their homes and the
kinds of locks and barriers (thesis section 6.3).

A condition stands for a condition variable together with its predicate: SIGNAL lets one waiter pass, BROADCAST as many
as are declared, and a worker that arrives later passes without waiting. No signal is ever lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from numasim.schema.enumerations import Role

__all__ = [
    "MAX_PARTIES",
    "Role",
    "SyncObject",
]

MAX_PARTIES = 2**20


@dataclass(frozen=True)
class SyncObject:
    """A synchronisation object on a cache line of its own.

    ``owner`` is a worker, counted modulo the workers of the run. ``parties`` is the number of workers that a barrier
    waits for, that a broadcast of a condition lets pass, or of objects that a memory has. Of a memory of objects,
    ``skew_ppm`` is the exponent of Zipf's law by which they are drawn (0: all alike), ``undo_ps`` what an attempt takes
    to abort, and ``same`` whether the next attempt opens the same objects.
    """

    name: str
    role: Role
    owner: int = 0
    parties: int = 1
    skew_ppm: int = 0
    undo_ps: int = 0
    same: bool = False
