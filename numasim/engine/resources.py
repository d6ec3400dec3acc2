"""What running segments share: memory controllers, links, last-level caches, the address space (model 2.5).

A resource has a capacity in bytes per second (the address space: page faults per second). Bytes that a node reads from
a home use the home's controller and the links on the route from there; bytes that it writes back use those on the way
there. Where a part of each controller is kept for the flows of its own node (Majo and Gross, ISMM 2011), the flows of
all other nodes together share what is left: a second resource, which only they use beside the controller itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from numasim.engine.effects import MILLION
from numasim.engine.plan import Plan

Path = tuple[int, ...]


@dataclass(frozen=True)
class Resources:
    """The resources of a machine, ids dense from zero: controllers, their remote parts, links in file order,
    last-level caches, the address space; those that the plan does not limit are left out.

    ``capacity`` is in units per second; ``reads[node][home]`` and ``writes[node][home]`` list what a byte uses,
    ``moves[node][other]`` what a byte uses that one node's cache sends to another's; ``llc[domain]`` and ``faults`` are
    ids, or -1 where there is no such resource.
    """

    names: tuple[str, ...]
    capacity: tuple[int, ...]
    reads: tuple[tuple[Path, ...], ...]
    writes: tuple[tuple[Path, ...], ...]
    moves: tuple[tuple[Path, ...], ...]
    llc: tuple[int, ...]
    faults: int
    fault_alpha_ppm: int  # by how much less, in ppm, the address space manages for each further node that uses it


def resources_of(plan: Plan) -> Resources:
    """The resources of the plan's machine."""
    machine, share_ppm = plan.machine, plan.effects.local_share_ppm
    controllers = machine.imc_bytes_per_s.tolist()
    names = [f"controller {node}" for node in range(machine.nodes)]
    capacity = list(controllers)
    if share_ppm:
        names += [f"controller {node}, remote flows" for node in range(machine.nodes)]
        capacity += [max(1, rate * (MILLION - share_ppm) // MILLION) for rate in controllers]
    first_link = len(names)
    names += [f"link {a} to {b}" for a, b in _link_ends(plan)]
    capacity += machine.links.bytes_per_s.tolist()
    llc = [-1] * (int(machine.llc_of_core.max()) + 1)
    if machine.caches.llc_bytes_per_s:
        llc = list(range(len(names), len(names) + len(llc)))
        names += [f"cache {domain}" for domain in range(len(llc))]
        capacity += [machine.caches.llc_bytes_per_s] * len(llc)
    faults = -1
    if plan.costs.faults_per_s:
        faults = len(names)
        names.append("address space")
        capacity.append(plan.costs.faults_per_s)
    nodes = range(machine.nodes)

    def controller(node: int, home: int) -> Path:
        return (home, machine.nodes + home) if share_ppm and node != home else (home,)

    def route(source: int, target: int) -> Path:
        links, at = machine.links, source * machine.nodes + target
        return tuple(first_link + int(link) for link in links.route[links.route_ptr[at] : links.route_ptr[at + 1]])

    return Resources(
        names=tuple(names),
        capacity=tuple(capacity),
        reads=tuple(tuple(controller(a, h) + route(h, a) for h in nodes) for a in nodes),
        writes=tuple(tuple(controller(a, h) + route(a, h) for h in nodes) for a in nodes),
        moves=tuple(tuple(route(b, a) for b in nodes) for a in nodes),
        llc=tuple(llc),
        faults=faults,
        fault_alpha_ppm=plan.costs.fault_alpha_ppm,
    )


def _link_ends(plan: Plan) -> list[tuple[int, int]]:
    links = plan.machine.links
    return list(zip(links.source.tolist(), links.target.tolist(), strict=True))
