"""Builds the arrays of a `Machine` from a validated machine specification (model 2.1)."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from numasim.machine.routing import find_routes
from numasim.machine.topology import Caches, Clock, Coherence, IntArray, Links, Machine, Smt, Snoop
from numasim.parts.base import bytes_per_s, ps
from numasim.parts.models.caches_model import cache_domains
from numasim.parts.models.interconnect import DirectedLink
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.nodes_model import LONE
from numasim.parts.unit_factors import GIGA


def build(spec: MachineSpec) -> Machine:
    """Return the machine that ``spec`` describes. All arrays are read-only."""
    nodes = spec.node_shapes
    kinds = [kind for node in nodes for kind in node.kinds]
    kind_of_core = np.repeat(np.arange(len(kinds)), [kind.count for kind in kinds])
    core_of_thread, sibling_of_thread = _threads(np.array([kind.threads_per_core for kind in kinds])[kind_of_core])
    links, memory_bytes = _links(spec), _frozen([node.memory for node in nodes])
    latency_ps, without = _latency_ps(spec, links), np.flatnonzero(memory_bytes == 0)
    # the local latency of a node without memory is the latency to the nearest memory
    latency_ps[without, without] = latency_ps[without][:, memory_bytes > 0].min(axis=1)
    return Machine(
        name=spec.name,
        page_bytes=spec.page,
        line_bytes=spec.line,
        socket_of_node=_frozen([node.socket for node in nodes]),
        node_of_core=_frozen(np.repeat(np.arange(len(nodes)), [node.cores for node in nodes])),
        llc_of_core=_frozen(cache_domains(spec.caches, nodes)),
        speed_of_core=_frozen(np.array([kind.speed_ppm for kind in kinds])[kind_of_core]),
        core_of_thread=_frozen(core_of_thread),
        sibling_of_thread=_frozen(sibling_of_thread),
        memory_bytes=memory_bytes,
        imc_bytes_per_s=_frozen([bytes_per_s(node.imc_bandwidth_gbs or Decimal(0)) for node in nodes]),
        latency_ps=_frozen(latency_ps),
        links=links,
        caches=_caches(spec),
        coherence=_coherence(spec),
        clock=_clock(spec),
        smt=Smt(spec.smt.busy_ppm, spec.smt.poll_ppm) if spec.smt else Smt(LONE, LONE),
        probe_ps=(ps(spec.probe.same_node_ns), ps(spec.probe.other_node_ns)) if spec.probe else None,
        snoop=Snoop(spec.snoop.request_bytes, spec.snoop.answer_bytes) if spec.snoop else None,
        core_steps_per_s=spec.core_steps_per_s or 0,
    )


def _threads(threads_of_core: IntArray) -> tuple[IntArray, IntArray]:
    """Return ([threads] core, [threads] number within the core), first threads of all cores before second ones."""
    siblings = range(int(threads_of_core.max()))
    cores = [np.flatnonzero(threads_of_core > sibling) for sibling in siblings]
    return np.concatenate(cores), np.repeat(siblings, [len(some) for some in cores])


def _frozen(values: object) -> IntArray:
    array = np.ascontiguousarray(values, np.int64)
    array.setflags(write=False)
    return array


def _links(spec: MachineSpec) -> Links:
    links = spec.directed_links()
    source = _frozen([link.source for link in links])
    target = _frozen([link.target for link in links])
    pointer, route = find_routes(spec.node_count, source, target, spec.routes)
    return Links(
        source=source,
        target=target,
        bytes_per_s=_frozen([bytes_per_s(link.bandwidth_gbs) for link in links]),
        latency_ps=_frozen([_link_latency_ps(spec, link) for link in links]),
        route_ptr=_frozen(pointer),
        route=_frozen(route),
    )


def _link_latency_ps(spec: MachineSpec, link: DirectedLink) -> int:
    """Return the link's own latency, else the machine's latency of a hop, else the extra latency in the matrix."""
    if link.latency_ns is not None:
        return ps(link.latency_ns)
    if spec.hop_latency_ns is not None:
        return ps(spec.hop_latency_ns)
    assert spec.latency_ns is not None
    near, far = spec.latency_ns[link.source][link.source], spec.latency_ns[link.source][link.target]
    return ps(max(Decimal(0), far - near))


def _latency_ps(spec: MachineSpec, links: Links) -> IntArray:
    """Return [from node, to node] the latencies in ps: the file's matrix, or base latency and links together."""
    if spec.latency_ns is not None:
        return np.array([[ps(latency_ns) for latency_ns in row] for row in spec.latency_ns], np.int64)
    assert spec.local_latency_ns is not None
    local_ns = spec.local_latency_ns
    base_ns = spec.remote_base_latency_ns if spec.remote_base_latency_ns is not None else local_ns
    travelled = np.concatenate(([0], np.cumsum(links.latency_ps[links.route])))
    latency_ps = ps(base_ns) + np.diff(travelled[links.route_ptr]).reshape(spec.node_count, spec.node_count)
    np.fill_diagonal(latency_ps, ps(local_ns))
    return latency_ps


def _caches(spec: MachineSpec) -> Caches:
    caches = spec.caches
    return Caches(
        l1_bytes=caches.l1,
        l2_bytes=caches.l2,
        llc_bytes=caches.llc,
        llc_hit_ps=ps(caches.llc_hit_ns),
        llc_remote_hit_ps=ps(caches.llc_remote_hit_ns),
        llc_bytes_per_s=bytes_per_s(caches.llc_bandwidth_gbs) if caches.llc_bandwidth_gbs else 0,
        llc_sizes=caches.llc_sizes or (),
        forwards=caches.forward,
    )


def _coherence(spec: MachineSpec) -> Coherence | IntArray:
    given = spec.coherence
    if given.cores_ns is not None:
        return _frozen([[ps(time_ns) for time_ns in row] for row in given.cores_ns])
    assert given.same_core_ns is not None
    assert given.same_socket_ns is not None
    return Coherence(
        same_core_ps=ps(given.same_core_ns),
        same_llc_ps=None if given.same_llc_ns is None else ps(given.same_llc_ns),
        same_node_ps=None if given.same_node_ns is None else ps(given.same_node_ns),
        same_socket_ps=ps(given.same_socket_ns),
        cross_socket_ps=tuple(ps(time_ns) for time_ns in given.across_ns or (given.same_socket_ns,)),
    )


def _clock(spec: MachineSpec) -> Clock:
    turbo = spec.clock.turbo
    return Clock(
        base_hz=int(spec.clock.base_ghz * GIGA),
        active=_frozen([step.active for step in turbo]),
        hz=_frozen([int(step.ghz * GIGA) for step in turbo]),
    )
