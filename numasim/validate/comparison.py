"""Comparison of predicted with measured values, and of their distance with the bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from numasim.report.answers.statistics import Estimate
from numasim.validate.exact import Pair
from numasim.validate.part_files import BoundSpec
from numasim.validate.predict import seeds_of
from numasim.validate.run_store import StoredRuns
from numasim.validate.validated_quantities import QUANTITIES
from numasim.validate.validation_cells import Cell, Part


@dataclass(frozen=True)
class Comparison:
    """One quantity of one cell. ``distance`` is relative or absolute, depending on the quantity, and infinite where
    only one side has a value; ``within`` says whether it is within the bound, None where there is no bound.
    """

    cell: Cell
    quantity: str
    predicted: Estimate
    measured: Estimate
    distance: float
    within: bool | None


@dataclass(frozen=True)
class Verdict:
    """The verdict on one bound: ``within`` of ``cells`` cells satisfy it; ``outside`` are the others, worst first."""

    quantity: str
    bound: BoundSpec
    cells: int
    within: int
    outside: tuple[Comparison, ...]

    @property
    def met(self) -> bool:
        """Whether enough cells satisfy the bound; a bound that no cell tests is not met."""
        return self.cells > 0 and self.within >= float(self.bound.share) * self.cells - 1e-9


@dataclass(frozen=True)
class Equality:
    """The comparison of a cell whose counters must be equal: values compared, and those that differ, by seed."""

    cell: Cell
    values: int
    differing: tuple[tuple[str, Pair], ...]


def compare(part: Part, cell: Cell, stored: StoredRuns) -> Iterator[Comparison]:
    """Compare every quantity that the runs of the cell have, over as many repeats as the part has."""
    seeds = list(stored.measured)[: part.repeats]
    predicted, measured = ([side[seed] for seed in seeds] for side in (stored.predicted, stored.measured))
    for name, quantity in QUANTITIES.items():
        if quantity.timed and part.file.mode == "virtual":
            continue
        ours, theirs = quantity.estimate(predicted), quantity.estimate(measured)
        distance = quantity.distance(ours.value, theirs.value)
        if distance is not None:
            bound = part.file.bounds.get(name)
            within = None if bound is None else abs(distance) <= float(bound.within)
            yield Comparison(cell, name, ours, theirs, distance, within)


def judge(part: Part, comparisons: Sequence[Comparison]) -> tuple[Verdict, ...]:
    """The verdict on each bound of the part."""
    return tuple(_verdict(name, bound, comparisons) for name, bound in part.file.bounds.items())


def _verdict(name: str, bound: BoundSpec, comparisons: Sequence[Comparison]) -> Verdict:
    those = [each for each in comparisons if each.quantity == name]
    outside = sorted((each for each in those if not each.within), key=_size, reverse=True)
    return Verdict(name, bound, len(those), len(those) - len(outside), tuple(outside))


def _size(comparison: Comparison) -> float:
    return abs(comparison.distance) if not math.isnan(comparison.distance) else math.inf


def equality(part: Part, cell: Cell, stored: StoredRuns) -> Equality:
    """The comparison of all counters of a cell."""
    runs = {str(seed): stored.compared[str(seed)] for seed in seeds_of(part)}
    differing = tuple((seed, tuple(pair)) for seed, run in runs.items() for pair in run["differing"])
    return Equality(cell, sum(run["values"] for run in runs.values()), differing)
