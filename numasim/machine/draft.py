"""A draft of a machine file: the values that a system reports, and documented defaults for other values.

The source of a value is a text in the machine file that begins with its mark: ``read:``, ``derived:`` or ``assumed:``.
An inventory is what a system reports; its shape the nodes, cores and caches of the machine file. Latencies and
bandwidths come from firmware, else from `numasim.machine.typical_values`. Links follow from firmware's distances: two
nodes are linked unless a route over a third node is as short.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.machine import typical_values as typical
from numasim.machine.exact_shape import Kind, LastLevel, Node, Shape, shape_of
from numasim.machine.inventory import Inventory, Where
from numasim.parts.base import as_list
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.nodes_model import LONE, MAX_NODES
from numasim.parts.models.sources import MARKS, marked
from numasim.parts.validation import validate
from numasim.parts.yaml.document import yaml_text
from numasim.parts.yaml.nodes import Place, Source, from_python

Values = dict[str, Any]
_BLOCKS = ("latency_ns", "links", "sources")


@dataclass
class Draft:
    """The fields of a machine file, their sources, and remarks on properties that the file leaves out."""

    values: Values
    sources: dict[str, str]
    remarks: list[str]
    nodes: tuple[int, ...]  # for each node of the machine, its number on the system
    cores: tuple[int, ...]  # for each core of the machine, its number in the inventory

    def put(self, path: str, value: Any, source: str) -> None:
        """Set the field ``path``, keys with dots between, and its source."""
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
        """Return the machine that the file describes; raise InputError if the machine is not valid."""
        nowhere = Place(Source("", Path()))
        return validate(MachineSpec, from_python({**self.values, "sources": self.sources}, nowhere))

    def text(self) -> str:
        """Return the text of the file."""
        heading = "\n".join(textwrap.fill(remark, 116) for remark in self.remarks)
        blocks = (*_BLOCKS, "nodes") if isinstance(self.values["nodes"], list) else _BLOCKS
        return yaml_text({**self.values, "sources": self.sources}, heading=heading, blocks=blocks)


def draft_machine(inventory: Inventory, name: str) -> Draft:
    """Return the draft of a system's machine file, with exactly the usable cores, threads, nodes and last-level caches.

    Raise InputError if a machine file cannot express the system, or if the system exceeds the model's limits.
    """
    shape = shape_of(inventory)
    if len(shape.nodes) > MAX_NODES:
        raise InputError(f"{inventory.origin}: {len(shape.nodes)} nodes", expected=f"at most {MAX_NODES}")
    head = f"{name}, imported from {inventory.origin}. Values marked as assumed were not given there."
    numbers = tuple(node.number for node in shape.nodes)
    renamed = numbers != tuple(range(len(numbers)))
    said = [f"its nodes are numbers {', '.join(map(str, numbers))} of the system, in this order"] if renamed else []
    cores = tuple(core for node in shape.nodes for core in node.cores)
    draft = Draft({"name": name}, {}, [head, *inventory.remarks, *shape.remarks, *said], numbers, cores)
    for part in (_put_nodes, _put_caches, _put_latencies, _put_constants):
        part(draft, inventory, shape)
    return draft


def _put_nodes(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    draft.put("sockets", shape.sockets, shape.sockets_reason or _read(inventory))
    sizes = [node.memory_bytes for node in shape.nodes if node.memory_bytes]
    origin = inventory.sizes_origin or inventory.origin
    source = f"read: {origin}" if sizes else typical.NOT_SAID
    rates = _controllers(inventory, shape)
    if not shape.is_uniform or len(set(rates.values())) > 1 or "speeds" in inventory.unsaid:
        _put_listed_nodes(draft, inventory, shape, source, rates)
    else:
        first, per_socket = shape.nodes[0], len(shape.nodes) // shape.sockets
        draft.values["nodes"] = {}
        if per_socket > 1:
            draft.put("nodes.per_socket", per_socket, shape.sockets_reason or _read(inventory))
        draft.put("nodes.cores", len(first.cores), _cores_source(inventory))
        if first.kinds[0].threads > 1:
            draft.put("nodes.threads_per_core", first.kinds[0].threads, _read(inventory))
        if sizes and min(sizes) < max(sizes):
            source = f"derived: the least of {_size(min(sizes))} to {_size(max(sizes))}, {origin}"
        draft.put("nodes.memory", _size(min(sizes, default=typical.MEMORY_BYTES)), source)
        draft.values["nodes"]["imc_bandwidth_gbs"] = rates[first.number]
    draft.sources["nodes.imc_bandwidth_gbs"] = _controllers_source(inventory, shape)


def _cores_source(inventory: Inventory) -> str:
    unsaid = "assumed: no core is said, so that each hardware thread is one"
    return unsaid if "cores" in inventory.unsaid else _read(inventory)


def _socket_source(inventory: Inventory, shape: Shape) -> str:
    """Return the source of the field ``socket`` of listed nodes."""
    lone = {node.number for node in shape.nodes if not node.cores}
    if shape.sockets_reason or not lone:
        return shape.sockets_reason or _read(inventory)
    if lone <= inventory.beside.keys() | {node for _, node in inventory.distance}:
        return "derived: that of a node without processors is that of the nearest node with some"
    return "assumed: of nodes without processors it is not said which node is nearest"


def _controllers(inventory: Inventory, shape: Shape) -> dict[int, Decimal]:
    """Return {node's number on the system: bandwidth of its memory in GB/s}."""
    given = inventory.bandwidth_gbs
    return {node.number: given.get(node.number) or typical.controller_gbs(node) for node in _with_memory(shape)}


def _with_memory(shape: Shape) -> list[Node]:
    return [node for node in shape.nodes if node.memory_bytes != 0]


def _controllers_source(inventory: Inventory, shape: Shape) -> str:
    unknown = [node for node in _with_memory(shape) if node.number not in inventory.bandwidth_gbs]
    if not unknown:
        return _firmware(inventory, {node.number for node in _with_memory(shape)})
    known = len(_with_memory(shape)) - len(unknown)
    said = f"; {known} of {known + len(unknown)} nodes have that of {inventory.memory_source}" if known else ""
    return f"assumed: {typical.controller_reason(unknown)}{said}"


def _firmware(inventory: Inventory, places: Iterable[Where]) -> str:
    """Return the source of values that firmware gives for all ``places``."""
    averaged = not inventory.averaged.isdisjoint(places)
    return f"{'derived: the mean for reading and writing of' if averaged else 'read:'} {inventory.memory_source}"


def _read(inventory: Inventory) -> str:
    return f"{inventory.mark}: {inventory.origin}"


def _put_listed_nodes(
    draft: Draft, inventory: Inventory, shape: Shape, memory_source: str, rates: Mapping[int, Decimal]
) -> None:
    unlike = "speeds" in inventory.unsaid or any(kind.speed_ppm != LONE for node in shape.nodes for kind in node.kinds)
    draft.values["nodes"] = [
        {**node, **({"count": count} if (count := len(list(alike))) > 1 else {})}
        for node, alike in groupby(_listed_node(node, rates, unlike) for node in shape.nodes)
    ]
    draft.sources["nodes"] = _read(inventory)
    for field, source in (("socket", _socket_source(inventory, shape)), ("cores", _cores_source(inventory))):
        if source != _read(inventory):
            draft.sources[f"nodes.{field}"] = source
    draft.sources["nodes.memory"] = memory_source
    if unlike and "speeds" not in inventory.unsaid:
        relative = "capacities" in inventory.speed_source
        why = "" if relative else ", as if all kinds did as much in a cycle"
        mark = "derived" if relative else "assumed"
        draft.sources["nodes.cores.speed_ppm"] = f"{mark}: in proportion to {inventory.speed_source}{why}"
    elif unlike:
        source = "assumed: kinds of cores have no speed there, so that all are equally fast"
        draft.sources["nodes.cores.speed_ppm"] = source


def _listed_node(node: Node, rates: Mapping[int, Decimal], unlike: bool) -> Values:
    """Return an entry of the list of nodes; if some cores are ``unlike`` others in speed, its cores have a speed."""
    values: Values = {"socket": node.socket}
    if len(node.runs) == 1 and not unlike:
        values |= {"cores": len(node.cores)}
        values |= {"threads_per_core": node.kinds[0].threads} if node.kinds[0].threads > 1 else {}
    elif node.cores:
        values |= {"cores": [_kind(kind, count) for kind, count in node.runs]}
    if node.memory_bytes == 0:
        return values
    memory = _size(node.memory_bytes or typical.MEMORY_BYTES)
    return {**values, "memory": memory, "imc_bandwidth_gbs": rates[node.number]}


def _kind(kind: Kind, count: int) -> Values:
    threads = {"threads_per_core": kind.threads} if kind.threads > 1 else {}
    return {"count": count, **threads, "speed_ppm": kind.speed_ppm}


def _put_caches(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    draft.values["caches"] = {}
    last = shape.last_level
    for level in (1, 2):
        sizes = _sizes(inventory, level) if last is None or level < last.level else Counter()
        if sizes:
            most = max(sizes, key=lambda size_bytes: (sizes[size_bytes], size_bytes))
            alike = sizes[most] == len(inventory.threads)
            of_most = "read: " if alike else "derived: the most frequent size, "
            draft.put(f"caches.l{level}", _size(most), f"{of_most}{inventory.origin}")
    if last is not None:
        _put_last_level(draft, inventory, shape, last)


def _sizes(inventory: Inventory, level: int) -> Counter[int]:
    """Return {known size of a cache of ``level``: number of hardware threads with such a cache}."""
    weight: Counter[int] = Counter()
    usable = {thread.id for thread in inventory.threads}
    for cache in inventory.caches:
        if cache.level == level and cache.size_bytes and cache.threads & usable:
            weight[cache.size_bytes] += len(cache.threads & usable)
    return weight


def _put_last_level(draft: Draft, inventory: Inventory, shape: Shape, last: LastLevel) -> None:
    unsaid = "assumed: 2 MiB for each core; the size is not said"
    draft.put("caches.llc", _size(max(last.sizes)), unsaid if "cache sizes" in inventory.unsaid else _read(inventory))
    key, value = _sharers(shape, last)
    draft.put(f"caches.{key}", value, _read(inventory))
    if not last.is_uniform:
        draft.put("caches.llc_sizes", [_size(size_bytes) for size_bytes in last.sizes], _read(inventory))
    for hit, time_ns in typical.LLC_HITS_NS.items():
        if len(last.cores) > 1 or hit == "llc_hit_ns":
            draft.put(f"caches.{hit}", time_ns, typical.SERVERS)


def _sharers(shape: Shape, last: LastLevel) -> tuple[str, Any]:
    """Return the name and the value of the shortest field that says which cores share a last-level cache."""
    by_cache = [as_list(cores) for cores in last.cores]
    if not last.is_uniform:
        return "llc_cores", by_cache
    for scope in ("socket", "node", "core"):
        units = _units(shape, scope)
        if sorted(units) == list(last.cores):
            return "llc_scope", scope
    size = len(last.cores[0])
    nodes = _units(shape, "node")
    in_rows = [node[first : first + size] for node in nodes for first in range(0, len(node), size)]
    if in_rows == list(last.cores) and all(len(cores) == size for cores in in_rows):
        return "cores_per_llc", size
    return "llc_cores", by_cache


def _units(shape: Shape, scope: str) -> list[tuple[int, ...]]:
    """Return the cores of each unit; a unit is a socket, node or core by ``scope``."""
    units: dict[int, list[int]] = {}
    core = 0
    for number, node in enumerate(shape.nodes):
        for _ in node.cores:
            units.setdefault({"socket": node.socket, "node": number, "core": core}[scope], []).append(core)
            core += 1
    return [tuple(cores) for cores in units.values()]


def _put_latencies(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    nodes = draft.nodes
    source = _latency_source(inventory, shape)
    if len(nodes) == 1:
        draft.put("local_latency_ns", inventory.latency_ns.get((nodes[0], nodes[0]), typical.LOCAL_NS), source)
        return
    distance = [[typical.relative_distance(inventory, a, b) for b in nodes] for a in nodes]
    draft.put("latency_ns", [_latencies(inventory, nodes, at, row) for at, row in enumerate(distance)], source)
    if lost := sum(1 for (a, b), value in inventory.distance.items() if a != b and value >= typical.UNREACHABLE):
        said = "those of the other direction, or of any other node, are taken"
        draft.remarks.append(f"{lost} distances are {typical.UNREACHABLE} or more, which stands for no path: {said}")
    rates = _controllers(inventory, shape)
    links = [
        {"between": [a, b], "bandwidth_gbs": typical.link_gbs(shape.nodes[a], shape.nodes[b], rates)}
        for a, b in typical.links_of(distance)
    ]
    draft.values["links"] = links
    by = "by firmware's distances" if inventory.distance else "no distances are said"
    draft.sources["links.between"] = f"assumed: nodes are linked unless a route over a third is as short; {by}"
    draft.sources["links.bandwidth_gbs"] = typical.LINK_REASON


def _latencies(inventory: Inventory, nodes: Sequence[int], at: int, distance: Sequence[Fraction]) -> list[Decimal]:
    """Return [nodes] the latencies in ns of loads by the cores of one node; unknown ones follow from ``distance``."""
    said, own = inventory.latency_ns, nodes[at]
    local = min((value for (reader, _), value in said.items() if reader == own), default=typical.LOCAL_NS)
    return [said.get((own, node)) or typical.latency_ns(far, local) for node, far in zip(nodes, distance, strict=True)]


def _latency_source(inventory: Inventory, shape: Shape) -> str:
    loads = ((a, b) for a in shape.nodes if a.cores for b in shape.nodes)
    pairs = {(a.number, b.number) for a, b in loads if b.memory_bytes != 0 or a is not b}
    known = len(pairs & inventory.latency_ns.keys())
    if known == len(pairs):
        return _firmware(inventory, pairs)
    local = f"{typical.LOCAL_NS} ns on the own node"
    far = "more by half of the extra distance that firmware gives" if inventory.distance else "1.5 times as much"
    other = f", elsewhere {far}" if len(shape.nodes) > 1 else ""
    said = f"; {known} of {len(pairs)} pairs of nodes have that of {inventory.memory_source}" if known else ""
    return f"assumed: {local}{other}{said}; measure it"


def _put_constants(draft: Draft, inventory: Inventory, shape: Shape) -> None:
    shared = [set(cores) for cores in shape.last_level.cores if len(cores) > 1] if shape.last_level else []
    clusters = any(sum(1 for cores in shared if cores & set(node)) > 1 for node in _units(shape, "node"))
    lines_ns = typical.LINE_NS_OF_CLUSTERS if clusters else typical.LINE_NS
    times_ns = {key: ns for key, ns in lines_ns.items() if shape.sockets > 1 or key != "cross_socket_ns"}
    draft.put("coherence", times_ns, typical.SERVERS)
    clock = inventory.clock
    draft.values["clock"] = {}
    draft.put("clock.base_ghz", *((clock.ghz, clock.source) if clock else (typical.GHZ, typical.NOT_SAID)))
    if any(kind.threads > 1 for node in shape.nodes for kind in node.kinds):
        draft.put("smt", dict(typical.SMT), "assumed: as on the machine of the thesis")
    page, line = inventory.page_bytes, max((cache.line_bytes for cache in inventory.caches), default=0)
    draft.put("page", *((_size(page), _read(inventory)) if page else (typical.PAGE, typical.NOT_SAID)))
    draft.put("line", *((_size(line), _read(inventory)) if line else (_size(typical.LINE_BYTES), typical.NOT_SAID)))


def _size(size_bytes: int) -> str:
    units: Mapping[str, int] = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10}
    for unit, size in units.items():
        if size_bytes % size == 0 and size_bytes:
            return f"{size_bytes // size}{unit}"
    return f"{size_bytes}B"


# ---- What a file says of itself --------------------------------------------------------------------------------------


def provenance(sources: Mapping[str, str]) -> list[str]:
    """Return lines on the sources of values: read and derived fields by source, assumed fields one by one."""
    lines = []
    for mark in MARKS[:-1]:
        by_source: dict[str, list[str]] = {}
        for field, source in marked(sources, mark).items():
            by_source.setdefault(source, []).append(field)
        lines += [f"{mark}: {', '.join(fields)} ({source})" for source, fields in by_source.items()]
    return [*lines, *(f"assumed: {field} ({reason})" for field, reason in marked(sources, "assumed").items())]


def label(path: Path | None) -> str:
    """Return a name for a machine, from the name of the file or of the running system."""
    import socket

    text = path.resolve().stem if path else socket.gethostname()
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+")[:100] or "imported"
