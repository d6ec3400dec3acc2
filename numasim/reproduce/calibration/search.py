"""Searches for parameters, without derivatives, and which parameters the data identify.

Simulated times and counts are not smooth functions of the parameters, so no search resolves less than its grid.

The profile of an axis has, for each of its values, the least residual over all other axes. Where two parameters trade
off, each may take any value at little cost if the other follows: a profile with the others held would not show that.
The data cannot tell two values apart where the profile differs by less than chance explains (Wilks 1938). A parameter
whose interval of such values reaches an end of its range is refused, since the end was chosen and not measured; an
optimum at an end is the special case.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Any

from numasim.reproduce.calibration.record import Calibration, FittedParameter, RefusedParameter

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


LIKELIHOOD_RATIO = 3.84  # 95 % of chi squared with one degree of freedom


@dataclass(frozen=True)
class Evidence:
    """The published values that a residual is the root mean square of.

    ``values`` is their number, ``others`` that of the parameters fitted to them beside those of the search, ``noise``
    the standard deviation that they are known to have, in the unit of the residual.
    """

    values: int
    others: int = 0
    noise: float = 0.0

    def deviation(self, residual: float, searched: int) -> float:
        """Standard deviation of one value: the noise, or what a fit of so many searched parameters leaves if larger."""
        freedom = self.values - self.others - searched
        left = residual * math.sqrt(self.values / freedom) if freedom > 0 else 0.0
        return max(self.noise, left)

    def limit(self, residual: float, searched: int) -> float:
        """The largest residual that the data cannot tell from the least one."""
        return math.sqrt(residual**2 + LIKELIHOOD_RATIO * self.deviation(residual, searched) ** 2 / self.values)


@dataclass(frozen=True)
class Verdict:
    """The best value of an axis, and the interval of those that the data cannot tell from it.

    Of a refused axis among several it is as much as was seen before it was clear that it reaches an end.
    """

    axis: Axis
    found: int
    low: int
    high: int
    residual: float  # of the best point

    @property
    def refused(self) -> bool:
        """Whether the interval reaches an end of the range that was searched."""
        return self.low <= self.axis.low or self.high >= self.axis.high


@dataclass(frozen=True)
class Fit:
    """A search with its verdicts; ``point`` has refused axes where they start."""

    point: Point
    residual: float
    accepted: tuple[Verdict, ...]
    refused: tuple[Verdict, ...]


@dataclass
class _Explored:
    """Points whose residuals are known, so that none is evaluated twice."""

    costs: Costs
    known: dict[Point, float] = field(default_factory=dict)

    def __call__(self, points: Sequence[Point]) -> list[float]:
        new = list(dict.fromkeys(point for point in points if point not in self.known))
        self.known.update(zip(new, self.costs(new) if new else (), strict=True))
        return [self.known[point] for point in points]

    def inside(self, axes: Sequence[Axis]) -> list[Point]:
        """The known points that axes allow."""
        return [
            point
            for point in self.known
            if all(axis.low <= value <= axis.high for axis, value in zip(axes, point, strict=True))
        ]

    def best(self, axes: Sequence[Axis]) -> Point | None:
        """The known point with the least residual that axes allow."""
        return min(self.inside(axes), key=self.known.__getitem__, default=None)


def fit(
    axes: Sequence[Axis],
    costs: Costs,
    evidence: Evidence,
    report: Report,
    judged: Callable[[Verdict], None] = lambda _: None,
) -> Fit:
    """Search for the least residual and refuse every axis that is not identified; those left are searched again.

    A refused axis is held where it starts, and stays refused: that it is identified once others are held is no
    evidence. ``judged`` hears every verdict.
    """
    explored, refused = _Explored(costs), list[Verdict]()
    while True:
        held = {verdict.axis.name for verdict in refused}
        free = [axis.held(axis.start) if axis.name in held else axis for axis in axes]
        point, verdicts = _judge(free, explored, evidence, report)
        for verdict in verdicts:
            judged(verdict)
        if not any(verdict.refused for verdict in verdicts):
            return Fit(point, explored.known[point], tuple(verdicts), tuple(refused))
        refused += [verdict for verdict in verdicts if verdict.refused]


def _judge(
    axes: Sequence[Axis], explored: _Explored, evidence: Evidence, report: Report
) -> tuple[Point, list[Verdict]]:
    """The best point and verdicts: on the axes that are refused, or if none is, on all that are not held.

    The search begins anew where a profile meets a better point.
    """
    free = [at for at, axis in enumerate(axes) if axis.low < axis.high]
    while True:
        point, residual = lowest(axes, explored, report, explored.best(axes))
        profile = _Profile(axes, point, evidence.limit(residual, len(free)), explored)
        refused = [at for at in free if profile.reaches_an_end(at)]
        whole = not refused or len(free) == 1  # else a search for every value, of what is not used
        verdicts = [
            Verdict(axes[at], point[at], *profile.interval(at, whole=whole), residual) for at in refused or free
        ]
        best = explored.best(axes)
        if best is None or explored.known[best] >= residual:
            return point, verdicts


@dataclass(frozen=True)
class _Profile:
    """Profiles around the best ``point``; residuals up to ``limit`` cannot be told from its."""

    axes: Sequence[Axis]
    point: Point
    limit: float
    explored: _Explored

    def reaches_an_end(self, at: int) -> bool:
        """Whether the data cannot tell the best value of axis ``at`` from an end; the likelier one comes first."""
        axis = self.axes[at]
        costs = {end: self._start(at, end)[1] for end in (axis.low, axis.high)}
        seen_there = not costs.keys().isdisjoint(self._seen(at))
        return seen_there or any(self._is_alike(at, end) for end in sorted(costs, key=costs.__getitem__))

    def interval(self, at: int, *, whole: bool) -> tuple[int, int]:
        """The values of axis ``at`` that cannot be told from the best: all of them, or those that have been seen."""
        seen = list(self._seen(at))
        if not whole:
            return min(seen), max(seen)
        axis = self.axes[at]
        return self._edge(at, min(seen), axis.low), self._edge(at, max(seen), axis.high)

    def _edge(self, at: int, inside: int, outside: int) -> int:
        """The last value that is alike between one that is and the end of the range."""
        if self._is_alike(at, outside):
            return outside
        fine = self.axes[at].fine
        while abs(outside - inside) > fine:
            steps = max(abs(outside - inside) // fine // 2, 1)
            middle = inside + (steps * fine if outside > inside else -steps * fine)
            if self._is_alike(at, middle):
                inside = middle
            else:
                outside = middle
        return inside

    def _seen(self, at: int) -> Iterator[int]:
        """Values of an axis at points that are known to be as good."""
        known = self.explored.known
        return (point[at] for point in self.explored.inside(self.axes) if known[point] <= self.limit)

    def _is_alike(self, at: int, value: int) -> bool:
        axes = [axis.held(value) if number == at else axis for number, axis in enumerate(self.axes)]
        start, _ = self._start(at, value)
        return lowest(axes, self.explored, lambda *_: None, start, self.limit)[1] <= self.limit

    def _start(self, at: int, value: int) -> tuple[Point, float]:
        """The better of two points at a value of an axis: beside the best point, and beside the nearest known one."""
        known = self.explored.known
        nearest = min(self.explored.inside(self.axes), key=lambda point: (abs(point[at] - value), known[point], point))
        starts = [(*each[:at], value, *each[at + 1 :]) for each in (nearest, self.point)]
        costs = self.explored(starts)
        return min(zip(starts, costs, strict=True), key=lambda each: each[1])


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


@dataclass(frozen=True)
class Searched:
    """A field whose value is a multiple of ``grain``, searched on ``axis``."""

    axis: Axis
    sets: str
    grain: Decimal
    unit: str

    def value(self, number: int) -> int | Decimal:
        """The value of the field at an integer on the axis."""
        exact = number * self.grain
        return int(exact) if exact == int(exact) else exact.normalize()


def values_at(searched: Sequence[Searched], point: Point) -> dict[str, Any]:
    """Dotted fields at a point of a search."""
    return {each.sets: each.value(number) for each, number in zip(searched, point, strict=True)}


@dataclass(frozen=True)
class Source:
    """The runs that searched parameters are set in, and the published values that they are fitted to."""

    step: int
    programs: tuple[str, ...]
    table: str
    columns: tuple[str, ...]
    fitted_rows: tuple[str, ...]


def calibration_of(searched: Sequence[Searched], found: Fit, source: Source) -> Calibration:
    """The parameters of a fit without their residual, and those that it refused."""
    by_axis = {each.axis.name: each for each in searched}
    accepted = (_fitted(by_axis[verdict.axis.name], verdict, source) for verdict in found.accepted)
    refused = (_refused(by_axis[verdict.axis.name], verdict, source) for verdict in found.refused)
    return Calibration(parameters=tuple(accepted), refused=tuple(refused))


def calibration_of_root(
    searched: Searched, root: Root, source: Source, rows: tuple[str, ...] = (), residual: float | None = None
) -> Calibration:
    """The parameter of a root, set in some rows alone where any are named, or its refusal.

    ``residual`` is that of its values, where their mean error has the root.
    """
    verdict = root.verdict if residual is None else replace(root.verdict, residual=residual)
    update = {"rows": rows}
    if verdict.refused:
        return Calibration(refused=(_refused(searched, verdict, source).model_copy(update=update),))
    return Calibration(parameters=(_fitted(searched, verdict, source).model_copy(update=update),))


def _fitted(each: Searched, verdict: Verdict, source: Source) -> FittedParameter:
    return FittedParameter(**_common(each, verdict, source), value=each.value(verdict.found))


def _refused(each: Searched, verdict: Verdict, source: Source) -> RefusedParameter:
    return RefusedParameter(
        **_common(each, verdict, source),
        found=each.value(verdict.found),
        searched=(each.value(each.axis.low), each.value(each.axis.high)),
        reason=reason(each, verdict),
    )


def _common(each: Searched, verdict: Verdict, source: Source) -> dict[str, Any]:
    return {
        "name": each.axis.name,
        "field": each.sets,
        "unit": each.unit,
        "interval": (each.value(verdict.low), each.value(verdict.high)),
        "residual": round(verdict.residual, 4),
        **vars(source),
    }


def reason(each: Searched, verdict: Verdict) -> str:
    """Why a parameter is refused, in one sentence."""
    axis, unit = each.axis, "" if each.unit == "1" else f" {each.unit}"
    low, high, found = (f"{each.value(number)}{unit}" for number in (axis.low, axis.high, verdict.found))
    if verdict.low <= axis.low and verdict.high >= axis.high:
        return f"The data cannot tell any value from {low} to {high} from the best."
    end = low if verdict.low <= axis.low else high
    if found == end:
        return f"The best value, {found}, is an end of the range that was searched."
    return f"The data cannot tell the best value, {found}, from {end}, an end of the range that was searched."


def reporter(say: Callable[[str], None], searched: Sequence[Searched]) -> Callable[[Point, float], None]:
    """Report every better point."""

    def report(point: Point, cost: float) -> None:
        values = ", ".join(f"{each.axis.name} {number}" for each, number in zip(searched, point, strict=True))
        say(f"rms error {cost:.4f}: {values}")

    return report


def judge(say: Callable[[str], None], searched: Sequence[Searched]) -> Callable[[Verdict], None]:
    """Report every verdict."""
    by_axis = {each.axis.name: each for each in searched}

    def judged(verdict: Verdict) -> None:
        each = by_axis[verdict.axis.name]
        why = f"refused. {reason(each, verdict)}" if verdict.refused else "identified"
        say(f"{verdict.axis.name} {verdict.found}, {verdict.low} to {verdict.high}: {why}")

    return judged
