"""A quantity over time as a curve with a limited number of points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.over_time import OverTime

POINTS = 256  # further points could not be distinguished

F64 = npt.NDArray[np.float64]


def curve(over_time: OverTime, values: F64, scale: int) -> tuple[F64, F64]:
    """(times, means): where at most `POINTS` steps begin, and the means of ``values`` [bins] over each."""
    pieces = np.arange(0, len(values), -(-len(values) // POINTS))
    widths = np.diff(over_time.edges_ps).astype(np.float64)
    means = np.add.reduceat(values * widths, pieces) / np.add.reduceat(widths, pieces)
    return np.append(over_time.edges_ps[pieces], over_time.makespan_ps) / scale, np.append(means, means[-1])
