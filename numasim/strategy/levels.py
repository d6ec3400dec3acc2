"""Steal levels and dispatch rules as fixed-size records and rows of candidate queues.

A worker that does not use a level, such as a worker that is no head under ``who: head``, has an empty row. A *position*
is a worker or, behind the workers, an extra producer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
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
    Chance,
    ChanceSpec,
    Condition,
    LengthCondition,
    Vicinity,
)
from numasim.schema.enumerations import (
    ALL16,
    BELOW_MAX_MARK,
    BELOW_MIN_MARK,
    FLAG_ATTEMPT,
    FLAG_COPY,
    FLAG_GATED,
    FLAG_HEADS,
    FLAG_HERE,
    FLAG_INVERT,
    FLAG_LOOKS,
    FLAG_OWN_FIRST,
    FLAG_SOURCE,
    FLAG_UNEVEN,
    FLAG_UNLESS,
    MAX_MARK,
    MIN_MARK,
    NONE8,
    OWNER_EXACT_MARK,
    OWNER_MARK,
    TIER_SHIFT,
    AmountKind,
    Anchor,
    Counted,
    NodeRank,
    Pick,
    Tier,
    Visit,
    Weigh,
)
from numasim.strategy.queue_families import NOWHERE, Family, Pool, Units, pool_of
from numasim.strategy.steal_plan import CHANCE, DATA, LEVEL

# ---- Conditions and chances of levels, and data conditions of dispatch rules, as table entries -----------------------
#
# A watch has a bit for each queue. The bit is set when the queue's length reaches one bound and cleared when the length
# falls to another bound. For the status VICTIM, the owners of queues may be the only writers of the bits.

AT_MARK = {"max": MAX_MARK, "min": MIN_MARK}
BELOW_MARK = {"max": BELOW_MAX_MARK, "min": BELOW_MIN_MARK}
ANNOUNCED: dict[Announcement, tuple[int, int]] = {  # the latched VICTIM status of thesis Algorithm 1
    "always": (MAX_MARK, MIN_MARK),  # the bit is set at the threshold S and cleared at the threshold s
    "owner": (OWNER_MARK, OWNER_MARK),
    "owner-exact": (OWNER_EXACT_MARK, OWNER_EXACT_MARK),
}


@dataclass
class WatchTable:
    """The distinct watches of a strategy: the lengths at which the bits of each watch are set and cleared.

    ``announcement`` says which workers announce a queue as a victim, one of the keys of `ANNOUNCED`.
    """

    announcement: Announcement = "always"
    bounds: list[tuple[int, int]] = field(default_factory=list)

    def index(self, condition: Condition | None) -> tuple[int, bool]:
        """Return the number of the watch of ``condition``, or NONE8, and whether the watch's bit is read inverted."""
        if condition is None:
            return NONE8, False
        own = ANNOUNCED[self.announcement]
        bound = own if not isinstance(condition, LengthCondition) else _length_bounds(condition)
        if bound not in self.bounds:
            self.bounds.append(bound)
        return self.bounds.index(bound), isinstance(condition, LengthCondition) and condition.below is not None

    def array(self) -> npt.NDArray[np.int32]:
        """Return [watches, 2] the lengths that set and that clear a bit."""
        return np.array(self.bounds, np.int32).reshape(-1, 2)


def _length_bounds(condition: LengthCondition) -> tuple[int, int]:
    length = condition.length if condition.length is not None else condition.below
    if isinstance(length, str):
        return AT_MARK[length], BELOW_MARK[length]
    assert length is not None  # a condition has exactly one of the two fields
    return length, length - 1


@dataclass
class ChanceTable:
    """The chances of a strategy's levels."""

    records: list[tuple[int, ...]] = field(default_factory=list)

    def index(self, chance: Chance | None, level: int) -> int:
        """Return the number of the chance of steal level ``level``, or NONE8."""
        if chance is None:
            return NONE8
        spec = chance if isinstance(chance, ChanceSpec) else ChanceSpec(first=chance)
        deltas = (spec.hit, spec.miss, spec.elsewhere_hit, spec.elsewhere_miss)
        self.records.append((ppm(spec.first), ppm(spec.most), *(ppm(delta) for delta in deltas), level))
        return len(self.records) - 1

    def array(self) -> npt.NDArray[Any]:
        """Return [chances] CHANCE records."""
        return np.array(self.records, CHANCE)


