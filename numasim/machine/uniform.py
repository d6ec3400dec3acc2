"""The uniform shape most similar to a system: all sockets have as many nodes, all nodes as many cores.

Models the machines of model 2.1, whose nodes are all alike. Remarks list the deviations of the system.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from numasim.machine.inventory import Inventory, Thread, as_list


@dataclass(frozen=True)
class Shape:
    """Sockets, nodes of each, cores of a node, threads of a core; ``nodes`` are the system's numbers, in order."""

    nodes: tuple[int, ...]
    sockets: int
    cores: int
    threads_per_core: int
    remarks: tuple[str, ...]

    @property
    def per_socket(self) -> int:
        """Nodes of one socket."""
        return len(self.nodes) // self.sockets


def shape_of(inventory: Inventory) -> Shape:
    """Find the shape of a system with at least one hardware thread."""
    threads: dict[int, list[Thread]] = {}
    for thread in inventory.threads:
        threads.setdefault(thread.node, []).append(thread)
    home = {node: min(thread.socket for thread in held) for node, held in threads.items()}
    nodes = tuple(sorted(threads, key=lambda node: (home[node], node)))
    sockets, said = _sockets(nodes, home, threads)
    cores = {node: len({thread.core for thread in threads[node]}) for node in nodes}
    siblings = Counter(thread.core for thread in inventory.threads)
    remarks = [
        *said,
        *_uneven("node {} has {} cores", cores),
        *_uneven("core {} has {} hardware threads", siblings),
        *_without_processors(inventory, nodes),
    ]
    return Shape(nodes, sockets, _commonest(cores.values()), _commonest(siblings.values()), tuple(remarks))


def _sockets(nodes: tuple[int, ...], home: dict[int, int], threads: dict[int, list[Thread]]) -> tuple[int, list[str]]:
    wide = [node for node in nodes if len({thread.socket for thread in threads[node]}) > 1]
    per_socket = Counter(home.values())
    if wide:
        return len(nodes), [f"node {wide[0]} spans several sockets; each node is taken as a socket"]
    if len(set(per_socket.values())) > 1:
        return len(nodes), ["sockets have different numbers of nodes; each node is taken as a socket"]
    return len(per_socket), []


def _commonest(values: Iterable[int]) -> int:
    """The most frequent value; of several, the largest."""
    return max(Counter(values).items(), key=lambda item: (item[1], item[0]))[0]


def _uneven(sentence: str, values: dict[int, int]) -> list[str]:
    taken = _commonest(values.values())
    other = [which for which, value in values.items() if value != taken]
    if not other:
        return []
    more = f", {len(other) - 1} more differ as well" if len(other) > 1 else ""
    return [f"{sentence.format(other[0], values[other[0]])}, {taken} are taken everywhere{more}"]


def _without_processors(inventory: Inventory, nodes: tuple[int, ...]) -> list[str]:
    alone = frozenset(inventory.memory_bytes) - frozenset(nodes)
    return [f"nodes that have no processor to use are left out: {as_list(alone)}"] if alone else []
