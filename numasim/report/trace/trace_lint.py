"""Checks a trace file, event by event in bounded memory, against the format that `perfetto` writes.

Every line is one event. On a track times do not go back, and slices begin and end in turn; an arrow has both its ends,
each in a slice, and does not go back in time; counters are never negative; every track has a name.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from numasim.errors import InputError
from numasim.parts.unit_factors import PS_PER_US

OPENING, CLOSING = '"traceEvents":[', "]}"
MOST_PROBLEMS = 20

Event = dict[str, Any]
Track = tuple[int, int]  # process and thread
Series = tuple[int, str]  # process and name of a counter


@dataclass
class Lint:
    """What was found: ``problems`` has the first problems as sentences, ``time_ps`` the time on each track by name of
    slice, ``names`` the names of the tracks.
    """

    problems: list[str] = field(default_factory=list)
    slices: int = 0
    arrows: int = 0
    samples: int = 0
    time_ps: Counter[tuple[Track, str]] = field(default_factory=Counter)
    names: dict[Track, str] = field(default_factory=dict)

    @property
    def found(self) -> str:
        """What the file holds, in one line."""
        return f"{self.slices:,} slices, {self.arrows:,} arrows, {self.samples:,} values of counters"


def lint(path: Path) -> Lint:
    """Read a trace, compressed or not. Raises InputError for a file that is not a trace."""
    checker = Checker()
    try:
        with _opened(path) as file:
            for number, event in events(file):
                checker.check(number, event)
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is not a trace of numasim: {error!r}", expected="a file from numasim run --trace"
        ) from None
    checker.finish()
    return checker.lint


def _opened(path: Path) -> IO[str]:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def events(file: IO[str]) -> Iterator[tuple[int, Event]]:
    """(line number, event); decimals are exact. Raises ValueError for another layout than numasim writes."""
    if not next(file, "").endswith(OPENING + "\n"):
        raise ValueError("the first line does not open a list of events")
    for number, line in enumerate(file, start=2):
        text = line.strip()
        if text == CLOSING:
            return
        event = json.loads(text.removesuffix(","), parse_float=Decimal)
        if not isinstance(event, dict):
            raise ValueError(f"line {number} holds no event")
        yield number, event
    raise ValueError("the list of events does not end")


class Checker:
    """The state of all tracks; `check` takes the events in the order of the file."""

    def __init__(self) -> None:
        self.lint = Lint()
        self._kinds: dict[str, Callable[[Event], None]] = {
            "M": self._name,
            "B": self._begin,
            "E": self._end,
            "s": self._leave,
            "f": self._arrive,
            "C": self._sample,
        }
        self._line = 0
        self._last_ps: dict[Track | Series, int] = {}
        self._open: dict[Track, tuple[str, int]] = {}  # name and begin of the slice that is open
        self._leaving: dict[int, int] = {}  # arrows of which one end was seen: its time
        self._arriving: dict[int, int] = {}
        self._processes: set[int] = set()
        self._used: set[Track] = set()

    def check(self, line: int, event: Event) -> None:
        """Take one event."""
        self._line = line
        kind = self._kinds.get(event["ph"])
        if kind is None:
            self._complain(f"an event of kind {event['ph']!r}")
        else:
            kind(event)

    def finish(self) -> None:
        """Look at what is left at the end."""
        for track, (name, _) in self._open.items():
            self._complain(f"slice {name!r} of {track} does not end")
        for arrows, end in ((self._leaving, "arrive"), (self._arriving, "leave")):
            if arrows:
                self._complain(f"arrow {min(arrows)} and {len(arrows) - 1} others do not {end}")
        for track in sorted(self._used - self.lint.names.keys()):
            self._complain(f"track {track} has no name")
        for process in sorted({process for process, _ in self._used} - self._processes):
            self._complain(f"process {process} has no name")

    def _complain(self, problem: str) -> None:
        if len(self.lint.problems) < MOST_PROBLEMS:
            self.lint.problems.append(f"line {self._line}: {problem}")

    def _name(self, event: Event) -> None:
        if event["name"] == "process_name":
            self._processes.add(event["pid"])
        elif event["name"] == "thread_name":
            self.lint.names[event["pid"], event["tid"]] = event["args"]["name"]

    def _time_ps(self, event: Event, track: Track | Series) -> int:
        """The time of an event, which must not come before the last one of its track."""
        time_ps = Decimal(event["ts"]) * PS_PER_US
        if time_ps != int(time_ps) or time_ps < 0:
            self._complain(f"{event['ts']} is not a whole number of picoseconds")
        if time_ps < self._last_ps.get(track, 0):
            self._complain(f"time goes back to {event['ts']} on {track}")
        self._last_ps[track] = int(time_ps)
        return int(time_ps)

    def _begin(self, event: Event) -> None:
        track = event["pid"], event["tid"]
        self._used.add(track)
        if track in self._open:
            self._complain(f"slice {event['name']!r} begins in slice {self._open[track][0]!r} on {track}")
        self._open[track] = event["name"], self._time_ps(event, track)

    def _end(self, event: Event) -> None:
        track = event["pid"], event["tid"]
        end_ps = self._time_ps(event, track)
        if track not in self._open:
            self._complain(f"a slice ends on {track} that has not begun")
            return
        name, begin_ps = self._open.pop(track)
        self.lint.slices += 1
        self.lint.time_ps[track, name] += end_ps - begin_ps

    def _leave(self, event: Event) -> None:
        self._arrow(event, self._leaving, self._arriving, lambda this, other: this <= other)

    def _arrive(self, event: Event) -> None:
        self._arrow(event, self._arriving, self._leaving, lambda this, other: this >= other)

    def _arrow(
        self, event: Event, mine: dict[int, int], others: dict[int, int], fits: Callable[[int, int], bool]
    ) -> None:
        track = event["pid"], event["tid"]
        time_ps, arrow = self._time_ps(event, track), event["id"]
        if track not in self._open:
            self._complain(f"arrow {arrow} has an end outside all slices of {track}")
        if arrow in mine:
            self._complain(f"arrow {arrow} has the same end twice")
        if arrow not in others:
            mine[arrow] = time_ps
            return
        if not fits(time_ps, others.pop(arrow)):
            self._complain(f"arrow {arrow} goes back in time")
        self.lint.arrows += 1

    def _sample(self, event: Event) -> None:
        series = event["pid"], event["name"]
        self._used_series(event)
        self._time_ps(event, series)
        self.lint.samples += 1
        for name, value in event["args"].items():
            if value < 0:
                self._complain(f"counter {event['name']!r} {name} is {value}")

    def _used_series(self, event: Event) -> None:
        if event["pid"] not in self._processes:
            self._complain(f"counter {event['name']!r} belongs to process {event['pid']}, which has no name")
