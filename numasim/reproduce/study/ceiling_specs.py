"""What a study says about ceilings (``ceilings:`` in ``study.yaml``): from which published values each is computed.

Every kind of ceiling has a field, which names its ceilings; `numasim.reproduce.ceilings` computes them (model 7.4).
``because`` is the place of the source that speaks for the inputs.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from numasim.parts.base import Count, Fraction, Model, PositiveCount

Line = Annotated[str, Field(min_length=1)]


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Lines = Annotated[
    tuple[Line, ...], BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...]), Field(min_length=1)
]


class ColumnName(Model):
    """A column of a table of the study."""

    table: Line
    column: Line


class CellName(ColumnName):
    """A cell of a table of the study."""

    row: Line


SameColumns = Annotated[tuple[ColumnName, ...], Field(min_length=2)]


class TwiceSpec(Model):
    """``same``: columns that print one quantity, beside those that are one prediction of the study anyway."""

    same: tuple[SameColumns, ...] = ()
    because: Line | None = None


class NoiseSpec(Model):
    """The scatter of single runs about a regression, as the noise of the published means of ``runs`` runs.

    ``regression`` is the column of a table of kind regression, which is over ``regression_runs`` runs; ``at`` is the
    published value at which its line is read.
    """

    scores: Lines
    regression: ColumnName
    regression_runs: Annotated[PositiveCount, Field(ge=3)]
    at: CellName
    runs: PositiveCount
    because: Line


class DigitsSpec(Model):
    """Whether ``over`` / ``under`` is a number of few ``decimals`` in more rows than chance allows.

    ``computed`` is the column of the two that is then computed from the other; ``level`` is the largest probability by
    chance at which that is concluded.
    """

    over: ColumnName
    under: ColumnName
    decimals: Annotated[Count, Field(le=12)]
    computed: Literal["over", "under"] = "under"
    level: Fraction = Decimal("0.01")
    because: Line


class LatencySpec(ColumnName):
    """The rows of a column of latencies that are those of remote and of local memory; each means their mean."""

    remote: Lines
    local: Lines


class PhysicsSpec(Model):
    """Bytes saved between two columns against the time gained between two others.

    ``volumes`` and ``times`` are the columns before and after; a ``line`` of so many bytes is fetched at a time, and
    so many ``workers``, or cores, wait side by side.
    """

    volumes: tuple[ColumnName, ColumnName]
    times: tuple[ColumnName, ColumnName]
    latency: LatencySpec
    line: PositiveCount
    workers: PositiveCount
    because: Line


class CeilingsSpec(Model):
    """The ceilings of a study by kind and name."""

    twice: TwiceSpec = TwiceSpec()
    noise: dict[str, NoiseSpec] = Field(default_factory=dict)
    digits: dict[str, DigitsSpec] = Field(default_factory=dict)
    physics: dict[str, PhysicsSpec] = Field(default_factory=dict)
