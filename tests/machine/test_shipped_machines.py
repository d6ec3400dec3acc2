"""The machine files against the values that papers print about the machines, and their descriptions."""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from numasim.machine.build_machine import build
from numasim.machine.description import coherence, describe, rate, size, time
from numasim.machine.topology import Machine
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.sources import unsourced

SHAPES = {  # sockets, nodes, cores, hardware threads used by the papers' programs
    "xeon-e5-2620-2s": (2, 2, 12, 24),
    "opteron-8380-4s": (4, 4, 16, 16),
    "xeon-x7560-4s": (4, 4, 32, 32),
    "xeon-x7560-4s-skelaff": (4, 4, 32, 32),
    "opteron-875-8s": (8, 8, 16, 16),
    "tilepro64": (1, 64, 64, 64),
    "xeon-6130-4s": (4, 4, 64, 128),
    "xeon-6130-2s": (2, 2, 32, 64),
    "opteron-6161-2s": (2, 4, 24, 24),
    "synthetic-16x64": (16, 16, 1024, 1024),
    "epyc-9654-2s": (2, 2, 192, 384),
    "epyc-9654-2s-nps4": (2, 8, 192, 384),
    "xeon-max-9480-2s": (2, 4, 112, 224),
    "xeon-8480-2s-cxl": (2, 3, 112, 224),
    "altra-q80-30-2s": (2, 2, 160, 160),
}
KIB, MIB, GIB = 2**10, 2**20, 2**30
ORIGIN = re.compile(r"(thesis|LAWS|SkelAff|home scheduling|Phoenix\+\+|vendor data:|measured:|assumed:|derived:) *\S")


def numa_factors(machine: Machine) -> list[Fraction]:
    """Return remote over local read latency for every ordered pair of nodes."""
    latency = machine.latency_ps.tolist()
    nodes = range(machine.nodes)
    return [Fraction(latency[a][b], latency[a][a]) for a in nodes for b in nodes if a != b]


def test_names_and_shapes(machines: dict[str, Machine], shipped: dict[str, MachineSpec]) -> None:
    assert {name: (m.sockets, m.nodes, m.cores, m.threads) for name, m in machines.items()} == SHAPES
    assert [spec.name for spec in shipped.values()] == list(shipped)


@pytest.mark.parametrize("name", SHAPES)
def test_every_number_has_a_source(shipped: dict[str, MachineSpec], name: str) -> None:
    assert unsourced(shipped[name]) == []
    assert [text for text in shipped[name].sources.values() if not ORIGIN.match(text)] == []


def test_thesis_latencies_and_ratio(machines: dict[str, Machine]) -> None:
    machine = machines["xeon-e5-2620-2s"]
    assert machine.latency_ps.tolist() == [[77_300, 124_700], [122_800, 75_000]]
    remote, local = machine.latency_ps[0, 1] + machine.latency_ps[1, 0], np.trace(machine.latency_ps)
    assert Fraction(int(remote), int(local)) == Fraction(2475, 1523)
    assert round(float(remote / local), 3) == 1.625
    coherence = machine.coherence
    assert (coherence.same_socket_ps, coherence.cross_socket_ps) == (15_435, (38_428,))


@pytest.mark.parametrize(
    ("name", "least", "most", "bandwidth_mbs"),
    [("opteron-875-8s", "1.1", "1.5", 9_770), ("xeon-x7560-4s-skelaff", "1.36", "3.6", 35_540)],
)
def test_skelaff_table_1(machines: dict[str, Machine], name: str, least: str, most: str, bandwidth_mbs: int) -> None:
    """The printed bandwidth of the machine is above the bandwidth of a node and below the sum of all nodes."""
    machine = machines[name]
    factors = numa_factors(machine)
    assert (min(factors), max(factors)) == (Fraction(least), Fraction(most))
    of_node = {"opteron-875-8s": 4_780, "xeon-x7560-4s-skelaff": 17_000}[name] * 10**6
    assert machine.imc_bytes_per_s.tolist() == [of_node] * machine.nodes
    assert of_node < bandwidth_mbs * 10**6 < of_node * machine.nodes


def test_amd_links_cost_forty_nanoseconds_each(machines: dict[str, Machine]) -> None:
    """By the paper on home scheduling latencies are local, local + 40 or + 80 ns, and processors have two links."""
    machine = machines["opteron-8380-4s"]
    assert np.unique(machine.latency_ps - machine.latency_ps[0, 0]).tolist() == [0, 40_000, 80_000]
    assert np.bincount(machine.links.source).tolist() == [2, 2, 2, 2]


def test_twisted_ladder_needs_at_most_three_links(machines: dict[str, Machine]) -> None:
    machine = machines["opteron-875-8s"]
    assert np.bincount(machine.links.source).tolist() == [2, 2, 3, 3, 3, 3, 2, 2]
    assert max(machine.hops(a, b) for a in range(8) for b in range(8)) == 3


