"""Cycles among tasks that wait for each other."""

from __future__ import annotations

import numpy as np

from numasim.workload.graph import I64


def cycle_of(source: I64, target: I64, tasks: int) -> list[int]:
    """Tasks of which each waits for the next, and the last for the first; none where there is no cycle.

    ``target[i]`` waits for ``source[i]``; ``tasks`` is their number.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    own = np.flatnonzero(source == target)
    if len(own):
        return [int(source[own[0]])]
    if (source < target).all():
        return []  # in the order of numbers nobody waits for a later task
    graph = csr_array((np.ones(len(source), np.int8), (source, target)), shape=(tasks, tasks))
    count, label = connected_components(graph, connection="strong")
    if count == tasks:
        return []
    inside = label[source] == label[target]
    return _circle(dict(zip(target[inside].tolist(), source[inside].tolist(), strict=True)))


def _circle(waits_for: dict[int, int]) -> list[int]:
    seen: dict[int, int] = {}
    task = next(iter(waits_for))
    while task not in seen:
        seen[task] = len(seen)
        task = waits_for[task]
    return list(seen)[seen[task] :]
