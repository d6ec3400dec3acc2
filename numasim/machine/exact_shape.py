"""The exact shape of a system: the nodes, cores, hardware threads and last-level caches for a machine file.

A system that a machine file cannot express (model 2.1) is refused, and the error gives the reason. Remarks are
sentences about other differences between the system and its machine file. A node is a NUMA node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from numasim.errors import InputError
from numasim.machine.inventory import Cache, Inventory, Thread
from numasim.parts.base import as_list
from numasim.parts.models.nodes_model import LONE, MAX_SIBLINGS

LLC_BYTES_OF_CORE = 2 * 2**20  # of a last-level cache whose size is not said
ALIKE_SPEEDS = Decimal("0.9")  # cores of one kind have at least this part of the kind's highest speed
ALIKE_MEMORY = Decimal("0.875")  # equal nodes have at least this part of the most memory; firmware reserves some


class Kind(NamedTuple):
    """A kind of cores: the number of hardware threads of a core, and its speed in ppm of the fastest core's speed."""

    threads: int
    speed_ppm: int


@dataclass(frozen=True)
class Node:
    """A node with its ``number`` on the system. A core has the number of its first thread; ``cores`` ascend."""

    number: int
    socket: int
    cores: tuple[int, ...]
    kinds: tuple[Kind, ...]  # [cores]
    memory_bytes: int | None  # None: not known; 0: no memory
    near_cores: int  # number of cores of the node, or of the nearest node if the node has no cores
    memory_kind: str  # such as HBM; empty if not known

    @property
    def runs(self) -> list[tuple[Kind, int]]:
        """Return [(kind, count)] of the runs of consecutive cores of one kind."""
        return [(kind, len(list(alike))) for kind, alike in groupby(self.kinds)]


@dataclass(frozen=True)
class LastLevel:
    """The level of last-level caches, and the cores (numbers in the machine file) and the size in bytes of each."""

    level: int
    cores: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]

    @property
    def is_uniform(self) -> bool:
        """Return whether all last-level caches have one size."""
        return len(set(self.sizes)) == 1


@dataclass(frozen=True)
class Shape:
    """The nodes in the order of the machine file, nodes with cores first; the last-level caches; remarks."""

    nodes: tuple[Node, ...]
    last_level: LastLevel | None
    remarks: tuple[str, ...]
    sockets_reason: str  # the source of the sockets; empty if the system reports sockets

    @property
    def sockets(self) -> int:
        """Return the number of sockets."""
        return len({node.socket for node in self.nodes})

    @property
    def is_uniform(self) -> bool:
        """Return whether all nodes are alike, cores are of one kind, and sockets have equally many nodes in a row."""
        first, sockets = self.nodes[0], [node.socket for node in self.nodes]
        kinds = {kind for node in self.nodes for kind in node.kinds}
        per_socket = len(sockets) // self.sockets
        return (
            all(node.cores and len(node.cores) == len(first.cores) for node in self.nodes)
            and len(kinds) == 1
            and next(iter(kinds)).speed_ppm == LONE
            and _alike_memory([node.memory_bytes for node in self.nodes])
            and sockets == [socket for socket in range(self.sockets) for _ in range(per_socket)]
        )


def shape_of(inventory: Inventory) -> Shape:
    """Return the shape of a system; raise InputError if no machine file can express it."""
    try:
        return _shape(inventory)
    except InputError as error:
        raise InputError(f"{inventory.origin}: {error.problem}", expected=error.expected) from None


