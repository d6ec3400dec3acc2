"""The event files of a recording, read into arrays.

``lib/recorder/events.h`` describes the files. The kinds of work, of synchronisation and of dependences have the numbers
of the OpenMP tools interface.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.files.reader import MIB, FileKind, read_bytes

MAGIC = 0x31304345524D534E
HEADER_WORDS = 8
THREAD_SHIFT = 40
MOST_STACKED = 1024


# The kinds of events, numbered from 1 in the order of `ns_event_kind` in lib/recorder/events.h.
Event = IntEnum(
    "Event",
    "CREATE BEGIN_NEW BEGIN RETURN SWITCH SYNC SYNC_WAIT PARALLEL PARALLEL_END IMPLICIT IMPLICIT_END DEPENDENCES WORK "
    "MASKED MUTEX CANCEL TARGET ACCESS ALLOCATE RELEASE TOUCHED PAUSE END START ACQUIRE CHUNK TEAM AWAY CLAUSE "
    "TOGETHER GLOBAL",
)


class TaskFlag(IntFlag):
    """The flags that OpenMP gives a new task."""

    UNTIED = 2
    FINAL = 4
    TASKWAIT = 32
    TARGET = 64


class Clause(IntEnum):
    """The clauses of OpenMP tasks that do not change a task graph."""

    PRIORITY = 1
    AFFINITY = 2


class Endpoint(IntEnum):
    """Whether a region begins or ends here; in the lowest two bits of an event's argument."""

    BEGIN = 1
    END = 2


class Sync(IntEnum):
    """Kinds of synchronisation; all kinds without a name here are barriers."""

    TASKWAIT = 5
    TASKGROUP = 6
    REDUCTION = 7
    REGION_END = 9  # the barrier at the end of a parallel region


class Status(IntEnum):
    """The reason why a thread leaves a task."""

    YIELD = 2
    CANCEL = 3
    DETACH = 4
    EARLY_FULFILL = 5
    TASKWAIT_COMPLETE = 8


class Dependence(IntEnum):
    """The types of dependences that a graph distinguishes. All other types count as INOUT."""

    IN = 1
    OUT = 2
    INOUT = 3


# the kinds of locks that OpenMP reports, except for plain locks
MUTEXES = {3: "nested locks", 4: "nested locks", 5: "critical regions", 6: "atomic regions", 7: "ordered regions"}


TASKLOOP = 7  # the kind of work that a single task divides into tasks


class Work(IntEnum):
    """The kinds of work that a team divides."""

    LOOP = 1  # a loop whose chunks the runtime does not report
    SECTIONS = 2
    WORKSHARE = 5
    DISTRIBUTE = 6
    LOOP_STATIC = 10
    LOOP_DYNAMIC = 11
    LOOP_GUIDED = 12
    LOOP_OTHER = 13


# ---- files -----------------------------------------------------------------------------------------------------------

Words = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

EVENTS = FileKind("the events of a program that makes fewer tasks: a smaller input", 768 * MIB)
SUFFIX = ".events"
COUNTED = (Event.DEPENDENCES, Event.GLOBAL)  # kinds of events whose argument is the number of operands
OPERANDS = {  # the other kinds of events that have operands, by the number of operands
    1: [
        *(Event.CREATE, Event.BEGIN, Event.SWITCH, Event.WORK, Event.RELEASE, Event.TOUCHED, Event.PAUSE, Event.END),
        Event.CHUNK,
    ],
    2: [Event.PARALLEL, Event.ALLOCATE, Event.AWAY],
    3: [Event.IMPLICIT],
    4: [Event.ACCESS],
}


@dataclass(frozen=True)
class Module:
    """A file that the process had loaded at the addresses from ``begin`` to ``end``."""

    begin: int
    end: int
    path: str


@dataclass(frozen=True)
class ThreadEvents:
    """The events of a thread, in their order.

    ``ticks`` are ticks of the processor's clock. The operands of event i are ``operands[first[i]:first[i + 1]]``.
    ``start`` and ``end`` give the begin and the end of the recording, each as a pair: ticks and nanoseconds.
    """

    thread: int
    start: tuple[int, int]
    end: tuple[int, int]
    kind: npt.NDArray[np.uint8]  # Event
    argument: npt.NDArray[np.uint8]
    ticks: I64
    first: I64  # [events + 1]
    operands: I64
    modules: tuple[Module, ...] = ()  # the files that the process had loaded

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.kind)

    @property
    def number_base(self) -> int:
        """Return the number before the first number that the thread gives to a task, a region or an implicit task."""
        return (self.thread + 1) << THREAD_SHIFT


