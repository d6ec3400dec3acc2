"""Bandwidths and latencies of memory in hwloc's XML: its memory attributes, which firmware gives (ACPI HMAT).

A value is that of one node's memory as seen from some processors, its initiator. hwloc counts bandwidths in MiB/s and
latencies in nanoseconds (hwloc/memattrs.h).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from numasim.files.bounded_xml import PlacedElement as Element

MIB_PER_GB = Decimal(2**20) / Decimal(10**9)
SOURCE = "the memory attributes there, which firmware gives"
_NUMBER = re.compile(r"[0-9]{1,15}")
_READ_AND_WRITE = {name: (f"Read{name}", f"Write{name}") for name in ("Bandwidth", "Latency")}
_KNOWN = {"Capacity", "Locality", *_READ_AND_WRITE, *(name for pair in _READ_AND_WRITE.values() for name in pair)}
CpusOf = Callable[[Element, str], frozenset[int]]
Values = dict[tuple[int, frozenset[int]], Decimal]  # by node of the memory and processors that access it


@dataclass(frozen=True)
class MemoryAttributes:
    """The bandwidth of nodes' memory in 10**9 bytes per second, the latency from node to node in ns, and remarks."""

    bandwidth_gbs: dict[int, Decimal]
    latency_ns: dict[tuple[int, int], Decimal]
    remarks: tuple[str, ...]
    source: str = SOURCE


def read_memory_attributes(
    root: Element, nodes: Mapping[str, int], homes: Mapping[int, int], cpus_of: CpusOf
) -> MemoryAttributes:
    """The attributes of a topology.

    ``nodes`` are the numbers of nodes by their ``gp_index``, ``homes`` those of usable processors; ``cpus_of`` reads
    a bitmap. The bandwidth of a node's memory is the highest that any processors see. The latency from a node is that
    of the fewest processors among which all of the node's are. A value of 0 says nothing.
    """
    found = {name: _attribute(root, name, nodes, cpus_of) for name in _READ_AND_WRITE}
    bandwidth: dict[int, Decimal] = {}
    for (node, _), value in found["Bandwidth"].items():
        bandwidth[node] = max(bandwidth.get(node, Decimal(0)), round(value * MIB_PER_GB, 3))
    latency = _latencies(found["Latency"], homes)
    return MemoryAttributes(
        {node: value for node, value in bandwidth.items() if value}, latency, tuple(_left_out(root, found, latency))
    )


def _attribute(root: Element, name: str, nodes: Mapping[str, int], cpus_of: CpusOf) -> Values:
    """The values of an attribute; where there are none, the means of those for reading and writing."""
    plain = _values(root, name, nodes, cpus_of)
    if plain:
        return plain
    parts = [_values(root, each, nodes, cpus_of) for each in _READ_AND_WRITE[name]]
    keys = dict.fromkeys(key for part in parts for key in part)
    said = {key: [part[key] for part in parts if key in part] for key in keys}
    return {key: sum(values, Decimal(0)) / len(values) for key, values in said.items()}


def _values(root: Element, name: str, nodes: Mapping[str, int], cpus_of: CpusOf) -> Values:
    objects = {each.get("gp_index"): each for each in root.iter("object")}
    values: Values = {}
    for attribute in root.children("memattr"):
        if attribute.get("name") != name:
            continue
        for each in attribute.children("memattr_value"):
            node = nodes.get(each.get("target_obj_gp_index", ""))
            text = each.get("value", "")
            place = objects.get(each.get("initiator_obj_gp_index"))
            cpus = cpus_of(each, "initiator_cpuset") or (
                cpus_of(place, "cpuset") if isinstance(place, Element) else frozenset()
            )
            if node is not None and cpus and _NUMBER.fullmatch(text) and int(text):
                values[node, cpus] = Decimal(text)
    return values


def _latencies(found: Values, homes: Mapping[int, int]) -> dict[tuple[int, int], Decimal]:
    own: dict[int, set[int]] = {}
    for cpu, node in homes.items():
        own.setdefault(node, set()).add(cpu)
    latency: dict[tuple[int, int], Decimal] = {}
    for (memory, cpus), value in sorted(found.items(), key=lambda item: (-len(item[0][1]), min(item[0][1]))):
        latency |= {(node, memory): round(value, 3) for node, mine in own.items() if mine <= cpus}
    return latency


def _left_out(root: Element, found: Mapping[str, Values], latency: Mapping[tuple[int, int], Decimal]) -> Iterator[str]:
    others = [name for each in root.children("memattr") if (name := each.get("name") or "?") not in _KNOWN]
    if others:
        yield f"memory attributes left out: {', '.join(others)}"
    if found["Latency"] and not latency:
        yield f"{len(found['Latency'])} latencies are those of parts of nodes, and left out"
