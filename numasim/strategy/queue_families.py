"""The task queues of a strategy: a family has a queue for each unit (worker, node, ...) that has a worker."""

from __future__ import annotations

from functools import cached_property
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from numasim.frozen import Frozen
from numasim.machine.routing import distance_classes
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import UnitName
from numasim.schema.enumerations import NO_QUEUE, End, Full
from numasim.strategy.steal_plan import QUEUE

# ---- The units of the machine to which each worker belongs -----------------------------------------------------------
#
# A position is a worker or, as the last position, an extra producer: a thread that only makes tasks (Vikranth's thesis,
# chapter 3). The producer is on the node of worker 0 but has no core and no queue of its own.

I64 = npt.NDArray[np.int64]
NOWHERE = -1  # in place of a unit or queue


class Units(Frozen):
    """The units (cores, caches, nodes, ...) on ``machine`` of the workers that ``map`` places."""

    machine: Machine
    map: WorkerMap

    @cached_property
    def of(self) -> dict[str, I64]:
        """Return {kind of unit: [positions] the unit's id}; a producer's worker and core are `NOWHERE`."""
        unit = {kind: self.map.unit(kind) for kind in get_args(UnitName)}
        return {kind: np.append(ids, NOWHERE if kind in ("worker", "core") else ids[0]) for kind, ids in unit.items()}

    @property
    def workers(self) -> int:
        """Return the number of workers."""
        return self.map.workers

    @cached_property
    def distance(self) -> I64:
        """Return [workers, workers] the rank of the distance between two workers, 0 for the smallest."""
        return distance_classes(self.machine, self.map)

    def access_ps(self, worker: int, others: I64) -> I64:
        """Return [others] the latency in ps from ``worker`` to the memory of the node of each of ``others``."""
        node = self.map.node
        return np.asarray(self.machine.latency_ps[node[worker], node[others]])


END = {"lifo": End.BACK, "fifo": End.FRONT}  # tasks are pushed at the back
NO_NODE = -1


class Pool(Frozen):
    """The queues of one or several families, in ascending order of families and units."""

    queue: I64  # [n]
    family: I64  # [n] index among the families of the pool
    first: I64  # [n] the first worker of the queue's unit
    mine: I64  # [families, positions] the queue of the unit to which the position belongs, or NOWHERE

    @property
    def families(self) -> int:
        """Return the number of families."""
        return len(self.mine)

    def is_mine(self, position: int) -> npt.NDArray[np.bool_]:
        """Return [n] whether the queue belongs to a unit of ``position``."""
        return np.asarray(self.queue == self.mine[self.family, position])


def build_families(spec: StrategySpec, units: Units) -> dict[str, Pool]:
    """Return the queues of each family, by name; queue ids are consecutive."""
    families: dict[str, Pool] = {}
    base = 0
    for name, queue in spec.queues.items():
        families[name] = _family(base, units.of[queue.per], units.workers)
        base += len(families[name].queue)
    return families


def _family(base: int, unit: I64, workers: int) -> Pool:
    ids, first = np.unique(unit[:workers], return_index=True)
    mine = np.append(base + np.searchsorted(ids, unit[:workers]), NOWHERE)
    if unit[workers] != NOWHERE:
        mine[workers] = mine[0]
    return Pool(base + np.arange(len(ids)), np.zeros(len(ids), np.int64), first, mine[None])


def pool_of(families: list[Pool]) -> Pool:
    """Join families into one pool."""
    return Pool(
        queue=np.concatenate([family.queue for family in families]),
        family=np.repeat(np.arange(len(families)), [len(family.queue) for family in families]),
        first=np.concatenate([family.first for family in families]),
        mine=np.concatenate([family.mine for family in families]),
    )


def queue_records(
    spec: StrategySpec, runtime: RuntimeSpec, units: Units, families: dict[str, Pool]
) -> npt.NDArray[Any]:
    """Return [queues] QUEUE records: ends, capacities and rules of ``spec`` or, where it has none, of ``runtime``."""
    parts = []
    for number, (name, queue) in enumerate(spec.queues.items()):
        part = np.zeros(len(families[name].queue), QUEUE)
        part["owner"] = families[name].first
        part["home"] = NO_NODE if queue.per == "machine" else units.of["node"][families[name].first]
        part["family"] = number
        own, steal = (runtime.queue_order if queue.per == "worker" else "lifo-fifo").split("-")
        part["own_end"], part["steal_end"] = END[queue.own or own], END[queue.steal or steal]
        capacity, full = (runtime.capacity_tasks, runtime.on_full) if queue.per == "worker" else (0, "grow")
        part["capacity"] = 1 if name in spec.slots else queue.capacity or capacity
        part["full"] = Full[(queue.full or full).upper().replace("-", "_")]
        part["in_a_row"] = queue.in_a_row or 0
        named = (name in spec.families(level) for level in spec.steal if level.source != "last")
        part["hidden"] = name in spec.slots and not any(named)
        parts.append(part)
    return np.concatenate(parts)


def own_queues(spec: StrategySpec, families: dict[str, Pool], workers: int) -> npt.NDArray[np.uint32]:
    """Return [workers] the own queue of each worker, from which the worker pops first, or `NO_QUEUE`."""
    name = spec.worker_family
    own = np.full(workers, NO_QUEUE) if name is None else families[name].mine[0, :workers]
    return own.astype(np.uint32)


def queue_lines(spec: StrategySpec, families: dict[str, Pool]) -> npt.NDArray[np.uint8]:
    """Return [queues] the number of cache lines on which the words of each queue stand."""
    sizes = [len(families[name].queue) for name in spec.queues]
    return np.repeat([queue.lines for queue in spec.queues.values()], sizes).astype(np.uint8)
