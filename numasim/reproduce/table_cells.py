"""The data of a reproduction: tables with published and simulated values, scores and ceilings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


TRUTH = "holds"  # the unit of a statement: 1 if the statement holds, 0 otherwise
PRINTED_UNITS = ("s", "ms", "us", "ns", "GB")  # suffixes of published columns


class ReadingRole(StrEnum):
    """How a study answers a question that the paper leaves open."""

    INPUT = "input"
    ASSUMED = "assumed"
    CHOSEN = "chosen"


READING_ROLES = {
    ReadingRole.INPUT: "The text decides.",
    ReadingRole.ASSUMED: "The text does not say; it was assumed, and not fitted to scored figures.",
    ReadingRole.CHOSEN: "It was taken with scored figures in view.",
}


class Role(StrEnum):
    """The role of a published value for the simulation."""

    INPUT = "input"  # part of the description of machine or program
    REFERENCE = "reference"  # a value that is compared with itself, such as the ratio of a time to the same time
    FITTED = "fitted"  # a value to which parameters were fitted
    PREDICTED = "predicted"  # a value that no calibration reads


@dataclass(frozen=True)
class Interval:
    """An interval from the least to the largest plausible value."""

    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """One value of a published table beside the simulated value."""

    table: str
    row: str  # the name of the row as printed; several key columns are joined by ", "
    column: str
    variant: str  # the variant of the program; "" in a table without variants
    quantity: str
    unit: str
    role: Role
    score: str  # the class in which the cell is scored; "" for a cell that is not scored
    published: float
    simulated: tuple[float, ...]  # a value for each seed; empty if not simulated (`note` has the reason)
    baseline: str = ""  # the column of the same table that shows the state before the change
    null: float | None = None  # the prediction of the simple rule of the cell's column
    note: str = ""
    # the range that is printed instead of a value; ``published`` is then the value of the range nearest to the mean
    within: Interval | None = None

    @property
    def mean(self) -> float:
        """Return the mean over seeds; NaN without a simulated value."""
        return math.fsum(self.simulated) / len(self.simulated) if self.simulated else math.nan

    @property
    def relative_error(self) -> float:
        """Return (mean - published) / published; NaN without a simulated value, or for a published 0."""
        return (self.mean - self.published) / self.published if self.published else math.nan

    @property
    def difference(self) -> float:
        """Return mean - published, in the unit of the cell; NaN without a simulated value."""
        return self.mean - self.published

    @property
    def counted(self) -> bool:
        """Return whether the cell counts as a published value of its role.

        A cell without a published value, or with a printed range instead, does not count; nor does a cell without a
        simulated value, except an input.
        """
        known = self.within is None and not math.isnan(self.published)
        return known and (self.role is Role.INPUT or not math.isnan(self.mean))


@dataclass(frozen=True)
class Pair:
    """A cell, and the cell of the same row that shows the state before the change."""

    cell: Cell
    baseline: Cell | None


@dataclass(frozen=True)
class Table:
    """A published table or figure; cells are ordered by row, then by column."""

    id: str
    title: str
    source: str
    key_columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()
    # series by name, which a kind of table may add, such as the points of a regression
    extra: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    # the figure of a kind of table
    figure: Callable[[Table], Figure | None] = field(default=lambda table: None, compare=False)


@dataclass(frozen=True)
class ScoreBound:
    """The best value of a score that any model can reach.

    ``value`` is the least error over all ``cells`` of the class; or the largest value, for a metric for which more is
    better. The bound follows from ``covered`` of these cells. All other cells count as predicted exactly.
    """

    score: str
    metric: str
    value: float
    covered: int
    cells: int


@dataclass(frozen=True)
class Ceiling:
    """A bound on the best reachable scores. The bound follows from published values, in sentences (model 7.4).

    A ceiling with empty ``bounds`` bounds no score; ``no_bound`` has the reason.
    """

    name: str
    finding: str
    assumes: str
    source: str  # the place of the inputs in the paper; "" without inputs from the paper
    bounds: tuple[ScoreBound, ...]
    no_bound: str = ""
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class SimpleScore:
    """The score of a simple rule, and the simulation's score on the ``cells`` cells that the rule predicts."""

    rule: str
    value: float
    against: float
    cells: int


@dataclass(frozen=True)
class Score:
    """The score of the predictions of a class, with the score of the best simple rule."""

    name: str
    metric: str
    value: float
    seeds: Interval | None  # 95 % interval, by a bootstrap over seeds; None for a single seed
    null: float | None  # the score of the best simple rule
    bound: float | None  # the bound that the study requires
    cells: int
    rows: Interval | None = None  # 95 % interval, by a bootstrap over rows
    readings: Interval | None = None  # range of the scores if one reading at a time has another choice
    parameters: Interval | None = None  # range of the scores at both ends of each fitted range, one at a time
    against_null: float | None = None  # the score of only the cells that the best simple rule predicts
    question: str = "absolute"
    rule: str = ""  # the name of the best simple rule
    simple: tuple[SimpleScore, ...] = ()  # the scores of all simple rules
    unknown: str = ""  # the facts that the paper does not reveal
    ceiling: float | None = None  # the best value that any model can reach (model 7.4)
