"""Synchronisation objects: locks, atomic counters, conditions, barriers, memories of objects (model 3.1, 4.11, 5).

A program declares its synchronisation objects and for each an owner, a worker. The strategy chooses their homes (NUMA
nodes) and the kinds of locks and barriers (thesis section 6.3). A memory of objects is what transactions load from and
store to. A condition stands for a condition variable together with its predicate: SIGNAL lets one waiter pass,
BROADCAST as many as the condition has parties; if too few wait, later workers pass without waiting.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from numasim.frozen import Frozen
from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import Role

__all__ = ["MAX_PARTIES", "MOST_SKEW_PPM", "Role", "SyncObject", "running_weights", "weights_of"]

MAX_PARTIES = 2**20
MOST_SKEW_PPM = 8 * MILLION
_FIRST_WEIGHT = 2.0**28


class SyncObject(Frozen):
    """A synchronisation object on a cache line of its own.

    ``owner`` modulo the number of workers of the run is the owning worker. ``parties`` is the number of workers that a
    barrier waits for, the number of workers that a broadcast of a condition lets pass, or the number of objects of a
    memory. For a memory, ``skew_ppm`` / 10^6 is the exponent of Zipf's law by which transactions draw objects (0: all
    are equally likely), ``undo_ps`` the time to abort an attempt of a transaction, and ``same`` says whether the next
    attempt opens the same objects.
    """

    name: str
    role: Role
    owner: int = 0
    parties: int = 1
    skew_ppm: int = 0
    undo_ps: int = 0
    same: bool = False


@lru_cache(maxsize=8)
def running_weights(objects: int, skew_ppm: int) -> npt.NDArray[np.int64]:
    """Return [objects] the running sums of the objects' whole-number weights by Zipf's law; empty without skew."""
    if not skew_ppm:
        sums = np.zeros(0, np.int64)
    else:
        weights = np.rint(_FIRST_WEIGHT * np.arange(1, objects + 1, dtype=np.float64) ** (-skew_ppm / MILLION))
        sums = np.cumsum(np.maximum(weights, 1).astype(np.int64))
    sums.setflags(write=False)
    return sums


def weights_of(word: SyncObject) -> npt.NDArray[np.int64]:
    """Return `running_weights` of a memory of objects; an empty array for any other synchronisation object."""
    return running_weights(word.parties, word.skew_ppm) if word.role == Role.OBJECTS else running_weights(0, 0)