def _shape(inventory: Inventory) -> Shape:
    cores = _cores(inventory)
    speeds, said_of_speeds = _speeds(inventory, cores)
    home = {core: _one_node(core, held) for core, held in cores.items()}
    socket, said_of_sockets = _sockets(cores, home)
    alone, empty = _without_processors(inventory, set(home.values()))
    order = [*sorted(set(home.values()), key=lambda node: (socket[node], node)), *alone]
    beside = {node: _nearest(inventory, node, order) for node in alone}
    socket |= {node: socket[nearest] for node, nearest in beside.items()}
    dense = {old: new for new, old in enumerate(dict.fromkeys(socket[node] for node in order))}
    nodes = []
    for node in order:
        mine = tuple(sorted(core for core, its in home.items() if its == node))
        kinds = tuple(Kind(len(cores[core]), speeds[core]) for core in mine)
        near = list(home.values()).count(beside.get(node, node))
        kind = inventory.memory_kind.get(node, "")
        nodes.append(Node(node, dense[socket[node]], mine, kinds, _memory(inventory, node), near, kind))
    last_level = _last_level(inventory, [core for node in nodes for core in node.cores])
    remarks = (*said_of_sockets, *empty, *said_of_speeds, *_unlike_caches(inventory, last_level))
    reason = "assumed: no socket is said, so that all nodes are on one" if "sockets" in inventory.unsaid else ""
    if said_of_sockets:
        reason = "assumed: each node is taken as a socket, since one spans several"
    return Shape(tuple(nodes), last_level, remarks, reason)


def _cores(inventory: Inventory) -> dict[int, list[Thread]]:
    cores: dict[int, list[Thread]] = {}
    for thread in inventory.threads:
        cores.setdefault(thread.core, []).append(thread)
    for core, threads in cores.items():
        if len(threads) > MAX_SIBLINGS:
            raise InputError(
                f"core {core} has {len(threads)} hardware threads", expected=f"at most {MAX_SIBLINGS} of one core"
            )
    return cores


def _one_node(core: int, threads: Sequence[Thread]) -> int:
    nodes = sorted({thread.node for thread in threads})
    if len(nodes) > 1:
        raise InputError(f"core {core} has threads on nodes {as_list(nodes)}", expected="every core on one node")
    return nodes[0]


def _sockets(cores: dict[int, list[Thread]], home: dict[int, int]) -> tuple[dict[int, int], list[str]]:
    """Return (the socket of each node, remarks); if a node spans several sockets, every node counts as a socket."""
    sockets: dict[int, set[int]] = {}
    for core, threads in cores.items():
        sockets.setdefault(home[core], set()).update(thread.socket for thread in threads)
    wide = sorted(node for node, held in sockets.items() if len(held) > 1)
    if wide:
        return {node: node for node in sockets}, [
            f"node {wide[0]} spans several sockets; each node is taken as a socket"
        ]
    return {node: min(held) for node, held in sockets.items()}, []


def _without_processors(inventory: Inventory, used: set[int]) -> tuple[list[int], list[str]]:
    """Return (nodes that have memory but no processors, remarks about nodes that have neither)."""
    others = sorted(inventory.memory_bytes.keys() - used)
    known = any(inventory.memory_bytes.values())
    alone = [node for node in others if inventory.memory_bytes[node] or not known]
    empty = [node for node in others if node not in alone]
    said = [f"nodes {as_list(empty)} have neither processors nor memory to use and are left out"] if empty else []
    return alone, said


def _memory(inventory: Inventory, node: int) -> int | None:
    said = any(inventory.memory_bytes.values()) or node in inventory.memoryless
    return inventory.memory_bytes.get(node, 0) if said else None


def _nearest(inventory: Inventory, node: int, order: Iterable[int]) -> int:
    """Return the nearest node with processors, whose socket a ``node`` without processors gets."""
    if node in inventory.beside:
        return inventory.beside[node]
    with_processors = {thread.node for thread in inventory.threads}
    far = Decimal("Infinity")
    return min(
        (each for each in order if each in with_processors),
        key=lambda each: (inventory.distance.get((each, node), far), each),
    )


def _alike_memory(sizes: Sequence[int | None]) -> bool:
    known = [size for size in sizes if size is not None]
    return len(known) in (0, len(sizes)) and (not known or (min(known) > 0 and min(known) >= ALIKE_MEMORY * max(known)))


# ---- cores of several kinds


