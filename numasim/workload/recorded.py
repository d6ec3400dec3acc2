"""What a recorded program says of its recording: on which cores, and which of its sizes are guesses.

Compute times of a recorded program are those of the cores that it was recorded on. On a machine whose cores compute at
another rate they are multiplied by the rate there over the rate here, if both are known: steps per second of the same
fixed loop (`MachineSpec.core_steps_per_s`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.parts.unit_factors import GIGA
from numasim.schema.enumerations import LONGEST_PS

if TYPE_CHECKING:
    from numasim.parts.models.machine_model import MachineSpec
    from numasim.workload.graph import RangeFamily, Workload

I64 = npt.NDArray[np.int64]
MOST_LISTED = 8


@dataclass(frozen=True)
class Recorded:
    """Where a program was recorded; 0 and "" where that is not known.

    ``core_steps_per_s`` is the rate of a core as in machine files. Of ``sizes`` of accesses ``guessed_sizes`` are not
    what the program says: they reach to the next address that a dependence names, or are those of a grid of tiles.
    """

    processor: str = ""
    clock_hz: int = 0
    core_steps_per_s: int = 0
    sizes: int = 0
    guessed_sizes: int = 0

    def document(self) -> dict[str, Any]:
        """What a graph's file says of it: the fields that are known."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name))}

    @property
    def place(self) -> str:
        """The cores, in words: ``Intel Xeon, 250.0 million steps per second``."""
        rate = f"{self.core_steps_per_s / 10**6:.1f} million steps per second" if self.core_steps_per_s else ""
        return ", ".join(part for part in (self.processor, rate) if part) or "cores that its file does not name"

    def factor(self, core_steps_per_s: int) -> float | None:
        """What compute times are multiplied by on cores of that rate; None where a rate is not known."""
        known = self.core_steps_per_s and core_steps_per_s
        return self.core_steps_per_s / core_steps_per_s if known else None

    def remarks(self, program: str) -> Iterator[str]:
        """What a reader of a run of ``program`` should know of the recording."""
        yield f"{program} was recorded on {self.place}"
        yield from self.guesses(program)

    def guesses(self, program: str) -> Iterator[str]:
        """A sentence about the sizes that are guessed, if there are any."""
        if self.guessed_sizes:
            partly = "" if self.guessed_sizes == self.sizes else "partly "
            yield (
                f"bytes of {program} are {partly}guesses: {self.guessed_sizes:,} of {self.sizes:,} sizes of accesses "
                "follow from the addresses of dependences"
            )


def scaled_on(program: str, factors: Mapping[str, float | None]) -> Iterator[str]:
    """By what the compute times of a recorded program are multiplied on each of some machines, and where they are not.

    ``factors`` has `Recorded.factor` by the name of the machine.
    """
    known = [f"{factor:.4g} on {name}" for name, factor in factors.items() if factor is not None]
    unknown = [name for name, factor in factors.items() if factor is None]
    if known:
        yield f"compute times of {program} are multiplied by {listed(known)}: by the rates of cores (core_steps_per_s)"
    if unknown:
        yield (
            f"compute times of {program} are not scaled on {listed(unknown)}: cores are taken to be as fast as "
            "those of the recording, since a rate of a core (core_steps_per_s) is not known"
        )


def listed(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; of many the first ones."""
    shown = [*parts[:MOST_LISTED], f"{len(parts) - MOST_LISTED:,} more"] if len(parts) > MOST_LISTED + 1 else parts
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def recorded_on(workload: Workload, machine: MachineSpec) -> Workload:
    """``workload`` as recorded on ``machine``, whose rate is that of its compute times.

    InputError for a machine without a rate.
    """
    if machine.core_steps_per_s is None:
        raise InputError(
            f"the machine {machine.name} has no core_steps_per_s",
            expected="a machine file that numasim calibrate wrote, or one with a measured rate",
        )
    clocks = [machine.clock.base_ghz, *(step.ghz for step in machine.clock.turbo)]
    known = workload.recorded or Recorded()
    clock_hz, rate = int(max(clocks) * GIGA), machine.core_steps_per_s
    return replace(workload, recorded=replace(known, processor=machine.name, clock_hz=clock_hz, core_steps_per_s=rate))


@lru_cache(maxsize=4)
def at_rate(workload: Workload, core_steps_per_s: int) -> Workload:
    """``workload`` with its compute times on cores of that rate: itself, unless it was recorded at another known one.

    Times are rounded to whole ps. InputError for one that becomes longer than a run may be.
    """
    here = workload.recorded.core_steps_per_s if workload.recorded else 0
    if not here or not core_steps_per_s or here == core_steps_per_s:
        return workload
    scale = _Scale(here, core_steps_per_s)
    times = scale.of(workload.segment_compute_ps)
    return replace(workload, segment_compute_ps=times, ranges=tuple(map(scale.of_range, workload.ranges)))


@dataclass(frozen=True)
class _Scale:
    """Multiplies times by ``here`` over ``there``, both at most `MOST_STEPS_PER_S`, in integers."""

    here: int
    there: int

    def of(self, times_ps: I64) -> I64:
        """[times] the times, rounded to the nearest ps."""
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
        """A range whose items compute for such times."""
        low, high = self.of(np.array([family.low_ps, family.high_ps])).tolist()
        given = family.compute
        compute = (
            None
            if given is None
            else replace(given, items=self.of(given.items), low=self.of(given.low), high=self.of(given.high))
        )
        return replace(family, low_ps=low, high_ps=high, compute=compute)
