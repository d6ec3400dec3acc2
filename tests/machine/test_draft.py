"""The draft (a machine file before it is written) of any system has exactly its parts, or is refused in a sentence."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.draft import draft_machine
from numasim.machine.inventory import Cache, Inventory, Thread
from numasim.machine.topology import Machine
from numasim.machine.typical_values import LOCAL_NS
from numasim.parts.base import number_list

MOST_THREADS_OF_A_CORE = 8  # no processor has more, and no machine file may have more


@st.composite
def even_systems(draw: Any) -> tuple[Inventory, tuple[int, int, int, int]]:
    """Draw a system whose sockets, nodes and cores are equal, with its shape; ids are shuffled, distances arbitrary."""
    sockets, per_socket, cores, threads = (draw(st.integers(1, most)) for most in (3, 3, 3, 2))
    nodes = sockets * per_socket
    names = draw(st.permutations(range(nodes)))
    names = [
        node for socket in range(sockets) for node in sorted(names[socket * per_socket : (socket + 1) * per_socket])
    ]
    ids = draw(st.permutations(range(nodes * cores * threads)))
    held = [
        Thread(ids[(node * cores + core) * threads + at], node * cores + core, node // per_socket, names[node])
        for node in range(nodes)
        for core in range(cores)
        for at in range(threads)
    ]
    far = st.integers(10, 60)
    distance = {(a, b): Decimal(10 if a == b else draw(far)) for a in range(nodes) for b in range(nodes)}
    caches = tuple(Cache(3, 2**20, 64, frozenset(t.id for t in held if t.socket == each)) for each in range(sockets))
    memory = dict.fromkeys(range(nodes), 2**30)
    inventory = Inventory("a test", tuple(sorted(held, key=lambda t: t.id)), caches, memory, distance, None, None, ())
    return inventory, (sockets, per_socket, cores, threads)


@given(even_systems())
def test_an_even_system_is_kept_whole(made: tuple[Inventory, tuple[int, int, int, int]]) -> None:
    inventory, shape = made
    draft = draft_machine(inventory, "even")
    spec = draft.check()  # fails if the links do not join all nodes
    machine = build(spec)
    assert (spec.sockets, spec.nodes.per_socket, spec.nodes.cores, spec.nodes.threads_per_core) == shape
    assert machine.threads == len(inventory.threads)
    assert spec.caches.llc_scope == "socket"
    assert len(draft.remarks[1:]) == (draft.nodes != tuple(range(spec.node_count))), "which nodes they are"
    distance = [[inventory.distance[a, b] for b in draft.nodes] for a in draft.nodes]
    expected = [[int(LOCAL_NS * (10 + far) * 50) for far in row] for row in distance]  # half of the extra distance
    assert machine.latency_ps.tolist() == expected


PLACES = st.lists(st.tuples(*(st.integers(0, most) for most in (4, 2, 3))), min_size=1, max_size=MOST_THREADS_OF_A_CORE)


def draft_of(places: list[tuple[int, int, int]], caches: tuple[Cache, ...] = ()) -> Machine:
    threads = tuple(Thread(at, core, socket, node) for at, (core, socket, node) in enumerate(places))
    return build(draft_machine(Inventory("a test", threads, caches, {}, {}, None, None, ()), "any").check())


@given(PLACES)
def test_any_system_is_kept_exactly_unless_a_core_lies_across_nodes(places: list[tuple[int, int, int]]) -> None:
    """Sockets that lie across nodes and nodes of different sizes are no obstacle."""
    node_of = {core: node for core, _, node in places}
    if any(node_of[core] != node for core, _, node in places):
        with pytest.raises(InputError, match=r"a test: core \d has threads on nodes \d"):
            draft_of(places)
        return
    machine = draft_of(places)
    cores = Counter(node_of.values())
    assert (machine.nodes, machine.cores, machine.threads) == (len(cores), len(node_of), len(places))
    assert machine.cores_of_node.tolist() == [cores[node] for node in _in_order(places)]


def _in_order(places: list[tuple[int, int, int]]) -> list[int]:
    """Return the nodes by their sockets; if a node lies across sockets, every node counts as a socket."""
    sockets: dict[int, set[int]] = {}
    for _, socket, node in places:
        sockets.setdefault(node, set()).add(socket)
    wide = any(len(held) > 1 for held in sockets.values())
    return sorted(sockets, key=lambda node: (0 if wide else min(sockets[node]), node))


SIX = [(core, 0, core // 3) for core in range(6)]  # six cores on two nodes


def caches(level: int, *sharers: str, size_bytes: int = 2**20) -> tuple[Cache, ...]:
    return tuple(Cache(level, size_bytes, 64, number_list(text)) for text in sharers)


@pytest.mark.parametrize(
    ("given_caches", "domains"),
    [
        (caches(3, "0-2", "3-5"), [0, 0, 0, 1, 1, 1]),
        (caches(3, "0,2", "1", "3-5,77"), [0, 1, 0, 2, 2, 2]),  # processor 77 may not be used
        (caches(2, "0-3", "4,5"), [0, 0, 0, 0, 1, 1]),  # a cache across two nodes
        (caches(3, "0-2", "3-5") + caches(4, "0-5"), [0] * 6),
        (caches(3, *"012345"), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_last_level_caches_are_kept(given_caches: tuple[Cache, ...], domains: list[int]) -> None:
    machine = draft_of(SIX, given_caches)
    assert machine.llc_of_core.tolist() == domains
    assert machine.caches.llc_bytes == 2**20


def test_last_level_caches_of_unlike_sizes_are_kept() -> None:
    machine = draft_of(SIX, caches(3, "0-2") + caches(3, "3,5", size_bytes=2**19) + caches(3, "4", size_bytes=2**21))
    assert machine.llc_of_core.tolist() == [0, 0, 0, 1, 2, 1]
    assert machine.llc_bytes_of_domain == [2**20, 2**19, 2**21]
    assert machine.caches.llc_bytes == 2**21
    assert draft_of(SIX, caches(2, *"012345")).caches.llc_bytes == 0, "a second level of each core is no last level"


@pytest.mark.parametrize(
    ("given_caches", "problem"),
    [
        (caches(3, "0-2"), "cores 3-5 have no cache of level 3, which others have"),
        (caches(3, "0-3", "3-5"), "core 3 has several caches of level 3"),
        (caches(3, "0-2") + caches(3, "3-5", size_bytes=0), "the size of a cache of level 3, the last one, is not"),
        (caches(3, "0-5", size_bytes=0), "the size of a cache of level 3, the last one, is not said"),
    ],
)
def test_last_level_caches_that_no_machine_file_has_are_refused(given_caches: tuple[Cache, ...], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        draft_of(SIX, given_caches)
    assert problem in str(refused.value)
    assert str(refused.value).startswith("a test: ")
    assert "; expected " in str(refused.value)


def test_a_core_of_whose_threads_a_cache_serves_some_is_refused() -> None:
    with pytest.raises(InputError, match="processors 1 are outside the last-level cache of their core"):
        draft_of([(0, 0, 0), (0, 0, 0), (1, 0, 0)], caches(3, "0", "2"))


@pytest.mark.parametrize(
    ("speeds", "ppm", "remarks"),
    [
        ([1000, 1000, 1000], [10**6] * 3, 0),
        ([1000, 900, 1000], [10**6] * 3, 1),  # cores that reach a higher clock
        ([446, 1024, 1024], [446 * 10**6 // 1024, 10**6, 10**6], 1),
        ([5000, 5200, 3900], [10**6, 10**6, 750_000], 2),
        ([1000, 0, 0], [10**6] * 3, 1),  # capacities are not given for all cores
    ],
)
def test_kinds_of_cores_have_their_speeds(speeds: list[int], ppm: list[int], remarks: int) -> None:
    threads = tuple(Thread(at, at, 0, 0) for at in range(3))
    said = Inventory("a test", threads, (), {}, {}, None, None, (), {}, dict(enumerate(speeds)), "their clocks")
    draft = draft_machine(said, "kinds")
    assert build(draft.check()).speed_of_core.tolist() == ppm
    assert len(draft.remarks) == 1 + remarks
