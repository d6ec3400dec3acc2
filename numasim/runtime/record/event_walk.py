"""The walk through the events of all threads, which turns them into a list of steps for each task.

A task is explicit (a construct of the program made the task), implicit (a thread's share of a parallel region), or the
initial task, which is the program outside all regions. A thread works on one task at a time. A piece of work is the
time between two events of one task. Two times are no work of the program, but of the runtime: from the begin to the end
of a wait, and from making a task to the task's begin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from numasim.errors import InputError
from numasim.runtime.record.event_files import (
    MOST_STACKED,
    MUTEXES,
    TASKLOOP,
    Clause,
    Endpoint,
    Event,
    Status,
    Sync,
    TaskFlag,
    Work,
)
from numasim.runtime.record.event_times import ASIDE, TimedEvents

NOBODY = -1


class Step(IntEnum):
    """The kinds of steps. A step is a tuple that begins with its kind; the comments show the tuples."""

    WORK = 0  # (WORK, time in ps, kinds of the events at the begin and at the end of the piece, blocked ps)
    SPAWN = 1  # (SPAWN, task)
    WAIT = 2  # (WAIT,)
    GROUP_BEGIN = 3  # (GROUP_BEGIN,)
    GROUP_WAIT = 4  # (GROUP_WAIT,)
    BARRIER = 5  # (BARRIER,)
    REGION = 6  # (REGION, number of the region)
    ACCESS = 7  # (ACCESS, tick, address, bytes, mode, rows, stride)
    CHUNK = 8  # (CHUNK, place of the loop, Work): begins a chunk that any thread may take
    CHUNK_END = 9  # (CHUNK_END,)


@dataclass
class RecordedTask:
    """A task of the program: explicit, implicit or initial."""

    parent: int = NOBODY  # number of the task that made this task
    flags: int = 0  # TaskFlag
    place: int = 0  # address in the program that made the task, or the region of an implicit task
    made: int = 0  # the time at which the parent made the task, in ticks
    in_place: bool = False  # whether the parent has executed the task at once
    steps: list[tuple[int, ...]] = field(default_factory=list)
    dependences: list[tuple[int, int]] = field(default_factory=list)  # (address, Dependence)


@dataclass
class Region:
    """A parallel region: its implicit tasks by the number of their thread in the team.

    ``divided_ps`` is the time of the implicit tasks in code that the team divides among its threads: in loops, in
    sections, and from a call that asks for the number of threads to the next barrier.
    """

    members: dict[int, int] = field(default_factory=dict)
    team: int = 1
    place: int = 0  # address in the program where the region begins
    divided_ps: int = 0


@dataclass
class Walked:
    """All recorded tasks, by number, and all regions, by number."""

    tasks: dict[int, RecordedTask] = field(default_factory=dict)
    regions: dict[int, Region] = field(default_factory=dict)
    initial: int = NOBODY  # the number of the initial task
    odd: Counter[str] = field(default_factory=Counter)  # counts of constructs that a task graph cannot express


def walk(threads: Sequence[TimedEvents]) -> Walked:
    """Return the tasks and regions of a recording. Raise InputError if the events contradict each other."""
    found = Walked()
    for thread in threads:  # all tasks and regions, still without steps, since threads refer to those of other threads
        number = thread.events.number_base
        for kind in thread.events.kind.tolist():
            if kind in (Event.CREATE, Event.IMPLICIT):
                number += 1
                found.tasks[number] = RecordedTask()
            elif kind == Event.PARALLEL:
                number += 1
                found.regions[number] = Region()
    for thread in threads:
        _ThreadWalk(found, thread).go()
        for kind, argument in zip(thread.aside.kind.tolist(), thread.aside.argument.tolist(), strict=True):
            if kind == Event.CLAUSE:
                found.odd[_CLAUSES[argument]] += 1
            elif kind == Event.TOGETHER:
                found.odd[_TOGETHER] += 1
    return found


class _ThreadWalk:
    """The walk through the events of one thread."""

    def __init__(self, found: Walked, thread: TimedEvents) -> None:
        self._found = found
        self._thread = thread
        self._number = thread.events.number_base
        self._current = NOBODY
        self._stack: list[int] = []  # the interrupted tasks, as in `lib/recorder/event_log.h`
        self._around: list[int] = []  # for each region in which this thread is, its task before the region
        self._waiting: set[int] = set()
        self._opened: int | None = None  # the kind of the event that began the piece of work; None: no piece is open
        self._work = 0  # the time of the piece so far, in ps
        self._blocked = 0  # the part of the piece for which the thread waited without a processor
        self._region_of: dict[int, Region] = {}  # the region of each implicit task of this thread
        # for each task, the loop that the task is executing: (Work, place)
        self._loop_of: dict[int, tuple[int, int]] = {}
        self._taskloop_of: dict[int, int] = {}  # for each task, the place of the taskloop that the task is executing
        self._asked: set[int] = set()  # tasks that have asked for the size of the team since the last barrier
        self._tick = 0  # the time of the current event

    def go(self) -> None:
        """Process all events in their order."""
        events, gaps, ticks = self._thread.events, self._thread.gap_ps.tolist(), self._thread.events.ticks.tolist()
        blocked = self._thread.blocked_ps.tolist()
        first, operands = events.first.tolist(), events.operands.tolist()
        for at, (kind, argument) in enumerate(zip(events.kind.tolist(), events.argument.tolist(), strict=True)):
            self._work += gaps[at]
            self._blocked += blocked[at]
            self._tick = ticks[at]
            _STEPS[kind](self, argument, operands[first[at] : first[at + 1]])

    @property
    def _task(self) -> RecordedTask:
        try:
            return self._found.tasks[self._current]
        except KeyError:
            raise InputError(f"thread {self._thread.events.thread} works on a task that nobody has made") from None

    def _open(self, kind: int) -> None:
        """Begin a piece of work, unless the task is waiting."""
        self._work = self._blocked = 0
        self._opened = None if self._current == NOBODY or self._current in self._waiting else kind

    def _close(self, kind: int) -> None:
        """End the piece of work, if a piece is open."""
        if self._opened is not None:
            self._task.steps.append((Step.WORK, self._work, self._opened, kind, self._blocked))
            region = self._region_of.get(self._current)
            if region and (self._current in self._loop_of or self._current in self._asked):
                region.divided_ps += self._work
        self._opened = None

    def _split(self, kind: int) -> None:
        """End the piece of work and begin the next piece, so that the time of the event itself belongs to neither."""
        going_on = self._opened is not None
        self._close(kind)
        if going_on:
            self._open(kind)

    def _on_create(self, argument: int, operands: list[int]) -> None:
        self._close(Event.CREATE)
        self._number += 1
        made = self._found.tasks[self._number]
        place = self._taskloop_of.get(self._current, operands[0])
        made.parent, made.flags, made.place = self._current, argument, place
        made.made = self._tick
        if argument & TaskFlag.TASKWAIT:
            self._found.odd["taskwaits with dependences, taken as waits for all children"] += 1
            self._task.steps.append((Step.WAIT,))
        else:
            self._task.steps.append((Step.SPAWN, self._number))
        self._open(Event.CREATE)

    def _on_dependences(self, argument: int, operands: list[int]) -> None:
        pairs = [(operand >> 6, operand & 63) for operand in operands]
        self._found.tasks[self._number].dependences += pairs
        if self._opened is not None:
            self._open(Event.DEPENDENCES)

    def _on_begin_new(self, argument: int, operands: list[int]) -> None:
        self._found.tasks[self._number].in_place = bool(argument)
        if self._opened in (Event.CREATE, Event.DEPENDENCES):
            self._opened = None  # no piece of work: the runtime was about to begin the new task
        self._begin_task(self._number)

    def _begin_task(self, task: int) -> None:
        self._close(Event.BEGIN)
        if len(self._stack) == MOST_STACKED:
            self._stack.clear()
        self._stack.append(self._current)
        self._current = task
        self._open(Event.BEGIN)

    def _on_return(self, argument: int, operands: list[int]) -> None:
        if not self._stack:
            raise InputError(f"thread {self._thread.events.thread} goes back from a task that it did not begin")
        self._close(Event.RETURN)
        self._current = self._stack.pop()
        self._open(Event.RETURN)

    def _on_switch(self, argument: int, operands: list[int]) -> None:
        odd = _ODD_STATUSES.get(argument)
        if odd:
            self._found.odd[odd] += 1
        if argument == Status.TASKWAIT_COMPLETE:
            return
        self._close(Event.SWITCH)
        self._stack.clear()
        self._current = operands[0] or NOBODY
        self._open(Event.SWITCH)

    def _on_sync(self, argument: int, operands: list[int]) -> None:
        kind, endpoint = argument >> 2, argument & 3
        if kind == Sync.REDUCTION:
            self._split(Event.SYNC)
        elif endpoint != Endpoint.BEGIN:
            self._waiting.discard(self._current)
            self._open(Event.SYNC)
            if kind == Sync.REGION_END:
                self._opened = None
        else:
            self._close(Event.SYNC)
            if kind == Sync.TASKGROUP:
                self._task.steps.append((Step.GROUP_BEGIN,))
            else:
                if kind != Sync.TASKWAIT:
                    self._asked.discard(self._current)
                self._task.steps.append((Step.WAIT if kind == Sync.TASKWAIT else Step.BARRIER,))
                self._waiting.add(self._current)
            self._open(Event.SYNC)

    def _on_sync_wait(self, argument: int, operands: list[int]) -> None:
        if argument & 3 == Endpoint.BEGIN:
            self._close(Event.SYNC)
            self._task.steps.append((Step.GROUP_WAIT,))
            self._waiting.add(self._current)

    def _on_parallel(self, argument: int, operands: list[int]) -> None:
        self._close(Event.PARALLEL)
        self._number += 1
        self._found.regions[self._number].place = operands[1]
        self._task.steps.append((Step.REGION, self._number))

    def _on_implicit(self, initial: int, operands: list[int]) -> None:
        region, index, team = operands
        self._number += 1
        if initial and self._thread.events.thread == 0 and self._found.initial == NOBODY:
            self._found.initial = self._number
        elif not initial:
            met = self._region_of[self._number] = self._found.regions[region]
            met.members[index], met.team = self._number, team
            self._found.tasks[self._number].place = met.place
            self._around.append(self._current)
        self._current = self._number
        self._open(Event.IMPLICIT)

    def _on_implicit_end(self, initial: int, operands: list[int]) -> None:
        self._close(Event.IMPLICIT)
        self._waiting.discard(self._current)
        self._current = self._around.pop() if self._around and not initial else NOBODY

    def _on_work(self, argument: int, operands: list[int]) -> None:
        kind, endpoint = argument >> 2, argument & 3
        going_on = self._opened is not None
        self._close(Event.WORK)
        if kind == TASKLOOP and endpoint == Endpoint.BEGIN:
            self._taskloop_of[self._current] = operands[0]
        elif kind == TASKLOOP:
            self._taskloop_of.pop(self._current, None)
        elif kind in _DIVIDED:
            if endpoint == Endpoint.BEGIN:
                self._begin_loop(kind, operands[0])
            elif self._loop_of.pop(self._current, (Work.LOOP_STATIC, 0))[0] != Work.LOOP_STATIC:
                self._task.steps.append((Step.CHUNK_END,))
        if going_on:
            self._open(Event.WORK)

    def _begin_loop(self, kind: int, place: int) -> None:
        self._loop_of[self._current] = (kind, place)
        if kind in (Work.WORKSHARE, Work.DISTRIBUTE):
            self._found.odd[f"shares of a {Work(kind).name.lower()}, taken as they were recorded"] += 1
        region = self._region_of.get(self._current)
        if kind == Work.LOOP and region and region.team > 1:
            raise InputError(
                "this OpenMP runtime does not tell how it divides loops",
                expected="that of LLVM 16 or newer: the Python package cmeel-libomp, or --openmp with its file",
            )

    def _on_chunk(self, argument: int, operands: list[int]) -> None:
        loop, place = self._loop_of.get(self._current, (Work.LOOP_STATIC, 0))
        if loop == Work.LOOP_STATIC:  # the thread executes its own share of a static loop
            self._split(Event.CHUNK)
            return
        self._close(Event.CHUNK)
        self._task.steps.append((Step.CHUNK, place, loop))
        self._open(Event.CHUNK)

    def _on_team(self, argument: int, operands: list[int]) -> None:
        self._split(Event.TEAM)
        self._asked.add(self._current)

    def _on_mutex(self, argument: int, operands: list[int]) -> None:
        self._found.odd[f"entries of {MUTEXES.get(argument, 'locks')}, which exclude nobody in the graph"] += 1
        self._close(Event.WORK)
        self._open(Event.WORK)

    def _without_effect(self, what: str) -> None:
        """Count an event that has no effect in the graph."""
        self._found.odd[what] += 1
        self._split(Event.WORK)

    def _on_access(self, mode: int, operands: list[int]) -> None:
        self._split(Event.ACCESS)
        if self._current != NOBODY:
            address, row_bytes, rows, stride = operands
            self._task.steps.append((Step.ACCESS, self._tick, address, row_bytes, mode, rows, stride))


_ODD_STATUSES: dict[int, str] = {
    Status.YIELD: "taskyields",
    Status.CANCEL: "cancelled tasks",
    Status.DETACH: "detached tasks, which end with their bodies in the graph",
    Status.EARLY_FULFILL: "detached tasks, which end with their bodies in the graph",
}
_TOGETHER = "time that threads waited for each other outside of OpenMP: all then ran together, disturbed"
_CLAUSES: dict[int, str] = {
    Clause.PRIORITY: "tasks or taskloops with a priority, which has no effect in the graph",
    Clause.AFFINITY: "tasks with an affinity, which has no effect in the graph",
}
_DIVIDED = frozenset(Work)
_SHORT_STEPS: dict[Event, Callable[[_ThreadWalk, int, list[int]], None]] = {
    Event.START: lambda walk, argument, operands: walk._open(Event.START),
    Event.PARALLEL_END: lambda walk, argument, operands: walk._open(Event.PARALLEL),
    Event.MASKED: lambda walk, argument, operands: walk._split(Event.WORK),
    Event.ACQUIRE: lambda walk, argument, operands: walk._close(Event.WORK),
    Event.CANCEL: lambda walk, argument, operands: walk._without_effect("cancellations"),
    Event.TARGET: lambda walk, argument, operands: walk._without_effect("offloads to a device"),
    Event.END: lambda walk, argument, operands: walk._close(Event.END),
    Event.BEGIN: lambda walk, argument, operands: walk._begin_task(operands[0]),
}
_STEPS: dict[int, Callable[[_ThreadWalk, int, list[int]], None]] = {
    kind: _SHORT_STEPS.get(kind) or getattr(_ThreadWalk, f"_on_{kind.name.lower()}")
    for kind in Event
    if kind not in ASIDE
}
