"""The values that hwloc's XML or a sysfs tree gives, read by bit masks alone, for a check of what an import marks.

As `counted`, it shares no code with the readers of numasim. Distances are left out: they are relative, and so no times.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from counted import (
    around,
    bits_of_list,
    caches_in_sysfs,
    caches_in_xml,
    mask,
    numbers_of,
    of_type,
    size_of,
    threads_in_sysfs,
    threads_in_xml,
    top_of,
    word,
)

Values = dict[tuple[int, int], list[Decimal]]  # by node of the memory and processors that access it: read, write


@dataclass
class Given:
    """What is given, by the system's own numbers."""

    threads: int
    memory: dict[int, int] = field(default_factory=dict)  # of a node, in bytes
    cpus: dict[int, int] = field(default_factory=dict)  # of a node
    near: set[int] = field(default_factory=set)  # nodes of which it is known to which other one they are the nearest
    packages: list[int] = field(default_factory=list)  # their processors
    cores: list[int] = field(default_factory=list)  # their processors
    bandwidth: Values = field(default_factory=dict)  # GB/s
    latency: Values = field(default_factory=dict)  # ns
    sizes: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))  # of caches, by level
    lines: set[int] = field(default_factory=set)
    pages: set[int] = field(default_factory=set)
    capacities: set[int] = field(default_factory=set)  # of processors; empty unless all have one
    base_ghz: set[Decimal] = field(default_factory=set)
    named_ghz: set[Decimal] = field(default_factory=set)  # in the processor's name

    def sockets(self) -> set[int]:
        """Their number; nothing where some processor's is not said, or a node has processors of several."""
        wide = any(sum(bool(package & cpus) for package in self.packages) > 1 for cpus in self.cpus.values())
        used = [package for package in self.packages if package & self.threads]
        return {len(used)} if covered(self.threads, used) and not wide else set()

    def has_cores(self) -> bool:
        """Whether each processor's core is said."""
        return covered(self.threads, self.cores)

    def controller(self, node: int) -> list[Decimal]:
        """The highest bandwidth of a node's memory that any processors see."""
        found = [said for (memory, _), said in self.bandwidth.items() if memory == node]
        return max(found, key=mean, default=[])

    def load(self, reader: int, node: int) -> list[Decimal]:
        """The latency of a node's memory for the fewest processors among which all of the reading node are."""
        own = self.cpus.get(reader, 0)
        found = {cpus: said for (to, cpus), said in self.latency.items() if to == node and own & ~cpus == 0 < own}
        return found[min(found, key=int.bit_count)] if found else []


def mean(said: list[Decimal]) -> Decimal:
    return round(sum(said, Decimal(0)) / max(len(said), 1), 3)


def covered(threads: int, parts: list[int]) -> bool:
    for part in parts:
        threads &= ~part
    return not threads


def given_in_xml(path: Path) -> Given:
    root = ElementTree.parse(path).getroot()
    given = Given(threads_in_xml(root))
    nodes = {int(node.get("os_index", "")): node for node in of_type(root, "NUMANode") or [top_of(root)]}
    allowed = mask(top_of(root), "allowed_nodeset") or -1
    given.memory = {at: int(node.get("local_memory", "0")) * (allowed >> at & 1) for at, node in nodes.items()}
    left = given.threads
    for at in sorted(nodes, key=lambda at: (mask(nodes[at], "cpuset").bit_count(), not given.memory[at], at)):
        given.cpus[at] = mask(nodes[at], "cpuset") & left
        left &= ~given.cpus[at]
    matrices = root.findall("distances2[@type='NUMANode']") + root.findall(".//distances")
    given.near = {at for at, node in nodes.items() if matrices or mask(node, "cpuset") & given.threads}
    given.packages = [mask(each, "cpuset") for name in ("Package", "Socket") for each in of_type(root, name)]
    given.cores = [mask(core, "cpuset") for core in of_type(root, "Core")]
    numbers = {node.get("gp_index", ""): at for at, node in nodes.items()}
    given.bandwidth = attribute(root, numbers, "Bandwidth", Decimal(2**20) / 10**9)
    given.latency = attribute(root, numbers, "Latency", Decimal(1))
    for cache in caches_in_xml(root):
        count_size(given, int(cache.get("depth", "")), int(cache.get("cache_size", "")), mask(cache, "cpuset"))
        given.lines.add(int(cache.get("cache_linesize", "0")))
    given.capacities = of_all(root, "LinuxCapacity", given.threads)
    given.base_ghz = {Decimal(mhz) / 1000 for mhz in infos(root, "FrequencyBaseMHz")}
    names = "\n".join(infos(root, "CPUModel"))
    given.named_ghz = {Decimal(ghz) for ghz in re.findall(r"@ *([\d.]+) *GHz", names)}
    sizes = [page.get("size", "0") for page in root.iter("page_type")]
    given.pages = {int(size or "0") for size in (*sizes, *",".join(infos(root, "PageSizes")).split(","))}
    return given


