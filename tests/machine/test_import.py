"""The import of a system is a valid machine file with the values of the system."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sysfs_trees import RING, TREES, Tree, put

from numasim.cli import main
from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.draft import Draft
from numasim.machine.measured_machine import import_machine
from numasim.machine.typical_values import LOCAL_NS
from numasim.parts.base import as_list, number_list
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.sources import mark_of, unsourced
from numasim.spec.single_part import read_machine

HWLOC = Path(__file__).parent / "hwloc"


def node_by_node(spec: MachineSpec) -> list[tuple[int, int, int, bool]]:
    """Return (socket, cores, hardware threads, whether there is memory) of each node."""
    return [(node.socket, node.cores, node.threads, node.memory > 0) for node in spec.node_shapes]


def imported(tmp_path: Path, tree: Tree) -> tuple[Draft, MachineSpec]:
    draft = import_machine(sysfs=tree.write(tmp_path / "sys"), name="made-up")
    return draft, draft.check()


@pytest.mark.parametrize("name", TREES)
def test_what_is_written_is_what_was_drafted_and_every_number_has_a_source(name: str, tmp_path: Path) -> None:
    file = tmp_path / "machine.yaml"
    sysfs = TREES[name].write(tmp_path / "sys")
    assert main(["machine", "import", "--sysfs", str(sysfs), "-o", str(file), "--name", "made-up"]) == 0
    spec = read_machine(str(file))
    assert spec == import_machine(sysfs=sysfs, name="made-up").check()
    assert unsourced(spec) == []
    assert main(["machine", "check", str(file)]) == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one node", [(0, 2, 2, True)]),
        ("two nodes with hardware threads", [(0, 6, 12, True), (1, 6, 12, True)]),
        ("eight nodes in a ring", [(socket, 2, 2, True) for socket in range(8)]),
        ("two nodes a socket", [(socket, 4, 4, True) for socket in (0, 0, 1, 1)]),
        ("clusters that share a cache", [(0, 8, 8, True)]),
        ("a core is offline", [(0, 4, 4, True), (1, 3, 3, True)]),
        ("a sibling is offline", [(0, 2, 3, True)]),
        ("a node without memory", [(0, 2, 2, True), (1, 2, 2, False)]),
        ("a node without processors", [(0, 2, 2, True), (1, 2, 2, True), (0, 0, 0, True)]),
        ("a control group", [(0, 2, 2, True), (1, 3, 3, True)]),
        ("a control group on one node", [(0, 4, 4, True), (0, 0, 0, True)]),
    ],
)
def test_the_nodes_are_the_systems(name: str, expected: list[tuple[int, int, int, bool]], tmp_path: Path) -> None:
    assert node_by_node(imported(tmp_path, TREES[name])[1]) == expected


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("a core is offline", "processors 5 are offline and left out"),
        ("a control group", "processors 0,3,7 may not be used here and are left out"),
        ("a control group on one node", "its nodes are numbers 1, 0 of the system, in this order"),
    ],
)
def test_what_a_machine_file_cannot_say_is_remarked(name: str, remark: str, tmp_path: Path) -> None:
    draft, _ = imported(tmp_path, TREES[name])
    assert remark in draft.remarks
    assert f"# {remark}\n" in draft.text()


def test_caches_are_shared_by_whom_the_system_says(tmp_path: Path) -> None:
    found = {name: imported(tmp_path / name, TREES[name])[1].caches for name in TREES}
    socket, node = found["two nodes with hardware threads"], found["two nodes a socket"]
    clusters = found["clusters that share a cache"]
    assert (socket.l1, socket.l2, socket.llc, socket.llc_scope) == (2**15, 2**20, 2**24, "socket")
    assert (node.llc, node.llc_scope) == (2**24, "node")
    assert (clusters.llc, clusters.llc_scope, clusters.cores_per_llc) == (2**24, "none", 4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one node", {"same_core_ns": 5, "same_socket_ns": 50}),
        ("two nodes a socket", {"same_core_ns": 5, "same_socket_ns": 50, "cross_socket_ns": 110}),
        ("clusters that share a cache", {"same_core_ns": 5, "same_llc_ns": 25, "same_socket_ns": 110}),
    ],
)
def test_lines_are_faster_within_one_of_several_caches_of_a_node(
    name: str, expected: dict[str, int], tmp_path: Path
) -> None:
    draft, spec = imported(tmp_path, TREES[name])
    assert draft.values["coherence"] == expected
    assert mark_of(draft.sources["coherence"]) == "assumed"
    assert spec.coherence.same_llc_ns == expected.get("same_llc_ns")


def test_a_second_level_that_cores_share_is_the_last_level(tmp_path: Path) -> None:
    root = Tree(cores=2).write(tmp_path)
    for cpu in (0, 1):
        put(root, f"devices/system/cpu/cpu{cpu}/cache/index2/shared_cpu_list", "0-1")
        for file in (root / f"devices/system/cpu/cpu{cpu}/cache/index3").iterdir():
            file.unlink()
    caches = import_machine(sysfs=root, name="old").check().caches
    assert (caches.l1, caches.l2, caches.llc, caches.llc_scope) == (2**15, 0, 2**20, "socket")


def test_latencies_follow_distances_and_links_are_those_that_distances_need(tmp_path: Path) -> None:
    _, spec = imported(tmp_path, TREES["eight nodes in a ring"])
    # A distance of 16 is 1.6 times the local distance; half of the additional 0.6 counts: 1.3 times 90 ns.
    assert spec.latency_ns == tuple(tuple(LOCAL_NS * (10 + far) / 20 for far in row) for row in RING)
    assert {link.between for link in spec.links} == {*((a, a + 1) for a in range(7)), (0, 7)}
    # a link has a third of the bandwidth of a controller, which has 5 GB/s for each of its two cores
    assert {link.bandwidth_gbs for link in spec.links} == {Decimal("3.3")}
    machine = build(spec)
    assert [[machine.hops(a, b) for b in range(8)] for a in range(8)] == [
        [(far - 10) // 6 for far in row] for row in RING
    ]


def test_a_node_that_spans_sockets_is_one_socket(tmp_path: Path) -> None:
    root = Tree(sockets=2).write(tmp_path)
    put(root, "devices/system/node/online", "0")
    put(root, "devices/system/node/node0/cpulist", "0-3")
    put(root, "devices/system/node/node0/distance", "10")
    draft = import_machine(sysfs=root, name="interleaved")
    assert node_by_node(draft.check()) == [(0, 4, 4, True)]
    assert "node 0 spans several sockets; each node is taken as a socket" in draft.remarks


def test_the_running_system_is_read() -> None:
    spec = import_machine(name="here").check()
    assert any(node.memory for node in spec.node_shapes)
    assert spec.threads >= 1


def test_the_clock_is_the_base_frequency(tmp_path: Path) -> None:
    root = Tree().write(tmp_path)
    put(root, "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3600000")
    assert import_machine(sysfs=root).check().clock.base_ghz == Decimal("3.6")
    put(root, "devices/system/cpu/cpu0/cpufreq/base_frequency", "2100000")
    assert import_machine(sysfs=root).check().clock.base_ghz == Decimal("2.1")


# ---- hwloc: the figures that lstopo prints for these files


@pytest.mark.parametrize(
    ("file", "nodes", "node"),
    [
        ("v2-2amd64-lstopo", 1, (2, 2, 25274793984)),
        ("v3-24em64t-2n6c2t-pci", 2, (6, 12, 19316633600)),
        ("v3-16amd64-4distances", 8, (2, 2, 8587984896)),
    ],
)
def test_nodes_of_hwlocs_xml(file: str, nodes: int, node: tuple[int, int, int]) -> None:
    draft = import_machine(HWLOC / f"{file}.xml")
    assert f"version {file[1]}," in draft.remarks[0]
    spec = draft.check()
    assert spec.sockets == nodes
    assert [(each.cores, each.threads, each.memory) for each in spec.node_shapes] == [node] * nodes


def test_distances_of_hwloc_are_read_in_every_version() -> None:
    uniform = [[LOCAL_NS * (1 if a == b else Decimal("1.5")) for b in range(8)] for a in range(8)]
    assert import_machine(HWLOC / "v3-16amd64-4distances.xml").check().latency_ns == tuple(map(tuple, uniform))
    # firmware gives node 2 the distance 17 to itself and to node 0: the memory of node 0 is as near as its own
    uneven = import_machine(HWLOC / "v2-8ia64-2n2s2c+1n.xml").check().latency_ns
    assert uneven is not None
    assert [row[:2] for row in uneven[:2]] == [(LOCAL_NS, LOCAL_NS * Decimal("1.35")), (LOCAL_NS, LOCAL_NS)]


# ---- bad input: `tests/bad_inputs` has damaged files and wrong arguments


def test_a_file_that_breaks_off_is_refused_wherever_it_does(tmp_path: Path) -> None:
    whole = (HWLOC / "v2-8ia64-2n2s2c+1n.xml").read_text()
    file = tmp_path / "topology.xml"
    for length in range(97, len(whole) - len("</topology>\n"), 97):
        file.write_text(whole[:length])
        with pytest.raises(InputError, match="no XML"):
            import_machine(file)


# ---- the origin of each value, as the file tells it

HETEROGENEOUS = """<topology version="2.0">
 <object type="Machine" cpuset="0xff" allowed_cpuset="0xff" gp_index="1">
  <object type="Package" os_index="0" cpuset="0x0f" gp_index="2">
   <object type="NUMANode" os_index="0" gp_index="3" cpuset="0x0f" nodeset="0x1" local_memory="8589934592"/>
   <object type="NUMANode" os_index="2" gp_index="4" subtype="HBM" cpuset="0x0f" local_memory="1073741824"/>
   {first}
  </object>
  <object type="Package" os_index="1" cpuset="0xf0" gp_index="5">
   {second}
  </object>
 </object>
 {more}
