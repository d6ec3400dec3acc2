"""A topology that hwloc exported as XML, versions 1, 2 and 3 of its format, as an inventory.

Objects are related by their sets of processors and not by nesting, which differs: in version 1 a node contains its
cores, from version 2 on it is their sibling. Version 1 attaches distances to an object and gives them as multiples of a
base; later ones list the objects by number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from numasim.errors import InputError
from numasim.machine.inventory import Cache, Clock, Inventory, Thread, as_list

_CACHE = re.compile(r"L(\d)Cache")  # instruction caches are L1iCache
_INSTRUCTION = "2"
EXPECTED = "hwloc XML, as lstopo writes it"


@dataclass(frozen=True)
class _Object:
    """An object with its processors and its depth below the root."""

    element: Element
    cpus: frozenset[int]
    depth: int

    def number(self, name: str) -> int:
        """The attribute as a whole number, 0 where there is none."""
        return _number(self.element, name)


def read_hwloc_xml(path: Path) -> Inventory:
    """Read the file. InputError, with the place, where it is not XML, not hwloc's, or lacks what a machine needs."""
    root = _parsed(path)
    try:
        return _inventory(root, path)
    except InputError as error:
        raise InputError(error.problem, place=str(path), expected=error.expected) from None


def _parsed(path: Path) -> Element:
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}", expected="hwloc XML, as lstopo writes it"
        ) from None
    except (ElementTree.ParseError, UnicodeError, LookupError, ValueError) as error:
        raise InputError(f"no XML: {error}", place=str(path), expected=EXPECTED) from None
    if root.tag != "topology":
        raise InputError(f"the root is <{root.tag}>", place=str(path), expected="<topology>, as lstopo writes it")
    return root


def _inventory(root: Element, path: Path) -> Inventory:
    objects = list(_objects(root, 0))
    if not objects:
        raise InputError("there is no object in <topology>", expected="a Machine with PU objects")
    processors = _of_type(objects, "PU")
    usable = frozenset(pu.number("os_index") for pu in processors) & _allowed(objects[0])
    if not usable:
        raise InputError("there is no PU that may be used", expected="at least one")
    nodes = _of_type(objects, "NUMANode") or [objects[0]]
    return Inventory(
        origin=f"hwloc XML of version {_version(root)}, {path.name}",
        threads=tuple(_thread(cpu, objects, nodes) for cpu in sorted(usable)),
        caches=tuple(_caches(objects)),
        memory_bytes={node.number("os_index"): node.number("local_memory") for node in nodes},
        distance=_distances(root, objects, nodes),
        clock=_clock(root),
        page_bytes=_page_bytes(root),
        remarks=tuple(_left_out(processors, usable)),
    )


def _version(root: Element) -> str:
    return (root.get("version") or "1").split(".")[0]


def _objects(parent: Element, depth: int) -> Iterator[_Object]:
    for element in parent.findall("object"):
        yield _Object(element, _cpus(element.get("cpuset")), depth)
        yield from _objects(element, depth + 1)


def _number(element: Element, name: str) -> int:
    text = element.get(name, "0")
    if not re.fullmatch(r"-?\d+", text):
        raise InputError(f"{name} of <{element.tag}> is {text!r}", expected="a whole number")
    return int(text)


def _cpus(text: str | None) -> frozenset[int]:
    """The numbers of a bitmap: 32-bit groups in hexadecimal, the highest first, empty if they are 0."""
    words = (text or "").split(",")
    try:
        bits = sum(int(word or "0", 16) << 32 * place for place, word in enumerate(reversed(words)))
    except ValueError:
        raise InputError(f"the cpuset {text!r} is no bitmap", expected="such as 0x0000ffff") from None
    return frozenset(place for place, bit in enumerate(reversed(f"{bits:b}")) if bit == "1")


def _of_type(objects: list[_Object], *names: str) -> list[_Object]:
    return [each for each in objects if each.element.get("type") in names]


def _allowed(machine: _Object) -> frozenset[int]:
    """Processors that are online and may be used; cpusets contain only these unless the whole system was exported."""
    allowed = machine.cpus
    for name in ("allowed_cpuset", "online_cpuset"):
        allowed &= _cpus(machine.element.get(name)) or allowed
    return allowed