def infos(parent: Element, name: str) -> Iterator[str]:
    return (info.get("value", "") for info in parent.iter("info") if info.get("name") == name)


def of_all(root: Element, name: str, threads: int) -> set[int]:
    """The values of a measure of kinds of processors, unless some have none."""
    kinds = [(mask(kind, "cpuset") & threads, int(text)) for kind in root.iter("cpukind") for text in infos(kind, name)]
    having = 0
    for cpus, _ in kinds:
        having |= cpus
    return {value for cpus, value in kinds if cpus} if having == threads else set()


def attribute(root: Element, numbers: dict[str, int], name: str, unit: Decimal) -> Values:
    """A value of 0 says nothing; those for reading and writing count where there is no value for both."""
    both: Values = {}
    apart: Values = defaultdict(list)
    for kind in ("", "Read", "Write"):
        for value in root.findall(f"memattr[@name='{kind}{name}']/memattr_value[@initiator_cpuset]"):
            key = numbers.get(value.get("target_obj_gp_index", ""), -1), mask(value, "initiator_cpuset")
            amount = Decimal(value.get("value", ""))
            if amount and key[1]:
                (apart if kind else both).setdefault(key, []).append(amount * unit)
    return {**apart, **both}


def count_size(given: Given, level: int, size: int, cpus: int) -> None:
    if size and cpus & given.threads:
        given.sizes[level][size] += (cpus & given.threads).bit_count()


def given_in_sysfs(root: Path) -> Given:
    given, system = Given(threads_in_sysfs(root)), root / "devices/system"
    cpus = {cpu: system / f"cpu/cpu{cpu}" for cpu in numbers_of(given.threads)}
    folders = {int(folder.name[4:]): folder for folder in (system / "node").glob("node[0-9]*")}
    if listed := word(system / "node/online"):
        folders = {at: folder for at, folder in folders.items() if bits_of_list(listed) >> at & 1}
    allowed = -1
    for limit in ("fs/cgroup/cpuset.mems.effective", "fs/cgroup/cpuset/cpuset.effective_mems"):
        allowed &= bits_of_list(word(root / limit)) or allowed
    for at, folder in folders.items():
        total = re.search(r"MemTotal:\s*(\d+)", word(folder / "meminfo"))
        given.memory[at] = int(total[1]) * 1024 * (allowed >> at & 1) if total else 0
        given.cpus[at] = around(folder, 0, "cpu", "cpumap") & given.threads
        given.near |= {at} if word(folder / "distance") else set()
    for at, folder in folders.items():
        classes = [folder / f"access{number}/initiators" for number in (1, 0)]
        best = next((each for each in classes if list(each.glob("node[0-9]*"))), classes[1])
        readers = [given.cpus[int(each.name[4:])] for each in best.glob("node[0-9]*")]
        for values, name, unit in ((given.bandwidth, "bandwidth", 1000), (given.latency, "latency", 1)):
            said = [Decimal(word(best / f"{way}_{name}") or 0) / unit for way in ("read", "write")]
            values.update({(at, reader): [value for value in said if value] for reader in readers or [0]})
    sockets: dict[str, int] = defaultdict(int)
    seen = {}
    for cpu, folder in cpus.items():
        given.cores.append(around(folder / "topology", 0, "core_cpus", "thread_siblings"))
        sockets[word(folder / "topology/physical_package_id")] |= 1 << cpu
        for cache in caches_in_sysfs(folder):
            level, size = int(word(cache / "level")), size_of(word(cache / "size"))
            seen[level, around(cache, 1 << cpu, "shared_cpu", "shared_cpu_map")] = size
            given.lines.add(int(word(cache / "coherency_line_size") or 0))
    for (level, sharers), size in seen.items():
        count_size(given, level, size, sharers)
    given.packages = [threads for number, threads in sockets.items() if number not in ("", "-1")]
    capacities = {int(word(folder / "cpu_capacity") or 0) for folder in cpus.values()}
    given.capacities = set() if 0 in capacities else capacities
    given.base_ghz = {Decimal(word(folder / "cpufreq/base_frequency") or 0) / 10**6 for folder in cpus.values()} - {0}
    return given
