"""Readers of traces, which share no code with the writers and raise AssertionError for the first mistake in a trace.

Each reader checks a file against the description of the format.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

Track = tuple[int, int]  # process and thread

PS_PER_US, PS_PER_S = 10**6, 10**12


@dataclass
class Trace:
    """The contents of a trace: ``time_ps`` is the time on each track by name of slice."""

    slices: int = 0
    arrows: int = 0
    samples: int = 0
    time_ps: Counter[tuple[Track, str]] = field(default_factory=Counter)
    names: dict[Track, str] = field(default_factory=dict)


def read_trace(path: Path) -> Trace:
    """Return the contents of a trace; the first line of the trace shows its format."""
    lines = lines_of(path)
    first = next(lines)
    if first.startswith("%EventDef"):
        return PajeReader().read(chain([first], lines))
    if first.startswith("#Paraver "):
        return ParaverReader().read(first, lines, path)
    return PerfettoReader().read(first, lines)


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines, unpacked if the name ends in .gz."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        yield from file


# ---- Perfetto: on a track times ascend, slices begin and end in turn, and both ends of an arrow are in slices --------


class PerfettoReader:
    """Reads one event a line; every track has a name, and counters are never negative."""

    def __init__(self) -> None:
        self.trace = Trace()
        self._last_ps: dict[tuple[int, int | str], int] = {}
        self._open: dict[Track, tuple[str, int]] = {}  # name and begin of each open slice
        self._ends: dict[tuple[str, int], int] = {}  # (kind, number) of an arrow -> time of its end
        self._processes: set[int] = set()
        self._used: set[Track] = set()

    def read(self, first: str, lines: Iterator[str]) -> Trace:
        assert first.endswith('"traceEvents":[\n')
        for line in lines:
            if line.strip() == "]}":
                break
            self._event(json.loads(line.strip().removesuffix(","), parse_float=Decimal))
        else:
            raise AssertionError("the list of events does not end")
        assert list(lines) == []
        assert not self._open, "slices do not end"
        starts, ends = ({number for kind, number in self._ends if kind == end} for end in "sf")
        assert starts == ends, "an arrow has one end"
        for (kind, number), time_ps in self._ends.items():
            assert kind == "f" or time_ps <= self._ends["f", number], "an arrow goes back in time"
        self.trace.arrows = len(self._ends) // 2
        assert self._used <= self.trace.names.keys(), "a track has no name"
        assert {process for process, _ in self._used} <= self._processes, "a process has no name"
        return self.trace

    def _event(self, event: dict[str, Any]) -> None:
        process, kind = event["pid"], event["ph"]
        if kind == "M":
            if event["name"] == "process_name":
                self._processes.add(process)
            elif event["name"] == "thread_name":
                self.trace.names[process, event["tid"]] = event["args"]["name"]
            return
        if kind == "C":
            assert process in self._processes, "a counter belongs to a process without a name"
            self._time_ps(event, (process, event["name"]))
            assert all(value >= 0 for value in event["args"].values()), "a counter is negative"
            self.trace.samples += 1
            return
        track = process, event["tid"]
        self._used.add(track)
        time_ps = self._time_ps(event, track)
        if kind == "B":
            assert track not in self._open, "a slice begins in a slice"
            self._open[track] = event["name"], time_ps
            return
        assert track in self._open, "outside all slices"
        if kind == "E":
            name, begin_ps = self._open.pop(track)
            self.trace.slices += 1
            self.trace.time_ps[track, name] += time_ps - begin_ps
        else:
            assert kind in ("s", "f")
            assert (kind, event["id"]) not in self._ends, "an arrow has the same end twice"
            self._ends[kind, event["id"]] = time_ps

    def _time_ps(self, event: dict[str, Any], track: tuple[int, int | str]) -> int:
        time_ps = Decimal(event["ts"]) * PS_PER_US
        assert time_ps == int(time_ps), "no whole number of picoseconds"
        assert time_ps >= self._last_ps.get(track, 0), "time goes back"
        self._last_ps[track] = int(time_ps)
        return int(time_ps)


# ---- Paje: definitions are at the head of a file; states follow each other in a container; links have two ends ----


@dataclass
class Container:
    """A container of a Paje trace, with the present state and the begin of this state."""

    kind: str
    name: str
    track: int
    since_ps: int
    state: str | None = None


class PajeReader:
    """Reads events and checks that times ascend. An undefined type, container or value raises KeyError."""

    def __init__(self) -> None:
        self.trace = Trace()
        self._now_ps = 0
        self._events: dict[str, tuple[str, list[str], list[str]]] = {}  # by number: name, fields, kinds of the fields
        self._kinds: dict[str, tuple[str, str]] = {}  # by alias: what the type describes, and the type of its container
        self._values: dict[tuple[str, str], str] = {}
        self._containers: dict[str, Container] = {}
        self._links: set[tuple[str, str]] = set()

    def read(self, lines: Iterator[str]) -> Trace:
        number = ""
        for line in lines:
            match line[1:].split() if line.startswith("%") else ():
                case ["EventDef", name, number]:
                    self._events[number] = name.removeprefix("Paje"), [], []
                case ["EndEventDef"]:
                    number = ""
                case [name, kind]:
                    self._events[number][1].append(name)
                    self._events[number][2].append(kind)
                case _:
                    self._event([quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)])
        assert not self._containers, f"the container {next(iter(self._containers))} does not end"
        assert not self._links, "a link has no end"
        return self.trace

    def _event(self, words: list[str]) -> None:
        name, fields, kinds = self._events[words[0]]
        assert len(fields) == len(words) - 1, f"there is no event {words[0]} with {len(words) - 1} fields"
        given = dict(zip(fields, words[1:], strict=True))
        for word, kind in zip(words[1:], kinds, strict=True):
            if kind == "date":
                time_ps = Decimal(word) * PS_PER_S
                assert self._now_ps <= time_ps == int(time_ps), f"the time {word} goes back"
                self._now_ps = int(time_ps)
        kind = given.get("Type", "")
        if name.startswith("Define"):
            self._define(name, kind, given)
        elif name == "CreateContainer":
            inside = self._inside(kind, "Container")
            assert inside == "0" or self._containers[given["Container"]].kind == inside
            assert given["Alias"] not in self._containers
            track = len(self.trace.names)
            self.trace.names[0, track] = given["Name"]
            self._containers[given["Alias"]] = Container(kind, given["Name"], track, self._now_ps)
        elif name == "DestroyContainer":
            self._end_state(self._containers.pop(given["Name"]))
        elif name == "SetState":
            container = self._containers[given["Container"]]
            assert self._inside(kind, "State") == container.kind
            self._end_state(container)
            container.state, container.since_ps = self._values[kind, given["Value"]], self._now_ps
            self.trace.slices += 1
        else:
            self._link(name, kind, given)

    def _define(self, name: str, kind: str, given: dict[str, str]) -> None:
        if name == "DefineEntityValue":
            self._inside(kind, "State")
            self._values[kind, given["Alias"]] = given["Name"]
            return
        for key in ("Type", "StartContainerType", "EndContainerType"):
            assert given.get(key, "0") == "0" or self._inside(given[key], "Container")
        self._kinds[given["Alias"]] = name.removeprefix("Define").removesuffix("Type"), kind

    def _inside(self, alias: str, of: str) -> str:
        """Return the type of the container to which the type ``alias`` belongs."""
        assert self._kinds[alias][0] == of, f"{alias} is no type of a {of}"
        return self._kinds[alias][1]

    def _end_state(self, container: Container) -> None:
        lasted_ps = self._now_ps - container.since_ps
        if container.state is not None:
            self.trace.time_ps[(0, container.track), container.state] += lasted_ps
        else:
            assert not lasted_ps or ("State", container.kind) not in self._kinds.values(), "no state at first"

    def _link(self, name: str, kind: str, given: dict[str, str]) -> None:
        start = name == "StartLink"
        assert start or name == "EndLink"
        assert self._containers[given["Container"]].kind == self._inside(kind, "Link")
        assert given["StartContainer" if start else "EndContainer"] in self._containers
        if start:
            self._links.add((kind, given["Key"]))
        else:
            self._links.remove((kind, given["Key"]))
            self.trace.arrows += 1


# ---- Paraver: the head names threads; records are in the order of time; states follow each other without gaps ----


class ParaverReader:
    """The three files: records, names of states, names of threads."""

    def __init__(self) -> None:
        self.trace = Trace()
        self._now_ps = 0

    def read(self, first: str, lines: Iterator[str], path: Path) -> Trace:
        head = re.fullmatch(r"#Paraver \(01/01/00 at 00:00\):(\d+)_ns:(\d+)\(([\d,]+)\):1:(\d+)\(([\d:,]+)\)\n", first)
        assert head
        self._end_ps = int(head[1])
        processors = [int(count) for count in head[3].split(",")]
        assert [int(head[2]), int(head[4])] == [len(processors)] * 2
        assert [int(task.split(":")[0]) for task in head[5].split(",")] == processors
        threads = [(node, thread) for node, count in enumerate(processors, 1) for thread in range(1, count + 1)]
        self._processor = {thread: number for number, thread in enumerate(threads, 1)}
        self._until_ps = dict.fromkeys(threads, 0)
        names = path.with_suffix(".pcf").read_text().split("STATES\n")[1].split("\n\n")[0].splitlines()
        self._states = {int(number): name for number, name in (line.split(maxsplit=1) for line in names)}
        rows = path.with_suffix(".row").read_text().split("LEVEL THREAD SIZE ")[1].splitlines()
        self.trace.names = dict(zip(threads, rows[1:], strict=True))
        for line in lines:
            assert re.fullmatch(r"\d+(:\d+)+\n", line), "this is no record"
            self._record([int(word) for word in line.split(":")])
        assert set(self._until_ps.values()) == {self._end_ps}
        return self.trace

    def _record(self, words: list[int]) -> None:
        kind, *_, time_ps = words[:6]
        length = {1: len(words) == 8, 2: len(words) > 6 and len(words) % 2 == 0, 3: len(words) == 15}
        assert length[kind], f"there is no record {kind} of {len(words)} numbers"
        assert self._now_ps <= time_ps <= self._end_ps, "the time goes back, or behind the end"
        self._now_ps = time_ps
        thread = self._thread(*words[1:5])
        if kind == 1:
            end_ps, state = words[6:]
            assert self._until_ps[thread] == time_ps < end_ps, f"follows one that ends at {self._until_ps[thread]}"
            self._until_ps[thread] = end_ps
            self.trace.slices += 1
            self.trace.time_ps[thread, self._states[state]] += end_ps - time_ps
        elif kind == 3:
            self._thread(*words[7:11])
            assert words[11] >= words[5]
            assert words[12] >= words[6]
            self.trace.arrows += 1

    def _thread(self, processor: int, application: int, task: int, thread: int) -> Track:
        found = application == 1 and self._processor.get((task, thread)) == processor
        assert found, f"there is no thread {application}.{task}.{thread} on processor {processor}"
        return task, thread
