"""What a line puts on each link: itself, and the messages that keep caches coherent (model 2.1 and 2.5).

Where a machine snoops, a line that a node fetches from its home goes like this (Conway and Hughes, IEEE Micro 2007): a
request to the home; questions from there to all other nodes with caches, one on each link that leads to some of them;
an answer of each to the node that fetches; the line; an acknowledgement to the home. A line that is written back is
acknowledged, and nobody is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numasim.machine.topology import Machine
from numasim.workload.one_worker import LINE_BYTES

OnLinks = Mapping[int, int]  # bytes by link


def fetched(machine: Machine, node: int, home: int) -> OnLinks:
    """What a line puts on links that ``node`` gets from ``home``, or from another node's cache."""
    snoop, load = machine.snoop, _Load(machine)
    if snoop is None:
        load.send(home, node, LINE_BYTES)
        return load.bytes
    others = [other for other in range(machine.nodes) if machine.cores_of_node[other]]
    load.send(node, home, snoop.request_bytes)
    load.spread(home, others, snoop.request_bytes)
    for other in others:
        if other != home:
            load.send(other, node, snoop.answer_bytes)
    load.send(home, node, LINE_BYTES + snoop.answer_bytes)
    load.send(node, home, snoop.answer_bytes)
    return load.bytes


def written(machine: Machine, node: int, home: int) -> OnLinks:
    """What a line puts on links that ``node`` writes back to ``home``."""
    snoop, load = machine.snoop, _Load(machine)
    load.send(node, home, LINE_BYTES + (snoop.request_bytes if snoop else 0))
    if snoop:
        load.send(home, node, snoop.answer_bytes)
    return load.bytes


class _Load:
    """Bytes by link."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.bytes: dict[int, int] = {}

    def send(self, source: int, target: int, size: int) -> None:
        """Send ``size`` bytes from node to node; within a node they use no link."""
        for link in self._route(source, target):
            self._add(link, size)

    def spread(self, source: int, targets: list[int], size: int) -> None:
        """Send the same ``size`` bytes to all ``targets``, over each link once."""
        for link in {link: True for target in targets for link in self._route(source, target)}:
            self._add(link, size)

    def _route(self, source: int, target: int) -> Iterator[int]:
        links, at = self._machine.links, source * self._machine.nodes + target
        yield from links.route[links.route_ptr[at] : links.route_ptr[at + 1]].tolist()

    def _add(self, link: int, size: int) -> None:
        self.bytes[link] = self.bytes.get(link, 0) + size
