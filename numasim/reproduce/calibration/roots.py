"""The value of one parameter that makes an error vanish, with the interval that the noise of the data leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from numasim.reproduce.calibration.identification import Verdict
from numasim.reproduce.calibration.parameter_search import Axis, rising_root

TWO_SIDED = 1.96  # 95 % of a normal distribution


@dataclass(frozen=True)
class Root:
    """A root, its verdict, and the error that is left."""

    verdict: Verdict
    error: float


def identified_root(error: Callable[[int], float], axis: Axis, noise: float, *, tolerance: float) -> Root:
    """The root of an increasing ``error`` from where ``axis`` starts, and the values whose error noise explains.

    ``noise`` is the standard deviation of the error; where the search leaves more, that takes its place.
    """
    known = cache(lambda value: error(axis.clipped(value)))
    found = axis.clipped(rising_root(known, axis.start, tolerance=tolerance))
    return root_at(known, axis, found, max(noise, abs(known(found))))


def root_at(error: Callable[[int], float], axis: Axis, found: int, deviation: float) -> Root:
    """The verdict on a root that is known; its interval ends where the axis does at the latest.

    A root whose interval reaches an end of the axis is refused like an optimum whose interval does.
    """

    def explained(value: int) -> bool:
        return abs(error(value)) <= TWO_SIDED * deviation

    step = max(1, round(found * TWO_SIDED * deviation))  # as if the error + 1 were proportional to the value
    low, high = (_reach(explained, axis, found, sign * step) for sign in (-1, 1))
    return Root(Verdict(axis, found, low, high, abs(error(found))), error(found))


def _reach(explained: Callable[[int], bool], axis: Axis, found: int, step: int) -> int:
    """The outermost value to one side that is explained, to an eighth of the way: steps are doubled, then halved."""
    inside, outside = found, axis.clipped(found + step)
    while explained(outside):
        if outside in (axis.low, axis.high):
            return outside
        inside, outside = outside, axis.clipped(found + 2 * (outside - found))
    while abs(outside - inside) > max(1, abs(inside - found) // 8):
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if explained(middle) else (inside, middle)
    return inside
