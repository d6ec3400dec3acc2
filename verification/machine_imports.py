"""Check machine files from other tools: each value is marked as read, derived or assumed, and an independent reader
agrees.

    python verification/machine_imports.py FOLDER ...

Every XML file of hwloc and every copy of sysfs (a folder `sys` that contains `devices`) below the folders is imported.
The facts in such a file are also read here, with `xml.etree` and plain files, without the readers of numasim. A row for
each file has the numbers of values that are read, derived and assumed, and the fields for which the two readers
disagree on the mark or the value. The exit status is 1 if there are such fields.
"""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "machine"))

from counted import counted_in_xml, mask, of_type  # type: ignore[import-not-found]
from counted_in_sysfs import bits_of_list, counted_in_sysfs, word

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.measured_machine import import_machine
from numasim.parts.models.sources import mark_of, unsourced

ALWAYS_ASSUMED = (
    "links.between",
    "links.bandwidth_gbs",
    "coherence",
    "smt",
    "caches.llc_hit_ns",
    "caches.llc_remote_hit_ns",
)
MARKS = ("read", "derived", "assumed")
Facts = dict[str, Any]  # the expected mark of each field; under "=" the expected values


def facts_of_xml(path: Path) -> Facts:
    """Return the facts in a file of hwloc."""
    root = ElementTree.parse(path).getroot()
    top = root.find("object")
    assert top is not None
    infos = {each.get("name"): each.get("value", "") for each in root.iter("info")}
    allowed = mask(top, "allowed_nodeset") or -1
    nodes = of_type(root, "NUMANode") or [top]
    memory = {
        int(node.get("os_index", "0")): int(node.get("local_memory", "0"))
        for node in nodes
        if allowed >> int(node.get("os_index", "0")) & 1
    }
    kinds = [(mask(kind, "cpuset"), {i.get("name") for i in kind.iter("info")}) for kind in root.findall("cpukind")]
    threads = sum(1 << int(pu.get("os_index", "")) for pu in of_type(root, "PU"))
    threads &= mask(top, "allowed_cpuset") or mask(top, "cpuset")

    def everywhere(name: str) -> bool:
        covered = 0
        for cpus, names in kinds:
            covered |= cpus if name in names else 0
        return bool(kinds) and not threads & ~covered

    said = {number for number, size in memory.items() if size} or set(memory)
    ids = {node.get("gp_index"): int(node.get("os_index", "0")) for node in nodes}
    bandwidth = {
        ids.get(value.get("target_obj_gp_index"))
        for attribute in root.findall("memattr")
        if (attribute.get("name") or "").endswith("Bandwidth")
        for value in attribute
        if int(value.get("value", "0"))
    }
    lines = [int(each.get("cache_linesize", "0")) for each in root.iter("object") if each.get("cache_type") != "2"]
    pages = [int(each.get("size", "0")) for each in root.iter("page_type")]
    pages += [int(size) for size in infos.get("PageSizes", "").split(",") if size]
    base = [int(i.get("value", "0")) for i in root.iter("info") if i.get("name") == "FrequencyBaseMHz"]
    named = [i.get("value", "") for i in root.iter("info") if i.get("name") == "CPUModel"]
    named = [found[1] for text in named if (found := re.search(r"@ *([\d.]+) *GHz", text))]
    return {
        "nodes.memory": "known" if any(memory.values()) else "assumed",
        "nodes.imc_bandwidth_gbs": "read" if said <= bandwidth else "assumed",
        "nodes.cores.speed_ppm": "derived" if everywhere("LinuxCapacity") else "assumed",
        "clock.base_ghz": "read" if base else "derived" if named else "assumed",
        "page": "read" if any(pages) else "assumed",
        "line": "read" if any(lines) else "assumed",
        "=page": min(filter(None, pages), default=4096),
        "=line": max(lines, default=0) or 64,
        "=clock": Decimal(max(base)) / 1000 if base else Decimal(named[0]) if named else Decimal("2.5"),
        "=memory": {size for size in memory.values() if size},
        "=counts": counted_in_xml(path),
    }


