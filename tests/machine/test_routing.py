from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim.machine.build_machine import build
from numasim.machine.mapping import map_workers
from numasim.machine.routing import distance_classes, find_routes, line_transfer_ps
from numasim.machine.topology import IntArray, Machine
from numasim.parts.models.machine_model import MachineSpec

Pairs = list[tuple[int, int]]


@st.composite
def link_graphs(draw: st.DrawFn) -> tuple[int, Pairs]:
    """Draw a ring, which joins all nodes, and more directed links between its nodes, in random order."""
    nodes = draw(st.integers(1, 6))
    ring = [(a, (a + 1) % nodes) for a in range(nodes) if nodes > 1]
    others = [(a, b) for a, b in product(range(nodes), repeat=2) if a != b and (a, b) not in ring]
    extra = draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    return nodes, draw(st.permutations(ring + extra))


def best_path(pairs: set[tuple[int, int]], nodes: int, a: int, b: int) -> tuple[int, ...]:
    """Return the shortest, then smallest node sequence from a to b; all sequences are tried, the shortest first."""
    for inner in range(nodes):
        for middle in product(range(nodes), repeat=inner):
            path = (a, *middle, b)
            if all(step in pairs for step in pairwise(path)):
                return path
    raise AssertionError("no way")


def walk(pairs: Pairs, a: int, links: IntArray) -> tuple[int, ...]:
    path = [a]
    for link in links.tolist():
        assert pairs[link][0] == path[-1]
        path.append(pairs[link][1])
    return tuple(path)


def routed(
    nodes: int, pairs: Pairs, explicit: Sequence[tuple[int, ...]] = ()
) -> dict[tuple[int, int], tuple[int, ...]]:
    source, target = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    pointer, route = find_routes(nodes, source, target, explicit)
    cells = list(product(range(nodes), repeat=2))
    return {(a, b): walk(pairs, a, route[pointer[at] : pointer[at + 1]]) for at, (a, b) in enumerate(cells)}


@settings(max_examples=60)
@given(link_graphs())
def test_routes_are_the_smallest_of_the_shortest(graph: tuple[int, Pairs]) -> None:
    nodes, pairs = graph
    for (a, b), path in routed(nodes, pairs).items():
        assert path == ((a,) if a == b else best_path(set(pairs), nodes, a, b))


def test_explicit_route_replaces_the_computed_one_only_for_its_ends() -> None:
    square = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1), (2, 3), (3, 2)]
    plain, chosen = routed(4, square), routed(4, square, [(0, 2, 3), (0, 2, 3, 1)])
    assert (plain[0, 3], plain[0, 1]) == ((0, 1, 3), (0, 1))
    assert (chosen.pop((0, 3)), chosen.pop((0, 1))) == ((0, 2, 3), (0, 2, 3, 1))
    assert chosen == {ends: path for ends, path in plain.items() if ends in chosen}


def test_distance_classes_by_hand(machines: dict[str, Machine]) -> None:
    """Workers 0, 2, 4 on node 0, workers 1, 3, 5 on node 1; the two latencies between the nodes differ."""
    machine = machines["xeon-e5-2620-2s"]
    classes = distance_classes(machine, map_workers(machine, 24))
    assert classes[0, [0, 12, 2, 14, 1, 13]].tolist() == [0, 0, 1, 1, 4, 4]
    assert classes[1, [1, 13, 3, 15, 0, 12]].tolist() == [0, 0, 1, 1, 3, 3]


@pytest.mark.parametrize("name", ["opteron-6161-2s", "tilepro64", "xeon-6130-4s", "opteron-8380-4s"])
def test_classes_order_workers_like_latency(machines: dict[str, Machine], name: str) -> None:
    machine = machines[name]
    placed = map_workers(machine, machine.threads)
    classes = distance_classes(machine, placed)
    latency = machine.latency_ps[placed.node[:, None], placed.node]
    for row, times in zip(classes, latency, strict=True):
        assert (np.diff(times[np.argsort(row, kind="stable")]) >= 0).all()


