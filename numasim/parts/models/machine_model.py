"""A machine in YAML: sockets, NUMA nodes, caches, links, latencies, clocks, and the source of every number.

Sections 2.1 and 2.7 of the model (docs/model/machine.md) define machines. A matrix gives measured latencies between
nodes. Without a matrix, the latency on the own node is ``local_latency_ns``; the latency of another node is
``remote_base_latency_ns`` plus the latencies of the links on the route.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Annotated, ClassVar, Self

from pydantic import Field, Tag, model_validator

from numasim.errors import InputError
from numasim.parts.base import (
    Bytes,
    Count,
    GigabytesPerSecond,
    Gigahertz,
    Label,
    LeanModel,
    Model,
    Nanoseconds,
    PositiveCount,
    by_shape,
)
from numasim.parts.models.caches_model import CachesSpec, cache_domains
from numasim.parts.models.interconnect import (
    DirectedLink,
    Links,
    MeshSpec,
    check_links,
    check_routes,
    check_topology,
    directed_links,
)
from numasim.parts.models.nodes_model import MAX_NODES, Nodes, NodeShape, NodesSpec, Speed, check_nodes, node_shapes
from numasim.parts.models.sources import check_source_fields
from numasim.parts.unit_factors import MOST_STEPS_PER_S
from numasim.schema.enumerations import MOST_PAGE_BYTES

Row = tuple[Nanoseconds, ...]
MOST_MESSAGE_BYTES = 64  # the most bytes of a coherence message, which carries no cache line
CoreRate = Annotated[PositiveCount, Field(le=MOST_STEPS_PER_S)]
LEVELS = ("same_core_ns", "same_llc_ns", "same_node_ns", "same_socket_ns", "cross_socket_ns")


class CoherenceSpec(LeanModel):
    """Times to move one cache line between two cores: levels by what the cores share, or a matrix of all cores."""

    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **dict.fromkeys(LEVELS, ("levels",)),
        "cores_ns": ("matrix",),
    }
    left_out: ClassVar[Collection[str]] = (*LEVELS[:-1], "cores_ns")

    same_core_ns: Nanoseconds | None = Field(
        None,
        description="Time of a cache line between two hardware threads of one core; needed unless cores_ns is given.",
    )
    same_llc_ns: Nanoseconds | None = Field(
        None,
        description="Time of a cache line between cores of one last-level cache. Default: that of the next level.",
    )
    same_node_ns: Nanoseconds | None = Field(
        None, description="Time of a cache line between two cores of one NUMA node. Default: same_socket_ns."
    )
    same_socket_ns: Nanoseconds | None = Field(
        None,
        description="Time of a cache line between cores of one socket (thesis, Table 6.2); needed without cores_ns.",
    )
    cross_socket_ns: (
        Annotated[
            Annotated[Nanoseconds, Tag("number")] | Annotated[Row, Field(min_length=1), Tag("list")],
            by_shape("a time in ns is needed here, or a list of times, the times between the nearest sockets first"),
        ]
        | None
    ) = Field(
        None,
        description="Time to move a cache line between cores of two sockets (thesis, Table 6.2), or a list of times: "
        "the first between the sockets of least latency, the next between those of the next larger latency, the last "
        "also between all that are farther. Needed where there are several sockets, unless cores_ns is given.",
    )
    cores_ns: tuple[Row, ...] | None = Field(
        None,
        description="Measured times to move a cache line, in place of all levels: a row for each core that has the "
        "line, a column for each core that asks for the line, by the machine's numbers of cores. The diagonal has the "
        "times between two hardware threads of one core.",
    )

    @property
    def across_ns(self) -> Row:
        """Return the times between sockets, the nearest sockets first; empty if no time is given."""
        given = self.cross_socket_ns
        return given if isinstance(given, tuple) else () if given is None else (given,)


class SnoopSpec(Model):
    """A protocol that keeps caches coherent by asking the caches of all nodes about every line that is fetched."""

    request_bytes: Annotated[PositiveCount, Field(le=MOST_MESSAGE_BYTES)] = Field(
        description="Size on a link of a message with an address: a request, a question, a written line's head."
    )
    answer_bytes: Annotated[PositiveCount, Field(le=MOST_MESSAGE_BYTES)] = Field(
        description="Size on a link of a message without an address: an answer, a fetched line's head."
    )


class TurboStep(Model):
    """With at most ``active`` busy cores on a socket, its cores run at ``ghz``."""

    active: PositiveCount = Field(
        description="Most busy cores of a socket for this step. A core is busy unless all its workers sleep."
    )
    ghz: Gigahertz = Field(description="Clock of the socket's cores at this step.")


class ClockSpec(Model):
    """The base clock and, fewest active cores first, the turbo steps."""

    base_ghz: Gigahertz = Field(
        description="Clock of a core where more cores of its socket are busy than the last turbo step allows."
    )
    turbo: tuple[TurboStep, ...] = Field(
        (), description="Turbo steps, fewest busy cores first. Default: none, all cores always run at the base clock."
    )


class SmtSpec(Model):
    """Speed of a hardware thread beside a busy or a polling sibling, in ppm of its speed without siblings."""

    busy_ppm: Speed = Field(
        description="Speed beside a worker on the same core that executes; of several, the factors are multiplied."
    )
    poll_ppm: Speed = Field(description="Speed beside a worker on the same core that searches for work or spins.")


class ProbeSpec(Model):
    """Times of one steal probe, if they were measured on the machine."""

    same_node_ns: Nanoseconds = Field(
        description="Time of one probe of a queue on the own node; it replaces the runtime's probe_ns."
    )
    other_node_ns: Nanoseconds = Field(
        description="Time of one probe of a queue on another node; it replaces the runtime's probe_remote_ns."
    )


class MachineSpec(LeanModel):
    """One machine; ``sources`` has the source of each dotted field, which also counts for all fields below it."""

    goes_with: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "routes": ("links", "links.topology", "links.rows", "links.columns")
    }
    left_out: ClassVar[Collection[str]] = ("link_bandwidth_gbs", "snoop", "core_steps_per_s")

    name: Label = Field(
        description="Name of the machine in results and figures. Default in a file: the name of the file."
    )
    sockets: PositiveCount = Field(le=MAX_NODES, description="Number of sockets.")
    nodes: Nodes = Field(
        description="The NUMA nodes: a mapping if all are alike, or a list of nodes and of runs of alike nodes."
    )
    caches: CachesSpec = Field(description="Sizes and latencies of the caches, and which cores share one.")
    latency_ns: tuple[Row, ...] | None = Field(
        None,
        description="Measured latencies of loads, which win over all others: a row for each node whose cores read, "
        "a column for each node whose memory is read.",
    )
    local_latency_ns: Nanoseconds | None = Field(
        None, description="Latency of a load from the memory of the own node; needed where latency_ns is not given."
    )
    remote_base_latency_ns: Nanoseconds | None = Field(
        None, description="Latency of a load from another node without the links on the way. Default: local_latency_ns."
    )
    hop_latency_ns: Nanoseconds | None = Field(None, description="Latency of every link that gives none of its own.")
    link_bandwidth_gbs: GigabytesPerSecond | None = Field(
        None, description="Bandwidth in one direction of every link that gives none of its own."
    )
    links: Links = Field(
        (),
        description="Links between nodes: a list, or the name of a topology such as ring, as a word or in a mapping. "
        "Default: none, which only a machine of one node or a mesh can do without.",
    )
    mesh: MeshSpec | None = Field(
        None, description="A two-dimensional mesh of links in place of, or beside, single links (model 2.7)."
    )
    routes: tuple[tuple[Count, ...], ...] = Field(
        (),
        description="Explicit routes as lists of nodes. Default: the fewest links, then the smallest node numbers.",
    )
    coherence: CoherenceSpec = Field(
        description="Times to move a cache line between cores: of locks, queues and counters."
    )
    snoop: SnoopSpec | None = Field(
        None, description="Messages that ask the caches of all nodes about each fetched line. Default: no messages."
    )
    clock: ClockSpec = Field(description="Clocks of the cores.")
    core_steps_per_s: CoreRate | None = Field(
        None,
        description="How fast a core of the fastest kind computes, alone on its socket: steps per second of the fixed "
        "loop that `numasim calibrate` times (`numasim-runtime probe --cores`). Compute times of a program that was "
        "recorded on cores of another known rate are scaled by it. Default: not known, times are not scaled.",
    )
    smt: SmtSpec | None = Field(
        None, description="Speed of hardware threads that share a core; needed where cores have more than one thread."
    )
    probe: ProbeSpec | None = Field(
        None, description="Measured times of steal probes. Default: those of the runtime's costs."
    )
    page: Bytes = Field(4096, description="Size of a memory page, a power of two.")
    line: Bytes = Field(
        64,
        description="Unit by which the page policy hash-home deals memory to nodes, a power of two; the lines that "
        "caches and controllers move always have 64 bytes.",
    )
    sources: dict[str, str] = Field(
        default_factory=dict,
        description="Where the values come from: dotted fields of this file, each with the fields below it, and their "
        "sources. A source begins with read:, derived: or assumed:; any other source cites a document.",
    )

    @cached_property
    def node_shapes(self) -> tuple[NodeShape, ...]:
        """Return every NUMA node, in the order of node numbers."""
        return node_shapes(self.sockets, self.nodes)

    @property
    def node_count(self) -> int:
        """Return the number of NUMA nodes of the whole machine."""
        return len(self.node_shapes)

    @property
    def cores(self) -> int:
        """Return the number of cores of the whole machine."""
        return sum(node.cores for node in self.node_shapes)

    @property
    def threads(self) -> int:
        """Return the number of hardware threads of the whole machine."""
        return sum(node.threads for node in self.node_shapes)

    def directed_links(self) -> list[DirectedLink]:
        """Return every link in each of its directions: the links of the mesh, then the listed links in file order."""
        return directed_links(self.mesh, self.links, self.node_count, self.link_bandwidth_gbs)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_nodes(self.sockets, self.nodes)
        cache_domains(self.caches, self.node_shapes)
        _check_pages(self)
        check_topology(self.mesh, self.links, self.node_count)
        links = self.directed_links()
        check_links(links, self.node_count)
        check_routes(self.routes, links)
        _check_latency(self, links)
        _check_coherence(self)
        _check_needed(self)
        _check_turbo(self)
        check_source_fields(self.sources, self)
        return self


def _check_pages(spec: MachineSpec) -> None:
    for field, size in (("page", spec.page), ("line", spec.line)):
        if size < 1 or size & (size - 1):
            raise InputError(f"{size} bytes is no power of two", path=(field,), expected="a size such as 64B or 4KiB")
    if spec.page > MOST_PAGE_BYTES:
        raise InputError(
            f"a page of {spec.page} bytes is too large", path=("page",), expected=f"at most {MOST_PAGE_BYTES} bytes"
        )
    if spec.line > spec.page:
        raise InputError(f"a line of {spec.line} bytes is larger than a page", path=("line",))


def _check_latency(spec: MachineSpec, links: list[DirectedLink]) -> None:
    if spec.latency_ns is not None:
        _check_matrix(spec.latency_ns, spec.node_count, ("latency_ns",), "latencies", "node")
        return
    if spec.local_latency_ns is None:
        raise InputError(
            "no latency is given", path=(), expected="latency_ns (a measured matrix) or local_latency_ns with links"
        )
    for link in links:
        if link.latency_ns is None and spec.hop_latency_ns is None:
            problem = f"the link from node {link.source} to node {link.target} has no latency"
            expected = "latency_ns on the link, hop_latency_ns for all links, or a measured matrix latency_ns"
            raise InputError(problem, path=link.path, expected=expected)


def _check_matrix(matrix: tuple[Row, ...], units: int, path: tuple[str, ...], values: str, unit: str) -> None:
    shape = f"{units} rows of {units} {values}, one row a {unit}"
    if len(matrix) != units:
        raise InputError(f"the matrix has {len(matrix)} rows", path=path, expected=shape)
    for index, row in enumerate(matrix):
        if len(row) != units:
            raise InputError(f"the row has {len(row)} {values}", path=(*path, index), expected=shape)


def _check_coherence(spec: MachineSpec) -> None:
    given, path = spec.coherence, ("coherence",)
    levels = [name for name in LEVELS if getattr(given, name) is not None]
    if given.cores_ns is not None:
        if levels:
            either = "either cores_ns, a matrix of all cores, or times by level"
            raise InputError(f"cores_ns and {levels[0]} are given", path=path, expected=either)
        _check_matrix(given.cores_ns, spec.cores, (*path, "cores_ns"), "times", "core")
        return
    for name in ("same_core_ns", "same_socket_ns"):
        if name not in levels:
            needed = "same_core_ns and same_socket_ns, or cores_ns, a matrix of all cores"
            raise InputError(f"{name} is missing", path=path, expected=needed)
    if spec.sockets > 1 and not given.across_ns:
        problem = "a machine with several sockets needs cross_socket_ns"
        raise InputError(problem, path=path, expected="the time of one cache line from socket to socket")
    pairs = spec.sockets * (spec.sockets - 1) // 2
    if len(given.across_ns) > max(1, pairs):
        problem = f"{len(given.across_ns)} times are given for {pairs} pair{'s' * (pairs != 1)} of sockets"
        expected = "at most one time for each different latency between two sockets"
        raise InputError(problem, path=(*path, "cross_socket_ns"), expected=expected)


def _check_needed(spec: MachineSpec) -> None:
    most = max(kind.threads_per_core for node in spec.node_shapes for kind in node.kinds)
    if most > 1 and spec.smt is None:
        path = ("nodes", "threads_per_core") if isinstance(spec.nodes, NodesSpec) else ("nodes",)
        expected = "smt: {busy_ppm, poll_ppm}, a thread's speed beside a busy and a polling sibling"
        raise InputError(f"cores with {most} hardware threads need smt", path=path, expected=expected)


def _check_turbo(spec: MachineSpec) -> None:
    cores_of: Counter[int] = Counter()
    for node in spec.node_shapes:
        cores_of[node.socket] += node.cores
    cores = max(cores_of.values())
    base_ghz, before = spec.clock.base_ghz, None
    for index, step in enumerate(spec.clock.turbo):
        path = ("clock", "turbo", index)
        if before and (step.active <= before.active or step.ghz > before.ghz):
            expected = "steps with ever more active cores and ever lower clocks"
            raise InputError("turbo steps are out of order", path=path, expected=expected)
        if step.active > cores or step.ghz < base_ghz:
            problem = f"{step.active} active cores at {step.ghz} GHz is no turbo step of this socket"
            expected = f"at most {cores} active cores and at least {base_ghz} GHz"
            raise InputError(problem, path=path, expected=expected)
        before = step
