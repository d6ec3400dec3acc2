"""Index arithmetic on forests of tasks in arrays: children in CSR form, depth-first preorder, runs of indices.

CSR form (compressed sparse rows): one array has the lists of all owners, one list after the other; a pointer has the
begin of each list and, at last, the end of all. The functions loop over the depths of the forest, not over tasks: a
million tasks take a fraction of a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


def offsets(lengths: npt.NDArray[Any]) -> I64:
    """Return the running sums [n + 1] of ``lengths`` [n], from 0: where each interval begins and the last one ends."""
    found = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=found[1:])
    return found


def ragged(starts: I64, lengths: I64) -> I64:
    """Return for each i the indices ``starts[i]`` to ``starts[i] + lengths[i] - 1``, all in one array."""
    begin = offsets(lengths)
    return np.arange(begin[-1]) + np.repeat(starts - begin[:-1], lengths)


def children(parent: I64) -> tuple[I64, I64]:
    """Return (ptr [tasks + 2], child [tasks]) of a forest, given ``parent`` [tasks], -1 for a root.

    The roots are ``child[ptr[0]:ptr[1]]``, task t's children ``child[ptr[t + 1]:ptr[t + 2]]``, both in ascending id.
    """
    return offsets(np.bincount(parent + 1, minlength=len(parent) + 1)), np.argsort(parent, kind="stable")


def levels(parent: I64) -> list[I64]:
    """Return for each depth an array of the ids of its tasks, roots first; siblings are neighbours, in ascending id."""
    ptr, child = children(parent)
    found = []
    level = child[: ptr[1]]
    while len(level):
        found.append(level)
        level = child[ragged(ptr[level + 1], ptr[level + 2] - ptr[level + 1])]
    return found


def preorder(parent: I64) -> I64:
    """Return [tasks] the ids of a forest in depth-first preorder, siblings in ascending id; -1 marks a root."""
    by_depth = levels(parent)
    size = np.ones(len(parent), np.int64)
    for level in reversed(by_depth[1:]):
        np.add.at(size, parent[level], size[level])
    position = np.empty(len(parent), np.int64)
    for roots in by_depth[:1]:
        position[roots] = offsets(size[roots])[:-1]
    for level in by_depth[1:]:
        above, before = parent[level], offsets(size[level])[:-1]
        first = np.flatnonzero(np.diff(above, prepend=-2))  # the places of first siblings
        earlier_siblings = before - np.repeat(before[first], np.diff(first, append=len(level)))  # number of their tasks
        position[level] = position[above] + 1 + earlier_siblings
    order = np.empty_like(position)
    order[position] = np.arange(len(parent))
    return order
