"""The NUMA nodes of a machine in YAML: all equal, or one by one with their sockets, kinds of cores and memory.

The module has the nodes of model 2.1. A mapping is the short form for equal nodes. A list has an entry for every node,
or for several equal nodes in a row, and gives the socket of each node. A node may be without cores, such as memory
behind CXL or high-bandwidth memory (HBM) beside the processor, or without memory; its cores may be of several kinds.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

from pydantic import Field, Tag

from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.parts.base import Bytes, CheckedModel, Count, GigabytesPerSecond, Model, PositiveCount, Ppm, by_shape

MAX_NODES = 1024
MAX_THREADS = 65_536
MAX_SIBLINGS = 8
LONE = 1_000_000  # the speed, in ppm, of a hardware thread with idle siblings, and of the machine's fastest cores

Speed = Annotated[Ppm, Field(ge=1)]
Siblings = Annotated[PositiveCount, Field(le=MAX_SIBLINGS)]
SocketNumber = Annotated[Count, Field(lt=MAX_NODES)]


class NodesSpec(Model):
    """Equal NUMA nodes: each node has the same cores, the same memory and one memory controller (IMC)."""

    per_socket: PositiveCount = Field(1, le=MAX_NODES, description="NUMA nodes of each socket.")
    cores: PositiveCount = Field(le=MAX_THREADS, description="Cores of each node.")
    threads_per_core: PositiveCount = Field(1, le=MAX_SIBLINGS, description="Hardware threads of each core.")
    memory: Bytes = Field(description="Memory of each node.")
    imc_bandwidth_gbs: GigabytesPerSecond = Field(description="Sustained bandwidth of each node's memory controller.")


class CoresSpec(Model):
    """Cores of one kind: their number, their hardware threads, and their speed."""

    count: PositiveCount = Field(le=MAX_THREADS, description="Cores of this kind.")
    threads_per_core: Siblings = Field(1, description="Hardware threads of each core of this kind.")
    speed_ppm: Speed = Field(
        LONE,
        description="Speed of computing, relative to the machine's fastest kind of cores, to which compute times "
        "refer; waits for memory are those of any core.",
    )


class NodeSpec(CheckedModel):
    """One NUMA node, or ``count`` equal nodes in a row on one socket; a node without memory has no bandwidth."""

    count: PositiveCount = Field(
        1, le=MAX_NODES, description="Number of equal nodes in a row that the entry describes."
    )
    socket: SocketNumber = Field(description="Socket of the node, from 0.")
    cores: Annotated[
        Annotated[Count, Field(le=MAX_THREADS), Tag("number")] | Annotated[tuple[CoresSpec, ...], Tag("list")],
        by_shape("a number of cores, or a list of kinds such as {count: 8, threads_per_core: 2}, is needed here"),
    ] = Field(
        0, description="Number of cores, or their kinds in the order of core numbers. Default: none, as behind CXL."
    )
    threads_per_core: Siblings | None = Field(
        None, description="Hardware threads of each core, where cores is a number. Default: 1."
    )
    memory: Bytes = Field(
        0, description="Memory of the node. Default: none; what is wanted there is on the nearest node with memory."
    )
    imc_bandwidth_gbs: GigabytesPerSecond | None = Field(
        None, description="Sustained bandwidth of the node's memory controller; needed where it has memory."
    )

    @property
    def kinds(self) -> tuple[CoresSpec, ...]:
        """Return the cores of one node by kind."""
        if not isinstance(self.cores, int):
            return self.cores
        return (CoresSpec(count=self.cores, threads_per_core=self.threads_per_core or 1),) if self.cores else ()

    def _problems(self) -> Iterator[str]:
        if not self.kinds and not self.memory:
            yield "a node has cores, memory or both"
        if self.threads_per_core is not None and not (isinstance(self.cores, int) and self.cores):
            yield "threads_per_core goes with a number of cores; kinds of cores have their own"
        if (self.memory > 0) != (self.imc_bandwidth_gbs is not None):
            yield "memory and imc_bandwidth_gbs go together: a node with memory has a controller, one without has none"


Nodes = Annotated[
    Annotated[NodesSpec, Tag("mapping")]
    | Annotated[tuple[NodeSpec, ...], Field(min_length=1, max_length=MAX_NODES), Tag("list")],
    by_shape("nodes are a mapping, where all are alike, or a list with an entry for every node or run of alike nodes"),
]


class NodeShape(Frozen):
    """One node of a machine; ``imc_bandwidth_gbs`` is None if the node has no memory."""

    socket: int
    kinds: tuple[CoresSpec, ...]
    memory: int
    imc_bandwidth_gbs: Decimal | None

    @property
    def cores(self) -> int:
        """Return the number of the node's cores."""
        return sum(kind.count for kind in self.kinds)

    @property
    def threads(self) -> int:
        """Return the number of the node's hardware threads."""
        return sum(kind.count * kind.threads_per_core for kind in self.kinds)


def node_shapes(sockets: int, nodes: NodesSpec | tuple[NodeSpec, ...]) -> tuple[NodeShape, ...]:
    """Return every node of a machine, in the order of the nodes' numbers."""
    if isinstance(nodes, NodesSpec):
        kinds = (CoresSpec.model_construct(count=nodes.cores, threads_per_core=nodes.threads_per_core),)
        alike = [NodeShape(socket, kinds, nodes.memory, nodes.imc_bandwidth_gbs) for socket in range(sockets)]
        return tuple(node for node in alike for _ in range(nodes.per_socket))
    given = [(NodeShape(node.socket, node.kinds, node.memory, node.imc_bandwidth_gbs), node.count) for node in nodes]
    return tuple(node for node, count in given for _ in range(count))


def check_nodes(sockets: int, nodes: NodesSpec | tuple[NodeSpec, ...]) -> None:
    """Raise InputError for too many nodes or threads, sockets without cores, and machines without memory."""
    if isinstance(nodes, NodesSpec):
        count, product = sockets * nodes.per_socket, f", {sockets} sockets of {nodes.per_socket}"
    else:
        count, product = sum(node.count for node in nodes), ""
    if count > MAX_NODES:
        problem = f"the machine has {count} nodes{product}"
        raise InputError(problem, path=("nodes",), expected=f"at most {MAX_NODES} nodes")
    threads = sum(shape.threads for shape in node_shapes(sockets, nodes))
    if threads > MAX_THREADS:
        problem = f"the machine has {threads} hardware threads"
        raise InputError(problem, path=("nodes",), expected=f"at most {MAX_THREADS}")
    if isinstance(nodes, NodesSpec):
        return
    _check_sockets(sockets, nodes)
    for needed, there in (("cores", any(node.kinds for node in nodes)), ("memory", any(node.memory for node in nodes))):
        if not there:
            raise InputError(f"no node has {needed}", path=("nodes",), expected=f"at least one node with {needed}")


def _check_sockets(sockets: int, nodes: tuple[NodeSpec, ...]) -> None:
    for index, node in enumerate(nodes):
        if node.socket >= sockets:
            raise InputError(
                f"there is no socket {node.socket}", path=("nodes", index, "socket"), expected=f"0 to {sockets - 1}"
            )
    empty = sorted(set(range(sockets)) - {node.socket for node in nodes if node.kinds})
    if empty:
        raise InputError(
            f"socket {empty[0]} has no node with cores", path=("nodes",), expected=f"one on each of {sockets} sockets"
        )
