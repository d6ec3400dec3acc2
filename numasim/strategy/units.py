"""Where the workers are, in the units that strategies speak of: core, LLC, node, socket, machine.

Positions are the workers and then one more: an extra producer thread (thesis chapter 3), which stands beside worker 0
but has no core and no queue of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from numasim.machine.topology import Machine, WorkerMap
from numasim.strategy.plan import Unit

I64 = npt.NDArray[np.int64]
NOWHERE = -1
UNIT_NAMES = tuple(unit.name.lower() for unit in Unit)


class Near(IntEnum):
    """Distance classes closer than any memory latency; two nodes are ``FAR`` plus their latency apart."""

    CORE = 0
    LLC = 1
    NODE = 2
    FAR = 3


@dataclass(frozen=True)
class Units:
    """``of[kind]`` is the unit id of every position, ``NOWHERE`` where the producer has none."""

    of: dict[str, I64]
    latency_ps: I64  # [nodes, nodes]
    workers: int

    @classmethod
    def on(cls, machine: Machine, workers: WorkerMap) -> Units:
        """Build the units of ``workers`` on ``machine``."""
        return cls({kind: _positions(workers, kind) for kind in UNIT_NAMES}, machine.latency_ps, workers.workers)

    @property
    def positions(self) -> int:
        """Number of positions: the workers and one producer."""
        return self.workers + 1

    def distance(self, position: int, others: I64) -> I64:
        """Return the distance class of each of the workers ``others``, seen from ``position``."""
        node = self.of["node"]
        far = Near.FAR + self.latency_ps[node[position], node[others]]
        for kind, near in (("node", Near.NODE), ("llc", Near.LLC), ("core", Near.CORE)):
            far = np.where(self.of[kind][others] == self.of[kind][position], near, far)
        return np.asarray(far)

    def access_ps(self, position: int, others: I64) -> I64:
        """Return the latency from ``position`` to memory of the node of each of the workers ``others``."""
        node = self.of["node"]
        return np.asarray(self.latency_ps[node[position], node[others]])


def _positions(workers: WorkerMap, kind: str) -> I64:
    unit = workers.unit(kind)
    return np.append(unit, NOWHERE if kind in ("worker", "core") else unit[0])
