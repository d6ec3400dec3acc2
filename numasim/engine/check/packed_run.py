"""What a run of packed tasks did, taken from its log, beside the bounds of LAWS (Chen and Guo 2015, section 5.2).

All is of one *pass*: a phase of one iteration, in which every task of a forest runs once. The work of a task is what
its own segments took, waits for memory included, so that the bounds speak of scheduling alone. Before it is executed, a
task may wait for the search of a worker; so each task weighs ``search_ps`` more in the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from numasim.engine.check.packing_bounds import packed_work, space_bound
from numasim.engine.observe.trace_hash import Rank, Records
from numasim.engine.reference.ledger import Executed
from numasim.strategy.control.controller import I64, Program
from numasim.workload.forest_arrays import levels

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Pass:
    """A phase of an iteration: from ``start_ps`` to ``end_ps``. ``tasks`` [n] are those that ran and executed segments
    or have descendants that did, ascending. Of each, [n]: what its own segments took, ``own_ps``; when it was created,
    as it was put into a queue or began; when the first segment of its subtree began, and when the last one ended.
    """

    start_ps: int
    end_ps: int
    tasks: I64
    own_ps: I64
    created: I64
    begun: I64
    ended: I64


def pass_of(log: Sequence[Executed], records: Records, program: Program, start_ps: int, end_ps: int) -> Pass:
    """What the log and the records of a run have of the tasks that ran between ``start_ps`` and ``end_ps``."""
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
    """What was measured, and the bound that an equation has for it."""

    measured: int
    bound: int

    @property
    def ratio(self) -> float:
        """At most 1 where the bound holds."""
        return self.measured / self.bound if self.bound else float(self.measured > 0)


def time_checks(
    ran: Pass, program: Program, roots: I64, sockets: int, cores: int, search_ps: int
) -> dict[str, list[Check]]:
    """Equations 8 to 13 on a pass whose subtrees have ``roots``. Those of equation 9 are one for each subtree, and
    ``greedy`` is the bound that holds where equation 13 does not (`PackedWork.greedy_ps`). Equation 8 is for passes
    without subtrees: in others the free tier overlaps with them, and a free task waits behind roots in a pool.
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
    """How many tasks are live at a time, from when a task is created to the end of the last segment below it. Within an
    instant tasks end before others are created.
    """
    created = np.sort(ran.created)
    live = np.arange(1, len(created) + 1) - np.searchsorted(np.sort(ran.ended), created, side="right")
    return int(live.max(initial=0))


def space_checks(ran: Pass, program: Program, roots: I64, workers: int) -> dict[str, Check]:
    """Equations 14 and 15 on a pass: one worker that goes depth first has a chain of tasks at a time."""
    live, chain = live_at_most(ran), int(program.depth[ran.tasks].max(initial=-1)) + 1
    subtrees = int(np.isin(roots, ran.tasks).sum())
    return {"14": Check(live, space_bound(chain, 0, workers)), "15": Check(live, space_bound(chain, subtrees, workers))}
