"""The equations of LAWS (Chen and Guo 2015, section 5) on time, space and accesses, for comparison with runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from numasim.engine.observe.trace_hash import Rank, Records
from numasim.engine.reference.ledger import Executed
from numasim.machine.topology import Machine
from numasim.strategy.control.controller import I64, Program
from numasim.workload.forest_arrays import levels
from numasim.workload.graph import Pattern
from numasim.workload.one_worker import LINE_BYTES, MLP

# ---- bounds on the time and the space of runs whose tasks are packed into subtrees (section 5.2) ---------------------
#
# m sockets of n cores execute a tree of tasks. The *free tier* is the part above the roots of k subtrees, the *local
# tier* is the subtrees. A socket executes one subtree at a time, and the head of each socket takes tasks of the free
# tier. T1 is the work of a part, Tinf its critical path. The paper counts tasks; here the weight of a task is the time
# of its own segments.
#
# The printed bounds treat the free tier and the subtrees as tasks that sockets steal. The critical
# path of these tasks is not the critical path of the program: a whole subtree is one link of the path, and takes
# ``T1 / n + Tinf``. Equation 10 has ``Tinf(local)`` in place of this link, so the equation fails if there are few large
# subtrees: a tree that is one subtree runs on n cores, not on ``m n``. `PackedWork.greedy_ps` is the bound with the
# link ``T1 / n + Tinf``. Greedy runs without overheads satisfy this bound.


@dataclass(frozen=True)
class PackedWork:
    """The work and the critical paths of a packed forest, in picoseconds.

    ``subtrees`` [k] and ``chains`` [k] are T1 and Tinf of each subtree. ``free_chain`` is the longest chain of the free
    tier, and ``chain`` the longest chain of all tasks.
    """

    free: int
    subtrees: tuple[int, ...]
    chains: tuple[int, ...]
    free_chain: int
    chain: int

    def free_ps(self, sockets: int) -> int:
        """Return equation 8: the time of the free tier, executed by the head of each socket."""
        return _up(self.free, sockets) + self.free_chain

    def subtree_ps(self, cores: int) -> list[int]:
        """Return equation 9: the time of each subtree on the cores of a socket."""
        return [_up(work, cores) + chain for work, chain in zip(self.subtrees, self.chains, strict=True)]

    def local_ps(self, sockets: int, cores: int) -> int:
        """Return equations 10 and 11 as printed: the time of all subtrees, executed by the sockets."""
        parts = _up(sum(self.subtrees), sockets * cores) + _up(sum(self.chains), sockets)
        return parts + max(self.chains, default=0)

    def sum_ps(self, sockets: int, cores: int) -> int:
        """Return equation 12 as printed: the time of the free tier plus the time of all subtrees (equation 7)."""
        return self.free_ps(sockets) + self.local_ps(sockets, cores)

    def printed_ps(self, sockets: int, cores: int) -> int:
        """Return equation 13 as printed."""
        work = _up(self.free, sockets) + _up(sum(self.subtrees), sockets * cores)
        return work + _up(sum(self.chains), sockets) + self.chain

    def greedy_ps(self, sockets: int, cores: int) -> int:
        """Return a bound for greedy runs. In such runs a chain of free tasks and a subtree shortens while a socket is
        idle.
        """
        whole = self.subtree_ps(cores)
        return _up(self.free + sum(whole), sockets) + self.free_chain + max(whole, default=0)


def packed_work(own_ps: I64, parent: I64, subtree_end: I64, roots: I64) -> PackedWork:
    """Return the `PackedWork` of a forest in which each task creates its children at once, and then waits for the
    children.

    ``own_ps`` [tasks] is the time of each task's own segments; ``roots`` are the roots of the subtrees.
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
    to_here = np.zeros_like(own_ps)  # the longest chain of free tasks that ends with each task
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
    """Return the bound of equation 15 on the number of live tasks, ``max(k S1, m n S1)``; S1 = ``serial_tasks`` is the
    number of live tasks of a run on one worker. Without subtrees, this bound is equation 14.
    """
    return max(subtrees, workers) * serial_tasks


