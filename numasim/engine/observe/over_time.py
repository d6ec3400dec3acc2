"""A run over time: the states of its workers, the lengths of queues, the use of each resource (model 6).

The tables are exact integrals over each of at most `BINS` intervals (bins) of equal width, computed from the rows of a
watched run (`numasim.engine.observe.watch`). A resource is a memory controller, link, cache or the address space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.watch import ACTOR, BEGIN, COLUMNS, END, FIRST, I64, KIND, STRETCHES, Watched
from numasim.errors import InputError
from numasim.plan.plan import Plan
from numasim.plan.resources import Resource, resources_of

if TYPE_CHECKING:
    import pandas as pd

# ---- Integrals over time in bins whose width doubles as a run goes on: exact, in bounded memory ---------------------
#
# A subject is a worker in one state, a queue, or a resource. Its weight (1, the length, the use) holds for a stretch of
# time. The integral of the weight over each bin is a whole number: what a stretch adds to a bin that it covers in part
# is added at once; of the bins that it covers entirely, only the first and the one behind the last are marked.


BINS = 1024
LIMB_BITS = 20  # a weight is split into parts (limbs) of so many bits, so that limb times width fits 63 bits
MOST_SHIFT = 62 - LIMB_BITS  # binary logarithm of the largest width of a bin


class Integrals:
    """Integrals [subjects, BINS] of weights below 2**`LIMB_BITS`."""

    def __init__(self, subjects: int) -> None:
        self._inside: I64 = np.zeros((subjects, BINS), np.int64)
        self._covers: I64 = np.zeros((subjects, BINS + 1), np.int64)  # changes of the weight that covers whole bins

    def add(self, shift: int, subject: I64, begin_ps: I64, end_ps: I64, weight: I64) -> None:
        """Add stretches [n], none of them empty, in bins of width ``1 << shift`` ps."""
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
        """Return [subjects, BINS] the integrals, for bins of width ``1 << shift`` ps."""
        covered: I64 = np.cumsum(self._covers[:, :BINS], axis=1)
        return self._inside + (covered << shift)

    def widen(self, shift: int) -> None:
        """Double the width of the bins, which is ``1 << shift`` ps now."""
        pairs = self.values(shift).reshape(-1, BINS // 2, 2).sum(axis=2)
        self._inside[:, : BINS // 2] = pairs
        self._inside[:, BINS // 2 :] = 0
        self._covers[:] = 0


class Steps:
    """Integrals of step functions: a subject has a value from a time on until it gets another value."""

    def __init__(self, subjects: int) -> None:
        self._low, self._high = Integrals(subjects), Integrals(subjects)
        self._since_ps: I64 = np.zeros(subjects, np.int64)
        self._value: I64 = np.zeros(subjects, np.int64)

    def set(self, shift: int, subject: I64, time_ps: I64, value: I64) -> None:
        """Give each ``subject`` [n] its ``value`` [n] from ``time_ps`` [n] on, in order of time for each subject."""
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
        """End all values at ``end_ps``."""
        everyone = np.arange(len(self._value))
        self.set(shift, everyone, np.full(len(everyone), end_ps), self._value.copy())

    def values(self, shift: int) -> npt.NDArray[np.object_]:
        """Return [subjects, BINS] the integrals, as integers of any size."""
        low, high = self._low.values(shift).astype(object), self._high.values(shift).astype(object)
        sums: npt.NDArray[np.object_] = low + (high << LIMB_BITS)
        return sums

    def widen(self, shift: int) -> None:
        """Double the width of the bins, which is ``1 << shift`` ps now."""
        self._low.widen(shift)
        self._high.widen(shift)

    def _add(self, shift: int, subject: I64, begin_ps: I64, end_ps: I64, weight: I64) -> None:
        self._low.add(shift, subject, begin_ps, end_ps, weight & ((1 << LIMB_BITS) - 1))
        self._high.add(shift, subject, begin_ps, end_ps, weight >> LIMB_BITS)


STATES = {
    Watched.WORK: "work_ps",
    Watched.OVERHEAD: "overhead_ps",
    Watched.IDLE: "idle_ps",
    Watched.PARKED: "parked_ps",
    Watched.BARRIER: "idle_barrier_ps",
}
F64 = npt.NDArray[np.float64]

MOST_STEALS = 400  # steals that are kept one by one


# ---- The tables -----------------------------------------------------------------------------------------------------


class OverTime:
    """A `Watcher` that adds up the rows; call `close` at the makespan, then read the tables.

    A producer (a thread that makes tasks beside the workers) counts as worker number ``workers``. ``steals`` are the
    first rows [n, COLUMNS] of steals. ``resources`` is empty if the run is not coupled (no time depends on other
    workers): such a run does not report the use of resources.
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
        self._moves = Integrals(2)  # steals inside a node and from another node, each as a stretch of one picosecond
        self._home = plan.steal.queues["home"].astype(np.int64)

    def __call__(self, rows: I64) -> None:
        """Add rows [n, COLUMNS]."""
        self._make_room(int(rows[:, END].max()))
        stretches = rows[np.isin(rows[:, KIND], STRETCHES) & (rows[:, END] > rows[:, BEGIN])]
        subject = stretches[:, ACTOR] * len(STATES) + stretches[:, KIND]
        once = np.ones(len(stretches), np.int64)
        self._stretches.add(self.shift, subject, stretches[:, BEGIN], stretches[:, END], once)
        for kind, steps in ((Watched.LENGTH, self._lengths), (Watched.LOAD, self._loads)):
            chosen = rows[rows[:, KIND] == kind]
            steps.set(self.shift, chosen[:, ACTOR], chosen[:, BEGIN], chosen[:, FIRST])
        self._add_steals(rows[rows[:, KIND] == Watched.STEAL])

    def _add_steals(self, steals: I64) -> None:
        home, node = self._home[steals[:, FIRST]], self.plan.workers.node[steals[:, ACTOR]]
        begin = np.minimum(steals[:, BEGIN], (BINS << self.shift) - 1)  # a steal at the very end is in the last bin
        far = ((home >= 0) & (home != node)).astype(np.int64)
        self._moves.add(self.shift, far, begin, begin + 1, np.ones(len(steals), np.int64))
        room = MOST_STEALS - len(self.steals)
        self.steals = np.concatenate([self.steals, steals[: max(0, room)]])

    def close(self, makespan_ps: int) -> None:
        """End the run at ``makespan_ps``."""
        self.makespan_ps = makespan_ps
        self._make_room(makespan_ps)
        self._lengths.close(self.shift, makespan_ps)
        self._loads.close(self.shift, makespan_ps)

    def _make_room(self, end_ps: int) -> None:
        while end_ps > BINS << self.shift:
            if self.shift == MOST_SHIFT:
                most = "at most an hour of simulated time"
                raise InputError("the run is too long for tables over time", expected=most)
            for part in (self._stretches, self._lengths, self._loads, self._moves):
                part.widen(self.shift)
            self.shift += 1

    # ---- the sums --------------------------------------------------------------------------------------------------

    @property
    def edges_ps(self) -> I64:
        """Return [bins + 1] the begin of each bin in ps, and the makespan, the end of the last bin."""
        begins = np.arange(0, max(1, self.makespan_ps), 1 << self.shift, dtype=np.int64)
        return np.append(begins, self.makespan_ps)

    @property
    def stretches_ps(self) -> I64:
        """Return [workers + 1, STATES, bins] the time in ps that each worker, then a producer, spent in each state."""
        values = self._stretches.values(self.shift)[:, : len(self.edges_ps) - 1]
        return values.reshape(self._workers + 1, len(STATES), -1)

    @property
    def queue_length(self) -> F64:
        """Return [queues, bins] the mean number of tasks in each queue."""
        return self._means(self._lengths)

    @property
    def resource_load(self) -> F64:
        """Return [resources, bins] the mean use of each resource, in units per second."""
        return self._means(self._loads)

    @property
    def steals_made(self) -> I64:
        """Return [2, bins] the number of successful steals inside a node, and of those from another node."""
        return self._moves.values(self.shift)[:, : len(self.edges_ps) - 1]

    def _means(self, steps: Steps) -> F64:
        widths = np.maximum(1, np.diff(self.edges_ps)).astype(object)
        means: F64 = (steps.values(self.shift)[:, : len(widths)] / widths).astype(np.float64)
        return means

    # ---- the results as data frames --------------------------------------------------------------------------------

    def workers_frame(self) -> pd.DataFrame:
        """Return a row for each bin and worker: ``begin_ps``, ``end_ps``, ``worker``, ``node``, ps in each state."""
        table = self._frame("worker", self._workers)
        table["node"] = np.repeat(self.plan.workers.node.astype(np.int64), len(self.edges_ps) - 1)
        for at, name in enumerate(STATES.values()):
            table[name] = self.stretches_ps[: self._workers, at].ravel()
        return table

    def queue_length_frame(self) -> pd.DataFrame:
        """Return a row for each bin and queue: ``begin_ps``, ``end_ps``, ``queue``, ``node`` or -1, mean ``tasks``."""
        table = self._frame("queue", len(self._home))
        table["node"] = np.repeat(self._home, len(self.edges_ps) - 1)
        table["tasks"] = self.queue_length.ravel()
        return table

    def resource_load_frame(self) -> pd.DataFrame:
        """Return a row for each bin and resource, no row for a run that is not coupled: ``begin_ps``, ``end_ps``,
        ``resource``, the ``name``, ``unit`` and ``capacity`` (units per second) of the resource, the mean units per
        second ``used``, and their ``share`` of the capacity.
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
        """Return a row for each bin: ``begin_ps``, ``end_ps``, steals in a node (``near``), between nodes (``far``)."""
        table = self._frame("", 1).drop(columns="")
        table["near"], table["far"] = self.steals_made
        return table

    def _frame(self, subject: str, count: int) -> pd.DataFrame:
        import pandas as pd

        begin, end = self.edges_ps[:-1], self.edges_ps[1:]
        bins = {"begin_ps": np.tile(begin, count), "end_ps": np.tile(end, count)}
        return pd.DataFrame({**bins, subject: np.repeat(np.arange(count), len(begin))})
