"""Steal levels and dispatch rules as fixed-size records and rows of candidate queues.

A steal level is an entry of the strategy's list of places to steal from, a dispatch rule one of its list of choices of
a queue for a new task; *level* means both. A *position* is a worker or, after the last worker, an extra producer (a
thread that only makes tasks). A worker that does not use a level has an empty row: with ``who: head``, all workers but
the first of each unit. A pool is the queues of the families (kinds of queues, such as one for each node) of a level.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.machine.topology import Machine
from numasim.parts.base import ppm
from numasim.parts.models.search_model import DispatchSpec, LevelSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import (
    Amount,
    AmountSpec,
    Announcement,
    ChanceSpec,
    Condition,
    LengthCondition,
    Vicinity,
)
from numasim.schema import enumerations as codes
from numasim.schema.enumerations import AmountKind, Anchor, Counted, NodeRank, Pick, Tier, Visit, Weigh
from numasim.strategy.queue_families import NOWHERE, Pool, Units, pool_of
from numasim.strategy.steal_plan import CHANCE, DATA, LEVEL
from numasim.workload.builder import frozen
from numasim.workload.forest_arrays import offsets

# ---- Conditions on the lengths of queues -----------------------------------------------------------------------------
#
# A watch has a bit for each queue. A bit is set when the queue's length reaches one bound and cleared when the length
# falls to another bound; a bound may be a threshold S (max) or s (min) of the queue. Bits of the status VICTIM may be
# written by the owners of the queues alone. The bits of the watch for `awake` are set while the owner sleeps.

AT_MARK = {"max": codes.MAX_MARK, "min": codes.MIN_MARK}
BELOW_MARK = {"max": codes.BELOW_MAX_MARK, "min": codes.BELOW_MIN_MARK}
ANNOUNCED: dict[Announcement, tuple[int, int]] = {  # the latched VICTIM status of thesis Algorithm 1
    "always": (codes.MAX_MARK, codes.MIN_MARK),  # the bit is set at the threshold S and cleared at the threshold s
    "owner": (codes.OWNER_MARK, codes.OWNER_MARK),
    "owner-exact": (codes.OWNER_EXACT_MARK, codes.OWNER_EXACT_MARK),
}


def _length_bounds(condition: LengthCondition) -> tuple[int, int]:
    """Return (length from which on a bit is set, length up to which it is cleared), each perhaps a mark for S or s."""
    length = condition.length if condition.length is not None else condition.below
    if isinstance(length, str):
        return AT_MARK[length], BELOW_MARK[length]
    assert length is not None  # a condition has exactly one of the two fields
    return length, length - 1


# ---- The candidate queues of a position, in groups, nearest first, and in each group a segment for each family -------

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
WEIGHT_SCALE = 2**40  # a queue's weight is this scale / the latency to the queue in ps; sums stay inside 64 bits
DISTANCE = "distance"


def _joined(parts: list[I64]) -> I64:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _groups(units: Units, first: I64, position: int, by: str | None) -> tuple[I64, int]:
    """Return ([n] the rank of each queue's group, nearest 0; the number of groups); ``by`` None is one group."""
    if by is None:
        return np.zeros(len(first), np.int64), min(1, len(first))
    distance = units.distance[position, first]
    ids, member = np.unique(distance if by == DISTANCE else units.of[by][first], return_inverse=True)
    nearest = np.full(len(ids), np.iinfo(np.int64).max)
    np.minimum.at(nearest, member, distance)
    rank = np.empty(len(ids), np.int64)
    rank[np.lexsort((ids, nearest))] = np.arange(len(ids))
    return rank[member], len(ids)


# ---- Blocks of near neighbours, the static vicinities of home scheduling ---------------------------------------------
#
# At first each worker is a group. The nearest groups are paired until one group is left, so that on a mesh four workers
# form a 2 x 2 block and sixteen workers a 4 x 4 block. The order of the workers in the last group is cut into blocks.

FARTHEST = np.iinfo(np.int64).max


def vicinities(units: Units, size: int) -> I64:
    """Return [workers] the block of each worker; every block but the last has ``size`` workers."""
    between = units.distance
    groups = [[worker] for worker in range(units.workers)]
    while len(groups) > 1:
        groups, between = _paired(groups, between)
    block = np.empty(units.workers, np.int64)
    block[groups[0]] = np.arange(units.workers) // size
    return block


def _paired(groups: list[list[int]], between: I64) -> tuple[list[list[int]], I64]:
    """Return the groups joined in pairs, each with the nearest free group, and the distances between these."""
    free = np.ones(len(groups), bool)
    pairs = []
    for a in range(len(groups)):
        if free[a]:
            free[a] = False
            b = int(np.where(free, between[a], FARTHEST).argmin())
            pairs.append([a, b] if free[b] else [a])
            free[b] = False
    merged = [[worker for g in pair for worker in groups[g]] for pair in pairs]
    starts = np.cumsum([0] + [len(pair) for pair in pairs[:-1]])
    order = [g for pair in pairs for g in pair]
    sums = np.add.reduceat(np.add.reduceat(between[np.ix_(order, order)], starts, axis=0), starts, axis=1)
    return merged, sums


# ---- The named sets of queues: own, others, inside and outside of the worker's unit ----------------------------------


def relation(name: str | Vicinity, units: Units, pool: Pool) -> Callable[[int], Mask]:
    """Return a function from a position to [queues of the pool] whether each queue is in the set ``name``.

    The set of a `Vicinity` has the queues of the workers of the same block. ``others`` has the position's own queues,
    too; only ``other-*`` has not.
    """
    if name == "own":
        return pool.is_mine
    if name in ("others", "any"):
        return lambda _: np.ones(len(pool.queue), bool)
    if not isinstance(name, str):
        block = vicinities(units, name.vicinity)
        return lambda position: np.asarray(block[pool.first] == block[position])
    side, kind = name.split("-")
    unit = units.of[kind if side == "own" else kind.removesuffix("s")]

    def inside(position: int) -> Mask:
        return np.asarray((unit[pool.first] == unit[position]) & (unit[position] != NOWHERE))

    return inside if side == "own" else lambda position: ~inside(position)


AFTER_ME = "after-me"
RULE_ANCHORS = {"lightest": Anchor.LIGHTEST, "data": Anchor.DATA, "label": Anchor.LABEL}
MOVING_ANCHORS = {"parent": Anchor.PARENT, "thief": Anchor.THIEF, "last": Anchor.LAST}
SCANNING = {Pick.IN_ORDER, Pick.ROTATE, Pick.ROUND_ROBIN}  # picks by which a dispatch rule finds any queue with room
NAMED_AMOUNTS = {"one": (AmountKind.COUNT, 1), "half": (AmountKind.SHARE, 2), "all": (AmountKind.SHARE, 1)}


@dataclass
class LevelTable:
    """The level records of a strategy, and the tables to which the records point, during compilation.

    For each row of candidates ``queues`` has the queues, ``sizes`` the numbers of queues in the row's segments, and
    ``weights`` the running sums of weights. ``watches`` has the two bounds of each distinct watch, ``chances`` and
    ``data`` the values of CHANCE and DATA records.
    """

    spec: StrategySpec
    machine: Machine
    units: Units
    families: dict[str, Pool]
    records: list[npt.NDArray[Any]] = field(default_factory=list)
    watches: list[tuple[int, int]] = field(default_factory=list)
    chances: list[tuple[int, ...]] = field(default_factory=list)
    data: list[tuple[int, ...]] = field(default_factory=list)
    queues: list[I64] = field(default_factory=list)
    sizes: list[I64] = field(default_factory=list)
    weights: list[I64] = field(default_factory=list)

    def add_level(self, level: LevelSpec) -> None:
        """Append the record of a steal level, and its rows."""
        pool = self._pool(level)
        record = self._record(level, pool)
        record["anchor"] = self._add_steal_rows(level, pool, record)
        record["tries"] = codes.ALL16 if level.tries == "all" else level.tries
        if level.source == "last":
            record["pick"] = Pick.IN_ORDER  # a single queue needs no random number
        record["leave"] = level.leave
        record["every"] = level.every or 0
        record["leap_after"] = level.leap_after or 0
        record["visit"] = Visit[level.visit.upper()]
        record["chance"] = self._chance(level)
        record["data"] = codes.NONE8
        amount = level.amount or self.spec.amount
        record["amount_kind"], record["amount"], record["most"] = self._amount(amount)
        record["flags"] |= codes.FLAG_GATED * level.gated | codes.FLAG_OWN_FIRST * level.own_first
        above = isinstance(amount, AmountSpec) and amount.round == "above"
        record["flags"] |= codes.FLAG_FORGET * level.forget | codes.FLAG_ABOVE * above
        record["flags"] |= codes.FLAG_ATTEMPT * (level.source != "own")
        self.records.append(record)

    def add_rule(self, rule: DispatchSpec, for_producer: bool = False) -> None:
        """Append the record of a dispatch rule, and its rows; with ``for_producer`` the rows of workers are empty."""
        pool = self._pool(rule)
        record = self._record(rule, pool)
        record["anchor"] = self._add_dispatch_rows(rule, for_producer, pool)
        record["tries"] = codes.ALL16 if Pick(int(record["pick"][0])) in SCANNING else 1
        record["chance"] = codes.NONE8
        record["data"] = self._data(rule)
        record["flags"] |= sum(int(Tier[name.upper()]) for name in set(rule.tier or ())) << codes.TIER_SHIFT
        record["amount"] = 1
        record["flags"] |= codes.FLAG_COPY if rule.copies else 0
        self.records.append(record)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the read-only arrays of a `StealPlan`, by field."""
        found: dict[str, npt.NDArray[Any]] = {
            "row": offsets(np.array([len(size) for size in self.sizes], np.int64)).astype(np.uint32),
            "seg": offsets(_joined(self.sizes)).astype(np.uint32),
            "queue": _joined(self.queues).astype(np.uint32),
            "weight": _joined(self.weights).astype(np.uint64),
            "level": np.concatenate(self.records),
            "watch": np.array(self.watches, np.int32).reshape(-1, 2),
            "chance": np.array(self.chances, CHANCE),
            "data": np.array(self.data, DATA),
        }
        return {name: frozen(array) for name, array in found.items()}

    def _arrange(
        self, pool: Pool, mask: Mask, position: int, by: str | None, after_me: bool, weighted: bool = False
    ) -> None:
        """Append the row of ``position``: the queues of ``pool`` in ``mask``, grouped ``by`` unit or distance, the
        queues of each segment in ascending order.

        With ``after_me`` this order begins behind the position's own queue; a ``weighted`` row has weights. If ``mask``
        has no queue, the level does not apply to the position.
        """
        queue, family, first = pool.queue[mask], pool.family[mask], pool.first[mask]
        group, groups = _groups(self.units, first, position, by)
        behind = (queue <= pool.mine[family, position]) & after_me
        order = np.lexsort((queue, behind, family, group))
        weight = np.zeros(groups, np.int64)
        if weighted:
            np.add.at(weight, group, WEIGHT_SCALE // self.units.access_ps(position, first))
        self.queues.append(queue[order])
        self.sizes.append(np.bincount(group * pool.families + family, minlength=groups * pool.families))
        self.weights.append(np.repeat(np.cumsum(weight), pool.families))

    def _pool(self, entry: LevelSpec | DispatchSpec) -> Pool:
        return pool_of([self.families[name] for name in self.spec.families(entry)])

    def _record(self, entry: LevelSpec | DispatchSpec, pool: Pool) -> npt.NDArray[Any]:
        record = np.zeros(1, LEVEL)
        record["row"] = len(self.queues)
        record["segments"] = pool.families
        record["pick"] = _pick(entry.pick)
        record["sample"] = entry.sample or codes.ALL16
        record["watch"], inverted = self._watch(entry.condition)
        record["flags"] = codes.FLAG_INVERT * inverted | codes.FLAG_UNLESS * (entry.unless is not None)
        record["first_iteration"], record["last_iteration"] = entry.span
        record["toggle"] = codes.NONE8 if entry.switch is None else self.spec.switches.index(entry.switch)
        return record

    def _watch(self, condition: Condition | None) -> tuple[int, bool]:
        """Return the number of the watch of ``condition``, or NONE8, and whether queues pass whose bit is not set."""
        if condition is None:
            return codes.NONE8, False
        bounds, inverted = ANNOUNCED[self.spec.announcement], False
        if condition == "awake":
            bounds, inverted = (codes.ASLEEP_MARK, codes.ASLEEP_MARK), True
        if isinstance(condition, LengthCondition):
            bounds, inverted = _length_bounds(condition), condition.below is not None
        if bounds not in self.watches:
            self.watches.append(bounds)
        return self.watches.index(bounds), inverted

    def _chance(self, level: LevelSpec) -> int:
        """Append the CHANCE record of ``level``, the next level; return its number, or NONE8 without a chance."""
        if level.chance is None:
            return codes.NONE8
        spec = level.chance if isinstance(level.chance, ChanceSpec) else ChanceSpec(first=level.chance)
        shares = (spec.first, spec.most, spec.hit, spec.miss, spec.elsewhere_hit, spec.elsewhere_miss)
        self.chances.append((*map(ppm, shares), len(self.records)))
        return len(self.chances) - 1

    def _data(self, rule: DispatchSpec) -> int:
        """Append the DATA record of ``rule``; return its number, or NONE8 if the rule has no condition on tasks."""
        flags = codes.FLAG_LOOKS * rule.looks_at_data | codes.FLAG_UNEVEN * rule.uneven
        flags |= codes.FLAG_HERE * rule.here | codes.FLAG_SOURCE * rule.source
        if not flags:
            return codes.NONE8
        chooses = rule.target == "data" or rule.here or bool(rule.least_share)  # a node, by ``rank``
        rank = NodeRank[rule.rank.upper()] if chooses else NodeRank.MOST
        how = rank, Counted[rule.count.upper()], Weigh[rule.weigh.upper()]
        self.data.append((rule.least_bytes, ppm(rule.least_share), *how, flags))
        return len(self.data) - 1

    def _amount(self, amount: Amount) -> tuple[AmountKind, int, int]:
        if not isinstance(amount, AmountSpec):
            return *NAMED_AMOUNTS[amount], 0
        if amount.count is not None:
            return AmountKind.COUNT, amount.count, 0
        share = self.units.workers if amount.share == "workers" else int(amount.share or 1)
        return AmountKind.SHARE, share, amount.most or 0

    def _add_steal_rows(self, level: LevelSpec, pool: Pool, record: npt.NDArray[Any]) -> Anchor:
        anchor = MOVING_ANCHORS.get(str(level.source), Anchor.ME)
        heads = [level.who is None or self._is_head(pool, worker) for worker in range(self.units.workers)]
        if anchor is not Anchor.ME:
            record["flags"] |= codes.FLAG_HEADS * (not all(heads))
        for position, mask in self._steal_masks(level, pool, anchor, heads):
            self._arrange(pool, mask, position, level.by, level.pick == AFTER_ME, level.visit == "weighted")
        return anchor

    def _steal_masks(
        self, level: LevelSpec, pool: Pool, anchor: Anchor, heads: list[bool]
    ) -> Iterator[tuple[int, Mask]]:
        """Yield the position and the queues of each row; ``heads`` [workers] says which workers use the level."""
        if anchor is Anchor.ME:
            related = relation(level.source, self.units, pool)
            others = not level.include_self and level.source != "own"
            yield from ((w, related(w) & uses & ~(pool.is_mine(w) & others)) for w, uses in enumerate(heads))
            return
        if not all(heads):
            yield from ((worker, pool.is_mine(worker) & uses) for worker, uses in enumerate(heads))
        if anchor is Anchor.LAST:
            queues = sum(len(family.queue) for family in self.families.values())
            yield from ((0, pool.queue == queue) for queue in range(queues))
        else:
            yield from ((worker, pool.is_mine(worker)) for worker in range(self.units.workers))

    def _add_dispatch_rows(self, rule: DispatchSpec, for_producer: bool, pool: Pool) -> Anchor:
        after_me, node = rule.pick == AFTER_ME, self.units.of["node"]
        anchor = RULE_ANCHORS.get(str(rule.target), Anchor.ME)
        positions: Iterable[int] = itertools.repeat(0)
        masks: Iterable[Mask]
        if anchor is Anchor.LIGHTEST:
            masks = (node[pool.first] == there for there in range(self.machine.nodes))
        elif anchor is Anchor.DATA:  # the queues of the node's workers, shared queues included
            of_node = (np.flatnonzero(node[: self.units.workers] == there) for there in range(self.machine.nodes))
            masks = (np.isin(pool.queue, pool.mine[:, workers]) for workers in of_node)
        elif anchor is Anchor.LABEL:  # in every family the queue of a unit, by the number of the unit
            number = np.concatenate([np.arange(size) for size in np.bincount(pool.family)])
            masks = (number == unit for unit in range(int(number.max()) + 1))
        elif rule.target == "any" and not after_me and not for_producer:
            anchor, masks = Anchor.ALL, [np.ones(len(pool.queue), bool)]
        else:
            related = relation(rule.target, self.units, pool)
            positions = range(self.units.workers + 1)
            masks = (related(each) & (not for_producer or each == self.units.workers) for each in positions)
        for position, mask in zip(positions, masks, strict=False):
            self._arrange(pool, mask, position, None, after_me)
        return anchor

    @staticmethod
    def _is_head(pool: Pool, worker: int) -> bool:
        """Return whether ``worker`` is the first worker of its unit, by the units of the first family of ``pool``."""
        return bool(pool.first[pool.queue == pool.mine[0, worker]][0] == worker)


def _pick(name: str) -> Pick:
    """Return the pick ``name``; for `after-me` the pick in order, since the rows begin after the worker."""
    return Pick.IN_ORDER if name == AFTER_ME else Pick[name.upper().replace("-", "_")]
