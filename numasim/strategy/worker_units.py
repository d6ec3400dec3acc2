"""The units of a machine to which each worker belongs: core, LLC, node, socket, machine.

Positions are the workers and, last, an extra producer thread (thesis chapter 3), which is on the node of worker 0 but
has no core and no queue of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from numasim.machine.routing import distance_classes
from numasim.machine.topology import Machine, WorkerMap
from numasim.strategy.steal_plan import Unit

I64 = npt.NDArray[np.int64]
NOWHERE = -1
UNIT_NAMES = tuple(unit.name.lower() for unit in Unit)


@dataclass(frozen=True)
class Units:
    """``of[kind]`` is the unit id of every position, ``NOWHERE`` where the producer has none."""

    of: dict[str, I64]
    machine: Machine
    map: WorkerMap

    @classmethod
    def on(cls, machine: Machine, workers: WorkerMap) -> Units:
        """Build the units of ``workers`` on ``machine``."""
        return cls({kind: _positions(workers, kind) for kind in UNIT_NAMES}, machine, workers)

    @property
    def workers(self) -> int:
        """Number of workers."""
        return self.map.workers

    @property
    def positions(self) -> int:
        """Number of positions: the workers and one producer."""
        return self.workers + 1

    @cached_property
    def distance(self) -> I64:
        """[workers, workers] distance classes, nearest first; built once, because only grouped levels need them."""
        return distance_classes(self.machine, self.map)

    def access_ps(self, worker: int, others: I64) -> I64:
        """Return the latency from ``worker`` to memory of the node of each of the workers ``others``."""
        node = self.map.node
        return np.asarray(self.machine.latency_ps[node[worker], node[others]])


def _positions(workers: WorkerMap, kind: str) -> I64:
    unit = workers.unit(kind)
    return np.append(unit, NOWHERE if kind in ("worker", "core") else unit[0])