def test_tile_latency_is_linear_in_mesh_distance(machines: dict[str, Machine]) -> None:
    tile = np.arange(64)
    hops = abs(tile[:, None] // 8 - tile // 8) + abs(tile[:, None] % 8 - tile % 8)
    expected = np.where(hops == 0, 8_000, 35_000 + 1_300 * hops)
    assert np.array_equal(machines["tilepro64"].latency_ps, expected)


def test_arrays_are_read_only(shipped: dict[str, MachineSpec]) -> None:
    machine = build(shipped["xeon-e5-2620-2s"])
    with pytest.raises(ValueError, match="read-only"):
        machine.latency_ps[0, 0] = 1


@pytest.mark.parametrize(("name", "of_a_node"), [("epyc-9654-2s", 12), ("epyc-9654-2s-nps4", 3)])
def test_the_epyc_has_a_last_level_cache_for_every_eight_cores(
    machines: dict[str, Machine], name: str, of_a_node: int
) -> None:
    machine = machines[name]
    assert machine.cache_domains == 24
    assert np.bincount(machine.llc_of_core).tolist() == [8] * 24
    assert 24 * machine.caches.llc_bytes == 768 * MIB
    for node in range(machine.nodes):
        assert len(set(machine.llc_of_core[machine.node_of_core == node].tolist())) == of_a_node


@pytest.mark.parametrize(("name", "alone"), [("xeon-max-9480-2s", [2, 3]), ("xeon-8480-2s-cxl", [2])])
def test_memory_without_cores_is_farther_than_the_own(
    machines: dict[str, Machine], name: str, alone: list[int]
) -> None:
    machine = machines[name]
    assert np.flatnonzero(machine.cores_of_node == 0).tolist() == alone
    assert (machine.latency_ps[0, alone] > machine.latency_ps[0, 0]).all()
    assert (machine.memory_bytes > 0).all()


# ---- descriptions ----


def test_quantities_have_units() -> None:
    sizes = {64: "64 B", 1024: "1 KiB", 5118 * 1024: "5118 KiB", 1536 * 2**20: "1536 MiB", 2**34: "16 GiB"}
    assert {count: size(count) for count in sizes} == sizes
    times = {77_300: "77.3 ns", 75_000: "75 ns", 15_435: "15.435 ns", 0: "0 ns"}
    assert {time_ps: time(time_ps) for time_ps in times} == times
    assert rate(8_885_000_000) == "8.885 GB/s"


def test_summary_of_the_thesis_machine_by_hand(machines: dict[str, Machine]) -> None:
    assert describe(machines["xeon-e5-2620-2s"]).splitlines() == [
        "machine    xeon-e5-2620-2s",
        "shape      2 sockets, 2 nodes, 12 cores, 24 hardware threads",
        "caches     L1 32 KiB, L2 256 KiB; last level 15 MiB shared by 6 cores",
        "memory     16 GiB and 30 GB/s a node",
        "clock      2 GHz; turbo 2.5 to 2 busy, 2.4 to 4 busy, 2.3 to 6 busy",
        "latency    local 75 ns to 77.3 ns, remote 122.8 ns to 124.7 ns, factor 1.61 to 1.64",
        "            77.3  124.7",
        "           122.8     75",
        "links      2 directed, each 22 GB/s and +47.4 ns to 47.8 ns, at most 1 on a route",
        "coherence  a line within a core 5 ns, within a socket 15.435 ns, across sockets 38.428 ns",
    ]


def test_large_machines_are_summarised_without_matrix(machines: dict[str, Machine]) -> None:
    lines = describe(machines["tilepro64"]).splitlines()
    assert "latency    local 8 ns, remote 36.3 ns to 53.2 ns, factor 4.54 to 6.65" in lines
    assert len(lines) == 8


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (
            {"same_core_ns": 5, "same_llc_ns": 27.1, "same_node_ns": 90, "same_socket_ns": 99, "cross_socket_ns": 191},
            "a line within a core 5 ns, within a last-level cache 27.1 ns, within a node 90 ns, within a socket 99 ns, "
            "across sockets 191 ns",
        ),
        (
            {"same_core_ns": 5, "same_socket_ns": 99, "cross_socket_ns": [191, 240]},
            "a line within a core 5 ns, within a socket 99 ns, across sockets 191 ns or 240 ns by distance",
        ),
        (
            {"cores_ns": [[5 + a + 2 * b for b in range(3)] for a in range(3)]},
            "a line 5 ns to 11 ns, measured for each pair of 3 cores",
        ),
    ],
)
def test_times_of_lines(document: Callable[..., dict[str, Any]], lines: dict[str, Any], text: str) -> None:
    chain = [{"between": pair, "bandwidth_gbs": 5} for pair in ([0, 1], [1, 2])]
    node = {"cores": 1, "memory": "1GiB", "imc_bandwidth_gbs": 10}
    spec = MachineSpec.model_validate(document(sockets=3, nodes=node, links=chain, coherence=lines))
    assert coherence(build(spec)) == text
