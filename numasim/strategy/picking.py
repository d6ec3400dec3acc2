"""The picks of a queue inside one segment (candidate queues): at random, along a ring, by length, or by task index.

A level is an entry of the strategy's list of places to steal from, a rule one of its list of choices of a queue for a
new task. A watch has a bit for each queue, which says whether the queue meets a condition. A picker is a generator of
queues; it reads the state of the run each time when the next queue is requested.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Protocol

from numasim.draws import _A, _B, GAMMA, MASK, DrawClass, base
from numasim.schema.enumerations import ALL16, Pick, Tier
from numasim.strategy.steal_plan import Level, Segment

# ---- A stream of draws, for choices made one by one ------------------------------------------------------------------


class Stream:
    """The random numbers (draws) of one `DrawClass` and id; ``drawn`` of them have been taken."""

    __slots__ = ("base", "drawn")

    def __init__(self, seed: int, kind: DrawClass, ident: int) -> None:
        """Begin with no draw taken."""
        self.base = base(seed, kind, ident)
        self.drawn = 0

    def below(self, n: int) -> int:
        """Take the next random number and map it to [0, n)."""
        self.drawn = k = self.drawn + 1
        z = (self.base + k * GAMMA) & MASK
        z = (z ^ z >> 30) * _A & MASK
        z = (z ^ z >> 27) * _B & MASK
        return (z ^ z >> 31) * n >> 64


UNKNOWN = -1


class View(Protocol):
    """The state of the run that a worker sees at a decision. A live subtree is a subtree of tasks, chosen by the
    strategy, that has begun and not ended; its label is the unit (core, node, ...) for which it is meant.
    """

    @property
    def length(self) -> Sequence[int]:
        """Return the number of tasks of each queue."""

    @property
    def watch(self) -> Sequence[Sequence[int]]:
        """Return the bits of the watches, [watches][queues]."""

    @property
    def iteration(self) -> int:
        """Return the number of the iteration that is running, from zero."""

    @property
    def switches(self) -> int:
        """Return a mask with a bit for each switch that is on."""

    @property
    def live(self) -> Sequence[int]:
        """Return [units] the number of live subtrees of each unit."""

    @property
    def awaited(self) -> Sequence[int]:
        """Return [units] the number of subtrees with each unit's label that have not begun in this phase."""


class WorkerState:
    """What the strategy remembers of a position: a worker, or an extra producer of tasks."""

    def __init__(self, position: int, own: int, levels: int, victims: Stream, dispatch: Stream) -> None:
        """Start with no memory; ``own`` is the position's own queue."""
        self.position = position
        self.own = own
        self.last = UNKNOWN  # the queue from which the worker stole last
        self.parent = UNKNOWN  # the worker that spawned the task that this worker ran last, if another one
        self.thief = UNKNOWN  # the worker that stole last from the own queue
        self.robbed = 0  # number of tasks that other workers have taken from the own queue
        self.leapfrogs = False  # whether joins of the worker leapfrog: it steals from the worker of an awaited child
        self.leaps = False  # whether the worker waits in such a join, for a child that `taker` has begun
        self.taker = UNKNOWN
        self.polls = 0  # while the worker probes levels between tasks: the tasks that it has executed; else 0
        self.polled = 0  # the tasks that it had executed at the last such probes
        self.fails = 0  # in a leapfrogging join: the fruitless rounds in a row so far
        self.cursor = [0] * levels  # [levels] place in the segment behind the last pick along a ring
        self.chance_ppm: list[int] = []  # [levels with a chance] the present probability of each
        self.victims = victims
        self.dispatch = dispatch


@dataclass(slots=True, eq=False)
class Turn:
    """One decision: the worker, the stream of draws, and the visible state.

    For dispatch, the task is number ``index`` of ``count``, has the tier ``tier`` (its place among the strategy's
    subtrees), and is meant for the unit ``label``. ``spills``, ``slots``: full queues that spill, and slots, have room.
    """

    state: WorkerState
    stream: Stream
    view: View
    index: int = 0
    count: int = 1
    tier: int = int(Tier.LOCAL)
    label: int = UNKNOWN
    spills: bool = False
    slots: bool = False


def in_force(level: Level, view: View) -> bool:
    """Return whether a level or rule applies now, by its range of iterations and by its switch."""
    if not level.first_iteration <= view.iteration <= level.last_iteration:
        return False
    return level.switch < 0 or bool(view.switches >> level.switch & 1) != level.switched_off


