"""The topologies that have a name: which nodes are linked, as pairs that stand for both directions.

ring            node i with node i + 1, the last one with the first
fully-connected every node with every other
twisted-ladder  two rails of nodes, 0, 2, 4, .. and 1, 3, 5, .., joined by rungs, except between the two columns in the
                middle, where the rails cross: eight Opteron processors of three links (`opteron-875-8s`)
mesh            node row * columns + column with its up to four neighbours in a grid
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

Pairs = Iterator[tuple[int, int]]
LADDER_STEP = 4  # a ladder has an even number of columns of two nodes
LEAST_LADDER = 8


def ring(nodes: int) -> Pairs:
    """Yield the links of a ring; of two nodes there is one, of one none."""
    yield from ((node, node + 1) for node in range(nodes - 1))
    if nodes > 2:
        yield 0, nodes - 1


def fully_connected(nodes: int) -> Pairs:
    """Yield a link for every pair of nodes."""
    yield from combinations(range(nodes), 2)


def twisted_ladder(nodes: int) -> Pairs:
    """Yield the links of a twisted ladder in ascending order; ``nodes`` is as `fits_ladder` wants it."""
    middle = nodes // 2
    across = {middle - 2: (middle + 1,), middle - 1: (middle,)}  # where the rails cross
    rungs = {node for node in range(0, nodes, 2) if node not in (middle - 2, middle)}
    for node in range(nodes):
        beside = (node + 1,) if node in rungs else ()
        further = (node + 2,) if node + 2 < nodes else ()
        yield from ((node, other) for other in sorted((*beside, *further, *across.get(node, ()))))


def fits_ladder(nodes: int) -> bool:
    """Whether a twisted ladder can have so many nodes: 8, 12, 16, .."""
    return nodes >= LEAST_LADDER and nodes % LADDER_STEP == 0


def mesh(rows: int, columns: int) -> Pairs:
    """Yield the links of a grid, in ascending order."""
    for node in range(rows * columns):
        if (node + 1) % columns:
            yield node, node + 1
        if node + columns < rows * columns:
            yield node, node + columns


BY_NODES: dict[str, Callable[[int], Pairs]] = {
    "ring": ring,
    "fully-connected": fully_connected,
    "twisted-ladder": twisted_ladder,
}
