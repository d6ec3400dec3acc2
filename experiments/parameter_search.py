"""Calibrations of studies: searches for parameters, the published values that searches read, and the written file.

Simulated times and counts are not smooth functions of the parameters. So all searches work without derivatives, and
find whole multiples of a grain.

The profile of a parameter gives, for each value of the parameter, the least residual over all other parameters. (With
the other parameters fixed, a trade-off between two parameters would be hidden.) The data cannot distinguish a value
from the best value if chance explains the difference of the two residuals (Wilks 1938). The interval of a parameter has
all these values. If the interval reaches an end of the searched range, the parameter is refused, since the end was
chosen and not measured.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Any

from numasim.errors import InputError
from numasim.reproduce.calibration_file import Calibration, FittedParameter, RefusedParameter
from numasim.reproduce.study import Study

Point = tuple[int, ...]  # a number for each axis
Costs = Callable[[Sequence[Point]], Sequence[float]]
LIKELIHOOD_RATIO = 3.84  # 95 % of chi squared with one degree of freedom
TWO_SIDED = 1.96  # 95 % of a normal distribution


@dataclass(frozen=True)
class Reading:
    """The rows of one published column whose values a calibration has read."""

    table: str
    column: str
    rows: tuple[str, ...]


@dataclass
class Readings:
    """The published values of a study for a calibration.

    A calibration reads published values only through `values`. So ``done`` has every value that the calibration knows.
    A test compares ``done`` with the roles of the study's cells.
    """

    study: Study
    done: list[Reading] = field(default_factory=list)

    def values(self, table: str, column: str, rows: Collection[str] | None = None) -> dict[str, float]:
        """Return row -> printed value, of all rows of a column or of ``rows``. Raise InputError for a row without a
        value.
        """
        printed = self.study.published(table, column)
        for row in rows or ():
            if row not in printed:
                raise InputError(f"table {table} has no row {row!r}", value=row, known=printed)
        chosen = {row: value for row, value in printed.items() if rows is None or row in rows}
        self.done.append(Reading(table, column, tuple(chosen)))
        return chosen

    def rounding(self, table: str, column: str, rows: Collection[str] | None = None) -> dict[str, float]:
        """Return row -> relative standard deviation caused by rounding to the printed digits."""
        of = self.study.tables[table]
        printed = {label: row[column].strip() for label, row in zip(of.labels, of.published.rows, strict=True)}
        return {label: _rounding(Decimal(text)) for label, text in printed.items() if rows is None or label in rows}


def _rounding(printed: Decimal) -> float:
    """Return the relative standard deviation of a value that is uniformly distributed within half a unit of the last
    digit.
    """
    exponent = printed.as_tuple().exponent
    assert isinstance(exponent, int)
    return float(Decimal(10) ** exponent / abs(printed)) / math.sqrt(12) if printed else 0.0


@dataclass(frozen=True)
class Axis:
    """A searched field of runs. The field ``sets`` has the value ``grain`` times a number in [low, high].

    The search begins at ``start``. The steps of the search begin at ``coarse`` and are quartered down to ``fine``.
    """

    name: str
    start: int
    low: int
    high: int
    coarse: int
    fine: int
    sets: str = ""
    grain: Decimal = Decimal(1)
    unit: str = "1"

    def value(self, number: int) -> int | Decimal:
        """Return the value of the field for a number of the axis."""
        exact = number * self.grain
        return int(exact) if exact == int(exact) else exact.normalize()

    def clipped(self, number: int) -> int:
        """Return the number in the range that is nearest to ``number``."""
        return min(self.high, max(self.low, number))

    def held(self, number: int) -> Axis:
        """Return the axis with one number only."""
        return replace(self, start=number, low=number, high=number)


def values_at(axes: Sequence[Axis], point: Point) -> dict[str, Any]:
    """Return dotted field -> value at a point of a search."""
    return {axis.sets: axis.value(number) for axis, number in zip(axes, point, strict=True)}


@dataclass(frozen=True)
class Source:
    """The programs in whose runs a parameter is set, and the published values to which the parameter is fitted."""

    step: int
    programs: tuple[str, ...]
    table: str
    columns: tuple[str, ...]
    fitted_rows: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The best number ``found`` of an axis; the data cannot distinguish numbers in [low, high] from the best number.

    If several axes of one search are refused, each interval has only the numbers that the search evaluated.
    """

    axis: Axis
    found: int
    low: int
    high: int
    residual: float  # the residual at the best point

    @property
    def refused(self) -> bool:
        """Return whether the interval reaches an end of the searched range."""
        return self.low <= self.axis.low or self.high >= self.axis.high

    @property
    def reason(self) -> str:
        """One sentence that says why the parameter is refused."""
        axis, unit = self.axis, "" if self.axis.unit == "1" else f" {self.axis.unit}"
        low, high, found = (f"{axis.value(number)}{unit}" for number in (axis.low, axis.high, self.found))
        if self.low <= axis.low and self.high >= axis.high:
            return f"The data cannot tell any value from {low} to {high} from the best."
        end = low if self.low <= axis.low else high
        if found == end:
            return f"The best value, {found}, is an end of the range that was searched."
        return f"The data cannot tell the best value, {found}, from {end}, an end of the range that was searched."

    @property
    def text(self) -> str:
        """Return the verdict as one line of text."""
        why = f"refused. {self.reason}" if self.refused else "identified"
        return f"{self.axis.name} {self.found}, {self.low} to {self.high}: {why}"

    def calibration(self, source: Source, rows: tuple[str, ...] = (), residual: float | None = None) -> Calibration:
        """Return the fitted or the refused parameter, which is set in the runs of ``rows``, by default of all rows.

        ``residual`` replaces the residual of the verdict.
        """
        value = self.axis.value
        common: dict[str, Any] = {
            "name": self.axis.name,
            "field": self.axis.sets,
            "unit": self.axis.unit,
            "interval": (value(self.low), value(self.high)),
            "residual": round(self.residual if residual is None else residual, 4),
            "rows": rows,
            **vars(source),
        }
        if not self.refused:
            return Calibration(parameters=(FittedParameter(**common, value=value(self.found)),))
        searched = (value(self.axis.low), value(self.axis.high))
        refused = RefusedParameter(**common, found=value(self.found), searched=searched, reason=self.reason)
        return Calibration(refused=(refused,))


