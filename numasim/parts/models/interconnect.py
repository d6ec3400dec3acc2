"""Links between NUMA nodes in a machine's YAML: single links, both-way pairs, meshes, explicit routes, their checks.

Errors carry the path of the field inside the machine's document, from which the reader of the file finds the line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Self

from pydantic import Field, model_validator

from numasim.errors import InputError
from numasim.parts.base import Count, GigabytesPerSecond, Model, Nanoseconds, PositiveCount
from numasim.parts.unit_factors import GIGA
from numasim.schema.enumerations import MOST_UNITS_PER_S

Path = tuple[str | int, ...]


class LinkSpec(Model):
    """One link: ``{from, to}`` for one direction or ``{between: [a, b]}`` for both; ``count`` links run in parallel."""

    source: Count | None = Field(
        None,
        alias="from",
        description="Node at which a link in one direction begins; given with to.",
    )
    target: Count | None = Field(
        None,
        alias="to",
        description="Node at which a link in one direction ends; given with from.",
    )
    between: tuple[Count, Count] | None = Field(
        None,
        description="The two nodes of a link in both directions, in place of from and to: first a to b, then b to a.",
    )
    bandwidth_gbs: GigabytesPerSecond = Field(description="Bandwidth of one link in one direction.")
    latency_ns: Nanoseconds | None = Field(
        None,
        description="Time that crossing the link adds to a load. Default: the machine's hop_latency_ns.",
    )
    count: PositiveCount = Field(
        1,
        le=64,
        description="Parallel links that share the traffic: their bandwidths are added.",
    )

    @model_validator(mode="after")
    def _ends_given_once(self) -> Self:
        directed = (self.source is not None) + (self.target is not None)
        if directed != (0 if self.between else 2):
            raise ValueError("a link is given as {from: A, to: B} for one direction or {between: [A, B]} for both")
        return self

    def directions(self) -> tuple[tuple[int, int], ...]:
        """Give the (from, to) pairs that the entry stands for."""
        if self.between:
            return self.between, (self.between[1], self.between[0])
        assert self.source is not None
        assert self.target is not None
        return ((self.source, self.target),)


class MeshSpec(Model):
    """A two-dimensional mesh: node ``row * columns + column`` is linked both ways with its up to four neighbours."""

    rows: PositiveCount = Field(description="Rows of the mesh.")
    columns: PositiveCount = Field(
        description="Columns of the mesh; rows times columns are the nodes of the machine.",
    )
    bandwidth_gbs: GigabytesPerSecond = Field(description="Bandwidth of one link in one direction.")
    latency_ns: Nanoseconds | None = Field(
        None,
        description="Time that crossing one link adds to a load. Default: the machine's hop_latency_ns.",
    )

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the directed links of the mesh as (from, to) node pairs, in ascending order."""
        for node in range(self.rows * self.columns):
            row, column = divmod(node, self.columns)
            beside = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
            for r, c in beside:
                if 0 <= r < self.rows and 0 <= c < self.columns:
                    yield node, r * self.columns + c


@dataclass(frozen=True)
class DirectedLink:
    """One direction of a bundle of parallel links; ``path`` is where the file gives it."""

    source: int
    target: int
    bandwidth_gbs: Decimal  # of the whole bundle
    latency_ns: Decimal | None
    path: Path


def directed_links(mesh: MeshSpec | None, links: Sequence[LinkSpec]) -> list[DirectedLink]:
    """Expand the mesh, then the listed links in file order, to single directions."""
    expanded = []
    if mesh:
        expanded += [DirectedLink(a, b, mesh.bandwidth_gbs, mesh.latency_ns, ("mesh",)) for a, b in mesh.pairs()]
    for index, link in enumerate(links):
        bandwidth_gbs = link.bandwidth_gbs * link.count
        expanded += [DirectedLink(a, b, bandwidth_gbs, link.latency_ns, ("links", index)) for a, b in link.directions()]
    return expanded


def check_mesh(mesh: MeshSpec | None, nodes: int) -> None:
    """Refuse a mesh whose tiles are not the machine's nodes."""
    if mesh and mesh.rows * mesh.columns != nodes:
        raise InputError(
            f"a mesh of {mesh.rows} x {mesh.columns} has {mesh.rows * mesh.columns} nodes, the machine has {nodes}",
            path=("mesh",),
            expected=f"rows times columns equal to {nodes}",
        )


def check_links(links: Sequence[DirectedLink], nodes: int) -> None:
    """Refuse links to missing nodes, links from a node to itself, duplicate links and unreachable nodes."""
    first: dict[tuple[int, int], Path] = {}
    for link in links:
        _check_ends(link, nodes)
        _check_bandwidth(link)
        if (link.source, link.target) in first:
            raise InputError(
                f"the link from node {link.source} to node {link.target} is given twice",
                path=link.path,
                expected="one entry a direction, with 'count' for parallel links",
            )
        first[link.source, link.target] = link.path
    _check_reachable(links, nodes)


def _check_ends(link: DirectedLink, nodes: int) -> None:
    for node in (link.source, link.target):
        if node >= nodes:
            raise InputError(
                f"a link ends at node {node}, which does not exist", path=link.path, expected=f"nodes 0 to {nodes - 1}"
            )
    if link.source == link.target:
        raise InputError(
            f"a link leads from node {link.source} to itself", path=link.path, expected="two different nodes"
        )


def _check_bandwidth(link: DirectedLink) -> None:
    most_gbs = MOST_UNITS_PER_S // GIGA
    if link.bandwidth_gbs > most_gbs:
        raise InputError(
            f"the parallel links from node {link.source} to node {link.target} have {link.bandwidth_gbs} GB/s together",
            path=link.path,
            expected=f"at most {most_gbs} GB/s",
        )


def _check_reachable(links: Sequence[DirectedLink], nodes: int) -> None:
    pairs = [(link.source, link.target) for link in links]
    forward = _reached(pairs, nodes)
    backward = _reached([(target, source) for source, target in pairs], nodes)
    for reached, text in ((forward, "node {} cannot be reached from node 0"), (backward, "no way back from node {}")):
        lost = [node for node in range(nodes) if node not in reached]
        if lost:
            raise InputError(
                text.format(lost[0]),
                path=("links",),
                expected="links ({between: [A, B], bandwidth_gbs: ...}) that join every node with every other",
            )


def _reached(pairs: Sequence[tuple[int, int]], nodes: int) -> set[int]:
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for source, target in pairs:
        neighbours[source].append(target)
    reached, frontier = {0}, [0]
    while frontier:
        fresh = [node for node in neighbours[frontier.pop()] if node not in reached]
        reached.update(fresh)
        frontier.extend(fresh)
    return reached


def check_routes(routes: Sequence[Sequence[int]], links: Sequence[DirectedLink]) -> None:
    """Refuse explicit routes that use missing links, visit a node twice, or are given twice."""
    pairs = {(link.source, link.target) for link in links}
    seen: set[tuple[int, int]] = set()
    for index, route in enumerate(routes):
        path = ("routes", index)
        if len(route) < 2 or len(set(route)) != len(route):
            raise InputError("a route lists two or more different nodes", path=path, value=list(route))
        for step in pairwise(route):
            if step not in pairs:
                raise InputError(f"no link leads from node {step[0]} to node {step[1]}", path=path)
        ends = (route[0], route[-1])
        if ends in seen:
            raise InputError(f"the route from node {ends[0]} to node {ends[1]} is given twice", path=path)
        seen.add(ends)