def _up(value: int, divisor: int) -> int:
    return -(-value // divisor)


# ---- the wait of a leaf task for its data, with and without an allocator of tasks (section 5.1) ----------------------
#
# A leaf accesses S bytes of its own part of the data and B bytes at the border of other parts, on a machine of M
# sockets. A byte takes a core ``local_ps`` from the local node and ``remote_ps`` from another node; these are the
# inverses of the paper's speeds V_l and V_r, in picoseconds. Results are exact fractions. A written byte counts twice,
# since it is fetched and written back.


@dataclass(frozen=True)
class LeafAccess:
    """The data of a leaf, and the access time of a byte."""

    own_bytes: int
    border_bytes: int
    local_ps: Fraction
    remote_ps: Fraction

    def random_ps(self, sockets: int) -> Fraction:
        """Return equation 3: the expected time under random stealing, in which a leaf's data is local with probability
        1 / M.
        """
        all_bytes = self.own_bytes + self.border_bytes
        return all_bytes * (self.local_ps + (sockets - 1) * self.remote_ps) / sockets

    @property
    def allocated_ps(self) -> Fraction:
        """Return equation 4, the longest time with an allocator: the leaf's own part is local, the border may be
        remote.
        """
        return self.own_bytes * self.local_ps + self.border_bytes * self.remote_ps

    def gain_ps(self, sockets: int) -> Fraction:
        """Return equation 5, the least gain by an allocator: equation 3 minus equation 4."""
        gap = (self.remote_ps - self.local_ps) / sockets
        return gap * ((sockets - 1) * self.own_bytes - self.border_bytes)


def on_machine(machine: Machine, own_bytes: int, border_bytes: int) -> tuple[LeafAccess, LeafAccess]:
    """Return two versions of a leaf on a machine of equal nodes, without caches and contention. The first has the mean
    latency of the other nodes, for equations 3 and 5, the second the latency of the farthest node, for equation 4.
    """
    latency = machine.latency_ps
    others = latency[~np.eye(machine.nodes, dtype=bool)].tolist()
    line = Fraction(1000, LINE_BYTES * MLP[Pattern.SEQUENTIAL])
    mean, most = Fraction(sum(others), len(others)), Fraction(max(others))
    local = int(latency[0, 0]) * line
    return (
        LeafAccess(own_bytes, border_bytes, local, mean * line),
        LeafAccess(own_bytes, border_bytes, local, most * line),
    )


# ---- a run of packed tasks, taken from its log, and the bounds of LAWS on the run (section 5.2) ----------------------
#
# All values belong to one *pass*: a phase of one iteration, in which every task of a forest runs once. The work of a
# task is the time of its own segments, waits for memory included, so that the bounds concern only scheduling. A task
# may wait for the search of a worker before the task is executed; so in the bounds each task weighs ``search_ps`` more.

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Pass:
    """A phase of an iteration, from ``start_ps`` to ``end_ps``. ``tasks`` [n], ascending, are the tasks that ran and
    whose subtrees executed segments. The other arrays have for each task, [n]: the time of its own segments
    (``own_ps``), the time of its creation (it was put into a queue, or began), and the times at which the first segment
    of its subtree began and the last segment ended.
    """

    start_ps: int
    end_ps: int
    tasks: I64
    own_ps: I64
    created: I64
    begun: I64
    ended: I64


def pass_of(log: Sequence[Executed], records: Records, program: Program, start_ps: int, end_ps: int) -> Pass:
    """Return the tasks that ran between ``start_ps`` and ``end_ps``, from the log and the records of a run."""
    inside = [each for each in log if start_ps <= each.start_ps and each.end_ps <= end_ps]
    task = np.array([each.task for each in inside], np.int64)
    start = np.array([each.start_ps for each in inside], np.int64)
    end = np.array([each.end_ps for each in inside], np.int64)
    own, begun = np.zeros(program.tasks, np.int64), np.full(program.tasks, NEVER)
    ended = np.zeros(program.tasks, np.int64)
    np.add.at(own, task, end - start)
    np.minimum.at(begun, task, start)
    np.maximum.at(ended, task, end)
    for tasks in reversed(levels(program.parent)[1:]):
        above = program.parent[tasks]
        np.minimum.at(begun, above, begun[tasks])
        np.maximum.at(ended, above, ended[tasks])
    put = records[(records[:, 1] == Rank.PUT) & (records[:, 0] >= start_ps) & (records[:, 0] <= end_ps)].astype(
        np.int64
    )
    created = begun.copy()
    np.minimum.at(created, put[:, 3], put[:, 0])
    ran = np.flatnonzero(begun < NEVER)
    return Pass(start_ps, end_ps, ran, own[ran], created[ran], begun[ran], ended[ran])


@dataclass(frozen=True)
class Check:
    """A measured value, and the bound that an equation sets for the value."""

    measured: int
    bound: int

    @property
    def ratio(self) -> float:
        """Return the measured value over the bound: at most 1 if the bound holds."""
        return self.measured / self.bound if self.bound else float(self.measured > 0)


def time_checks(
    ran: Pass, program: Program, roots: I64, sockets: int, cores: int, search_ps: int
) -> dict[str, list[Check]]:
    """Return the checks of equations 8 to 13 on a pass whose subtrees have ``roots``.

    Equation 9 has a check for each subtree. ``greedy`` is the bound that also holds if equation 13 fails
    (`PackedWork.greedy_ps`). Equation 8 applies to passes without subtrees: in other passes the free tier overlaps with
    the subtrees, and a free task waits behind roots in a pool.
    """
    number = np.full(program.tasks + 1, -1)
    number[ran.tasks] = np.arange(len(ran.tasks))
    roots = number[roots][number[roots] >= 0]
    parent = number[program.parent[ran.tasks]]
    subtree_end = np.searchsorted(ran.tasks, program.subtree_end[ran.tasks])
    bounds = packed_work(ran.own_ps + search_ps, parent, subtree_end, roots)
    whole = ran.end_ps - ran.start_ps
    if not len(roots):
        return {"8": [Check(whole, bounds.free_ps(sockets))]}
    subtrees = (ran.ended - ran.begun)[roots]
    local_ps = int(ran.ended[roots].max() - ran.begun[roots].min())
    executed = -(-int(subtrees.sum() + search_ps * len(roots)) // sockets) + max(bounds.chains)
    return {
        "9": [Check(*each) for each in zip(subtrees.tolist(), bounds.subtree_ps(cores), strict=True)],
        "10": [Check(local_ps, executed)],
        "11": [Check(local_ps, bounds.local_ps(sockets, cores))],
        "12": [Check(whole, bounds.sum_ps(sockets, cores))],
        "13": [Check(whole, bounds.printed_ps(sockets, cores))],
        "greedy": [Check(whole, bounds.greedy_ps(sockets, cores))],
    }


def live_at_most(ran: Pass) -> int:
    """Return the largest number of tasks that are live at the same time. A task is live from its creation to the end of
    the last segment in its subtree. At one instant, ends of tasks count before creations.
    """
    created = np.sort(ran.created)
    live = np.arange(1, len(created) + 1) - np.searchsorted(np.sort(ran.ended), created, side="right")
    return int(live.max(initial=0))


def space_checks(ran: Pass, program: Program, roots: I64, workers: int) -> dict[str, Check]:
    """Return the checks of equations 14 and 15 on a pass. On one worker the live tasks are a chain."""
    live, chain = live_at_most(ran), int(program.depth[ran.tasks].max(initial=-1)) + 1
    subtrees = int(np.isin(roots, ran.tasks).sum())
    return {"14": Check(live, space_bound(chain, 0, workers)), "15": Check(live, space_bound(chain, subtrees, workers))}
