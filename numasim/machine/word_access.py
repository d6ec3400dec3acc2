"""The cost of a remote lock word in closed form: eq. 6.1 to 6.3 of the thesis.

The thesis takes a wait loop of n reads of the word, each from the memory of its home, and one compare-and-swap. The
event model gives the same time if lines are not cached (``words: memory``) and no other worker wants the lock.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from numasim.machine.topology import Machine


def numa_ratio(machine: Machine) -> Fraction:
    """R_NUMA, eq. 6.1: the mean latency of remote memory over that of local memory; 1 on one node."""
    own = np.eye(machine.nodes, dtype=bool)
    remote, local = machine.latency_ps[~own], machine.latency_ps[own]
    if not len(remote):
        return Fraction(1)
    return Fraction(int(remote.sum()), len(remote)) / Fraction(int(local.sum()), len(local))


def lock_ps(machine: Machine, node: int, home: int, reads: int, swap_ps: int = 0) -> int:
    """T_lock, eq. 6.2 (``home`` is ``node``) and 6.3: the time of ``reads`` reads from ``node`` and of the swap."""
    return reads * int(machine.latency_ps[node, home]) + swap_ps


def remote_excess_ps(machine: Machine, reads: int) -> Fraction:
    """How much longer the reads of a remote word take on average: (R_NUMA - 1) times those of a local one."""
    local = Fraction(int(np.trace(machine.latency_ps)), machine.nodes)
    return (numa_ratio(machine) - 1) * reads * local
