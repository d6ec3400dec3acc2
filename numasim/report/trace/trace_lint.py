"""Checks a trace file, event by event in bounded memory, against the format that `perfetto` writes.

Every line is one event. On a track times do not go back, and slices begin and end in turn; an arrow has both its ends,
each in a slice, and does not go back in time; counters are never negative; every track has a name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.files.bounded_json import parse_json
from numasim.files.bounded_lines import bounded_lines
from numasim.files.file_kinds import TRACE
from numasim.parts.unit_factors import PS_PER_US
from numasim.parts.yaml.nodes import shown

OPENING, CLOSING = '"traceEvents":[', "]}"
MOST_PROBLEMS = 20
MOST_ARROWS = 1_000_000  # of which one end was seen
LATEST_PS = 2**63
DECIMAL = re.compile(r"-?[0-9]{1,20}\.[0-9]{1,20}")
KINDS = {str: "a text", int: "a whole number", Decimal: "a number", dict: "a mapping"}

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
        counts = f"{self.slices:,} slices, {self.arrows:,} arrows, {self.samples:,} values of counters"
        return counts + (" up to there; read no further" if len(self.problems) == MOST_PROBLEMS else "")


def lint(path: Path) -> Lint:
    """Read a trace, compressed or not, up to the problem number `MOST_PROBLEMS`. InputError for what is no trace."""
    checker = Checker()
    for number, event in events(path):
        try:
            checker.check(number, event)
        except InputError as error:
            error.place = f"{path}:{number}"
            raise
        if len(checker.lint.problems) == MOST_PROBLEMS:
            return checker.lint
    checker.finish()
    return checker.lint


def events(path: Path) -> Iterator[tuple[int, Event]]:
    """(line number, event); decimals are exact. InputError for another layout than numasim writes."""
    lines = bounded_lines(path, TRACE)
    number, first = next(lines, (1, ""))
    if not first.endswith(OPENING + "\n"):
        raise _no_trace(path, number, "this line does not open a list of events")
    for number, line in lines:
        text = line.strip()
        if text == CLOSING:
            for behind, _ in lines:  # to the end, where the checksum of a packed file stands
                raise _no_trace(path, behind, "something follows the list of events")
            return
        yield number, _event(path, number, text.removesuffix(","))
    raise _no_trace(path, number, "the list of events does not end here, nor before")


def _event(path: Path, number: int, text: str) -> Event:
    found = parse_json(text, str(path), TRACE.name, line=number, decimal=decimal)
    if not isinstance(found, dict):
        raise _no_trace(path, number, "this line holds no event")
    return found


def decimal(text: str) -> Decimal:
    """The exact value of a number with a fraction; InputError for one that no trace has."""
    if not DECIMAL.fullmatch(text):
        raise InputError(f"the number {shown(text)} is out of range", expected="at most 20 digits before the point")
    return Decimal(text)


def _no_trace(path: Path, number: int, problem: str) -> InputError:
    return InputError(problem, place=f"{path}:{number}", expected=TRACE.name)


def _track(event: Event) -> Track:
    return _field(event, "pid", int), _field(event, "tid", int)


def _field(event: Event, name: str, *kinds: type) -> Any:
    """The value of a field; InputError where it is missing or of another kind."""
    value = event.get(name)
    if type(value) not in kinds:
        expected = " or ".join(KINDS[kind] for kind in kinds)
        problem = f"got {shown(value)}" if name in event else "this field is missing"
        raise InputError(problem, path=(name,), expected=expected)
    return value


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
        kind = self._kinds.get(_field(event, "ph", str))
        if kind is None:
            self._complain(f"an event of kind {shown(event['ph'])}")
        else:
            kind(event)

    def finish(self) -> None:
        """Look at what is left at the end."""
        for track, (name, _) in self._open.items():
            self._complain(f"slice {shown(name)} of {track} does not end")
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
        name = _field(event, "name", str)
        if name == "process_name":
            self._processes.add(_field(event, "pid", int))
        elif name == "thread_name":
            self.lint.names[_track(event)] = _field(_field(event, "args", dict), "name", str)

    def _time_ps(self, event: Event, track: Track | Series) -> int:
        """The time of an event, which must not come before the last one of its track."""
        time_us = _field(event, "ts", int, Decimal)
        if not 0 <= time_us < LATEST_PS:
            raise InputError(f"got {shown(time_us)}", path=("ts",), expected="microseconds from 0 on, in 63 bits")
        time_ps = Decimal(time_us) * PS_PER_US
        if time_ps != int(time_ps):
            self._complain(f"{time_us} is not a whole number of picoseconds")
        if time_ps < self._last_ps.get(track, 0):
            self._complain(f"time goes back to {time_us} on {track}")
        self._last_ps[track] = int(time_ps)
        return int(time_ps)

    def _begin(self, event: Event) -> None:
        track, name = _track(event), _field(event, "name", str)
        self._used.add(track)
        if track in self._open:
            self._complain(f"slice {shown(name)} begins in slice {shown(self._open[track][0])} on {track}")
        self._open[track] = name, self._time_ps(event, track)

    def _end(self, event: Event) -> None:
        track = _track(event)
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
        track = _track(event)
        time_ps, arrow = self._time_ps(event, track), _field(event, "id", int)
        if track not in self._open:
            self._complain(f"arrow {arrow} has an end outside all slices of {track}")
        if arrow in mine:
            self._complain(f"arrow {arrow} has the same end twice")
        if arrow not in others:
            mine[arrow] = time_ps
            if len(mine) > MOST_ARROWS:
                raise InputError(f"more than {MOST_ARROWS:,} arrows have one end only", expected=TRACE.name)
            return
        if not fits(time_ps, others.pop(arrow)):
            self._complain(f"arrow {arrow} goes back in time")
        self.lint.arrows += 1

    def _sample(self, event: Event) -> None:
        series = _field(event, "pid", int), _field(event, "name", str)
        self._used_series(event)
        self._time_ps(event, series)
        self.lint.samples += 1
        values = _field(event, "args", dict)
        for name in values:
            if _field(values, name, int, Decimal) < 0:
                self._complain(f"counter {shown(series[1])} {name} is {values[name]}")

    def _used_series(self, event: Event) -> None:
        if event["pid"] not in self._processes:
            self._complain(f"counter {shown(event['name'])} belongs to process {event['pid']}, which has no name")
