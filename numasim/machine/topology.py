"""A machine as frozen arrays: sockets, NUMA nodes with one memory controller each, cores, hardware threads, links.

Model 2.1 defines machines. A node may lack cores or memory. Times are integer picoseconds, bandwidths integer bytes per
second.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from numasim.frozen import Frozen

IntArray = npt.NDArray[np.int64]


class Coherence(Frozen):
    """Times in picoseconds to move a cache line between two hardware threads, by what the threads share (model 2.1).

    If the time for a last-level cache or node is None, the time of the next wider unit holds. ``cross_socket_ps`` has
    the times between sockets, the nearest sockets first; the last also holds for all sockets that are farther.
    """

    same_core_ps: int
    same_socket_ps: int
    cross_socket_ps: tuple[int, ...]
    same_llc_ps: int | None = None
    same_node_ps: int | None = None

    def within_ps(self, kind: str) -> int | None:
        """Return the time in ps within a unit of ``kind``: core, llc, node or socket; None if a wider unit's holds."""
        level_ps: int | None = getattr(self, f"same_{kind}_ps")
        return level_ps


class Caches(Frozen):
    """Cache sizes in bytes (0: no cache), latencies of last-level hits, and the bandwidth of one last-level cache."""

    l1_bytes: int
    l2_bytes: int
    llc_bytes: int  # size of the largest last-level cache
    llc_hit_ps: int
    llc_remote_hit_ps: int  # a hit in another last-level cache
    llc_bytes_per_s: int = 0  # 0: no limit
    llc_sizes: tuple[int, ...] = ()  # sizes of all last-level caches, if the sizes differ
    forwards: bool = False  # whether caches send clean lines to each other, too


class Links(Frozen):
    """Directed links; route a to b is ``route[route_ptr[a * nodes + b]:route_ptr[a * nodes + b + 1]]``."""

    source: IntArray  # [links] node
    target: IntArray  # [links] node
    bytes_per_s: IntArray  # [links]
    latency_ps: IntArray  # [links]
    route_ptr: IntArray  # [nodes * nodes + 1]
    route: IntArray  # [sum of hops] link ids in travel order


class Snoop(Frozen):
    """The bytes of a question and of an answer on a machine on which every fetched line is asked for on all nodes."""

    request_bytes: int
    answer_bytes: int


class Clock(Frozen):
    """Base clock and turbo steps: with at most ``active[i]`` busy cores on a socket the clock is ``hz[i]``."""

    base_hz: int
    active: IntArray
    hz: IntArray


class Smt(Frozen):
    """Speed of a hardware thread beside a busy or a searching (poll) thread of its core, in ppm of its speed alone."""

    busy_ppm: int
    poll_ppm: int


