"""A draft of a machine file: the values that a system reports, and documented defaults for the others.

Latencies are in proportion to the distances that firmware gives. Links follow from the distances: two nodes are linked
unless a route over a third node is as short.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.machine.inventory import Cache, Inventory
from numasim.machine.uniform import Shape, shape_of
from numasim.parts.models.machine_model import MAX_NODES, MachineSpec
from numasim.parts.validation import validate
from numasim.parts.yaml.nodes import Place, Source, from_python
from numasim.parts.yaml.yaml_text import yaml_text

Values = dict[str, Any]
LOCAL_NS = Decimal(90)
LINK_GBS = Decimal(15)
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

    def check(self) -> MachineSpec:
        """The machine that the file describes; an `InputError` if it is not valid."""
        nowhere = Place(Source("", Path()))
        return validate(MachineSpec, from_python({**self.values, "sources": self.sources}, nowhere))

    def text(self) -> str:
        """The file."""
        heading = "\n".join(_wrapped(remark) for remark in self.remarks)
        return yaml_text({**self.values, "sources": self.sources}, heading=heading, blocks=_BLOCKS)


def draft_machine(inventory: Inventory, name: str) -> Draft:
    """Begin the file of the machine most similar to a system. InputError if the system exceeds the model's limits."""
    shape = shape_of(inventory)
    if len(shape.nodes) > MAX_NODES:
        raise InputError(f"{inventory.origin}: {len(shape.nodes)} nodes", expected=f"at most {MAX_NODES}")
    head = f"{name}, imported from {inventory.origin}. Values marked as assumed were not given there."
    draft = Draft({"name": name}, {}, [head, *inventory.remarks, *shape.remarks], shape.nodes)
    for part in (_put_nodes, _put_caches, _put_latencies, _put_constants):
        part(draft, inventory, shape)
    return draft


def _put_nodes(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    origin = inventory.origin
    draft.put("sockets", shape.sockets, origin)
    draft.values["nodes"] = {}
    if shape.per_socket > 1:
        draft.put("nodes.per_socket", shape.per_socket, origin)
    draft.put("nodes.cores", shape.cores, origin)
    if shape.threads_per_core > 1:
        draft.put("nodes.threads_per_core", shape.threads_per_core, origin)
    sizes = [inventory.memory_bytes.get(node, 0) for node in shape.nodes]
    least = min(filter(None, sizes), default=0)
    source = origin if max(sizes) == least else f"{origin}: the least of its nodes"
    draft.put("nodes.memory", *((_size(least), source) if least else (_size(MEMORY_BYTES), "assumed: not said")))
    if least and not all(sizes):
        draft.remarks.append(f"node {shape.nodes[sizes.index(0)]} has no memory of its own; all nodes are taken alike")
    draft.put("nodes.imc_bandwidth_gbs", Decimal(20), "assumed: about one channel of DDR4 a few cores; measure it")


def _put_caches(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    draft.values["caches"] = {}
    levels = {level: _common_cache(inventory, level) for level in sorted({cache.level for cache in inventory.caches})}
    cores = {thread.id: thread.core for thread in inventory.threads}
    last = max(levels, default=0)
    shared = last and len({cores[thread] for thread in levels[last].threads if thread in cores}) > 1
    has_llc = last > 2 or (last == 2 and shared)
    for level in (1, 2):
        if level in levels and not (has_llc and level == last):
            draft.put(f"caches.l{level}", _size(levels[level].size_bytes), inventory.origin)
    if has_llc:
        _put_last_level(draft, inventory, shape, levels[last])


def _common_cache(inventory: Inventory, level: int) -> Cache:
    """The most frequent cache of that level among hardware threads."""
    caches = [cache for cache in inventory.caches if cache.level == level]
    weight: dict[int, int] = {}
    for cache in caches:
        weight[cache.size_bytes] = weight.get(cache.size_bytes, 0) + len(cache.threads)
    return max(caches, key=lambda cache: (weight[cache.size_bytes], cache.size_bytes, len(cache.threads)))


def _put_last_level(draft: Draft, inventory: Inventory, shape: Shape, cache: Cache) -> None:
    threads = {thread.id: thread for thread in inventory.threads}
    cores = len({threads[each].core for each in cache.threads if each in threads})
    scope, copies = _scope(cores, shape)
    together = f", {copies} caches of a node merged into one" if copies > 1 else ""
    draft.put("caches.llc", _size(cache.size_bytes * copies), inventory.origin + together)
    draft.put("caches.llc_scope", scope, f"{inventory.origin}: {cores} cores share one")
    draft.put("caches.llc_hit_ns", Decimal(20), "assumed: typical of server processors")
    if len(shape.nodes) > 1:
        draft.put("caches.llc_remote_hit_ns", Decimal(110), "assumed: typical of server processors")


def _scope(cores: int, shape: Shape) -> tuple[str, int]:
    """The scope of a last-level cache shared by ``cores`` cores, and how many of a node's are merged into one."""
    if cores >= shape.cores * shape.per_socket:
        return "socket", 1
    if cores >= shape.cores or cores > 1:
        return "node", max(1, shape.cores // cores)
    return "core", 1


def _put_latencies(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    nodes = shape.nodes
    if len(nodes) == 1:
        draft.put("local_latency_ns", LOCAL_NS, "assumed: typical of servers")
        return
    distance = [[_relative(inventory, a, b) for b in nodes] for a in nodes]
    far = "in proportion to the distances there" if inventory.distance else f"{FAR} times as much"
    matrix = [[round(LOCAL_NS * each, 1) for each in row] for row in distance]
    draft.put("latency_ns", matrix, f"assumed: {LOCAL_NS} ns on the own node, elsewhere {far}")
    links = [{"between": [a, b], "bandwidth_gbs": LINK_GBS} for a, b in _links(distance)]
    draft.put("links", links, "assumed: nodes are linked unless a route over a third is as short by these distances")


def _relative(inventory: Inventory, a: int, b: int) -> Decimal:
    """Distances relative to the local distance."""
    local = inventory.distance.get((a, a), Decimal(10))
    return inventory.distance.get((a, b), local * (1 if a == b else FAR)) / local


def _links(distance: list[list[Decimal]]) -> Iterator[tuple[int, int]]:
    """Pairs of nodes without an equally short route over a third; they join all nodes.

    The shortest pair across any cut is kept.
    """
    count = len(distance)
    more = [[max(distance[a][b], distance[b][a]) - 1 for b in range(count)] for a in range(count)]
    least = Decimal("0.1")  # firmware that makes all distances equal leaves every pair linked
    more = [[max(value, least) for value in row] for row in more]
    for a in range(count):
        for b in range(a + 1, count):
            if not any(more[a][c] + more[c][b] <= more[a][b] for c in range(count) if c not in (a, b)):
                yield a, b


def _put_constants(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    times: dict[str, Decimal] = {"same_core_ns": Decimal(5), "same_socket_ns": Decimal(50)}
    if shape.sockets > 1:
        times["cross_socket_ns"] = Decimal(110)
    draft.put("coherence", times, "assumed: typical of server processors")
    clock = inventory.clock
    draft.values["clock"] = {}
    draft.put("clock.base_ghz", *((clock.ghz, clock.source) if clock else (GHZ, "assumed: not said")))
    if shape.threads_per_core > 1:
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
