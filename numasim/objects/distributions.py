"""Distributions from which the items of a range draw their times and bytes, as tables (model 3.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise
from statistics import NormalDist
from typing import Any

from numasim.errors import InputError
from numasim.schema.enumerations import LONGEST_PS
from numasim.workload.amounts import Amounts

WHOLE = 2**60  # of the weights of a table
FINE, LOW, HIGH = 16, 20, 40  # quantiles for each halving of what is left, and how often it is halved at either end
MOST_VALUES = 4096  # of a table with a part for each

Part = tuple[int, float, float]  # weight, from, to


class Distribution:
    """A distribution of numbers from 0 on: of times in ns, or of bytes.

    It is cut into some hundred parts of given probability, finer towards both ends, in each of which all whole numbers
    are equally likely. ``most`` bounds it: what would be above it has that value.
    """

    def __init__(self, name: str, parts: Iterable[Part]) -> None:
        """A distribution of these parts (weight, from, to); one of a single value is from it to itself."""
        self.name = name
        self.parts = tuple(parts)
        for _, low, high in self.parts:
            if not (0 <= low <= high < math.inf):
                raise InputError(f"a part of {name} is from {low} to {high}", expected="numbers from 0 on, in order")

    @classmethod
    def uniform(cls, low: float, high: float) -> Distribution:
        """All numbers from ``low`` to ``high`` are equally likely."""
        return cls(f"uniform({low}, {high})", [(1, low, high)])

    @classmethod
    def exponential(cls, mean: float, *, most: float | None = None) -> Distribution:
        """The time between events that come at random, ``mean`` apart."""
        _require(mean > 0, f"the mean is {mean}", "more than 0")
        return cls._of_quantiles(f"exponential({mean})", lambda below, above: -mean * math.log(above), most)

    @classmethod
    def lognormal(cls, median: float, sigma: float, *, most: float | None = None) -> Distribution:
        """A number whose logarithm is normal, with the standard deviation ``sigma``."""
        _require(median > 0 and sigma > 0, f"median and sigma are {median} and {sigma}", "more than 0")
        normal = NormalDist()

        def quantile(below: float, above: float) -> float:
            deviations = normal.inv_cdf(below) if below < above else -normal.inv_cdf(above)
            return median * math.exp(sigma * deviations)

        return cls._of_quantiles(f"lognormal({median}, {sigma})", quantile, most)

    @classmethod
    def pareto(cls, least: float, shape: float, *, most: float | None = None) -> Distribution:
        """At least ``least``, and above x with probability (``least`` / x) ** ``shape``: the heavy tail of data."""
        _require(least > 0 and shape > 0, f"least and shape are {least} and {shape}", "more than 0")
        return cls._of_quantiles(
            f"pareto({least}, {shape})", lambda below, above: least * above ** (-1 / shape), most, start=least
        )

    @classmethod
    def zipf(cls, values: int, exponent: float = 1, *, unit: float = 1) -> Distribution:
        """``k`` times ``unit`` with a probability in proportion to ``k ** -exponent``, for k from 1 to ``values``."""
        _require(1 <= values <= MOST_VALUES, f"there are {values} values", f"1 to {MOST_VALUES}")
        numbers = range(1, values + 1)
        return cls.of([k * unit for k in numbers], [k**-exponent for k in numbers], name=f"zipf({values}, {exponent})")

    @classmethod
    def of(cls, values: Sequence[float], weights: Sequence[float], *, name: str = "table") -> Distribution:
        """These values with probabilities in proportion to their weights."""
        _require(
            0 < len(values) == len(weights) <= MOST_VALUES,
            f"there are {len(values)} values and {len(weights)} weights",
            f"1 to {MOST_VALUES} of each",
        )
        _require(all(0 < each < math.inf for each in weights), f"the weights are {list(weights)[:9]}", "more than 0")
        whole = math.fsum(weights)
        pairs = zip(values, weights, strict=True)
        return cls(name, [(max(1, round(weight / whole * WHOLE)), value, value) for value, weight in pairs])

    @classmethod
    def _of_quantiles(
        cls, name: str, quantile: Callable[[float, float], float], most: float | None, start: float = 0
    ) -> Distribution:
        """That of a function of how much is below and how much is above; ``start`` is the lowest number."""
        _require(most is None or most > start, f"the highest number of {name} is {most}", f"more than {start}")
        bound = math.inf if most is None else most
        ends = [2 ** (-step / FINE) for step in range(FINE * LOW, FINE - 1, -1)]
        tails = [2 ** (-step / FINE) for step in range(FINE + 1, FINE * HIGH + 1)]
        levels = [(0.0, 1.0), *((below, 1 - below) for below in ends), *((1 - above, above) for above in tails)]
        knots = [start, *(min(bound, _or_infinite(quantile, below, above)) for below, above in levels[1:])]
        parts = [
            (max(1, round((one[1] - two[1] if one[0] >= 0.5 else two[0] - one[0]) * WHOLE)), low, high)
            for (one, two), (low, high) in zip(pairwise(levels), pairwise(knots), strict=True)
        ]
        parts.append((max(1, round(levels[-1][1] * WHOLE)), knots[-1], knots[-1]))
        return cls(name, _merged(parts))

    @property
    def mean(self) -> float:
        """The mean of what is drawn."""
        whole = sum(weight for weight, _, _ in self.parts)
        return math.fsum(weight * (low + high) / 2 for weight, low, high in self.parts) / whole

    def amounts(self, unit: int = 1) -> Amounts:
        """The table of its numbers times ``unit``, rounded to whole ones; a part ends where the next one begins."""
        ends = [(weight, round(low * unit), round(high * unit)) for weight, low, high in self.parts]
        if any(high > LONGEST_PS for _, _, high in ends):
            raise InputError(f"{self.name} goes up to {ends[-1][2] / unit:g}", expected=f"at most {LONGEST_PS // unit}")
        table = [(weight, low, high if high == low or at + 1 == len(ends) else high - 1) for at, (weight, low, high) in
                 enumerate(ends)]  # fmt: skip
        return Amounts.of_table(*zip(*table, strict=True))

    def __repr__(self) -> str:
        """Name and mean."""
        return f"Distribution.{self.name}: mean {self.mean:g}"


def _merged(parts: Sequence[Part]) -> list[Part]:
    """The parts, those of the same single value next to each other as one."""
    found: list[Part] = []
    for (low, high), same in groupby(parts, key=lambda part: part[1:]):
        weights = [weight for weight, _, _ in same]
        found += [(sum(weights), low, high)] if low == high else [(weight, low, high) for weight in weights]
    return found


def _or_infinite(quantile: Callable[[float, float], float], below: float, above: float) -> float:
    try:
        return quantile(below, above)
    except OverflowError:
        return math.inf


def _require(holds: Any, problem: str, expected: str) -> None:
    if not holds:
        raise InputError(problem, expected=expected)
