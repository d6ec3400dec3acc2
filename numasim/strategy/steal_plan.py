"""The compiled form of a strategy: tables that engines and the task runtime interpret in the same way.

All arrays are read-only. A *level* is a steal level (an entry of the strategy's list of places to steal from) or a
dispatch rule (an entry of its list of choices of a queue for a new task); the rules stand behind the steal levels. A
level has a row of candidate queues for each *anchor*, the object from which the level searches: ME, PARENT and THIEF
have an anchor for each worker (rules by ME have one more row, for an extra producer of tasks), LAST for each queue,
LIGHTEST and DATA for each node, LABEL for each unit (core, node, ...) that labels of tasks name, ALL the anchor 0
alone. With FLAG_HEADS, a row for each worker precedes these rows; the row is empty if the worker does not use the
level. Anchor a of a level has row ``level.row + a``. Row r has the segments ``row[r]`` to ``row[r + 1] - 1``, and
segment s the queues ``queue[seg[s]:seg[s + 1]]``. Consecutive segments, one for each family (kind of queues) that the
level names, form a group of equally near queues.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.schema import enumerations as codes
from numasim.schema import record_layouts
from numasim.schema.enumerations import AmountKind, Anchor, Counted, Full, NodeRank, Pick, Visit, Weigh

LEVEL, QUEUE, CHANCE, DATA = (
    np.dtype(record.descr())
    for record in (record_layouts.LEVEL, record_layouts.QUEUE, record_layouts.CHANCE, record_layouts.DATA)
)


@dataclass(frozen=True)
class Thresholds:
    """The rule that determines the thresholds S and s of a queue (Vikranth's thesis, eq. 3.3, 3.4; model 4.3)."""

    max_tasks: int | None  # S: thieves may steal from S tasks on; None: S is computed during the run
    min_tasks: int | None  # s: the owner steals at s tasks; None: s is computed during the run
    rule: str  # how S is computed: literal | avail | fraction
    fraction_ppm: int  # for the rule ``fraction``
    when: str  # when both are computed: first-drain | phase | fixed (never)


@dataclass(frozen=True)
class Backoff:
    """The wait after ``fails`` failed rounds (or probes) in a row: ``min(first * factor ** (fails - 1), max)``."""

    first_ps: int | None  # None: a task's mean duration, if each run draws durations (`numasim.plan.plan`)
    factor: int
    max_ps: int | None
    after: str  # round | probe: after what a worker waits
    empty: str  # skip | count: whether a round without a probe counts as a steal attempt


@dataclass(frozen=True)
class Adaptive:
    """The rule by which a worker changes its spawn order (model 3.3).

    A worker that spawns goes on with the parent and queues the child (help-first) if its stack has ``stack`` calls or
    more, or if at least ``steals`` tasks were stolen from the worker during its last ``every`` spawns; else it goes on
    with the child (work-first). In place of the steals, ``work_first`` decides on the first ``every`` spawns.
    """

    stack: int
    every: int
    steals: int
    work_first: bool


@dataclass(frozen=True)
class StealPlan:
    """A strategy compiled for one machine and number of workers. A live subtree is a subtree of tasks, chosen by the
    strategy, whose root has begun and whose tasks have not all ended; a gate closes a level by their number.
    """

    name: str
    workers: int
    steal_levels: int
    level: npt.NDArray[Any]  # [levels] LEVEL records
    row: npt.NDArray[np.uint32]
    seg: npt.NDArray[np.uint32]
    queue: npt.NDArray[np.uint32]
    weight: npt.NDArray[np.uint64]  # [segments] cumulative within a row, for Visit.WEIGHTED
    # [watches, 2] a watch is a bit for each queue, set at length >= first, cleared at length <= second; or by a mark
    watch: npt.NDArray[np.int32]
    chance: npt.NDArray[Any]  # [levels used by chance] CHANCE records
    data: npt.NDArray[Any]  # [rules with conditions on tasks] DATA records
    node: npt.NDArray[np.int32]  # [workers + 1] the node of each worker, and of an extra producer
    domains: npt.NDArray[np.int32]  # the nodes that have workers, ascending
    latency_ps: npt.NDArray[np.int64]  # [nodes, nodes] from a core of the first node to memory of the second node
    queues: npt.NDArray[Any]  # [queues] QUEUE
    own: npt.NDArray[np.uint32]  # [workers] the worker's own queue, or NO_QUEUE
    lines: npt.NDArray[np.uint8]  # [queues] the number of cache lines, 1 or 2, on which the queue's words stand
    families: tuple[str, ...]  # names of the kinds of queues
    refill: int | None  # at so many own tasks a worker steals; None: at the queue's threshold s
    work_first_tiers: int  # a mask of `Tier`: children of these tiers are begun at their spawn
    adaptive: Adaptive | None  # None unless the spawn order adapts to steals
    thresholds: Thresholds
    backoff: Backoff
    gate: npt.NDArray[np.int32]  # [workers] the unit of each worker, by which live subtrees are counted
    live_most: int  # from so many live subtrees of their unit on, gated levels are closed to workers
    switches: tuple[str, ...]  # the names of the bits that turn levels and rules on and off, in order

    @property
    def work_first(self) -> bool:
        """Return whether workers begin some tasks at their spawn, so that their parents come into queues."""
        return self.work_first_tiers != 0

    @property
    def counts_live(self) -> bool:
        """Return whether a level depends on how many subtrees are live."""
        return bool((self.level["flags"][: self.steal_levels] & codes.FLAG_GATED).any())

    @property
    def slots(self) -> npt.NDArray[np.bool_]:
        """Return [queues] whether the queue is a slot: a queue of one task in front of a worker's own queue."""
        return np.asarray(self.queues["full"] == Full.DISPLACE)

    @property
    def spills(self) -> npt.NDArray[np.bool_]:
        """Return [queues] whether the queue spills: half of a full queue's tasks leave it as a task is put into it."""
        return np.isin(self.queues["full"], (Full.SPILL_OLDEST, Full.SPILL_NEWEST))

    @property
    def moves_tasks(self) -> bool:
        """Return whether tasks of a full queue leave it for another queue."""
        return bool((self.slots | self.spills).any())

    @property
    def polls(self) -> bool:
        """Return whether workers probe a level between tasks, after so many tasks each time."""
        return bool(self.level["every"][: self.steal_levels].any())

    @property
    def asks_tasks(self) -> bool:
        """Return whether a dispatch rule asks for the tier or the label of a task."""
        rules = self.level[self.steal_levels :]
        return bool((rules["flags"] & codes.FLAG_TIERS).any() or (rules["anchor"] == Anchor.LABEL).any())

    @property
    def numbers_tasks(self) -> bool:
        """Return whether dispatch rules ask for the number of a new task in its phase."""
        return bool(np.isin(self.level["pick"][self.steal_levels :], (Pick.CYCLIC, Pick.BLOCK)).any())

    @property
    def looks_at_data(self) -> bool:
        """Return whether a dispatch rule needs the homes of a new task's objects."""
        return bool((self.data["flags"] & codes.FLAG_LOOKS).any())

    @property
    def copies(self) -> bool:
        """Return whether a dispatch rule leaves copies of tasks."""
        return bool((self.level["flags"][self.steal_levels :] & codes.FLAG_COPY).any())

    @property
    def levels(self) -> int:
        """Return the number of level records, steal levels and dispatch rules together."""
        return len(self.level)


# ---- The records of levels and rules as Python values ----------------------------------------------------------------

Segment = tuple[int, ...]  # queues
NO_INDEX = -1


class Row(NamedTuple):
    """The candidates of one anchor: groups of segments, and the running sum of weights at each group."""

    groups: tuple[tuple[Segment, ...], ...]
    weights: tuple[int, ...]


NO_ROW = Row((), ())


class DataRule:
    """The conditions of a dispatch rule on a task: a DATA record as Python values."""

    __slots__ = ("counted", "here", "looks", "min_bytes", "min_share_ppm", "rank", "source", "uneven", "weigh")

    def __init__(self, record: Any) -> None:
        """Decode ``record``."""
        flags = int(record["flags"])
        self.looks, self.source = bool(flags & codes.FLAG_LOOKS), bool(flags & codes.FLAG_SOURCE)
        self.uneven, self.here = bool(flags & codes.FLAG_UNEVEN), bool(flags & codes.FLAG_HERE)
        self.min_bytes, self.min_share_ppm = int(record["min_bytes"]), int(record["min_share_ppm"])
        self.rank, self.counted = NodeRank(record["rank"]), Counted(record["count"])
        self.weigh = Weigh(record["weigh"])


class Level:
    """One steal level or dispatch rule: a LEVEL record and its rows as Python values.

    The numbers ``watch``, ``chance`` and ``switch`` are NO_INDEX, and ``data`` is None, if the level has none.
    ``tiers`` is a mask of the tiers of tasks to which a rule applies, 0 for all tasks. A level has ``heads`` if only
    the first worker of each unit uses the level (``who: head``).
    """

    def __init__(self, plan: StealPlan, index: int) -> None:
        """Decode record ``index``; each row is decoded at its first use."""
        record = plan.level[index]
        end = int(plan.level["row"][index + 1]) if index + 1 < plan.levels else len(plan.row) - 1
        self._plan = plan
        self._row = int(record["row"])
        self._rows: dict[int, Row] = {}
        self._segments = int(record["segments"])
        self.index = index
        self.anchors = end - self._row
        self.first_iteration, self.last_iteration = int(record["first_iteration"]), int(record["last_iteration"])
        self.tries, self.sample, self.leave = int(record["tries"]), int(record["sample"]), int(record["leave"])
        self.anchor, self.pick, self.visit = Anchor(record["anchor"]), Pick(record["pick"]), Visit(record["visit"])
        self.amount, self.amount_kind = int(record["amount"]), AmountKind(record["amount_kind"])
        self.most, self.leap_after = int(record["most"]), int(record["leap_after"])
        self.every = int(record["every"])
        self.watch, self.chance = _index(record["watch"]), _index(record["chance"])
        self.data = None if record["data"] == codes.NONE8 else DataRule(plan.data[record["data"]])
        self.attempt = bool(record["flags"] & codes.FLAG_ATTEMPT)
        self.invert = bool(record["flags"] & codes.FLAG_INVERT)
        steals = index < plan.steal_levels
        self.gated = bool(record["flags"] & codes.FLAG_GATED)
        self.heads = steals and bool(record["flags"] & codes.FLAG_HEADS)
        self.own_first = steals and bool(record["flags"] & codes.FLAG_OWN_FIRST)
        self.copies = not steals and bool(record["flags"] & codes.FLAG_COPY)
        self.above = steals and bool(record["flags"] & codes.FLAG_ABOVE)
        self.forgets = steals and bool(record["flags"] & codes.FLAG_FORGET)
        self.switch, self.switched_off = _index(record["toggle"]), bool(record["flags"] & codes.FLAG_UNLESS)
        self.tiers = 0 if steals else int(record["flags"] & codes.FLAG_TIERS) >> codes.TIER_SHIFT

    @property
    def is_always(self) -> bool:
        """Return whether the level is in force in all iterations and for all tasks: it has no switch and no gate."""
        every = (self.first_iteration, self.last_iteration) == (0, codes.ALL32)
        return every and self.switch < 0 and not self.gated and not self.tiers

    def row_of(self, anchor: int, worker: int) -> Row:
        """Return the candidates at ``anchor`` for ``worker``; no candidates if the worker leaves the level out."""
        if not self.heads:
            return self.row(anchor)
        return self.row(self._plan.workers + anchor) if self.row(worker).groups else NO_ROW

    def row(self, anchor: int) -> Row:
        """Return row number ``anchor`` of the level; its candidates are in the order in which they are visited."""
        found = self._rows.get(anchor)
        if found is None:
            found = self._rows[anchor] = self._decode(anchor)
        return found

    def _decode(self, anchor: int) -> Row:
        plan, step = self._plan, self._segments
        first, end = (int(at) for at in plan.row[self._row + anchor : self._row + anchor + 2])
        segments = [tuple(plan.queue[plan.seg[s] : plan.seg[s + 1]].tolist()) for s in range(first, end)]
        groups = tuple(tuple(segments[at : at + step]) for at in range(0, len(segments), step))
        return Row(groups, tuple(plan.weight[first + step - 1 : end : step].tolist()))


def _index(number: Any) -> int:
    return NO_INDEX if number == codes.NONE8 else int(number)


def decode_levels(plan: StealPlan) -> tuple[tuple[Level, ...], tuple[Level, ...]]:
    """Return (steal levels, dispatch rules)."""
    levels = tuple(Level(plan, index) for index in range(plan.levels))
    return levels[: plan.steal_levels], levels[plan.steal_levels :]


def has_own_dispatch(plan: StealPlan) -> bool:
    """Return whether the first dispatch rule puts every worker's new tasks into the worker's own queue."""
    rule = Level(plan, plan.steal_levels)
    if plan.copies or rule.anchor is not Anchor.ME or rule.watch >= 0 or rule.data is not None or not rule.is_always:
        return False
    return all(rule.row(worker).groups == (((own,),),) for worker, own in enumerate(plan.own.tolist()))