@dataclass
class DataTable:
    """The conditions of a strategy's dispatch rules on a new task and its objects."""

    records: list[tuple[int, ...]] = field(default_factory=list)

    def index(self, rule: DispatchSpec) -> int:
        """Return the number of the record of ``rule``, or NONE8 if the rule has no condition on tasks."""
        flags = FLAG_LOOKS * rule.looks_at_data | FLAG_UNEVEN * rule.uneven
        flags |= FLAG_HERE * rule.here | FLAG_SOURCE * rule.source
        if not flags:
            return NONE8
        chooses = rule.target == "data" or rule.here or bool(rule.least_share)  # a node, by ``rank``
        rank = NodeRank[rule.rank.upper()] if chooses else NodeRank.MOST
        how = rank, Counted[rule.count.upper()], Weigh[rule.weigh.upper()]
        self.records.append((rule.least_bytes, ppm(rule.least_share), *how, flags))
        return len(self.records) - 1

    def array(self) -> npt.NDArray[Any]:
        """Return [records] DATA records."""
        return np.array(self.records, DATA)


# ---- The candidate queues of a position, in groups, nearest first, and in each group a segment for each family -------

WEIGHT_SCALE = 2**40  # a queue's weight is this scale / the latency to the queue in ps; sums stay inside 64 bits
DISTANCE = "distance"


@dataclass(frozen=True)
class Arrangement:
    """How a level arranges its candidates: grouped by unit or distance, rotated to start after the worker, weighted."""

    by: str | None = None
    after_me: bool = False
    weighted: bool = False


@dataclass
class RowTable:
    """The CSR tables of a plan under construction: rows of segments, segments of queues."""

    units: Units
    queues: list[I64] = field(default_factory=list)
    sizes: list[I64] = field(default_factory=list)
    weights: list[I64] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.queues)

    def arrange(self, pool: Pool, chosen: I64, position: int, how: Arrangement) -> None:
        """Append the row of ``position``: the queues ``pool.queue[chosen]``, arranged; equal queues go by ascending id.

        If no queue is chosen, the row is empty: the level does not apply to this position.
        """
        queue, family, first = pool.queue[chosen], pool.family[chosen], pool.first[chosen]
        group, groups = _groups(self.units, first, position, how.by)
        behind = (queue <= pool.mine[family, position]) & how.after_me
        order = np.lexsort((queue, behind, family, group))
        size = np.bincount(group * pool.families + family, minlength=groups * pool.families)
        weight = np.zeros(groups, np.int64)
        if how.weighted:
            np.add.at(weight, group, WEIGHT_SCALE // self.units.access_ps(position, first))
        self._append(queue[order], size, np.repeat(np.cumsum(weight), pool.families))

    def row(self) -> npt.NDArray[np.uint32]:
        """Return [rows + 1] pointers into the segments."""
        return _pointers(np.array([len(size) for size in self.sizes], np.int64))

    def seg(self) -> npt.NDArray[np.uint32]:
        """Return [segments + 1] pointers into the queues."""
        return _pointers(_joined(self.sizes))

    def queue(self) -> npt.NDArray[np.uint32]:
        """Return [queues of all segments] the queue ids, segment by segment."""
        return _joined(self.queues).astype(np.uint32)

    def weight(self) -> npt.NDArray[np.uint64]:
        """Return [segments] cumulative weights within a row."""
        return _joined(self.weights).astype(np.uint64)

    def _append(self, queue: I64, size: I64, weight: I64) -> None:
        self.queues.append(queue)
        self.sizes.append(size)
        self.weights.append(weight)


def _joined(parts: list[I64]) -> I64:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _pointers(sizes: I64) -> npt.NDArray[np.uint32]:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.uint32)


def _groups(units: Units, first: I64, position: int, by: str | None) -> tuple[I64, int]:
    """Return ([n] the rank of each queue's group, the number of groups), the nearest group first."""
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
# Each worker begins as a group. The nearest groups are paired until one group is left, so that on a mesh four workers
# form a 2 x 2 block and sixteen workers a 4 x 4 block. The order of the workers in the last group is cut into blocks.

I64 = npt.NDArray[np.int64]
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
    """Return the groups joined in pairs, each with the nearest free group, and the summed distances between members."""
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


# ---- The named relations of queues to a worker: own, others, inside and outside of the worker's unit -----------------

Mask = npt.NDArray[np.bool_]
Relation = Callable[[Units, Pool, int], Mask]  # (units, pool, position) -> [queues of the pool], own queues included


def _own(_units: Units, pool: Pool, position: int) -> Mask:
    return pool.is_mine(position)


def _any(_units: Units, pool: Pool, _position: int) -> Mask:
    return np.ones(len(pool.queue), bool)


def _inside(units: Units, pool: Pool, position: int, *, kind: str) -> Mask:
    unit = units.of[kind]
    return np.asarray((unit[pool.first] == unit[position]) & (unit[position] != NOWHERE))


