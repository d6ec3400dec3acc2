"""The similarity of a new task to each node (Vikranth's thesis, section 5.4, eq. 5.2; model 4.5, 4.9).

An object of a task is a piece of memory that the task accesses; its home is the node whose memory holds it, or it is
unbound. The similarity of the task to a node is the total weight of the task's objects at home there. The weight of an
object is its number of bytes, or 1 as in the printed eq. 5.2 (A-13). The division by |D| in eq. 5.2 is omitted, because
it changes no choice. Nodes without workers are never chosen; of equally good nodes the lowest is chosen. A rule is a
dispatch rule, an entry of the strategy's list of choices of a queue for a new task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mul
from typing import NamedTuple

from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import NodeRank, Weigh
from numasim.strategy.steal_plan import DataRule, StealPlan

UNBOUND = -1  # home of an object whose pages are not placed yet


class Objects(NamedTuple):
    """All objects of a task with the same home and mode: ``pieces`` objects, of ``bytes`` bytes together."""

    home: int  # node, or UNBOUND
    mode: int  # how they are accessed: bits of `numasim.workload.graph.Mode`
    pieces: int
    bytes: int


WEIGHT: dict[Weigh, Callable[[Objects], int]] = {
    Weigh.BYTES: lambda objects: objects.bytes,
    Weigh.OBJECTS: lambda objects: objects.pieces,
}


class Similarity:
    """Chooses nodes by the dispatch rules of one plan."""

    def __init__(self, plan: StealPlan) -> None:
        """Read the nodes of the workers of ``plan``."""
        self._node: list[int] = plan.node.tolist()
        self._domains: list[int] = plan.domains.tolist()
        self._latency_ps: list[list[int]] = plan.latency_ps.tolist()

    def chosen(self, rule: DataRule, objects: Sequence[Objects], position: int) -> list[int] | None:
        """Return the nodes that ``rule`` chooses for a new task of the worker or producer ``position``; None if a
        condition of the rule fails: too few bytes, equal similarities, another node than its own, too small a share.
        """
        counted = [some for some in objects if some.mode & rule.counted]
        if sum(some.bytes for some in counted) < rule.min_bytes:
            return None
        similarity = self._similarity(rule, counted)
        if rule.uneven and min(similarity) == max(similarity):
            return None
        nodes = self._ranked(rule.rank, similarity)
        if rule.here and self._node[position] not in nodes:
            return None
        least = rule.min_share_ppm * sum(map(WEIGHT[rule.weigh], counted))
        if rule.min_share_ppm and not (nodes and similarity[nodes[0]] * MILLION >= least):
            return None
        return nodes

    def _similarity(self, rule: DataRule, counted: Sequence[Objects]) -> list[int]:
        """Return [nodes] the total weight of the objects whose home is each node."""
        similarity, weight = [0] * len(self._latency_ps), WEIGHT[rule.weigh]
        for some in counted:
            if some.home != UNBOUND:
                similarity[some.home] += weight(some)
        return similarity

    def _ranked(self, rank: NodeRank, similarity: list[int]) -> list[int]:
        """Return the nodes chosen by ``rank``, ascending, all with workers; none if all objects are unbound."""
        if not any(similarity):
            return []
        if rank is NodeRank.CHEAPEST:
            # sum over nodes: the weight of the objects there, times the latency from ``node`` to there
            cost = {node: sum(map(mul, similarity, self._latency_ps[node])) for node in self._domains}
            return [min(cost, key=cost.__getitem__)]
        homes = [node for node in self._domains if similarity[node]]
        if rank is NodeRank.ANY:
            return homes
        return [max(homes, key=similarity.__getitem__)] if homes else []
