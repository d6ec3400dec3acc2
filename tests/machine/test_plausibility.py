from collections.abc import Callable
from typing import Any

import pytest

from numasim.machine.build_machine import build
from numasim.machine.plausibility import check
from numasim.machine.topology import Machine
from numasim.parts.models.machine_model import MachineSpec

LINES = {"same_core_ns": 1, "same_socket_ns": 15}
RING = [{"between": [0, 1], "bandwidth_gbs": 1}, {"between": [1, 2], "bandwidth_gbs": 1}]


@pytest.mark.parametrize(
    ("changes", "warnings"),
    [
        ({}, []),
        ({"latency_ns": [[80, 126], [120, 80]]}, []),
        ({"latency_ns": [[80, 130], [120, 80]]}, ["node 0 reads node 1 in 130 ns, but node 1 reads node 0 in 120 ns"]),
        (
            {"latency_ns": [[80, 75.5], [75.5, 75]]},
            ["node 0 reads node 1 in 75.5 ns, faster than its own memory in 80 ns"],
        ),
        (
            {"sockets": 3, "links": RING, "latency_ns": [[10, 20, 50], [20, 10, 20], [50, 20, 10]]},
            [
                "node 0 reads node 2 in 50 ns, longer than by way of node 1 in 40 ns",
                "node 2 reads node 0 in 50 ns, longer than by way of node 1 in 40 ns",
            ],
        ),
        (
            {
                "sockets": 3,
                "links": [*RING, {"from": 2, "to": 0, "bandwidth_gbs": 1}],
                "latency_ns": [[10, 20, 20], [20, 10, 20], [20, 20, 10]],
                "caches": {},
            },
            ["a link leads from node 2 to node 0, none leads back"],
        ),
        (
            {"caches": {"l1": "64KiB", "l2": "32KiB", "llc": "16KiB", "llc_scope": "core", "llc_hit_ns": 90}},
            [
                "the second-level cache of 32 KiB is smaller than the first of 64 KiB",
                "the last-level cache of 16 KiB is smaller than one core's 32 KiB",
                "a hit in the last-level cache takes 90 ns, longer than memory in 80 ns",
            ],
        ),
        (  # mistaken units: 5 GB/s written as 5,000, 80 ns as 80 ps, 10 GB/s as 10 MB/s
            {"links": [{"between": [0, 1], "bandwidth_gbs": 6000}], "local_latency_ns": 0.08, "caches": {}},
            [
                "a link has 6000 GB/s, and dies of one package have up to 2,000 GB/s",
                "a node reads its own memory in 0.08 ns, as fast as a last-level cache",
            ],
        ),
        (
            {"nodes": {"cores": 2, "memory": "1GiB", "imc_bandwidth_gbs": 0.01}},
            ["a memory controller has 0.01 GB/s, less than one module of memory"],
        ),
        (
            {"coherence": {"same_core_ns": 9, "same_socket_ns": 8, "cross_socket_ns": 7}},
            ["a line takes 9 ns within a core, 8 ns within a socket", "a line takes 8 ns within a socket, 7 ns across"],
        ),
        (
            {
                "coherence": {**LINES, "same_llc_ns": 20, "same_node_ns": 18, "cross_socket_ns": 38},
                "nodes": {"cores": 4, "memory": "1GiB", "imc_bandwidth_gbs": 10},
                "caches": {"llc": "8MiB", "cores_per_llc": 2},
            },
            [
                "a line takes 20 ns within a last-level cache, 18 ns within a node",
                "a line takes 18 ns within a node, 15 ns within a socket",
            ],
        ),
        (  # the two nodes of a socket share a cache: sharing a cache is then wider than sharing a node
            {
                "sockets": 1,
                "nodes": {"per_socket": 2, "cores": 2, "memory": "1GiB", "imc_bandwidth_gbs": 10},
                "coherence": {**LINES, "same_llc_ns": 12, "same_node_ns": 11},
            },
            [],
        ),
        (
            {
                "sockets": 3,
                "links": RING,
                "latency_ns": [[80, 120, 160], [120, 80, 120], [160, 120, 80]],
                "coherence": {**LINES, "cross_socket_ns": [60, 50, 90]},
            },
            [
                "a line takes 60 ns across at distance 1, 50 ns across at distance 2",
                "cross_socket_ns has 3 times, but latencies between sockets have only 2 different values: each time "
                "beyond has no use",
            ],
        ),
        (  # median times: 30 ns on the diagonal, 20 ns within a socket, 10 ns between sockets
            {"coherence": {"cores_ns": [[30, 20, 10, 9], [20, 30, 10, 10], [10, 10, 30, 20], [90, 10, 20, 30]]}},
            [
                "a line takes 30 ns within a core, 20 ns within a last-level cache",
                "a line takes 20 ns within a last-level cache, 10 ns across",
            ],
        ),
    ],
)
def test_warnings(document: Callable[..., dict[str, Any]], changes: dict[str, Any], warnings: list[str]) -> None:
    assert check(build(MachineSpec.model_validate(document(**changes)))) == warnings


def test_shipped_machines_are_plausible(machines: dict[str, Machine]) -> None:
    assert {name: warnings for name, machine in machines.items() if (warnings := check(machine))} == {}