def _outside(units: Units, pool: Pool, position: int, *, kind: str) -> Mask:
    return ~_inside(units, pool, position, kind=kind)


RELATIONS: dict[str, Relation] = {
    "own": _own,
    "others": _any,
    "any": _any,
    **{f"own-{kind}": partial(_inside, kind=kind) for kind in ("core", "llc", "node", "socket")},
    **{f"other-{kind}s": partial(_outside, kind=kind) for kind in ("core", "llc", "node", "socket")},
}


def relation(name: str | Vicinity, units: Units) -> Relation:
    """Return the relation ``name``; for a `Vicinity`, the relation of queues to workers of the same block."""
    if isinstance(name, str):
        return RELATIONS[name]
    block = vicinities(units, name.vicinity)
    return lambda _units, pool, position: np.asarray(block[pool.first] == block[position])


AFTER_ME = "after-me"
MOVING_ANCHORS = {"parent": Anchor.PARENT, "thief": Anchor.THIEF, "last": Anchor.LAST}
SCANNING = frozenset(
    {Pick.IN_ORDER, Pick.ROTATE, Pick.ROUND_ROBIN}
)  # with these picks a dispatch rule finds each queue that has room
NAMED_AMOUNTS = {"one": (AmountKind.COUNT, 1), "half": (AmountKind.SHARE, 2), "all": (AmountKind.SHARE, 1)}