</topology>"""


def heterogeneous(more: str = "") -> str:
    """Return the XML of two packages of four cores: the first with memory and HBM, the second without memory."""
    cores = [
        f'<object type="Core" cpuset="{cpus:#x}"><object type="PU" os_index="{cpu}" cpuset="{cpus:#x}"/></object>'
        for cpu, cpus in ((cpu, 1 << cpu) for cpu in range(8))
    ]
    return HETEROGENEOUS.format(first="".join(cores[:4]), second="".join(cores[4:]), more=more)


def drafted(tmp_path: Path, text: str) -> tuple[Draft, MachineSpec]:
    file = tmp_path / "made-up.xml"
    file.write_text(text)
    draft = import_machine(file)
    return draft, draft.check()


def attribute(name: str, *values: tuple[int, int, str]) -> str:
    inner = "".join(
        f'<memattr_value target_obj_type="NUMANode" target_obj_gp_index="{target}" value="{value}" '
        f'initiator_cpuset="{cpus}"/>'
        for target, value, cpus in values
    )
    return f'<memattr name="{name}" flags="5">{inner}</memattr>'


def test_nodes_without_memory_and_bandwidths_that_hwloc_leaves_out(tmp_path: Path) -> None:
    """Processors in no node become a node without memory. Each near core adds 5 GB/s, or 12 GB/s of HBM."""
    draft, spec = drafted(tmp_path, heterogeneous())
    assert node_by_node(spec) == [(0, 4, 4, True), (1, 4, 4, False), (0, 0, 0, True)]
    assert "processors 4-7 are in no NUMANode: they are a node without memory here" in draft.remarks
    assert [node.imc_bandwidth_gbs for node in spec.node_shapes] == [20, None, 48]
    source = draft.sources["nodes.imc_bandwidth_gbs"]
    assert source == "assumed: 12 GB/s of HBM for each core near it; 5 GB/s for each core of the node; measure it"


def test_memory_attributes_are_read(tmp_path: Path) -> None:
    """100,000 MiB/s are 104.858 GB/s. The latency from package 1 is missing and follows from the default distance."""
    bandwidth = attribute("Bandwidth", (3, 100_000, "0xf"), (3, 40_000, "0xf0"), (4, 400_000, "0xf"))
    latency = attribute("Latency", (3, 80, "0xf"), (4, 120, "0xf"))
    draft, spec = drafted(tmp_path, heterogeneous(bandwidth + latency))
    assert [node.imc_bandwidth_gbs for node in spec.node_shapes] == [Decimal("104.858"), None, Decimal("419.43")]
    assert spec.latency_ns is not None
    assert spec.latency_ns[0] == (80, 120, 120)  # from the node without memory: 1.5 times 80 ns
    assert mark_of(draft.sources["nodes.imc_bandwidth_gbs"]) == "read"
    assert mark_of(draft.sources["latency_ns"]) == "assumed", "package 1 has none"
    assert "2 of 5 pairs of nodes have that of the memory attributes" in draft.sources["latency_ns"]


def test_reading_and_writing_are_averaged_and_zero_says_nothing(tmp_path: Path) -> None:
    given = attribute("ReadBandwidth", (3, 30_000, "0xf")) + attribute("WriteBandwidth", (3, 10_000, "0xf"))
    draft, spec = drafted(tmp_path, heterogeneous(given + attribute("Bandwidth", (4, 0, "0xf")) + attribute("mine")))
    mean_gbs = Decimal("20.972")  # 20,000 MiB/s
    assert [node.imc_bandwidth_gbs for node in spec.node_shapes] == [mean_gbs, None, 48]
    assert mark_of(draft.sources["nodes.imc_bandwidth_gbs"]) == "assumed"
    assert "memory attributes left out: mine" in draft.remarks
    draft, spec = drafted(tmp_path, heterogeneous(given + attribute("Bandwidth", (4, 400_000, "0xf"))))
    assert [node.imc_bandwidth_gbs for node in spec.node_shapes] == [mean_gbs, None, Decimal("419.43")]
    assert draft.sources["nodes.imc_bandwidth_gbs"].startswith("derived: the mean for reading and writing")


def kinds(*infos: str) -> str:
    sets = ("0x3", "0xfc")
    return "".join(f'<cpukind cpuset="{cpus}">{info}</cpukind>' for cpus, info in zip(sets, infos, strict=True))


def info(name: str, value: object) -> str:
    return f'<info name="{name}" value="{value}"/>'


@pytest.mark.parametrize(
    ("name", "mark"), [("LinuxCapacity", "derived"), ("FrequencyMaxMHz", "assumed"), ("FrequencyBaseMHz", "assumed")]
)
def test_kinds_of_cores_are_as_fast_as_hwloc_says(name: str, mark: str, tmp_path: Path) -> None:
    """hwloc's capacities of kinds of cores are their speeds; clocks are, if all kinds do equal work in a cycle."""
    draft, spec = drafted(tmp_path, heterogeneous(kinds(info(name, 1000), info(name, 500))))
    assert [[kind.speed_ppm for kind in node.kinds] for node in spec.node_shapes] == [[10**6, 500_000], [500_000], []]
    assert mark_of(draft.sources["nodes.cores.speed_ppm"]) == mark


