"""The C interpreter against the Python one: every probe, placement, draw counter and memory, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_library import ArrayView, NativePlan, NativeProber
from strategy_setup import STRATEGIES, compiled, stealing, strategy

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
from numasim.strategy.probe import Prober
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
    """Return empty tables for a few workers and mostly few queues."""
    queues = random.choice((*[random.randint(1, 8)] * 6, 64, random.randint(65, 140)))
    return Tables(random, random.randint(1, 5), queues, random.randint(1, 3), random.random() < 0.8)


def random_plan(random: Random) -> StealPlan:
    """Draw a plan of up to four levels and three rules."""
    tables = new_tables(random)
    level = random.choice((random_level, random_level, plain_level))
    levels = random.randint(1, 4)
    for _ in range(levels):
        level(tables)
    for _ in range(random.randint(1, 3)):
        random_rule(tables)
    return tables.plan(levels)


def random_objects(random: Random, nodes: int) -> list[Objects]:
    """Draw the objects of a task: often none or few, at times in equal parts."""
    size = random.choice((0, 1, 64, 2**40))
    return [
        Objects(random.randrange(-1, nodes), random.choice((1, 2, 3)), random.choice((1, 1, 5)), size)
        for _ in range(random.choice((0, 1, 2, 2, 3, 6)))
    ]


seeds = st.integers(0, 2**64 - 1)
Round = tuple[Iterator[tuple[int, int]], Iterator[tuple[int, int]]]


@dataclass
class Pair:
    """Both interpreters at work on one view, with the rounds that are under way."""

    plan: StealPlan
    seed: int
    random: Random
    rounds: dict[int, Round] = field(default_factory=dict)
    probed: set[tuple[int, int]] = field(default_factory=set)  # (level, queue)

    def __post_init__(self) -> None:
        self.python, self.native = Prober(self.plan, self.seed), NativeProber(self.plan, self.seed)
        if self.random.random() < 0.6:
            self.native.plan.add_masks()
        self.view = ArrayView.of(self.plan)
        self.positions = self.plan.workers + 1
        self.in_turn = self.plan.level["pick"] == Pick.ROUND_ROBIN

    def walk(self, steps: int) -> None:
        """Take random steps; both do the same, and remember the same afterwards."""
        actions = [self.probe] * 6 + [self.place] * 2 + [self.run_task, self.look_ahead]
        for _ in range(steps):
            self.change_view()
            self.random.choice(actions)()
            self.check_memory(self.random.randrange(self.positions))
        for position in range(self.positions):
            self.check_memory(position)

    def introduce(self) -> None:
        """Let every worker have run a task of another, and have been robbed by it."""
        workers = self.plan.workers
        for w, q in enumerate(self.plan.own.tolist()):
            other = (w + 1) % workers
            for prober in (self.python, self.native):
                prober.ran(w, other)
                if q < len(self.plan.queues):
                    prober.found(other, 0, q, 1)

    def change_view(self) -> None:
        """Draw other lengths and watch bits, at times a later iteration; at times all bits of a watch are equal."""
        random, view = self.random, self.view
        view.length[:] = [random.randrange(5) for _ in view.length]
        for bits in view.watch:
            bits[:] = random.choice((0, 1, [random.randrange(2) for _ in bits]))
        view.iteration += random.random() < 0.05
        view.switches = random.choice((view.switches, 0, 1, 2, 3, 2**63, 2**64 - 1))
        view.live[:] = [random.randrange(3) for _ in view.live]
        view.awaited[:] = [random.randrange(2) for _ in view.awaited]

    def probe(self) -> None:
        """Make the next probe of one worker's round, or begin a round; other workers stay within their rounds."""
        w = self.random.randrange(self.plan.workers)
        if w not in self.rounds:
            self.rounds[w] = self.python.probes(w, self.view), self.native.probes(w, self.view)
        expected, found = (next(probes, None) for probes in self.rounds[w])
        assert found == expected
        if found is None:
            del self.rounds[w]
            return
        level, queue = found
        self.probed.add(found)
        length = int(self.view.length[queue])
        tasks = self.native.amount(level, length)
        assert tasks == self.python.amount(level, length)
        self.record(w, level, queue, self.random.choice((0, tasks)))

    def record(self, w: int, level: int, queue: int, tasks: int) -> None:
        self.python.found(w, level, queue, tasks)
        self.native.found(w, level, queue, tasks)
        if tasks and self.random.random() < 0.7:
            del self.rounds[w]

    def place(self) -> None:
        position = self.random.randrange(self.positions)
        count = self.random.choice((1, 7, 1000, 2**40, 2**64 - 1))
        index = self.random.randrange(count)
        about = (random_objects(self.random, len(self.plan.latency_ps)), self.random.random() < 0.5)
        task = (self.random.choice((1, 2, 4)), self.random.randint(-1, 5))
        expected = self.python.place(position, self.view, index, count, *about, *task)
        assert self.native.place(position, self.view, index, count, *about, *task) == expected
        assert self.native.looked == self.python.looked
        assert self.native.copies == list(self.python.copies)

    def run_task(self) -> None:
        w, spawner = (self.random.randrange(self.plan.workers) for _ in range(2))
        self.python.ran(w, spawner)
        self.native.ran(w, spawner)

    def look_ahead(self) -> None:
        """Compare the queues within reach of one worker, and its quiet round."""
        w, view = self.random.randrange(self.plan.workers), self.view
        reach = list(self.python.within_reach(w, view))
        assert self.native.within_reach(w, view) == (reach, False)
        if reach:
            stop = self.random.randint(1, len(reach))
            assert self.native.within_reach(w, view, stop) == (reach[:stop], True)
        self.check_quiet_round(w)

    def check_quiet_round(self, w: int) -> None:
        quiet = self.python.quiet_round(w)
        if quiet is None:
            assert self.native.quiet_round(w) is None
            return
        expected = [(level, q.tolist()) for level, q in zip(quiet.levels, quiet.queues, strict=True)]
        assert self.native.quiet_round(w) == expected
        if expected:
            assert self.native.quiet_round(w, len(expected)) == expected
            assert self.native.quiet_round(w, len(expected) - 1) is None

    def check_memory(self, position: int) -> None:
        state, memory = self.python._states[position], self.native.memory(position)
        drawn = {"victims": state.victims.drawn, "dispatch": state.dispatch.drawn}
        known = {"last": state.last, "parent": state.parent, "thief": state.thief, "chance_ppm": state.chance_ppm}
        cursor = memory.pop("cursor")
        assert memory == {**drawn, **known}
        assert [c for c, turns in zip(cursor, self.in_turn, strict=True) if turns] == [
            c for c, turns in zip(state.cursor, self.in_turn, strict=True) if turns
        ]


