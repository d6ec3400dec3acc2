"""Which programs compute rather than wait for memory, by the cache misses of their tasks (model 4.8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numasim.parts.unit_factors import MILLION
from numasim.strategy.control.controller import I64


@dataclass(frozen=True)
class CpuBound:
    """When a task computes rather than waits for memory (Chen and Guo 2015, section 6.6).

    The paper counts retired instructions. A model without instructions has the time that a task's own segments compute,
    at ``instructions_per_us`` instructions a microsecond; the default is one a cycle at 2.5 GHz. A task with fewer than
    ``misses_per_million`` misses in a million instructions is bound by the processor. The paper prints no threshold.
    """

    misses_per_million: int = 1000
    instructions_per_us: int = 2500

    def tasks(self, misses: I64, compute_ps: I64) -> tuple[int, int]:
        """(those bound by the processor, all that count) of the tasks with these misses and compute times.

        A task without work of its own, which only creates others, does not count.
        """
        whole, rest = np.divmod(compute_ps, MILLION)
        instructions = whole * self.instructions_per_us + rest * self.instructions_per_us // MILLION
        counted = (instructions > 0) | (misses > 0)
        bound = misses * MILLION < instructions * self.misses_per_million
        return int((bound & counted).sum()), int(counted.sum())

    def program(self, misses: I64, compute_ps: I64) -> bool:
        """Whether most of its tasks are bound by the processor, which makes the program so."""
        bound, counted = self.tasks(misses, compute_ps)
        return 2 * bound > counted
