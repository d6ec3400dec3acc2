"""Copies of the sysfs of invented machines, as Linux would show the machines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

KIB = 1024


@dataclass(frozen=True)
class Tree:
    """A machine whose hardware threads are numbered as by Linux: one thread of every core, then the siblings."""

    sockets: int = 1
    nodes_per_socket: int = 1
    cores: int = 2  # per node
    threads: int = 1  # per core
    llc_cores: int | None = None  # cores that share a last-level cache; default: all cores of a socket
    offline: Collection[int] = ()
    allowed: str | None = None  # cpuset.cpus.effective of the control group
    memory_kib: Mapping[int, int] = field(default_factory=dict)  # by node; default: 8 GiB
    memory_nodes: int = 0  # more nodes, without processors
    distance: list[list[int]] | None = None

    @property
    def nodes(self) -> int:
        """Return the number of nodes with processors."""
        return self.sockets * self.nodes_per_socket

    @property
    def all_cores(self) -> int:
        """Return the number of cores of the machine."""
        return self.nodes * self.cores

    def siblings(self, core: int) -> list[int]:
        """Return the hardware threads of a core that are online."""
        return [
            core + self.all_cores * at for at in range(self.threads) if core + self.all_cores * at not in self.offline
        ]

    def write(self, root: Path) -> Path:
        """Write the tree below ``root`` and return ``root``."""
        for cpu in range(self.all_cores * self.threads):
            if cpu not in self.offline:
                self._write_cpu(root, cpu)
        present = [cpu for cpu in range(self.all_cores * self.threads) if cpu not in self.offline]
        put(root, "devices/system/cpu/online", listed(present))
        put(root, "devices/system/cpu/present", f"0-{self.all_cores * self.threads - 1}")
        put(root, "devices/system/node/online", f"0-{self.nodes + self.memory_nodes - 1}")
        for node in range(self.nodes + self.memory_nodes):
            self._write_node(root, node)
        if self.allowed is not None:
            put(root, "fs/cgroup/cpuset.cpus.effective", self.allowed)
        return root

    def _write_cpu(self, root: Path, cpu: int) -> None:
        core = cpu % self.all_cores
        here = f"devices/system/cpu/cpu{cpu}"
        per_socket = self.nodes_per_socket * self.cores
        put(root, f"{here}/topology/physical_package_id", str(core // per_socket))
        put(root, f"{here}/topology/core_cpus_list", listed(self.siblings(core)))
        shared = self.llc_cores or per_socket
        around = [other for first in range(shared) for other in self.siblings(core // shared * shared + first)]
        for index, (level, kind, size, cpus) in enumerate(
            [
                (1, "Data", "32K", self.siblings(core)),
                (1, "Instruction", "64K", self.siblings(core)),
                (2, "Unified", "1024K", self.siblings(core)),
                (3, "Unified", "16M", around),
            ]
        ):
            cache = f"{here}/cache/index{index}"
            put(root, f"{cache}/level", str(level))
            put(root, f"{cache}/type", kind)
            put(root, f"{cache}/size", size)
            put(root, f"{cache}/coherency_line_size", "64")
            put(root, f"{cache}/shared_cpu_list", listed(cpus))

    def _write_node(self, root: Path, node: int) -> None:
        here = f"devices/system/node/node{node}"
        cores = range(node * self.cores, (node + 1) * self.cores) if node < self.nodes else ()
        put(root, f"{here}/cpulist", listed([cpu for core in cores for cpu in self.siblings(core)]))
        put(root, f"{here}/meminfo", f"Node {node} MemTotal:    {self.memory_kib.get(node, 8 * KIB * KIB)} kB")
        count = self.nodes + self.memory_nodes
        row = self.distance[node] if self.distance else [10 if node == to else 20 for to in range(count)]
        put(root, f"{here}/distance", " ".join(map(str, row)))


def put(root: Path, name: str, text: str) -> None:
    """Write a file below ``root``, with the line end that the kernel writes."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def listed(numbers: Collection[int]) -> str:
    """Return the numbers as a list without ranges, which readers accept, too."""
    return ",".join(map(str, sorted(numbers)))


RING = [[10 + 6 * min((a - b) % 8, (b - a) % 8) for b in range(8)] for a in range(8)]