@dataclass
class LevelTable:
    """The level records of a strategy, and the tables to which they point, during compilation."""

    spec: StrategySpec
    machine: Machine
    units: Units
    families: dict[str, Family]
    watches: WatchTable = field(init=False)
    chances: ChanceTable = field(default_factory=ChanceTable)
    data: DataTable = field(default_factory=DataTable)
    records: list[npt.NDArray[Any]] = field(default_factory=list)
    rows: RowTable = field(init=False)

    def __post_init__(self) -> None:
        self.rows = RowTable(self.units)
        self.watches = WatchTable(self.spec.announcement)

    def add_level(self, level: LevelSpec) -> None:
        """Append a steal level and its rows."""
        pool = self._pool(level)
        record = self._record(level, pool)
        record["anchor"] = self._add_steal_rows(level, pool, record)
        record["tries"] = ALL16 if level.tries == "all" else level.tries
        if level.source == "last":
            record["pick"] = Pick.IN_ORDER  # a single queue needs no draw
        record["leave"] = level.leave
        record["visit"] = Visit[level.visit.upper()]
        record["chance"] = self.chances.index(level.chance, len(self.records))
        record["data"] = NONE8
        record["amount_kind"], record["amount"] = self._amount(level.amount or self.spec.amount)
        record["flags"] |= FLAG_GATED * level.gated | FLAG_OWN_FIRST * level.own_first
        record["flags"] |= FLAG_ATTEMPT * (level.source != "own")
        self.records.append(record)

    def add_rule(self, rule: DispatchSpec, for_producer: bool = False) -> None:
        """Append a dispatch rule and its rows; with ``for_producer`` the rows of the workers are empty."""
        pool = self._pool(rule)
        record = self._record(rule, pool)
        record["anchor"] = self._add_dispatch_rows(rule, for_producer, pool)
        record["tries"] = ALL16 if Pick(int(record["pick"][0])) in SCANNING else 1
        record["chance"] = NONE8
        record["data"] = self.data.index(rule)
        record["flags"] |= sum(int(Tier[name.upper()]) for name in set(rule.tier or ())) << TIER_SHIFT
        record["amount"] = 1
        record["flags"] |= FLAG_COPY if rule.copies else 0
        self.records.append(record)

    def array(self) -> npt.NDArray[Any]:
        """Return [levels] LEVEL records."""
        return np.concatenate(self.records)

    def _pool(self, entry: LevelSpec | DispatchSpec) -> Pool:
        return pool_of([self.families[name] for name in self.spec.families(entry)])

    def _record(self, entry: LevelSpec | DispatchSpec, pool: Pool) -> npt.NDArray[Any]:
        record = np.zeros(1, LEVEL)
        record["row"] = len(self.rows)
        record["segments"] = pool.families
        record["pick"] = _pick(entry.pick)
        record["sample"] = entry.sample or ALL16
        record["watch"], inverted = self.watches.index(entry.condition)
        record["flags"] = FLAG_INVERT * inverted | FLAG_UNLESS * (entry.unless is not None)
        record["first_iteration"], record["last_iteration"] = entry.span
        record["toggle"] = NONE8 if entry.switch is None else self.spec.switches.index(entry.switch)
        return record

    def _amount(self, amount: Amount) -> tuple[AmountKind, int]:
        if not isinstance(amount, AmountSpec):
            return NAMED_AMOUNTS[amount]
        if amount.count is not None:
            return AmountKind.COUNT, amount.count
        return AmountKind.SHARE, self.units.workers if amount.share == "workers" else int(amount.share or 1)

    def _add_steal_rows(self, level: LevelSpec, pool: Pool, record: npt.NDArray[Any]) -> Anchor:
        anchor = MOVING_ANCHORS.get(str(level.source), Anchor.ME)
        how = Arrangement(level.by, level.pick == AFTER_ME, level.visit == "weighted")
        heads = [level.who is None or self._is_head(pool, worker) for worker in range(self.units.workers)]
        if anchor is Anchor.ME:
            self._add_fixed_rows(level, pool, how, heads)
            return anchor
        record["flags"] |= FLAG_HEADS * (not all(heads))
        for worker, uses in enumerate(heads if not all(heads) else ()):
            self.rows.arrange(pool, np.flatnonzero(pool.is_mine(worker) & uses), worker, how)
        if anchor is Anchor.LAST:
            for queue in range(sum(len(family.queue) for family in self.families.values())):
                self.rows.arrange(pool, np.flatnonzero(pool.queue == queue), 0, how)
            return anchor
        for worker in range(self.units.workers):
            self.rows.arrange(pool, np.flatnonzero(pool.is_mine(worker)), worker, how)
        return anchor

    def _add_fixed_rows(self, level: LevelSpec, pool: Pool, how: Arrangement, heads: list[bool]) -> None:
        named = relation(level.source, self.units)
        for worker, uses in enumerate(heads):
            mask = named(self.units, pool, worker) & uses
            if not level.include_self and level.source != "own":
                mask = mask & ~pool.is_mine(worker)
            self.rows.arrange(pool, np.flatnonzero(mask), worker, how)

    def _add_dispatch_rows(self, rule: DispatchSpec, for_producer: bool, pool: Pool) -> Anchor:
        target, after_me = rule.target, rule.pick == AFTER_ME
        if target == "lightest":
            return self._add_node_rows(pool, after_me)
        if target == "data":
            return self._add_domain_rows(pool, after_me)
        if target == "label":
            return self._add_unit_rows(pool, after_me)
        named = relation(target, self.units)
        how = Arrangement(after_me=after_me)
        if target == "any" and not after_me and not for_producer:
            self.rows.arrange(pool, np.arange(len(pool.queue)), 0, how)
            return Anchor.ALL
        for position in range(self.units.positions):
            mask = named(self.units, pool, position)
            if for_producer and position < self.units.workers:
                mask = np.zeros_like(mask)
            self.rows.arrange(pool, np.flatnonzero(mask), position, how)
        return Anchor.ME

    def _add_node_rows(self, pool: Pool, after_me: bool) -> Anchor:
        node = self.units.of["node"]
        for there in range(self.machine.nodes):
            chosen = np.flatnonzero(node[pool.first] == there)
            self.rows.arrange(pool, chosen, 0, Arrangement(after_me=after_me))
        return Anchor.LIGHTEST

    def _add_domain_rows(self, pool: Pool, after_me: bool) -> Anchor:
        """Append a row for each node: the queues of the node's workers, shared queues included."""
        node = self.units.of["node"][: self.units.workers]
        for there in range(self.machine.nodes):
            mine = pool.mine[:, np.flatnonzero(node == there)]
            self.rows.arrange(pool, np.flatnonzero(np.isin(pool.queue, mine)), 0, Arrangement(after_me=after_me))
        return Anchor.DATA

    def _add_unit_rows(self, pool: Pool, after_me: bool) -> Anchor:
        """Append a row for each unit that has a worker: the unit's queue in every family."""
        number = np.concatenate([np.arange(size) for size in np.bincount(pool.family)])
        for unit in range(int(number.max()) + 1):
            self.rows.arrange(pool, np.flatnonzero(number == unit), 0, Arrangement(after_me=after_me))
        return Anchor.LABEL

    @staticmethod
    def _is_head(pool: Pool, worker: int) -> bool:
        """Return whether ``worker`` is the first worker of its unit, by the units of the first family of ``pool``."""
        return bool(pool.first[pool.queue == pool.mine[0, worker]][0] == worker)


def _pick(name: str) -> Pick:
    """Return the pick ``name``; for `after-me` the pick in order, since the rows begin after the worker."""
    return Pick.IN_ORDER if name == AFTER_ME else Pick[name.upper().replace("-", "_")]
