"""Page placement: which node is the home of which page, in closed form where no run is needed (model 2.2).

A region is either static, its homes known before the run, or dynamic, its pages placed by first touch while it runs.
Two closed forms are enough for the static ones: homes that repeat with a period, and homes that change at few pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.machine.topology import Machine, WorkerMap
from numasim.spec.strategy import PlacementSpec
from numasim.strategy.spans import Spans, cyclic_bytes, stepped_bytes
from numasim.workload.graph import Region

I64 = npt.NDArray[np.int64]
DYNAMIC = -1
CHUNK = 1 << 16  # accesses counted together, so that temporaries stay small


class Homes(Protocol):
    """The homes of the pages of one static region."""

    def of_page(self, page: int) -> int:
        """Return the node of ``page``."""
        ...

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """[spans, nodes] the bytes of each access on each node."""
        ...

    @property
    def single(self) -> int | None:
        """The node of every page, or None when there are several."""
        ...


@dataclass(frozen=True)
class CyclicHomes:
    """Page p lives on ``node[p mod len(node)]``."""

    node: I64
    page_bytes: int

    def of_page(self, page: int) -> int:
        """Return the node of ``page``."""
        return int(self.node[page % len(self.node)])

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """[spans, nodes] the bytes of each access on each node."""
        return _fold(cyclic_bytes(spans, self.page_bytes, len(self.node)), self.node, nodes)

    @property
    def single(self) -> int | None:
        """The node of every page, or None when there are several."""
        return int(self.node[0]) if (self.node == self.node[0]).all() else None


@dataclass(frozen=True)
class SteppedHomes:
    """Pages ``first[i]`` to ``first[i + 1] - 1`` live on ``node[i]``."""

    first: I64
    node: I64
    page_bytes: int

    def of_page(self, page: int) -> int:
        """Return the node of ``page``."""
        return int(self.node[np.searchsorted(self.first, page, side="right") - 1])

    def bytes_by_home(self, spans: Spans, nodes: int) -> I64:
        """[spans, nodes] the bytes of each access on each node."""
        access, step, count = stepped_bytes(spans, self.first * self.page_bytes)
        total = np.zeros((len(spans.offset), nodes), np.int64)
        np.add.at(total, (access, self.node[step]), count)
        return total

    @property
    def single(self) -> int | None:
        """The node of every page, or None when there are several."""
        return int(self.node[0]) if len(self.node) == 1 else None


def _fold(by_slot: I64, node: I64, nodes: int) -> I64:
    total = np.zeros((len(by_slot), nodes), np.int64)
    for slot, home in enumerate(node):
        total[:, home] += by_slot[:, slot]
    return total


def _blocks(page_node: I64, pages: int, page_bytes: int) -> SteppedHomes:
    """Page p of n on ``page_node[floor(p * L / n)]`` with L the number of blocks; equal neighbours are merged."""
    blocks = len(page_node)
    first = -(-np.arange(blocks, dtype=np.int64) * pages // blocks)
    filled = np.append(first[1:], pages) > first
    first, node = first[filled], page_node[filled]
    changes = np.append(True, node[1:] != node[:-1])
    return SteppedHomes(first[changes], node[changes], page_bytes)


def _on_one(node: int, page_bytes: int) -> CyclicHomes:
    return CyclicHomes(np.array([node]), page_bytes)


def _pages(region: Region, machine: Machine) -> int:
    return max(1, -(-region.bytes // machine.page_bytes))


def _first_touch(spec: PlacementSpec, machine: Machine, workers: WorkerMap, region: Region) -> Homes | None:
    return _first_touch_master(spec, machine, workers, region) if region.initialised else None


def _first_touch_master(_spec: PlacementSpec, machine: Machine, workers: WorkerMap, _region: Region) -> Homes | None:
    return _on_one(int(workers.node[0]), machine.page_bytes)


def _parallel_first_touch(_spec: PlacementSpec, machine: Machine, workers: WorkerMap, region: Region) -> Homes | None:
    if not region.initialised:
        return None
    return _blocks(np.asarray(workers.node, np.int64), _pages(region, machine), machine.page_bytes)


def _interleave(spec: PlacementSpec, machine: Machine, _workers: WorkerMap, _region: Region) -> Homes | None:
    nodes = np.arange(machine.nodes) if spec.nodes is None else np.array(spec.nodes)
    return CyclicHomes(nodes, machine.page_bytes)


def _bind(spec: PlacementSpec, machine: Machine, _workers: WorkerMap, _region: Region) -> Homes | None:
    assert spec.node is not None  # the specification sees to it
    return _on_one(spec.node, machine.page_bytes)


def _block(_spec: PlacementSpec, machine: Machine, _workers: WorkerMap, region: Region) -> Homes | None:
    return _blocks(np.arange(machine.nodes), _pages(region, machine), machine.page_bytes)


Policy = Callable[[PlacementSpec, Machine, WorkerMap, Region], Homes | None]
POLICIES: dict[str, Policy] = {
    "first-touch": _first_touch,
    "first-touch-master": _first_touch_master,
    "parallel-first-touch": _parallel_first_touch,
    "interleave": _interleave,
    "bind": _bind,
    "block": _block,
}


@dataclass(frozen=True)
class Placement:
    """The homes of every region; ``dynamic`` [regions] marks those that first touch places during the run."""

    homes: tuple[Homes | None, ...]
    dynamic: npt.NDArray[np.bool_]
    nodes: int

    def home_of_page(self, region: int, page: int) -> int:
        """Return the node of a page, or -1 while only a run can tell."""
        homes = self.homes[region]
        return DYNAMIC if homes is None else homes.of_page(page)

    def single_home(self, region: int) -> int | None:
        """Return the node of all pages of ``region``, or None when they differ or are not known."""
        homes = self.homes[region]
        return None if homes is None else homes.single

    def bytes_by_home(
        self,
        region: npt.NDArray[np.integer],
        offset: npt.NDArray[np.integer],
        row_bytes: npt.NDArray[np.integer],
        rows: npt.NDArray[np.integer],
        stride: npt.NDArray[np.integer],
    ) -> I64:
        """Return [accesses, nodes] exact bytes of each access by home; nothing for an access to a dynamic region.

        An access is ``rows`` pieces of ``row_bytes`` bytes, ``stride`` bytes apart, from ``offset`` on.
        """
        total = np.zeros((len(region), self.nodes), np.int64)
        shape = [np.asarray(part, np.int64) for part in (offset, row_bytes, rows, stride)]
        touches = (np.asarray(row_bytes) > 0) & (np.asarray(rows) > 0)
        for number, homes in enumerate(self.homes):
            if homes is None:
                continue
            chosen = np.flatnonzero(touches & (np.asarray(region) == number))
            for at in range(0, len(chosen), CHUNK):
                some = chosen[at : at + CHUNK]
                total[some] = _count(homes, Spans(*(part[some] for part in shape)), self.nodes)
        return total


def _count(homes: Homes, spans: Spans, nodes: int) -> I64:
    if homes.single is None:
        return homes.bytes_by_home(spans, nodes)
    total = np.zeros((len(spans.offset), nodes), np.int64)
    total[:, homes.single] = spans.row_bytes * spans.rows
    return total


def place(spec: PlacementSpec, machine: Machine, workers: WorkerMap, regions: Sequence[Region]) -> Placement:
    """Place every region by policy ``spec``. Raises InputError for a node that the machine does not have."""
    for node in (*(spec.nodes or ()), *((spec.node,) if spec.node is not None else ())):
        if node >= machine.nodes:
            raise InputError(
                f"machine {machine.name!r} has no node {node}",
                path=("placement",),
                expected=f"a node from 0 to {machine.nodes - 1}",
            )
    homes = tuple(POLICIES[spec.policy](spec, machine, workers, region) for region in regions)
    return Placement(homes, np.array([home is None for home in homes], bool), machine.nodes)
