"""The candidate queues of one position, sorted into groups (nearest first) and segments (one a family)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from numasim.strategy.queue_families import Pool
from numasim.strategy.worker_units import Units

I64 = npt.NDArray[np.int64]
WEIGHT_SCALE = 2**40  # weight of a queue is this over the latency to it in ps; sums stay far inside 64 bits
DISTANCE = "distance"


@dataclass(frozen=True)
class Arrangement:
    """How a level arranges its candidates: grouped by unit or distance, rotated to start after the worker, weighted."""

    by: str | None = None
    after_me: bool = False
    weighted: bool = False


@dataclass
class RowTable:
    """The CSR tables of a plan under construction: rows of segments, segments of queues."""

    units: Units
    queues: list[I64] = field(default_factory=list)
    sizes: list[I64] = field(default_factory=list)
    weights: list[I64] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.queues)

    def arrange(self, pool: Pool, chosen: I64, position: int, how: Arrangement) -> None:
        """Append the row of ``position``: the queues ``pool.queue[chosen]``, arranged; ties go to the lower id.

        Without queues the row is empty: the level does not apply to this position.
        """
        queue, family, first = pool.queue[chosen], pool.family[chosen], pool.first[chosen]
        group, groups = _groups(self.units, first, position, how.by)
        behind = (queue <= pool.mine[family, position]) & how.after_me
        order = np.lexsort((queue, behind, family, group))
        size = np.bincount(group * pool.families + family, minlength=groups * pool.families)
        weight = np.zeros(groups, np.int64)
        if how.weighted:
            np.add.at(weight, group, WEIGHT_SCALE // self.units.access_ps(position, first))
        self._append(queue[order], size, np.repeat(np.cumsum(weight), pool.families))

    def row(self) -> npt.NDArray[np.uint32]:
        """[rows + 1] pointers into the segments."""
        return _pointers(np.array([len(size) for size in self.sizes], np.int64))

    def seg(self) -> npt.NDArray[np.uint32]:
        """[segments + 1] pointers into the queues."""
        return _pointers(_joined(self.sizes))

    def queue(self) -> npt.NDArray[np.uint32]:
        """Every segment's queues, one after the other."""
        return _joined(self.queues).astype(np.uint32)

    def weight(self) -> npt.NDArray[np.uint64]:
        """[segments] cumulative weights within a row."""
        return _joined(self.weights).astype(np.uint64)

    def _append(self, queue: I64, size: I64, weight: I64) -> None:
        self.queues.append(queue)
        self.sizes.append(size)
        self.weights.append(weight)


def _joined(parts: list[I64]) -> I64:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _pointers(sizes: I64) -> npt.NDArray[np.uint32]:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.uint32)


def _groups(units: Units, first: I64, position: int, by: str | None) -> tuple[I64, int]:
    """([n] the rank of each queue's group, number of groups), nearest group first."""
    if by is None:
        return np.zeros(len(first), np.int64), min(1, len(first))
    distance = units.distance[position, first]
    ids, member = np.unique(distance if by == DISTANCE else units.of[by][first], return_inverse=True)
    nearest = np.full(len(ids), np.iinfo(np.int64).max)
    np.minimum.at(nearest, member, distance)
    rank = np.empty(len(ids), np.int64)
    rank[np.lexsort((ids, nearest))] = np.arange(len(ids))
    return rank[member], len(ids)
