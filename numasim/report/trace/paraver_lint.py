"""Checks a Paraver trace, its three files, as any reader of the format would.

Every record has the numbers of its kind, names processors and threads that the head has, and comes in the order of
time; states have names and follow each other on every thread from 0 to the end; the rows are those of the head.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from numasim.errors import InputError
from numasim.files.bounded_lines import bounded_lines
from numasim.files.file_kinds import TRACE
from numasim.report.trace.trace_lint import MOST_PROBLEMS, Lint

HEAD = re.compile(
    r"#Paraver \(\d\d/\d\d/\d\d at \d\d:\d\d\):"
    r"(\d{1,20})_ns:(\d{1,6})\(([\d,]{1,99999})\):1:(\d{1,6})\(([\d:,]{1,99999})\)"
)
PREFIX = "#Paraver "
RECORD = re.compile(r"[0-9]{1,20}(?::[0-9]{1,20})+")
STATE_WORDS, COMMUNICATION_WORDS = 8, 15
MOST_THREADS = 2**21
EVENT_WORDS = 6  # before pairs of a type and a value

Thread = tuple[int, int]  # task and thread, from 1


class ParaverError(Exception):
    """What is wrong with a record."""


@dataclass
class ParaverChecker:
    """What is known of the trace so far."""

    lint: Lint = field(default_factory=Lint)
    _end_ps: int = 0
    _now_ps: int = 0
    _processor: dict[Thread, int] = field(default_factory=dict)
    _until_ps: dict[Thread, int] = field(default_factory=dict)
    _states: dict[int, str] = field(default_factory=dict)

    def check(self, path: Path, lines: Iterable[tuple[int, str]]) -> Lint:
        """Read all lines of the file ``path``, up to the problem number `MOST_PROBLEMS`, and those beside it."""
        reading = iter(lines)
        self._read_head(path, next(reading)[1].rstrip("\n"))
        self._states = _states(path.with_suffix(".pcf"))
        self._name_threads(path.with_suffix(".row"))
        for number, line in reading:
            try:
                if not RECORD.fullmatch(line.rstrip("\n")):
                    raise ParaverError("this is no record")
                self._record([int(word) for word in line.split(":")])
            except ParaverError as problem:
                self.lint.problems.append(f"line {number}: {problem}")
            if len(self.lint.problems) == MOST_PROBLEMS:
                return self.lint
        for thread, until_ps in self._until_ps.items():
            if until_ps != self._end_ps:
                self.lint.problems.append(f"{self.lint.names[thread]} ends at {until_ps}, not at {self._end_ps}")
        del self.lint.problems[MOST_PROBLEMS:]
        return self.lint

    def _read_head(self, path: Path, text: str) -> None:
        head = HEAD.fullmatch(text)
        if not head:
            raise InputError("this is no head of a Paraver trace", place=f"{path}:1", expected=TRACE.name)
        processors = [int(number) for number in head[3].split(",")]
        tasks = [tuple(map(int, pair.split(":"))) for pair in head[5].split(",")]
        if len(processors) != int(head[2]) or len(tasks) != int(head[4]) or any(len(pair) != 2 for pair in tasks):
            raise InputError("the head counts other nodes or tasks than it has", place=f"{path}:1", expected=TRACE.name)
        if [threads for threads, _ in tasks] != processors or sum(processors) > MOST_THREADS:
            raise InputError("the threads are no processors of their nodes", place=f"{path}:1", expected=TRACE.name)
        self._end_ps = int(head[1])
        threads = [(task, thread) for task, count in enumerate(processors, 1) for thread in range(1, count + 1)]
        self._processor = {thread: number for number, thread in enumerate(threads, 1)}
        self._until_ps = dict.fromkeys(threads, 0)

    def _name_threads(self, path: Path) -> None:
        names = _rows(path).get("THREAD", [])
        if len(names) != len(self._processor):
            self.lint.problems.append(f"{path.name} names {len(names)} threads of {len(self._processor)}")
        named = [*names, *(f"thread {thread}" for thread in range(len(self._processor)))]
        self.lint.names = dict(zip(self._processor, named, strict=False))

    def _record(self, words: list[int]) -> None:
        match words[0]:
            case 1 if len(words) == STATE_WORDS:
                self._state(self._thread(words[1:5]), *words[5:])
            case 2 if len(words) > EVENT_WORDS and len(words) % 2 == 0:
                self._thread(words[1:5])
                self._advance(words[5])
            case 3 if len(words) == COMMUNICATION_WORDS:
                self._thread(words[1:5])
                self._thread(words[7:11])
                self._advance(words[5])
                if words[11] < words[5] or words[12] < words[6]:
                    raise ParaverError("it is received before it is sent")
                self.lint.arrows += 1
            case _:
                raise ParaverError(f"there is no record {words[0]} of {len(words)} numbers")

    def _thread(self, words: list[int]) -> Thread:
        processor, application, task, thread = words
        if application != 1 or self._processor.get((task, thread)) != processor:
            raise ParaverError(f"there is no thread {application}.{task}.{thread} on processor {processor}")
        return task, thread

    def _advance(self, time_ps: int) -> None:
        if not self._now_ps <= time_ps <= self._end_ps:
            raise ParaverError(f"the time {time_ps} goes back, or behind the end")
        self._now_ps = time_ps

    def _state(self, thread: Thread, begin_ps: int, end_ps: int, state: int) -> None:
        self._advance(begin_ps)
        if begin_ps != self._until_ps[thread] or end_ps <= begin_ps:
            raise ParaverError(f"a state from {begin_ps} to {end_ps} follows one that ends at {self._until_ps[thread]}")
        if state not in self._states:
            raise ParaverError(f"the state {state} has no name")
        self._until_ps[thread] = end_ps
        self.lint.slices += 1
        self.lint.time_ps[thread, self._states[state]] += end_ps - begin_ps


def _states(path: Path) -> dict[int, str]:
    """The names of states in the file of names."""
    found: dict[int, str] = {}
    section = ""
    for _, line in bounded_lines(path, TRACE):
        words = line.split(maxsplit=1)
        if len(words) == 1 and not words[0].isdecimal():
            section = words[0]
        elif section == "STATES" and len(words) == 2 and words[0].isdecimal():
            found[int(words[0])] = words[1].strip()
    return found


def _rows(path: Path) -> dict[str, list[str]]:
    """The names of rows by level."""
    found: dict[str, list[str]] = {}
    level: list[str] = []
    for _, line in bounded_lines(path, TRACE):
        words = line.split()
        if len(words) == 4 and words[0] == "LEVEL" and words[2] == "SIZE":
            level = found.setdefault(words[1], [])
        elif line.strip():
            level.append(line.strip())
    return found
