"""Every mark of an import, and the value beside it, is the one that a second reader finds: over 300 machine files.

A value that the file gives is read; one that follows from given values by a rule is derived; any other is assumed. The
second reader is `given_values`. Numbers of nodes, cores and caches are held in `test_hwloc_topologies`.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from firmware import SAYINGS
from given_values import Given, given_in_sysfs, given_in_xml, mean
from synthetic_topologies import ARCHIVE, names
from sysfs_trees import CHANGES, TREES
from test_hwloc_topologies import HERE, REFUSED, topologies

from numasim.machine.importing import import_machine
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.nodes_model import NodesSpec
from numasim.parts.models.sources import mark_of

Part = tuple[Any, set[Any], set[Any]]  # a value; what it is if it is read; what it is if it is derived
COUNTS = ("nodes", "nodes.threads_per_core", "caches.llc_scope", "caches.cores_per_llc", "caches.llc_cores")
UNSAID = ("coherence", "smt", "caches.llc_hit_ns", "caches.llc_remote_hit_ns", "links.between", "links.bandwidth_gbs")
FEW = (
    *("one-core", "two-packages", "two-nodes-a-package", "machine-and-packages", "some-nodes-have-none", "smt-4"),
    *("lost-core", "memory-lost", "cores-of-nodes-lost", "forbidden-memory", "forbidden-package", "nodes-of-groups"),
)
FEW_TREES = ("a sibling is offline", "two nodes a socket", "a node without memory", "a node without processors")
IN_SYSFS = re.compile(r"/sys/devices/system/(?!.*/(power|cpuidle|stats)/)")  # less than half of the files
BESIDE = next((each for each in HERE.parents if (each / "shared/data").is_dir()), HERE)
MEASURED = BESIDE / "shared/data/measured/topo"  # beside a checkout, or nowhere


def mark(*parts: Part) -> str:
    """The mark of a field with these values."""
    if not all(read or derived for _, read, derived in parts):
        return "assumed"
    assert all(value in read | derived for value, read, derived in parts), parts
    return "read" if all(value in read for value, read, _ in parts) else "derived"


def of_memory(value: Decimal | None, said: list[Decimal]) -> Part:
    """A bandwidth or latency that is given alike for reading and writing, or is the mean of both."""
    found = {mean(said)} if said else set()
    return (value, found, set()) if len(set(said)) == 1 else (value, set(), found)


def marks_of_nodes(spec: MachineSpec, numbers: tuple[int, ...], given: Given) -> Iterator[tuple[str, str]]:
    sockets = mark((spec.sockets, given.sockets(), set()))
    nodes = list(zip(numbers, spec.node_shapes, strict=True))
    lone = {number for number, node in nodes if not node.cores}
    yield from [("sockets", sockets), ("nodes.per_socket", sockets)]
    yield "nodes.socket", "assumed" if sockets == "assumed" or lone - given.near else "derived" if lone else "read"
    yield "nodes.cores", "read" if given.has_cores() else "assumed"
    sizes = list(filter(None, given.memory.values()))
    least = {min(sizes)} if sizes and isinstance(spec.nodes, NodesSpec) else set()
    memory = [(node.memory, {given.memory.get(at, 0)} if sizes else set(), least) for at, node in nodes]
    yield "nodes.memory", mark(*memory)
    controllers = [(node.imc_bandwidth_gbs, given.controller(at)) for at, node in nodes if node.memory]
    yield "nodes.imc_bandwidth_gbs", mark(*(of_memory(*each) for each in controllers))
    ppm = {capacity * 10**6 // max(given.capacities) for capacity in given.capacities}
    yield "nodes.cores.speed_ppm", mark(*((kind.speed_ppm, set(), ppm) for _, node in nodes for kind in node.kinds))
    rows = zip(nodes, spec.latency_ns or [[spec.local_latency_ns]], strict=True)
    loads = [(a, b, value) for a, row in rows for b, value in zip(nodes, row, strict=True) if a[1].cores]
    latencies = [
        of_memory(value, given.load(reader, to))
        for (reader, _), (to, node), value in loads
        if node.memory or to != reader  # the latency of a node without memory to itself is not used
    ]
    yield from [("latency_ns", mark(*latencies)), ("local_latency_ns", mark(*latencies))]


def marks_of_the_rest(spec: MachineSpec, given: Given) -> Iterator[tuple[str, str]]:
    for level, sizes in given.sizes.items():
        most = max(sizes, key=lambda size: (sizes[size], size))
        read = {most} if sizes[most] == given.threads.bit_count() else set()
        if f"caches.l{level}" in spec.sources:
            yield f"caches.l{level}", mark((getattr(spec.caches, f"l{level}"), read, {most}))
    last = set(given.sizes[max(given.sizes)]) if given.sizes else set()
    yield "caches.llc", mark((spec.caches.llc or max(last, default=0), last, set()))
    yield "caches.llc_sizes", mark(*((size, last, set()) for size in spec.caches.llc_sizes or ()))
    yield "clock.base_ghz", mark((spec.clock.base_ghz, given.base_ghz, set() if given.base_ghz else given.named_ghz))
    yield "page", mark((spec.page, given.pages - {0}, set()))
    yield "line", mark((spec.line, given.lines - {0}, set()))
    yield from {**dict.fromkeys(COUNTS, "read"), **dict.fromkeys(UNSAID, "assumed")}.items()


def check(path: Path) -> None:
    draft = import_machine(sysfs=path, name="copy") if path.is_dir() else import_machine(path)
    given, spec = given_in_sysfs(path) if path.is_dir() else given_in_xml(path), draft.check()
    expected = dict([*marks_of_nodes(spec, draft.nodes, given), *marks_of_the_rest(spec, given)])
    parts = dict.fromkeys(("nodes.socket", "nodes.cores"), draft.sources.get("nodes", ""))  # which share its source
    sources = {**{field: source for field, source in parts.items() if source}, **draft.sources}
    found = {field: mark_of(source) for field, source in sources.items()}
    assert found == {field: expected[field] for field in found}


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("name", [name for name in names() if name.partition("-")[2] not in REFUSED])
def test_marks_of_made_up_systems(name: str, synthetic: Path) -> None:
    check(synthetic / f"{name}.xml")


@pytest.mark.parametrize("saying", SAYINGS)
@pytest.mark.parametrize("name", FEW)
def test_marks_of_systems_that_say_more_or_less(name: str, saying: str, synthetic: Path, tmp_path: Path) -> None:
    tree = ElementTree.parse(synthetic / f"v2-{name}.xml")
    SAYINGS[saying].add_to_xml(tree.getroot())
    tree.write(tmp_path / "system.xml")
    check(tmp_path / "system.xml")


@pytest.mark.parametrize(
    ("name", "change"), [*product(TREES, ("as it is", "memory that may not be used")), *product(FEW_TREES, SAYINGS)]
)
def test_marks_of_made_up_copies_of_sysfs(name: str, change: str, tmp_path: Path) -> None:
    root = TREES[name].write(tmp_path / "sys")
    (CHANGES[change] if change in CHANGES else SAYINGS[change].add_to_sysfs)(root)
    check(root)


@pytest.mark.parametrize("path", [*topologies(HERE), *sorted(MEASURED.glob("*.xml"))], ids=lambda path: path.stem)
def test_marks_of_real_machines(path: Path) -> None:
    check(path)


@pytest.mark.parametrize("path", sorted(MEASURED.glob("sysfs_*.tar.gz")), ids=lambda path: path.name)
def test_marks_of_copies_of_real_sysfs(path: Path, tmp_path: Path) -> None:
    with tarfile.open(path) as archive:
        parts = [each for each in archive if IN_SYSFS.search(each.name) and not each.isdev()]
        archive.extractall(tmp_path, parts, filter="tar")
    check(next(tmp_path.glob("*/sys")))
