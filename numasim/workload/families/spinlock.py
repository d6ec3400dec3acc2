"""Threads that contend for one lock: the spin lock program of the thesis (section 6.2, Table 6.2)."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import numpy as np
from pydantic import Field

from numasim.parts.base import Nanoseconds, ps
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import Deal, Kind, Op, Phase, Workload
from numasim.workload.parameters import Family, TaskCount, TeamParameters
from numasim.workload.sync_parameters import Role, SyncObject
from numasim.workload.totals import Totals, segment, task

THINK, CRITICAL = range(2)
LOCK_WORD = SyncObject("lock", Role.LOCK)


class SpinlockParameters(TeamParameters):
    """Threads that take one lock ``acquisitions`` times each (thesis, section 6.2), after thinking for ``think_ns``."""

    name: Literal["spinlock"] = Field(description="The name of this workload.")
    acquisitions: TaskCount = Field(1000, description="How often each thread takes the lock.")
    critical_ns: Nanoseconds = Field(Decimal(0), description="Time for which a thread holds the lock.")
    think_ns: Nanoseconds = Field(Decimal(0), description="Time of a thread before each request for the lock.")

    def totals(self) -> Totals:
        """Return the size of the program. Each critical section counts as a row, to limit their number."""
        sections = self.team * self.acquisitions
        section = task(segment(ps(self.think_ns)), segment(ps(self.critical_ns)), ops=2)
        return section.times(sections)


def spinlock(parameters: SpinlockParameters) -> Workload:
    """Return a body for each thread, which repeatedly thinks, takes the lock, works and releases the lock."""
    threads, rounds = parameters.team, parameters.acquisitions
    think_ps, critical_ps = ps(parameters.think_ns), ps(parameters.critical_ns)
    ops = [*([Op.RUN] if think_ps else []), Op.LOCK, Op.RUN, Op.UNLOCK]
    kernels = [*([THINK] if think_ps else []), CRITICAL]
    shape = Shape(ops * rounds, kernels * rounds, [0] * len(kernels) * rounds, words=[0] * 2 * rounds)
    draft = Draft(np.full(threads, -1), np.zeros(threads, np.int64), (shape,), kind=np.full(threads, Kind.IMPLICIT))
    draft.compute_runs(0, np.tile([think_ps, critical_ps][-len(kernels) :], rounds))
    return draft.finish(
        **made_of(parameters),
        kernels=("think", "critical"),
        phases=(Phase(roots=tuple(range(threads)), deal=Deal.CYCLIC),),
        words=(LOCK_WORD,),
        facts={"acquisitions": threads * rounds},
    )


SMALL = {"threads": 2, "acquisitions": 9, "critical_ns": 40, "think_ns": 30}
BENCHMARK = {"acquisitions": 2000, "critical_ns": 100, "think_ns": 500}
FAMILIES = (Family(SpinlockParameters, spinlock, small=SMALL, benchmark=BENCHMARK),)
