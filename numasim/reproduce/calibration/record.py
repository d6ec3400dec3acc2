"""The results of a calibration: parameters with the data that they were fitted to, and the errors of every step."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from numasim.parts.base import Model
from numasim.parts.validation import validate
from numasim.parts.yaml.document import load

Text = Annotated[str, Field(min_length=1)]


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[Text, ...], BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...])]
Errors = dict[str, float]  # of published values, by "row, column"


Value = int | Decimal | str
Ends = tuple[Value, Value]
FIRST_STEP = 1  # fits the rates to serial times, which no parameter of parallel runs has a part in


class Parameter(Model):
    """The field that a parameter sets in the runs of ``programs``, or only of their ``rows``, and its data.

    It was fitted to ``fitted_rows`` of ``columns`` of the published ``table``. ``interval`` has the lowest and the
    highest value that these cannot tell from the best.
    """

    name: Text = Field(description="Its name.")
    field: Text = Field(alias="set", description="The field of runs that it sets.")
    programs: Annotated[Names, Field(min_length=1)] = Field(description="Programs in whose runs it is set.")
    rows: Names = Field((), description="Rows in whose runs it is set. Default: all.")
    unit: str = Field("", description="Its unit.")
    step: int = Field(0, description="The step of the calibration that fits it, from 1.")
    table: str = Field("", description="The published table that it was fitted to.")
    columns: Names = Field((), description="The columns of that table.")
    fitted_rows: Names = Field((), description="The rows of that table.")
    interval: Ends | None = Field(
        None,
        description="The lowest and the highest value that the data cannot tell from the best.",
    )

    @property
    def runs(self) -> str:
        """Describe the runs that it is set in: ``bots (Strassen-2048)``."""
        rows = f" ({', '.join(self.rows)})" if self.rows else ""
        return f"{', '.join(self.programs)}{rows}"

    @property
    def data(self) -> str:
        """Describe the published columns that were read."""
        return f"table {self.table}: {', '.join(self.columns)}".replace("_", " ") if self.table else ""

    @property
    def cells(self) -> set[tuple[str, str, str]]:
        """Table, column and row of every published value that it was fitted to."""
        return {(self.table, column, row) for column in self.columns for row in self.fitted_rows}


class FittedParameter(Parameter):
    """A parameter with the value that was found. ``residual`` is the rms error over the rows that it was fitted to.

    That is relative, or of counts ln((simulated + 1) / (published + 1)). ``alone`` is the value that was found with
    nothing but the first step fitted, where that is another: a rate belongs to the machine that it was fitted on.
    """

    value: Value = Field(description="The value that was found.")
    alone: Value | None = Field(
        None,
        description="The value that was found with nothing but the first step fitted. Default: the same.",
    )
    residual: float | None = Field(
        None,
        description="Root mean square of the errors over the rows that it was fitted to.",
    )

    @property
    def first(self) -> bool:
        """Whether it is a rate that was fitted to serial times."""
        return self.step == FIRST_STEP

    def value_in(self, *, only_rates: bool) -> Value:
        """The value, or that of a machine on which nothing but rates is fitted."""
        return self.alone if only_rates and self.alone is not None else self.value


class RefusedParameter(Parameter):
    """A parameter that the data do not identify: the field keeps the value of its own file.

    ``found`` was the best of the values ``searched``, with the residual that it would have had.
    """

    found: Value = Field(description="The best of the values that were tried.")
    searched: Ends = Field(description="The lowest and the highest value that were tried.")
    reason: Text = Field(description="Why it is not set.")
    residual: float | None = Field(None, description="Root mean square of the errors that it would have had.")


class StepScore(Model):
    """The errors of one step, at every value that it was fitted to and at those that were held out."""

    step: int = Field(description="The step of the calibration.")
    rms: float = Field(description="Root mean square of the errors.")
    errors: Mapping[str, float] = Field(description="Error of each value that was fitted to, by row and column.")
    held_out: Mapping[str, float] = Field({}, description="Error of each value that was held out, by row and column.")


class Calibration(Model):
    """All parameters, fitted and refused, and scores, in the order of steps."""

    parameters: tuple[FittedParameter, ...] = Field((), description="Parameters that are set.")
    refused: tuple[RefusedParameter, ...] = Field((), description="Parameters that the data do not identify.")
    scores: tuple[StepScore, ...] = Field((), description="Errors of every step.")

    def of(self, steps: Collection[int]) -> Calibration:
        """The results of some steps."""
        return Calibration(
            parameters=tuple(each for each in self.parameters if each.step in steps),
            refused=tuple(each for each in self.refused if each.step in steps),
            scores=tuple(each for each in self.scores if each.step in steps),
        )

    def joined(self, other: Calibration) -> Calibration:
        """Both, in the order of steps."""
        return Calibration(
            parameters=tuple(sorted((*self.parameters, *other.parameters), key=lambda each: each.step)),
            refused=tuple(sorted((*self.refused, *other.refused), key=lambda each: each.step)),
            scores=tuple(sorted((*self.scores, *other.scores), key=lambda each: each.step)),
        )

    def value(self, name: str) -> Value:
        """The value of the parameter of that name; KeyError where there is none."""
        return {each.name: each.value for each in self.parameters}[name]


def rms(errors: Iterable[float]) -> float:
    """Root of the mean square."""
    squares = [error**2 for error in errors]
    return math.sqrt(math.fsum(squares) / len(squares))


def errors_of(column: str, simulated: Mapping[str, float], published: Mapping[str, float]) -> Errors:
    """Relative errors by "row, column", of the rows that were simulated."""
    return {f"{row}, {column}": value / published[row] - 1 for row, value in simulated.items()}


def score(step: int, errors: Errors, held_out: Errors | None = None) -> StepScore:
    """The score of a step, rounded."""
    short = {name: round(error, 4) for name, error in errors.items()}
    held = {name: round(error, 4) for name, error in (held_out or {}).items()}
    return StepScore(step=step, rms=round(rms(errors.values()), 4), errors=short, held_out=held)


def with_residual(found: Calibration, scored: StepScore) -> Calibration:
    """What a step found, with its score: the parameters of the step, fitted together, have the error of all."""
    parameters = (
        each.model_copy(update={"residual": scored.rms}) if each.step == scored.step else each
        for each in found.parameters
    )
    return found.model_copy(update={"parameters": tuple(parameters)}).joined(Calibration(scores=(scored,)))


def read_calibration(path: Path) -> Calibration:
    """Read the file that `calibration_yaml` makes; none where there is no file. InputError for anything wrong in it."""
    return validate(Calibration, load(path)) if path.is_file() else Calibration()


def calibration_yaml(calibration: Calibration, comment: str) -> str:
    """The calibration as YAML, the same text for the same contents; empty fields are left out."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 120
    text = io.StringIO()
    yaml.dump(_plain(calibration.model_dump(by_alias=True, exclude_defaults=True)), text)
    return "".join(f"# {line}\n" for line in comment.splitlines()) + text.getvalue()


def _plain(value: Any) -> Any:
    """Lists of scalars on one line, decimals as numbers."""
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
