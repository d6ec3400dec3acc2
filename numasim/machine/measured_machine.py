"""The machine file of a system from measurements and topologies: hwloc's XML, a copy of /sys, texts of programs.

Files are told apart by their contents. One topology is the base: of hwloc's XML, /sys, likwid-topology, lscpu and
numactl the first that is given. Another topology gives memory and distances that the base lacks, and contradictions
between the two become remarks. Measured latencies, bandwidths and times of cache lines replace assumed values. If two
files measure the same, the first file counts, and a remark names the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from os.path import isdir
from pathlib import Path
from statistics import median

import numpy as np

from numasim.errors import InputError
from numasim.files.reader import MEASURED, read_text
from numasim.machine.core_times import CoreTimes, Ints, Levels, found_levels, levels_of_units, read_core_times
from numasim.machine.draft import Draft, draft_machine, label
from numasim.machine.hwloc_xml import read_hwloc_xml
from numasim.machine.inventory import Cache, Inventory, Thread
from numasim.machine.memory_speeds import MemorySpeeds, read_memory_speeds
from numasim.machine.sysfs import RUNNING, read_sysfs
from numasim.machine.text_topologies import read_text_topology
from numasim.parts.base import as_list
from numasim.parts.models.nodes_model import MAX_SIBLINGS

KNOWN = "hwloc XML, a copy of /sys, lscpu -p or -e, numactl -H, likwid-topology, MLC, core-to-core times, STREAM"
ORDER = ("sysfs", "likwid-topology", "lscpu", "numactl")  # which topology is the base, after hwloc's
MBS = Decimal("0.001")  # GB/s in a MB/s
SIBLINGS_NS = 17  # hardware threads of one core pass a line in at most this time (measured: 4 to 17 ns)


@dataclass
class Found:
    """All that the given files say, in the order of the files."""

    topologies: list[Inventory] = field(default_factory=list)
    speeds: list[MemorySpeeds] = field(default_factory=list)
    times: list[CoreTimes] = field(default_factory=list)


def import_machine(*files: Path, sysfs: Path | None = None, name: str | None = None) -> Draft:
    """Return the draft of the machine that the files and the copy ``sysfs`` describe; of the running system if neither
    is given.

    Raise InputError for a file that no reader knows, and if no file says which processors the machine has.
    """
    found = Found()
    paths = [*files, *([sysfs] if sysfs else [])]
    for path in paths:
        _read(path, sysfs, found)
    if not paths:
        found.topologies.append(read_sysfs(RUNNING))
    base = _base(found)
    draft = draft_machine(base, name or label(paths[0] if paths else None))
    taken: dict[str, str] = {}
    for speeds in sorted(found.speeds, key=lambda each: "bandwidth" not in each.lines):
        _put_speeds(draft, base, speeds, taken)
    for times in found.times[:1]:
        _put_times(draft, base, times)
    for times in found.times[1:]:
        draft.remarks.append(f"{times.source}: not used, since times between cores are taken from the file before")
    return draft


def _read(path: Path, sysfs: Path | None, found: Found) -> None:
    if path == sysfs or isdir(path / "devices"):
        found.topologies.append(read_sysfs(path))
        return
    text = read_text(path, MEASURED)
    if text.lstrip().startswith("<"):
        found.topologies.append(read_hwloc_xml(path))
        return
    topology, speeds = read_text_topology(text, str(path)), read_memory_speeds(text, str(path))
    times = None if topology or speeds else read_core_times(text, str(path))
    if not (topology or speeds or times):
        raise InputError("no known program wrote this text", place=str(path), expected=KNOWN)
    found.topologies += [topology] if topology else []
    found.speeds += [speeds] if speeds else []
    found.times += [times] if times else []


# ---- the base, from one topology or several --------------------------------------------------------------------------


def _base(found: Found) -> Inventory:
    if not found.topologies:
        if not found.times:
            problem, needed = "this file does not say which processors the machine has", "beside it a file that does"
            given = "hwloc XML, a copy of /sys, lscpu -p, numactl -H or likwid-topology"
            raise InputError(problem, place=found.speeds[0].name, expected=f"{needed}: {given}")
        return _from_times(found.times[0])
    rank = {origin: at for at, origin in enumerate(ORDER, 1)}
    base, *others = sorted(found.topologies, key=lambda each: rank.get(each.origin.split()[0], 0))
    for other in others:
        base = _together(base, other)
    return base


def _together(base: Inventory, other: Inventory) -> Inventory:
    """Return ``base`` with what it lacks from ``other``, and a remark on each fact that the two say differently."""
    remarks = [*base.remarks]

    def differ(what: str, of: Callable[[Inventory], object]) -> bool:
        mine, theirs = of(base), of(other)
        if mine != theirs:
            remarks.append(f"{what}: {mine} in {base.origin}, {theirs} in {other.origin}; the former is taken")
        return mine != theirs

    alike = not differ("processors", lambda each: len(each.threads))
    places = {thread.id: thread.node for thread in base.threads}
    theirs = {thread.id: thread.node for thread in other.threads}
    alike = alike and not differ("nodes", lambda each: len({thread.node for thread in each.threads}))
    if alike and places != theirs:
        remarks.append(f"processors are on other nodes in {other.origin} than in {base.origin}; the latter is taken")
        alike = False
    for what in ("cores", "sockets"):
        if what not in base.unsaid | other.unsaid:
            differ(what, lambda each, unit=what[:-1]: len({getattr(thread, unit) for thread in each.threads}))  # type: ignore[misc]
    if not alike:
        return replace(base, remarks=tuple(remarks))
    return replace(
        base,
        memory_bytes=base.memory_bytes or other.memory_bytes,
        sizes_origin=base.sizes_origin or ("" if base.memory_bytes else other.origin),
        distance=base.distance or other.distance,
        remarks=tuple(remarks),
    )


def _from_times(times: CoreTimes) -> Inventory:
    """Return an inventory of one node for each socket from a matrix alone.

    The narrowest groups count as cores if they pass a line within `SIBLINGS_NS`, the next groups as last-level caches,
    and the widest as sockets if they are wider than the caches.
    """
    cpus = times.cpus or tuple(range(len(times.ns)))
    levels = found_levels(times).levels
    units = [level.unit for level in levels[:-1]]  # the last level is the whole machine
    said = "nodes and memory are not in a matrix of times between cores: add numactl -H or lstopo"
    unsaid, core = {"cache sizes"}, np.arange(len(cpus))
    if (
        units
        and levels[0].median_ns <= SIBLINGS_NS
        and np.unique(units[0], return_counts=True)[1].max() <= MAX_SIBLINGS
    ):
        core = units.pop(0)
    else:
        unsaid |= {"cores"}
    socket = np.zeros(len(cpus), np.int64)
    if len(units) > 1:
        socket = np.unique(units.pop(), return_inverse=True)[1]
    else:
        unsaid |= {"sockets"}
    threads = tuple(Thread(cpu, int(core[at]), int(socket[at]), int(socket[at])) for at, cpu in enumerate(cpus))
    shared = units[0] if units else np.zeros(len(cpus), np.int64)
    caches = [Cache(3, 0, 0, _members(shared == unit, cpus)) for unit in np.unique(shared)]
    return Inventory(
        origin=f"groups of processors by the core-to-core times in {times.source}",
        threads=threads,
        caches=tuple(caches),
        memory_bytes={},
        distance={},
        clock=None,
        page_bytes=None,
        remarks=(said,),
        mark="derived",
        unsaid=frozenset(unsaid),
    )


def _members(mask: np.ndarray, cpus: Sequence[int]) -> frozenset[int]:
    return frozenset(cpu for cpu, inside in zip(cpus, mask.tolist(), strict=True) if inside)


# ---- speeds of memory ------------------------------------------------------------------------------------------------


def _put_speeds(draft: Draft, inventory: Inventory, speeds: MemorySpeeds, taken: dict[str, str]) -> None:
    """Put the speeds of a file into the draft; ``taken`` has the source of each field that a file before has given."""
    puts = {
        "latency": ("latency_ns" if len(draft.nodes) > 1 else "local_latency_ns", _put_latencies),
        "bandwidth": ("nodes.imc_bandwidth_gbs", _put_bandwidths),
        "total": ("nodes.imc_bandwidth_gbs", _put_total),
    }
    for part, (field_name, put) in puts.items():
        if part not in speeds.lines or (part == "total" and "bandwidth" in speeds.lines):
            continue
        if field_name in taken:
            draft.remarks.append(f"{speeds.source(part)}: not used, {field_name} is {taken[field_name]}")
        elif part == "total" or _covers(draft, inventory, speeds, part):
            put(draft, speeds)
            taken[field_name] = draft.sources[field_name]
    if speeds.unused:
        draft.remarks.append(
            f"{Path(speeds.name).name}: {' and '.join(speeds.unused)} of {speeds.program} are not used"
        )


def _covers(draft: Draft, inventory: Inventory, speeds: MemorySpeeds, part: str) -> bool:
    """Return whether the rows of a table are the nodes with cores and its columns all nodes; if not, add a remark."""
    pairs = speeds.latency_ns if part == "latency" else speeds.bandwidth_mbs
    cored = {thread.node for thread in inventory.threads}
    if pairs.keys() == {(row, column) for row in cored for column in draft.nodes}:
        return True
    rows, columns = (as_list({pair[side] for pair in pairs}) for side in (0, 1))
    draft.remarks.append(
        f"{speeds.source(part)}: not used, a table of nodes {rows} reading nodes {columns}; the machine has nodes "
        f"{as_list(draft.nodes)}"
    )
    return False


def _put_latencies(draft: Draft, speeds: MemorySpeeds) -> None:
    given, nodes = speeds.latency_ns, draft.nodes
    source = f"measured: {speeds.source('latency')}, idle latencies of {speeds.program}"
    if len(nodes) == 1:
        draft.put("local_latency_ns", given[nodes[0], nodes[0]], source)
        return
    before = draft.values["latency_ns"]  # keeps the rows of nodes without cores, which no core reads from
    rows = [[given.get((a, b), before[at][to]) for to, b in enumerate(nodes)] for at, a in enumerate(nodes)]
    draft.put("latency_ns", rows, source)


def _put_bandwidths(draft: Draft, speeds: MemorySpeeds) -> None:
    given, nodes, place = speeds.bandwidth_mbs, draft.nodes, speeds.source("bandwidth")
    fastest = {b: max(mbs for (_, to), mbs in given.items() if to == b) for b in nodes}
    gbs = {node: given.get((node, node), fastest[node]) * MBS for node in nodes}
    _put_controllers(draft, gbs, f"measured: {place}, reads from the own node; of like nodes the median")
    links = draft.values.get("links", ())
    measured = [
        (link, [mbs for pair in ((a, b), (b, a)) if (mbs := given.get(pair)) is not None])
        for link in links
        for a, b in [[nodes[end] for end in link["between"]]]
    ]
    for link, both in measured:
        link["bandwidth_gbs"] = min(both) * MBS if both else link["bandwidth_gbs"]
    if links and all(both for _, both in measured):
        draft.sources["links.bandwidth_gbs"] = f"measured: {place}, reads from the other node, the slower direction"
    elif links:
        said = f"links between nodes without cores; all others measured: {place}"
        draft.sources["links.bandwidth_gbs"] = f"{draft.sources['links.bandwidth_gbs']} ({said})"


def _put_controllers(draft: Draft, gbs: Mapping[int, Decimal], source: str) -> None:
    """Set the bandwidth of each node's controller; of nodes in one entry of the file, the median."""
    nodes = draft.values["nodes"]
    if not isinstance(nodes, list):
        draft.put_bandwidth(round(Decimal(median(gbs.values())), 3), source)
        return
    at = 0
    for entry in nodes:
        mine = [gbs[draft.nodes[at + k]] for k in range(entry.get("count", 1))]
        at += entry.get("count", 1)
        if "memory" in entry:
            entry["imc_bandwidth_gbs"] = round(Decimal(median(mine)), 3)
    draft.sources["nodes.imc_bandwidth_gbs"] = source


