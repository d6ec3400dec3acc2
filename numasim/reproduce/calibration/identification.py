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
    """The best value of an axis, and the interval of those that the data cannot tell from it."""

    axis: Axis
    found: int
    low: int
    high: int

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
    """The best point and the verdict on every axis that is not held; begins anew where a profile finds a better one."""
    free = [at for at, axis in enumerate(axes) if axis.low < axis.high]
    while True:
        point, residual = lowest(axes, explored, report, explored.best(axes))
        profile = _Profile(axes, point, evidence.limit(residual, len(free)), explored)
        verdicts = [Verdict(axes[at], point[at], profile.reach(at, -1), profile.reach(at, 1)) for at in free]
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

    def reach(self, at: int, sign: int) -> int:
        """The outermost value of axis ``at`` on one side that the data cannot tell from the best."""
        axis = self.axes[at]
        end = axis.high if sign > 0 else axis.low
        inside = max(self._alike(at), key=lambda value: sign * value)
        if inside == end or self._is_alike(at, end):
            return end
        outside = end
        while abs(outside - inside) > axis.fine:
            middle = inside + sign * max(abs(outside - inside) // axis.fine // 2, 1) * axis.fine
            if self._is_alike(at, middle):
                inside = middle
            else:
                outside = middle
        return inside

    def _alike(self, at: int) -> Iterator[int]:
        """Values of an axis at points that are known to be as good."""
        known = self.explored.known
        return (point[at] for point in self.explored.inside(self.axes) if known[point] <= self.limit)

    def _is_alike(self, at: int, value: int) -> bool:
        axes = [axis.held(value) if number == at else axis for number, axis in enumerate(self.axes)]
        known = self.explored.known
        nearest = min(self.explored.inside(self.axes), key=lambda point: (abs(point[at] - value), known[point], point))
        starts = [(*near[:at], value, *near[at + 1 :]) for near in (nearest, self.point)]
        costs = self.explored(starts)
        start = starts[costs.index(min(costs))]
        return lowest(axes, self.explored, lambda *_: None, start, self.limit)[1] <= self.limit
