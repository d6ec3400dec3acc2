"""Rows of a watched run in the order of time, for formats whose events must not go back (Paje, Paraver).

Rows of one worker come in order, a stretch when it ends. So no row is still to come that begins before the last row of
the worker that is furthest behind: what begins before that is handed on, and the rest waits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numasim.engine.observe.watch import ACTOR, BEGIN, COLUMNS, END, I64, KIND, STRETCHES, Watched

CHUNK_ROWS = 65_536  # that are gathered before they are sorted
KINDS = (*STRETCHES, Watched.STEAL)
GONE = -1  # the kind of a stretch from the end of a producer's work to the end of the run


class TimeOrder:
    """A `Watcher` that hands stretches and steals to ``take``, rows [n, COLUMNS] in the order of their beginnings.

    Stretches of no length are left out; ``actors`` are the workers, and a producer beside them if there is one. Once it
    has ended, nobody knows that it will do nothing more, and the rows of the rest of the run wait.
    """

    def __init__(self, actors: int, take: Callable[[I64], None]) -> None:
        self._take = take
        self._begun = np.zeros(actors, np.int64)  # by the last row of each
        self._until = np.zeros(actors, np.int64)
        self._waiting: list[I64] = []
        self._count = 0

    def __call__(self, rows: I64) -> None:
        """Gather rows."""
        rows = rows[np.isin(rows[:, KIND], KINDS)]
        np.maximum.at(self._begun, rows[:, ACTOR], rows[:, BEGIN])
        np.maximum.at(self._until, rows[:, ACTOR], rows[:, END])
        rows = rows[(rows[:, END] > rows[:, BEGIN]) | (rows[:, KIND] == Watched.STEAL)]
        self._waiting.append(rows)
        self._count += len(rows)
        if self._count >= CHUNK_ROWS:
            self._hand_on(int(self._begun.min()))

    @property
    def end_ps(self) -> int:
        """Until when rows go: at the end, the makespan."""
        return int(self._until.max())

    def close(self) -> None:
        """Hand on the rest."""
        early = np.flatnonzero(self._until < self.end_ps)
        gone = np.zeros((len(early), COLUMNS), np.int64)
        gone[:, KIND], gone[:, ACTOR], gone[:, BEGIN], gone[:, END] = GONE, early, self._until[early], self.end_ps
        self._waiting.append(gone)
        self._hand_on(None)

    def _hand_on(self, until_ps: int | None) -> None:
        """Hand on what begins before ``until_ps``; None: everything."""
        rows = np.concatenate([np.zeros((0, COLUMNS), np.int64), *self._waiting])
        rows = rows[np.argsort(rows[:, BEGIN], kind="stable")]
        count = len(rows) if until_ps is None else int(np.searchsorted(rows[:, BEGIN], until_ps))
        self._waiting, self._count = [rows[count:]], 0
        if count:
            self._take(rows[:count])