def read_events(folder: Path) -> tuple[ThreadEvents, ...]:
    """Return the events of all threads of the process whose files are in ``folder``, in the order of the threads'
    numbers.

    Raise InputError if no process or more than one process used OpenMP, and if a file is cut off or damaged.
    """
    files: dict[str, list[Path]] = {}
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        files.setdefault(file.name.partition("-")[0], []).append(file)
    processes = [
        [parse_events(read_bytes(file, EVENTS), file.name, read_modules(folder, process)) for file in each]
        for process, each in files.items()
    ]
    begins = (Event.PARALLEL, Event.CREATE)
    parallel = [threads for threads in processes if any(np.isin(each.kind, begins).any() for each in threads)]
    if not parallel:
        raise InputError("the program has no parallel region of OpenMP and no task, so that there is nothing to record")
    if len(parallel) > 1:
        problem = f"{len(parallel)} processes of the program have used OpenMP"
        raise InputError(problem, expected="a program that uses OpenMP in one process")
    return tuple(sorted(parallel[0], key=lambda each: each.thread))


def read_modules(folder: Path, process: str) -> tuple[Module, ...]:
    """Return the files that a process had loaded; an empty tuple if the process left no list."""
    file = folder / f"{process}.modules"
    lines = file.read_text(errors="surrogateescape").splitlines() if file.is_file() else []
    found = (line.split(" ", 2) for line in lines)
    return tuple(Module(int(begin, 16), int(end, 16), path) for begin, end, path in found)


def parse_events(data: bytes, name: str, modules: tuple[Module, ...] = ()) -> ThreadEvents:
    """Return the events in the bytes of the file ``name``. Raise InputError, with the name, for a damaged file."""
    if len(data) < 8 * HEADER_WORDS or len(data) % 8:
        raise _damaged(name, f"it has {len(data)} bytes")
    words: Words = np.frombuffer(data, "<u8")
    if int(words[0]) != MAGIC:
        raise _damaged(name, "it does not begin as an event file does")
    body = words[HEADER_WORDS:]
    heads = np.flatnonzero(body & np.uint64(1))
    if len(body) and (not len(heads) or heads[0]):
        raise _damaged(name, "it begins with an operand")
    found = _split(body, heads)
    _check(found, name)
    begin = int(words[2])
    last = int(found["ticks"][-1]) if len(heads) else 0
    wrapped = begin & ~0xFFFFFFFFFFFF  # an event stores the lower 48 bits of its ticks
    end = (wrapped | last, int(found["operands"][-1]))
    return ThreadEvents(thread=int(words[1]), start=(begin, int(words[3])), end=end, modules=modules, **found)


def _split(body: Words, heads: I64) -> dict[str, Any]:
    head = body[heads]
    counts = np.diff(heads, append=len(body)) - 1
    first = np.zeros(len(heads) + 1, np.int64)
    np.cumsum(counts, out=first[1:])
    is_operand = (body & np.uint64(1)) == 0
    return {
        "kind": ((head >> np.uint64(1)) & np.uint64(127)).astype(np.uint8),
        "argument": ((head >> np.uint64(8)) & np.uint64(255)).astype(np.uint8),
        "ticks": (head >> np.uint64(16)).astype(np.int64),
        "first": first,
        "operands": (body[is_operand] >> np.uint64(1)).astype(np.int64),
    }


def _check(found: dict[str, Any], name: str) -> None:
    kind, counts = found["kind"], np.diff(found["first"])
    needed = np.zeros(128, np.int64)
    for count, events in OPERANDS.items():
        needed[events] = count
    expected = np.where(np.isin(kind, COUNTED), found["argument"], needed[kind])
    wrong = np.flatnonzero((counts != expected) | (kind < Event.CREATE) | (kind > max(Event)))
    if not len(kind) or kind[-1] != Event.END:
        raise InputError(
            "the recording does not end: the program was killed, crashed, or ended without leaving OpenMP", place=name
        )
    if len(wrong):
        at = int(wrong[0])
        raise _damaged(name, f"event {at} of kind {kind[at]} has {counts[at]} operands")


def _damaged(name: str, how: str) -> InputError:
    return InputError(f"the event file is damaged: {how}", place=name, expected="a file that the recorder wrote")
