"""Bandwidths and latencies of memory in hwloc's XML: its memory attributes, which firmware gives (ACPI HMAT).

A value is that of one node's memory as seen from some processors, its initiator. hwloc counts bandwidths in MiB/s and
latencies in nanoseconds (hwloc/memattrs.h).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from numasim.files.bounded_xml import PlacedElement as Element
from numasim.machine.inventory import Where

MIB_PER_GB = Decimal(2**20) / Decimal(10**9)
SOURCE = "the memory attributes there, which firmware gives"
_NUMBER = re.compile(r"[0-9]{1,15}")
_READ_AND_WRITE = {name: (f"Read{name}", f"Write{name}") for name in ("Bandwidth", "Latency")}
_KNOWN = {"Capacity", "Locality", *_READ_AND_WRITE, *(name for pair in _READ_AND_WRITE.values() for name in pair)}
CpusOf = Callable[[Element, str], frozenset[int]]
Access = tuple[int, frozenset[int]]  # the node of the memory, and processors that access it
Values = dict[Access, list[Decimal]]  # one, or that for reading and that for writing


@dataclass(frozen=True)
class MemoryAttributes:
    """The bandwidth of nodes' memory in 10**9 bytes per second, the latency from node to node in ns, and remarks."""

    bandwidth_gbs: dict[int, Decimal]
    latency_ns: dict[tuple[int, int], Decimal]
    averaged: frozenset[Where]  # whose value is the mean of unlike ones
    remarks: tuple[str, ...]
    source: str = SOURCE


def read_memory_attributes(
    root: Element, nodes: Mapping[str, int], homes: Mapping[int, int], cpus_of: CpusOf
) -> MemoryAttributes:
    """The attributes of a topology.

    ``nodes`` are the numbers of nodes by their ``gp_index``, ``homes`` those of usable processors; ``cpus_of`` reads
    a bitmap. The bandwidth of a node's memory is the highest that any processors see. The latency from a node is that
    of the fewest processors among which all of the node's are. A value of 0 says nothing. Values for reading and
    writing count where there is none for both; unlike ones are averaged.
    """
    found = {name: _attribute(root, name, nodes, cpus_of) for name in _READ_AND_WRITE}
    bandwidths = {node: said for (node, _), said in sorted(found["Bandwidth"].items(), key=lambda item: _mean(item[1]))}
    latencies = _latencies(found["Latency"], homes)
    averaged: set[Where] = {node for node, said in bandwidths.items() if len(set(said)) > 1}
    averaged |= {pair for pair, said in latencies.items() if len(set(said)) > 1}
    return MemoryAttributes(
        {node: value for node, said in bandwidths.items() if (value := round(_mean(said) * MIB_PER_GB, 3))},
        {pair: round(_mean(said), 3) for pair, said in latencies.items()},
        frozenset(averaged),
        tuple(_left_out(root, found, latencies)),
    )


def _mean(said: Sequence[Decimal]) -> Decimal:
    return sum(said, Decimal(0)) / len(said)


def _attribute(root: Element, name: str, nodes: Mapping[str, int], cpus_of: CpusOf) -> Values:
    """The values of an attribute; where there is none, those for reading and writing."""
    said: Values = {}
    for part in _READ_AND_WRITE[name]:
        for key, value in _values(root, part, nodes, cpus_of).items():
            said.setdefault(key, []).append(value)
    return said | {key: [value] for key, value in _values(root, name, nodes, cpus_of).items()}


def _values(root: Element, name: str, nodes: Mapping[str, int], cpus_of: CpusOf) -> dict[Access, Decimal]:
    objects = {each.get("gp_index"): each for each in root.iter("object")}
    values: dict[Access, Decimal] = {}
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


def _latencies(found: Values, homes: Mapping[int, int]) -> dict[tuple[int, int], list[Decimal]]:
    own: dict[int, set[int]] = {}
    for cpu, node in homes.items():
        own.setdefault(node, set()).add(cpu)
    latency: dict[tuple[int, int], list[Decimal]] = {}
    for (memory, cpus), said in sorted(found.items(), key=lambda item: (-len(item[0][1]), min(item[0][1]))):
        latency |= {(node, memory): said for node, mine in own.items() if mine <= cpus}
    return latency


def _left_out(root: Element, found: Mapping[str, Values], latency: Mapping[tuple[int, int], object]) -> Iterator[str]:
    others = [name for each in root.children("memattr") if (name := each.get("name") or "?") not in _KNOWN]
    if others:
        yield f"memory attributes left out: {', '.join(others)}"
    if found["Latency"] and not latency:
        yield f"{len(found['Latency'])} latencies are those of parts of nodes, and left out"
