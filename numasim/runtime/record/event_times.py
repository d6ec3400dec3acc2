"""The time from one event to the next, without the recorder's own time; and the shortest times of several recordings.

Times are processor times: a thread that waits for a file, for a lock of the system or for a time to pass uses no
processor time. The same program with the same input makes the same events in every run, so the times of several
recordings can be combined: the undisturbed time between two events is the shortest over all recordings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.runtime.record.event_files import I64, Event, ThreadEvents
from numasim.workload.forest_arrays import offsets, ragged

ASIDE = (  # kinds of events that do not end a segment
    Event.ALLOCATE,
    Event.RELEASE,
    Event.TOUCHED,
    Event.PAUSE,
    Event.GLOBAL,
    Event.AWAY,
    Event.CLAUSE,
    Event.TOGETHER,
)
NAMED = (Event.BEGIN, Event.SWITCH, Event.IMPLICIT, Event.CHUNK)  # kinds of events whose operands are not addresses
_PICOSECONDS = 1000
_LATE = 1 << 62


@dataclass(frozen=True)
class TimedEvents:
    """The events of a thread: ``events`` end segments, and ``aside`` has all other events.

    ``gap_ps[i]`` is the processor time from event i - 1 to event i of ``events``; for event 0, from the start of the
    thread's file. ``blocked_ps[i]`` is the time between both events for which the thread waited without a processor.
    """

    events: ThreadEvents
    gap_ps: I64
    blocked_ps: I64
    aside: ThreadEvents


def timed(events: ThreadEvents, tick_ps: float, allocate_ps: int) -> TimedEvents:
    """Return the events of a thread, with the times between events.

    A tick takes ``tick_ps``. The recorder takes ``allocate_ps`` to note an allocation or a release.
    """
    is_aside = np.isin(events.kind, ASIDE)
    main = np.flatnonzero(~is_aside)
    aside = np.flatnonzero(is_aside)
    begin = events.start[0] & 0xFFFFFFFFFFFF
    gaps = np.diff(events.ticks[main], prepend=begin) * tick_ps
    count = len(main) + 1
    lost = np.zeros(count)
    absent = aside[events.kind[aside] == Event.AWAY]
    late_ps = events.operands[events.first[absent] + 1] * tick_ps
    absent_ps = np.maximum(0, events.operands[events.first[absent]] * _PICOSECONDS - late_ps)
    lost += np.bincount(np.searchsorted(main, absent), absent_ps, count)
    paused = aside[events.kind[aside] == Event.PAUSE]
    ends = np.searchsorted(main, paused)
    # a pause in front of an event may begin after the event
    ends += events.ticks[paused] >= np.append(events.ticks[main], _LATE)[ends]
    lost += np.bincount(ends, events.operands[events.first[paused]] * tick_ps, count + 1)[:count]
    noted = aside[np.isin(events.kind[aside], (Event.ALLOCATE, Event.RELEASE))]
    lost += np.bincount(np.searchsorted(main, noted), minlength=count) * allocate_ps
    waited = events.argument[absent] != 0
    blocked = np.bincount(np.searchsorted(main, absent[waited]), absent_ps[waited], count)
    gap_ps, blocked_ps = _whole(gaps - lost[: len(main)]), _whole(blocked[: len(main)])
    return TimedEvents(_some(events, main), gap_ps, blocked_ps, _some(events, aside))


def tick_ps(threads: Sequence[ThreadEvents]) -> float:
    """Return the ps in a tick of the processor's clock: the mean over the whole recording, by the system's clock."""
    first = threads[0]
    ticks = (first.end[0] - first.start[0]) or 1
    return (first.end[1] - first.start[1]) * _PICOSECONDS / ticks


def events_digest(recording: Sequence[TimedEvents]) -> bytes:
    """Return a digest that is equal for recordings with the same events in all threads. Addresses do not count."""
    digest = hashlib.sha256()
    for events in (thread.events for thread in recording):
        named = _some(events, np.flatnonzero(np.isin(events.kind, NAMED))).operands
        for each in (events.kind, events.argument, named):
            digest.update(len(each).to_bytes(8, "little") + each.tobytes())
    return digest.digest()


def shortest(recordings: Sequence[TimedEvents]) -> TimedEvents:
    """Return the first recording with the shortest times of all ``recordings``, which have the same events.

    Of three or more recordings, each time is the mean of the shortest third of the times. The reason: if a tick of the
    clock is as long as a short piece of work, the clock sometimes counts one tick too few and sometimes one too many.
    """
    third = max(1, len(recordings) // 3)

    def least(times: list[I64]) -> I64:
        return _whole(np.mean(np.sort(times, axis=0)[:third], axis=0))

    return replace(
        recordings[0],
        gap_ps=least([each.gap_ps for each in recordings]),
        blocked_ps=least([each.blocked_ps for each in recordings]),
    )


def _whole(times: npt.NDArray[Any]) -> I64:
    found: I64 = np.maximum(0, np.rint(times)).astype(np.int64)
    return found


def _some(events: ThreadEvents, chosen: npt.NDArray[Any]) -> ThreadEvents:
    counts = np.diff(events.first)[chosen]
    return replace(
        events,
        kind=events.kind[chosen],
        argument=events.argument[chosen],
        ticks=events.ticks[chosen],
        first=offsets(counts),
        operands=events.operands[ragged(events.first[chosen], counts)],
    )


# ---- the part of a recorded time between two events that the recorder and the runtime take ---------------------------

Ends = tuple[int, int]  # the kinds of the events at the begin and the end of a piece of work


@dataclass(frozen=True)
class PieceCosts:
    """The times, in ps, that the recorder and the runtime themselves take.

    ``of_ps`` has the time of a piece of work in which the program does nothing, by the kinds of events at both ends of
    the piece. ``allocate_ps`` is the time of noting an allocation or a release.
    """

    of_ps: Mapping[Ends, int] = field(default_factory=dict)
    allocate_ps: int = 0

    def table(self) -> dict[Ends, int]:
        """Return the time for every pair of events.

        A pair that was not measured gets the least time of the pairs with the same first kind, or 0 if there are none.
        """
        found: dict[Ends, int] = {}
        for begin in map(int, Event):
            alike = [cost for (first, _), cost in self.of_ps.items() if first == _LIKE.get(begin, begin)]
            found |= {(begin, int(end)): min(alike, default=0) for end in Event}
        return {**found, **self.of_ps}


_LIKE: dict[int, int] = {Event.SWITCH: Event.RETURN, Event.WORK: Event.SYNC, Event.DEPENDENCES: Event.CREATE}
