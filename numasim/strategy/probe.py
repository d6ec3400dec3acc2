"""The interpreter of a steal plan: which queues a worker probes, in which order, with which random draws, and which
queue a new task goes to.

A *level* is an entry of the strategy's list of places to steal from, a *rule* one of its list of choices of a queue for
a new task; a *round* is one pass of a searching worker through the levels, probe (look at a queue) by probe. A level's
*row* has the candidate queues for one anchor, the object from which it searches: groups of segments of queues.

A decision depends on the plan's tables, on the state of the run at the instant of the decision, and on two streams of
random numbers (draws) for each worker: `DrawClass` 1 for victims, 5 for dispatch. Each random choice takes one draw,
even with a single candidate; a choice without candidates takes no draw.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from enum import Enum, auto
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from numasim.draws import DrawClass
from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import AmountKind, Anchor, Pick, Tier, Visit
from numasim.strategy.picking import (
    PICKERS,
    UNKNOWN,
    Stream,
    Turn,
    View,
    WorkerState,
    candidates,
    in_force,
    within_reach,
)
from numasim.strategy.similarity import Objects, Similarity
from numasim.strategy.steal_plan import NO_ROW, Level, Row, Segment, StealPlan, decode_levels

NO_ROOM = -1
LONGEST = 2**63 - 1  # no queue is longer
Choice = tuple[int, Segment, int]  # level, candidates, watch or NO_INDEX
ANCHORED_AT: dict[Anchor, Callable[[WorkerState], int]] = {
    Anchor.ME: attrgetter("position"),
    Anchor.PARENT: attrgetter("parent"),
    Anchor.THIEF: lambda state: state.taker if state.leapfrogs else state.thief,
    Anchor.LAST: attrgetter("last"),
}


@dataclass(frozen=True)
class QuietRound:
    """The probes of one round while every queue is empty, in order; each takes one draw of the stream of victims."""

    levels: tuple[int, ...]  # [probes]
    queues: tuple[npt.NDArray[np.int64], ...]  # probe i goes to ``queues[i][below(draw, len(queues[i]))]``


class Outlook(Enum):
    """How a level's chance, the probability that a searching worker uses it in a round, develops while probes fail."""

    NONE = auto()  # stays 0
    RISES = auto()  # is 0 and will rise
    OPEN = auto()  # is between 0 and 1
    CERTAIN = auto()  # stays 1


