"""Conditions and chances of levels, and data conditions of dispatch rules, as shared table entries.

A watch is a bit for each queue, set when the queue's length reaches one bound and cleared when it falls to another.
Those of the status VICTIM may be written by the owners of queues alone (A-42).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.parts.base import ppm
from numasim.parts.models.search_model import DispatchSpec
from numasim.parts.models.strategy_terms import Announcement, Chance, ChanceSpec, Condition, LengthCondition
from numasim.strategy.steal_plan import (
    BELOW_MAX_MARK,
    BELOW_MIN_MARK,
    CHANCE,
    DATA,
    FLAG_HERE,
    FLAG_LOOKS,
    FLAG_SOURCE,
    FLAG_UNEVEN,
    MAX_MARK,
    MIN_MARK,
    NONE8,
    OWNER_EXACT_MARK,
    OWNER_MARK,
    Counted,
    NodeRank,
    Weigh,
)

AT_MARK = {"max": MAX_MARK, "min": MIN_MARK}
BELOW_MARK = {"max": BELOW_MAX_MARK, "min": BELOW_MIN_MARK}
ANNOUNCED: dict[Announcement, tuple[int, int]] = {  # the latched VICTIM status of thesis Algorithm 1
    "always": (MAX_MARK, MIN_MARK),  # set at S, cleared at s
    "owner": (OWNER_MARK, OWNER_MARK),
    "owner-exact": (OWNER_EXACT_MARK, OWNER_EXACT_MARK),
}


@dataclass
class WatchTable:
    """The distinct watches of a strategy, as (set at, cleared at) bounds; ``announcement`` is who announces queues."""

    announcement: Announcement = "always"
    bounds: list[tuple[int, int]] = field(default_factory=list)

    def index(self, condition: Condition | None) -> tuple[int, bool]:
        """Return (number of the watch or NONE8, whether its bit is read inverted)."""
        if condition is None:
            return NONE8, False
        own = ANNOUNCED[self.announcement]
        bound = own if not isinstance(condition, LengthCondition) else _length_bounds(condition)
        if bound not in self.bounds:
            self.bounds.append(bound)
        return self.bounds.index(bound), isinstance(condition, LengthCondition) and condition.below is not None

    def array(self) -> npt.NDArray[np.int32]:
        """[watches, 2] the bounds."""
        return np.array(self.bounds, np.int32).reshape(-1, 2)


def _length_bounds(condition: LengthCondition) -> tuple[int, int]:
    length = condition.length if condition.length is not None else condition.below
    if isinstance(length, str):
        return AT_MARK[length], BELOW_MARK[length]
    assert length is not None  # exactly one of the two is given
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
        """[chances] CHANCE records."""
        return np.array(self.records, CHANCE)


@dataclass
class DataTable:
    """The conditions of a strategy's dispatch rules on a new task and its objects."""

    records: list[tuple[int, ...]] = field(default_factory=list)

    def index(self, rule: DispatchSpec) -> int:
        """Return the number of the record of ``rule``, or NONE8 where it has no such condition."""
        flags = FLAG_LOOKS * rule.looks_at_data | FLAG_UNEVEN * rule.uneven
        flags |= FLAG_HERE * rule.here | FLAG_SOURCE * rule.source
        if not flags:
            return NONE8
        chooses = rule.target == "data" or rule.here or bool(rule.least_share)  # a node, which another rank may change
        rank = NodeRank[rule.rank.upper()] if chooses else NodeRank.MOST
        how = rank, Counted[rule.count.upper()], Weigh[rule.weigh.upper()]
        self.records.append((rule.least_bytes, ppm(rule.least_share), *how, flags))
        return len(self.records) - 1

    def array(self) -> npt.NDArray[Any]:
        """[records] DATA records."""
        return np.array(self.records, DATA)
