from collections.abc import Callable
from typing import Any

import pytest

from numasim.machine.build_machine import build
from numasim.machine.description import coherence, describe, rate, size, time
from numasim.machine.topology import Machine
from numasim.parts.models.machine_model import MachineSpec


@pytest.mark.parametrize(
    ("count", "text"),
    [(64, "64 B"), (1024, "1 KiB"), (5118 * 1024, "5118 KiB"), (1536 * 2**20, "1536 MiB"), (2**34, "16 GiB")],
)
def test_size(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("time_ps", "text"), [(77_300, "77.3 ns"), (75_000, "75 ns"), (15_435, "15.435 ns"), (0, "0 ns")]
)
def test_time(time_ps: int, text: str) -> None:
    assert time(time_ps) == text


def test_rate() -> None:
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


def test_large_machines_are_summarised_without_matrix(machines: dict[str, Machine]) -> None:
    lines = describe(machines["tilepro64"]).splitlines()
    assert "latency    local 8 ns, remote 36.3 ns to 53.2 ns, factor 4.54 to 6.65" in lines
    assert len(lines) == 8
