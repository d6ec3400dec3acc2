"""The inventory of the running Linux system, or of a copy of another system's sysfs.

A processor is a hardware thread, a node a NUMA node. This module reads ``devices/system/cpu`` and
``devices/system/node``. The control group at ``fs/cgroup`` and, on the running system, this process's affinity mask
restrict the usable processors and memory. lib/runtime/source/platform/topology_sysfs.c reads the same processors,
cores, sockets, nodes, memory and distances, and refuses the same files. The C reader reads no clocks, speeds or access
classes of memory (which nodes reach it fastest), and the caches of one thread only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from numasim.errors import InputError
from numasim.files.reader import CPU_INFO, SYSFS, UnreadableError, read_bytes, text_of, whole_number
from numasim.machine.inventory import Cache, Clock, Inventory, Thread, clock_in, memory_fields
from numasim.parts.base import MOST_PROCESSORS, as_list, number_list
from numasim.parts.yaml.nodes import shown

RUNNING = Path("/sys")
_DISTANCE = re.compile(r"0*[1-9][0-9]{0,4}")
_GROUP = re.compile(r"[0-9a-fA-F]{1,8}")
_CGROUP_NODE_FILES = ("fs/cgroup/cpuset.mems.effective", "fs/cgroup/cpuset/cpuset.effective_mems")
_CGROUP_FILES = ("fs/cgroup/cpuset.cpus.effective", "fs/cgroup/cpuset/cpuset.effective_cpus")


def read_sysfs(root: Path = RUNNING) -> Inventory:
    """Return the inventory of the sysfs at ``root``; raise InputError if ``root`` is no sysfs or a file is damaged."""
    running = root == RUNNING
    online = _online(root)
    usable = online & _allowed(root, online, running)
    if not usable:
        raise InputError(f"{root}: none of the processors {as_list(online)} may be used", expected="at least one")
    nodes = _nodes(root)
    bandwidths = {node: said for node in nodes if (said := _said(root, node, "bandwidth"))}
    latencies = {pair: said for node in nodes for pair, said in _latencies(root, node, nodes).items()}
    speeds, speed_source = _speeds(root, usable)
    whole_memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if running else 0
    return Inventory(
        origin="the running system" if running else f"sysfs at {root}",
        threads=tuple(_thread(root, cpu, nodes) for cpu in sorted(usable)),
        caches=tuple(_caches(root, usable)),
        memory_bytes=_memories(root, nodes, running) or {0: whole_memory},  # kernels without NUMA have no nodes
        distance=_distances(root, sorted(nodes)),
        clock=_clock(root, min(usable), running),
        page_bytes=os.sysconf("SC_PAGE_SIZE") if running else None,
        remarks=(*_left_out(root, online, usable), *_kinds_without_speed(root, usable, speed_source)),
        speeds=speeds,
        speed_source=speed_source,
        memory_source="the access classes of memory there, which firmware gives",
        **memory_fields(bandwidths, latencies, Decimal("0.001")),
        unsaid=frozenset(_unsaid(root, usable, speed_source)),
    )


def _text(path: Path) -> str | None:
    """Return the text of a file; None if the file is missing or may not be read."""
    try:
        data = read_bytes(path, SYSFS).rstrip(b"\0")  # some tools end copies with null bytes
        return text_of(data, str(path), SYSFS.name).strip() or None
    except UnreadableError:
        return None


def _numbers(path: Path) -> frozenset[int] | None:
    text = _text(path)
    try:
        return None if text is None else number_list(text)
    except ValueError:
        expected = f"a list such as 0-3,8 of numbers below {MOST_PROCESSORS:,}"
        raise InputError(f"{shown(text)} is no list of processors", place=str(path), expected=expected) from None


def _processors(folder: Path, *names: str) -> frozenset[int] | None:
    """Return the processors in the first file of ``names``, names of bitmaps, that exists; None if none does.

    A list is read instead of the bitmap if there is one: ``core_cpus_list`` for ``core_cpus``, ``cpulist`` for
    ``cpumap``.
    """
    for name in names:
        base = name.removesuffix("map")
        found = _numbers(folder / (f"{base}list" if base != name else f"{name}_list"))
        found = found or _bitmap(folder / name)
        if found is not None:
            return found
    return None


def _bitmap(path: Path) -> frozenset[int] | None:
    """Return the numbers of a bitmap, which has 32-bit groups in hexadecimal, the highest group first."""
    text = _text(path)
    if text is None:
        return None
    groups = text.replace("\n", "").split(",")
    if len(groups) > MOST_PROCESSORS // 32 or not all(map(_GROUP.fullmatch, groups)):
        raise InputError(f"{shown(text)} is no bitmap", place=str(path), expected="such as 00000000,0000000f")
    bits = 0
    for group in groups:
        bits = bits << 32 | int(group, 16)
    return frozenset(number for number in range(bits.bit_length()) if bits >> number & 1)


def _integer(path: Path, otherwise: int) -> int:
    text = _text(path)
    try:
        return otherwise if text is None else whole_number(text)
    except ValueError:
        raise InputError(f"{shown(text)} is no number", place=str(path), expected="a whole number") from None


def _cpu(root: Path, cpu: int) -> Path:
    return root / "devices/system/cpu" / f"cpu{cpu}"


def _numbered(folder: Path, prefix: str) -> frozenset[int]:
    found = (re.fullmatch(rf"{prefix}([0-9]{{1,5}})", name) for name in _names(folder))
    return frozenset(int(match[1]) for match in found if match)


def _names(folder: Path) -> list[str]:
    """Return the sorted names in a folder; no names if the folder cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _online(root: Path) -> frozenset[int]:
    folder = root / "devices/system/cpu"
    online = _numbers(folder / "online") or _numbered(folder, "cpu")
    online = frozenset(cpu for cpu in online if _integer(_cpu(root, cpu) / "online", 1))
    if not online:
        raise InputError(
            f"{root} has no processors below devices/system/cpu", expected="/sys, or a copy of another system's"
        )
    return online


