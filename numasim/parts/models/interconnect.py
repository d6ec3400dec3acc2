"""Links between NUMA nodes in a machine's YAML: single links, named topologies, explicit routes, and their checks.

Errors carry the path of the field inside the machine's document. The reader of the file finds the line by the path.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, Tag

from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.parts.base import CheckedModel, Count, GigabytesPerSecond, Model, Nanoseconds, PositiveCount, by_shape
from numasim.parts.choices import Choices
from numasim.parts.models import meanings
from numasim.parts.unit_factors import GIGA
from numasim.parts.yaml.nodes import FieldPath
from numasim.schema.enumerations import MOST_UNITS_PER_S

# ---- The named topologies: the linked nodes, as pairs that stand for both directions ---------------------------------

Pairs = Iterator[tuple[int, int]]


def ring(nodes: int) -> Pairs:
    """Yield the links of a ring; two nodes have one link, a single node has no link."""
    yield from ((node, node + 1) for node in range(nodes - 1))
    if nodes > 2:
        yield 0, nodes - 1


def twisted_ladder(nodes: int) -> Pairs:
    """Yield the links of a twisted ladder of 8, 12, 16, .. nodes in ascending order.

    Rungs join the rails 0, 2, 4, .. and 1, 3, 5, ... In the middle the rails cross instead of having two rungs, as in
    a machine of eight Opteron processors with three links each (`opteron-875-8s`).
    """
    middle = nodes // 2
    across = {middle - 2: (middle + 1,), middle - 1: (middle,)}  # the two columns between which the rails cross
    rungs = {node for node in range(0, nodes, 2) if node not in (middle - 2, middle)}
    for node in range(nodes):
        beside = (node + 1,) if node in rungs else ()
        further = (node + 2,) if node + 2 < nodes else ()
        yield from ((node, other) for other in sorted((*beside, *further, *across.get(node, ()))))


def mesh(rows: int, columns: int) -> Pairs:
    """Yield the links of a grid in ascending order; the node of a row and column is ``row * columns + column``."""
    for node in range(rows * columns):
        if (node + 1) % columns:
            yield node, node + 1
        if node + columns < rows * columns:
            yield node, node + columns


BY_NODES: dict[str, Callable[[int], Pairs]] = {
    "ring": ring,
    "fully-connected": lambda nodes: combinations(range(nodes), 2),
    "twisted-ladder": twisted_ladder,
}

TopologyWord = Literal["ring", "fully-connected", "twisted-ladder", "mesh"]
TopologyName = Annotated[TopologyWord, Choices(meanings.LINKS_TOPOLOGY)]
LinkBandwidth = Annotated[
    GigabytesPerSecond | None,
    Field(description="Bandwidth of one link in one direction. Default: the machine's link_bandwidth_gbs."),
]
LinkLatency = Annotated[
    Nanoseconds | None,
    Field(description="Time that crossing one link adds to a load. Default: the machine's hop_latency_ns."),
]
LinkCount = Annotated[
    PositiveCount, Field(le=64, description="Parallel links that share the traffic: their bandwidths are added.")
]


class LinkSpec(CheckedModel):
    """One link: ``{from, to}`` for one direction or ``{between: [a, b]}`` for both; ``count`` links run in parallel."""

    source: Count | None = Field(
        None, alias="from", description="Node at which a link in one direction begins; given with to."
    )
    target: Count | None = Field(
        None, alias="to", description="Node at which a link in one direction ends; given with from."
    )
    between: tuple[Count, Count] | None = Field(
        None,
        description="The two nodes of a link in both directions, in place of from and to: first a to b, then b to a.",
    )
    bandwidth_gbs: LinkBandwidth = None
    latency_ns: LinkLatency = None
    count: LinkCount = 1

    def _problems(self) -> Iterator[str]:
        directed = (self.source is not None) + (self.target is not None)
        if directed != (0 if self.between else 2):
            yield "a link is given as {from: A, to: B} for one direction or {between: [A, B]} for both"

    def directions(self) -> tuple[tuple[int, int], ...]:
        """Return the directions of the link as (from, to) pairs."""
        if self.between:
            return self.between, (self.between[1], self.between[0])
        assert self.source is not None
        assert self.target is not None
        return ((self.source, self.target),)


class MeshSpec(Model):
    """A two-dimensional mesh: node ``row * columns + column`` has links in both directions to up to four neighbours."""

    rows: PositiveCount = Field(description="Rows of the mesh.")
    columns: PositiveCount = Field(description="Columns of the mesh; rows times columns are the nodes of the machine.")
    bandwidth_gbs: GigabytesPerSecond = Field(description="Bandwidth of one link in one direction.")
    latency_ns: LinkLatency = None

    def pairs(self) -> list[tuple[int, int]]:
        """Return the directed links of the mesh as (from, to) node pairs, in ascending order."""
        return sorted(_both_ways(mesh(self.rows, self.columns)))


class TopologySpec(CheckedModel):
    """All links of a machine by the name of their topology; all links have the same properties."""

    kind_key: ClassVar[str | None] = "topology"
    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = {"rows": ("mesh",), "columns": ("mesh",)}
    kind_words: ClassVar[Collection[str]] = get_args(TopologyWord)

    topology: TopologyName = Field(description="Which nodes are linked, each pair in both directions.")
    rows: PositiveCount | None = Field(None, description="Rows of a mesh; needed where topology is mesh.")
    columns: PositiveCount | None = Field(
        None, description="Columns of a mesh, needed where topology is mesh; rows times columns are the nodes."
    )
    bandwidth_gbs: LinkBandwidth = None
    latency_ns: LinkLatency = None
    count: LinkCount = 1

    def _problems(self) -> Iterator[str]:
        given = (self.rows is not None, self.columns is not None)
        if self.topology == "mesh" and not all(given):
            yield "a mesh needs rows and columns, as in {topology: mesh, rows: 2, columns: 4}"
        if self.topology != "mesh" and any(given):
            yield f"rows and columns go with topology: mesh, not with topology: {self.topology}"

    def pairs(self, nodes: int) -> list[tuple[int, int]]:
        """Return the directed links among ``nodes`` nodes as (from, to) pairs, both directions of a link together."""
        if self.rows is not None and self.columns is not None:
            return sorted(_both_ways(mesh(self.rows, self.columns)))
        return list(_both_ways(BY_NODES[self.topology](nodes)))


def _both_ways(pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for a, b in pairs:
        yield a, b
        yield b, a


Links = Annotated[
    Annotated[tuple[LinkSpec, ...], Tag("list")] | Annotated[TopologySpec, Tag("mapping")],
    by_shape("links are a list, or a topology such as ring or {topology: ring, bandwidth_gbs: 9}"),
    BeforeValidator(
        lambda value: {"topology": value} if isinstance(value, str) else value,
        json_schema_input_type=TopologyName | tuple[LinkSpec, ...] | TopologySpec,
    ),
]


class DirectedLink(Frozen):
    """One direction of a bundle of parallel links; ``path`` is the field of the file that gives the bundle."""

    source: int
    target: int
    bandwidth_gbs: Decimal  # bandwidth of the whole bundle
    latency_ns: Decimal | None
    path: FieldPath


def directed_links(
    mesh: MeshSpec | None, links: Sequence[LinkSpec] | TopologySpec, nodes: int, usual_gbs: Decimal | None
) -> list[DirectedLink]:
    """Return the single directions of the mesh, then of the topology or of the listed links in file order.

    A link without a bandwidth of its own has ``usual_gbs``. Raises InputError for such a link if that is None.
    """
    expanded = []
    if mesh:
        expanded += [DirectedLink(a, b, mesh.bandwidth_gbs, mesh.latency_ns, ("mesh",)) for a, b in mesh.pairs()]
    alike = isinstance(links, TopologySpec)
    entries: Sequence[LinkSpec | TopologySpec] = [links] if isinstance(links, TopologySpec) else links
    for index, link in enumerate(entries):
        path: FieldPath = ("links",) if alike else ("links", index)
        pairs = link.pairs(nodes) if isinstance(link, TopologySpec) else link.directions()
        each_gbs = usual_gbs if link.bandwidth_gbs is None else link.bandwidth_gbs
        if each_gbs is None:
            problem = "the links have no bandwidth" if alike else "the link has no bandwidth"
            here = "here, such as {topology: ring, bandwidth_gbs: 9}" if alike else "on the link"
            raise InputError(problem, path=path, expected=f"bandwidth_gbs {here}, or link_bandwidth_gbs for all links")
        expanded += [DirectedLink(a, b, each_gbs * link.count, link.latency_ns, path) for a, b in pairs]
    return expanded


def check_topology(mesh: MeshSpec | None, links: Sequence[LinkSpec] | TopologySpec, nodes: int) -> None:
    """Raise InputError for a mesh or a topology that the machine's nodes cannot form."""
    if mesh:
        _check_grid(mesh.rows, mesh.columns, nodes, ("mesh",))
    if not isinstance(links, TopologySpec):
        return
    if links.topology == "mesh":
        _check_grid(links.rows or 0, links.columns or 0, nodes, ("links",))
    elif links.topology == "twisted-ladder" and (nodes < 8 or nodes % 4):
        raise InputError(
            f"a twisted ladder cannot have {nodes} nodes", path=("links",), expected="8, 12, 16 or so on by fours"
        )


