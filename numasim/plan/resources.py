"""The resources that running segments share: memory controllers, links, last-level caches, the address space (model
2.5).

The capacity of a resource is in bytes per second. The capacity of the address space is in page faults per second, or,
if items (the tasks of a range) give memory back to the operating system, in picoseconds per second for which the lock
of the address space is held. The home of a byte is the node whose memory holds it. Bytes that a node reads use the
home's controller and the links on the route from the home; bytes that it writes back use the controller and the links
on the route to the home. Messages that keep caches coherent use links, too (`fetched` and `written`). If a part of each
controller is kept for workers of its own node (Majo and Gross, ISMM 2011), the workers of all other nodes share the
rest, a second resource that they use in addition to the controller. Other programs are served first: their use of a
controller or link is subtracted from the capacity. A node without memory has an unused controller of one byte per
second, so that resource n is the controller of node n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from numasim.frozen import Frozen
from numasim.machine.topology import Machine
from numasim.parts.unit_factors import MILLION, PS_PER_S
from numasim.plan.plan import Costs, Plan
from numasim.workload.one_worker import LINE_BYTES

# ---- The bytes of a line on each link: the line, and the messages that keep caches coherent (model 2.1 and 2.5) ------
#
# If a machine snoops, a line that a node fetches from its home takes these messages (Conway and Hughes, IEEE Micro
# 2007): a request to the home; questions from the home to all other nodes with caches, one question on each link that
# leads to any of these nodes; an answer of each asked node to the fetching node; the line; an acknowledgement to the
# home. A line that is written back is acknowledged, without questions.


OnLinks = Mapping[int, int]  # {link: bytes}


def fetched(machine: Machine, node: int, home: int) -> OnLinks:
    """Return the bytes on each link when ``node`` gets a line from memory, or a cache, of ``home``."""
    snoop, load = machine.snoop, Counter[int]()
    if snoop is None:
        _send(load, machine, home, [node], LINE_BYTES)
        return load
    others = [other for other in range(machine.nodes) if machine.cores_of_node[other]]
    _send(load, machine, node, [home], snoop.request_bytes)
    _send(load, machine, home, others, snoop.request_bytes)
    for other in others:
        if other != home:
            _send(load, machine, other, [node], snoop.answer_bytes)
    _send(load, machine, home, [node], LINE_BYTES + snoop.answer_bytes)
    _send(load, machine, node, [home], snoop.answer_bytes)
    return load


def written(machine: Machine, node: int, home: int) -> OnLinks:
    """Return the bytes on each link when ``node`` writes a line back to ``home``."""
    snoop, load = machine.snoop, Counter[int]()
    _send(load, machine, node, [home], LINE_BYTES + (snoop.request_bytes if snoop else 0))
    if snoop:
        _send(load, machine, home, [node], snoop.answer_bytes)
    return load


def _send(load: Counter[int], machine: Machine, source: int, targets: Sequence[int], size: int) -> None:
    """Add ``size`` bytes to the load of each link on the routes to ``targets``; a link carries the bytes once."""
    links, routes = machine.links, [source * machine.nodes + target for target in targets]
    used = (link for at in routes for link in links.route[links.route_ptr[at] : links.route_ptr[at + 1]].tolist())
    for link in dict.fromkeys(used):
        load[link] += size


# ---- The resources of a machine -------------------------------------------------------------------------------------


BYTES_UNIT = "bytes/s"


class Use(NamedTuple):
    """A resource that bytes use on their way, and the units of it that a line of 64 bytes takes."""

    resource: int
    per_line: int


Path = tuple[Use, ...]
Paths = tuple[tuple[Path, ...], ...]  # [accessing node][home or sender]


class ResourceKind(StrEnum):
    """The kind of a resource, in the order of ids."""

    CONTROLLER = "controller"
    REMOTE = "remote flows"  # the part of a controller for the flows of other nodes
    LINK = "link"
    CACHE = "cache"
    FAULTS = "address space"
    LOCK = "lock of the address space"  # instead of the rate of page faults, if items give back memory

    @property
    def unit(self) -> str:
        """Return the unit of the capacity and of the load."""
        return {ResourceKind.FAULTS: "faults/s", ResourceKind.LOCK: "ps/s"}.get(self, BYTES_UNIT)


class Resource(NamedTuple):
    """A resource. The capacity is in the unit of the kind, less the use by other programs."""

    kind: ResourceKind
    name: str
    capacity: int


class Resources(Frozen):
    """The resources of a machine, numbered from 0: controllers, their parts for other nodes, links in file order,
    last-level caches, the address space. Resources without a limit are left out.
    """

    listed: tuple[Resource, ...]
    capacity: tuple[int, ...]  # of each resource, in units per second
    reads: Paths  # [node][home] the uses of a line that is read
    writes: Paths  # [node][home] the uses of a line that is written back
    moves: Paths  # [node][other] the uses of a line that the cache of node ``other`` sends to ``node``
    llc: tuple[int, ...]  # [domains] the id of each last-level cache, -1 if the cache is no resource
    faults: int  # the id of the address space, -1 if the address space is no resource
    fault_units: int  # units of the address space that a page fault takes
    fault_alpha_ppm: int  # slow-down of page faults, in ppm, for each node after the first with workers that fault

    def faults_capacity(self, nodes: int) -> int:
        """Return the capacity of the address space while workers of ``nodes`` nodes use it."""
        slower = MILLION + self.fault_alpha_ppm * max(0, nodes - 1)
        return max(1, self.capacity[self.faults] * MILLION // slower)


def resources_of(plan: Plan) -> Resources:
    """Return the resources of the plan's machine."""
    machine, share_ppm = plan.machine, plan.effects.local_share_ppm
    listed = tuple(_listed(plan))
    first = {resource.kind: at for at, resource in reversed(list(enumerate(listed)))}
    domains = machine.cache_domains
    port = first.get(ResourceKind.CACHE, -1)
    reads, writes, moves = _paths(machine, share_ppm > 0, first.get(ResourceKind.LINK, -1))
    return Resources(
        listed=listed,
        capacity=tuple(resource.capacity for resource in listed),
        reads=reads,
        writes=writes,
        moves=moves,
        llc=tuple(range(port, port + domains)) if port >= 0 else (-1,) * domains,
        faults=first.get(ResourceKind.FAULTS, first.get(ResourceKind.LOCK, -1)),
        fault_units=lock_ps_of_fault(plan.costs) if ResourceKind.LOCK in first else 1,
        fault_alpha_ppm=plan.costs.fault_alpha_ppm,
    )


