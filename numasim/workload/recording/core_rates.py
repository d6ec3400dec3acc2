"""Compute times of recorded programs on cores of another rate.

A rate is the number of steps per second that a core makes in a fixed loop (`MachineSpec.core_steps_per_s`). For a
simulated machine, the recorded compute times are multiplied by the rate of the recording machine over the rate of the
simulated machine, if both rates are known.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from numasim.errors import InputError
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.unit_factors import GIGA
from numasim.schema.enumerations import LONGEST_PS
from numasim.workload.builder import frozen
from numasim.workload.graph import I64, Workload
from numasim.workload.recording.recorded import Recorded


def rate_of(machine: MachineSpec) -> int:
    """Return the steps per second of a core of ``machine``; raise InputError if the rate is not known."""
    if machine.core_steps_per_s is None:
        expected = "a machine file that numasim calibrate wrote, or one with a measured rate"
        raise InputError(f"the machine {machine.name} has no core_steps_per_s", expected=expected)
    return machine.core_steps_per_s


def recorded_on(workload: Workload, machine: MachineSpec) -> Workload:
    """Return ``workload`` with ``machine`` as the place of its recording; InputError if the machine has no rate."""
    rate, clocks = rate_of(machine), [machine.clock.base_ghz, *(step.ghz for step in machine.clock.turbo)]
    place = Recorded(machine.name, int(max(clocks) * GIGA), rate)
    known = workload.recorded or Recorded()
    return replace(workload, recorded=replace(place, sizes=known.sizes, guessed_sizes=known.guessed_sizes))


@lru_cache(maxsize=4)
def at_rate(workload: Workload, core_steps_per_s: int) -> Workload:
    """Return ``workload`` with compute times scaled to cores of ``core_steps_per_s`` (0: unknown).

    If a rate is unknown the result is ``workload`` itself. Raise InputError if a time becomes too long for a run.
    """
    here = workload.recorded.core_steps_per_s if workload.recorded else 0
    if not here or not core_steps_per_s or here == core_steps_per_s:
        return workload
    times = _scaled(workload.segment_compute_ps, here, core_steps_per_s)
    ranges = []
    for family in workload.ranges:
        low, high = _scaled(np.array([family.low_ps, family.high_ps]), here, core_steps_per_s).tolist()
        given = family.compute
        columns = ("items", "low", "high") if given else ()
        scaled = {name: _scaled(getattr(given, name), here, core_steps_per_s) for name in columns}
        ranges.append(replace(family, low_ps=low, high_ps=high, compute=given and replace(given, **scaled)))
    return replace(workload, segment_compute_ps=times, ranges=tuple(ranges))


def _scaled(times_ps: I64, here: int, there: int) -> I64:
    """Return [times] the times multiplied by the rate ``here`` over the rate ``there``, rounded to the nearest ps."""
    longest = int(times_ps.max(initial=0))
    if longest * here // there >= LONGEST_PS:
        problem = f"a time of {longest:,} ps, on cores of {there:,} steps per second in place of {here:,}"
        expected = "a rate of a core nearer to that of the recording"
        raise InputError(f"{problem}, is too long for a run", expected=expected)
    whole, rest = np.divmod(times_ps, there)  # rates are at most MOST_STEPS_PER_S: both products have at most 63 bits
    return frozen(whole * here + (rest * here + there // 2) // there)
