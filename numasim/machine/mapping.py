"""The hardware thread of each worker: the thread mappings by name (assumption A-2 of the model). Sibling threads are
the second, third, ... hardware threads of a core.

On the two-socket machine of Vikranth's thesis (6 cores a node, 2 threads a core) `numa-even-cores-first` puts workers 0
to 11 on cores of their own, in turn on the two nodes, and worker 12 + j on the core of worker j.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numasim.errors import InputError
from numasim.machine.topology import IntArray, Machine, WorkerMap

Mapping = Callable[[Machine, int], IntArray]  # hardware threads of the workers, [workers]
DEFAULT_MAPPING = "numa-even-cores-first"


def map_workers(machine: Machine, workers: int, policy: str = DEFAULT_MAPPING) -> WorkerMap:
    """Return the places of ``workers`` workers, each on its own hardware thread, by the mapping named ``policy``.

    Raise InputError for an unknown mapping, no worker, or more workers than hardware threads.
    """
    if policy not in MAPPINGS:
        raise InputError(f"there is no thread mapping {policy!r}", path=("mapping",), value=policy, known=MAPPINGS)
    if not 1 <= workers <= machine.threads:
        problem = f"{workers} workers do not fit on machine {machine.name} with {machine.threads} hardware threads"
        raise InputError(problem, path=("workers",), expected=f"1 to {machine.threads} workers")
    thread = MAPPINGS[policy](machine, workers)
    core = machine.core_of_thread[thread]
    node = machine.node_of_core[core]
    places = (thread, core, machine.llc_of_core[core], node, machine.socket_of_node[node])
    for place in places:
        place.setflags(write=False)
    return WorkerMap(*places)


def _node_of_thread(machine: Machine) -> IntArray:
    return machine.node_of_core[machine.core_of_thread]


def _rank_within(group: IntArray) -> IntArray:
    """Return [members] the place of each member in its group, from 0, in the order of ids."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - starts[group[order]]
    return rank


def _rank_in_node(machine: Machine) -> IntArray:
    """Return [threads] the place of each hardware thread in its node: first threads of all cores, then second ones."""
    return _rank_within(_node_of_thread(machine))


def numa_even_cores_first(machine: Machine, workers: int) -> IntArray:
    """Return [workers] hardware threads: worker i goes to node i mod M; nodes without a free thread are passed over.
    Within a node every core gets a worker before any sibling thread.
    """
    return np.lexsort((_node_of_thread(machine), _rank_in_node(machine)))[:workers]


def contiguous(machine: Machine, workers: int) -> IntArray:
    """Return [workers] hardware threads: node 0 is filled, then node 1, ...; in a node, cores before siblings."""
    return np.lexsort((_rank_in_node(machine), _node_of_thread(machine)))[:workers]


def numa_spread(machine: Machine, workers: int) -> IntArray:
    """Return [workers] hardware threads: worker i of W goes to node floor(i * M / W) of the M nodes with cores; within
    a node every core gets a worker before any sibling thread.

    Workers with neighbouring numbers share a node, and nodes differ by at most one worker. A node with too few hardware
    threads gets a worker on each; the other nodes share the remaining workers in the same way.
    """
    node_of_thread = _node_of_thread(machine)
    threads_of_node = np.bincount(node_of_thread, minlength=machine.nodes)
    node = np.repeat(np.arange(machine.nodes), _even_blocks(threads_of_node, workers))
    by_node = np.lexsort((_rank_in_node(machine), node_of_thread))
    first = np.searchsorted(node_of_thread[by_node], np.arange(machine.nodes))
    return np.asarray(by_node[first[node] + _rank_within(node)], np.int64)


def _even_blocks(room: IntArray, workers: int) -> IntArray:
    """Return [nodes] how many of ``workers`` each node gets; ``room`` [nodes] is the most that each can take."""
    block = np.zeros(len(room), np.int64)
    open_nodes, left = np.flatnonzero(room), workers
    while left:
        share = np.bincount(np.arange(left) * len(open_nodes) // left, minlength=len(open_nodes))
        full = share > room[open_nodes]
        block[open_nodes] = np.minimum(share, room[open_nodes])
        if not full.any():
            break
        left -= int(room[open_nodes[full]].sum())
        open_nodes = open_nodes[~full]
    return block


def scatter(machine: Machine, workers: int) -> IntArray:
    """Return [workers] hardware threads: worker i goes to socket i mod S, there to the nodes in turn; within a node
    every core gets a worker before any sibling thread. Full sockets and nodes are passed over.
    """
    node = _node_of_thread(machine)
    node_in_socket = _rank_within(machine.socket_of_node)
    return np.lexsort((machine.socket_of_node[node], node_in_socket[node], _rank_in_node(machine)))[:workers]


MAPPINGS: dict[str, Mapping] = {
    "numa-even-cores-first": numa_even_cores_first,
    "contiguous": contiguous,
    # core 0 with all its hardware threads, then core 1, and so on
    "smt-first": lambda machine, workers: np.lexsort((machine.sibling_of_thread, machine.core_of_thread))[:workers],
    # hardware thread i for worker i: the first threads of all cores node by node, then all second threads
    "os-order": lambda machine, workers: np.arange(workers),
    "numa-spread": numa_spread,
    "scatter": scatter,
}