def _allowed(root: Path, online: frozenset[int], running: bool) -> frozenset[int]:
    allowed = frozenset(os.sched_getaffinity(0)) if running and hasattr(os, "sched_getaffinity") else online
    for name in _CGROUP_FILES:
        allowed &= _numbers(root / name) or allowed
    return allowed


def _nodes(root: Path) -> dict[int, frozenset[int]]:
    """Return {node: its processors}."""
    folder = root / "devices/system/node"
    online = _numbers(folder / "online") or _numbered(folder, "node")
    return {node: _processors(folder / f"node{node}", "cpumap") or frozenset() for node in sorted(online)}


def _memories(root: Path, nodes: dict[int, frozenset[int]], running: bool) -> dict[int, int]:
    """Return {node: bytes of memory}, 0 for nodes that may not be used."""
    allowed = frozenset(nodes)
    for name in _CGROUP_NODE_FILES:
        allowed &= _numbers(root / name) or allowed
    if running:
        told = re.search(r"^Mems_allowed_list:\s*(\S+)$", _text(Path("/proc/self/status")) or "", re.MULTILINE)
        allowed &= number_list(told[1]) if told else allowed
    return {node: _memory_bytes(root, node) if node in allowed else 0 for node in nodes}


_SPEEDS = {"cpu_capacity": "the capacities there", "cpufreq/cpuinfo_max_freq": "their highest clocks there"}


def _speeds(root: Path, usable: frozenset[int]) -> tuple[dict[int, int], str]:
    """Return ({processor: speed}, source): the capacities that Arm kernels give, else the highest clocks."""
    for name, source in _SPEEDS.items():
        speeds = {cpu: _integer(_cpu(root, cpu) / name, 0) for cpu in usable}
        if all(speeds.values()):
            return speeds, source
    return {}, ""


_HYBRID = ("cpu_core", "cpu_atom")  # the performance counters of Intel's kinds of cores


def _kinds_without_speed(root: Path, usable: frozenset[int], speed_source: str) -> Iterator[str]:
    """Yield a remark if the system has several kinds of cores without a speed for each kind."""
    kinds = {name: (_numbers(root / "devices" / name / "cpus") or frozenset()) & usable for name in _HYBRID}
    if all(kinds.values()) and not speed_source:
        names = ", ".join(f"{name} on processors {as_list(cpus)}" for name, cpus in kinds.items())
        yield f"{len(kinds)} kinds of cores have no speed there ({names}): all are simulated at full speed"


def _initiators(root: Path, node: int) -> Path:
    """Return the folder that lists the nodes with the fastest access to a node's memory, and says how fast: that of
    access class 1 (processors alone) if it lists any, else that of class 0 (processors and devices).
    """
    folders = [root / f"devices/system/node/node{node}/access{number}/initiators" for number in (1, 0)]
    return next((folder for folder in folders if _numbered(folder, "node")), folders[1])


def _said(root: Path, node: int, what: str) -> list[Decimal]:
    """Return the bandwidths (MB/s) or latencies (ns) of a node's memory for reading and writing, without zeros."""
    folder = _initiators(root, node)
    values = (Decimal(_integer(folder / f"{name}_{what}", 0)) for name in ("read", "write"))
    return [value for value in values if value > 0]


def _latencies(root: Path, node: int, nodes: dict[int, frozenset[int]]) -> dict[tuple[int, int], list[Decimal]]:
    """Return the latencies of a node's memory from the nodes with processors that have the fastest access."""
    said = _said(root, node, "latency")
    readers = [reader for reader in _numbered(_initiators(root, node), "node") if nodes.get(reader)]
    return {(reader, node): said for reader in sorted(readers)} if said else {}


