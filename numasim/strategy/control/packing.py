"""Packings: sets of tasks whose subtrees a socket executes one at a time, and the tiers of tasks (model 4.8).

A packing is the array of these tasks, its *roots*: ascending task numbers, no root in the subtree of another root. The
tier of a task is its place among these subtrees: free (above), root, or local (below). All functions are pure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numasim.schema.enumerations import Tier
from numasim.strategy.control.controller import I64, U8, Program
from numasim.workload.forest_arrays import children, ragged

Move = Callable[[Program, I64], I64]


def initial_packing(program: Program, used: I64, cache_bytes: int) -> I64:
    """Return the roots of the largest subtrees that fit: ``S <= Sc``, and ``S > Sc`` for the parent (Chen and Guo 2015,
    3.3.1).

    ``used`` [tasks] is S, the bytes of shared cache that each subtree uses, and ``cache_bytes`` is Sc. If a whole tree
    fits, its root is a root of the packing. A task without children that does not fit is in no subtree.
    """
    fits = used <= cache_bytes
    above = np.append(fits, False)[program.parent]  # entry -1, the parent of a tree's root, does not fit
    return np.flatnonzero(fits & ~above)


def packing_at_depth(program: Program, depth: int) -> I64:
    """Return all tasks at ``depth`` in the trees of tasks; the roots of the trees have depth 0."""
    return np.flatnonzero(program.depth == depth)


def packing_of_labels(program: Program, labels: I64) -> I64:
    """Return the tasks that have a label (a unit for which they are meant) and whose parent has none."""
    labelled = labels >= 0
    return np.flatnonzero(labelled & ~np.append(labelled, False)[program.parent])


def child_packing(program: Program, roots: I64) -> I64:
    """Return a packing of smaller subtrees: the children of ``roots``; a root without children stays (A-16)."""
    ptr, child = children(program.parent)
    count = ptr[roots + 2] - ptr[roots + 1]
    return np.sort(np.concatenate([roots[count == 0], child[ragged(ptr[roots + 1], count)]]))


def parent_packing(program: Program, roots: I64) -> I64:
    """Return a packing of larger subtrees: the parents of ``roots`` (a tree's root stays), outermost ones alone."""
    parent = program.parent[roots]
    return outermost(np.where(parent < 0, roots, parent), program.subtree_end)


def outermost(tasks: I64, subtree_end: I64) -> I64:
    """Return each of ``tasks`` that is in the subtree of no other of ``tasks``, once and in ascending order."""
    tasks = np.unique(tasks)
    ends = np.maximum.accumulate(subtree_end[tasks])
    covered = np.zeros(len(tasks), bool)
    covered[1:] = tasks[1:] < ends[:-1]
    return tasks[~covered]


def packing_within(program: Program, roots: I64, labels: I64) -> I64:
    """Return ``roots``; a root without a label is replaced by the topmost tasks with a label in its subtree."""
    whole = roots[labels[roots] >= 0]
    cut = roots[labels[roots] < 0]
    topmost = packing_of_labels(program, labels)
    last = np.searchsorted(cut, topmost, side="right") - 1  # the last cut root at or before each topmost task
    inside = np.append(program.subtree_end[cut], 0)[last] > topmost
    return np.sort(np.concatenate([whole, topmost[inside]]))


MOVES: dict[str, Move] = {"children": child_packing, "parents": parent_packing}


def tiers_of_packing(program: Program, roots: I64) -> U8:
    """Return [tasks] `Tier.ROOT` for ``roots``, `Tier.LOCAL` for tasks below roots, `Tier.FREE` for the others."""
    below = sums_over_subtrees(roots, np.ones(len(roots), np.int64), program.subtree_end) > 0
    tiers = np.where(below, Tier.LOCAL, Tier.FREE).astype(np.uint8)
    tiers[roots] = Tier.ROOT
    return tiers


def sums_over_subtrees(roots: I64, values: I64, subtree_end: I64) -> I64:
    """Return [tasks] the sum of ``values`` [roots] over the subtrees of ``roots`` that contain each task."""
    change = np.zeros(len(subtree_end) + 1, np.int64)
    np.add.at(change, roots, values)
    np.subtract.at(change, subtree_end[roots], values)
    return np.cumsum(change[:-1])


# ----------------------------------------------------------------------------------------------------------------------
# The load-balanced task allocator of LAWS: the socket of a task follows from the task's part of the data (model 4.8).
#
# The allocator assumes that every task divides its data evenly among its children (Chen and Guo 2015, section 3.2): of
# the b children of a task that processes ``[Ds, De)``, child i, from 0, processes (equation 1 of that paper)
#
#     [Ds + i (De - Ds) / b, Ds + (i + 1) (De - Ds) / b).
#
# The whole data are ``[0, D)``, which the roots of a phase divide as if the roots were the children of one task. Unit
# m of M owns the slice ``[m D / M, (m + 1) D / M)``. A task whose part lies within slice m has the label m, and so
# have all tasks below it. A task whose part straddles slices has no label. The labels do not depend on D.
#
# Every part is ``[k D / q, (k + 1) D / q)`` for whole numbers k and q: q is the product of the numbers of children
# on the way from the root, and child i of b is part ``k b + i`` of ``q b``. Whole numbers keep the division exact. At
# any depth of a phase at most M - 1 tasks straddle slices; `slices` goes through these tasks one by one.

NO_LABEL = -1


def slices(program: Program, units: int) -> I64:
    """Return [tasks] the unit whose slice of the data contains the task's part, 0 to ``units - 1``; -1 if none does.

    Calls and implicit bodies divide data as spawned tasks do. A root of several phases has its part in the first of
    these phases.
    """
    ptr, child = children(program.parent)
    top = np.full(program.tasks, NO_LABEL, np.int64)  # the label of each task whose parent has no label
    placed: set[int] = set()
    for roots in program.roots:
        straddling = _divide(np.array(roots, np.int64), 0, 1, units, top, placed)
        while straddling:
            task, part, of = straddling.pop()
            straddling += _divide(child[ptr[task + 1] : ptr[task + 2]], part, of, units, top, placed)
        placed.update(roots)
    labelled = np.flatnonzero(top != NO_LABEL)  # a label holds for a whole subtree; these subtrees do not overlap
    return sums_over_subtrees(labelled, top[labelled] - NO_LABEL, program.subtree_end) + NO_LABEL


def _divide(siblings: I64, part: int, of: int, units: int, top: I64, placed: set[int]) -> list[tuple[int, int, int]]:
    """Divide the data of part ``part`` of ``of`` equal parts among ``siblings``, except the tasks already ``placed``.

    Writes the labels of the siblings within a slice to ``top``. Returns the siblings that straddle slices, each with
    the number of its part and the number of equal parts.
    """
    if not len(siblings):
        return []
    count, finer = len(siblings), of * len(siblings)
    first = part * units // of  # the unit in whose slice the part begins
    borders = range(first + 1, -(-(part + 1) * units // of))  # unit m begins at m D / M, strictly inside the part
    behind = [-(-border * finer // units) - part * count for border in borders]  # first sibling at each border
    cut = sorted({place - 1 for border, place in zip(borders, behind, strict=True) if border * finer % units})
    label = first + np.searchsorted(np.array(behind, np.int64), np.arange(count), side="right")
    label[cut] = NO_LABEL
    fresh = np.array([task not in placed for task in siblings.tolist()]) if placed else slice(None)
    top[siblings[fresh]] = label[fresh]
    tasks = siblings[cut].tolist()
    return [(task, part * count + at, finer) for task, at in zip(tasks, cut, strict=True) if task not in placed]
