"""Threads that contend for one lock: the spin lock program of the thesis (section 6.2, Table 6.2)."""

from __future__ import annotations

import numpy as np

from numasim.spec.base import ps
from numasim.spec.models.workload_models import SpinlockParameters
from numasim.workload.builder import Draft, Shape, parameters_of
from numasim.workload.families.sync_parameters import Role, SharedWord
from numasim.workload.graph import Deal, Kind, Op, Phase, Workload

THINK, CRITICAL = range(2)
LOCK_WORD = SharedWord("lock", Role.LOCK)


def spinlock(parameters: SpinlockParameters) -> Workload:
    """A body for each thread, which thinks, takes the lock, works and lets it go, again and again."""
    threads, rounds = parameters.team, parameters.acquisitions
    think_ps, critical_ps = ps(parameters.think_ns), ps(parameters.critical_ns)
    ops = [*([Op.RUN] if think_ps else []), Op.LOCK, Op.RUN, Op.UNLOCK]
    kernels = [*([THINK] if think_ps else []), CRITICAL]
    shape = Shape(ops * rounds, kernels * rounds, [0] * len(kernels) * rounds, words=[0] * 2 * rounds)
    draft = Draft(np.full(threads, -1), np.zeros(threads, np.int64), (shape,), kind=np.full(threads, Kind.IMPLICIT))
    draft.compute_runs(0, np.tile([think_ps, critical_ps][-len(kernels) :], rounds))
    return draft.finish(
        name="spinlock",
        parameters=parameters_of(parameters),
        kernels=("think", "critical"),
        phases=(Phase(roots=tuple(range(threads)), deal=Deal.CYCLIC),),
        words=(LOCK_WORD,),
        facts={"acquisitions": threads * rounds},
    )
