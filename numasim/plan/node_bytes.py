"""The bytes that items of a range move from and to given nodes, and the waits for these bytes (model 3.5 and 1.8).

A range is many similar tasks, its items, that one rule (a family) describes. A node access says how many bytes each
item moves from and to which nodes. No cache serves these bytes, so that waits depend on the worker's node alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from numasim.errors import InputError
from numasim.machine.topology import Machine
from numasim.parts.unit_factors import MILLION
from numasim.plan.plan import Plan
from numasim.plan.price import OWNERSHIP, READ, WRITTEN, Price, Traffic, mlp_of
from numasim.plan.resources import Resources
from numasim.workload.amounts import number_of_access
from numasim.workload.graph import I64, Mode, NodeAccess, RangeFamily, Workload
from numasim.workload.one_worker import lines_ps


def check_nodes(work: Workload, machine: Machine) -> None:
    """Raise InputError for bytes on nodes that ``machine`` does not have."""
    for number, family in enumerate(work.ranges):
        for place, access in enumerate(family.node_accesses):
            for at, node in enumerate(access.nodes):
                if node >= machine.nodes:
                    raise InputError(
                        f"there is no node {node} on {machine.name}",
                        path=("ranges", number, "node_accesses", place, "nodes", at),
                        expected=f"a node below {machine.nodes}",
                    )


class PlacedAccess:
    """A node access on a machine: ``homes`` are the nodes of the bytes, ``ends`` the running sums of their shares."""

    def __init__(self, plan: Plan, access: NodeAccess) -> None:
        self.given = access
        self.homes = plan.machine.home_of_node[list(access.nodes)].astype(np.int32)
        self.ends = np.cumsum(access.shares, dtype=np.int64)
        self.mlp = mlp_of(plan)[access.pattern]
        self.kind = OWNERSHIP if access.mode == Mode.WRITE else READ
        self.written = access.mode != Mode.READ
        self._latency_ps = plan.machine.latency_ps

    def cut(self, amounts: I64) -> I64:
        """Return [items, homes] the bytes ``amounts`` [items], divided over the homes."""
        upto = amounts[:, None] * self.ends // self.ends[-1]
        return np.asarray(np.diff(upto, axis=1, prepend=0), np.int64)

    def latency_ps(self, node: int) -> I64:
        """Return [homes] the latency in ps from ``node`` to each home."""
        return np.asarray(self._latency_ps[node, self.homes])

    def wait_ps(self, amounts: I64, node: int) -> I64:
        """Return [items] the wait in ps for ``amounts`` [items] bytes on ``node``."""
        waits = lines_ps(self.given.factor * self.cut(amounts), self.latency_ps(node), self.mlp)
        return np.asarray(waits.sum(axis=1), np.int64)

    def local_wait_ps(self, amounts: I64, node: int) -> I64:
        """Return [items] the wait in ps if all bytes were local to ``node``."""
        return lines_ps(self.given.factor * amounts, int(self._latency_ps[node, node]), self.mlp)

    def returned_pages(self, amounts: I64, page_bytes: int) -> I64:
        """Return [items, homes] the pages that items with ``amounts`` [items] bytes give back."""
        return np.asarray(-(-(self.cut(amounts) * self.given.returned_ppm // MILLION) // page_bytes))

    def use(self, price: Price, resources: Resources, node: int, items: I64 | None) -> None:
        """Add the wait and the use of resources of the mean item (over ``items``; None: all) on ``node``."""
        mean = np.array([self.given.amounts.mean_of(items)])
        price.wait_ps += int(self.wait_ps(mean, node)[0])
        for home, amount in zip(self.homes.tolist(), self.cut(mean)[0].tolist(), strict=True):
            price.move(resources.reads[node][home], amount)
            if self.written:
                price.move(resources.writes[node][home], amount)


def placed_accesses(plan: Plan, family: RangeFamily) -> list[PlacedAccess]:
    """Return the node accesses of a family on the machine of ``plan``."""
    return [PlacedAccess(plan, access) for access in family.node_accesses]


class NodeBytes:
    """The bytes of a family's node accesses in a run with ``seed``."""

    def __init__(self, plan: Plan, family: RangeFamily, seed: int) -> None:
        self._placed = placed_accesses(plan, family)
        self._seed = seed
        self._nodes = plan.machine.nodes

    def _amounts(self, items: I64) -> Iterator[tuple[PlacedAccess, I64]]:
        """Yield each access, and [items] the bytes of each item by this access."""
        for number, access in enumerate(self._placed):
            yield access, access.given.amounts.of(items, self._seed, number_of_access(number))

    def waits_ps(self, items: I64, node: int) -> tuple[I64, I64]:
        """Return ([items] wait in ps on ``node``, [items] wait if all bytes were local)."""
        wait, local = np.zeros(len(items), np.int64), np.zeros(len(items), np.int64)
        for access, amounts in self._amounts(items):
            wait += access.wait_ps(amounts, node)
            local += access.local_wait_ps(amounts, node)
        return wait, local

    def by_home(self, items: I64) -> I64:
        """Return [nodes] the bytes that ``items`` move from and to each home."""
        total = np.zeros(self._nodes, np.int64)
        for access, amounts in self._amounts(items):
            np.add.at(total, access.homes, access.given.factor * access.cut(amounts).sum(axis=0))
        return total

    def returned_pages(self, items: I64, page_bytes: int) -> I64:
        """Return [items, nodes] the pages of each home that the items give back."""
        pages = np.zeros((self._nodes, len(items)), np.int64)
        for access, amounts in self._amounts(items):
            if access.given.returned_ppm:
                np.add.at(pages, access.homes, access.returned_pages(amounts, page_bytes).T)
        return pages.T

    def count(self, items: I64, node: int, traffic: Traffic, times: int = 1) -> None:
        """Count the bytes of ``items``, executed on ``node``, in ``traffic``, ``times`` times."""
        for access, amounts in self._amounts(items):
            moved = times * access.cut(amounts).sum(axis=0)
            np.add.at(traffic.bytes[access.kind][node], access.homes, moved)
            if access.written:
                np.add.at(traffic.bytes[WRITTEN][node], access.homes, moved)
