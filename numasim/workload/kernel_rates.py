"""Compute times of kernels from the rates that are parameters of the benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def compute_ps(units: npt.NDArray[Any] | int, ps_per_1000: int) -> Any:
    """Integer picoseconds of ``units`` of work, rounded to the nearest; exact for a single number of units."""
    if isinstance(units, int):
        return (units * ps_per_1000 + 500) // 1000
    return (np.asarray(units, np.int64) * ps_per_1000 + 500) // 1000