def _put_total(draft: Draft, speeds: MemorySpeeds) -> None:
    """Share the bandwidth of the whole system equally among the nodes."""
    kind, mbs = next(
        ((kind, speeds.total_mbs[kind]) for kind in ("ALL Reads", "triad") if kind in speeds.total_mbs),
        next(iter(speeds.total_mbs.items())),
    )
    said = f"{kind} of {speeds.program} in {speeds.source('total')}, as if the threads of all nodes took part"
    unseen = "" if speeds.program == "Intel MLC" else "; lines that are read before they are written do not count there"
    source = f"derived: {mbs} MB/s over {len(draft.nodes)} nodes, {said}{unseen}"
    draft.put_bandwidth(round(mbs * MBS / len(draft.nodes), 3), source)


# ---- times of cache lines --------------------------------------------------------------------------------------------


def _put_times(draft: Draft, inventory: Inventory, times: CoreTimes) -> None:
    cpus = times.cpus or tuple(thread.id for thread in inventory.threads[: len(times.ns)])
    threads = {thread.id: thread for thread in inventory.threads}
    if len(times.ns) > len(threads) or not set(cpus) <= threads.keys():
        draft.remarks.append(f"{times.source}: not used, since the table has processors that the machine lacks")
        return
    if times.cpus is None and inventory.mark == "read":
        said = "rows are taken as the machine's processors with the lowest numbers, in the order of the numbers"
        draft.remarks.append(f"{times.source}: {said}")
    held = [threads[cpu] for cpu in cpus]
    named = _units(held, inventory)
    homed = [at for at, (key, _) in enumerate(named) if key in ("same_node_ns", "same_socket_ns")]
    levels = levels_of_units(times, [unit for _, unit in named], homed)
    keys = [key for key, unit in named if any(unit is level.unit for level in levels.levels)]
    within = [key for key in keys if key not in ("same_core_ns", "cross_socket_ns")]
    if within and within[-1] != "same_socket_ns":  # then all cores of a socket share the last-level cache, or the node
        keys[keys.index(within[-1])] = "same_socket_ns"
    _remark_clusters(draft, times, levels)
    whole = len(cpus) == len(threads)
    if whole and not levels.stand_for_the_matrix:
        _put_matrix(draft, times, held, levels)
        return
    assumed = draft.sources.pop("coherence", "")
    for key, level in zip(keys, levels.levels, strict=True):
        far = f"; {level.far} pairs far from the measured line's page do not count" if level.far else ""
        spread = f"{level.pairs} pairs, eight of ten from {level.low_ns:.1f} to {level.high_ns:.1f} ns{far}"
        draft.put(
            f"coherence.{key}", Decimal(f"{level.median_ns:.1f}"), f"measured: {times.source}, median of {spread}"
        )
    for key in draft.values["coherence"].keys() - set(keys):
        draft.sources[f"coherence.{key}"] = assumed