def _thread(cpu: int, objects: list[_Object], nodes: list[_Object]) -> Thread:
    around = [each for each in objects if cpu in each.cpus]
    core = min(min((each.cpus for each in _of_type(around, "Core")), default=frozenset({cpu})))
    socket = min(min((each.cpus for each in _of_type(around, "Package", "Socket")), default=frozenset({0})))
    homes = [node.number("os_index") for node in nodes if cpu in node.cpus]
    return Thread(cpu, core, socket, min(homes, default=nodes[0].number("os_index")))


def _caches(objects: list[_Object]) -> Iterator[Cache]:
    for each in objects:
        found = _CACHE.fullmatch(each.element.get("type", ""))
        old = each.element.get("type") == "Cache" and each.element.get("cache_type") != _INSTRUCTION
        size_bytes = each.number("cache_size")
        if (found or old) and size_bytes:
            level = int(found[1]) if found else each.number("depth")
            yield Cache(level, size_bytes, each.number("cache_linesize"), each.cpus)


def _distances(root: Element, objects: list[_Object], nodes: list[_Object]) -> dict[tuple[int, int], Decimal]:
    for matrix in root.findall("distances2"):
        if matrix.get("type") == "NUMANode" and matrix.get("name", "NUMALatency") == "NUMALatency":
            key = "os_index" if matrix.get("indexing") == "os" else "gp_index"
            ids = {node.element.get(key): node.number("os_index") for node in nodes}
            order = _words(matrix, "indexes")
            if set(order) <= set(ids):
                return _matrix([ids[each] for each in order], _words(matrix, "u64values"), "1")
    return _old_distances(objects, nodes)


def _words(matrix: Element, tag: str) -> list[str]:
    return [word for part in matrix.findall(tag) for word in (part.text or "").split()]


def _old_distances(objects: list[_Object], nodes: list[_Object]) -> dict[tuple[int, int], Decimal]:
    """Distances of version 1: an object holds those between all objects at a given depth below it."""
    for each in objects:
        for matrix in each.element.findall("distances"):
            deep = each.depth + _number(matrix, "relative_depth")
            if _number(matrix, "nbobjs") == len(nodes) and all(node.depth == deep for node in nodes):
                values = [value.get("value", "") for value in matrix.findall("latency")]
                order = [node.number("os_index") for node in nodes]
                return _matrix(order, values, matrix.get("latency_base", "1"))
    return {}


def _matrix(order: list[int], values: list[str], base: str) -> dict[tuple[int, int], Decimal]:
    pairs = [(a, b) for a in order for b in order]
    try:
        numbers = [Decimal(value) * Decimal(base) for value in values]
    except InvalidOperation:
        numbers = []
    if len(numbers) != len(pairs) or not all(number.is_finite() and number > 0 for number in numbers):
        raise InputError(
            f"the distances of {len(order)} nodes are not {len(pairs)} numbers above 0", expected="a full matrix"
        )
    return dict(zip(pairs, numbers, strict=True))


def _infos(root: Element, name: str) -> Iterator[str]:
    for info in root.iter("info"):
        if info.get("name") == name:
            yield info.get("value", "")


def _clock(root: Element) -> Clock | None:
    base_mhz = [int(text) for text in _infos(root, "FrequencyBaseMHz") if text.isdigit()]
    if base_mhz:
        return Clock(Decimal(max(base_mhz)) / 1000, "FrequencyBaseMHz")
    for text in _infos(root, "CPUModel"):
        found = re.search(r"@ *(\d+\.?\d*) *GHz", text)
        if found:
            return Clock(Decimal(found[1]), f"CPUModel {text!r}")
    return None


def _page_bytes(root: Element) -> int | None:
    sizes = [int(page.get("size", "0")) for page in root.iter("page_type") if page.get("size", "").isdigit()]
    return min(filter(None, sizes), default=None)


def _left_out(processors: list[_Object], usable: frozenset[int]) -> Iterator[str]:
    lost = frozenset(pu.number("os_index") for pu in processors) - usable
    if lost:
        yield f"processors {as_list(lost)} are offline or may not be used and are left out"
