"""The kinds of events and their arguments, as in ``tool/events.h`` and in the OpenMP tools interface."""

from __future__ import annotations

from enum import IntEnum, IntFlag

MAGIC = 0x31304345524D534E
HEADER_WORDS = 8
THREAD_SHIFT = 40
MOST_STACKED = 1024


class Event(IntEnum):
    """The kinds of events; ``tool/events.h`` describes them."""

    CREATE = 1
    BEGIN_NEW = 2
    BEGIN = 3
    RETURN = 4
    SWITCH = 5
    SYNC = 6
    SYNC_WAIT = 7
    PARALLEL = 8
    PARALLEL_END = 9
    IMPLICIT = 10
    IMPLICIT_END = 11
    DEPENDENCES = 12
    WORK = 13
    MASKED = 14
    MUTEX = 15
    CANCEL = 16
    TARGET = 17
    ACCESS = 18
    ALLOCATE = 19
    RELEASE = 20
    TOUCHED = 21
    PAUSE = 22
    END = 23
    START = 24
    ACQUIRE = 25
    CHUNK = 26
    TEAM = 27
    AWAY = 28
    CLAUSE = 29
    TOGETHER = 30
    GLOBAL = 31


class TaskFlag(IntFlag):
    """What OpenMP says of a task when it is made."""

    UNDEFERRED = 1
    UNTIED = 2
    FINAL = 4
    MERGEABLE = 8
    MERGED = 16
    TASKWAIT = 32
    TARGET = 64
    DEPENDENT = 128


class Clause(IntEnum):
    """Clauses of tasks that a graph does not have."""

    PRIORITY = 1
    AFFINITY = 2


class Endpoint(IntEnum):
    """The begin or the end of a region, the lowest two bits of an argument."""

    BEGIN = 1
    END = 2


class Sync(IntEnum):
    """The kinds of synchronisation; all others are barriers."""

    TASKWAIT = 5
    TASKGROUP = 6
    REDUCTION = 7
    REGION_END = 9  # the barrier at the end of a parallel region


class Status(IntEnum):
    """Why a thread leaves a task."""

    COMPLETE = 1
    YIELD = 2
    CANCEL = 3
    DETACH = 4
    EARLY_FULFILL = 5
    LATE_FULFILL = 6
    SWITCH = 7
    TASKWAIT_COMPLETE = 8


class Dependence(IntEnum):
    """The types of dependences."""

    IN = 1
    OUT = 2
    INOUT = 3
    MUTEXINOUTSET = 4
    SOURCE = 5
    SINK = 6
    INOUTSET = 7
    OUT_ALL_MEMORY = 34
    INOUT_ALL_MEMORY = 35


MUTEXES = {
    1: "locks",
    2: "locks",
    3: "nested locks",
    4: "nested locks",
    5: "critical regions",
    6: "atomic regions",
    7: "ordered regions",
}


TASKLOOP = 7  # the kind of work that a task divides into tasks


class Work(IntEnum):
    """The kinds of work that a team divides."""

    LOOP = 1  # of a runtime that does not say how it is divided
    SECTIONS = 2
    WORKSHARE = 5
    DISTRIBUTE = 6
    LOOP_STATIC = 10
    LOOP_DYNAMIC = 11
    LOOP_GUIDED = 12
    LOOP_OTHER = 13
