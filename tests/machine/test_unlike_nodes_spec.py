"""Machine files that list nodes one by one: arrays by hand, arrays of the form for equal nodes, places of workers, and
refused lists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.description import describe
from numasim.machine.drawing import draw
from numasim.machine.mapping import map_workers
from numasim.machine.plausibility import check
from numasim.machine.topology import Machine
from numasim.parts.models.machine_model import MachineSpec

Make = Callable[..., dict[str, Any]]
MEMORY = {"memory": "1GiB", "imc_bandwidth_gbs": 10}
LLC = {"l1": "32KiB", "l2": "256KiB", "llc": "8MiB", "llc_hit_ns": 10}
KINDS = [{"count": 1, "threads_per_core": 2}, {"count": 2, "speed_ppm": 600_000}]
NODES = [
    {"socket": 0, "cores": KINDS, **MEMORY},
    {"socket": 1, "cores": 3, "threads_per_core": 2},
    {"socket": 0, "memory": "4GiB", "imc_bandwidth_gbs": 20},
]


def four(document: Make, **changes: Any) -> dict[str, Any]:
    """Return three nodes in a row: node 0 with two kinds of cores, node 1 without memory, node 2 without cores."""
    usual = {
        "nodes": NODES,
        "caches": {**LLC, "llc_scope": "node"},
        "links": [{"between": [0, 1], "bandwidth_gbs": 5}, {"between": [0, 2], "bandwidth_gbs": 5}],
        "smt": {"busy_ppm": 500_000, "poll_ppm": 500_000},
    }
    return document(**{**usual, **changes})


@pytest.fixture
def machine(document: Make) -> Machine:
    return build(MachineSpec.model_validate(four(document)))


def test_arrays_by_hand(machine: Machine) -> None:
    assert (machine.sockets, machine.nodes, machine.cores, machine.threads) == (2, 3, 6, 10)
    assert machine.socket_of_node.tolist() == [0, 1, 0]
    assert machine.node_of_core.tolist() == [0, 0, 0, 1, 1, 1]
    assert machine.core_of_thread.tolist() == [0, 1, 2, 3, 4, 5, 0, 3, 4, 5], "all first threads, then second ones"
    assert machine.sibling_of_thread.tolist() == [0] * 6 + [1] * 4
    assert machine.speed_of_core.tolist() == [1_000_000, 600_000, 600_000] + [1_000_000] * 3
    assert machine.llc_of_core.tolist() == [0, 0, 0, 1, 1, 1], "no cache where there are no cores"
    assert machine.memory_bytes.tolist() == [2**30, 0, 2**32]
    assert machine.imc_bytes_per_s.tolist() == [10**10, 0, 2 * 10**10]
    assert machine.home_of_node.tolist() == [0, 0, 2]
    assert machine.latency_ps.tolist() == [
        [80_000, 120_000, 120_000],
        [120_000, 120_000, 160_000],  # the nearest memory is on node 0
        [120_000, 160_000, 80_000],
    ]


@pytest.mark.parametrize(
    ("sharing", "domains"),
    [
        ({"llc_scope": "socket"}, [0, 0, 0, 1, 1, 1]),
        ({"llc_scope": "core"}, [0, 1, 2, 3, 4, 5]),
        ({"cores_per_llc": 3}, [0, 0, 0, 1, 1, 1]),
        ({"cores_per_llc": 1}, [0, 1, 2, 3, 4, 5]),
        ({"llc_cores": ["0,2-3", "1", "4-5"]}, [0, 1, 0, 0, 2, 2]),
    ],
)
def test_cache_domains_by_hand(document: Make, sharing: dict[str, Any], domains: list[int]) -> None:
    machine = build(MachineSpec.model_validate(four(document, caches={**LLC, **sharing})))
    assert machine.llc_of_core.tolist() == domains
    assert machine.cache_domains == len(set(domains))


def test_sizes_of_caches_by_hand(document: Make) -> None:
    listed = {**LLC, "llc_cores": ["0,2-3", "1", "4-5"]}
    alike = build(MachineSpec.model_validate(four(document, caches=listed)))
    assert alike.llc_bytes_of_domain == [8 * 2**20] * 3
    sizes = {"llc_sizes": ["2MiB", "8MiB", "3MiB"]}
    unlike = build(MachineSpec.model_validate(four(document, caches={**listed, **sizes})))
    assert unlike.llc_bytes_of_domain == [2 * 2**20, 8 * 2**20, 3 * 2**20]
    assert unlike.caches.llc_bytes == 8 * 2**20
    assert "last level 2 MiB to 8 MiB shared by 1 to 3 cores" in describe(unlike)
    none = {"l1": "32KiB", "l2": "256KiB"}
    assert build(MachineSpec.model_validate(four(document, caches=none))).llc_bytes_of_domain == [0] * 6


@pytest.mark.parametrize(
    "sharing",
    [
        {"llc_cores": ["0-2", "3-5"], "llc_sizes": ["8MiB"]},  # one size for two caches
        {"llc_cores": ["0-2", "3-5"], "llc_sizes": ["8MiB", "0B"]},
        {"llc_cores": ["0-2", "3-5"], "llc_sizes": ["4MiB", "2MiB"]},  # no size equals `llc`, 8 MiB
        {"llc_cores": ["0-2", "3-5"], "llc_sizes": []},
        {"llc_scope": "node", "llc_sizes": ["8MiB", "8MiB"]},  # without `llc_cores` caches have no order
    ],
)
def test_sizes_that_are_not_of_the_caches_are_refused(document: Make, sharing: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="llc_sizes has a size above 0 for each cache in llc_cores; the largest"):
        MachineSpec.model_validate(four(document, caches={**LLC, **sharing}))


def test_listed_nodes_that_are_alike_are_the_short_form(shipped: dict[str, MachineSpec]) -> None:
    for spec in shipped.values():
        if isinstance(spec.nodes, tuple):
            continue
        node = spec.nodes.model_dump(exclude={"per_socket"})
        listed = [{"socket": socket, "count": spec.nodes.per_socket, **node} for socket in range(spec.sockets)]
        given = spec.model_dump(by_alias=True, exclude_unset=True, exclude={"sources"})
        one, other = build(spec), build(MachineSpec.model_validate({**given, "nodes": listed}))
        for field in fields(Machine):
            mine, its = getattr(one, field.name), getattr(other, field.name)
            same = np.array_equal(mine, its) if isinstance(mine, np.ndarray) else repr(mine) == repr(its)
            assert same, (spec.name, field.name)


@pytest.mark.parametrize(
    ("policy", "threads"),
    [
        # node 0 has threads 0, 1, 2 and then 6; node 1 has 3, 4, 5 and then 7, 8, 9
        ("numa-even-cores-first", [0, 3, 1, 4, 2, 5, 6, 7, 8, 9]),
        ("contiguous", [0, 1, 2, 6, 3, 4, 5, 7, 8, 9]),
        ("smt-first", [0, 6, 1, 2, 3, 7, 4, 8, 5, 9]),
        ("os-order", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("numa-spread", [0, 1, 2, 6, 3, 4, 5, 7, 8, 9]),
        ("scatter", [0, 3, 1, 4, 2, 5, 6, 7, 8, 9]),
    ],
)
def test_mappings_by_hand(machine: Machine, policy: str, threads: list[int]) -> None:
    assert map_workers(machine, 10, policy).thread.tolist() == threads
    for workers in range(1, 11):
        placed = map_workers(machine, workers, policy)
        assert len(set(placed.thread.tolist())) == workers
        assert 2 not in placed.node


def test_even_blocks_pass_on_what_a_node_has_no_room_for(machine: Machine) -> None:
    """Of 9 workers node 0 would get 5, but it has 4 hardware threads: the next node gets the fifth worker."""
    counts = [np.bincount(map_workers(machine, w, "numa-spread").node, minlength=3).tolist() for w in (6, 7, 8, 9)]
    assert counts == [[3, 3, 0], [4, 3, 0], [4, 4, 0], [4, 5, 0]]


def test_it_is_described(machine: Machine) -> None:
    text = describe(machine)
    assert "shape      2 sockets, 3 nodes, 6 cores, 10 hardware threads\n" in text
    assert "nodes      0: socket 0, 1 core x 2 threads + 2 cores at 60 %, 1 GiB of memory\n" in text
    assert "           1: socket 1, 3 cores x 2 threads, no memory\n" in text
    assert "           2: socket 0, no cores, 4 GiB of memory\n" in text
    assert "memory     1 GiB to 4 GiB and 10 GB/s to 20 GB/s a node\n" in text
    assert "local 80 ns to 120 ns, remote 120 ns to 160 ns, factor 1.00 to 1.50" in text
    assert check(machine) == []


def test_it_is_drawn_with_what_each_node_has(machine: Machine) -> None:
    texts = [text.get_text() for text in draw(machine).axes[0].texts]
    for wanted in ("no cores", "no memory", "1 core x 2 threads + 2 cores at 60 %", "3 cores x 2 threads", "4 GiB"):
        assert texts.count(wanted) == 1, wanted


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"nodes": [{**NODES[0], "socket": 2}, *NODES[1:]]}, ("nodes", 0, "socket"), "no socket 2; expected 0 to 1"),
        ({"nodes": [NODES[0], {**NODES[1], "socket": 0}, NODES[2]]}, ("nodes",), "socket 1 has no node with cores"),
        ({"nodes": [{"socket": 0, **MEMORY}] * 3}, ("nodes",), "socket 0 has no node with cores"),
        ({"nodes": [{"socket": at % 2, "cores": 1} for at in range(3)]}, ("nodes",), "no node has memory"),
        ({"nodes": [{**NODES[0], "count": 1000}] * 2}, ("nodes",), "2000 nodes; expected at most 1024"),
        ({"nodes": [{"socket": 0, "cores": 60_000, **MEMORY}] * 2}, ("nodes",), "120000 hardware threads"),
        ({"smt": None}, ("nodes",), "cores with 2 hardware threads need smt"),
        ({"caches": {**LLC, "cores_per_llc": 2}}, ("caches", "cores_per_llc"), "node 0 has 3 cores"),
        ({"caches": {**LLC, "llc_cores": ["0-2", "3-6"]}}, ("caches", "llc_cores", 1), "there is no core 6"),
        ({"caches": {**LLC, "llc_cores": ["0-2", "2-5"]}}, ("caches", "llc_cores", 1), "core 2 has two"),
        ({"caches": {**LLC, "llc_cores": ["0-2", "5"]}}, ("caches", "llc_cores"), "cores 3-4 have no last-level cache"),
        ({"caches": {**LLC, "llc_cores": ["all"]}}, ("caches", "llc_cores", 0), "'all' is no list of cores"),
        ({"caches": {**LLC, "llc_cores": ["0-5", ""]}}, ("caches", "llc_cores", 1), "no core is listed"),
        ({"caches": {**LLC, "llc_cores": ["0-99999999999"]}}, ("caches", "llc_cores", 0), "is no list of cores"),
    ],
)
def test_what_does_not_fit_together_is_refused_at_its_field(
    document: Make, changes: dict[str, Any], path: tuple[str | int, ...], words: str
) -> None:
    with pytest.raises(InputError) as caught:
        MachineSpec.model_validate(four(document, **changes))
    assert caught.value.path == path
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([], "at least 1 item"),
        (3, "nodes are a mapping, where all are alike, or a list"),
        ([{"socket": 0}], "a node has cores, memory or both"),
        ([{"socket": 0, "cores": 2, "memory": "1GiB"}], "memory and imc_bandwidth_gbs go together"),
        ([{"socket": 0, "cores": 2, "imc_bandwidth_gbs": 1}], "memory and imc_bandwidth_gbs go together"),
        ([{"socket": 0, "cores": KINDS, "threads_per_core": 2, **MEMORY}], "threads_per_core goes with a number of"),
        ([{"socket": 0, "cores": "two", **MEMORY}], "a number of cores, or a list of kinds"),
        ([{"socket": 0, "cores": [{"count": 2, "speed_ppm": 0}], **MEMORY}], "greater than or equal to 1"),
        ([{"socket": 0, "cores": [{"count": 2, "speed_ppm": 1_000_001}], **MEMORY}], "less than or equal to 1000000"),
    ],
)
def test_bad_nodes_are_refused(document: Make, nodes: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        MachineSpec.model_validate(document(nodes=nodes))