def test_line_transfer_by_hand(machines: dict[str, Machine]) -> None:
    machine = machines["xeon-e5-2620-2s"]
    times = line_transfer_ps(machine, map_workers(machine, 24))
    assert times[0, [0, 12, 2, 1]].tolist() == [5_000, 5_000, 15_435, 38_428]
    assert np.array_equal(times, times.T)
    remote_share = np.count_nonzero(times == 38_428) / (24 * 23)
    assert remote_share == 12 / 23


NODE_OF_FOUR = {"per_socket": 2, "cores": 4, "threads_per_core": 2, "memory": "1GiB", "imc_bandwidth_gbs": 10}
BY_PAIRS = {"llc": "8MiB", "cores_per_llc": 2}
LEVELS = {"same_core_ns": 1, "same_llc_ns": 2, "same_node_ns": 3, "same_socket_ns": 4, "cross_socket_ns": 5}
SIBLING, SAME_LLC, SAME_NODE, OTHER_NODE, OTHER_SOCKET = 16, 1, 2, 4, 8  # threads by their relation to thread 0


def lines_of(document: Callable[..., dict[str, Any]], coherence: dict[str, Any], **changes: Any) -> IntArray:
    """Return the times between all hardware threads: 2 sockets, each with 2 nodes of 4 cores of 2 threads."""
    ring = [{"between": pair, "bandwidth_gbs": 5} for pair in ([0, 1], [0, 2], [1, 3], [2, 3])]
    smt = {"busy_ppm": 650_000, "poll_ppm": 850_000}
    whole = {"nodes": NODE_OF_FOUR, "caches": BY_PAIRS, "links": ring, "smt": smt, **changes}
    machine = build(MachineSpec.model_validate(document(**whole, coherence=coherence)))
    return line_transfer_ps(machine, map_workers(machine, machine.threads, "os-order"))


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        ((), [1, 2, 3, 4, 5]),
        (("same_llc_ns",), [1, 3, 3, 4, 5]),
        (("same_node_ns",), [1, 2, 4, 4, 5]),
        (("same_llc_ns", "same_node_ns"), [1, 4, 4, 4, 5]),
    ],
)
def test_a_level_that_is_not_given_takes_the_time_of_the_next_wider_level(
    document: Callable[..., dict[str, Any]], without: tuple[str, ...], expected: list[int]
) -> None:
    times = lines_of(document, {key: value for key, value in LEVELS.items() if key not in without})
    others = [SIBLING, SAME_LLC, SAME_NODE, OTHER_NODE, OTHER_SOCKET]
    assert times[0, others].tolist() == [1000 * each for each in expected]
    assert times[0, 0] == 1000
    assert np.array_equal(times, times.T)
    assert sorted(np.unique(times, return_counts=True)[1].tolist()) == sorted(
        32 * sum(size for size, time in zip((2, 2, 4, 8, 16), expected, strict=True) if time == each)
        for each in set(expected)
    )


def test_a_cache_of_two_nodes_is_a_wider_level_than_the_node(document: Callable[..., dict[str, Any]]) -> None:
    shared = {"llc": "8MiB", "llc_scope": "socket"}
    times = lines_of(document, {**LEVELS, "same_llc_ns": 3.5}, caches=shared)
    assert times[0, [SIBLING, SAME_LLC, SAME_NODE, OTHER_NODE, OTHER_SOCKET]].tolist() == [
        1000, 3000, 3000, 3500, 5000]  # fmt: skip
    without = lines_of(document, {key: value for key, value in LEVELS.items() if key != "same_llc_ns"}, caches=shared)
    assert without[0, [SAME_NODE, OTHER_NODE]].tolist() == [3000, 4000]


