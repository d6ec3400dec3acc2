"""A writer of the event files of recorded OpenMP programs, event by event, and the times between the written events.

A file has the events of one thread: the begin of a task, of a wait, of a loop's chunk, ...
"""

from __future__ import annotations

import struct
from pathlib import Path

from numasim.runtime.record.event_files import HEADER_WORDS, MAGIC, Endpoint, Event, Sync, parse_events
from numasim.runtime.record.event_times import TimedEvents, tick_ps, timed

TICKS_PER_NS = 2
BEGIN = 1_000_000
NUMBER = 1 << 40  # thread 0 numbers tasks and regions from `NUMBER` + 1 on


class EventWriter:
    """The events of a thread. Times are in ns from the begin of the file."""

    def __init__(self, thread: int = 0) -> None:
        self.thread = thread
        self.words: list[int] = []
        self.now = 0

    def add(self, kind: int, argument: int = 0, *operands: int, after: int = 0) -> EventWriter:
        """Add an event ``after`` ns after the previous event."""
        self.now += after
        ticks = BEGIN + TICKS_PER_NS * self.now
        self.words.append(ticks << 16 | argument << 8 | kind << 1 | 1)
        self.words += [operand << 1 for operand in operands]
        return self

    def create(self, after: int = 0, flags: int = 0, place: int = 0x100) -> EventWriter:
        return self.add(Event.CREATE, flags, place, after=after)

    def begin_new(self, in_place: bool = False, after: int = 0) -> EventWriter:
        return self.add(Event.BEGIN_NEW, int(in_place), after=after)

    def done(self, after: int = 0) -> EventWriter:
        return self.add(Event.RETURN, after=after)

    def leaf(
        self, work: int, after: int = 0, flags: int = 0, in_place: bool = False, place: int = 0x100
    ) -> EventWriter:
        """Add a task that is executed as soon as it is made."""
        return self.create(after, flags, place).begin_new(in_place).done(work)

    def sync(self, kind: int, endpoint: Endpoint, after: int = 0) -> EventWriter:
        return self.add(Event.SYNC, kind << 2 | endpoint, after=after)

    def wait(self, after: int = 0, during: int = 0) -> EventWriter:
        return self.sync(Sync.TASKWAIT, Endpoint.BEGIN, after).sync(Sync.TASKWAIT, Endpoint.END, during)

    def work(self, kind: int, endpoint: Endpoint, after: int = 0, place: int = 0) -> EventWriter:
        return self.add(Event.WORK, kind << 2 | endpoint, place, after=after)

    def chunk(self, iterations: int, after: int = 0) -> EventWriter:
        return self.add(Event.CHUNK, 0, iterations, after=after)

    def depend(self, *pairs: tuple[int, int]) -> EventWriter:
        """Add dependences to the task made last: (address, type) each."""
        return self.add(Event.DEPENDENCES, len(pairs), *(address << 6 | kind for address, kind in pairs))

    def program(self) -> EventWriter:
        """Begin a program: its initial task has number 1."""
        return self.add(Event.IMPLICIT, 1, 0, 1, 1, after=7).add(Event.START, after=5)

    def region(self, number: int, after: int = 0, team: int = 1, place: int = 0) -> EventWriter:
        """Begin a parallel region with this number, and the implicit task of this thread."""
        self.add(Event.PARALLEL, 0, team, place, after=after)
        return self.add(Event.IMPLICIT, 0, NUMBER + number, 0, team, after=11)

    def end_region(self, after: int = 0) -> EventWriter:
        return self.add(Event.IMPLICIT_END, after=after).add(Event.PARALLEL_END, after=13)

    def data(self) -> bytes:
        """Return the bytes of the file, with the end event."""
        ticks = BEGIN + TICKS_PER_NS * self.now
        end = [ticks << 16 | Event.END << 1 | 1, (5_000 + self.now) << 1]
        header = [MAGIC, self.thread, BEGIN, 5_000, *[0] * (HEADER_WORDS - 4)]
        words = [*header, *self.words, *end]
        return struct.pack(f"<{len(words)}Q", *words)

    def write(self, folder: Path, process: int = 77) -> Path:
        file = folder / f"{process}-{self.thread}.events"
        file.write_bytes(self.data())
        return file


def timed_events(*writers: EventWriter, allocate_ps: int = 0) -> list[TimedEvents]:
    """Return the recording whose threads have the events of ``writers``."""
    threads = [parse_events(writer.data(), "hand") for writer in writers]
    return [timed(each, tick_ps(threads), allocate_ps) for each in threads]
