"""Integrals over time in bins whose width doubles as a run goes on: exact, in bounded memory.

A quantity of a subject (a worker's state, a queue's length, the use of a resource) is known as a weight that holds from
one time to another. Its integral over each bin is a whole number: a stretch inside a bin is added directly; bins that
a stretch covers entirely are counted by the first and the last of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

BINS = 1024
LIMB_BITS = 20  # weights are split, so that weight times width fits 63 bits
MOST_SHIFT = 62 - LIMB_BITS  # binary logarithm of the largest width of a bin


class Integrals:
    """Integrals of weights below 2**`LIMB_BITS` for ``subjects``, [subjects, BINS]."""

    def __init__(self, subjects: int) -> None:
        self._inside: I64 = np.zeros((subjects, BINS), np.int64)
        self._covers: I64 = np.zeros((subjects, BINS + 1), np.int64)  # steps of the weight

    def add(self, shift: int, subject: I64, begin_ps: I64, end_ps: I64, weight: I64) -> None:
        """Add stretches, none of them empty, of bins that are ``1 << shift`` wide."""
        first, last = begin_ps >> shift, (end_ps - 1) >> shift
        alone = first == last
        np.add.at(self._inside, (subject[alone], first[alone]), (weight * (end_ps - begin_ps))[alone])
        subject, begin_ps, end_ps, weight = (a[~alone] for a in (subject, begin_ps, end_ps, weight))
        first, last = first[~alone], last[~alone]
        np.add.at(self._inside, (subject, first), weight * (((first + 1) << shift) - begin_ps))
        np.add.at(self._inside, (subject, last), weight * (end_ps - (last << shift)))
        np.add.at(self._covers, (subject, first + 1), weight)
        np.add.at(self._covers, (subject, last), -weight)

    def values(self, shift: int) -> I64:
        """[subjects, BINS] the integrals."""
        covered: I64 = np.cumsum(self._covers[:, :BINS], axis=1)
        return self._inside + (covered << shift)

    def widen(self, shift: int) -> None:
        """Make bins of ``1 << shift`` twice as wide."""
        pairs = self.values(shift).reshape(-1, BINS // 2, 2).sum(axis=2)
        self._inside[:, : BINS // 2] = pairs
        self._inside[:, BINS // 2 :] = 0
        self._covers[:] = 0


class Steps:
    """Integrals of step functions: a subject has a value from one time on until it gets another."""

    def __init__(self, subjects: int) -> None:
        self._low, self._high = Integrals(subjects), Integrals(subjects)
        self._since_ps: I64 = np.zeros(subjects, np.int64)
        self._value: I64 = np.zeros(subjects, np.int64)

    def set(self, shift: int, subject: I64, time_ps: I64, value: I64) -> None:
        """From ``time_ps`` on the subjects have these values; in order of time for each subject."""
        if not len(subject):
            return
        changed = np.unique(subject)
        who = np.concatenate([changed, subject])
        order = np.argsort(who, kind="stable")
        who = who[order]
        time = np.concatenate([self._since_ps[changed], time_ps])[order]
        what = np.concatenate([self._value[changed], value])[order]
        lasts = (who[:-1] == who[1:]) & (time[:-1] < time[1:]) & (what[:-1] != 0)
        self._add(shift, who[:-1][lasts], time[:-1][lasts], time[1:][lasts], what[:-1][lasts])
        final = np.flatnonzero(np.append(who[:-1] != who[1:], True))
        self._since_ps[changed], self._value[changed] = time[final], what[final]

    def close(self, shift: int, end_ps: int) -> None:
        """All values hold until ``end_ps``."""
        everyone = np.arange(len(self._value))
        self.set(shift, everyone, np.full(len(everyone), end_ps), self._value.copy())

    def values(self, shift: int) -> npt.NDArray[np.object_]:
        """[subjects, BINS] the integrals, as integers of any size."""
        low, high = self._low.values(shift).astype(object), self._high.values(shift).astype(object)
        sums: npt.NDArray[np.object_] = low + (high << LIMB_BITS)
        return sums

    def widen(self, shift: int) -> None:
        """Make bins of ``1 << shift`` twice as wide."""
        self._low.widen(shift)
        self._high.widen(shift)

    def _add(self, shift: int, subject: I64, begin_ps: I64, end_ps: I64, weight: I64) -> None:
        self._low.add(shift, subject, begin_ps, end_ps, weight & ((1 << LIMB_BITS) - 1))
        self._high.add(shift, subject, begin_ps, end_ps, weight >> LIMB_BITS)


class Counts:
    """Events counted in bins, [subjects, BINS]."""

    def __init__(self, subjects: int) -> None:
        self.values: I64 = np.zeros((subjects, BINS), np.int64)

    def add(self, shift: int, subject: I64, time_ps: I64) -> None:
        """Count one event of each subject; one at the very end belongs to the last bin."""
        np.add.at(self.values, (subject, np.minimum(time_ps >> shift, BINS - 1)), 1)

    def widen(self, _: int) -> None:
        """Make bins twice as wide."""
        pairs = self.values.reshape(-1, BINS // 2, 2).sum(axis=2)
        self.values[:, : BINS // 2] = pairs
        self.values[:, BINS // 2 :] = 0
