"""Routes between nodes over links: the file's, else the fewest links, of several the lowest nodes (model 2.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numasim.machine.topology import Coherence, IntArray, Machine, WorkerMap


def find_routes(
    nodes: int, source: IntArray, target: IntArray, explicit: Sequence[Sequence[int]] = ()
) -> tuple[IntArray, IntArray]:
    """Return the routes of all node pairs over the directed links ``source[i] -> target[i]``, which join all nodes.

    ``explicit`` lists routes as sequences of nodes, which replace the computed routes of their end points. The result
    is ``route_ptr`` [nodes**2 + 1] and ``route``, the link ids of all routes one after the other. The route from a to b
    is ``route[route_ptr[a * nodes + b]:route_ptr[a * nodes + b + 1]]``.
    """
    hops = hop_distances(nodes, source, target)
    link = np.full((nodes, nodes), -1, np.int64)
    link[source, target] = np.arange(len(source))
    length, computed = hops.copy(), hops.copy()
    for path in explicit:
        length[path[0], path[-1]] = len(path) - 1
        computed[path[0], path[-1]] = 0
    pointer = np.concatenate(([0], np.cumsum(length.ravel())))
    route = np.empty(pointer[-1], np.int64)
    _walk_shortest(route, pointer[:-1].reshape(nodes, nodes), computed, link, _first_steps(hops, source, target))
    for path in explicit:
        start = pointer[path[0] * nodes + path[-1]]
        route[start : start + len(path) - 1] = link[list(path[:-1]), list(path[1:])]
    return pointer, route


def hop_distances(nodes: int, source: IntArray, target: IntArray) -> IntArray:
    """Return [from node, to node] the number of links on a shortest route, by breadth-first search."""
    joined = np.zeros((nodes, nodes), np.float32)  # products of floats are fast, and exact below 2**24 routes
    joined[source, target] = 1
    frontier = np.eye(nodes, dtype=np.bool_)
    seen = frontier.copy()
    hops = np.zeros((nodes, nodes), np.int64)
    for count in range(nodes):
        hops[frontier] = count
        seen |= frontier
        frontier = (frontier.astype(np.float32) @ joined > 0) & ~seen
        if not frontier.any():
            break
    return hops


def _first_steps(hops: IntArray, source: IntArray, target: IntArray) -> IntArray:
    """Return [from node, to node] the lowest next node on a shortest route."""
    step = np.broadcast_to(np.arange(len(hops))[:, None], hops.shape).copy()
    for at in np.lexsort((-target, source)):  # the smallest neighbour comes last and overwrites the others
        a, b = source[at], target[at]
        nearer = hops[b] == hops[a] - 1
        step[a, nearer] = b
    return step


def _walk_shortest(route: IntArray, begin: IntArray, hops: IntArray, link: IntArray, step: IntArray) -> None:
    """Write the links of the route of each pair of nodes into ``route`` from index ``begin`` on; ``hops`` is their
    number, ``link`` the link between two nodes, ``step`` the next node, all [from node, to node].
    """
    goal = np.broadcast_to(np.arange(len(hops)), hops.shape)
    here = goal.T.copy()
    for hop in range(int(hops.max())):
        under_way = hops > hop
        a, b = here[under_way], goal[under_way]
        following = step[a, b]
        route[begin[under_way] + hop] = link[a, following]
        here[under_way] = following


# ---- How far workers are from each other: classes of distance, and the time of a cache line between their cores ------

SAME_CORE, SAME_LLC, SAME_NODE, FIRST_REMOTE = range(4)


def distance_classes(machine: Machine, workers: WorkerMap) -> IntArray:
    """Return [from worker, to worker] the class of their distance, by which strategies say which queues are near.

    0 is the same core, 1 the same last-level cache, 2 the same node. From 3 on there is a class for each different
    latency between two nodes, the lowest latency first. Section 4.3 of Vikranth's thesis groups by node alone.
    """
    near, far = workers.node[:, None], workers.node[None, :]
    between = np.unique(machine.latency_ps[~np.eye(machine.nodes, dtype=bool)])
    apart = FIRST_REMOTE + np.searchsorted(between, machine.latency_ps)[near, far]
    conditions = [workers.core[:, None] == workers.core, workers.llc[:, None] == workers.llc, near == far]
    return np.select(conditions, [SAME_CORE, SAME_LLC, SAME_NODE], apart).astype(np.int64)


def line_transfer_ps(machine: Machine, workers: WorkerMap) -> IntArray:
    """Return [from worker, to worker] the time in ps to move a cache line from the core of the one, which has the line,
    to the core of the other, which asks for it (model 2.1; thesis Table 6.2).

    Only a measured matrix of cores can make the two directions differ.
    """
    times = machine.coherence
    if not isinstance(times, Coherence):
        return times[workers.core[:, None], workers.core]
    across = np.array(times.cross_socket_ps, np.int64)
    time_ps = np.broadcast_to(across[-1], (workers.workers, workers.workers))
    if len(across) > 1:
        rank = np.minimum(machine.rank_of_sockets, len(across) - 1)
        time_ps = across[rank[workers.socket[:, None], workers.socket]]
    for kind in reversed(machine.line_levels):
        unit, level_ps = workers.unit(kind), times.within_ps(kind)
        if level_ps is not None:
            time_ps = np.where(unit[:, None] == unit, level_ps, time_ps)
    return time_ps.astype(np.int64)
