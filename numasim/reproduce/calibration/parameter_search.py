"""Two searches without derivatives: for the root of an increasing error, and for the lowest cost on an integer grid.

Simulated times and counts are not smooth functions of the parameters, so neither search resolves less than its grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

Point = tuple[int, ...]
Costs = Callable[[Sequence[Point]], Sequence[float]]
Report = Callable[[Point, float], None]


@dataclass(frozen=True)
class Axis:
    """An integer to be found in [low, high]; steps begin at ``coarse`` and are quartered down to ``fine``."""

    name: str
    start: int
    low: int
    high: int
    coarse: int
    fine: int

    def clipped(self, value: int) -> int:
        """The nearest value that is allowed."""
        return min(self.high, max(self.low, value))

    def held(self, value: int) -> Axis:
        """The axis with one value only."""
        return replace(self, start=value, low=value, high=value)


def lowest(
    axes: Sequence[Axis], costs: Costs, report: Report, start: Point | None = None, enough: float = -math.inf
) -> tuple[Point, float]:
    """The point of a compass search with the lowest cost, and that cost; a cost of ``enough`` ends the search.

    It begins at ``start``, or else where each axis does. In every round all neighbours of the best point are evaluated,
    one step along each axis to both sides; where none is better, steps are quartered. ``costs`` gets all points of a
    round at once and no point twice; ``report`` is called for every better point.
    """
    best = start or tuple(axis.start for axis in axes)
    known = dict(zip([best], costs([best]), strict=True))
    report(best, known[best])
    steps = [axis.coarse for axis in axes]
    while known[best] > enough:
        around = _around(best, axes, steps)
        new = [point for point in around if point not in known]
        known.update(zip(new, costs(new) if new else (), strict=True))
        nearest = min(around, key=known.__getitem__, default=best)
        if known[nearest] < known[best]:
            best = nearest
            report(best, known[best])
        elif all(step == axis.fine for step, axis in zip(steps, axes, strict=True)):
            return best, known[best]
        else:
            steps = [max(step // 4, axis.fine) for step, axis in zip(steps, axes, strict=True)]
    return best, known[best]


def _around(point: Point, axes: Sequence[Axis], steps: Sequence[int]) -> list[Point]:
    moves = itertools.product(range(len(axes)), (-1, 1))
    near = [(*point[:at], axes[at].clipped(point[at] + sign * steps[at]), *point[at + 1 :]) for at, sign in moves]
    return list(dict.fromkeys(each for each in near if each != point))


def rising_root(error: Callable[[int], float], start: int, *, tolerance: float = 1e-4, most: int = 16) -> int:
    """The integer >= 1 with the smallest ``error`` found, an increasing function; the search ends at ``tolerance``.

    A secant search of at most ``most`` steps between the nearest numbers whose errors are known to be below and above
    0; it begins as if the error + 1 were proportional to the number. Where the error jumps over 0, it bisects.
    """
    known = {start: error(start)}
    there = round(start / max(0.1, 1 + known[start]))
    there = max(1, there if there != start else start - int(math.copysign(1, known[start])))
    while len(known) < most and there not in known:
        known[there] = error(there)
        if abs(known[there]) <= tolerance:
            break
        there = _next(known)
    return min(known, key=lambda number: abs(known[number]))


def _next(known: dict[int, float]) -> int:
    """Where a line through the two nearest known errors crosses 0, limited to the known interval of the root."""
    (here, error), (before, error_before) = sorted(known.items(), key=lambda item: abs(item[1]))[:2]
    low = max((number for number, each in known.items() if each <= 0), default=0)
    high = min((number for number, each in known.items() if each > 0), default=None)
    slope = (error - error_before) / (here - before)
    crossing = round(here - error / slope) if slope > 0 else low
    if high is None:
        return min(max(crossing, low + 1), 10 * low)
    if low == 0 and crossing < 1:
        return 1  # perhaps the error is above 0 everywhere
    return crossing if low < crossing < high and len(known) % 3 else max(1, (low + high) // 2)


def rounded(value: int, digits: int) -> int:
    """``value`` with at most so many significant digits."""
    unit: int = 10 ** max(0, len(str(abs(value))) - digits)
    return (value + unit // 2) // unit * unit
