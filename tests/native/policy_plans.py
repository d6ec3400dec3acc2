"""Steal plans made table by table, also ones that no strategy compiles to, so that every combination is reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from numasim.schema.enumerations import (
    ALL16,
    ALL32,
    FLAG_ATTEMPT,
    FLAG_GATED,
    FLAG_HEADS,
    FLAG_HERE,
    FLAG_INVERT,
    FLAG_LOOKS,
    FLAG_OWN_FIRST,
    FLAG_SOURCE,
    FLAG_UNEVEN,
    FLAG_UNLESS,
    NO_QUEUE,
    NONE8,
    TIER_SHIFT,
    AmountKind,
    Anchor,
    Counted,
    NodeRank,
    Pick,
    Visit,
    Weigh,
)
from numasim.strategy.similarity import Objects
from numasim.strategy.steal_plan import CHANCE, DATA, LEVEL, QUEUE, Backoff, StealPlan, Thresholds

STEAL_ANCHORS = (Anchor.ME, Anchor.PARENT, Anchor.THIEF, Anchor.LAST)
RULE_ANCHORS = (Anchor.ME, Anchor.ALL, Anchor.LIGHTEST, Anchor.DATA, Anchor.LABEL)
SWITCHES = tuple(f"switch {number}" for number in range(64))
WATCH_FLAGS = (None, 0, FLAG_INVERT)
BOUNDS = ((-2, -1), (-2, -4), (-1, -3), (3, 2), (1, 0))
NO_THRESHOLDS = Thresholds(None, None, "literal", 0, "fixed")
NO_BACKOFF = Backoff(0, 2, None, "round", "skip")


@dataclass
class Tables:
    """The tables of a plan while they are made."""

    random: Random
    workers: int
    queues: int
    nodes: int
    ascending: bool  # whether the queues of each segment ascend, as compiled ones do but for rings
    level: list[Any] = field(default_factory=list)
    row: list[int] = field(default_factory=lambda: [0])
    seg: list[int] = field(default_factory=lambda: [0])
    queue: list[int] = field(default_factory=list)
    weight: list[int] = field(default_factory=list)
    chance: list[tuple[int, ...]] = field(default_factory=list)
    data: list[tuple[int, ...]] = field(default_factory=list)

    def add(self, anchor: Anchor, pick: Pick, visit: Visit, watch_flag: int | None, chanced: bool) -> None:
        """Append a level or a rule, with its rows."""
        random, record = self.random, np.zeros(1, LEVEL)
        record["row"] = len(self.row) - 1
        record["anchor"], record["pick"], record["visit"] = anchor, pick, visit
        record["segments"] = segments = random.choice((1, 1, 2))
        record["tries"] = random.choice((1, 1, 2, 3, ALL16))
        record["sample"] = random.choice((1, 2, 3, ALL16))
        record["leave"] = random.choice((0, 0, 1, 3))
        record["amount_kind"], record["amount"] = random.choice(list(AmountKind)), random.choice((1, 2, 5))
        spans = ((0, ALL32), (0, ALL32), (0, 1), (1, 1), (2, ALL32))
        record["first_iteration"], record["last_iteration"] = random.choice(spans)
        record["watch"] = NONE8 if watch_flag is None else random.randrange(len(BOUNDS))
        record["flags"] = random.choice((0, FLAG_ATTEMPT)) | (watch_flag or 0)
        record["chance"] = self._chance() if chanced else NONE8
        record["data"] = NONE8
        record["toggle"] = random.choice((NONE8, NONE8, NONE8, 0, 1, 63))
        record["flags"] |= random.choice((0, FLAG_UNLESS))
        heads = anchor in STEAL_ANCHORS[1:] and random.random() < 0.2
        record["flags"] |= FLAG_HEADS * heads
        self.level.append(record)
        for at in range(self._rows(anchor) + self.workers * heads):
            self._add_row(segments, at_least=int(anchor is Anchor.LIGHTEST and at == 0))

    def gate(self) -> None:
        """Let the level that was added last be gated at times."""
        self.level[-1]["flags"] |= self.random.choice((0, 0, FLAG_GATED, FLAG_GATED | FLAG_OWN_FIRST))

    def ask_tier(self) -> None:
        """Let the rule that was added last ask for a tier at times."""
        self.level[-1]["flags"] |= self.random.choice((0, 0, 1, 2, 4, 3, 6)) << TIER_SHIFT

    def ask(self) -> None:
        """Let the rule that was added last ask something of tasks."""
        random = self.random
        guards = [random.choice((0, 0, flag)) for flag in (FLAG_UNEVEN, FLAG_HERE, FLAG_SOURCE)]
        asks = (random.choice((0, 0, 1, 100)), random.choice((0, 0, 300_000, 500_000, 10**6)))
        how = (random.choice(list(NodeRank)), random.choice(list(Counted)), random.choice(list(Weigh)))
        self.level[-1]["data"] = len(self.data)
        self.data.append((*asks, *how, FLAG_LOOKS | sum(guards)))

    def plan(self, steal_levels: int) -> StealPlan:
        random = self.random
        owned = random.sample(range(self.queues), self.workers) if self.queues >= self.workers else []
        queues = np.zeros(self.queues, QUEUE)
        queues["owner"] = [random.randrange(self.workers) for _ in range(self.queues)]
        queues["owner"][owned] = np.arange(len(owned))
        queues["capacity"] = [random.choice((0, 1, 2, 3)) for _ in range(self.queues)]
        node = [random.randrange(self.nodes) for _ in range(self.workers)]
        latency = [[random.choice((1, 70, 70, 2**53)) for _ in range(self.nodes)] for _ in range(self.nodes)]
        return StealPlan(
            name="random",
            workers=self.workers,
            steal_levels=steal_levels,
            level=np.concatenate(self.level),
            row=np.array(self.row, np.uint32),
            seg=np.array(self.seg, np.uint32),
            queue=np.array(self.queue, np.uint32),
            weight=np.array(self.weight, np.uint64),
            watch=np.array(BOUNDS, np.int32),
            chance=np.array(self.chance, CHANCE),
            data=np.array(self.data, DATA),
            node=np.array([*node, node[0]], np.int32),
            domains=np.unique(node).astype(np.int32),
            latency_ps=np.array(latency, np.int64),
            queues=queues,
            own=np.array(owned or [NO_QUEUE] * self.workers, np.uint32),
            families=("deque",),
            refill=0,
            work_first_tiers=0,
            adaptive=None,
            thresholds=NO_THRESHOLDS,
            backoff=NO_BACKOFF,
            gate=np.array([random.randrange(self.workers) for _ in range(self.workers)], np.int32),
            live_most=random.choice((1, 2)),
            switches=SWITCHES,
        )

    def _rows(self, anchor: Anchor) -> int:
        if anchor is Anchor.ME:
            return self.workers + 1  # also for a producer
        by_node = {Anchor.LIGHTEST: self.nodes, Anchor.DATA: self.nodes}
        return {Anchor.ALL: 1, Anchor.LAST: self.queues, Anchor.LABEL: self.random.randint(1, 4), **by_node}.get(
            anchor, self.workers
        )

    def _add_row(self, segments: int, at_least: int) -> None:
        weight = 0
        for _ in range(max(at_least, self.random.choice((0, 1, 1, 2, 4)))):
            weight += self.random.choice((0, 1, 3, 2**58, 2**58))
            for _ in range(segments):
                self.queue += self._some_queues()
                self.seg.append(len(self.queue))
                self.weight.append(weight)
        self.row.append(len(self.seg) - 1)

    def _some_queues(self) -> list[int]:
        some = self.random.sample(range(self.queues), self.random.randint(0, self.queues))
        return sorted(some) if self.ascending else some

    def _chance(self) -> int:
        first = self.random.choice((0, 250_000, 10**6, 10**6))
        deltas = [self.random.choice((0, 300_000, -300_000, 2**31 - 1, -(2**31))) for _ in range(4)]
        self.chance.append((first, max(first, 700_000), *deltas, len(self.level)))
        return len(self.chance) - 1


def random_level(tables: Tables) -> None:
    """Append a steal level of any kind."""
    random = tables.random
    chanced = random.random() < 0.25
    tables.add(
        random.choice(STEAL_ANCHORS), random.choice(list(Pick)), random.choice(list(Visit)), _watch(random), chanced
    )
    tables.gate()


def plain_level(tables: Tables) -> None:
    """Append a level of random picks alone, for which there are short ways."""
    tables.add(
        tables.random.choice((Anchor.ME, Anchor.THIEF)), Pick.RANDOM, Visit.NEAREST, _watch(tables.random), False
    )
    always(tables)


def always(tables: Tables) -> None:
    """Let the level that was added last be for every iteration."""
    tables.level[-1]["first_iteration"], tables.level[-1]["last_iteration"] = 0, ALL32
    tables.level[-1]["toggle"] = NONE8


def random_rule(tables: Tables) -> None:
    """Append a dispatch rule of any kind."""
    random = tables.random
    anchor = random.choice(RULE_ANCHORS)
    tables.add(anchor, random.choice(list(Pick)), Visit.NEAREST, _watch(random), False)
    tables.ask_tier()
    if anchor is Anchor.DATA or random.random() < 0.3:
        tables.ask()


def _watch(random: Random) -> int | None:
    return random.choice((None, *WATCH_FLAGS))


def new_tables(random: Random) -> Tables:
    """Tables of a few workers and mostly few queues."""
    queues = random.choice((*[random.randint(1, 8)] * 6, 64, random.randint(65, 140)))
    return Tables(random, random.randint(1, 5), queues, random.randint(1, 3), random.random() < 0.8)


def random_plan(random: Random) -> StealPlan:
    """A plan of up to four levels and three rules."""
    tables = new_tables(random)
    level = random.choice((random_level, random_level, plain_level))
    levels = random.randint(1, 4)
    for _ in range(levels):
        level(tables)
    for _ in range(random.randint(1, 3)):
        random_rule(tables)
    return tables.plan(levels)


def random_objects(random: Random, nodes: int) -> list[Objects]:
    """What a task is about: often nothing or little, at times in equal parts."""
    size = random.choice((0, 1, 64, 2**40))
    return [
        Objects(random.randrange(-1, nodes), random.choice((1, 2, 3)), random.choice((1, 1, 5)), size)
        for _ in range(random.choice((0, 1, 2, 2, 3, 6)))
    ]
