"""What a distribution knows of the items of a range: their bytes by node, and what those cost each unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numasim.errors import InputError
from numasim.machine.topology import Machine, WorkerMap
from numasim.workload.graph import I64, Mode, RangeFamily

MOST = 2**62


@dataclass(frozen=True, eq=False)
class KnownItems:
    """``bytes`` [items, nodes] are what items read on each node, ``node`` [units] where each unit is.

    ``groups`` are the nodes with units, ascending; ``cost`` [items, groups] is what an item costs a unit there: the sum
    of bytes times latency over the nodes that have them.
    """

    bytes: I64
    node: I64
    groups: I64
    cost: I64

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.bytes)

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self.node)


def known_items(family: RangeFamily, machine: Machine, node: I64) -> KnownItems:
    """Of ``family`` on ``machine``, for units on ``node`` [units].

    InputError for items whose bytes are drawn by the run, which nobody knows before it.
    """
    read = np.zeros((family.count, machine.nodes), np.int64)
    everyone = np.arange(family.count)
    for access in family.node_accesses:
        if access.amounts.drawn:
            raise InputError(
                f"items of {family.name!r} are dealt by their bytes, which each run draws",
                path=("strategy", "labels"),
                expected="a range whose bytes are given item by item, or labels that do not look at them",
            )
        if access.mode != Mode.WRITE:
            ends = np.cumsum([0, *access.shares])
            upto = access.amounts.of(everyone, 0, 0)[:, None] * ends // ends[-1]
            read[:, list(access.nodes)] += np.diff(upto, axis=1)
    groups = np.unique(node)
    return KnownItems(read, node, groups, _cost(read, machine.latency_ps[groups]))


def _cost(read: I64, latency_ps: I64) -> I64:
    """[items, groups] exactly; in units that keep sums below 2**63."""
    latency = latency_ps // max(int(np.gcd.reduce(latency_ps.ravel())), 1)
    most = int(read.sum(axis=1).max(initial=0)) * int(latency.max(initial=0))
    if most >= MOST:
        raise InputError(
            "the items of a range have too many bytes to be dealt by what they cost",
            path=("strategy", "labels"),
            expected=f"bytes times latency below {MOST:,}",
        )
    return read @ latency.T


def unit_nodes(workers: WorkerMap, kind: str) -> I64:
    """[units] the node of the first worker of each unit of ``kind`` that has one, in ascending order of units."""
    _, first = np.unique(workers.unit(kind), return_index=True)
    return np.asarray(workers.node[first], np.int64)
