"""How far workers are from each other: classes for "nearest first", and the time of a cache line between their cores.

The classes, nearest first: same core, same last-level cache, same node, then by the latency from the row's node to the
column's node (strategy grammar, ``by: distance``; thesis section 4.3 groups by node alone).
"""

from __future__ import annotations

import numpy as np

from numasim.machine.topology import IntArray, Machine, WorkerMap

SAME_CORE, SAME_LLC, SAME_NODE, FIRST_REMOTE = range(4)


def distance_classes(machine: Machine, workers: WorkerMap) -> IntArray:
    """Class every pair of workers by distance, [workers, workers], seen from the row's worker.

    0 same core, 1 same last-level cache, 2 same node, from 3 on one class per different latency between two nodes,
    lowest first. Equal classes are equally far; ties are to be broken by id.
    """
    near, far = workers.node[:, None], workers.node[None, :]
    apart = FIRST_REMOTE + _latency_ranks(machine)[near, far]
    conditions = [workers.core[:, None] == workers.core, workers.llc[:, None] == workers.llc, near == far]
    return np.select(conditions, [SAME_CORE, SAME_LLC, SAME_NODE], apart).astype(np.int64)


def _latency_ranks(machine: Machine) -> IntArray:
    """Rank the latencies between different nodes from zero, equal ones alike, [nodes, nodes]."""
    between = machine.latency_ps[~np.eye(machine.nodes, dtype=bool)]
    return np.searchsorted(np.unique(between), machine.latency_ps)


def line_transfer_ps(machine: Machine, workers: WorkerMap) -> IntArray:
    """Time to move a cache line from the row's worker to the column's in picoseconds (thesis Table 6.2).

    The array is [workers, workers] and symmetric; workers on one core pay ``same_core_ps``.
    """
    times = machine.coherence
    same_core = workers.core[:, None] == workers.core
    same_socket = workers.socket[:, None] == workers.socket
    apart = np.where(same_socket, times.same_socket_ps, times.cross_socket_ps)
    return np.where(same_core, times.same_core_ps, apart).astype(np.int64)
