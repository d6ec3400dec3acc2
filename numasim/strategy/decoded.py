"""A plan's level records as plain Python values, because the interpreter reads them one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

from numasim.schema.enumerations import (
    ALL32,
    FLAG_ATTEMPT,
    FLAG_COPY,
    FLAG_GATED,
    FLAG_HEADS,
    FLAG_INVERT,
    FLAG_OWN_FIRST,
    FLAG_TIERS,
    FLAG_UNLESS,
    NONE8,
    TIER_SHIFT,
    AmountKind,
    Anchor,
    Pick,
    Visit,
)
from numasim.strategy.similarity import DataRule
from numasim.strategy.steal_plan import StealPlan

Segment = tuple[int, ...]
NO_INDEX = -1


class Row(NamedTuple):
    """The candidates of one anchor: groups of segments of queues, and the cumulative weight at each group."""

    groups: tuple[tuple[Segment, ...], ...]
    weights: tuple[int, ...]


NO_ROW = Row((), ())


class Level:
    """One steal level or dispatch rule.

    ``watch``, ``chance`` and ``switch`` are NO_INDEX, and ``data`` is None, if the level has none. ``tiers`` is a mask
    of the tiers of tasks to which the rule applies, 0 for all tasks. An anchor is
    the worker, node or unit to which a row of queues belongs. A level has ``heads`` if some workers leave the level
    out (``who: head``): a row for each worker, empty if the worker leaves the level out, then the rows of the anchors.
    """

    def __init__(self, plan: StealPlan, index: int) -> None:
        """Decode record ``index``; each row is decoded when it is first needed."""
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
        self.watch, self.chance = _index(record["watch"]), _index(record["chance"])
        self.data = None if record["data"] == NONE8 else DataRule(plan.data[record["data"]])
        self.attempt = bool(record["flags"] & FLAG_ATTEMPT)
        self.copies = bool(record["flags"] & FLAG_COPY)
        self.invert = bool(record["flags"] & FLAG_INVERT)
        steals = index < plan.steal_levels
        self.gated = bool(record["flags"] & FLAG_GATED)
        self.heads = steals and bool(record["flags"] & FLAG_HEADS)
        self.own_first = steals and bool(record["flags"] & FLAG_OWN_FIRST)
        self.switch, self.switched_off = _index(record["toggle"]), bool(record["flags"] & FLAG_UNLESS)
        self.tiers = 0 if steals else int(record["flags"] & FLAG_TIERS) >> TIER_SHIFT

    @property
    def is_always(self) -> bool:
        """Return whether the level is in force all the time: in all iterations, without a switch and without a gate."""
        every = (self.first_iteration, self.last_iteration) == (0, ALL32)
        return every and self.switch < 0 and not self.gated

    def row_of(self, anchor: int, worker: int) -> Row:
        """Return the candidates at ``anchor`` for ``worker``; no candidates if the worker leaves the level out."""
        if not self.heads:
            return self.row(anchor)
        return self.row(self._plan.workers + anchor) if self.row(worker).groups else NO_ROW

    def row(self, anchor: int) -> Row:
        """Return row number ``anchor``, its candidates in the order in which they are visited."""
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
    return NO_INDEX if number == NONE8 else int(number)


def decode_levels(plan: StealPlan) -> tuple[tuple[Level, ...], tuple[Level, ...]]:
    """Return (steal levels, dispatch rules)."""
    levels = tuple(Level(plan, index) for index in range(plan.levels))
    return levels[: plan.steal_levels], levels[plan.steal_levels :]
