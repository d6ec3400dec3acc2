"""What a leaf task waits for its data with and without an allocator of tasks (Chen and Guo 2015, section 5.1).

A leaf accesses S bytes of its own part of the data and B bytes at the border of other parts, on a machine of M sockets.
A byte takes a core ``local_ps`` from the local node and ``remote_ps`` from another, the inverses of the paper's speeds
V_l and V_r, in picoseconds; results are exact fractions. A byte that is written counts twice, as it is fetched and
written back.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from numasim.machine.topology import Machine
from numasim.workload.graph import Pattern
from numasim.workload.one_worker import LINE_BYTES, MLP


@dataclass(frozen=True)
class LeafAccess:
    """The data of a leaf, and what a byte costs."""

    own_bytes: int
    border_bytes: int
    local_ps: Fraction
    remote_ps: Fraction

    def random_ps(self, sockets: int) -> Fraction:
        """Equation 3: expected under random stealing, where a leaf's data is local with probability 1 / M."""
        all_bytes = self.own_bytes + self.border_bytes
        return all_bytes * (self.local_ps + (sockets - 1) * self.remote_ps) / sockets

    @property
    def allocated_ps(self) -> Fraction:
        """Equation 4, the most that it takes with an allocator: its own part is local, the border may be remote."""
        return self.own_bytes * self.local_ps + self.border_bytes * self.remote_ps

    def gain_ps(self, sockets: int) -> Fraction:
        """Equation 5: the least that an allocator gains, which is equation 3 less equation 4."""
        gap = (self.remote_ps - self.local_ps) / sockets
        return gap * ((sockets - 1) * self.own_bytes - self.border_bytes)


def on_machine(machine: Machine, own_bytes: int, border_bytes: int) -> tuple[LeafAccess, LeafAccess]:
    """A leaf on a machine of equal nodes, without caches and contention: from the other nodes in the mean, as equations
    3 and 5 need it, and from the farthest one, as equation 4 does.
    """
    latency = machine.latency_ps
    others = latency[~np.eye(machine.nodes, dtype=bool)].tolist()
    line = Fraction(1000, LINE_BYTES * MLP[Pattern.SEQUENTIAL])
    mean, most = Fraction(sum(others), len(others)), Fraction(max(others))
    local = int(latency[0, 0]) * line
    return (
        LeafAccess(own_bytes, border_bytes, local, mean * line),
        LeafAccess(own_bytes, border_bytes, local, most * line),
    )
