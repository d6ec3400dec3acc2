"""Bounds on the time and the space of runs whose tasks are packed into subtrees (Chen and Guo 2015, section 5.2).

m sockets of n cores execute a tree of tasks. The *free tier* is what stands above the roots of k subtrees, the *local
tier* the subtrees: a socket executes one at a time, and heads of sockets take the free tier. T1 is the work of a part,
Tinf its longest chain. The paper counts tasks; here a task weighs the time of its own segments.

The bounds as printed take the free tier and the subtrees for tasks of work stealing by sockets. The longest chain of
such tasks is not that of the program: a subtree as a whole is one link of it, and takes ``T1 / n + Tinf``. Equation 10
has ``Tinf(local)`` in its place, so it fails where there are few large subtrees: a tree that is packed whole runs on n
cores, not on ``m n``. `PackedWork.greedy_ps` is the bound with that link, which greedy runs without overheads keep.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numasim.strategy.control.controller import I64
from numasim.workload.forest_arrays import levels


@dataclass(frozen=True)
class PackedWork:
    """The work and the chains of a packed forest in picoseconds. ``subtrees`` [k] and ``chains`` [k] are T1 and Tinf of
    each subtree; ``free_chain`` is the longest chain of the free tier, ``chain`` that of everything.
    """

    free: int
    subtrees: tuple[int, ...]
    chains: tuple[int, ...]
    free_chain: int
    chain: int

    def free_ps(self, sockets: int) -> int:
        """Equation 8: the free tier, executed by the head of each socket."""
        return _up(self.free, sockets) + self.free_chain

    def subtree_ps(self, cores: int) -> list[int]:
        """Equation 9: each subtree, on the cores of a socket."""
        return [_up(work, cores) + chain for work, chain in zip(self.subtrees, self.chains, strict=True)]

    def local_ps(self, sockets: int, cores: int) -> int:
        """Equations 10 and 11 as printed: all subtrees, executed by the sockets."""
        parts = _up(sum(self.subtrees), sockets * cores) + _up(sum(self.chains), sockets)
        return parts + max(self.chains, default=0)

    def sum_ps(self, sockets: int, cores: int) -> int:
        """Equation 12 as printed: the free tier, and behind it all subtrees (equation 7)."""
        return self.free_ps(sockets) + self.local_ps(sockets, cores)

    def printed_ps(self, sockets: int, cores: int) -> int:
        """Equation 13 as printed."""
        work = _up(self.free, sockets) + _up(sum(self.subtrees), sockets * cores)
        return work + _up(sum(self.chains), sockets) + self.chain

    def greedy_ps(self, sockets: int, cores: int) -> int:
        """The bound that greedy runs keep: while a socket has nothing, a chain of free tasks and a subtree shortens."""
        whole = self.subtree_ps(cores)
        return _up(self.free + sum(whole), sockets) + self.free_chain + max(whole, default=0)


def packed_work(own_ps: I64, parent: I64, subtree_end: I64, roots: I64) -> PackedWork:
    """The `PackedWork` of a forest in which each task creates its children at once and waits for them.

    ``own_ps`` [tasks] is the time of each task's own segments; ``roots`` are those of the subtrees.
    """
    chain, below = own_ps.copy(), own_ps.copy()
    by_depth = levels(parent)
    for tasks in reversed(by_depth[1:]):
        deepest = np.zeros_like(chain)
        np.maximum.at(deepest, parent[tasks], chain[tasks])
        above = np.unique(parent[tasks])
        chain[above] += deepest[above]
        np.add.at(below, parent[tasks], below[tasks])
    packed = np.zeros(len(parent) + 1, np.int64)
    packed[roots] += 1
    np.subtract.at(packed, subtree_end[roots], 1)
    free = np.cumsum(packed[:-1]) == 0
    to_here = np.zeros_like(own_ps)  # the chain of free tasks that ends with each
    for tasks in by_depth:
        up = parent[tasks]
        to_here[tasks] = np.where(free[tasks], own_ps[tasks] + np.where(up < 0, 0, to_here[up]), 0)
    return PackedWork(
        free=int(own_ps[free].sum()),
        subtrees=tuple(below[roots].tolist()),
        chains=tuple(chain[roots].tolist()),
        free_chain=int(to_here.max(initial=0)),
        chain=int(chain[parent < 0].max(initial=0)),
    )


def space_bound(serial_tasks: int, subtrees: int, workers: int) -> int:
    """Equation 15: the most tasks that are live at a time, where a run on one worker has ``serial_tasks`` (equation 14
    is that without subtrees): ``max(k S1, m n S1)``.
    """
    return max(subtrees, workers) * serial_tasks


def _up(value: int, divisor: int) -> int:
    return -(-value // divisor)
