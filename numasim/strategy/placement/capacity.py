"""Memory capacity: pages for which their node has no room go to the next node by distance (model 2.2).

Memory is given out in the order of regions and pages. If no node has room, a page keeps the home that its policy gives.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.machine.topology import Machine
from numasim.strategy.placement.homes import Homes, TabulatedHomes, require_tabulated
from numasim.workload.graph import Region

I64 = npt.NDArray[np.int64]
I16 = npt.NDArray[np.int16]


class Capacity:
    """The free memory of each node.

    ``free`` [nodes] in pages, negative where a node is overfull; ``order`` [nodes, nodes] the nodes by distance from
    each node, nearest first.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.free: I64 = np.asarray(machine.memory_bytes, np.int64) // machine.page_bytes
        self.order = nodes_by_distance(machine)

    def settle(self, homes: Homes, region: Region) -> Homes:
        """Take the memory of a region placed by ``homes``; return the homes that its pages get."""
        pages = -(-region.bytes // self._machine.page_bytes)
        wanted = homes.pages_by_home(pages, self._machine.nodes)
        if not pages or (wanted <= self.free).all():
            self.free = self.free - wanted
            return homes
        require_tabulated(region.name, pages, self._machine.nodes)
        return TabulatedHomes(self._spill(homes.of_pages(pages)), self._machine.page_bytes, self._machine.nodes)

    def _spill(self, wanted: I16) -> I16:
        """[pages] the homes of pages whose policy gives ``wanted``: unchanged until a node is full, then reassigned."""
        homes = wanted.copy()
        free = self.free.copy()
        at = 0
        while at < len(wanted) and (free > 0).any():
            target = np.array([self._target(node, free) for node in range(len(free))], np.int16)
            now = target[wanted[at:]]
            end = min(_first_too_many(now, node, room) for node, room in enumerate(free.tolist()))
            homes[at : at + end] = now[:end]
            free -= np.bincount(now[:end], minlength=len(free))
            at += end
        self.free = self.free - np.bincount(homes, minlength=len(free))
        return homes

    def _target(self, node: int, free: I64) -> int:
        """The node that gets a page whose policy gives ``node``."""
        return next((int(other) for other in self.order[node] if free[other] > 0), node)


def _first_too_many(homes: I16, node: int, room: int) -> int:
    """The first page for which ``node`` has no room, when it has room for ``room``."""
    mine = np.flatnonzero(homes == node)
    return int(mine[max(0, room)]) if room < len(mine) else len(homes)


def nodes_by_distance(machine: Machine) -> I64:
    """[nodes, nodes] the nodes in the order of the latency from each one, itself first, ties by id."""
    latency = machine.latency_ps.astype(np.int64).copy()
    np.fill_diagonal(latency, -1)
    return np.argsort(latency, axis=1, kind="stable")
