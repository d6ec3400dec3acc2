"""Synchronisation objects and their homes: the objects of a program, and the locks of a strategy for stealing.

A steal level is an entry of the strategy's list of places to steal from; a probe is a thief's look at a queue. With
``lock: U`` on a steal level, a probe takes the lock of the unit of kind U (node, machine, ...) of the probed queue.
Algorithm 5 of Vikranth's thesis has ``lock: node`` on both levels: a worker holds the lock of the node that it
searches, and the algorithm's global lock G is the part of a cohort lock that goes from node to node. With ``lock:
machine`` on the remote level, one lock serves all remote searches (model 4.6). ``lock: yes`` on a family of queues
gives each queue a lock. A probe that has seen a task takes this lock, looks again, and holds the lock until the
overhead of the steal has passed; with ``locks.probe: lock-first`` every probe takes the lock. A worker that pushes a
task into the queue of another worker also takes the lock (model 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numasim.frozen import Frozen
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.base import ps
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.steal_plan import StealPlan
from numasim.workload.builder import frozen
from numasim.workload.sync_parameters import Role, SyncObject, running_weights, weights_of

I32 = npt.NDArray[np.int32]
NO_LOCK = -1


class SyncPlaces(Frozen):
    """The synchronisation objects of a run: the objects of the program first, then the locks of the strategy."""

    names: tuple[str, ...]
    role: npt.NDArray[np.uint8]  # [objects] Role
    home: I32  # [objects] the node whose memory holds the object
    worker_home: I32  # [workers] the home of an object that the worker owns
    parties: npt.NDArray[np.int64]  # [objects] workers of a barrier, or objects of a memory of transactions
    undo_ps: npt.NDArray[np.int64]  # [objects] overhead of an abort
    same: npt.NDArray[np.uint8]  # [objects] whether the attempts of a transaction open the same objects
    weights: tuple[npt.NDArray[np.int64], ...]  # [objects] running sums of the weights of a memory's objects
    declared: int  # number of objects of the program
    level_lock: I32  # [steal levels, queues] the level's lock for each queue, or `NO_LOCK`; empty without such locks
    queue_lock: I32  # [queues] the lock of each queue, or `NO_LOCK`; empty without such locks
    kind: str  # of all locks
    barrier: str  # the kind of all barriers
    batch: int  # `cohort`: grants in a row within one node
    fair: bool  # `tas`, `ttas`: whether waiters get a lock in the order of arrival
    spin_ps: int  # `mutex`, `barging`: time after which a waiter sleeps
    cached: bool  # whether an object's cache line comes from the core that had it last
    looks_first: bool  # whether a probe looks into a queue before taking the queue's lock

    def __len__(self) -> int:
        """Return the number of synchronisation objects."""
        return len(self.names)

    @property
    def search(self) -> bool:
        """Return whether the strategy has locks, which searches for work take."""
        return len(self) > self.declared

    @property
    def locks_probes(self) -> bool:
        """Return whether probes that find no task take locks, too."""
        return len(self.level_lock) > 0 or (len(self.queue_lock) > 0 and not self.looks_first)


def place_words(
    spec: StrategySpec, steal: StealPlan, machine: Machine, workers: WorkerMap, declared: Sequence[SyncObject] = ()
) -> SyncPlaces:
    """Return the synchronisation objects of a run: those of the program, ``declared``, and the locks of ``spec``."""
    owners = [word.owner % workers.workers for word in declared]
    names = [word.name or f"word {number}" for number, word in enumerate(declared)]
    table = _SearchLocks(workers, names, owners)
    level_lock = table.of_levels(spec, steal)
    queue_lock = table.of_queues(spec, steal)
    locks, strategy_words = spec.locks, len(names) - len(declared)
    own = machine.home_of_node[workers.node]
    node = own if locks.home == "owner" else np.full(workers.workers, own[0])
    return SyncPlaces(
        names=tuple(names),
        role=frozen(np.array([word.role for word in declared] + [Role.LOCK] * strategy_words, np.uint8)),
        home=frozen(np.array(node[owners] if owners else [], np.int32)),
        worker_home=frozen(np.array(node, np.int32)),
        parties=frozen(np.array([word.parties for word in declared] + [1] * strategy_words, np.int64)),
        undo_ps=frozen(np.array([word.undo_ps for word in declared] + [0] * strategy_words, np.int64)),
        same=frozen(np.array([word.same for word in declared] + [False] * strategy_words, np.uint8)),
        weights=(*map(weights_of, declared), *[running_weights(0, 0)] * strategy_words),
        declared=len(declared),
        level_lock=level_lock,
        queue_lock=queue_lock,
        kind=locks.kind,
        barrier=locks.barrier,
        batch=locks.batch,
        fair=locks.fairness == "fair",
        spin_ps=ps(locks.spin_ns),
        cached=locks.words == "cached",
        looks_first=locks.probe == "look-first",
    )


@dataclass
class _SearchLocks:
    """Numbers the locks of a strategy, behind the program's objects; ``names`` and ``owners`` grow with them."""

    workers: WorkerMap
    names: list[str]
    owners: list[int]  # the worker that owns each object

    def of_levels(self, spec: StrategySpec, steal: StealPlan) -> I32:
        """Return `SyncPlaces.level_lock`, with a new lock for each unit that a level locks."""
        table = np.full((len(spec.search), len(steal.queues)), NO_LOCK, np.int32)
        units = [entry.lock for entry in spec.search]
        for unit in dict.fromkeys(filter(None, units)):
            ids, first, unit_of = np.unique(self.workers.unit(unit), return_index=True, return_inverse=True)
            # the first worker of a unit owns the lock of the unit
            locks = [self._add(f"{unit} {ident}", owner) for ident, owner in zip(ids, first.tolist(), strict=True)]
            table[[each == unit for each in units]] = np.array(locks)[unit_of[steal.queues["owner"]]]
        return frozen(table if any(units) else table[:0])

    def of_queues(self, spec: StrategySpec, steal: StealPlan) -> I32:
        """Return `SyncPlaces.queue_lock`, with a new lock for each queue of a family with locks."""
        locked = np.array([family.lock for family in spec.queues.values()])[steal.queues["family"]]
        table = np.full(len(steal.queues), NO_LOCK, np.int32)
        for queue in np.flatnonzero(locked).tolist():
            owner = int(steal.queues["owner"][queue])
            table[queue] = self._add(f"{steal.families[steal.queues['family'][queue]]} of worker {owner}", owner)
        return frozen(table if locked.any() else table[:0])

    def _add(self, name: str, owner: int) -> int:
        self.names.append(name)
        self.owners.append(owner)
        return len(self.names) - 1
