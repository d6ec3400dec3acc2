"""What firmware and kernels may say of a system beyond its shape, added to hwloc's XML and to copies of sysfs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from xml.etree.ElementTree import Element, SubElement

from sysfs_trees import put


class Saying(Protocol):
    """Something said, or not said any more."""

    def add_to_xml(self, root: Element) -> None: ...
    def add_to_sysfs(self, root: Path) -> None: ...


@dataclass(frozen=True)
class OfMemory:
    """Bandwidths and latencies, each node's its own."""

    more: int = 0  # for writing than for reading
    own: bool = False  # from the own node alone, else from every node
    last: bool = True  # of the last node as well

    def amounts(self, place: int) -> list[tuple[str, str, int]]:
        """What is said of the node at that place."""
        reading = {"bandwidth": 20_000 + 1_000 * place, "latency": 70 + place}
        return [
            (way, what, amount + (self.more if way == "write" else 0))
            for way in ("read", "write")
            for what, amount in reading.items()
        ]

    def add_to_xml(self, root: Element) -> None:
        nodes = root.findall(".//object[@type='NUMANode']")
        for way, what, _ in self.amounts(0):
            name = f"{way.title() if self.more else ''}{what.title()}"
            attribute = SubElement(root, "memattr", name=name, flags="5")
            for place, node in enumerate(nodes if self.last else nodes[:-1]):
                amount = next(amount for *both, amount in self.amounts(place) if both == [way, what])
                for reader in [node] if self.own else nodes:
                    value = SubElement(attribute, "memattr_value", value=str(amount))
                    value.set("target_obj_gp_index", node.get("gp_index", ""))
                    value.set("initiator_cpuset", reader.get("cpuset", ""))

    def add_to_sysfs(self, root: Path) -> None:
        nodes = sorted((root / "devices/system/node").glob("node[0-9]*"))
        for place, node in enumerate(nodes if self.last else nodes[:-1]):
            folder = f"devices/system/node/{node.name}/access1/initiators"
            for reader in [node] if self.own else nodes:
                put(root, f"{folder}/{reader.name}/cpulist", "")
            for way, what, amount in self.amounts(place):
                put(root, f"{folder}/{way}_{what}", str(amount))


@dataclass(frozen=True)
class OfProcessors:
    """A measure of each processor: 1,000,000 and 600,000 by turns."""

    info: str  # of hwloc
    file: str  # of the kernel

    def add_to_xml(self, root: Element) -> None:
        for at, unit in enumerate(root.findall(".//object[@type='PU']")):
            kind = SubElement(root, "cpukind", cpuset=unit.get("cpuset", ""))
            SubElement(kind, "info", name=self.info, value="600" if at % 2 else "1000")

    def add_to_sysfs(self, root: Path) -> None:
        for at, folder in enumerate(sorted((root / "devices/system/cpu").glob("cpu[0-9]*"))):
            put(folder, self.file, "600000" if at % 2 else "1000000")


class NoSockets:
    """Neither sockets nor cores are said any more."""

    def add_to_xml(self, root: Element) -> None:
        for each in root.iter("object"):
            if each.get("type") in ("Package", "Core"):
                each.set("type", "Group")

    def add_to_sysfs(self, root: Path) -> None:
        for file in root.glob("devices/system/cpu/cpu[0-9]*/topology/*"):
            file.unlink()


class OneCacheLess:
    """The first cache of the second level is not said any more."""

    def add_to_xml(self, root: Element) -> None:
        cache = root.find(".//object[@type='L2Cache']")
        if cache is not None:
            cache.set("type", "Group")
            del cache.attrib["cache_size"]

    def add_to_sysfs(self, root: Path) -> None:
        for file in root.glob("devices/system/cpu/cpu0/cache/index2/*"):
            file.unlink()


SAYINGS: dict[str, Saying] = {
    "all of memory": OfMemory(),
    "reading and writing apart": OfMemory(more=10),
    "own memory alone": OfMemory(own=True),
    "nothing of the last node": OfMemory(last=False),
    "capacities": OfProcessors("LinuxCapacity", "cpu_capacity"),
    "highest clocks": OfProcessors("FrequencyMaxMHz", "cpufreq/cpuinfo_max_freq"),
    "base clocks": OfProcessors("FrequencyBaseMHz", "cpufreq/base_frequency"),
    "neither sockets nor cores": NoSockets(),
    "one cache less": OneCacheLess(),
}
