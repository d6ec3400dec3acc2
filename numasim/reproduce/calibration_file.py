"""The file ``calibrated.yaml`` of a study: fitted parameters with their data and errors (model 7.1)."""

from __future__ import annotations

from collections.abc import Mapping
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
Value = int | Decimal | str
Ends = tuple[Value, Value]
FIRST_STEP = 1  # the first step of a calibration, which fits rates to serial times; parallel costs do not affect these


class Parameter(Model):
    """A parameter, which sets ``field`` in the runs of ``programs``, or only in their ``rows``.

    The parameter was fitted to ``fitted_rows`` of ``columns`` of the published ``table``. ``interval`` has the lowest
    and the highest value that these data cannot distinguish from the best value.
    """

    name: Text = Field(description="The name of the parameter.")
    field: Text = Field(alias="set", description="The field of runs that the parameter sets.")
    programs: Annotated[Names, Field(min_length=1)] = Field(description="Programs in whose runs the parameter is set.")
    rows: Names = Field((), description="Rows in whose runs the parameter is set. Default: all.")
    unit: str = Field("", description="The unit of the value.")
    step: int = Field(0, description="The step of the calibration that fits the parameter, from 1.")
    table: str = Field("", description="The published table that the parameter was fitted to.")
    columns: Names = Field((), description="The fitted columns of the table.")
    fitted_rows: Names = Field((), description="The fitted rows of the table.")
    interval: Ends | None = Field(
        None,
        description="The lowest and the highest value that the data cannot tell from the best.",
    )

    @property
    def runs(self) -> str:
        """Return the runs in which the parameter is set, as text: ``bots (Strassen-2048)``."""
        rows = f" ({', '.join(self.rows)})" if self.rows else ""
        return f"{', '.join(self.programs)}{rows}"

    @property
    def data(self) -> str:
        """Return the published columns that were read, as text."""
        return f"table {self.table}: {', '.join(self.columns)}".replace("_", " ") if self.table else ""


class FittedParameter(Parameter):
    """A parameter with its fitted value.

    ``residual`` is the root mean square of the errors over the fitted rows. An error is relative, or for counts
    ln((simulated + 1) / (published + 1)). A rate is fitted for one machine: ``alone`` is the rate found if only the
    first step is fitted, for other machines, if this rate differs from ``value``.
    """

    value: Value = Field(description="The fitted value.")
    alone: Value | None = Field(
        None,
        description="The fitted value with only the first step fitted. Default: the same value.",
    )
    residual: float | None = Field(
        None,
        description="Root mean square of the errors over the fitted rows.",
    )

    @property
    def first(self) -> bool:
        """Return whether the parameter belongs to the first step: a rate that was fitted to serial times."""
        return self.step == FIRST_STEP


class RefusedParameter(Parameter):
    """A parameter that the data do not identify. The field keeps the value of the machine, program or runtime file.

    ``found`` was the best of the values ``searched``, with the residual ``residual``.
    """

    found: Value = Field(description="The best tried value.")
    searched: Ends = Field(description="The lowest and the highest tried value.")
    reason: Text = Field(description="The reason why the parameter is not set.")
    residual: float | None = Field(None, description="Root mean square of the errors at the best tried value.")


class StepScore(Model):
    """The errors of one step of the calibration at the published values to which the step was fitted."""

    step: int = Field(description="The step of the calibration.")
    rms: float = Field(description="Root mean square of the errors.")
    errors: Mapping[str, float] = Field(description="Error of each fitted published value, by row and column.")


class Calibration(Model):
    """All fitted and refused parameters, and the scores of steps, in the order of steps."""

    parameters: tuple[FittedParameter, ...] = Field((), description="Parameters that are set.")
    refused: tuple[RefusedParameter, ...] = Field((), description="Parameters that the data do not identify.")
    scores: tuple[StepScore, ...] = Field((), description="Errors of every step.")


def read_calibration(path: Path) -> Calibration:
    """Return the calibration in a file, or an empty one if there is no file. Raise InputError for a bad file."""
    return validate(Calibration, load(path)) if path.is_file() else Calibration()