@lru_cache(maxsize=4)  # both engines and the prices of items ask for each plan
def _paths(machine: Machine, shares: bool, first_link: int) -> tuple[Paths, Paths, Paths]:
    """Return (`Resources.reads`, `writes`, `moves`); ``shares``: a part of each controller is kept for its own node."""
    nodes = range(machine.nodes)

    def controller(node: int, home: int) -> Path:
        used = (home, machine.nodes + home) if shares and node != home else (home,)
        return tuple(Use(resource, LINE_BYTES) for resource in used)

    def links(loads: OnLinks) -> Path:
        return tuple(Use(first_link + link, per_line) for link, per_line in loads.items())

    fetches = tuple(tuple(links(fetched(machine, a, h)) for h in nodes) for a in nodes)
    reads = tuple(tuple(controller(a, h) + fetches[a][h] for h in nodes) for a in nodes)
    writes = tuple(tuple(controller(a, h) + links(written(machine, a, h)) for h in nodes) for a in nodes)
    return reads, writes, fetches


def holds_lock(plan: Plan) -> bool:
    """Return whether giving back memory takes time: then the lock of the address space is the shared resource."""
    gives_back = any(family.gives_back for family in plan.workload.ranges)
    return gives_back and (plan.costs.unmap_ps > 0 or plan.costs.shootdown_ps > 0)


def lock_ps_of_fault(costs: Costs) -> int:
    """Return the time in ps for which a page fault keeps other threads from the lock of the address space."""
    return PS_PER_S // costs.faults_per_s if costs.faults_per_s else 0


def _listed(plan: Plan) -> Iterator[Resource]:
    machine, share_ppm = plan.machine, plan.effects.local_share_ppm
    links, background = machine.links, plan.effects.background
    used, used_of_links = dict(background.nodes), dict(background.links)
    controllers = [max(1, rate) - used.get(node, 0) for node, rate in enumerate(machine.imc_bytes_per_s.tolist())]
    for node, rate in enumerate(controllers):
        yield Resource(ResourceKind.CONTROLLER, f"controller {node}", rate)
    if share_ppm:
        for node, rate in enumerate(controllers):
            left = max(1, rate * (MILLION - share_ppm) // MILLION)
            yield Resource(ResourceKind.REMOTE, f"controller {node}, remote flows", left)
    for a, b, rate in zip(links.source.tolist(), links.target.tolist(), links.bytes_per_s.tolist(), strict=True):
        yield Resource(ResourceKind.LINK, f"link {a} to {b}", rate - used_of_links.get((a, b), 0))
    if machine.caches.llc_bytes_per_s:
        for domain in range(machine.cache_domains):
            yield Resource(ResourceKind.CACHE, f"cache {domain}", machine.caches.llc_bytes_per_s)
    if holds_lock(plan):
        yield Resource(ResourceKind.LOCK, "address space", PS_PER_S)
    elif plan.costs.faults_per_s:
        yield Resource(ResourceKind.FAULTS, "address space", plan.costs.faults_per_s)