@pytest.mark.parametrize(
    ("given", "expected"), [(7, [7, 7, 7]), ([7], [7, 7, 7]), ([7, 8], [7, 8, 8]), ([7, 8, 9], [7, 8, 9])]
)
def test_times_between_sockets_are_those_of_their_distance(
    document: Callable[..., dict[str, Any]], given: Any, expected: list[int]
) -> None:
    """Four sockets in a row, whose middle link is slower than the two others: latencies of 40, 60, 100 and 140 ns.

    The sockets 1 and 2 are at the second distance, the sockets 0 and 2 at the third.
    """
    chain = [
        {"between": [a, a + 1], "bandwidth_gbs": 5, "latency_ns": latency} for a, latency in enumerate((40, 60, 40))
    ]
    one = {"cores": 1, "memory": "1GiB", "imc_bandwidth_gbs": 10}
    lines = {"same_core_ns": 1, "same_socket_ns": 4, "cross_socket_ns": given}
    machine = build(MachineSpec.model_validate(document(sockets=4, nodes=one, links=chain, coherence=lines)))
    times = line_transfer_ps(machine, map_workers(machine, 4))
    assert times[[0, 1, 0], [1, 2, 2]].tolist() == [1000 * each for each in expected]
    assert times[0, 3] == times[0, 2], "the last time is that of all farther sockets"
    assert times[2, 3] == times[0, 1]
    assert np.array_equal(times, times.T)


def test_a_socket_is_as_near_as_its_nearest_node_with_cores(document: Callable[..., dict[str, Any]]) -> None:
    """Socket 1 is 90 ns from socket 0 in one direction, socket 2 95 ns; the memory node of socket 2 does not count."""
    cored = {"cores": 1, "memory": "1GiB", "imc_bandwidth_gbs": 10}
    nodes = [{"socket": 0, **cored}, {"socket": 1, **cored}, {"socket": 2, **cored}, {**cored, "socket": 2, "cores": 0}]
    latency = [[80, 99, 95, 81], [90, 80, 120, 120], [95, 120, 80, 120], [81, 120, 120, 80]]
    star = [{"between": [0, other], "bandwidth_gbs": 5} for other in (1, 2, 3)]
    lines = {"same_core_ns": 1, "same_socket_ns": 4, "cross_socket_ns": [7, 8, 9]}
    machine = build(
        MachineSpec.model_validate(
            document(sockets=3, nodes=nodes, links=star, latency_ns=latency, coherence=lines, caches={})
        )
    )
    assert line_transfer_ps(machine, map_workers(machine, 3)).tolist() == [
        [1000, 7000, 8000], [7000, 1000, 9000], [8000, 9000, 1000]]  # fmt: skip


def test_a_matrix_is_looked_up_by_the_cores_of_the_workers(document: Callable[..., dict[str, Any]]) -> None:
    """Workers of a cyclic mapping are on cores 0, 2, 1, 3; the row has the line, the column asks for the line."""
    matrix = [[10 * a + b for b in range(4)] for a in range(4)]
    machine = build(MachineSpec.model_validate(document(coherence={"cores_ns": matrix})))
    workers = map_workers(machine, 4, "numa-even-cores-first")
    assert workers.core.tolist() == [0, 2, 1, 3]
    times = line_transfer_ps(machine, workers)
    assert times.tolist() == [[1000 * (10 * a + b) for b in (0, 2, 1, 3)] for a in (0, 2, 1, 3)]


def test_hardware_threads_of_one_core_pay_the_diagonal_of_a_matrix(document: Callable[..., dict[str, Any]]) -> None:
    matrix = [[30 + a if a == b else 100 for b in range(16)] for a in range(16)]
    times = lines_of(document, {"cores_ns": matrix})
    assert times[[0, 3, 5], [SIBLING, SIBLING + 3, 5]].tolist() == [30_000, 33_000, 35_000]
    assert times[0, 1] == 100_000