def _unsaid(root: Path, usable: frozenset[int], speed_source: str) -> Iterator[str]:
    """Yield what sysfs does not say of some processors: ``sockets``, ``cores``, or ``speeds`` of kinds of cores."""
    folders = [_cpu(root, cpu) / "topology" for cpu in usable]
    if any(_integer(folder / "physical_package_id", -1) < 0 for folder in folders):
        yield "sockets"
    if not all(_processors(folder, "core_cpus", "thread_siblings") for folder in folders):
        yield "cores"
    if list(_kinds_without_speed(root, usable, speed_source)):
        yield "speeds"


def _thread(root: Path, cpu: int, nodes: dict[int, frozenset[int]]) -> Thread:
    topology = _cpu(root, cpu) / "topology"
    siblings = _processors(topology, "core_cpus", "thread_siblings") or {cpu}
    return Thread(cpu, min(siblings), max(_integer(topology / "physical_package_id", 0), 0), _home(root, cpu, nodes))


def _home(root: Path, cpu: int, nodes: dict[int, frozenset[int]]) -> int:
    homes = sorted(node for node, cpus in nodes.items() if cpu in cpus)
    if nodes and len(homes) != 1:
        where = f"nodes {as_list(homes)}" if homes else "no node"
        raise InputError(f"{root}: processor {cpu} is on {where}", expected="every processor on one node")
    return homes[0] if homes else 0


def _caches(root: Path, usable: frozenset[int]) -> Iterator[Cache]:
    seen = set()
    for cpu in sorted(usable):
        folder = _cpu(root, cpu) / "cache"
        for index in (name for name in _names(folder) if name.startswith("index")):
            cache = _cache(folder / index, frozenset({cpu}))
            if cache is not None and (cache.level, cache.threads) not in seen:
                seen.add((cache.level, cache.threads))
                yield cache


def _cache(index: Path, own: frozenset[int]) -> Cache | None:
    """Return the cache; None for an instruction cache and for a cache without level."""
    level = _integer(index / "level", 0)
    if _text(index / "type") == "Instruction" or not level:
        return None
    threads = _processors(index, "shared_cpu_map") or own
    return Cache(level, _size_bytes(index / "size"), _integer(index / "coherency_line_size", 0), threads)


def _size_bytes(path: Path) -> int:
    text = _text(path) or "0K"
    found = re.fullmatch(r"([0-9]{1,12})([KM]?)", text)
    if not found:
        raise InputError(f"{shown(text)} is no size of a cache", place=str(path), expected="such as 32K")
    return int(found[1]) * {"": 1, "K": 2**10, "M": 2**20}[found[2]]


def _memory_bytes(root: Path, node: int) -> int:
    found = re.search(r"MemTotal:\s*([0-9]{1,15}) kB", _text(root / f"devices/system/node/node{node}/meminfo") or "")
    return int(found[1]) * 1024 if found else 0


def _distances(root: Path, nodes: list[int]) -> dict[tuple[int, int], Decimal]:
    """Return {(from node, to node): distance}; each node's file has its distances to ``nodes``, in this order."""
    distance = {}
    for node in nodes:
        path = root / f"devices/system/node/node{node}/distance"
        row = (_text(path) or "").split()
        if row and (len(row) != len(nodes) or not all(_DISTANCE.fullmatch(value) for value in row)):
            expected = f"{len(nodes)} whole numbers above 0"
            raise InputError(f"{shown(' '.join(row))} is no row of distances", place=str(path), expected=expected)
        distance.update({(node, other): Decimal(value) for other, value in zip(nodes, row, strict=False)})
    return distance


def _clock(root: Path, cpu: int, running: bool) -> Clock | None:
    for name, mark in (("base_frequency", "read:"), ("cpuinfo_max_freq", "assumed: the highest clock,")):
        khz = _integer(_cpu(root, cpu) / "cpufreq" / name, 0)
        if khz > 0:
            return Clock(Decimal(khz) / 1_000_000, f"{mark} cpufreq/{name}")
    text = cpu_info() if running else None
    if named := clock_in(text or "", "derived: the model name in /proc/cpuinfo"):
        return named
    now = re.search(r"cpu MHz\s*: *([0-9]{1,6}\.?[0-9]{0,9})", text or "")
    return Clock(round(Decimal(now[1]) / 1000, 3), "assumed: /proc/cpuinfo, as it was then") if now else None


def cpu_info() -> str:
    """Return /proc/cpuinfo of the running system; nothing if the file may not be read."""
    try:
        return read_bytes(Path("/proc/cpuinfo"), CPU_INFO).decode(errors="replace")
    except UnreadableError:
        return ""


def _left_out(root: Path, online: frozenset[int], usable: frozenset[int]) -> Iterator[str]:
    offline = (_numbers(root / "devices/system/cpu/present") or online) - online
    if offline:
        yield f"processors {as_list(offline)} are offline and left out"
    if online - usable:
        yield f"processors {as_list(online - usable)} may not be used here and are left out"