def _units(threads: Sequence[Thread], inventory: Inventory) -> list[tuple[str, Ints]]:
    """Return the field of `CoherenceSpec` and the unit of each processor, narrow units first."""
    last = max((cache.level for cache in inventory.caches), default=0)
    shared = [cache.threads for cache in inventory.caches if cache.level == last]
    llc = [next((at for at, group in enumerate(shared) if thread.id in group), -1 - thread.core) for thread in threads]
    node, socket = [thread.node for thread in threads], [thread.socket for thread in threads]
    units = {"same_llc_ns": llc, "same_node_ns": node}
    if len({(a, b) for a, b in zip(llc, node, strict=True)}) > len(set(llc)):  # a cache spans nodes
        units = {"same_node_ns": node, "same_llc_ns": llc}
    whole = {"same_core_ns": [thread.core for thread in threads], **units, "same_socket_ns": socket}
    whole["cross_socket_ns"] = [0] * len(threads)
    return [(key, np.array(unit, np.int64)) for key, unit in whole.items()]


def _remark_clusters(draft: Draft, times: CoreTimes, levels: Levels) -> None:
    """Say which groups of processors the matrix shows and the topology lacks, and which pairs fit no level."""
    known = {_partition(level.unit) for level in levels.levels}
    for level in found_levels(times).levels:
        groups = _partition(level.unit)
        if len(groups) > 1 and groups not in known:
            sizes = sorted({len(group) for group in groups})
            draft.remarks.append(
                f"{times.source}: {len(groups)} groups of {', '.join(map(str, sizes))} processors pass a line in "
                f"{level.median_ns:.1f} ns; the topology has no such units"
            )
    if levels.odd:
        a, b = levels.odd[0]
        draft.remarks.append(
            f"{times.source}: {len(levels.odd)} pairs differ from their level by half or more, such as {a} and {b}"
        )


def _partition(unit: Ints) -> frozenset[frozenset[int]]:
    return frozenset(frozenset(np.flatnonzero(unit == each).tolist()) for each in np.unique(unit))


def _put_matrix(draft: Draft, times: CoreTimes, threads: Sequence[Thread], levels: Levels) -> None:
    """Take the matrix in place of levels; a core's time is the mean over its hardware threads."""
    ns = times.both_ways
    place = {core: at for at, core in enumerate(draft.cores)}
    core = np.array([place[thread.core] for thread in threads])
    sums, counts = np.zeros((2, len(place), len(place)))
    off = ~np.eye(len(ns), dtype=bool)
    np.add.at(sums, (core[:, None], core), np.where(off, ns, 0))
    np.add.at(counts, (core[:, None], core), off)
    own = draft.values["coherence"]["same_core_ns"]
    mean = np.where(counts > 0, sums / np.maximum(counts, 1), float(own))
    draft.put(
        "coherence",
        {"cores_ns": [[Decimal(f"{value:.1f}") for value in row] for row in mean.tolist()]},
        f"measured: {times.source}; a tenth of all pairs is {np.percentile(levels.errors, 90):.0%} or more off levels",
    )