def candidates(level: Level, segment: Segment, view: View) -> Sequence[int]:
    """Return the queues of ``segment`` that meet the level's condition now."""
    if level.watch < 0:
        return segment
    bits = view.watch[level.watch]
    if level.invert:
        return [q for q in segment if not bits[q]]
    return [q for q in segment if bits[q]]


def _random(turn: Turn, level: Level, segment: Segment) -> Iterator[int]:
    for _ in range(min(level.tries, len(segment))):
        some = candidates(level, segment, turn.view)
        if not some:
            return
        yield some[turn.stream.below(len(some))]


def _samples(level: Level, some: Sequence[int]) -> bool:
    return level.sample < len(some) and level.sample != ALL16


def _by_length(better: Callable[[int, int], bool]) -> Picker:
    def pick(turn: Turn, level: Level, segment: Segment) -> Iterator[int]:
        for _ in range(min(level.tries, len(segment))):
            some = candidates(level, segment, turn.view)
            if not some:
                return
            if _samples(level, some):
                some = [some[turn.stream.below(len(some))] for _ in range(level.sample)]
            length, best = turn.view.length, some[0]
            for q in some[1:]:
                if better(length[q], length[best]):
                    best = q
            yield best

    return pick


def _ring(
    start_of: Callable[[Turn, Level, Segment], int], stride_of: Callable[[Turn, int], int] = lambda turn, size: 1
) -> Picker:
    def pick(turn: Turn, level: Level, segment: Segment) -> Iterator[int]:
        size, left = len(segment), level.tries
        if not size:
            return
        start = start_of(turn, level, segment)
        stride = stride_of(turn, size)
        for step in range(size):
            at = (start + step * stride) % size
            if left and candidates(level, segment[at : at + 1], turn.view):
                left -= 1
                turn.state.cursor[level.index] = at + 1
                yield segment[at]

    return pick


def _coprime(turn: Turn, size: int) -> int:
    """Return a random number from 1 to ``size`` that has no divisor above 1 in common with ``size``."""
    coprime = [number for number in range(1, size + 1) if gcd(number, size) == 1]
    return coprime[turn.stream.below(len(coprime))]


def _by_index(place_of: Callable[[Turn, int], int]) -> Picker:
    def pick(turn: Turn, level: Level, segment: Segment) -> Iterator[int]:
        if candidates(level, segment, turn.view):
            yield segment[place_of(turn, len(segment))]

    return pick


def _after_last(turn: Turn, _level: Level, segment: Segment) -> int:
    state = turn.state
    return bisect_left(segment, state.own if state.last == UNKNOWN else state.last) % len(segment)


Picker = Callable[[Turn, Level, Segment], Iterator[int]]
PICKERS: dict[Pick, Picker] = {
    Pick.RANDOM: _random,
    Pick.IN_ORDER: _ring(lambda turn, level, segment: 0),
    Pick.ROTATE: _ring(lambda turn, level, segment: turn.stream.below(len(segment))),
    Pick.PERMUTATION: _ring(lambda turn, level, segment: turn.stream.below(len(segment)), _coprime),
    Pick.ROUND_ROBIN: _ring(lambda turn, level, segment: turn.state.cursor[level.index] % len(segment)),
    Pick.AFTER_LAST: _ring(_after_last),
    Pick.LONGEST: _by_length(operator.gt),
    Pick.SHORTEST: _by_length(operator.lt),
    Pick.CYCLIC: _by_index(lambda turn, size: turn.index % size),
    Pick.BLOCK: _by_index(lambda turn, size: turn.index * size // turn.count),
}


def within_reach(turn: Turn, level: Level, segment: Segment) -> Iterable[int]:
    """Return the queues of a segment that rounds may probe while the view stays as it is: all candidates if the pick is
    random or begins each round at another queue, else the queues that every round probes.
    """
    some = candidates(level, segment, turn.view)
    if level.pick in (Pick.RANDOM, Pick.ROTATE, Pick.PERMUTATION, Pick.ROUND_ROBIN):
        return some
    if level.pick in (Pick.LONGEST, Pick.SHORTEST) and _samples(level, some):
        return some
    return PICKERS[level.pick](turn, level, segment)
