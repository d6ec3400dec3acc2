"""Synchronisation constructs of OpenMP, again and again: EPCC syncbench (thesis section 6.4.1, Table 6.4; model 5.5).

Every construct surrounds a delay. The overhead of a construct is the time of the program minus the time of the delays
on the critical path (the fact ``reference_ps``), over the number of constructs (the fact ``constructs``). The
constructs are those of `CONSTRUCT_MEANINGS`. OMPi implements an atomic operation by a lock (thesis section 6.4.1),
which is held during the transfer of the variable's cache line.

The work of the runtime for a construct, except for locks and cache lines, takes ``construct_ns`` on the critical path.
The master does this work before it wakes other threads. If all threads are awake before a construct, every thread does
the work. For a construct with a lock, the holder does the work inside the critical section, and also writes
``construct_lines`` cache lines, which move from holder to holder with the lock. The nearer the holders, the shorter is
the transfer of these lines; ``construct_ns`` stays the same.

The thread that waits on a condition owns the condition; the master owns every other object.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from numasim.parts.base import Nanoseconds, Whole, ps
from numasim.parts.choices import Choices
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import Deal, Kind, Op, Phase, Workload
from numasim.workload.parameters import Family, TaskCount, TeamParameters
from numasim.workload.sync_parameters import Role, SyncObject
from numasim.workload.totals import Totals, segment, task

LOCK, COUNTER, BARRIER, FIRST_CONDITION = range(4)
Steps = list[tuple[Op, int]]  # the ops of a repetition: (op, number of its synchronisation object), or (RUN, kernel)
ALONE = (Op.RUN, 1)  # the work of the master between two parallel regions
OWN = (Op.RUN, 2)  # the work of the runtime
DELAY: Steps = [(Op.RUN, 0)]
MEET: Steps = [(Op.BARRIER, BARRIER)]
COUNT: Steps = [(Op.ATOMIC, COUNTER)]  # the counter of chunks, or the variable to which all threads add
SECTION: Steps = [(Op.LOCK, LOCK), OWN, (Op.RUN, 0), (Op.UNLOCK, LOCK)]
ATOMIC: Steps = [(Op.LOCK, LOCK), OWN, *COUNT, (Op.UNLOCK, LOCK)]
ADD: Steps = [(Op.LOCK, LOCK), *COUNT, (Op.UNLOCK, LOCK)]


CONSTRUCT_MEANINGS = Choices(
    {
        "parallel": "The master works alone while the other threads sleep, then wakes each thread by a condition of "
        "the thread; all threads run the delay and meet at a barrier.",
        "for": "Every thread takes a chunk by an atomic operation and runs the delay; all threads meet at a barrier.",
        "parallel-for": "As parallel, but every thread takes a chunk by an atomic operation before its delay.",
        "barrier": "All threads run the delay and meet at a barrier.",
        "single": "Every thread does an atomic operation; the master alone runs the delay; all meet at a barrier.",
        "critical": "The repetitions are dealt to the threads; each is the delay in a critical section of one lock.",
        "lock": "As critical.",
        "atomic": "As critical, but with an atomic operation in place of the delay.",
        "reduction": "As parallel; each thread also adds to one variable under a lock, before the barrier.",
    }
)


class SyncbenchParameters(TeamParameters):
    """EPCC syncbench (thesis, section 6.4.1): ``repetitions`` of one construct of OpenMP around a delay."""

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["syncbench"] = Field(description="The name of this workload.")
    kind: Annotated[
        Literal["parallel", "for", "parallel-for", "barrier", "single", "critical", "lock", "atomic", "reduction"],
        CONSTRUCT_MEANINGS,
    ] = Field(alias="construct", description="The construct of OpenMP that is repeated (model 5.5).")
    repetitions: TaskCount = Field(100, description="How often the construct is repeated.")
    delay_ns: Nanoseconds = Field(
        Decimal(100), description="Time of the delay inside the construct; assumed: 0.1 us, as in EPCC."
    )
    serial_ns: Nanoseconds = Field(
        Decimal(5000),
        description="Time for which the master works alone before each parallel region; the default is assumed.",
    )
    construct_ns: Nanoseconds = Field(Decimal(0), description="Time of the runtime's work besides locks and lines.")
    construct_lines: Annotated[Whole, Field(ge=0, le=64)] = Field(
        0, description="Own cache lines that the runtime writes while holding the lock of a construct."
    )

    def totals(self) -> Totals:
        """Return the size of the program; each repetition of each thread counts as a row, to limit their number."""
        delay_ps, serial_ps, own_ps = ps(self.delay_ns), ps(self.serial_ns), ps(self.construct_ns)
        most = 5 + self.construct_lines  # most ops of a repetition, besides the signals that the master sends
        once = task(segment(delay_ps), segment(own_ps), ops=most)
        master = segment(serial_ps).times(self.repetitions)
        return once.times(self.team * (self.repetitions + 1)) + master + Totals(ops=self.team * self.repetitions)


def _fork(thread: int, threads: int) -> Steps:
    if thread:
        return [(Op.AWAIT, FIRST_CONDITION + thread)]
    return [ALONE, OWN, *((Op.SIGNAL, FIRST_CONDITION + other) for other in range(1, threads))]


CONSTRUCTS: dict[str, Callable[[int, int], Steps]] = {  # (thread, number of threads) to the steps of one repetition
    "parallel": lambda thread, threads: [*_fork(thread, threads), *DELAY, *MEET],
    "for": lambda thread, threads: [OWN, *COUNT, *DELAY, *MEET],
    "parallel-for": lambda thread, threads: [*_fork(thread, threads), *COUNT, *DELAY, *MEET],
    "barrier": lambda thread, threads: [*DELAY, OWN, *MEET],
    "single": lambda thread, threads: [OWN, *COUNT, *([] if thread else DELAY), *MEET],
    "critical": lambda thread, threads: SECTION,
    "lock": lambda thread, threads: SECTION,
    "atomic": lambda thread, threads: ATOMIC,
    "reduction": lambda thread, threads: [*_fork(thread, threads), *DELAY, *ADD, *MEET],
}
SHARED_OUT = ("critical", "lock", "atomic")


def syncbench(parameters: SyncbenchParameters) -> Workload:
    """Return a body for each thread, which repeats the construct."""
    threads, construct = parameters.team, parameters.kind
    rounds = -(-parameters.repetitions // threads) if construct in SHARED_OUT else parameters.repetitions
    steps = [_steps(parameters, thread) for thread in range(threads)]
    shapes = []
    for each in steps:
        kernels = [kernel for op, kernel in each if op == Op.RUN]
        words = [word for op, word in each if op != Op.RUN]
        ops = [op for op, _ in each]
        shapes.append(Shape(ops * rounds, kernels * rounds, [0] * len(kernels) * rounds, words * rounds))
    draft = Draft(np.full(threads, -1), np.arange(threads), shapes, kind=np.full(threads, Kind.IMPLICIT))
    times = np.array([ps(parameters.delay_ns), ps(parameters.serial_ns), ps(parameters.construct_ns)])
    for thread, shape in enumerate(shapes):
        draft.compute_runs(thread, times[list(shape.kernels)])
    constructs = rounds * threads if construct in SHARED_OUT else rounds
    once = {kernel for op, kernel in steps[0] if op == Op.RUN} - {OWN[1]}
    return draft.finish(
        **made_of(parameters),
        kernels=("delay", "serial", "runtime"),
        phases=(Phase(roots=tuple(range(threads)), deal=Deal.CYCLIC),),
        words=(
            SyncObject("lock", Role.LOCK),
            SyncObject("counter", Role.ATOMIC),
            SyncObject("barrier", Role.BARRIER, parties=threads),
            *(SyncObject(f"thread {thread}", Role.CONDITION, owner=thread) for thread in range(threads)),
            *(SyncObject(f"line {line}", Role.ATOMIC) for line in range(_lines(parameters))),
        ),
        facts={"constructs": constructs, "reference_ps": constructs * int(times[list(once)].sum())},
    )


def _steps(parameters: SyncbenchParameters, thread: int) -> Steps:
    first = FIRST_CONDITION + parameters.team
    lines = [(Op.ATOMIC, first + line) for line in range(_lines(parameters))]
    own = [*([OWN] if parameters.construct_ns else []), *lines]
    steps = CONSTRUCTS[parameters.kind](thread, parameters.team)
    return [each for step in steps for each in (own if step == OWN else [step])]


def _lines(parameters: SyncbenchParameters) -> int:
    return parameters.construct_lines if parameters.kind in SHARED_OUT else 0


SMALL = {"construct": "reduction", "threads": 2, "repetitions": 3}
BENCHMARK = {"construct": "reduction", "repetitions": 1000}
FAMILIES = (Family(SyncbenchParameters, syncbench, small=SMALL, benchmark=BENCHMARK),)
