"""A run over time: what its workers do, the lengths of queues, the use of each resource (model 6).

The tables are exact integrals over at most `BINS` stretches of equal length, whatever the length of the run, gathered
from the rows of a watched run (`numasim.engine.observe.watch`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.bins import BINS, MOST_SHIFT, Counts, Integrals, Steps
from numasim.engine.observe.watch import ACTOR, BEGIN, COLUMNS, END, FIRST, I64, KIND, STRETCHES, Watched
from numasim.errors import InputError
from numasim.plan.plan import Plan
from numasim.plan.resources import Resource, resources_of

if TYPE_CHECKING:
    import pandas as pd

STATES = {
    Watched.WORK: "work_ps",
    Watched.OVERHEAD: "overhead_ps",
    Watched.IDLE: "idle_ps",
    Watched.PARKED: "parked_ps",
    Watched.BARRIER: "idle_barrier_ps",
}
F64 = npt.NDArray[np.float64]

MOST_STEALS = 400  # steals that are stored one by one


class OverTime:
    """A `Watcher` that adds up the rows; call `close` at the makespan, then read the tables.

    A producer beside the workers has the row behind theirs. ``steals`` are the first rows [n, COLUMNS] of steals.
    ``resources`` is empty where the run is not coupled, because its use of resources is then not reported.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._workers = plan.workers.workers
        self.makespan_ps = 0
        self.shift = 0
        self.steals: I64 = np.zeros((0, COLUMNS), np.int64)
        self._stretches = Integrals((self._workers + 1) * len(STATES))
        self._lengths = Steps(len(plan.steal.queues))
        self.resources: tuple[Resource, ...] = resources_of(plan).listed if plan.coupled else ()
        self._loads = Steps(len(self.resources))
        self._moves = Counts(2)  # steals inside a node and from another one
        self._home = plan.steal.queues["home"].astype(np.int64)

    def __call__(self, rows: I64) -> None:
        """Add rows [n, COLUMNS]."""
        self._make_room(int(rows[:, END].max()))
        stretches = rows[np.isin(rows[:, KIND], STRETCHES) & (rows[:, END] > rows[:, BEGIN])]
        subject = stretches[:, ACTOR] * len(STATES) + stretches[:, KIND]
        self._stretches.add(
            self.shift, subject, stretches[:, BEGIN], stretches[:, END], np.ones(len(stretches), np.int64)
        )
        lengths = rows[rows[:, KIND] == Watched.LENGTH]
        self._lengths.set(self.shift, lengths[:, ACTOR], lengths[:, BEGIN], lengths[:, FIRST])
        loads = rows[rows[:, KIND] == Watched.LOAD]
        self._loads.set(self.shift, loads[:, ACTOR], loads[:, BEGIN], loads[:, FIRST])
        self._add_steals(rows[rows[:, KIND] == Watched.STEAL])

    def _add_steals(self, steals: I64) -> None:
        home, node = self._home[steals[:, FIRST]], self.plan.workers.node[steals[:, ACTOR]]
        self._moves.add(self.shift, ((home >= 0) & (home != node)).astype(np.int64), steals[:, BEGIN])
        room = MOST_STEALS - len(self.steals)
        self.steals = np.concatenate([self.steals, steals[: max(0, room)]])

    def close(self, makespan_ps: int) -> None:
        """The run has ended."""
        self.makespan_ps = makespan_ps
        self._make_room(makespan_ps)
        self._lengths.close(self.shift, makespan_ps)
        self._loads.close(self.shift, makespan_ps)

    def _make_room(self, end_ps: int) -> None:
        while end_ps > BINS << self.shift:
            if self.shift == MOST_SHIFT:
                raise InputError(
                    "the run is too long for tables over time", expected="at most an hour of simulated time"
                )
            for part in (self._stretches, self._lengths, self._loads, self._moves):
                part.widen(self.shift)
            self.shift += 1

    # ---- what has been added up ------------------------------------------------------------------------------------

    @property
    def edges_ps(self) -> I64:
        """[bins + 1] where the bins begin, and the makespan, where the last one ends."""
        begins = np.arange(0, max(1, self.makespan_ps), 1 << self.shift, dtype=np.int64)
        return np.append(begins, self.makespan_ps)

    @property
    def stretches_ps(self) -> I64:
        """[workers + 1, STATES, bins] the time that each worker, then a producer, spent in each state."""
        values = self._stretches.values(self.shift)[:, : len(self.edges_ps) - 1]
        return values.reshape(self._workers + 1, len(STATES), -1)

    @property
    def queue_length(self) -> F64:
        """[queues, bins] the mean length."""
        return self._means(self._lengths)

    @property
    def resource_load(self) -> F64:
        """[resources, bins] the mean use, in units per second."""
        return self._means(self._loads)

    @property
    def steals_made(self) -> I64:
        """[2, bins] successful steals inside a node, and from another one."""
        return self._moves.values[:, : len(self.edges_ps) - 1]

    def _means(self, steps: Steps) -> F64:
        widths = np.maximum(1, np.diff(self.edges_ps)).astype(object)
        means: F64 = (steps.values(self.shift)[:, : len(widths)] / widths).astype(np.float64)
        return means

    # ---- the same as tables ----------------------------------------------------------------------------------------

    def workers_frame(self) -> pd.DataFrame:
        """One row for each bin and worker: ``begin_ps``, ``end_ps``, ``worker``, ``node``, the time in each state."""
        table = self._frame("worker", self._workers)
        table["node"] = np.repeat(self.plan.workers.node.astype(np.int64), len(self.edges_ps) - 1)
        for at, name in enumerate(STATES.values()):
            table[name] = self.stretches_ps[: self._workers, at].ravel()
        return table

    def queue_length_frame(self) -> pd.DataFrame:
        """One row for each bin and queue: ``begin_ps``, ``end_ps``, ``queue``, ``node`` (-1: none), mean ``tasks``."""
        table = self._frame("queue", len(self._home))
        table["node"] = np.repeat(self._home, len(self.edges_ps) - 1)
        table["tasks"] = self.queue_length.ravel()
        return table

    def resource_load_frame(self) -> pd.DataFrame:
        """One row for each bin and resource, none for a run that is not coupled: ``begin_ps``, ``end_ps``,
        ``resource``, its ``name``, ``unit`` and ``capacity``, the mean of what is ``used`` and its ``share`` of that.
        """
        table = self._frame("resource", len(self.resources))
        bins = len(self.edges_ps) - 1
        table["name"] = np.repeat(np.array([resource.name for resource in self.resources], object), bins)
        table["unit"] = np.repeat(np.array([resource.kind.unit for resource in self.resources], object), bins)
        table["capacity"] = np.repeat(np.array([resource.capacity for resource in self.resources], np.int64), bins)
        table["used"] = self.resource_load.ravel()
        table["share"] = table["used"] / table["capacity"]
        return table

    def steals_frame(self) -> pd.DataFrame:
        """One row for each bin: ``begin_ps``, ``end_ps``, steals ``near`` and ``far``."""
        table = self._frame("", 1).drop(columns="")
        table["near"], table["far"] = self.steals_made
        return table

    def _frame(self, subject: str, count: int) -> pd.DataFrame:
        import pandas as pd

        begin, end = self.edges_ps[:-1], self.edges_ps[1:]
        return pd.DataFrame(
            {
                "begin_ps": np.tile(begin, count),
                "end_ps": np.tile(end, count),
                subject: np.repeat(np.arange(count), len(begin)),
            }
        )