def facts_of_sysfs(path: Path) -> Facts:
    """Return the facts in a copy of sysfs."""
    system = path / "devices/system"
    cpus = sorted(int(each.name[3:]) for each in (system / "cpu").glob("cpu[0-9]*"))
    online = bits_of_list(word(system / "cpu/online")) or -1
    cpus = [cpu for cpu in cpus if online >> cpu & 1 and word(system / f"cpu/cpu{cpu}/online") != "0"]
    for limit in ("fs/cgroup/cpuset.cpus.effective", "fs/cgroup/cpuset/cpuset.effective_cpus"):
        cpus = [cpu for cpu in cpus if (bits_of_list(word(path / limit)) or -1) >> cpu & 1]
    nodes = [int(each.name[4:]) for each in (system / "node").glob("node[0-9]*")]
    live = bits_of_list(word(system / "node/online")) or -1
    mems = bits_of_list(word(path / "fs/cgroup/cpuset.mems.effective")) or -1
    mems &= bits_of_list(word(path / "fs/cgroup/cpuset/cpuset.effective_mems")) or -1
    memory, given = {}, set()
    for node in nodes:
        folder = system / f"node/node{node}"
        total = re.search(r"MemTotal:\s*(\d+)", word(folder / "meminfo"))
        if live >> node & 1:
            memory[node] = int(total[1]) * 1024 * (mems >> node & 1) if total else 0
        rates = [word(each) for each in folder.glob("access[01]/initiators/*_bandwidth")]
        if any(int(rate or 0) for rate in rates):
            given.add(node)
    caches = [each for cpu in cpus for each in (system / f"cpu/cpu{cpu}/cache").glob("index*")]
    lines = [int(word(each / "coherency_line_size") or 0) for each in caches if word(each / "type") != "Instruction"]
    frequency = system / f"cpu/cpu{min(cpus)}/cpufreq"
    base, most = word(frequency / "base_frequency"), word(frequency / "cpuinfo_max_freq")
    said = {node for node, size in memory.items() if size} or set(memory)
    return {
        "nodes.memory": "known" if any(memory.values()) else "assumed",
        "nodes.imc_bandwidth_gbs": "read" if said and said <= given else "assumed",
        "nodes.cores.speed_ppm": "derived"
        if all(word(system / f"cpu/cpu{cpu}/cpu_capacity") not in ("", "0") for cpu in cpus)
        else "assumed",
        "clock.base_ghz": "read" if int(base or 0) > 0 else "assumed",
        "page": "assumed",
        "line": "read" if any(lines) else "assumed",
        "=page": 4096,
        "=line": max(lines, default=0) or 64,
        "=clock": Decimal(base or most or 2_500_000) / 1_000_000,
        "=memory": {size for size in memory.values() if size},
        "=counts": counted_in_sysfs(path),
    }


def disagreements(path: Path, facts: Facts) -> tuple[dict[str, int], list[str]]:
    """Return how many values have each mark, and the fields on which the import and the facts disagree."""
    draft = import_machine(sysfs=path, name="copy") if path.is_dir() else import_machine(path)
    spec = draft.check()
    machine = build(spec)
    marks = {field: mark_of(source) for field, source in draft.sources.items()}
    wrong = [f"{field} has no mark" for field in unsourced(spec)]
    wrong += [f"{f} begins with no mark" for f, text in draft.sources.items() if text.split(":")[0] not in MARKS]
    for field in ALWAYS_ASSUMED:
        if marks.get(field, "assumed") != "assumed":
            wrong.append(f"{field} is {marks[field]}")
    for field, expected in facts.items():
        found = marks.get(field)
        known = expected == "known" and found in ("read", "derived")
        if not field.startswith("=") and found is not None and not known and found != expected:
            wrong.append(f"{field} is {found}, not {expected}")
    values = {"=page": spec.page, "=line": spec.line, "=clock": spec.clock.base_ghz}
    wrong += [f"{field[1:]} is {value}, not {facts[field]}" for field, value in values.items() if value != facts[field]]
    sizes = {size for size in machine.memory_bytes.tolist() if size}
    if facts["=memory"] and not sizes <= facts["=memory"]:
        wrong.append(f"memory is {sizes}, not {facts['=memory']}")
    counts = facts["=counts"]
    if (machine.cores, machine.threads, machine.nodes) != tuple(counts[:3]):
        wrong.append(f"cores, threads, nodes are {machine.cores, machine.threads, machine.nodes}, not {counts[:3]}")
    return {mark: sum(each == mark for each in marks.values()) for mark in MARKS}, wrong


def machine_files(folder: Path) -> list[Path]:
    """Return the XML files of hwloc and the copies of sysfs below a folder."""
    files = [path for path in folder.rglob("*.xml") if "<topology" in path.read_text(errors="replace")[:1000]]
    return sorted(files) + sorted(path.parent for path in folder.rglob("sys/devices") if path.is_dir())


def main(folders: list[str]) -> int:
    """Print the table. Return 1 if the two readers disagree."""
    shown, refused, wrong = 0, 0, 0
    for path in [each for folder in folders for each in machine_files(Path(folder))]:
        name = path.parent.name if path.is_dir() else path.name
        try:
            facts = facts_of_sysfs(path) if path.is_dir() else facts_of_xml(path)
            marks, found = disagreements(path, facts)
        except InputError as error:
            refused += 1
            print(f"{name:48} refused: {error.problem[:90]}")
            continue
        shown += 1
        wrong += len(found)
        numbers = "  ".join(f"{marks[mark]:3} {mark}" for mark in MARKS)
        print(f"{name:48} {numbers}  {'; '.join(found) or 'agree'}")
    print(f"{shown} machine files imported, {refused} refused, {wrong} disagreements")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
