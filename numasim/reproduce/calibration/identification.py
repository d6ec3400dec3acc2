"""Which parameters of a search the data identify, by the profile of the residual (likelihood ratio).

The profile of an axis has, for each of its values, the least residual over all other axes. Where two parameters trade
off, each may take any value at little cost if the other follows: a profile with the others held would not show that.
The data cannot tell two values apart where the profile differs by less than chance explains (Wilks 1938). A parameter
whose interval of such values reaches an end of its range is refused, since the end was chosen and not measured; an
optimum at an end is the special case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from numasim.reproduce.calibration.parameter_search import Axis, Costs, Point, Report, lowest

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
