"""The compiled form of a strategy: tables that every executor interprets in the same way.

All arrays are read-only; roles, groups and orders have vanished into ``row``, ``seg`` and ``queue``. Level records come
steal levels first, then dispatch rules. ``row[level.row + anchor] .. row[level.row + anchor + 1]`` are the segments of
an anchor: a worker for ME, PARENT and THIEF (dispatch by ME has one more, an extra producer); 0 for ALL; a node for
LIGHTEST and DATA. A group is ``level.segments`` consecutive segments, one per queue family; segment s holds
``queue[seg[s]:seg[s + 1]]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

NONE8, ALL16, ALL32 = 255, 65535, 2**32 - 1
NO_QUEUE = 2**31 - 1
# watch bounds that mean the queue's own threshold S or s, and one less than it
MIN_MARK, MAX_MARK, BELOW_MIN_MARK, BELOW_MAX_MARK = -1, -2, -3, -4
FLAG_ATTEMPT, FLAG_INVERT = 1, 2  # level flags: counts as a steal attempt; the watch is read inverted
FLAG_LOOKS = 1  # flags of a data record: the rule looks at the task's objects
FLAG_UNEVEN, FLAG_HERE, FLAG_SOURCE = 2, 4, 8  # its guards


class Unit(IntEnum):
    """A kind of place that queues and workers belong to."""

    WORKER = 0
    CORE = 1
    LLC = 2
    NODE = 3
    SOCKET = 4
    MACHINE = 5


class Anchor(IntEnum):
    """Whose row of a level applies."""

    ME = 0
    ALL = 1
    PARENT = 2  # the worker that spawned the task this worker ran last
    THIEF = 3  # the worker that stole from this worker last
    LAST = 4  # the queue of this worker's last successful steal
    LIGHTEST = 5  # dispatch: the node whose queues hold the fewest tasks
    DATA = 6  # dispatch: the node, or nodes, that the rule's ranking chooses by the task's objects


class Pick(IntEnum):
    """How a queue is chosen inside a segment."""

    RANDOM = 0
    IN_ORDER = 1
    ROTATE = 2
    ROUND_ROBIN = 3
    AFTER_LAST = 4
    LONGEST = 5
    SHORTEST = 6
    CYCLIC = 7
    BLOCK = 8


class Visit(IntEnum):
    """Which groups of a level are entered: all, nearest first, or one."""

    NEAREST = 0
    RANDOM = 1
    WEIGHTED = 2


class AmountKind(IntEnum):
    """Whether a level's amount is a number of tasks or a divisor of the queue's length."""

    COUNT = 0
    SHARE = 1


class NodeRank(IntEnum):
    """Which nodes a task's objects choose: the most similar, the cheapest to reach them from, or all of their homes."""

    MOST = 0
    CHEAPEST = 1
    ANY = 2


class Counted(IntEnum):
    """Which objects count, as a mask of `numasim.workload.graph.Mode`."""

    READS = 1
    WRITES = 2
    BOTH = 3


class Weigh(IntEnum):
    """What an object that counts adds to the similarity of its home (A-13)."""

    BYTES = 0
    OBJECTS = 1


class End(IntEnum):
    """An end of a queue; tasks are pushed at the back."""

    FRONT = 0
    BACK = 1


class Full(IntEnum):
    """What a push does when the queue is full."""

    GROW = 0
    INLINE = 1
    NEXT = 2
    BLOCK = 3


LEVEL = np.dtype(
    [
        ("row", "<u4"),
        ("amount", "<u4"),
        ("first_iteration", "<u4"),
        ("last_iteration", "<u4"),
        ("tries", "<u2"),
        ("sample", "<u2"),
        ("leave", "<u2"),
        ("anchor", "u1"),
        ("pick", "u1"),
        ("visit", "u1"),
        ("segments", "u1"),
        ("watch", "u1"),
        ("flags", "u1"),
        ("chance", "u1"),
        ("amount_kind", "u1"),
        ("data", "u1"),
        ("pad", "u1"),
    ],
    align=True,
)
QUEUE = np.dtype(
    [
        ("home", "<i4"),  # node of the queue's words; -1 for a queue of the whole machine
        ("owner", "<i4"),  # first worker of its unit
        ("capacity", "<i4"),  # 0: without bound
        ("family", "u1"),
        ("own_end", "u1"),  # End
        ("steal_end", "u1"),  # End
        ("full", "u1"),  # Full
    ],
    align=True,
)
CHANCE = np.dtype(
    [
        (name, "<i4")
        for name in ("first_ppm", "most_ppm", "hit_ppm", "miss_ppm", "elsewhere_hit_ppm", "elsewhere_miss_ppm", "level")
    ]
)
DATA = np.dtype(
    [
        ("min_bytes", "<i8"),  # of the objects that count
        ("min_share_ppm", "<i4"),  # of them on the node chosen
        ("rank", "u1"),  # NodeRank
        ("count", "u1"),  # Counted
        ("weigh", "u1"),  # Weigh
        ("flags", "u1"),
    ],
    align=True,
)


@dataclass(frozen=True)
class Thresholds:
    """How the thresholds S and s of a queue come about (thesis eq. 3.3, 3.4; model 4.3).

    ``max_tasks`` / ``min_tasks`` None means computed; ``rule`` is literal, avail or fraction (with ``fraction_ppm``);
    ``when`` is first-drain, phase or fixed.
    """

    max_tasks: int | None
    min_tasks: int | None
    rule: str
    fraction_ppm: int
    when: str


@dataclass(frozen=True)
class Backoff:
    """Waiting after a fruitless round (or probe): ``min(first * factor ** (fails - 1), max)``; 0 polls at once."""

    first_ps: int
    factor: int
    max_ps: int | None
    after: str  # round | probe
    empty: str  # skip | count: is a round without a candidate an attempt?


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
    watch: npt.NDArray[np.int32]  # [watches, 2]: the bit is set at length >= at, cleared at length <= until
    chance: npt.NDArray[Any]  # [chances] CHANCE
    data: npt.NDArray[Any]  # [rules that look at tasks] DATA
    node: npt.NDArray[np.int32]  # [workers + 1] of each worker, and of an extra producer
    domains: npt.NDArray[np.int32]  # the nodes that have workers, ascending
    latency_ps: npt.NDArray[np.int64]  # [nodes, nodes] from a core of the first to memory of the second
    queues: npt.NDArray[Any]  # [queues] QUEUE
    own: npt.NDArray[np.uint32]  # [workers] the worker's own queue, or NO_QUEUE
    families: tuple[str, ...]
    refill: int | None  # None: the queue's own threshold s
    work_first: bool
    thresholds: Thresholds
    backoff: Backoff

    @property
    def looks_at_data(self) -> bool:
        """Whether a dispatch rule asks where the objects of a new task are."""
        return bool((self.data["flags"] & FLAG_LOOKS).any())

    @property
    def levels(self) -> int:
        """Number of level records, steal levels and dispatch rules together."""
        return len(self.level)


def has_own_dispatch(steal: StealPlan) -> bool:
    """Whether every worker's new tasks go to its own queue first."""
    rule = steal.level[steal.steal_levels]
    if rule["anchor"] != Anchor.ME or rule["watch"] != NONE8 or rule["data"] != NONE8:
        return False
    first = int(rule["row"])
    for worker, own in enumerate(steal.own.tolist()):
        low, high = int(steal.row[first + worker]), int(steal.row[first + worker + 1])
        if high - low != 1 or steal.queue[steal.seg[low] : steal.seg[high]].tolist() != [own]:
            return False
    return True
