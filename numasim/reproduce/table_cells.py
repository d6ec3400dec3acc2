"""The parts of a reproduction: cells of tables, with the published and the simulated value, and scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PRINTED_UNITS = ("s", "ms", "us", "ns", "GB")  # suffixes of published columns


class ReadingRole(StrEnum):
    """How a question was answered that the source leaves open."""

    INPUT = "input"
    ASSUMED = "assumed"
    CHOSEN = "chosen"


READING_ROLES = {
    ReadingRole.INPUT: "The text decides.",
    ReadingRole.ASSUMED: "The text does not say; it was assumed, and not fitted to scored figures.",
    ReadingRole.CHOSEN: "It was taken with scored figures in view.",
}


class Role(StrEnum):
    """What a published value is to the simulation."""

    INPUT = "input"  # part of the description of machine or program
    FITTED = "fitted"  # parameters were fitted to it
    PREDICTED = "predicted"  # never read by a calibration


@dataclass(frozen=True)
class Cell:
    """One value of a published table beside the simulated value."""

    table: str
    row: str  # key as printed; several key columns are joined by ", "
    column: str
    variant: str  # label of what is compared, "" where the table has none
    quantity: str
    unit: str
    role: Role
    score: str  # class of quantity, "" where it is not scored
    published: float
    simulated: tuple[float, ...]  # one value per seed, in the order of seeds; empty: not simulated, and `note` says why
    baseline: str = ""  # column of the same table against which the sign of the effect is taken
    null: float | None = None  # the prediction of the null model, that the change has no effect
    note: str = ""

    @property
    def mean(self) -> float:
        """Mean over seeds; NaN where nothing was simulated."""
        return math.fsum(self.simulated) / len(self.simulated) if self.simulated else math.nan

    @property
    def relative_error(self) -> float:
        """(mean - published) / published; NaN where the published value is 0 or nothing was simulated."""
        return relative_error(self.mean, self.published)

    @property
    def factor_error(self) -> float:
        """`factor_error` of the mean; NaN where nothing was simulated."""
        return factor_error(self.mean, self.published)

    @property
    def difference(self) -> float:
        """Mean - published, in the unit of the cell; NaN where nothing was simulated."""
        return self.mean - self.published


def relative_error(simulated: float, published: float) -> float:
    """(simulated - published) / published; NaN where the published value is 0."""
    return (simulated - published) / published if published else math.nan


def factor_error(simulated: float, published: float) -> float:
    """Exp |ln(simulated + 1) - ln(published + 1)|: the factor between two counts, defined at 0 too (model 7.2)."""
    return math.exp(abs(math.log1p(simulated) - math.log1p(published)))


@dataclass(frozen=True)
class Table:
    """A published table or figure; cells are ordered by row, then by column."""

    id: str
    title: str
    source: str
    key_columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()
    extra: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))
    # named series that a kind adds, such as the points of a regression
    figure: Callable[[Table], Figure | None] = field(default=lambda table: None, compare=False)  # of its own


@dataclass(frozen=True)
class ScoreBound:
    """The best value of a score that is within reach.

    ``value`` is the least error of a class, or the most of a metric that rises, over all its ``cells``; it follows from
    ``covered`` of them, and the others are taken to be met exactly.
    """

    score: str
    metric: str
    value: float
    covered: int
    cells: int


@dataclass(frozen=True)
class Ceiling:
    """What published values say about the best score that is within reach, in sentences (model 7.4).

    A ceiling without ``bounds`` is a finding beside the scores, for ``no_bound``.
    """

    name: str
    finding: str
    assumes: str
    source: str  # the place of the source that speaks for the inputs, "" where nothing had to be read
    bounds: tuple[ScoreBound, ...]
    no_bound: str = ""
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Interval:
    """From the least to the largest plausible value."""

    low: float
    high: float


@dataclass(frozen=True)
class Score:
    """The score of the predictions of a class, beside that of the null model."""

    name: str
    metric: str
    value: float
    seeds: Interval | None  # 95 %, bootstrap over seeds; None where nothing was repeated
    null: float | None  # the same metric of the null model
    bound: float | None  # required by the study
    cells: int
    rows: Interval | None = None  # 95 %, bootstrap over rows
    readings: Interval | None = None  # of the values under each other choice of a reading, one at a time
    parameters: Interval | None = None  # of the values at both ends of each fitted parameter's range, one at a time
    against_null: float | None = None  # the value over only those cells that have a null
    question: str = "absolute"
    remark: str = ""
    unknown: str = ""  # what cannot be known from the source
    ceiling: float | None = None  # the best value that is within reach of any model (model 7.4)
