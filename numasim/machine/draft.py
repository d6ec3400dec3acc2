"""A draft of a machine file: the values that a system reports, and documented defaults for the others.

Latencies are in proportion to the distances that firmware gives. Links follow from the distances: two nodes are linked
unless a route over a third node is as short.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.machine.exact_shape import Kind, LastLevel, Node, Shape, shape_of
from numasim.machine.inventory import Inventory
from numasim.machine.links_by_distance import links_of
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.nodes_model import LONE, MAX_NODES
from numasim.parts.number_lists import as_list
from numasim.parts.validation import validate
from numasim.parts.yaml.nodes import Place, Source, from_python
from numasim.parts.yaml.yaml_text import yaml_text

Values = dict[str, Any]
LOCAL_NS = Decimal(90)
LINK_GBS = Decimal(15)
BANDWIDTH_GBS = Decimal(20)
BANDWIDTH_SOURCE = "assumed: about one channel of DDR4 a few cores; measure it"
FAR = Decimal(2)  # distance of another node, relative to the local one, where none is given
MEMORY_BYTES = 2**30
GHZ = Decimal("2.5")
LINE_BYTES = 64
_BLOCKS = ("latency_ns", "links", "sources")


@dataclass
class Draft:
    """The fields of a machine file, their sources, and remarks on properties that the file leaves out."""

    values: Values
    sources: dict[str, str]
    remarks: list[str]
    nodes: tuple[int, ...]  # for each node of the machine, its number on the system

    def put(self, path: str, value: Any, source: str) -> None:
        """Set the dotted field ``path`` and the source of its value."""
        *above, last = path.split(".")
        place = self.values
        for key in above:
            place = place[key]
        place[last] = value
        self.sources[path] = source

    def put_bandwidth(self, bandwidth_gbs: Decimal, source: str) -> None:
        """Set the bandwidth of the memory controllers of all nodes that have memory."""
        nodes = self.values["nodes"]
        for node in nodes if isinstance(nodes, list) else [nodes]:
            if "memory" in node:
                node["imc_bandwidth_gbs"] = bandwidth_gbs
        self.sources["nodes.imc_bandwidth_gbs"] = source

    def check(self) -> MachineSpec:
        """The machine that the file describes; an `InputError` if it is not valid."""
        nowhere = Place(Source("", Path()))
        return validate(MachineSpec, from_python({**self.values, "sources": self.sources}, nowhere))

    def text(self) -> str:
        """The file."""
        heading = "\n".join(_wrapped(remark) for remark in self.remarks)
        blocks = (*_BLOCKS, "nodes") if isinstance(self.values["nodes"], list) else _BLOCKS
        return yaml_text({**self.values, "sources": self.sources}, heading=heading, blocks=blocks)


def draft_machine(inventory: Inventory, name: str) -> Draft:
    """Begin the machine file of a system: exactly its usable cores, hardware threads, nodes and last-level caches.

    InputError where a machine file cannot say them, or if the system exceeds the model's limits.
    """
    shape = shape_of(inventory)
    if len(shape.nodes) > MAX_NODES:
        raise InputError(f"{inventory.origin}: {len(shape.nodes)} nodes", expected=f"at most {MAX_NODES}")
    head = f"{name}, imported from {inventory.origin}. Values marked as assumed were not given there."
    numbers = tuple(node.number for node in shape.nodes)
    renamed = numbers != tuple(range(len(numbers)))
    said = [f"its nodes are numbers {', '.join(map(str, numbers))} of the system, in this order"] if renamed else []
    draft = Draft({"name": name}, {}, [head, *inventory.remarks, *shape.remarks, *said], numbers)
    for part in (_put_nodes, _put_caches, _put_latencies, _put_constants):
        part(draft, inventory, shape)
    return draft


def _put_nodes(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    draft.put("sockets", shape.sockets, inventory.origin)
    sizes = [node.memory_bytes for node in shape.nodes if node.memory_bytes]
    source = inventory.origin if sizes else "assumed: not said"
    if not shape.is_uniform:
        _put_listed_nodes(draft, inventory, shape, source)
        return
    first, per_socket = shape.nodes[0], len(shape.nodes) // shape.sockets
    draft.values["nodes"] = {}
    if per_socket > 1:
        draft.put("nodes.per_socket", per_socket, inventory.origin)
    draft.put("nodes.cores", len(first.cores), inventory.origin)
    if first.kinds[0].threads > 1:
        draft.put("nodes.threads_per_core", first.kinds[0].threads, inventory.origin)
    alike = not sizes or min(sizes) == max(sizes)
    draft.put("nodes.memory", _size(min(sizes, default=MEMORY_BYTES)), source if alike else f"{source}: the least one")
    draft.put("nodes.imc_bandwidth_gbs", BANDWIDTH_GBS, BANDWIDTH_SOURCE)


def _put_listed_nodes(draft: Draft, inventory: Inventory, shape: Shape, memory_source: str) -> None:
    draft.values["nodes"] = [
        {**node, **({"count": count} if count > 1 else {})}
        for node, count in _in_a_row([_listed_node(node) for node in shape.nodes])
    ]
    draft.sources["nodes"] = inventory.origin
    draft.sources["nodes.memory"] = memory_source
    draft.sources["nodes.imc_bandwidth_gbs"] = BANDWIDTH_SOURCE
    if any(kind.speed_ppm != LONE for node in shape.nodes for kind in node.kinds):
        draft.sources["nodes.cores.speed_ppm"] = f"assumed: in proportion to {inventory.speed_source}"


def _listed_node(node: Node) -> Values:
    values: Values = {"socket": node.socket}
    if len(node.runs) == 1 and node.kinds[0].speed_ppm == LONE:
        values |= {"cores": len(node.cores)}
        values |= {"threads_per_core": node.kinds[0].threads} if node.kinds[0].threads > 1 else {}
    elif node.cores:
        values |= {"cores": [_kind(kind, count) for kind, count in node.runs]}
    if node.memory_bytes == 0:
        return values
    return {**values, "memory": _size(node.memory_bytes or MEMORY_BYTES), "imc_bandwidth_gbs": BANDWIDTH_GBS}


def _kind(kind: Kind, count: int) -> Values:
    threads = {"threads_per_core": kind.threads} if kind.threads > 1 else {}
    return {"count": count, **threads, **({"speed_ppm": kind.speed_ppm} if kind.speed_ppm != LONE else {})}


def _in_a_row(entries: Sequence[Values]) -> list[tuple[Values, int]]:
    return [(entry, len(list(alike))) for entry, alike in groupby(entries)]


def _put_caches(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    draft.values["caches"] = {}
    last = shape.last_level
    for level in (1, 2):
        size_bytes = _common_size(inventory, level) if last is None or level < last.level else 0
        if size_bytes:
            draft.put(f"caches.l{level}", _size(size_bytes), inventory.origin)
    if last is not None:
        _put_last_level(draft, inventory, shape, last)


def _common_size(inventory: Inventory, level: int) -> int:
    """The most frequent size of the caches of that level among hardware threads, 0 where there are none."""
    weight: Counter[int] = Counter()
    for cache in inventory.caches:
        if cache.level == level:
            weight[cache.size_bytes] += len(cache.threads)
    return max(weight, key=lambda size_bytes: (weight[size_bytes], size_bytes), default=0)


def _put_last_level(draft: Draft, inventory: Inventory, shape: Shape, last: LastLevel) -> None:
    draft.put("caches.llc", _size(max(last.sizes)), inventory.origin)
    key, value = _sharers(shape, last)
    draft.put(f"caches.{key}", value, inventory.origin)
    if not last.is_uniform:
        draft.put("caches.llc_sizes", [_size(size_bytes) for size_bytes in last.sizes], inventory.origin)
    draft.put("caches.llc_hit_ns", Decimal(20), "assumed: typical of server processors")
    if len(last.cores) > 1:
        draft.put("caches.llc_remote_hit_ns", Decimal(110), "assumed: typical of server processors")


def _sharers(shape: Shape, last: LastLevel) -> tuple[str, Any]:
    """The shortest way to say which cores share a last-level cache."""
    by_cache = [as_list(cores) for cores in last.cores]
    if not last.is_uniform:
        return "llc_cores", by_cache
    for scope in ("socket", "node", "core"):
        units = _units(shape, scope)
        if sorted(units) == list(last.cores):
            return "llc_scope", scope
    size = len(last.cores[0])
    in_rows = [cores for node in _units(shape, "node") for cores in _batches(node, size)]
    if in_rows == list(last.cores) and all(len(cores) == size for cores in in_rows):
        return "cores_per_llc", size
    return "llc_cores", by_cache


def _batches(cores: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    for first in range(0, len(cores), size):
        yield cores[first : first + size]


def _units(shape: Shape, scope: str) -> list[tuple[int, ...]]:
    """The cores of each socket, node or core."""
    units: dict[int, list[int]] = {}
    core = 0
    for number, node in enumerate(shape.nodes):
        for _ in node.cores:
            units.setdefault({"socket": node.socket, "node": number, "core": core}[scope], []).append(core)
            core += 1
    return [tuple(cores) for cores in units.values()]


def _put_latencies(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    nodes = draft.nodes
    if len(nodes) == 1:
        draft.put("local_latency_ns", LOCAL_NS, "assumed: typical of servers")
        return
    distance = [[_relative(inventory, a, b) for b in nodes] for a in nodes]
    far = "in proportion to the distances there" if inventory.distance else f"{FAR} times as much"
    matrix = [[_to_tenths(Fraction(LOCAL_NS) * each) for each in row] for row in distance]
    draft.put("latency_ns", matrix, f"assumed: {LOCAL_NS} ns on the own node, elsewhere {far}")
    links = [{"between": [a, b], "bandwidth_gbs": LINK_GBS} for a, b in links_of(distance)]
    draft.put("links", links, "assumed: nodes are linked unless a route over a third is as short by these distances")


def _relative(inventory: Inventory, a: int, b: int) -> Fraction:
    """Distances relative to the local distance."""
    local = inventory.distance.get((a, a), Decimal(10))
    return Fraction(inventory.distance.get((a, b), local * (1 if a == b else FAR))) / Fraction(local)


def _to_tenths(value: Fraction) -> Decimal:
    return Decimal(round(10 * value)).scaleb(-1)


def _put_constants(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    times: dict[str, Decimal] = {"same_core_ns": Decimal(5), "same_socket_ns": Decimal(50)}
    if shape.sockets > 1:
        times["cross_socket_ns"] = Decimal(110)
    draft.put("coherence", times, "assumed: typical of server processors")
    clock = inventory.clock
    draft.values["clock"] = {}
    draft.put("clock.base_ghz", *((clock.ghz, clock.source) if clock else (GHZ, "assumed: not said")))
    if any(kind.threads > 1 for node in shape.nodes for kind in node.kinds):
        draft.put("smt", {"busy_ppm": 650_000, "poll_ppm": 850_000}, "assumed: as on the machine of the thesis")
    page, line = inventory.page_bytes, max((cache.line_bytes for cache in inventory.caches), default=0)
    draft.put("page", *((_size(page), inventory.origin) if page else ("4KiB", "assumed: not said")))
    draft.put("line", *((_size(line), inventory.origin) if line else (_size(LINE_BYTES), "assumed: not said")))


def _size(size_bytes: int) -> str:
    units: Mapping[str, int] = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10}
    for unit, size in units.items():
        if size_bytes % size == 0 and size_bytes:
            return f"{size_bytes // size}{unit}"
    return f"{size_bytes}B"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 116)
