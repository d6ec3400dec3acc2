"""Count the usable parts of a system in a copy of its sysfs, by bit masks like `tests/machine/counted.py`."""

from __future__ import annotations

import glob
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "machine"))

from counted import Counts, bits, last_level  # type: ignore[import-not-found]


def counted_in_sysfs(root: Path) -> Counts:
    """Return the counts of the system whose sysfs is copied to ``root``."""
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
    """Return the processors that are online and may be used, as a bit mask."""
    system = root / "devices/system/cpu"
    named = [int(Path(path).name[3:]) for path in glob.glob(f"{system}/cpu[0-9]*")]
    threads = sum(1 << cpu for cpu in named if word(system / f"cpu{cpu}/online") != "0")
    if listed := word(system / "online"):
        threads &= bits_of_list(listed)
    for limit in ("fs/cgroup/cpuset.cpus.effective", "fs/cgroup/cpuset/cpuset.effective_cpus"):
        threads &= bits_of_list(word(root / limit)) or threads
    return threads


def caches_in_sysfs(cpu: Path) -> list[Path]:
    """Return the folders of a processor's caches, without caches for instructions alone."""
    caches = [Path(index) for index in glob.glob(f"{cpu}/cache/index*")]
    return [cache for cache in caches if word(cache / "type") != "Instruction" and word(cache / "level")]


def numbers_of(threads: int) -> list[int]:
    """Return the numbers of the bits that are set."""
    return [number for number in range(threads.bit_length()) if threads >> number & 1]


def nodes_in_sysfs(root: Path, threads: int) -> int:
    """Return the number of nodes with usable processors or usable memory; without any memory all nodes, at least 1."""
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
    """Return the bytes of a size such as 32K or 1M."""
    return int(text.rstrip("KM") or "0") << {"K": 10, "M": 20}.get(text[-1:], 0)


def word(path: Path) -> str:
    """Return the text of a file without blanks at its ends; "" if the file is missing."""
    return path.read_text().replace("\0", "").strip() if path.is_file() else ""


def around(folder: Path, otherwise: int, *names: str) -> int:
    """Return the bits of the first of the files ``names`` that exists as a list (``_list``, ``list``) or as a mask.

    Return ``otherwise`` if this mask is zero, or if there is no file.
    """
    for name in names:
        if text := word(folder / f"{name}_list") or word(folder / f"{name}list"):
            return bits_of_list(text)
        if text := word(folder / name):
            return bits(text) or otherwise
    return otherwise


def bits_of_list(text: str) -> int:
    """Return a bit mask of the numbers in a list such as 0-3,8."""
    value = 0
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        value |= (1 << int(high or low) + 1) - (1 << int(low))
    return value