class Machine(Frozen, eq=False):
    """One machine. Sockets, nodes, cores and hardware threads are numbered from 0 without gaps.

    Hardware threads are in the order of operating systems: all first threads of cores, then all second threads. The
    latency of a node without memory to itself is the latency to the nearest memory.
    """

    name: str
    page_bytes: int
    line_bytes: int
    socket_of_node: IntArray  # [nodes]
    node_of_core: IntArray  # [cores]
    llc_of_core: IntArray  # [cores] number of the core's cache domain (cores that share a last-level cache)
    speed_of_core: IntArray  # [cores] the speed of computing, in ppm of the speed to which compute times refer
    core_of_thread: IntArray  # [threads]
    sibling_of_thread: IntArray  # [threads] 0 for the first thread of a core, 1 for the second, ...
    memory_bytes: IntArray  # [nodes] 0: none
    imc_bytes_per_s: IntArray  # [nodes] 0 if the node has no memory
    latency_ps: IntArray  # [from node, to node] a load by a core of the one from memory of the other
    links: Links
    caches: Caches
    coherence: Coherence | IntArray  # times by unit, or [from core, to core] the time to move a cache line
    clock: Clock
    smt: Smt
    probe_ps: tuple[int, int] | None  # time of a steal probe (same node, other node) if the machine file gives it
    snoop: Snoop | None = None  # the messages of coherence, if the machine file gives them
    core_steps_per_s: int = 0  # the rate of a core of the fastest kind (`MachineSpec.core_steps_per_s`); 0: not known

    @property
    def nodes(self) -> int:
        """Return the number of NUMA nodes."""
        return len(self.socket_of_node)

    @property
    def sockets(self) -> int:
        """Return the number of sockets."""
        return int(self.socket_of_node.max()) + 1

    @property
    def cores(self) -> int:
        """Return the number of cores."""
        return len(self.node_of_core)

    @property
    def threads(self) -> int:
        """Return the number of hardware threads."""
        return len(self.core_of_thread)

    @property
    def cache_domains(self) -> int:
        """Return the number of cache domains: last-level caches, or cores if there is no last-level cache."""
        return int(self.llc_of_core.max()) + 1

    @cached_property
    def llc_bytes_of_domain(self) -> list[int]:
        """Return the size of each domain's last-level cache, 0 if there is no last-level cache."""
        return list(self.caches.llc_sizes) or [self.caches.llc_bytes] * self.cache_domains

    @cached_property
    def line_levels(self) -> tuple[str, ...]:
        """Return the kinds of units by which times of cache lines differ within a socket, narrow units first."""
        pairs = len(set(zip(self.llc_of_core.tolist(), self.node_of_core.tolist(), strict=True)))
        llc_spans_nodes = pairs > self.cache_domains
        return ("core", "node", "llc", "socket") if llc_spans_nodes else ("core", "llc", "node", "socket")

    @cached_property
    def cores_of_node(self) -> IntArray:
        """Return [nodes] the number of cores of each node."""
        return np.bincount(self.node_of_core, minlength=self.nodes)

    @cached_property
    def home_of_node(self) -> IntArray:
        """Return [nodes] the home of memory that is wanted on each node: the node, or the nearest node with memory."""
        latency_ps = self.latency_ps.astype(np.int64)
        latency_ps[:, self.memory_bytes == 0] = np.iinfo(np.int64).max
        has_memory = self.memory_bytes > 0
        return np.where(has_memory, np.arange(self.nodes), latency_ps.argmin(axis=1))

    @cached_property
    def rank_of_sockets(self) -> IntArray:
        """Return [sockets, sockets] the rank of the latency between two sockets: 0 for the pairs of least latency, the
        same for pairs of equal latency, the last for sockets without cores. The diagonal has no meaning.

        The latency between two sockets is the least latency between their nodes with cores, in either direction.
        """
        cored = np.flatnonzero(self.cores_of_node)
        socket = self.socket_of_node[cored]
        latency_ps = np.minimum(self.latency_ps, self.latency_ps.T)[np.ix_(cored, cored)]
        least_ps = np.full((self.sockets, self.sockets), np.iinfo(np.int64).max)
        np.minimum.at(least_ps, (socket[:, None], socket), latency_ps)
        return np.searchsorted(np.unique(least_ps[~np.eye(self.sockets, dtype=bool)]), least_ps)

    def hops(self, a: int, b: int) -> int:
        """Return the number of links on the route from node a to node b."""
        at = a * self.nodes + b
        return int(self.links.route_ptr[at + 1] - self.links.route_ptr[at])


class WorkerMap(Frozen, eq=False):
    """The hardware thread, core, last-level cache, node and socket of each worker; every array is [workers]."""

    thread: IntArray
    core: IntArray
    llc: IntArray
    node: IntArray
    socket: IntArray

    @property
    def workers(self) -> int:
        """Return the number of workers."""
        return len(self.thread)

    def unit(self, kind: str) -> IntArray:
        """Return [workers] the unit of each worker; ``kind`` is worker, core, llc, node, socket or machine."""
        if kind in ("worker", "machine"):
            return np.arange(self.workers) if kind == "worker" else np.zeros(self.workers, np.int64)
        return np.asarray(getattr(self, kind), np.int64)
