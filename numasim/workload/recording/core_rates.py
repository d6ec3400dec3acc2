"""Compute times of recorded programs on cores of another rate.

Compute times of a recorded program are times on the recording machine. On a simulated machine the times are multiplied
by the rate of the recording machine's cores over the rate of the simulated machine's cores, if both are known. A rate
is the number of steps per second of a fixed loop (`MachineSpec.core_steps_per_s`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from numasim.errors import InputError
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.unit_factors import GIGA
from numasim.schema.enumerations import LONGEST_PS
from numasim.workload.graph import I64, RangeFamily, Workload
from numasim.workload.recording.recorded import Recorded


def rate_of(machine: MachineSpec) -> int:
    """Return the steps per second of a core of ``machine``; raise InputError if the rate is not known."""
    if machine.core_steps_per_s is None:
        raise InputError(
            f"the machine {machine.name} has no core_steps_per_s",
            expected="a machine file that numasim calibrate wrote, or one with a measured rate",
        )
    return machine.core_steps_per_s


def recorded_on(workload: Workload, machine: MachineSpec) -> Workload:
    """Return ``workload`` as if recorded on ``machine``; raise InputError if the rate of cores is not known."""
    rate, clocks = rate_of(machine), [machine.clock.base_ghz, *(step.ghz for step in machine.clock.turbo)]
    place = Recorded(machine.name, int(max(clocks) * GIGA), rate)
    known = workload.recorded or Recorded()
    return replace(workload, recorded=replace(place, sizes=known.sizes, guessed_sizes=known.guessed_sizes))


@lru_cache(maxsize=4)
def at_rate(workload: Workload, core_steps_per_s: int) -> Workload:
    """Return ``workload`` with compute times on cores of ``core_steps_per_s``; the same workload if a rate is unknown.

    Times are rounded to whole ps. Raise InputError if a time becomes longer than a run may be.
    """
    here = workload.recorded.core_steps_per_s if workload.recorded else 0
    if not here or not core_steps_per_s or here == core_steps_per_s:
        return workload
    scale = _Scale(here, core_steps_per_s)
    times = scale.of(workload.segment_compute_ps)
    return replace(workload, segment_compute_ps=times, ranges=tuple(map(scale.of_range, workload.ranges)))


@dataclass(frozen=True)
class _Scale:
    """A factor of times, ``here`` over ``there``, both at most `MOST_STEPS_PER_S`, in integers."""

    here: int
    there: int

    def of(self, times_ps: I64) -> I64:
        """Return [times] the times, rounded to the nearest ps."""
        longest = int(times_ps.max(initial=0))
        if longest * self.here // self.there >= LONGEST_PS:
            raise InputError(
                f"a time of {longest:,} ps, on cores of {self.there:,} steps per second in place of {self.here:,}, is "
                "too long for a run",
                expected="a rate of a core nearer to that of the recording",
            )
        whole, rest = np.divmod(times_ps, self.there)  # the parts of the product have at most 63 bits each
        scaled: I64 = whole * self.here + (rest * self.here + self.there // 2) // self.there
        scaled.setflags(write=False)
        return scaled

    def of_range(self, family: RangeFamily) -> RangeFamily:
        """Return a range whose items compute for the scaled times."""
        low, high = self.of(np.array([family.low_ps, family.high_ps])).tolist()
        given = family.compute
        compute = (
            None
            if given is None
            else replace(given, items=self.of(given.items), low=self.of(given.low), high=self.of(given.high))
        )
        return replace(family, low_ps=low, high_ps=high, compute=compute)
