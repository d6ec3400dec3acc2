"""The compiled form of a strategy: tables that every executor interprets in the same way.

All arrays are read-only. A *level* is a steal level or, behind the steal levels, a dispatch rule. A level has a row of
candidate queues for each *anchor*, the object from which it searches. The anchors are the workers for ME, PARENT and
THIEF (dispatch by ME has one more row, for an extra producer), the queues for LAST, only 0 for ALL, the nodes for
LIGHTEST and DATA, and the units for LABEL. With FLAG_HEADS a row for each worker precedes these rows; it is empty if
the worker does not use the level. Row r has the segments ``row[r]`` to ``row[r + 1] - 1``, and anchor a of a level has
row ``level.row + a``. Segment s has the queues ``queue[seg[s]:seg[s + 1]]``. A group is ``level.segments`` consecutive
segments, one for each queue family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.schema import record_layouts
from numasim.schema.enumerations import (
    ALL32,
    FLAG_COPY,
    FLAG_GATED,
    FLAG_LOOKS,
    FLAG_TIERS,
    NONE8,
    Anchor,
    Pick,
)

LEVEL, QUEUE, CHANCE, DATA = (
    np.dtype(record.descr())
    for record in (record_layouts.LEVEL, record_layouts.QUEUE, record_layouts.CHANCE, record_layouts.DATA)
)


@dataclass(frozen=True)
class Thresholds:
    """The rule that determines the thresholds S and s of a queue (thesis eq. 3.3, 3.4; model 4.3).

    ``max_tasks`` is S and ``min_tasks`` is s, None if computed; ``rule`` is literal, avail or fraction (with
    ``fraction_ppm``); ``when`` is first-drain, phase or fixed.
    """

    max_tasks: int | None
    min_tasks: int | None
    rule: str
    fraction_ppm: int
    when: str


@dataclass(frozen=True)
class Backoff:
    """Waiting after a failed round (or probe): ``min(first * factor ** (fails - 1), max)``; 0: a worker polls at once.

    ``first_ps`` None stands for the mean duration of a task, if each run draws the durations (`numasim.plan.plan`).
    """

    first_ps: int | None
    factor: int
    max_ps: int | None
    after: str  # round | probe
    empty: str  # skip | count: whether a round without a candidate counts as an attempt


@dataclass(frozen=True)
class Adaptive:
    """The rule by which a worker changes its spawn order (model 3.3).

    A worker spawns help-first if its stack has ``stack`` calls or more, or if at least ``steals`` tasks were stolen
    from the worker during its last ``every`` spawns; else work-first. The first ``every`` spawns go by ``work_first``.
    """

    stack: int
    every: int
    steals: int
    work_first: bool


@dataclass(frozen=True)
class StealPlan:
    """A strategy compiled for one machine and number of workers."""

    name: str
    workers: int
    steal_levels: int
    level: npt.NDArray[Any]  # [levels] LEVEL
    row: npt.NDArray[np.uint32]
    seg: npt.NDArray[np.uint32]
    queue: npt.NDArray[np.uint32]
    weight: npt.NDArray[np.uint64]  # [segments] cumulative within a row, for Visit.WEIGHTED
    watch: npt.NDArray[np.int32]  # [watches, 2]: set at length >= first, cleared at length <= second, or by owners
    chance: npt.NDArray[Any]  # [chances] CHANCE
    data: npt.NDArray[Any]  # [rules with conditions on tasks] DATA
    node: npt.NDArray[np.int32]  # [workers + 1] the node of each worker, and of an extra producer
    domains: npt.NDArray[np.int32]  # the nodes that have workers, ascending
    latency_ps: npt.NDArray[np.int64]  # [nodes, nodes] from a core of the first node to memory of the second node
    queues: npt.NDArray[Any]  # [queues] QUEUE
    own: npt.NDArray[np.uint32]  # [workers] the worker's own queue, or NO_QUEUE
    lines: npt.NDArray[np.uint8]  # [queues] the number of cache lines, 1 or 2, on which the queue's words stand
    families: tuple[str, ...]
    refill: int | None  # the refill threshold; None: the queue's own threshold s
    work_first_tiers: int  # a mask of `Tier`: children of these tiers are begun as they are spawned
    adaptive: Adaptive | None  # None unless the spawn order adapts to steals
    thresholds: Thresholds
    backoff: Backoff
    gate: npt.NDArray[np.int32]  # [workers] the unit of each worker; the live subtrees of this unit are counted
    live_most: int  # gated levels are closed to a unit's workers from this number of live subtrees on
    switches: tuple[str, ...]  # the names of the switches, in the order of their numbers

    @property
    def work_first(self) -> bool:
        """Return whether workers begin some tasks at their spawn, so that continuations come into queues."""
        return self.work_first_tiers != 0

    @property
    def counts_live(self) -> bool:
        """Return whether a level depends on how many subtrees are live."""
        return bool((self.level["flags"][: self.steal_levels] & FLAG_GATED).any())

    @property
    def asks_tasks(self) -> bool:
        """Return whether a dispatch rule asks for the tier or the label of a task."""
        rules = self.level[self.steal_levels :]
        return bool((rules["flags"] & FLAG_TIERS).any() or (rules["anchor"] == Anchor.LABEL).any())

    @property
    def numbers_tasks(self) -> bool:
        """Return whether dispatch rules ask for the number of a new task in its phase."""
        return bool(np.isin(self.level["pick"][self.steal_levels :], (Pick.CYCLIC, Pick.BLOCK)).any())

    @property
    def looks_at_data(self) -> bool:
        """Return whether a dispatch rule needs the homes of a new task's objects."""
        return bool((self.data["flags"] & FLAG_LOOKS).any())

    @property
    def copies(self) -> bool:
        """Return whether a dispatch rule leaves copies of tasks."""
        return bool((self.level["flags"] & FLAG_COPY).any())

    @property
    def levels(self) -> int:
        """Return the number of level records, steal levels and dispatch rules together."""
        return len(self.level)


def is_unconditional(level: Any) -> bool:
    """Return whether a level or rule is in force all the time, for tasks of any tier, whatever runs."""
    always = level["first_iteration"] == 0 and level["last_iteration"] == ALL32 and level["toggle"] == NONE8
    return bool(always and not level["flags"] & (FLAG_TIERS | FLAG_GATED))


def has_own_dispatch(steal: StealPlan) -> bool:
    """Return whether every worker's new tasks go to the worker's own queue first."""
    rule = steal.level[steal.steal_levels]
    if steal.copies or rule["anchor"] != Anchor.ME or rule["watch"] != NONE8 or rule["data"] != NONE8:
        return False
    if not is_unconditional(rule):
        return False
    first = int(rule["row"])
    for worker, own in enumerate(steal.own.tolist()):
        low, high = int(steal.row[first + worker]), int(steal.row[first + worker + 1])
        if high - low != 1 or steal.queue[steal.seg[low] : steal.seg[high]].tolist() != [own]:
            return False
    return True