def test_kinds_of_cores_without_a_speed_are_named(tmp_path: Path) -> None:
    """Without speeds the import gives E-cores the full speed, which makes the machine too fast, and reports this."""
    given = kinds(info("CoreType", "IntelCore") + info("FrequencyMaxMHz", 5000), info("CoreType", "IntelAtom"))
    draft, spec = drafted(tmp_path, heterogeneous(given))
    assert all(kind.speed_ppm == 10**6 for node in spec.node_shapes for kind in node.kinds)
    said = "2 kinds of cores have no speed there (IntelCore on processors 0-1, IntelAtom on processors 2-7)"
    assert f"{said}: all are simulated at full speed" in draft.remarks
    assert mark_of(draft.sources["nodes.cores.speed_ppm"]) == "assumed"
    root = Tree(cores=4).write(tmp_path / "sys")
    put(root, "devices/cpu_core/cpus", "0-1")
    put(root, "devices/cpu_atom/cpus", "2-3")
    remarks = import_machine(sysfs=root).remarks
    assert any("cpu_core on processors 0-1, cpu_atom on processors 2-3" in remark for remark in remarks)


def test_access_classes_of_the_kernel_are_read(tmp_path: Path) -> None:
    """The kernel's access class 1 is about processors. Class 0 may be about a device, whose bandwidth no core has."""
    root = Tree(sockets=2).write(tmp_path)
    for node, (bandwidth, latency) in enumerate([(90_000, 80), (60_000, 0)]):
        for number, factor in ((0, 10), (1, 1)):
            folder = f"devices/system/node/node{node}/access{number}/initiators"
            put(root, f"{folder}/node{node}/cpulist", "")
            for name in ("read", "write"):
                put(root, f"{folder}/{name}_bandwidth", str(bandwidth * factor))
                put(root, f"{folder}/{name}_latency", str(latency * factor))
    draft = import_machine(sysfs=root)
    assert [node.imc_bandwidth_gbs for node in draft.check().node_shapes] == [90, 60]
    assert draft.values["latency_ns"][0][0] == 80
    assert draft.values["latency_ns"][1][1] == LOCAL_NS
    assert "1 of 4 pairs of nodes have that of the access classes" in draft.sources["latency_ns"]


