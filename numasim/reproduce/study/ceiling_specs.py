"""What a study says about ceilings (``ceilings:`` in ``study.yaml``): from which published values each is computed.

Every kind of ceiling has a field, which names its ceilings; `numasim.reproduce.ceilings` computes them (model 7.4).
``because`` is the place of the source that speaks for the inputs.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from numasim.parts.base import Count, Fraction, Model, PositiveCount
from numasim.parts.choices import Choices

Line = Annotated[str, Field(min_length=1)]


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Lines = Annotated[
    tuple[Line, ...], BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...]), Field(min_length=1)
]


class ColumnName(Model):
    """A column of a table of the study."""

    table: Line = Field(description="The table, by the name of its file.")
    column: Line = Field(description="The column of the table.")


class CellName(ColumnName):
    """A cell of a table of the study."""

    row: Line = Field(description="The row of the table.")


SameColumns = Annotated[tuple[ColumnName, ...], Field(min_length=2)]


class TwiceSpec(Model):
    """``same``: columns that print one quantity, beside those that are one prediction of the study anyway."""

    same: tuple[SameColumns, ...] = Field(
        (),
        description="Columns that print one quantity twice, beside those that are one prediction of the study anyway.",
    )
    because: Line | None = Field(None, description="The place of the source that speaks for it.")


class NoiseSpec(Model):
    """The scatter of single runs about a regression, as the noise of the published means of ``runs`` runs.

    ``regression`` is the column of a table of kind regression, which is over ``regression_runs`` runs; ``at`` is the
    published value at which its line is read.
    """

    scores: Lines = Field(description="The scores that the ceiling is for.")
    regression: ColumnName = Field(
        description="The column of a table of kind regression, whose line and scatter are used.",
    )
    regression_runs: Annotated[PositiveCount, Field(ge=3)] = Field(
        description="Single runs that the regression is over.",
    )
    at: CellName = Field(description="The published value at which its line is read.")
    runs: PositiveCount = Field(description="Runs that each published mean is over.")
    because: Line = Field(description="The place of the source that speaks for the numbers.")


class DigitsSpec(Model):
    """Whether ``over`` / ``under`` is a number of few ``decimals`` in more rows than chance allows.

    ``computed`` is the column of the two that is then computed from the other; ``level`` is the largest probability by
    chance at which that is concluded.
    """

    over: ColumnName = Field(description="The column that is divided.")
    under: ColumnName = Field(description="The column that it is divided by.")
    decimals: Annotated[Count, Field(le=12)] = Field(
        description="Digits behind the point that the quotient of two printed numbers is rounded to.",
    )
    computed: Annotated[
        Literal["over", "under"],
        Choices({"over": "The one that is divided.", "under": "The one that it is divided by."}),
    ] = Field(
        "under",
        description="Which of the two columns was then computed from the other.",
    )
    level: Fraction = Field(
        Decimal("0.01"),
        description="The largest probability, by chance, at which that is concluded.",
    )
    because: Line = Field(description="The place of the source that speaks for it.")


class LatencySpec(ColumnName):
    """The rows of a column of latencies that are those of remote and of local memory; each means their mean."""

    remote: Lines = Field(description="Rows with latencies of remote memory, whose mean counts.")
    local: Lines = Field(description="Rows with latencies of local memory, whose mean counts.")


class PhysicsSpec(Model):
    """Bytes saved between two columns against the time gained between two others.

    ``volumes`` and ``times`` are the columns before and after; a ``line`` of so many bytes is fetched at a time, and
    so many ``workers``, or cores, wait side by side.
    """

    volumes: tuple[ColumnName, ColumnName] = Field(description="The columns of bytes before and after the change.")
    times: tuple[ColumnName, ColumnName] = Field(description="The columns of times before and after the change.")
    latency: LatencySpec = Field(description="The column of latencies.")
    line: PositiveCount = Field(description="Bytes that are fetched at a time.")
    workers: PositiveCount = Field(description="Workers, or cores, that wait side by side.")
    because: Line = Field(description="The place of the source that speaks for the numbers.")


class CeilingsSpec(Model):
    """The ceilings of a study by kind and name."""

    twice: TwiceSpec = Field(TwiceSpec(), description="Ceilings of quantities that are printed twice.")
    noise: dict[str, NoiseSpec] = Field(
        default_factory=dict,
        description="Ceilings by the scatter of single runs, by name.",
    )
    digits: dict[str, DigitsSpec] = Field(
        default_factory=dict,
        description="Columns that were computed from others, by name.",
    )
    physics: dict[str, PhysicsSpec] = Field(
        default_factory=dict,
        description="Ceilings by the time that saved bytes can save, by name.",
    )
