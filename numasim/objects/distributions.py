"""Distributions, as tables, from which the items of a range draw their times and bytes (model 3.5)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import groupby, pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from numasim.errors import InputError
from numasim.objects.graph_arrays import costs_ps, is_whole
from numasim.parts.base import ppm
from numasim.parts.unit_factors import PS_PER_NS
from numasim.schema.enumerations import LONGEST_PS, MOST_ITEMS, MOST_MOVED, MOST_NODES, Mode
from numasim.workload.amounts import Amounts
from numasim.workload.builder import ragged_family
from numasim.workload.graph import NodeAccess, Pattern, RangeFamily
from numasim.workload.graph_rules import check_amounts

WHOLE = 2**60  # the sum of the weights of a table
FINE, LOW, HIGH = 16, 20, 40  # quantiles for each halving of the probability; halvings at the low and the high end
MOST_VALUES = 4096  # most values of a table with a part for each value

Part = tuple[int, float, float]  # weight, from, to


class Distribution:
    """A distribution of numbers from 0 on: of times in ns, or of bytes.

    A distribution is cut into some hundred parts of given probability, finer towards both ends. Within a part all whole
    numbers are equally likely. ``most`` is an upper bound: larger numbers become ``most``.
    """

    def __init__(self, name: str, parts: Iterable[Part]) -> None:
        """Make the distribution of ``parts`` (weight, from, to); a single value has a part from the value to itself."""
        self.name = name
        self.parts = tuple(parts)
        for _, low, high in self.parts:
            is_part = 0 <= low <= high < math.inf
            _require(is_part, f"a part of {name} is from {low} to {high}", "numbers from 0 on, in order")

    @classmethod
    def uniform(cls, low: float, high: float) -> Distribution:
        """Return the distribution in which all numbers from ``low`` to ``high`` are equally likely."""
        return cls(f"uniform({low}, {high})", [(1, low, high)])

    @classmethod
    def exponential(cls, mean: float, *, most: float | None = None) -> Distribution:
        """Return the exponential distribution, of times between random events, with the mean ``mean``."""
        _require(mean > 0, f"the mean is {mean}", "more than 0")
        return cls._of_quantiles(f"exponential({mean})", lambda below, above: -mean * math.log(above), most)

    @classmethod
    def lognormal(cls, median: float, sigma: float, *, most: float | None = None) -> Distribution:
        """Return the lognormal distribution; the logarithm of a number has the standard deviation ``sigma``."""
        _require(median > 0 and sigma > 0, f"median and sigma are {median} and {sigma}", "more than 0")
        normal = NormalDist()

        def quantile(below: float, above: float) -> float:
            deviations = normal.inv_cdf(below) if below < above else -normal.inv_cdf(above)
            return median * math.exp(sigma * deviations)

        return cls._of_quantiles(f"lognormal({median}, {sigma})", quantile, most)

    @classmethod
    def pareto(cls, least: float, shape: float, *, most: float | None = None) -> Distribution:
        """Return the distribution from ``least`` on that exceeds x with probability (``least`` / x) ** ``shape``."""
        _require(least > 0 and shape > 0, f"least and shape are {least} and {shape}", "more than 0")
        return cls._of_quantiles(
            f"pareto({least}, {shape})", lambda below, above: least * above ** (-1 / shape), most, start=least
        )

    @classmethod
    def zipf(cls, values: int, exponent: float = 1, *, unit: float = 1) -> Distribution:
        """Return the distribution of ``k * unit``, where k from 1 to ``values`` has weight ``k ** -exponent``."""
        _require(1 <= values <= MOST_VALUES, f"there are {values} values", f"1 to {MOST_VALUES}")
        numbers = range(1, values + 1)
        return cls.of([k * unit for k in numbers], [k**-exponent for k in numbers], name=f"zipf({values}, {exponent})")

    @classmethod
    def of(cls, values: Sequence[float], weights: Sequence[float], *, name: str = "table") -> Distribution:
        """Return the distribution of ``values`` with probabilities in proportion to ``weights``."""
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
        """Return the distribution of a quantile function of (probability below, probability above)."""
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
        """The mean of the distribution."""
        whole = sum(weight for weight, _, _ in self.parts)
        return math.fsum(weight * (low + high) / 2 for weight, low, high in self.parts) / whole

    def amounts(self, unit: int = 1) -> Amounts:
        """Return the table of numbers times ``unit``, rounded; a part ends where the next part begins."""
        ends = [(weight, round(low * unit), round(high * unit)) for weight, low, high in self.parts]
        if any(high > LONGEST_PS for _, _, high in ends):
            raise InputError(f"{self.name} goes up to {ends[-1][2] / unit:g}", expected=f"at most {LONGEST_PS // unit}")
        table = [(weight, low, high if high == low or at + 1 == len(ends) else high - 1) for at, (weight, low, high) in
                 enumerate(ends)]  # fmt: skip
        return Amounts.of_table(*zip(*table, strict=True))

    def __repr__(self) -> str:
        """Return the name and the mean."""
        return f"Distribution.{self.name}: mean {self.mean:g}"


def _merged(parts: Sequence[Part]) -> list[Part]:
    """Return the parts, after joining neighbours with the same single value."""
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


# ---- Ranges of a graph: the user's values are checked, and become families of items (model 3.5) ---------------------

OnNodes = Mapping[Any, Any]  # node, or several, to bytes: of all items, of each, or a distribution


def range_family(
    name: str,
    count: Any,
    compute_ns: Any,
    on_nodes: Mapping[Mode, OnNodes],
    returned: Any,
    pages: Mapping[str, Any],
    pattern: str,
    kernel: int,
) -> RangeFamily:
    """Return a family of ``count`` items; raise InputError for impossible values."""
    _require(is_whole(count) and 1 <= count <= MOST_ITEMS, f"the range has {count!r} items", f"1 to {MOST_ITEMS:,}")
    is_part = isinstance(returned, int | float | Decimal) and not isinstance(returned, bool) and 0 <= returned <= 1
    _require(is_part, f"{returned!r} of the bytes' memory are given back", "a part from 0 to 1")
    patterns = {each.name.lower(): each for each in Pattern}
    if pattern not in patterns:
        raise InputError(f"there is no pattern {pattern!r}", value=pattern, known=patterns)
    items, returned_ppm = int(count), ppm(Decimal(str(returned)))
    accesses = [
        replace(_access(nodes, given, items, mode, patterns[pattern]), returned_ppm=returned_ppm)
        for mode, by_nodes in on_nodes.items()
        for nodes, given in by_nodes.items()
    ]
    changes = {key: _bytes(given, items, f"the {key} bytes") for key, given in pages.items() if given is not None}
    return ragged_family(name, items, _times(compute_ns, items), accesses, kernel, **changes)


def _times(given: Any, items: int) -> Amounts:
    if isinstance(given, Distribution):
        times = given.amounts(PS_PER_NS)
    else:
        times = Amounts.of_items(costs_ps(given, items if np.ndim(given) else 1))
    return _checked(times, items, LONGEST_PS, "the compute times")


def _access(nodes: Any, given: Any, items: int, mode: Mode, pattern: Pattern) -> NodeAccess:
    named = nodes if isinstance(nodes, tuple) else (nodes,)
    expected = "the number of a node, or a tuple of some, such as (0, 1)"
    for node in named:
        _require(is_whole(node) and 0 <= node < MOST_NODES, f"got {node!r} as a node", expected)
    shares = Counter(int(node) for node in named)
    _require(shares, "got no node", expected)
    amounts = _bytes(given, items, f"the bytes on {nodes}")
    return NodeAccess(tuple(shares), tuple(shares.values()), int(mode), int(pattern), amounts)


def _bytes(given: Any, items: int, what: str) -> Amounts:
    found = given.amounts() if isinstance(given, Distribution) else Amounts.of_items(_whole(given, items, what))
    return _checked(found, items, MOST_MOVED, what)


def _whole(given: Any, items: int, what: str) -> Any:
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "iu" or numbers.shape not in ((), (items,)):
        problem = f"{what} have the shape {numbers.shape} and the type {numbers.dtype}"
        raise InputError(problem, expected=f"a whole number, {items} of them, one for each item, or a distribution")
    return np.atleast_1d(numbers)


def _checked(amounts: Amounts, items: int, most: int, what: str) -> Amounts:
    try:
        check_amounts(amounts, items, most, ())
    except InputError as error:
        raise InputError(f"{what}: {error.problem}", expected=error.expected) from None
    return amounts
