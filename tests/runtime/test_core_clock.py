"""The clock of lib/core: events come in the order of their full keys, wherever the window of the short keys is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_int64, c_uint32
from random import Random

import pytest
from parts_library import Clock, library

LATEST_PS = 1 << 62
RANKS = range(9)
Key = tuple[int, int, int]


class Pending:
    """A clock, and the keys (time, rank, actor) of its pending events by slot."""

    def __init__(self, slots: int) -> None:
        self.clock, self.keys = Clock(), dict[int, Key]()
        assert library().ns_clock_create(byref(self.clock), slots)

    def set(self, slot: int, key: Key) -> None:
        """Put an event into a slot."""
        library().probe_set(byref(self.clock), slot, *key)
        self.keys[slot] = key

    def clear(self, slot: int) -> None:
        """Take the event out of a slot."""
        library().probe_clear(byref(self.clock), slot)
        self.keys.pop(slot, None)

    def next(self) -> Key | None:
        """The first event, which is the least key that is pending."""
        time_ps, rank, actor = c_int64(), c_uint32(), c_uint32()
        found = library().probe_next(byref(self.clock), byref(time_ps), byref(rank), byref(actor))
        first = (time_ps.value, rank.value, actor.value) if found else None
        assert first == min(self.keys.values(), default=None)
        return first


@contextmanager
def pending(slots: int) -> Iterator[Pending]:
    """A clock without events, freed at the end."""
    made = Pending(slots)
    yield made
    library().ns_clock_destroy(byref(made.clock))


def window_ps(slots: int) -> int:
    """How much time keys of 64 bits count beside a rank of four bits and an actor below ``slots``."""
    return (1 << 64 - 4 - max(1, (slots - 1).bit_length())) - 1


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 26, 33, 64, 68, 69, 1026, 5000])
def test_events_of_any_time_come_in_order(slots: int) -> None:
    chance, now_ps = Random(slots), 0
    with pending(slots) as clock:
        for _ in range(2000):
            slot = chance.randrange(slots)
            ahead_ps = chance.choice((0, 1, 1000, window_ps(slots) - 1, window_ps(slots), 1 << chance.randrange(62)))
            if chance.random() < 0.1:
                clock.clear(slot)
            else:
                due_ps = min(LATEST_PS + 1, now_ps + ahead_ps)
                clock.set(slot, (due_ps, chance.choice(RANKS), slot))
            first = clock.next()
            if first and chance.random() < 0.7:
                now_ps = first[0]
                clock.clear(first[2])
            now_ps = 0 if now_ps > LATEST_PS // 2 and not clock.keys else now_ps


def test_an_event_may_come_before_the_first_one_that_is_far_away() -> None:
    far_ps = 5 * window_ps(3)
    with pending(3) as clock:
        clock.set(0, (far_ps, 0, 0))
        assert clock.next() == (far_ps, 0, 0)
        clock.set(1, (7, 6, 1))  # the end of an instant has found that something happens earlier
        assert clock.next() == (7, 6, 1)
        clock.set(2, (7, 5, 2))
        clock.clear(1)
        assert clock.next() == (7, 5, 2)
        clock.clear(2)
        assert clock.next() == (far_ps, 0, 0)
        clock.clear(0)
        assert clock.next() is None


def test_events_of_one_instant_behind_the_window_come_by_rank_and_actor() -> None:
    at_ps = 3 * window_ps(5)
    with pending(5) as clock:
        for slot, rank in enumerate((6, 5, 5, 8, 0)):
            clock.set(slot, (at_ps, rank, slot))
        order = []
        while first := clock.next():
            order.append(first[1:])
            clock.clear(first[2])
        assert order == [(0, 4), (5, 1), (5, 2), (6, 0), (8, 3)]
