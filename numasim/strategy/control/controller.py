"""Controllers: pure functions that choose, between two iterations, how a strategy treats the tasks of the next one.

A program is a sequence of phases, some of them in loops; an *iteration* is one pass through an outermost loop. A
controller is called once before the first iteration of a run, with ``state=None`` and ``measures=None``, and then
between each iteration and the next. It returns a state and is given this state at the next call. It keeps no other
state, so that equal runs are controlled alike, on every engine and in any order.

All numbers are integers: times in picoseconds, sizes in bytes. Row i of every array over tasks is task i: the tasks of
the program in depth-first preorder, called tasks and bodies for one worker among them. Arrays are read-only. A segment
is a part of a task that computes and accesses memory. A label is the unit (core, node, ...) for which a task is meant.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from numasim.frozen import Frozen
from numasim.workload.phases import Loop

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
U8 = npt.NDArray[np.uint8]


class Program(Frozen, eq=False):
    """The program and the machine as a controller sees them, the same in every iteration; T tasks.

    Labels name ``units`` units by number, from 0: the units with a worker, in ascending order. Their kind is that of
    the queues that a dispatch rule ``to: label`` puts tasks into (sockets, if there is no such rule).
    """

    parent: I64  # [T] the task that creates each task, -1 for roots
    depth: I64  # [T] 0 for roots
    subtree_end: I64  # [T] the descendants of task i are the tasks i + 1 .. subtree_end[i] - 1
    compute_ps: I64  # [T] compute time of the task's own segments, without memory accesses and without descendants
    roots: tuple[tuple[int, ...], ...]  # [phases] the tasks with which each phase starts
    loops: tuple[Loop, ...]  # over phases
    iterations: tuple[int, ...]  # [phases] passes of its outermost loop or, outside loops, repeats of the phase
    units: int
    unit_llc_bytes: int  # size of all last-level caches of a unit's workers; of unequal units, the smallest size
    l2_bytes: int  # size of a core's private second-level cache
    line_bytes: int  # size of a cache line, the unit of misses
    workers: int
    nodes: int
    switches: tuple[str, ...] = ()  # names of the switches that a controller may choose
    placements: tuple[str, ...] = ()  # names of the page policies that a controller may choose

    @property
    def tasks(self) -> int:
        """Return the number of rows of the arrays over tasks."""
        return len(self.parent)


class Measures(NamedTuple):
    """The measurements of an iteration that has ended; T tasks, N nodes, W workers.

    A task that has run several times in the iteration, in inner loops, has the sums over its runs.
    """

    iteration: int  # number of the iteration in its loop, from 0
    phase: int  # first phase of the loop; a phase outside loops counts as a loop over its repeats
    time_ps: int  # duration of the iteration
    task_ps: I64  # [T] duration of the task's own segments, memory waits included
    misses: I64  # [T] cache lines of the task's own segments that the private second-level cache did not have
    bytes: I64  # [T, N] bytes that the task's own segments moved from and to memory, by home node
    node_bytes: I64  # [N, N] all bytes from and to memory, [accessing node, home]
    worker_busy_ps: I64  # [W] time for which each worker executed segments and items


class Controls(Frozen, eq=False):
    """How the next iteration is to be executed; a control that is None does not change. Dispatch rules and steal levels
    name a switch by ``when`` (used while it is on) and ``unless``. A tier is the place of a task among the subtrees
    that are kept together: free (above them), root (topmost task) or local (below).
    """

    tiers: U8 | None = None  # [T] the tier of each task: 1 free, 2 root, 4 local
    labels: I32 | None = None  # [T] the unit of each task, 0 to ``units - 1``, or -1 for none
    switches: frozenset[str] | None = None  # names of the switches that are on; all others are off
    placement: str | None = None  # name of a page policy of ``tune.placements``, for pages that are placed from now on


class Controller(Protocol):
    """A controller: a pure function of its arguments."""

    def __call__(self, program: Program, state: Any, measures: Measures | None, /) -> tuple[Any, Controls]:
        """Return the new state, and the controls of the next iteration.

        ``state`` is the state that the controller returned last, ``measures`` the measurements of the iteration that
        has ended; both are None before the first iteration.
        """
