"""Implausible values of a machine that can still be simulated: warnings, each a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from numasim.machine.description import WITHIN, rate, size, time
from numasim.machine.topology import Coherence, IntArray, Machine
from numasim.parts.unit_factors import GIGA, PS_PER_NS

# The bounds of plausible values:
ASYMMETRY = 0.05  # the two latencies between two nodes differ by at most this part (in thesis Table 4.1 by 1.5 %)
MOST_LINK_GBS = 3_000
MOST_MEMORY_GBS = 4_000
LEAST_MEMORY_GBS = 1
LEAST_LATENCY_NS = 5
Rule = Callable[[Machine], Iterator[str]]  # yields a warning for each implausible value


def check(machine: Machine) -> list[str]:
    """Return a warning for each implausible value of ``machine``."""
    return [warning for rule in RULES for warning in rule(machine)]


def _reads(machine: Machine) -> npt.NDArray[np.bool_]:
    """Return [nodes, nodes] whether the row's node has cores and the column's node has memory."""
    return (machine.cores_of_node > 0)[:, None] & (machine.memory_bytes > 0)


def asymmetric_latency(machine: Machine) -> Iterator[str]:
    """Yield a warning for each pair of nodes whose latencies differ by more than 5 % between the directions."""
    latency, mutual = machine.latency_ps, _reads(machine) & _reads(machine).T
    uneven = (abs(latency - latency.T) > ASYMMETRY * latency) & mutual
    for a, b in zip(*np.nonzero(np.triu(uneven)), strict=True):
        yield (
            f"node {a} reads node {b} in {time(latency[a, b])}, but node {b} reads node {a} in {time(latency[b, a])}"
        )


def remote_below_local(machine: Machine) -> Iterator[str]:
    """Yield a warning for each pair of nodes where the other node's memory is faster than local memory."""
    latency = machine.latency_ps
    faster = (latency < latency.diagonal()[:, None]) & _reads(machine)
    for a, b in zip(*np.nonzero(faster), strict=True):
        yield (f"node {a} reads node {b} in {time(latency[a, b])}, faster than its own memory in {time(latency[a, a])}")


def triangle_inequality(machine: Machine) -> Iterator[str]:
    """Yield a warning for each pair of nodes whose latency exceeds the sum of the latencies over a third node."""
    latency = machine.latency_ps
    if not _reads(machine).all():
        return  # latencies of nodes without cores or memory are no routes
    for a in range(machine.nodes):
        around = latency[a][:, None] + latency
        best = around.argmin(axis=0)
        for b in np.nonzero(around.min(axis=0) < latency[a])[0]:
            yield (
                f"node {a} reads node {b} in {time(latency[a, b])}, longer than by way of node {best[b]} "
                f"in {time(around[best[b], b])}"
            )


def one_way_links(machine: Machine) -> Iterator[str]:
    """Yield a warning for each link without a link in the other direction."""
    pairs = set(zip(machine.links.source.tolist(), machine.links.target.tolist(), strict=True))
    for a, b in sorted(pairs):
        if (b, a) not in pairs:
            yield f"a link leads from node {a} to node {b}, none leads back"


def cache_order(machine: Machine) -> Iterator[str]:
    """Yield warnings about caches that are smaller than the level closer to the core, and hits slower than memory."""
    caches = machine.caches
    if caches.l2_bytes and caches.l2_bytes < caches.l1_bytes:
        yield f"the second-level cache of {size(caches.l2_bytes)} is smaller than the first of {size(caches.l1_bytes)}"
    smallest = min(machine.llc_bytes_of_domain)
    if caches.llc_bytes and smallest < caches.l2_bytes:
        yield f"the last-level cache of {size(smallest)} is smaller than one core's {size(caches.l2_bytes)}"
    nearest = int(machine.latency_ps.diagonal().min())
    if caches.llc_hit_ps > nearest:
        yield f"a hit in the last-level cache takes {time(caches.llc_hit_ps)}, longer than memory in {time(nearest)}"


