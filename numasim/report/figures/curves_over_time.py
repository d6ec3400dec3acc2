"""A quantity over time as a curve of few enough points to be seen."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.over_time import OverTime

POINTS = 256  # a curve of more would be drawn on top of itself

F64 = npt.NDArray[np.float64]


def curve(over_time: OverTime, values: F64, scale: int) -> tuple[F64, F64]:
    """(times, means) of at most `POINTS` stretches of the run, for ``values`` [bins]: where steps begin."""
    pieces = np.arange(0, len(values), -(-len(values) // POINTS))
    widths = np.diff(over_time.edges_ps).astype(np.float64)
    means = np.add.reduceat(values * widths, pieces) / np.add.reduceat(widths, pieces)
    return np.append(over_time.edges_ps[pieces], over_time.makespan_ps) / scale, np.append(means, means[-1])
