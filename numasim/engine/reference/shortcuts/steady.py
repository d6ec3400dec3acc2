"""Production in steady state: like items taken and refilled, without a single other event (model 1.8).

While every worker has work and all items of a worker take equally long, worker w takes an item at ``end[w] + k *
period[w]`` and the producer refills one queue per item taken, in the order of its round-robin cursor. `follow` goes
through the takes alone, which costs a small part of simulating the items, up to the last moment before the items run
out at which every queue is full again and the producer waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace

LEFT_PER_WORKER = 4  # items per worker that are left for the event-by-event run


@dataclass(frozen=True)
class Steady:
    """The state in which every queue is full and the producer waits; times in picoseconds.

    ``end[w]`` is when worker w takes its next item, ``period[w]`` how long each takes; queue w feeds worker w and may
    fall by ``spare[w]`` tasks before anything but the producer cares.
    """

    waiting_since: int
    cursor: int
    end: Sequence[int]
    period: Sequence[int]
    spare: Sequence[int]
    push_ps: int
    left: int  # items that the producer has still to make


@dataclass(frozen=True)
class Moment:
    """All takes before ``time_ps`` are refilled: the producer waits since ``waiting_since``."""

    time_ps: int
    waiting_since: int
    cursor: int


def taken_before(steady: Steady, time_ps: int) -> list[int]:
    """[workers] items taken at times below ``time_ps``."""
    pairs = zip(steady.end, steady.period, strict=True)
    return [max(0, -(-(time_ps - end) // period)) for end, period in pairs]


def follow(steady: Steady) -> Moment | None:
    """The last moment that can be reached in steady state, or None where there is none worth reaching.

    A worker whose items take no time is in no steady state: it takes all that there are at once.
    """
    if not all(steady.period):
        return None
    workers = len(steady.end)
    allowed = steady.left - LEFT_PER_WORKER * workers
    takes = [(end, w) for w, end in enumerate(steady.end)]
    heapify(takes)
    rooms = [0] * workers
    waiting_since, cursor = steady.waiting_since, steady.cursor % workers
    next_push: int | None = None
    moment = None
    opened = filled = 0
    while opened < allowed:
        time_ps, w = takes[0]
        while next_push is not None and next_push < time_ps:
            while not rooms[cursor]:
                cursor = cursor + 1 if cursor + 1 < workers else 0
            rooms[cursor] -= 1
            cursor = cursor + 1 if cursor + 1 < workers else 0
            filled += 1
            waiting_since = next_push
            next_push = next_push + steady.push_ps if filled < opened else None
        if next_push is None:
            moment = Moment(time_ps, waiting_since, cursor)
            next_push = time_ps + steady.push_ps
        if rooms[w] == steady.spare[w]:
            break
        heapreplace(takes, (time_ps + steady.period[w], w))
        rooms[w] += 1
        opened += 1
    return moment if opened > LEFT_PER_WORKER * workers else None
