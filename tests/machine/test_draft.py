"""Whatever a system says of itself, the draft of its machine is valid, and keeps what a machine file can keep."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from numasim.machine.build_machine import build
from numasim.machine.draft import LOCAL_NS, draft_machine
from numasim.machine.inventory import Cache, Inventory, Thread

MOST_THREADS_OF_A_CORE = 8  # of any processor, and in a machine file


@st.composite
def even_systems(draw: Any) -> tuple[Inventory, tuple[int, int, int, int]]:
    """A system whose parts are all alike, with its shape; ids are shuffled, distances are any."""
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
    spec = draft.check()  # which refuses links that do not join all nodes
    machine = build(spec)
    assert (spec.sockets, spec.nodes.per_socket, spec.nodes.cores, spec.nodes.threads_per_core) == shape
    assert machine.threads == len(inventory.threads)
    assert spec.caches.llc_scope == "socket"
    assert draft.remarks[1:] == []
    distance = [[inventory.distance[a, b] for b in draft.nodes] for a in draft.nodes]
    expected = [[int(LOCAL_NS * far * 100) for far in row] for row in distance]
    assert machine.latency_ps.tolist() == expected


@given(st.lists(st.tuples(*(st.integers(0, most) for most in (4, 2, 3))), min_size=1, max_size=MOST_THREADS_OF_A_CORE))
def test_any_system_becomes_a_machine(places: list[tuple[int, int, int]]) -> None:
    """Cores and sockets that lie across nodes, nodes of different sizes: all are remarked, none is refused."""
    threads = tuple(Thread(at, core, socket, node) for at, (core, socket, node) in enumerate(places))
    caches = tuple(Cache(2, 2**20, 0, frozenset({thread.id, 0})) for thread in threads)
    spec = draft_machine(Inventory("a test", threads, caches, {}, {}, None, None, ()), "any").check()
    assert spec.node_count == len({thread.node for thread in threads})
