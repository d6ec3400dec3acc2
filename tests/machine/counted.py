"""Counts of the usable parts of a system, from hwloc's XML or a sysfs tree, by bit masks alone.

The module shares no code and no approach with the readers of numasim, which relate sets of processors. Here a processor
is a bit of a whole number, and a part without a bit of an allowed processor does not count.
"""

from __future__ import annotations

import glob
import re
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
    """Return the usable processors."""
    allowed = mask(top_of(root), "cpuset")
    for limit in ("allowed_cpuset", "online_cpuset"):
        allowed &= mask(top_of(root), limit) or allowed
    return sum(1 << int(pu.get("os_index", "")) for pu in of_type(root, "PU")) & allowed


def caches_in_xml(root: Element) -> list[Element]:
    """Return the caches of processors that hold data."""
    caches = [cache for cache in root.iter("object") if cache.get("cache_size") and cache.get("cache_type") != "2"]
    return [cache for cache in caches if cache.get("type") != "MemCache"]


def nodes_in_xml(root: Element, top: Element, threads: int) -> int:
    """Return the number of nodes: those with memory, and those without unless a node with memory is as near."""
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


def counted_in_sysfs(root: Path) -> Counts:
    threads = threads_in_sysfs(root)
    folders = {cpu: root / f"devices/system/cpu/cpu{cpu}" for cpu in numbers_of(threads)}
    beside = [around(folder / "topology", 1 << cpu, "core_cpus", "thread_siblings") for cpu, folder in folders.items()]
    cores = {cpus & threads for cpus in beside}
    levels = set()
    for cpu, folder in folders.items():
        for cache in caches_in_sysfs(folder):
            sharers = around(cache, 1 << cpu, "shared_cpu", "shared_cpu_map")
            levels.add((int(word(cache / "level")), sharers & threads, size_of(word(cache / "size"))))
    return Counts(len(cores), threads.bit_count(), nodes_in_sysfs(root, threads), last_level(levels, list(cores)))


def threads_in_sysfs(root: Path) -> int:
    """Return the usable processors."""
    system = root / "devices/system/cpu"
    named = [int(Path(path).name[3:]) for path in glob.glob(f"{system}/cpu[0-9]*")]
    threads = sum(1 << cpu for cpu in named if word(system / f"cpu{cpu}/online") != "0")
    if listed := word(system / "online"):
        threads &= bits_of_list(listed)
    for limit in ("fs/cgroup/cpuset.cpus.effective", "fs/cgroup/cpuset/cpuset.effective_cpus"):
        threads &= bits_of_list(word(root / limit)) or threads
    return threads


def caches_in_sysfs(cpu: Path) -> list[Path]:
    """Return the caches of a processor that hold data."""
    caches = [Path(index) for index in glob.glob(f"{cpu}/cache/index*")]
    return [cache for cache in caches if word(cache / "type") != "Instruction" and word(cache / "level")]


def numbers_of(threads: int) -> list[int]:
    return [number for number in range(threads.bit_length()) if threads >> number & 1]


def nodes_in_sysfs(root: Path, threads: int) -> int:
    system = root / "devices/system/node"
    numbers = [int(Path(path).name[4:]) for path in glob.glob(f"{system}/node[0-9]*")]
    if listed := word(system / "online"):
        numbers = [number for number in numbers if bits_of_list(listed) >> number & 1]
    allowed = -1
    for limit in ("fs/cgroup/cpuset.mems.effective", "fs/cgroup/cpuset/cpuset.effective_mems"):
        allowed &= bits_of_list(word(root / limit)) or allowed
    found = []
    for number in numbers:
        total = re.search(r"MemTotal:\s*(\d+)", word(system / f"node{number}/meminfo"))
        memory = int(total[1]) * (allowed >> number & 1) if total else 0
        found.append((around(system / f"node{number}", 0, "cpu", "cpumap") & threads, memory))
    if not any(memory for _, memory in found):
        return len(found) or 1
    return sum(1 for cpus, memory in found if cpus or memory)


def size_of(text: str) -> int:
    return int(text.rstrip("KM") or "0") << {"K": 10, "M": 20}.get(text[-1:], 0)


def word(path: Path) -> str:
    return path.read_text().replace("\0", "").strip() if path.is_file() else ""


def around(folder: Path, otherwise: int, *names: str) -> int:
    """Return the bits in the first file with a list or a mask; ``otherwise`` if the mask is zero."""
    for name in names:
        if text := word(folder / f"{name}_list") or word(folder / f"{name}list"):
            return bits_of_list(text)
        if text := word(folder / name):
            return bits(text) or otherwise
    return otherwise


def bits_of_list(text: str) -> int:
    value = 0
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        value |= (1 << int(high or low) + 1) - (1 << int(low))
    return value