class Prober:
    """The interpreter of one run. A *position* is a worker's number; the number after the last is an extra producer."""

    def __init__(self, plan: StealPlan, seed: int) -> None:
        """Decode ``plan``; draws follow from ``seed``."""
        self._steal, self._rules = decode_levels(plan)
        self._in_rounds = [level for level in self._steal if not level.every]
        # after how many tasks each level is probed that is probed between tasks, not in rounds
        self.polls = [level.every for level in self._steal if level.every]
        self._capacity: list[int] = plan.queues["capacity"].tolist()
        self._slots, self._spills = plan.slots.tolist(), plan.spills.tolist()
        self._chances = [tuple(int(part) for part in record) for record in plan.chance]
        self._owner = {int(q): worker for worker, q in enumerate(plan.own)}
        own = [*plan.own.tolist(), UNKNOWN]
        self._states = [self._start(plan, position, own[position], seed) for position in range(plan.workers + 1)]
        self._victims = [state.victims for state in self._states]
        self._plain = [self._plain_choices(state) for state in self._states[: plan.workers]]
        self._first_home = [self._usual_home(state) for state in self._states]
        self._amounts = [
            (each.leave, each.amount_kind is AmountKind.SHARE, each.amount, each.most or LONGEST, not each.above)
            for each in self._steal
        ]
        self._similarity = Similarity(plan)
        self.looked = False  # whether the last `place` looked up the homes of the task's objects
        self.rule = 0  # the number of the rule by which the last `place` found a queue
        self.copies: list[int] = []  # the queues into which the last `place` put a copy of the task
        self.tracks_parent = any(level.anchor is Anchor.PARENT for level in self._steal)
        self.asks_thief = any(level.anchor is Anchor.THIEF for level in self._steal)
        self._gate: list[int] = plan.gate.tolist()
        self._live_most = plan.live_most

    def victim_stream(self, worker: int) -> Stream:
        """Return the worker's stream of draws for victims; a shortcut that skips probes moves it on."""
        return self._states[worker].victims

    def probes(self, worker: int, view: View) -> Iterator[tuple[int, int]]:
        """Begin a round of ``worker`` and yield (level, queue) of each probe, chosen by the state of ``view`` when the
        probe is requested; the caller has to request the first probe at once.
        """
        plain, state = self._plain[worker], self._states[worker]
        if plain is None or state.polls:
            return self._walk(state, view)
        if len(plain) == 1 and plain[0][2] < 0:
            level, segment, _ = plain[0]
            return iter(((level, segment[self._victims[worker].below(len(segment))]),))
        return _pick_each(plain, self._victims[worker], view)

    def found(self, worker: int, level: int, queue: int, tasks: int) -> None:
        """Record that a probe took ``tasks`` tasks: in chances, the last victim, and the thief of the queue's owner."""
        state = self._states[worker]
        for at, (first, most, hit, miss, elsewhere_hit, elsewhere_miss, chanced) in enumerate(self._chances):
            on_hit, on_miss = (hit, miss) if chanced == level else (elsewhere_hit, elsewhere_miss)
            state.chance_ppm[at] = min(most, max(first, state.chance_ppm[at] + (on_hit if tasks else on_miss)))
        if tasks:
            state.last = queue
            robbed = self._owner.get(queue, worker)
            if robbed != worker:
                self._states[robbed].thief = worker
                self._states[robbed].robbed += tasks
        elif self._steal[level].forgets:
            state.last = UNKNOWN

    def ran(self, worker: int, spawner: int) -> None:
        """Record that ``worker`` ran a task that ``spawner`` spawned: its parent, if it is another worker (A-3)."""
        self._states[worker].parent = UNKNOWN if spawner == worker else spawner

    def robbed(self, worker: int) -> int:
        """Return how many tasks other workers have taken from the own queue of ``worker`` so far."""
        return self._states[worker].robbed

    def set_out(self, worker: int, leaps: bool, taker: int, fails: int) -> None:
        """Set whether ``worker`` waits in a leapfrogging join (``leaps``), for a child that worker ``taker`` has begun,
        and how many fruitless rounds in a row it has made (A-48).
        """
        state = self._states[worker]
        state.leapfrogs, state.leaps, state.taker, state.fails = True, leaps, taker, fails

    def dealing_rule(self, position: int) -> int | None:
        """Return the number of the rule by which ``position`` deals all its tasks round robin to all queues; None if
        there is no such rule, or if a rule before it may find a queue.
        """
        every = tuple(range(len(self._capacity)))
        for rule in self._rules:
            if rule.copies or rule.anchor not in (Anchor.ALL, Anchor.ME) or rule.data is not None or not rule.is_always:
                return None
            groups = rule.row(0 if rule.anchor is Anchor.ALL else position).groups
            queues = tuple(queue for group in groups for segment in group for queue in segment)
            if queues:
                deals = rule.pick is Pick.ROUND_ROBIN and rule.watch < 0 and len(groups) == 1 and queues == every
                return rule.index if deals else None
        return None

    def set_polls(self, worker: int, polls: int, polled: int = 0) -> None:
        """Let `probes` of ``worker``, which has executed ``polls`` tasks, give those of the levels between tasks that
        have come due since ``polled`` tasks; with ``polls`` 0 those of rounds again.
        """
        self._states[worker].polls, self._states[worker].polled = polls, polled

    def turn(self, position: int, rule: int) -> int:
        """Return the place at which the next round-robin pick of ``position`` by ``rule`` begins."""
        return self._states[position].cursor[rule]

    def turn_to(self, position: int, rule: int, place: int) -> None:
        """Set the place at which the next round-robin pick of ``position`` by ``rule`` begins."""
        self._states[position].cursor[rule] = place

    def amount(self, level: int, length: int) -> int:
        """Return how many tasks ``level`` takes from a queue of ``length`` tasks."""
        leave, shared, amount, most, rounds_up = self._amounts[level]
        if length <= leave:
            return 0
        return min((length - rounds_up) // amount + 1 if shared else amount, length - leave, most)

    def place(
        self,
        position: int,
        view: View,
        index: int = 0,
        count: int = 1,
        objects: Sequence[Objects] = (),
        source: bool = True,
        tier: int = int(Tier.LOCAL),
        label: int = UNKNOWN,
        *,
        first: int = 0,
        spills: bool = False,
        slots: bool = False,
    ) -> int:
        """Return the queue for a new task, number ``index`` of ``count``; -1 if no rule from ``first`` on has room.

        ``spills``: a full queue has room if half of its tasks then leave it. ``slots``: a slot (a queue of one task in
        front of the worker's own) always has room; else it has none.

        Afterwards `copies` has the other queues that get a copy of the task. ``objects`` are the pieces of memory that
        the task accesses; ``source`` says whether the task has no predecessor; ``tier`` is its place among the
        strategy's subtrees, ``label`` the unit (core, node, ...) for which the task is meant, or UNKNOWN.
        """
        self.looked = False
        self.copies = []
        state = self._states[position]
        turn = Turn(state, state.dispatch, view, index, count, tier, label, spills, slots)
        home = self._first_home[position]
        if home >= 0 and not first and self._has_room(home, turn):
            self.rule = 0
            return home
        copies: list[int] = []
        for number, rule in enumerate(self._rules[first:], first):
            queue = self._by_rule(turn, rule, objects, source)
            if queue >= 0 and rule.copies:
                copies.append(queue)
            elif queue >= 0:
                self.rule = number
                self.copies = [copy for copy in dict.fromkeys(copies) if copy != queue]
                return queue
        return NO_ROOM

    def quiet_round(self, worker: int) -> QuietRound | None:
        """Return the probes of a round while every queue is empty; None if rounds may differ in more than their draws:
        if a level that the worker uses is not steady (`_is_steady`), if a chance changes by fruitless probes of other
        levels, or if the worker waits in a leapfrogging join and uses some level only in some of its rounds.

        No empty queue meets the condition (``if``) of a level, so that a level with a condition draws nothing.
        """
        state = self._states[worker]
        leaps = state.leaps and any(level.leap_after for level in self._steal)  # rounds differ by their number
        if leaps or any(elsewhere_miss for *_, elsewhere_miss, _ in self._chances):
            return None
        levels: list[int] = []
        queues: list[npt.NDArray[np.int64]] = []
        for level in self._in_rounds:
            if _is_idle(level, state):
                continue
            groups = self._row(level, state).groups
            if groups and not _is_steady(level):
                return None
            elif groups and level.watch < 0:
                for segment in (segment for group in groups for segment in group):
                    times = min(level.tries, len(segment))
                    levels += [level.index] * times
                    queues += [np.array(segment, np.int64)] * times
        return QuietRound(tuple(levels), tuple(queues))

    def within_reach(self, worker: int, view: View) -> Iterator[tuple[int, int]]:
        """Yield every (level, queue) that some round of ``worker`` may probe while ``view`` stays as it is.

        Levels whose chance rises from 0 with fruitless probes of other levels come last, if there are such probes.
        """
        state = self._states[worker]
        probes = False
        rising: list[Level] = []
        for level in self._in_rounds:
            waits = _is_idle(level, state) and not level.leap_after
            if waits or not self._is_in_force(level, state, view):
                continue
            chance = self._outlook(level, state)
            if chance is Outlook.RISES:
                rising.append(level)
            elif chance is not Outlook.NONE:
                for queue in self._within(level, state, view):
                    probes = True
                    yield level.index, queue
            if chance is Outlook.CERTAIN:
                break
        for level in rising if probes else ():
            for queue in self._within(level, state, view):
                yield level.index, queue

    def passes_gate(self, worker: int, level: int, view: View) -> bool:
        """Return whether steal level ``level`` is open to ``worker``: without a gate always; with a gate, while few
        enough subtrees of the worker's unit (core, node, ...) are under way and, with ``own_first``, all subtrees that
        are meant for this unit have begun.
        """
        asked, unit = self._steal[level], self._gate[worker]
        if not asked.gated:
            return True
        return view.live[unit] < self._live_most and not (asked.own_first and view.awaited[unit])

    def _start(self, plan: StealPlan, position: int, own: int, seed: int) -> WorkerState:
        victims = Stream(seed, DrawClass.VICTIM, position)
        state = WorkerState(position, own, plan.levels, victims, Stream(seed, DrawClass.DISPATCH, position))
        state.chance_ppm = [first for first, *_ in self._chances]
        return state

    def _plain_choices(self, state: WorkerState) -> tuple[Choice, ...] | None:
        """Return the random choices that make up each round of a worker, or None if rounds hold any other choice."""
        if not all(level.anchor is Anchor.ME and level.tries == 1 and _is_steady(level) for level in self._in_rounds):
            return None
        return tuple(
            (level.index, segment, level.watch)
            for level in self._in_rounds
            for group in level.row(state.position).groups
            for segment in group
            if segment
        )

    def _usual_home(self, state: WorkerState) -> int:
        """Return the queue that dispatch always tries first, without a draw; -1 if there is none."""
        rule = self._rules[0]
        asks = rule.copies or rule.watch >= 0 or rule.data is not None or not rule.is_always
        if asks or rule.anchor is not Anchor.ME or rule.pick is not Pick.IN_ORDER:
            return NO_ROOM
        queues = [queue for group in rule.row(state.position).groups for segment in group for queue in segment]
        return queues[0] if len(queues) == 1 else NO_ROOM

    def _by_rule(self, turn: Turn, rule: Level, objects: Sequence[Objects], source: bool) -> int:
        """Return the queue with room that ``rule`` finds for the task of ``turn``, or -1 if there is none."""
        if not in_force(rule, turn.view) or (rule.tiers and not rule.tiers & turn.tier):
            return NO_ROOM
        if rule.data is None:
            return self._first_with_room(turn, rule, self._rule_row(rule, turn))
        if rule.data.source and not source:
            return NO_ROOM
        self.looked = self.looked or rule.data.looks
        nodes = self._similarity.chosen(rule.data, objects, turn.state.position)
        if nodes is None:
            return NO_ROOM
        if rule.anchor is not Anchor.DATA:
            return self._first_with_room(turn, rule, self._rule_row(rule, turn))
        found = [queue for queue in (self._first_with_room(turn, rule, rule.row(n)) for n in nodes) if queue >= 0]
        return min(found, key=lambda queue: (turn.view.length[queue], queue), default=NO_ROOM)

    def _first_with_room(self, turn: Turn, rule: Level, row: Row) -> int:
        for group in row.groups:
            for segment in group:
                for queue in PICKERS[rule.pick](turn, rule, segment):
                    if self._has_room(queue, turn):
                        return queue
        return NO_ROOM

    def _has_room(self, queue: int, turn: Turn) -> bool:
        if self._slots[queue]:
            return turn.slots
        capacity = self._capacity[queue]
        return not capacity or turn.view.length[queue] < capacity or (turn.spills and self._spills[queue])

    def _rule_row(self, rule: Level, turn: Turn) -> Row:
        if rule.anchor is Anchor.ALL:
            return rule.row(0)
        if rule.anchor is Anchor.LABEL:
            return rule.row(turn.label) if 0 <= turn.label < rule.anchors else NO_ROW
        return rule.row(turn.state.position) if rule.anchor is Anchor.ME else _lightest(rule, turn.view)

    def _walk(self, state: WorkerState, view: View) -> Iterator[tuple[int, int]]:
        """Yield the probes of a round, or of the levels between tasks that are due, for any levels."""
        turn = Turn(state, state.victims, view)
        due = (each for each in self._steal if each.every and is_due(each.every, state.polls, state.polled))
        for level in due if state.polls else self._in_rounds:
            if not self._is_open(level, state, view):
                continue
            row = self._row(level, state)
            if not row.groups:
                continue
            if level.chance >= 0 and turn.stream.below(MILLION) >= state.chance_ppm[level.chance]:
                continue
            yield from _visit(turn, level, row)
            if level.chance >= 0:
                return

    def _is_open(self, level: Level, state: WorkerState, view: View) -> bool:
        """Return whether a worker uses steal level ``level`` in its present round, its chance aside."""
        return not _is_idle(level, state) and self._is_in_force(level, state, view)

    def _is_in_force(self, level: Level, state: WorkerState, view: View) -> bool:
        return in_force(level, view) and self.passes_gate(state.position, level.index, view)

    def _outlook(self, level: Level, state: WorkerState) -> Outlook:
        """Return the `Outlook` of a level; `OPEN` also if it has no chance, or no queues for the worker."""
        if level.chance < 0 or not self._row(level, state).groups:
            return Outlook.OPEN
        first, most, _, miss, _, elsewhere_miss, _ = self._chances[level.chance]
        present = state.chance_ppm[level.chance]
        if not present:
            return Outlook.RISES if most and elsewhere_miss > 0 else Outlook.NONE
        stays = not level.forgets and (first >= MILLION or min(miss, elsewhere_miss) >= 0)
        return Outlook.CERTAIN if present >= MILLION and stays else Outlook.OPEN

    def _within(self, level: Level, state: WorkerState, view: View) -> Iterator[int]:
        """Yield the queues that a level may probe in some round of the worker."""
        apart = copy(state)
        apart.cursor = [*state.cursor]
        turn = Turn(apart, apart.victims, view)
        segments = [segment for group in self._row(level, state).groups for segment in group]
        if level.pick is Pick.ROUND_ROBIN and level.visit is Visit.NEAREST and sum(map(bool, segments)) > 1:
            for _ in range(max(map(len, segments)) + 1):  # after so many rounds the picks of a segment repeat
                for segment in segments:
                    yield from PICKERS[level.pick](turn, level, segment)
            return
        for segment in segments:
            yield from within_reach(turn, level, segment)

    def _row(self, level: Level, state: WorkerState) -> Row:
        anchor = ANCHORED_AT[level.anchor](state)
        return NO_ROW if anchor == UNKNOWN else level.row_of(anchor, state.position)


def _pick_each(choices: tuple[Choice, ...], stream: Stream, view: View) -> Iterator[tuple[int, int]]:
    for level, segment, watch in choices:
        some: Sequence[int] = segment
        if watch >= 0:
            bits = view.watch[watch]
            some = [queue for queue in segment if bits[queue]]
        if some:
            yield level, some[stream.below(len(some))]


def is_due(every: int, tasks: int, polled: int) -> bool:
    """Return whether a multiple of ``every`` is above ``polled`` and at most ``tasks``: the numbers of tasks that a
    worker had executed at its last probes between tasks, and has executed now.
    """
    return tasks // every > polled // every


def _is_idle(level: Level, state: WorkerState) -> bool:
    """Return whether the worker skips the level in its present round, because it waits in a leapfrogging join: there it
    uses only levels that search its thief, and, in one round after every ``leap_after`` fruitless ones, this level.
    """
    if not state.leaps or level.anchor is Anchor.THIEF:
        return False
    return not (level.leap_after and state.fails and state.fails % level.leap_after == 0)


def _is_steady(level: Level) -> bool:
    """Return whether the level, in every round, picks each queue at random: one draw for each probe."""
    always = level.is_always and level.chance < 0 and not level.heads
    return always and level.visit is Visit.NEAREST and level.pick is Pick.RANDOM and not level.invert


def _visit(turn: Turn, level: Level, row: Row) -> Iterator[tuple[int, int]]:
    """Yield the probes of one level: in all groups of ``row``, nearest first, or in one group drawn at random."""
    once = level.pick is Pick.RANDOM and level.tries == 1
    for group in _entered(turn, level, row):
        for segment in group:
            if once:
                some = candidates(level, segment, turn.view)
                if some:
                    yield level.index, some[turn.stream.below(len(some))]
            else:
                for queue in PICKERS[level.pick](turn, level, segment):
                    yield level.index, queue


def _entered(turn: Turn, level: Level, row: Row) -> tuple[tuple[Segment, ...], ...]:
    if level.visit is Visit.NEAREST:
        return row.groups
    if level.visit is Visit.RANDOM:
        chosen = turn.stream.below(len(row.groups))
    else:
        chosen = bisect_right(row.weights, turn.stream.below(row.weights[-1]))
    return row.groups[chosen : chosen + 1]


def _lightest(rule: Level, view: View) -> Row:
    """Return the row of the node whose queues hold the fewest tasks; of several, that of the lowest node."""
    rows = [row for row in map(rule.row, range(rule.anchors)) if row.groups]
    return min(rows, key=lambda row: sum(view.length[q] for group in row.groups for segment in group for q in segment))
