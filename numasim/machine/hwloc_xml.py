"""The inventory of a topology that hwloc exported as XML in version 1, 2 or 3 of the format.

A processor is a hardware thread (hwloc's PU), a node a NUMA node. This module relates objects by their sets of
processors, because nesting differs between versions: a node contains its cores in version 1 and stands beside its cores
from version 2 on. In version 1 an object contains the distances, as multiples of a base, between objects below it. From
version 2 on a matrix of distances lists its nodes by number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from numasim.errors import InputError
from numasim.files.bounded_xml import PlacedElement as Element
from numasim.files.bounded_xml import read_xml
from numasim.files.reader import HWLOC, whole_number
from numasim.machine.inventory import Cache, Clock, Inventory, Thread, Values, clock_in, memory_fields
from numasim.parts.base import MOST_PROCESSORS, as_list
from numasim.parts.yaml.nodes import shown

_CACHE = re.compile(r"L(\d)Cache")  # instruction caches are L1iCache
_INSTRUCTION = "2"
_FEW_DIGITS = re.compile(r"[0-9]{1,15}")
_DISTANCE = re.compile(r"[0-9]{1,10}(\.[0-9]{0,10})?")
LATENCIES = "NUMALatency"  # hwloc's name of the matrix of firmware's distances
BANDWIDTHS = 8  # the bit in a matrix's ``kind`` that says that its values are bandwidths
WORD = 32  # bits of a group of a bitmap
_GROUP = re.compile(r"(0x)?[0-9a-fA-F]{0,8}")  # 32 bits of a bitmap
MOST_MEMBERS = 1_000_000  # most members of all sets of processors together


@dataclass(frozen=True)
class _Object:
    """An object with its processors and its depth below the root."""

    element: Element
    cpus: frozenset[int]
    depth: int

    def number(self, name: str) -> int:
        """Return the attribute as a whole number, 0 if there is no such attribute."""
        return _number(self.element, name)


def read_hwloc_xml(path: Path) -> Inventory:
    """Return the inventory in a file; raise InputError if the file is no topology of a machine."""
    root = read_xml(path, HWLOC)
    if root.tag != "topology":
        problem = f"the root is <{root.tag}>"
        raise InputError(problem, place=f"{path}:{root.line}", expected="<topology>, as lstopo writes it")
    try:
        return _inventory(root, path)
    except InputError as error:
        place = f"{path}:{error.place}" if error.place else str(path)
        raise InputError(error.problem, place=place, expected=error.expected) from None


def _refused(element: Element, problem: str, expected: str) -> InputError:
    """Return an error whose place is the line of an element."""
    return InputError(problem, place=str(element.line), expected=expected)


def _inventory(root: Element, path: Path) -> Inventory:
    objects = _bounded(_objects(root, 0))
    if not objects:
        raise InputError("there is no object in <topology>", expected="a Machine with PU objects")
    processors = _of_type(objects, "PU")
    usable = frozenset(pu.number("os_index") for pu in processors) & _allowed(objects[0])
    if not usable:
        raise InputError("there is no PU that may be used", expected="at least one")
    nodes = _of_type(objects, "NUMANode") or [objects[0]]
    memory_bytes = _memory_bytes(objects[0], nodes)
    homes = _homes(usable, nodes, memory_bytes)
    lost = _without_node(usable - homes.keys(), objects, memory_bytes)
    homes |= lost
    speeds, speed_source = _speeds(root, usable)
    by_id = {node.element.get("gp_index") or "": node.number("os_index") for node in nodes}
    bandwidths, latencies, left_out = _memory_attributes(root, by_id, homes)
    version = (root.get("version") or "1").split(".")[0]
    return Inventory(
        origin=f"hwloc XML of version {version}, {path.name}",
        threads=tuple(_threads(objects, homes)),
        caches=tuple(_caches(objects)),
        memory_bytes=memory_bytes | dict.fromkeys(lost.values(), 0),
        distance=_distances(root, objects, nodes),
        clock=_clock(root),
        page_bytes=_page_bytes(root),
        remarks=(*_left_out(root, objects, processors, usable), *_said_of(lost), *left_out),
        beside=_beside(nodes, homes),
        speeds=speeds,
        speed_source=speed_source,
        memory_kind=_memory_kinds(nodes),
        memoryless=frozenset(lost.values()),
        memory_source="the memory attributes there, which firmware gives",
        **memory_fields(bandwidths, latencies, MIB_PER_GB),
        unsaid=frozenset(_unsaid(root, objects, usable)),
    )


def _objects(parent: Element, depth: int) -> Iterator[_Object]:
    for element in parent.children("object"):
        yield _Object(element, _cpus(element, "cpuset"), depth)
        yield from _objects(element, depth + 1)


def _bounded(objects: Iterable[_Object]) -> list[_Object]:
    found, members = [], 0
    for each in objects:
        members += len(each.cpus)
        if members > MOST_MEMBERS:
            problem = f"the cpusets up to here have more than {MOST_MEMBERS:,} processors together"
            raise _refused(each.element, problem, "a machine of fewer processors")
        found.append(each)
    return found


def _number(element: Element, name: str) -> int:
    text = element.get(name, "0")
    try:
        return whole_number(text)
    except ValueError:
        raise _refused(element, f"{name} of <{element.tag}> is {shown(text)}", "a whole number") from None


def _cpus(element: Element, name: str) -> frozenset[int]:
    """Return the processors of a bitmap: groups of 32 bits in hexadecimal, the highest first; empty stands for 0."""
    text = element.get(name) or ""
    words = text.split(",")
    if len(words) > MOST_PROCESSORS // WORD or not all(map(_GROUP.fullmatch, words)):
        expected = f"such as 0x0000ffff, with processors below {MOST_PROCESSORS:,}"
        raise _refused(element, f"the {name} {shown(text)} is no bitmap", expected)
    bits = ((place * WORD, int(word, 16)) for place, word in enumerate(reversed(words)) if word.strip("0x"))
    return frozenset(first + bit for first, word in bits for bit in range(WORD) if word >> bit & 1)


def _of_type(objects: list[_Object], *names: str) -> list[_Object]:
    return [each for each in objects if each.element.get("type") in names]


def _allowed(machine: _Object) -> frozenset[int]:
    """Return the processors that are online and may be used; an export may list other processors, too."""
    allowed = machine.cpus
    for name in ("allowed_cpuset", "online_cpuset"):
        allowed &= _cpus(machine.element, name) or allowed
    return allowed


def _homes(usable: frozenset[int], nodes: list[_Object], memory_bytes: dict[int, int]) -> dict[int, int]:
    """Return {processor: its node}: of the nodes that list the processor, the one that lists the fewest processors; of
    several, one with memory. So nodes of CXL memory and HBM, which list the processors near them, get none.
    """
    nearest = sorted(
        (len(node.cpus), not memory_bytes[node.number("os_index")], node.number("os_index"), node.cpus)
        for node in nodes
    )  # fmt: skip
    homes: dict[int, int] = {}
    for *_, number, cpus in nearest:
        homes |= dict.fromkeys(cpus & usable - homes.keys(), number)
    return homes


def _without_node(lost: frozenset[int], objects: list[_Object], known: dict[int, int]) -> dict[int, int]:
    """Return {processor: node} for the processors ``lost``, which are in no NUMANode: hwloc leaves out nodes without
    memory.

    A processor's ``complete_nodeset`` gives the number of its node if only one number there is unknown. Otherwise all
    such processors of a package are on one new node.
    """
    homes: dict[int, int] = {}
    new: dict[int, int] = {}
    fresh = max(known, default=0) + 1
    packages = _of_type(objects, "Package", "Socket")
    for cpu in sorted(lost):
        unit = next((unit for unit in _of_type(objects, "PU") if cpu in unit.cpus), None)
        whole = _cpus(unit.element, "complete_nodeset") - known.keys() if unit else frozenset()
        package = min((min(each.cpus) for each in packages if cpu in each.cpus), default=0)
        if len(whole) == 1:
            homes[cpu] = min(whole)
        else:
            homes[cpu] = new.setdefault(package, fresh + len(new))
    return homes


def _said_of(lost: dict[int, int]) -> Iterator[str]:
    for node in sorted(set(lost.values())):
        cpus = frozenset(cpu for cpu, home in lost.items() if home == node)
        yield f"processors {as_list(cpus)} are in no NUMANode: they are a node without memory here"


def _memory_kinds(nodes: list[_Object]) -> dict[int, str]:
    """Return {node: kind of memory, such as HBM}: its subtype, in version 1 its info ``Type``; SPM means HBM."""
    kinds = {}
    for node in nodes:
        own = next((info.get("value", "") for info in node.element.children("info") if info.get("name") == "Type"), "")
        kind = node.element.get("subtype") or own
        kinds[node.number("os_index")] = "HBM" if kind == "SPM" else kind
    return {number: kind for number, kind in kinds.items() if kind}


def _threads(objects: list[_Object], homes: dict[int, int]) -> Iterator[Thread]:
    around: dict[int, list[_Object]] = {cpu: [] for cpu in sorted(homes)}
    for each in objects:
        for cpu in each.cpus & homes.keys():
            around[cpu].append(each)
    return (_thread(cpu, found, homes[cpu]) for cpu, found in around.items())


def _thread(cpu: int, around: list[_Object], home: int) -> Thread:
    """Return the hardware thread ``cpu``, which lies within the objects ``around``."""
    core = min(min((each.cpus for each in _of_type(around, "Core")), default=frozenset({cpu})))
    socket = min(min((each.cpus for each in _of_type(around, "Package", "Socket")), default=frozenset({0})))
    return Thread(cpu, core, socket, home)


def _unsaid(root: Element, objects: list[_Object], usable: frozenset[int]) -> Iterator[str]:
    """Yield what the file does not say of some processors: ``sockets``, ``cores``, or ``speeds`` of kinds of cores."""
    for name, types in (("sockets", ("Package", "Socket")), ("cores", ("Core",))):
        if usable.difference(*(each.cpus for each in _of_type(objects, *types))):
            yield name
    if list(_kinds_without_speed(root, usable)):
        yield "speeds"


def _memory_bytes(machine: _Object, nodes: list[_Object]) -> dict[int, int]:
    """Return {node: bytes of memory}, 0 for nodes that may not be used."""
    allowed = _cpus(machine.element, "allowed_nodeset")
    sizes = {node.number("os_index"): node.number("local_memory") for node in nodes}
    return {node: size if node in allowed or not allowed else 0 for node, size in sizes.items()}


def _beside(nodes: list[_Object], homes: dict[int, int]) -> dict[int, int]:
    """Return {node without processors of its own: node of the first usable processor that it lists}."""
    used = set(homes.values())
    near = {node.number("os_index"): node.cpus & homes.keys() for node in nodes}
    return {node: homes[min(cpus)] for node, cpus in near.items() if cpus and node not in used}


_SPEEDS = {
    "LinuxCapacity": "the capacities there",
    "FrequencyMaxMHz": "their highest clocks there",
    "FrequencyBaseMHz": "their base clocks there",
}


def _speeds(root: Element, usable: frozenset[int]) -> tuple[dict[int, int], str]:
    """Return ({processor: speed}, source) by the first measure of `_SPEEDS` that all usable processors have."""
    for name, source in _SPEEDS.items():
        speeds = {
            cpu: int(text)
            for kind in root.children("cpukind")
            for text in _infos(kind, name)
            if _FEW_DIGITS.fullmatch(text)
            for cpu in _cpus(kind, "cpuset") & usable
        }
        if speeds.keys() == usable:
            return speeds, source
    return {}, ""


def _kinds_without_speed(root: Element, usable: frozenset[int]) -> Iterator[str]:
    """Yield a remark if the topology has several kinds of processors without a speed for each kind."""
    kinds = [(_cpus(kind, "cpuset") & usable, kind) for kind in root.children("cpukind")]
    names = [
        f"{next(_infos(kind, 'CoreType'), 'a kind')} on processors {as_list(cpus)}" for cpus, kind in kinds if cpus
    ]
    if len(names) > 1 and not _speeds(root, usable)[0]:
        yield f"{len(names)} kinds of cores have no speed there ({', '.join(names)}): all are simulated at full speed"


def _caches(objects: list[_Object]) -> Iterator[Cache]:
    for each in objects:
        found = _CACHE.fullmatch(each.element.get("type", ""))
        old = each.element.get("type") == "Cache" and each.element.get("cache_type") != _INSTRUCTION
        size_bytes = each.number("cache_size")
        if found or old:
            level = int(found[1]) if found else each.number("depth")
            yield Cache(level, size_bytes, each.number("cache_linesize"), each.cpus)


def _distances(root: Element, objects: list[_Object], nodes: list[_Object]) -> dict[tuple[int, int], Decimal]:
    for matrix in root.children("distances2"):
        named = matrix.get("name", LATENCIES) == LATENCIES and not _number(matrix, "kind") & BANDWIDTHS
        if matrix.get("type") == "NUMANode" and named:
            key = "os_index" if matrix.get("indexing") == "os" else "gp_index"
            ids = {node.element.get(key): node.number("os_index") for node in nodes}
            order = _words(matrix, "indexes")
            if set(order) <= set(ids):
                return _matrix([ids[each] for each in order], _words(matrix, "u64values"), "1")
    return _old_distances(objects, nodes)


def _words(matrix: Element, tag: str) -> list[str]:
    return [word for part in matrix.children(tag) for word in (part.text or "").split()]


def _old_distances(objects: list[_Object], nodes: list[_Object]) -> dict[tuple[int, int], Decimal]:
    """Return the distances between nodes in version 1: an object has those of all objects at some depth below it."""
    for each in objects:
        for matrix in each.element.children("distances"):
            deep = each.depth + _number(matrix, "relative_depth")
            if _number(matrix, "nbobjs") == len(nodes) and all(node.depth == deep for node in nodes):
                values = [value.get("value", "") for value in matrix.children("latency")]
                order = [node.number("os_index") for node in nodes]
                base = matrix.get("latency_base", "1")
                return _matrix(order, values if _DISTANCE.fullmatch(base) else [], base)
    return {}


def _matrix(order: list[int], values: list[str], base: str) -> dict[tuple[int, int], Decimal]:
    count = len(order) ** 2
    numbers = [Decimal(value) * Decimal(base) for value in values if _DISTANCE.fullmatch(value)]
    if len(numbers) != len(values) or len(numbers) != count or not all(numbers):
        problem = f"the distances of {len(order)} nodes are not {count} numbers above 0"
        raise InputError(problem, expected="a full matrix")
    return dict(zip(((a, b) for a in order for b in order), numbers, strict=True))


def _infos(root: Element, name: str) -> Iterator[str]:
    for info in root.iter("info"):
        if info.get("name") == name:
            yield info.get("value", "")


def _clock(root: Element) -> Clock | None:
    base_mhz = [int(text) for text in _infos(root, "FrequencyBaseMHz") if _FEW_DIGITS.fullmatch(text)]
    if base_mhz:
        return Clock(Decimal(max(base_mhz)) / 1000, "read: FrequencyBaseMHz")
    named = (clock_in(text, f"derived: the name of the processor, {text!r}") for text in _infos(root, "CPUModel"))
    return next(filter(None, named), None)


def _page_bytes(root: Element) -> int | None:
    sizes = (page.get("size", "") for page in root.iter("page_type"))
    more = (size for text in _infos(root, "PageSizes") for size in text.split(","))  # from version 3 on
    return min(filter(None, (int(size) for size in (*sizes, *more) if _FEW_DIGITS.fullmatch(size))), default=None)


_USED = {"Machine", "Package", "Socket", "NUMANode", "Core", "PU", "Cache", "L1iCache", "L2iCache", "L3iCache"}


def _left_out(
    root: Element, objects: list[_Object], processors: list[_Object], usable: frozenset[int]
) -> Iterator[str]:
    lost = frozenset(pu.number("os_index") for pu in processors) - usable
    if lost:
        yield f"processors {as_list(lost)} are offline or may not be used and are left out"
    if _of_type(objects, "MemCache"):
        yield "caches on the side of memory are left out"
    types = Counter(each.element.get("type", "") for each in objects)
    others = {name: n for name, n in types.items() if name not in _USED | {"MemCache"} and not _CACHE.fullmatch(name)}
    if others:
        yield f"objects that a machine file does not have: {', '.join(f'{n} {name}' for name, n in others.items())}"
    yield from _kinds_without_speed(root, usable)
    matrices = [matrix.get("name") or "without a name" for matrix in root.children("distances2")]
    if unused := [name for name in matrices if name not in (LATENCIES, "without a name")]:
        yield f"distances left out: {', '.join(unused)}"


# ---- Bandwidths and latencies of memory: memory attributes, which firmware gives (ACPI HMAT) -------------------------
#
# A value describes the memory of one node as seen from a set of processors, hwloc's initiator. hwloc has bandwidths in
# MiB/s and latencies in nanoseconds (hwloc/memattrs.h).

MIB_PER_GB = Decimal(2**20) / Decimal(10**9)
_READ_AND_WRITE = {name: (f"Read{name}", f"Write{name}") for name in ("Bandwidth", "Latency")}
_KNOWN = {"Capacity", "Locality", *_READ_AND_WRITE, *(name for pair in _READ_AND_WRITE.values() for name in pair)}
Access = tuple[int, frozenset[int]]  # the node of the memory, and processors that access the memory


def _memory_attributes(
    root: Element, nodes: Mapping[str, int], homes: Mapping[int, int]
) -> tuple[dict[int, Values], dict[tuple[int, int], Values], list[str]]:
    """Return ({node: bandwidth of its memory}, {(from node, to node): latency}, remarks).

    ``nodes`` are the numbers of nodes by their ``gp_index``, ``homes`` the nodes of usable processors. The bandwidth of
    a node's memory is the highest one that any set of processors sees. The latency from a node is the value for the
    smallest set that includes all processors of the node. Values of 0 are ignored. Separate values for reading and
    writing count only if there is no common value.
    """
    found = {name: _attribute(root, name, nodes) for name in _READ_AND_WRITE}
    ascending = sorted(found["Bandwidth"].items(), key=lambda item: sum(item[1]) / len(item[1]))
    latencies = _latencies(found["Latency"], homes)
    bandwidths = {node: values for (node, _), values in ascending}
    return bandwidths, latencies, list(_left_out_of_memory(root, found, latencies))


def _attribute(root: Element, name: str, nodes: Mapping[str, int]) -> dict[Access, Values]:
    """Return the value of an attribute for each access, or, if there is none, those for reading and for writing."""
    said: dict[Access, Values] = {}
    for part in _READ_AND_WRITE[name]:
        for key, value in _values(root, part, nodes).items():
            said[key] = [*said.get(key, ()), value]
    return said | {key: [value] for key, value in _values(root, name, nodes).items()}


def _values(root: Element, name: str, nodes: Mapping[str, int]) -> dict[Access, Decimal]:
    objects = {each.get("gp_index"): each for each in root.iter("object")}
    values: dict[Access, Decimal] = {}
    for attribute in root.children("memattr"):
        if attribute.get("name") != name:
            continue
        for each in attribute.children("memattr_value"):
            node = nodes.get(each.get("target_obj_gp_index", ""))
            text = each.get("value", "")
            place = objects.get(each.get("initiator_obj_gp_index"))
            cpus = _cpus(each, "initiator_cpuset") or (
                _cpus(place, "cpuset") if isinstance(place, Element) else frozenset()
            )
            if node is not None and cpus and _FEW_DIGITS.fullmatch(text) and int(text):
                values[node, cpus] = Decimal(text)
    return values


def _latencies(found: Mapping[Access, Values], homes: Mapping[int, int]) -> dict[tuple[int, int], Values]:
    own: dict[int, set[int]] = {}
    for cpu, node in homes.items():
        own.setdefault(node, set()).add(cpu)
    latency: dict[tuple[int, int], Values] = {}
    for (memory, cpus), said in sorted(found.items(), key=lambda item: (-len(item[0][1]), min(item[0][1]))):
        latency |= {(node, memory): said for node, mine in own.items() if mine <= cpus}
    return latency


def _left_out_of_memory(
    root: Element, found: Mapping[str, Mapping[Access, Values]], latency: Mapping[tuple[int, int], object]
) -> Iterator[str]:
    others = [name for each in root.children("memattr") if (name := each.get("name") or "?") not in _KNOWN]
    if others:
        yield f"memory attributes left out: {', '.join(others)}"
    if found["Latency"] and not latency:
        yield f"{len(found['Latency'])} latencies are those of parts of nodes, and left out"