TREES = {
    "one node": Tree(),
    "two nodes with hardware threads": Tree(sockets=2, cores=6, threads=2, distance=[[10, 21], [21, 10]]),
    "eight nodes in a ring": Tree(sockets=8, distance=RING),
    "two nodes a socket": Tree(sockets=2, nodes_per_socket=2, cores=4, llc_cores=4),
    "clusters that share a cache": Tree(sockets=1, cores=8, llc_cores=4),
    "a core is offline": Tree(sockets=2, cores=4, offline=(5,)),
    "a sibling is offline": Tree(sockets=1, cores=2, threads=2, offline=(3,)),
    "a node without memory": Tree(sockets=2, memory_kib={1: 0}),
    "a node without processors": Tree(sockets=2, memory_nodes=1),
    "a control group": Tree(sockets=2, cores=4, allowed="1-2,4-6"),
    "a control group on one node": Tree(sockets=2, cores=4, allowed="4-7"),
}


# ---- changes of a tree, as other kernels and control groups make them


def leave(root: Path) -> None:
    """Change nothing."""


def write_bitmaps(root: Path) -> None:
    """Write the masks of kernels without lists; some copies end in a zero byte."""
    for found in [*root.rglob("core_cpus_list"), *root.rglob("shared_cpu_list"), *root.rglob("node*/cpulist")]:
        numbers = [int(word) for word in found.read_text().replace("\n", "").split(",") if word]
        bits = f"{sum(1 << number for number in numbers):016x}"
        name_of_map = {"core_cpus_list": "thread_siblings", "shared_cpu_list": "shared_cpu_map", "cpulist": "cpumap"}
        (found.parent / name_of_map[found.name]).write_text(f"{bits[:8]},{bits[8:]}\n\0")
        found.unlink()


def list_nothing(root: Path) -> None:
    """Remove the lists of online processors and nodes, so that only the folders of processors and nodes tell."""
    (root / "devices/system/cpu/online").unlink()
    (root / "devices/system/node/online").unlink()


def take_offline(root: Path) -> None:
    """List processor 1, whose own file says that the processor is offline."""
    put(root, "devices/system/cpu/cpu0/online", "1")
    put(root, "devices/system/cpu/cpu1/online", "0")


def forbid_memory(root: Path) -> None:
    """Allow the memory of node 0 alone."""
    put(root, "fs/cgroup/cpuset.mems.effective", "0")


def forbid_memory_of_old(root: Path) -> None:
    """Allow the memory of node 0 alone, by the first version of control groups."""
    put(root, "fs/cgroup/cpuset/cpuset.effective_mems", "0")


CHANGES: dict[str, Callable[[Path], None]] = {
    "as it is": leave,
    "bitmaps": write_bitmaps,
    "no lists of what is online": list_nothing,
    "a processor says that it is offline": take_offline,
    "memory that may not be used": forbid_memory,
    "memory that may not be used, by the first control groups": forbid_memory_of_old,
}
DAMAGED = {  # in the tree "a node without memory", whose processors are 0-1 and 2-3
    "a processor on no node": ("devices/system/node/node0/cpulist", "1"),
    "processors on two nodes": ("devices/system/node/node1/cpulist", "0-3"),
    "a list backwards": ("devices/system/node/node0/cpulist", "0,9-5"),
    "no bitmap": ("devices/system/node/node0/cpumap", "0x3"),
    "a bitmap that is too wide": ("devices/system/node/node0/cpumap", "1" + ",00000000" * 2048),
    "half a range": ("devices/system/cpu/online", "0-"),
    "a range of too many": ("devices/system/cpu/online", "0-99999999999"),
    "siblings in words": ("devices/system/cpu/cpu0/topology/core_cpus_list", "zero"),
    "a socket in words": ("devices/system/cpu/cpu0/topology/physical_package_id", "zero"),
    "a level in words": ("devices/system/cpu/cpu0/cache/index0/level", "one"),
    "a size without a number": ("devices/system/cpu/cpu0/cache/index0/size", "K"),
    "another sign between numbers": ("devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0;1"),
    "nodes in words": ("devices/system/node/online", "none"),
    "distances of one node": ("devices/system/node/node0/distance", "10"),
    "a distance of 0": ("devices/system/node/node0/distance", "0 20"),
    "allowed processors in words": ("fs/cgroup/cpuset.cpus.effective", "all"),
}
