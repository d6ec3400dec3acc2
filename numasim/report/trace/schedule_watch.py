"""Which worker executed what from when to when in a watched run: the schedule of its tasks."""

from __future__ import annotations

import numpy as np

from numasim.engine.observe.watch import ACTOR, BEGIN, COLUMNS, END, FIRST, I64, KIND, SECOND, Watched
from numasim.plan.plan import Plan
from numasim.workload.export.executed import Executed


class ScheduleWatch:
    """A `Watcher` that keeps what was executed."""

    def __init__(self) -> None:
        self._rows: list[I64] = []

    def __call__(self, rows: I64) -> None:
        """Keep the rows of work."""
        self._rows.append(rows[rows[:, KIND] == Watched.WORK])

    def executed(self, plan: Plan, makespan_ps: int) -> Executed:
        """All that was executed, in the order of time, and at one time in that of workers."""
        rows = np.concatenate([np.zeros((0, COLUMNS), np.int64), *self._rows])
        rows = rows[np.lexsort((rows[:, END], rows[:, ACTOR], rows[:, BEGIN]))]
        return Executed(
            task=rows[:, FIRST],
            segment=rows[:, SECOND],
            worker=rows[:, ACTOR],
            begin_ps=rows[:, BEGIN],
            end_ps=rows[:, END],
            node=plan.workers.node.astype(np.int64),
            makespan_ps=makespan_ps,
            clock_hz=plan.machine.clock.base_hz,
        )
