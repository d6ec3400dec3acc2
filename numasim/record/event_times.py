"""How long it was from one event to the next, without what the recorder did in between; the shortest over recordings.

At one thread the same program with the same input makes the same events in every run, so that its recordings can be
joined: from event to event the shortest times of all recordings are what the program takes when nothing disturbs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.record.event_files import I64, ThreadEvents
from numasim.record.event_kinds import Event
from numasim.workload.forest_arrays import offsets, ragged

ASIDE = (Event.ALLOCATE, Event.RELEASE, Event.TOUCHED, Event.PAUSE, Event.GLOBAL)  # they end no segment
NAMED = (Event.CREATE, Event.BEGIN, Event.SWITCH, Event.PARALLEL, Event.IMPLICIT)  # whose operands are no addresses
_PICOSECONDS = 1000


@dataclass(frozen=True)
class TimedEvents:
    """The events of a thread that end segments, each with the time since the one before it; and those aside.

    ``gap_ps[i]`` is the time from event i - 1, for event 0 from the start of the thread's file, to event i.
    """

    events: ThreadEvents
    gap_ps: I64
    aside: ThreadEvents
    aside_before: I64  # [aside events] before which of the events each one came


def timed(events: ThreadEvents, tick_ps: float, allocate_ps: int) -> TimedEvents:
    """The events of a thread with the times between them.

    A tick takes ``tick_ps``, and noting an allocation or a release ``allocate_ps``.
    """
    is_aside = np.isin(events.kind, ASIDE)
    main = np.flatnonzero(~is_aside)
    aside = np.flatnonzero(is_aside)
    before = np.searchsorted(main, aside)
    begin = events.start[0] & 0xFFFFFFFFFFFF
    gaps = np.diff(events.ticks[main], prepend=begin) * tick_ps
    paused = aside[events.kind[aside] == Event.PAUSE]
    lost = events.operands[events.first[paused]] * tick_ps
    noted = aside[np.isin(events.kind[aside], (Event.ALLOCATE, Event.RELEASE))]
    count = len(main) + 1
    away = np.bincount(np.searchsorted(main, paused), lost, count)
    away += np.bincount(np.searchsorted(main, noted), minlength=count) * allocate_ps
    gap_ps = np.maximum(0, np.rint(gaps - away[: len(main)])).astype(np.int64)
    return TimedEvents(_some(events, main), gap_ps, _some(events, aside), before)


def tick_ps(threads: Sequence[ThreadEvents]) -> float:
    """How long a tick takes, by the clock of the system, over the whole recording."""
    first = threads[0]
    ticks = (first.end[0] - first.start[0]) or 1
    return (first.end[1] - first.start[1]) * _PICOSECONDS / ticks


def same_events(one: TimedEvents, other: TimedEvents) -> bool:
    """Whether two recordings have the same events, addresses aside."""
    return (
        np.array_equal(one.events.kind, other.events.kind)
        and np.array_equal(one.events.argument, other.events.argument)
        and np.array_equal(_names(one.events), _names(other.events))
    )


def shortest(recordings: Sequence[TimedEvents]) -> TimedEvents:
    """The first recording with the shortest times of all; they have the same events.

    Of many recordings it is the mean of the shortest third of the times: a clock whose ticks are as long as a short
    piece gives now one tick too few and now one too many.
    """
    third = max(1, len(recordings) // 3)
    gaps = np.sort([each.gap_ps for each in recordings], axis=0)[:third]
    return replace(recordings[0], gap_ps=np.rint(np.mean(gaps, axis=0)).astype(np.int64))


def _names(events: ThreadEvents) -> I64:
    """The operands that are numbers of tasks and regions."""
    chosen = np.flatnonzero(np.isin(events.kind, NAMED) & (events.kind != Event.CREATE))
    return events.operands[ragged(events.first[chosen], np.diff(events.first)[chosen])]


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
