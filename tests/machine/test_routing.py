from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim.machine.mapping import map_workers
from numasim.machine.routing import distance_classes, find_routes, line_transfer_ps
from numasim.machine.topology import IntArray, Machine

Pairs = list[tuple[int, int]]


@st.composite
def link_graphs(draw: st.DrawFn) -> tuple[int, Pairs]:
    """A ring, so that all nodes are joined, with random directed links added, in random order."""
    nodes = draw(st.integers(1, 6))
    ring = [(a, (a + 1) % nodes) for a in range(nodes) if nodes > 1]
    others = [(a, b) for a, b in product(range(nodes), repeat=2) if a != b and (a, b) not in ring]
    extra = draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    return nodes, draw(st.permutations(ring + extra))


def best_path(pairs: set[tuple[int, int]], nodes: int, a: int, b: int) -> tuple[int, ...]:
    """The shortest, then smallest node sequence from a to b, by trying all of growing length."""
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