@given(state=st.integers(0, 2**32 - 1), seed=seeds)
@settings(max_examples=150)
def test_random_plans(state: int, seed: int) -> None:
    random = Random(state)
    Pair(random_plan(random), seed, random).walk(40)


@pytest.mark.parametrize(("pick", "visit"), list(product(Pick, Visit)), ids=lambda value: value.name)
def test_every_combination_of_pick_visit_anchor_watch_and_chance(pick: Pick, visit: Visit) -> None:
    for anchor, watch_flag, chanced in product(STEAL_ANCHORS, WATCH_FLAGS, (False, True)):
        random = Random(f"{pick} {visit} {anchor} {watch_flag} {chanced}")
        assert any(_is_probed(random, anchor, pick, visit, watch_flag, chanced) for _ in range(100))


def _is_probed(random: Random, *kind: Any) -> bool:
    """Walk a plan whose second level is of a kind; whether that has made a probe."""
    tables = new_tables(random)
    plain_level(tables)
    tables.add(*kind)
    always(tables)
    random_rule(tables)
    pair = Pair(tables.plan(2), random.getrandbits(64), random)
    pair.introduce()
    pair.walk(20)
    return any(level == 1 for level, _ in pair.probed)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("nodes", [[0], [0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 0, 1, 1, 2, 3] * 10])
def test_every_shipped_strategy(name: str, nodes: list[int]) -> None:
    plan = compiled(strategy(name), nodes)
    Pair(plan, 5, Random(name)).walk(60)


@pytest.mark.parametrize("name", STRATEGIES)
def test_masks_serve_every_shipped_strategy_that_watches(name: str) -> None:
    plan = compiled(strategy(name), [0, 1, 0, 1, 1])
    assert NativePlan(plan).add_masks() == (len(plan.watch) > 0)


def test_a_mask_has_a_bit_for_each_queue_of_its_segment() -> None:
    plan = NativePlan(compiled(strategy("topology-aware"), [0, 1, 2] * 50))
    assert plan.add_masks()
    for words, queues in zip(plan.masks.tolist(), plan.segments, strict=True):
        assert sum(word << 64 * at for at, word in enumerate(words)) == sum(1 << q for q in queues)


def test_masks_do_not_serve_where_drawn_candidates_do_not_ascend() -> None:
    """Candidate number k of a mask is the k-th in ascending order."""
    plan = compiled(strategy("threshold"), [0, 1, 0])
    assert not NativePlan(replace(plan, queue=plan.queue[::-1])).add_masks()


IN_TURN = {"to": "any", "pick": "round-robin"}


@pytest.mark.parametrize(
    ("rules", "deals"),
    [
        ([IN_TURN], [0, 0, 0, 0]),
        ([{"to": "own"}, IN_TURN], [None, None, None, 1]),  # a producer has no queue of its own
        ([{"to": "own-node"}, IN_TURN], [None] * 4),
        ([{"to": "lightest"}, IN_TURN], [None] * 4),
        ([{"to": "any", "pick": "random"}], [None] * 4),
        ([{"to": "any", "pick": "round-robin", "if": {"below": 3}}, IN_TURN], [None] * 4),
        ([{"to": "own-node", "pick": "round-robin"}, {"to": "any"}], [None] * 4),
    ],
)
def test_the_rule_by_which_a_position_deals(rules: list[dict[str, Any]], deals: list[int | None]) -> None:
    plan = compiled(stealing({"from": "others"}, dispatch=rules), [0, 0, 1])
    expected = [None if rule is None else rule + plan.steal_levels for rule in deals]
    python, native = Prober(plan, 1), NativeProber(plan, 1)
    assert [python.dealing_rule(position) for position in range(4)] == expected
    assert [native.dealing_rule(position) for position in range(4)] == expected


@given(st.integers(0, 2**32 - 1))
def test_the_dealing_rule_of_random_plans(state: int) -> None:
    plan = random_plan(Random(state))
    python, native = Prober(plan, 1), NativeProber(plan, 1)
    for position in range(plan.workers + 1):
        assert native.dealing_rule(position) == python.dealing_rule(position)


@pytest.mark.parametrize("name", STRATEGIES)
def test_own_queues_belong_to_the_owners_of_their_records(name: str) -> None:
    """The C interpreter finds whom a steal robs by the queue's owner, which holds for every compiled plan."""
    plan = compiled(strategy(name), [0, 1, 0, 1, 1])
    for worker, queue in enumerate(plan.own.tolist()):
        if queue < len(plan.queues):
            assert plan.queues["owner"][queue] == worker
