"""Packings: sets of tasks whose subtrees a socket executes one at a time, and what tiers follow from them (model 4.8).

A packing is given by its roots, ascending task numbers of which none lies below another. All functions are pure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numasim.schema.enumerations import Tier
from numasim.strategy.control.controller import I64, U8, Program
from numasim.workload.forest_arrays import children, ragged

Move = Callable[[Program, I64], I64]


def initial_packing(program: Program, used: I64, cache_bytes: int) -> I64:
    """The largest subtrees that fit: ``S <= Sc``, and ``S > Sc`` of the parent (Chen and Guo 2015, section 3.3.1).

    ``used`` [tasks] is S, what each subtree uses of the shared cache, and ``cache_bytes`` is Sc. Where a whole tree
    fits, its root is one. A task without children that does not fit is in no subtree.
    """
    fits = used <= cache_bytes
    above = np.append(fits, False)[program.parent]  # a root's parent, -1, does not fit
    return np.flatnonzero(fits & ~above)


def packing_at_depth(program: Program, depth: int) -> I64:
    """All tasks at ``depth``; roots have depth 0."""
    return np.flatnonzero(program.depth == depth)


def packing_of_labels(program: Program, labels: I64) -> I64:
    """The topmost tasks that have a label."""
    labelled = labels >= 0
    return np.flatnonzero(labelled & ~np.append(labelled, False)[program.parent])


def child_packing(program: Program, roots: I64) -> I64:
    """Smaller subtrees: the children of ``roots``. A root without children stays (A-16)."""
    ptr, child = children(program.parent)
    count = ptr[roots + 2] - ptr[roots + 1]
    return np.sort(np.concatenate([roots[count == 0], child[ragged(ptr[roots + 1], count)]]))


def parent_packing(program: Program, roots: I64) -> I64:
    """Larger subtrees: the parents of ``roots``, the outer one where they nest. The root of a tree stays."""
    parent = program.parent[roots]
    return outermost(np.where(parent < 0, roots, parent), program.subtree_end)


def outermost(tasks: I64, subtree_end: I64) -> I64:
    """Those of ``tasks`` that are in no other one's subtree, ascending and each once."""
    tasks = np.unique(tasks)
    ends = np.maximum.accumulate(subtree_end[tasks])
    covered = np.zeros(len(tasks), bool)
    covered[1:] = tasks[1:] < ends[:-1]
    return tasks[~covered]


def packing_within(program: Program, roots: I64, labels: I64) -> I64:
    """``roots``, and instead of those without a label the topmost tasks below them that have one."""
    whole = roots[labels[roots] >= 0]
    cut = roots[labels[roots] < 0]
    topmost = packing_of_labels(program, labels)
    last = np.searchsorted(cut, topmost, side="right") - 1  # the last of them at or before each
    inside = np.append(program.subtree_end[cut], 0)[last] > topmost
    return np.sort(np.concatenate([whole, topmost[inside]]))


MOVES: dict[str, Move] = {"children": child_packing, "parents": parent_packing}


def tiers_of_packing(program: Program, roots: I64) -> U8:
    """[tasks] `Tier.ROOT` of ``roots``, `Tier.LOCAL` below them, `Tier.FREE` elsewhere."""
    change = np.zeros(program.tasks + 1, np.int64)
    change[roots] += 1
    np.subtract.at(change, program.subtree_end[roots], 1)
    tiers = np.where(np.cumsum(change[:-1]) > 0, Tier.LOCAL, Tier.FREE).astype(np.uint8)
    tiers[roots] = Tier.ROOT
    return tiers
