"""Counts of the usable parts of a system, from hwloc's XML, by bit masks alone.

The module shares no code and no approach with the readers of numasim, which relate sets of processors. Here a processor
is a bit of a whole number, and a part without a bit of an allowed processor does not count.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element


class Counts(NamedTuple):
    """The numbers of cores, threads and nodes of a system, and the sizes of last-level caches."""

    cores: int
    threads: int
    nodes: int
    caches: tuple[int, ...]  # the size of each last-level cache, in bytes, ascending


def counted_in_xml(path: Path) -> Counts:
    root = ElementTree.parse(path).getroot()
    threads = threads_in_xml(root)
    cores = [mask(core, "cpuset") & threads for core in of_type(root, "Core")]
    in_cores = 0
    for core in cores:
        in_cores |= core
    levels = {
        (int(cache.get("depth", "")), mask(cache, "cpuset") & threads, int(cache.get("cache_size", "")))
        for cache in caches_in_xml(root)
    }
    return Counts(
        cores=len([core for core in cores if core]) + (threads & ~in_cores).bit_count(),
        threads=threads.bit_count(),
        nodes=nodes_in_xml(root, top_of(root), threads),
        caches=last_level(levels, cores or [1 << at for at in range(threads.bit_length())]),
    )


def top_of(root: Element) -> Element:
    top = root.find("object")
    assert top is not None
    return top


def threads_in_xml(root: Element) -> int:
    """Return the processors that are online and may be used, as a bit mask."""
    allowed = mask(top_of(root), "cpuset")
    for limit in ("allowed_cpuset", "online_cpuset"):
        allowed &= mask(top_of(root), limit) or allowed
    return sum(1 << int(pu.get("os_index", "")) for pu in of_type(root, "PU")) & allowed


def caches_in_xml(root: Element) -> list[Element]:
    """Return the caches of processors, without caches for instructions alone and without caches of memory."""
    caches = [cache for cache in root.iter("object") if cache.get("cache_size") and cache.get("cache_type") != "2"]
    return [cache for cache in caches if cache.get("type") != "MemCache"]


def nodes_in_xml(root: Element, top: Element, threads: int) -> int:
    """Return the number of nodes in the file (`nodes_of`) and of further nodes: if the file has nodes, a processor that
    is in none of them has a further node (`lost_node`). Memory that may not be used does not count as memory.
    """
    allowed = mask(top, "allowed_nodeset") or -1
    nodes = []
    for node in of_type(root, "NUMANode"):
        may_be_used = allowed >> int(node.get("os_index", "")) & 1
        nodes.append((mask(node, "cpuset"), int(node.get("local_memory", "0")) * may_be_used))
    inside = 0
    for cpus, _ in nodes:
        inside |= cpus
    outside = {pu: mask(pu, "cpuset") for pu in of_type(root, "PU") if mask(pu, "cpuset") & threads & ~inside}
    others = {
        lost_node(root, pu, [int(node.get("os_index", "")) for node in of_type(root, "NUMANode")]) for pu in outside
    }
    return len(others if nodes else ()) + nodes_of(nodes, threads)


def lost_node(root: Element, pu: Element, known: list[int]) -> str:
    """Return the node for a processor in no node: the only node of its ``complete_nodeset`` that is not ``known``; if
    there is not exactly one, a node for the processor's package.
    """
    unknown = mask(pu, "complete_nodeset") & ~sum(1 << number for number in known)
    if unknown.bit_count() == 1:
        return f"node {unknown}"
    packages = [mask(each, "cpuset") for kind in ("Package", "Socket") for each in of_type(root, kind)]
    return f"package {next((cpus for cpus in packages if cpus & mask(pu, 'cpuset')), 0)}"


def nodes_of(nodes: list[tuple[int, int]], threads: int) -> int:
    """Return the number of ``nodes`` (processors, bytes of memory) that count.

    Each node with memory counts. Nodes without memory count once for each set of processors of which some are usable,
    but not if the set includes all processors of a node that has memory and processors. If no node has memory, all
    nodes count, at least one.
    """
    if not any(memory for _, memory in nodes):
        return len(nodes) or 1
    used = [cpus for cpus, memory in nodes if memory]
    alone = {cpus for cpus, memory in nodes if cpus & threads and not memory}
    return len(used) + len([cpus for cpus in alone if not any(other and not other & ~cpus for other in used)])


def last_level(levels: set[tuple[int, int, int]], cores: list[int]) -> tuple[int, ...]:
    """Return the sizes of the last-level caches: those of the highest level if it is above 2 or cores share a cache.

    ``levels`` are caches as (level, processors, size).
    """
    levels = {each for each in levels if each[1]}
    highest = max((level for level, _, _ in levels), default=0)
    last = {cpus: size for level, cpus, size in levels if level == highest}
    shared = any(sum(1 for core in cores if core & cpus) > 1 for cpus in last)
    return tuple(sorted(last.values())) if highest > 2 or (highest == 2 and shared) else ()


def of_type(root: Element, kind: str) -> list[Element]:
    return root.findall(f".//object[@type='{kind}']")


def mask(element: Element, name: str) -> int:
    return bits(element.get(name, "0"))


def bits(text: str) -> int:
    """Return the number in groups of 32 bits, the highest group first; groups may be short or empty."""
    value = 0
    for group in text.split(","):
        value = value << 32 | int(group or "0", 16)
    return value