def _check_grid(rows: int, columns: int, nodes: int, path: FieldPath) -> None:
    if rows * columns != nodes:
        problem = f"a mesh of {rows} x {columns} has {rows * columns} nodes, the machine has {nodes}"
        raise InputError(problem, path=path, expected=f"rows times columns equal to {nodes}")


def check_links(links: Sequence[DirectedLink], nodes: int) -> None:
    """Raise InputError for links to missing nodes or to the same node, duplicate links, and unreachable nodes."""
    first: dict[tuple[int, int], FieldPath] = {}
    most_gbs = MOST_UNITS_PER_S // GIGA
    for link in links:
        _check_ends(link, nodes)
        if link.bandwidth_gbs > most_gbs:
            pair = f"from node {link.source} to node {link.target}"
            problem = f"the parallel links {pair} have {link.bandwidth_gbs} GB/s together"
            raise InputError(problem, path=link.path, expected=f"at most {most_gbs} GB/s")
        if (link.source, link.target) in first:
            twice = f"the link from node {link.source} to node {link.target} is given twice"
            raise InputError(twice, path=link.path, expected="one entry a direction, with 'count' for parallel links")
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


def _check_reachable(links: Sequence[DirectedLink], nodes: int) -> None:
    pairs = [(link.source, link.target) for link in links]
    forward = _reached(pairs, nodes)
    backward = _reached([(target, source) for source, target in pairs], nodes)
    for reached, text in ((forward, "node {} cannot be reached from node 0"), (backward, "no way back from node {}")):
        lost = [node for node in range(nodes) if node not in reached]
        if lost:
            problem = text.format(lost[0])
            expected = "links ({between: [A, B], bandwidth_gbs: ...}) that join every node with every other"
            raise InputError(problem, path=("links",), expected=expected)


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
    """Raise InputError for explicit routes that use missing links, visit a node twice, or are given twice."""
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
