"""Memories of objects, for transactions: how many objects each has, and how they are drawn (model 4.11)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from numasim.parts.unit_factors import MILLION
from numasim.workload.sync_parameters import Role, SyncObject

MOST_SKEW_PPM = 8 * MILLION
_FIRST_WEIGHT = 2.0**28


@lru_cache(maxsize=8)
def running_weights(objects: int, skew_ppm: int) -> npt.NDArray[np.int64]:
    """[objects] the weights of the objects by Zipf's law, summed up to and with each; empty without skew."""
    if not skew_ppm:
        sums = np.zeros(0, np.int64)
    else:
        weights = np.rint(_FIRST_WEIGHT * np.arange(1, objects + 1, dtype=np.float64) ** (-skew_ppm / MILLION))
        sums = np.cumsum(np.maximum(weights, 1).astype(np.int64))
    sums.setflags(write=False)
    return sums


def weights_of(word: SyncObject) -> npt.NDArray[np.int64]:
    """`running_weights` of a memory of objects; none of any other synchronisation object."""
    return running_weights(word.parties, word.skew_ppm) if word.role == Role.OBJECTS else running_weights(0, 0)