def _speeds(inventory: Inventory, cores: dict[int, list[Thread]]) -> tuple[dict[int, int], list[str]]:
    """Return (speed of each core in ppm of the fastest core's speed, remarks)."""
    speeds = {core: max(inventory.speeds.get(thread.id, 0) for thread in held) for core, held in cores.items()}
    alike = dict.fromkeys(cores, LONE)
    if not all(speeds.values()):
        said = [f"the speeds of some cores are not said by {inventory.speed_source}; all are taken alike"]
        return alike, said if any(speeds.values()) else []
    kind, most = _kinds_by_speed(set(speeds.values())), max(speeds.values())
    remarks = []
    if len(set(kind.values())) > 1:
        remarks.append(f"cores are of several kinds; their speeds are in proportion to {inventory.speed_source}")
    if len(set(kind.values())) < len(kind):
        remarks.append("cores whose speeds differ by at most a tenth, as favoured cores' do, are taken alike")
    return {core: kind[speed] * LONE // most for core, speed in speeds.items()}, remarks


def _kinds_by_speed(speeds: set[int]) -> dict[int, int]:
    """Return {speed of a core: speed of its kind}; the speed of a kind is that of its fastest cores."""
    kind: dict[int, int] = {}
    fastest = 0
    for speed in sorted(speeds, reverse=True):
        if speed < ALIKE_SPEEDS * fastest or not fastest:
            fastest = speed
        kind[speed] = fastest
    return kind


# ---- caches


def _last_level(inventory: Inventory, order: Sequence[int]) -> LastLevel | None:
    """Return the last-level caches of usable cores, those of the highest level; None if this is level 1, or level 2
    without sharing. Raise InputError if a size is not known, or if a core has no such cache, several, or a part of one.
    """
    core_of = {thread.id: thread.core for thread in inventory.threads}
    sharers = ((cache, frozenset(core_of[t] for t in cache.threads if t in core_of)) for cache in inventory.caches)
    found = [(cache, cores) for cache, cores in sharers if cores]
    level = max((cache.level for cache, _ in found), default=0)
    last = [(cache, cores) for cache, cores in found if cache.level == level]
    if level < 2 or (level == 2 and all(len(cores) == 1 for _, cores in last)):
        return None
    if not all(cache.size_bytes for cache, _ in last) and "cache sizes" not in inventory.unsaid:
        raise InputError(f"the size of a cache of level {level}, the last one, is not said", expected="its size")
    _check_sharers(level, last, core_of, order)
    place = {core: at for at, core in enumerate(order)}
    domains = sorted((tuple(sorted(place[core] for core in cores)), cache.size_bytes) for cache, cores in last)
    return LastLevel(
        level,
        tuple(cores for cores, _ in domains),
        tuple(size_bytes or LLC_BYTES_OF_CORE * len(cores) for cores, size_bytes in domains),
    )


def _check_sharers(
    level: int, last: Sequence[tuple[Cache, frozenset[int]]], core_of: dict[int, int], order: Sequence[int]
) -> None:
    often = Counter(core for _, cores in last for core in cores)
    several = sorted(core for core, times in often.items() if times > 1)
    missing = sorted(set(order) - often.keys())
    every = "every core with one last-level cache"
    if several:
        raise InputError(f"core {several[0]} has several caches of level {level}, the last one", expected=every)
    if missing:
        raise InputError(f"cores {as_list(missing)} have no cache of level {level}, which others have", expected=every)
    for cache, cores in last:
        outside = {thread for thread, core in core_of.items() if core in cores} - cache.threads
        if outside:
            raise InputError(
                f"processors {as_list(outside)} are outside the last-level cache of their core", expected=every
            )


def _unlike_caches(inventory: Inventory, last_level: LastLevel | None) -> Iterator[str]:
    """Yield remarks on levels below the last whose caches differ in size: a machine file has one size for a level."""
    usable = {thread.id for thread in inventory.threads}
    for level in (1, 2):
        if last_level is None or level < last_level.level:
            sizes = {cache.size_bytes for cache in inventory.caches if cache.level == level and cache.threads & usable}
            if len(sizes) > 1:
                yield f"the caches of level {level} have unlike sizes; the most frequent one is taken everywhere"
