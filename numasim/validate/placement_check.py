"""Whether the threads of a run were where the machine file says.

A hypervisor moves the hardware threads of a virtual machine: at one moment two of them share a cache, at the next they
do not, and workers that share data are then slower. What was calibrated is one of these machines. A native run and its
rehearsal are made between looks at how long a cache line takes from worker to worker; where one of them is not about
what the machine file says, the run was on another machine, by rule, whatever came of it.
"""

from __future__ import annotations

import numpy as np

from numasim.machine.distance import line_transfer_ps
from numasim.plan.plan import Plan
from numasim.runtime.runtime_program import KernelRun

ABOUT = 2  # times longer, or shorter, at most


def has_moved(run: KernelRun, plan: Plan) -> bool:
    """Whether lines took another time between workers than the machine of ``plan`` says, beside the run."""
    expected_ps = hop_ps(plan)
    return any(hop and (hop > ABOUT * expected_ps or ABOUT * hop < expected_ps) for hop in run.hop_ps)


def hop_ps(plan: Plan) -> int:
    """The mean time of a cache line from worker to worker, all around, on the machine of ``plan``."""
    between = line_transfer_ps(plan.machine, plan.workers)
    ids = np.arange(len(between))
    return int(between[ids, np.roll(ids, -1)].mean())
