"""Checks that the threads of a run were placed as the machine file says.

A hypervisor moves the hardware threads of a virtual machine: at one moment two of them share a cache, at the next they
do not, and workers that share data are then slower. The machine file describes one of these states. Before, between and
after a rehearsal and its run the transfer time of a cache line from worker to worker is measured; where one of these
times is not near that of the machine file, the run is rejected, whatever its result.
"""

from __future__ import annotations

import numpy as np

from numasim.machine.distance import line_transfer_ps
from numasim.plan.plan import Plan
from numasim.runtime.runtime_program import KernelRun

MOST_FACTOR = 2  # by which transfer times may be longer or shorter


def placement_differs(run: KernelRun, plan: Plan) -> bool:
    """Whether cache lines, measured beside the run, took another time than on the machine of ``plan``."""
    expected_ps = hop_ps(plan)
    return any(hop and (hop > MOST_FACTOR * expected_ps or MOST_FACTOR * hop < expected_ps) for hop in run.hop_ps)


def hop_ps(plan: Plan) -> int:
    """The mean time of a cache line from each worker to the next, on the machine of ``plan``."""
    between = line_transfer_ps(plan.machine, plan.workers)
    ids = np.arange(len(between))
    return int(between[ids, np.roll(ids, -1)].mean())
