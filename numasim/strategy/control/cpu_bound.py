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

    A program is bound by the processor if most of its tasks are. Tasks that only create others, or only copy a little,
    may outnumber those that do the work; so a task weighs as much as it has instructions.
    """

    misses_per_million: int = 1000
    instructions_per_us: int = 2500

    def instructions(self, misses: I64, compute_ps: I64) -> tuple[int, int]:
        """(those of tasks bound by the processor, all) of the tasks with these misses and compute times."""
        whole, rest = np.divmod(compute_ps, MILLION)
        instructions = whole * self.instructions_per_us + rest * self.instructions_per_us // MILLION
        bound = misses * MILLION < instructions * self.misses_per_million
        return int(instructions[bound].sum()), int(instructions.sum())

    def program(self, misses: I64, compute_ps: I64) -> bool:
        """Whether the tasks that are bound by the processor execute more than half of all instructions."""
        bound, counted = self.instructions(misses, compute_ps)
        return 2 * bound > counted