# ---- The root of an error that increases with one parameter ----------------------------------------------------------


def identified_root(error: Callable[[int], float], axis: Axis, noise: float, *, tolerance: float) -> Verdict:
    """Search for the root of an increasing ``error``, beginning at the start of ``axis``.

    ``noise`` is the standard deviation of the error; the interval has the numbers whose errors ``noise`` explains. If
    the search ends with a larger error than ``noise``, this error replaces the noise.
    """
    known = cache(lambda number: error(axis.clipped(number)))
    found = axis.clipped(rising_root(known, axis.start, tolerance=tolerance))
    return root_at(known, axis, found, max(noise, abs(known(found))))


def root_at(error: Callable[[int], float], axis: Axis, found: int, deviation: float) -> Verdict:
    """Return the verdict on the root ``found`` of an increasing ``error`` whose standard deviation is ``deviation``."""

    def explained(number: int) -> bool:
        return abs(error(number)) <= TWO_SIDED * deviation

    step = max(1, round(found * TWO_SIDED * deviation))  # assumes that the error + 1 is proportional to the number
    low, high = (_reach(explained, axis, found, sign * step) for sign in (-1, 1))
    return Verdict(axis, found, low, high, abs(error(found)))


def _reach(explained: Callable[[int], bool], axis: Axis, found: int, step: int) -> int:
    """Return the outermost number on one side of ``found`` that is ``explained``, up to an eighth of its distance."""
    inside, outside = found, axis.clipped(found + step)
    while explained(outside):
        if outside in (axis.low, axis.high):
            return outside
        inside, outside = outside, axis.clipped(found + 2 * (outside - found))
    while abs(outside - inside) > max(1, abs(inside - found) // 8):
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if explained(middle) else (inside, middle)
    return inside


def rising_root(error: Callable[[int], float], start: int, *, tolerance: float = 1e-4, most: int = 16) -> int:
    """Return the integer >= 1 with the smallest ``error`` that the search finds. The function ``error`` increases.

    The search makes at most ``most`` secant steps between the nearest numbers with an error below 0 and above 0, and
    ends at an error of ``tolerance``. The first step assumes that the error + 1 is proportional to the number. If the
    error jumps over 0, the search bisects.
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
    """Return the next number to try: where the line through the two numbers with the smallest errors crosses 0, within
    the known bounds of the root.
    """
    (here, error), (before, error_before) = sorted(known.items(), key=lambda item: abs(item[1]))[:2]
    low = max((number for number, each in known.items() if each <= 0), default=0)
    high = min((number for number, each in known.items() if each > 0), default=None)
    slope = (error - error_before) / (here - before)
    crossing = round(here - error / slope) if slope > 0 else low
    if high is None:
        return min(max(crossing, low + 1), 10 * low)
    if low == 0 and crossing < 1:
        return 1  # the error may be above 0 everywhere
    return crossing if low < crossing < high and len(known) % 3 else max(1, (low + high) // 2)


# ---- The least residual over several parameters ----------------------------------------------------------------------


@dataclass
class Explored:
    """The costs of points of the search (a number for each axis). Each point is evaluated once."""

    costs: Costs
    known: dict[Point, float] = field(default_factory=dict)

    def __call__(self, points: Sequence[Point]) -> list[float]:
        """Return the costs of ``points``, and evaluate all unknown points at once."""
        new = list(dict.fromkeys(point for point in points if point not in self.known))
        self.known.update(zip(new, self.costs(new) if new else (), strict=True))
        return [self.known[point] for point in points]

    def inside(self, axes: Sequence[Axis]) -> list[Point]:
        """Return the known points within the ranges of the axes."""
        return [
            point
            for point in self.known
            if all(axis.low <= number <= axis.high for axis, number in zip(axes, point, strict=True))
        ]

    def best(self, axes: Sequence[Axis]) -> Point | None:
        """Return the known point with the least cost within the ranges of the axes."""
        return min(self.inside(axes), key=self.known.__getitem__, default=None)


def lowest(
    axes: Sequence[Axis],
    explored: Explored,
    report: Callable[[Point, float], None] = lambda *_: None,
    start: Point | None = None,
    enough: float = -math.inf,
) -> tuple[Point, float]:
    """Return the point with the lowest cost that a compass search finds, and this cost.

    The search begins at ``start``, by default at the starts of the axes. Each round evaluates all neighbours of the
    best point: one step in both directions along each axis. If no neighbour is better, the steps are divided by four. A
    cost of at most ``enough`` ends the search. ``report`` is called for every better point.
    """
    best = start or tuple(axis.start for axis in axes)
    (least,) = explored([best])
    report(best, least)
    steps = [axis.coarse for axis in axes]
    while least > enough:
        around = _around(best, axes, steps)
        cost, nearest = min(zip(explored(around), around, strict=True), key=lambda each: each[0], default=(least, best))
        if cost < least:
            best, least = nearest, cost
            report(best, least)
        elif all(step == axis.fine for step, axis in zip(steps, axes, strict=True)):
            break
        else:
            steps = [max(step // 4, axis.fine) for step, axis in zip(steps, axes, strict=True)]
    return best, least


def _around(point: Point, axes: Sequence[Axis], steps: Sequence[int]) -> list[Point]:
    moves = itertools.product(range(len(axes)), (-1, 1))
    near = [(*point[:at], axes[at].clipped(point[at] + sign * steps[at]), *point[at + 1 :]) for at, sign in moves]
    return list(dict.fromkeys(each for each in near if each != point))


@dataclass(frozen=True)
class Evidence:
    """The published values whose root mean square error is the residual.

    ``values`` is the number of these values. ``others`` is the number of parameters that are fitted to these values in
    addition to the searched parameters. ``noise`` is the known standard deviation of the values, in the unit of the
    residual.
    """

    values: int
    others: int = 0
    noise: float = 0.0

    def deviation(self, residual: float, searched: int) -> float:
        """Return the standard deviation of one value: the larger of noise and residual per degree of freedom."""
        freedom = self.values - self.others - searched
        left = residual * math.sqrt(self.values / freedom) if freedom > 0 else 0.0
        return max(self.noise, left)

    def limit(self, residual: float, searched: int) -> float:
        """Return the largest residual that the data cannot distinguish from the least residual."""
        return math.sqrt(residual**2 + LIKELIHOOD_RATIO * self.deviation(residual, searched) ** 2 / self.values)


def fit(
    axes: Sequence[Axis], costs: Costs, evidence: Evidence, say: Callable[[str], None] = lambda _: None
) -> tuple[Verdict, ...]:
    """Search for the least residual, and return the verdicts on all axes.

    Refused axes are fixed at their starts, and the remaining axes are searched again. A refused axis stays refused,
    since an axis that is identified only with other axes fixed is not identified. ``say`` gets every better point and
    every verdict.
    """

    def report(point: Point, cost: float) -> None:
        values = ", ".join(f"{axis.name} {number}" for axis, number in zip(axes, point, strict=True))
        say(f"rms error {cost:.4f}: {values}")

    explored, refused = Explored(costs), list[Verdict]()
    while True:
        held = {verdict.axis.name for verdict in refused}
        free = [axis.held(axis.start) if axis.name in held else axis for axis in axes]
        verdicts = _judge(free, explored, evidence, report)
        for verdict in verdicts:
            say(verdict.text)
        if not any(verdict.refused for verdict in verdicts):
            return (*verdicts, *refused)
        refused += [verdict for verdict in verdicts if verdict.refused]


def _judge(
    axes: Sequence[Axis], explored: Explored, evidence: Evidence, report: Callable[[Point, float], None]
) -> list[Verdict]:
    """Return the verdicts on the refused axes; or, if no axis is refused, on all axes that are not fixed.

    The search restarts if a profile meets a better point.
    """
    free = [at for at, axis in enumerate(axes) if axis.low < axis.high]
    while True:
        point, residual = lowest(axes, explored, report, explored.best(axes))
        profile = _Profile(axes, point, evidence.limit(residual, len(free)), explored)
        refused = [at for at in free if profile.reaches_an_end(at)]
        whole = not refused or len(free) == 1  # exact intervals of several refused axes would take many searches
        verdicts = [
            Verdict(axes[at], point[at], *profile.interval(at, whole=whole), residual) for at in refused or free
        ]
        best = explored.best(axes)
        if best is None or explored.known[best] >= residual:
            return verdicts


@dataclass(frozen=True)
class _Profile:
    """Profiles around the best ``point``. A number with a residual of at most ``limit`` is alike: the data cannot
    distinguish the number from the best number.
    """

    axes: Sequence[Axis]
    point: Point
    limit: float
    explored: Explored

    def reaches_an_end(self, at: int) -> bool:
        """Return whether an end of axis ``at`` is alike. The end with the lower cost is searched first."""
        axis = self.axes[at]
        costs = {end: self._start(at, end)[1] for end in (axis.low, axis.high)}
        seen_there = not costs.keys().isdisjoint(self._seen(at))
        return seen_there or any(self._is_alike(at, end) for end in sorted(costs, key=costs.__getitem__))

    def interval(self, at: int, *, whole: bool) -> tuple[int, int]:
        """Return the least and the largest alike number of axis ``at``: with ``whole`` of all numbers, otherwise of the
        evaluated numbers.
        """
        seen = list(self._seen(at))
        if not whole:
            return min(seen), max(seen)
        axis = self.axes[at]
        return self._edge(at, min(seen), axis.low), self._edge(at, max(seen), axis.high)

    def _edge(self, at: int, inside: int, outside: int) -> int:
        """Return the last alike number between ``inside``, which is alike, and ``outside``, an end of the range."""
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
        """Yield the alike numbers of an axis among the known points."""
        known = self.explored.known
        return (point[at] for point in self.explored.inside(self.axes) if known[point] <= self.limit)

    def _is_alike(self, at: int, number: int) -> bool:
        axes = [axis.held(number) if place == at else axis for place, axis in enumerate(self.axes)]
        start, _ = self._start(at, number)
        return lowest(axes, self.explored, start=start, enough=self.limit)[1] <= self.limit

    def _start(self, at: int, number: int) -> tuple[Point, float]:
        """Return the better of two points from which a profile at ``number`` is searched, with its cost.

        The starting points are the best point and the nearest known point, moved to ``number`` on axis ``at``.
        """
        known = self.explored.known
        nearest = min(self.explored.inside(self.axes), key=lambda point: (abs(point[at] - number), known[point], point))
        starts = [(*each[:at], number, *each[at + 1 :]) for each in (nearest, self.point)]
        costs = self.explored(starts)
        return min(zip(starts, costs, strict=True), key=lambda each: each[1])


# ---- Errors, and the file of a calibration ---------------------------------------------------------------------------


def of_steps(calibration: Calibration, steps: Collection[int]) -> Calibration:
    """Return the results of some steps."""
    return Calibration(
        parameters=tuple(each for each in calibration.parameters if each.step in steps),
        refused=tuple(each for each in calibration.refused if each.step in steps),
        scores=tuple(each for each in calibration.scores if each.step in steps),
    )


def joined(one: Calibration, other: Calibration) -> Calibration:
    """Return the results of both calibrations, in the order of steps."""
    return Calibration(
        parameters=tuple(sorted((*one.parameters, *other.parameters), key=lambda each: each.step)),
        refused=tuple(sorted((*one.refused, *other.refused), key=lambda each: each.step)),
        scores=tuple(sorted((*one.scores, *other.scores), key=lambda each: each.step)),
    )


def rms(errors: Iterable[float]) -> float:
    """Return the root mean square of ``errors``."""
    squares = [error**2 for error in errors]
    return math.sqrt(math.fsum(squares) / len(squares))


def calibration_yaml(calibration: Calibration, comment: str) -> str:
    """Return the calibration as YAML below ``comment``; fields with their default values are left out."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 120
    text = io.StringIO()
    yaml.dump(_plain(calibration.model_dump(by_alias=True, exclude_defaults=True)), text)
    return "".join(f"# {line}\n" for line in comment.splitlines()) + text.getvalue()


def _plain(value: Any) -> Any:
    """Return ``value`` with lists of scalars on one line, and decimals as numbers."""
    from ruamel.yaml.comments import CommentedSeq

    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Decimal):
        return float(value)
    if not isinstance(value, list | tuple):
        return value
    found = CommentedSeq([_plain(each) for each in value])
    if not any(isinstance(each, dict) for each in value):
        found.fa.set_flow_style()
    return found