def test_a_distance_of_255_is_no_distance(tmp_path: Path) -> None:
    """Firmware's 255 stands for no path; as a distance it would mean a latency of 23 times the local latency."""
    draft, spec = imported(tmp_path, Tree(sockets=2, distance=[[10, 255], [21, 10]]))
    assert spec.latency_ns == ((90, Decimal("139.5")), (Decimal("139.5"), 90))
    assert any(remark.startswith("1 distances are 255 or more, which stands for no path") for remark in draft.remarks)


def test_an_import_says_what_is_read_derived_and_assumed_and_check_repeats_it(tmp_path: Path, capsys: Any) -> None:
    file, output = tmp_path / "made-up.xml", tmp_path / "machine.yaml"
    file.write_text(heterogeneous(attribute("Bandwidth", (3, 40_000_000, "0xf"), (4, 400_000, "0xf"))))
    assert main(["machine", "import", str(file), "-o", str(output)]) == 0
    said = capsys.readouterr().out.splitlines()
    origin = "(hwloc XML of version 2, made-up.xml)"
    assert f"read: sockets, nodes, nodes.memory {origin}" in said
    assert "read: nodes.imc_bandwidth_gbs (the memory attributes there, which firmware gives)" in said
    assert "assumed: clock.base_ghz (not said)" in said
    assert "note: processors 4-7 are in no NUMANode: they are a node without memory here" in said
    assert "warning: a memory controller has 4.194e+04 GB/s, and a node of HBM has up to 4,000 GB/s" in said
    assert main(["machine", "check", str(output)]) == 0
    again = capsys.readouterr().out.splitlines()
    provenance = ("read:", "derived:", "assumed:")
    assert [line for line in again if line.startswith(provenance)] == [
        line for line in said if line.startswith(provenance)
    ]
    assumed = sum(line.startswith("assumed:") for line in said)
    assert (
        f"warning: {assumed} values are assumed, which nobody measured: every answer names those that it depends on"
        in again
    )


@pytest.mark.parametrize(("text", "numbers"), [("0-3,8", {0, 1, 2, 3, 8}), ("", set()), ("5\n", {5}), ("0,2", {0, 2})])
def test_lists_of_the_kernel(text: str, numbers: set[int]) -> None:
    assert number_list(text) == numbers
    assert number_list(as_list(frozenset(numbers))) == numbers


def test_what_a_system_does_not_say_of_sockets_and_cores_is_assumed(tmp_path: Path) -> None:
    root = Tree(cores=2).write(tmp_path)
    for file in root.glob("devices/system/cpu/cpu[0-9]*/topology/*"):
        file.unlink()
    sources = import_machine(sysfs=root).sources
    assert sources["sockets"] == "assumed: no socket is said, so that all nodes are on one"
    assert sources["nodes.cores"] == "assumed: no core is said, so that each hardware thread is one"


def test_the_most_frequent_size_of_a_cache_is_derived(tmp_path: Path) -> None:
    root = Tree(cores=4).write(tmp_path)
    put(root, "devices/system/cpu/cpu0/cache/index0/size", "16K")
    draft = import_machine(sysfs=root)
    assert draft.check().caches.l1 == 2**15
    assert mark_of(draft.sources["caches.l1"]) == "derived"
