"""How much of the shared cache a subtree of tasks uses, as LAWS and CATS estimate it (model 4.8)."""

from __future__ import annotations

import numpy as np

from numasim.strategy.control.controller import I64


def below(own: I64, subtree_end: I64) -> I64:
    """[tasks] the sums of ``own`` over the subtree of each task, itself included."""
    before = np.zeros(len(own) + 1, np.int64)
    np.cumsum(own, out=before[1:])
    return before[subtree_end] - before[:-1]


def shared_cache_bytes(misses: I64, line_bytes: int, subtree_end: I64) -> I64:
    """[tasks] the size of the shared cache used by the tasks of each subtree, SOSC (Chen and Guo 2015, equation 2).

    A line that a core's last private cache does not have takes a line of the shared cache: ``S_a = M_a + sum of S_i``
    over the children of task a, where ``M_a`` are the misses of its own segments times the size of a line.
    """
    return below(misses * line_bytes, subtree_end)