def coherence_order(machine: Machine) -> Iterator[str]:
    """Yield warnings about transfers of a cache line that take longer than over a longer distance, and about times that
    no pair of sockets uses. Of a matrix [cores, cores], the medians of the pairs at each distance are compared.
    """
    times = machine.coherence
    levels = _given_levels(machine, times) if isinstance(times, Coherence) else _median_levels(machine, times)
    for (near, near_ps), (far, far_ps) in pairwise(levels):
        if near_ps > far_ps:
            yield f"a line takes {time(near_ps)} {near}, {time(far_ps)} {far}"
    cored = np.unique(machine.socket_of_node[machine.cores_of_node > 0])
    rank_of_pair = machine.rank_of_sockets[np.ix_(cored, cored)]
    ranks = len(np.unique(rank_of_pair[~np.eye(len(cored), dtype=bool)]))
    if isinstance(times, Coherence) and len(times.cross_socket_ps) > max(1, ranks):
        yield (
            f"cross_socket_ns has {len(times.cross_socket_ps)} times, but latencies between sockets have only {ranks} "
            f"different value{'s' * (ranks != 1)}: each time beyond has no use"
        )


Levels = list[tuple[str, int]]  # where two cores are, and the time of a line in picoseconds; narrow levels first


def _given_levels(machine: Machine, times: Coherence) -> Levels:
    """Return the distances of two cores for which the machine gives a time, with these times."""
    inside = [(WITHIN[kind], times.within_ps(kind)) for kind in machine.line_levels]
    across = times.cross_socket_ps
    outside = [(f"across at distance {rank}", each_ps) for rank, each_ps in enumerate(across, 1)]
    outside = outside if len(across) > 1 else [("across", across[0])]
    return [(where, level_ps) for where, level_ps in (*inside, *outside) if level_ps is not None]


def _median_levels(machine: Machine, times_ps: IntArray) -> Levels:
    """Return the median of ``times_ps`` [cores, cores] for each distance of two cores that occurs."""
    cores, node = np.arange(machine.cores), machine.node_of_core
    units = {"core": cores, "llc": machine.llc_of_core, "node": node, "socket": machine.socket_of_node[node]}
    left = np.ones((machine.cores, machine.cores), np.bool_)
    levels = []
    for where, unit in (*((WITHIN[kind], units[kind]) for kind in machine.line_levels), ("across", 0 * cores)):
        shared = (unit[:, None] == unit) & left
        left &= ~shared
        if shared.any():
            levels.append((where, int(np.median(times_ps[shared]))))
    return levels


def magnitudes(machine: Machine) -> Iterator[str]:
    """Yield warnings about bandwidths and latencies beyond those of all known machines: a unit may be mistaken."""
    for what, rates, most, known in (
        ("a link has", machine.links.bytes_per_s, MOST_LINK_GBS, "dies of one package have up to 2,000 GB/s"),
        ("a memory controller has", machine.imc_bytes_per_s, MOST_MEMORY_GBS, "a node of HBM has up to 4,000 GB/s"),
    ):
        if len(rates) and rates.max() > most * GIGA:
            yield f"{what} {rate(int(rates.max()))}, and {known}"
    slow = machine.imc_bytes_per_s[machine.memory_bytes > 0]
    if slow.min() < LEAST_MEMORY_GBS * GIGA:
        yield f"a memory controller has {rate(int(slow.min()))}, less than one module of memory"
    own = machine.latency_ps.diagonal()[(machine.cores_of_node > 0) & (machine.memory_bytes > 0)]
    if len(own) and own.min() < LEAST_LATENCY_NS * PS_PER_NS:
        yield f"a node reads its own memory in {time(own.min())}, as fast as a last-level cache"


RULES: tuple[Rule, ...] = (
    asymmetric_latency,
    remote_below_local,
    triangle_inequality,
    one_way_links,
    cache_order,
    coherence_order,
    magnitudes,
)
