"""``sensitivity.yaml`` of a study: uncertain inputs, each with a plausible range.

``fitted`` multiplies fitted parameters, so that a new calibration needs no new range; ``changes`` are fields of runs,
for vendor data and for readings of what a paper leaves open. They have a low side, a high side or both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from numasim.errors import InputError
from numasim.parts.base import CheckedModel, Model
from numasim.parts.choices import Choices
from numasim.parts.validation import placed, validate
from numasim.parts.yaml.document import load
from numasim.parts.yaml.nodes import Node
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.names import check_names
from numasim.reproduce.study.study_files import Fields, Names, Text

FILE = "sensitivity.yaml"
SIDES = ("low", "high")

Factor = Annotated[Decimal, Field(gt=0)]


class FittedRange(CheckedModel):
    """Parameters of the calibration, times ``low`` and times ``high``."""

    name: Text = Field(description="Its name.")
    parameters: Annotated[Names, Field(min_length=1)] = Field(
        description="Names of the fitted parameters that are multiplied together.",
    )
    low: Factor = Field(description="Factor of the low side, below 1.")
    high: Factor = Field(description="Factor of the high side, above 1.")
    source: Text = Field(description="Why the range is plausible.")

    def _problems(self) -> Any:
        if not self.low < 1 < self.high:
            yield f"low must be below 1 and high above 1, but they are {self.low} and {self.high}"


class ChangedRange(CheckedModel):
    """Fields to set, in the runs of these programs, rows and variants where any are named.

    ``labels`` name the sides where the values are not clear by themselves.
    """

    name: Text = Field(description="Its name.")
    kind: Annotated[
        Literal["vendor", "reading"], Choices({"vendor": "Data of the machine.", "reading": "How the source is read."})
    ] = Field(description="What is uncertain.")
    low: Fields = Field(default_factory=dict, description="Fields of runs that are set on the low side.")
    high: Fields = Field(default_factory=dict, description="Fields of runs that are set on the high side.")
    labels: dict[
        Annotated[Literal["low", "high"], Choices({"low": "The low side.", "high": "The high side."})], Text
    ] = Field(
        default_factory=dict,
        description="Names of the sides, where the values are not clear by themselves.",
    )
    programs: Names = Field((), description="Programs whose runs are changed. Default: all.")
    rows: Names = Field((), description="Rows whose runs are changed. Default: all.")
    variants: Names = Field((), description="Variants whose runs are changed. Default: all.")
    source: Text = Field(description="Why the range is plausible.")

    def _problems(self) -> Any:
        if not (self.low or self.high):
            yield "either low or high has to change something"


class SensitivityFile(Model):
    """The tables whose scores and effects are examined, and the changes, made one at a time."""

    tables: Annotated[Names, Field(min_length=1)] = Field(description="Tables whose scores and effects are examined.")
    fitted: tuple[FittedRange, ...] = Field((), description="Ranges of fitted parameters.")
    changes: tuple[ChangedRange, ...] = Field((), description="Ranges of fields of runs.")


@dataclass(frozen=True)
class Ranges:
    """The file, with the places of its fields."""

    file: SensitivityFile
    document: Node

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that is changed."""
        return (*(each.name for each in self.file.fitted), *(each.name for each in self.file.changes))


def has_ranges(study: Study) -> bool:
    """Whether the study has a file of ranges."""
    return (study.folder / FILE).is_file()


def read_ranges(study: Study) -> Ranges:
    """Read the ranges of a study. Raises `InputError` with its place for any mistake, or where there are none."""
    document = load(study.folder / FILE)
    file = validate(SensitivityFile, document)
    check_names(document, ("tables",), "table", file.tables, study.tables)
    parameters = [parameter.name for parameter in study.parameters]
    for number, fitted in enumerate(file.fitted):
        check_names(document, ("fitted", number, "parameters"), "fitted parameter", fitted.parameters, parameters)
    for number, change in enumerate(file.changes):
        _check_change(study, document, number, change)
    _check_unique(document, file, study.file.readings)
    return Ranges(file, document)


def _check_change(study: Study, document: Node, number: int, change: ChangedRange) -> None:
    programs = [study.programs[name] for name in study.programs if not change.programs or name in change.programs]
    known: Mapping[str, list[str]] = {
        "program": list(study.programs),
        "row": [row for program in programs for row in program.file.rows],
        "variant": [variant for program in programs for variant in program.file.variants],
    }
    for what, names in (("program", change.programs), ("row", change.rows), ("variant", change.variants)):
        check_names(document, ("changes", number, f"{what}s"), what, names, known[what])


def _check_unique(document: Node, file: SensitivityFile, readings: Collection[str]) -> None:
    places = [("fitted", number, each.name) for number, each in enumerate(file.fitted)]
    places += [("changes", number, each.name) for number, each in enumerate(file.changes)]
    seen = set(readings)
    for part, number, name in places:
        if name in seen:
            problem = f"there are two ranges named {name!r}"
            raise placed(InputError(problem, path=(part, number, "name"), value=name), document)
        seen.add(name)
