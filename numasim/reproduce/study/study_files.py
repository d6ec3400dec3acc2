"""The files of a study as models: the study itself, the programs that its tables run, the tables.

Fields of a run are written as a specification has them: ``workload: {...}`` replaces a field, ``workload.n: 1024``
changes a field inside it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from numasim.parts.base import CheckedModel, Model, PositiveCount, Seed
from numasim.parts.models.runtime_model import YesNo
from numasim.reproduce.study.ceiling_specs import CeilingsSpec
from numasim.reproduce.table_cells import Role

Text = Annotated[str, Field(min_length=1)]
BEST_CONSTANT = "best-constant"

Fields = dict[str, Any]  # of a run: dotted name -> value


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[Text, ...], BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...])]


class ElsewhereSpec(Model):
    """The value of ``column`` in the row of the same name of another table."""

    table: Text
    column: Text


class ScoreSpec(CheckedModel):
    """How a class of quantities is scored, and the bound on the score.

    ``of`` is the class whose cells count if not the score's own, ``tables`` those whose cells count if not all;
    ``part`` is the quantity whose share a metric of shares uses. ``question`` says what is asked of the predictions,
    and ``null`` where the null model's values are if not in the cells: a published column with a value for each row, or
    `best-constant`. ``unknown`` says what cannot be known from the source; pages show it where the bound is missed.
    """

    metric: Text
    bound: Decimal | None = None
    of: Text | None = None
    tables: Names = ()
    part: Text | None = None
    question: Text = "absolute"
    null: ElsewhereSpec | Literal["best-constant"] | None = None
    unknown: str = ""

    def _problems(self) -> Any:
        if self.metric == "pooled-share" and not self.part:
            yield "a pooled share needs part, the quantity whose share it is"


class ContributionSpec(Model):
    """A contribution of the study: ``variant`` of a program over the one that it improves on."""

    program: Text
    variant: Text
    over: Text


class ChoiceSpec(Model):
    """One way to read the source: what ``says`` so there, and the fields of a run that follow from it.

    A choice that sets nothing is the way in which the files of the study are written, or has columns of its own.
    """

    says: Text
    changes: Fields = Field(default_factory=dict, alias="set")


class ReadingSpec(CheckedModel):
    """A question that the source leaves open, and its answers by name; ``scored`` is the one that is scored.

    It concerns the runs of these tables, programs, rows and variants, of all where none are named. ``role`` is
    ``input`` where the text decides, and ``chosen`` where the answer was taken with scored figures in view.
    """

    question: Text
    role: Literal["input", "chosen"]
    tables: Names = ()
    programs: Names = ()
    rows: Names = ()
    variants: Names = ()
    choices: Annotated[dict[str, ChoiceSpec], Field(min_length=1)]
    scored: Text

    def _problems(self) -> Any:
        if self.scored not in self.choices:
            yield f"scored names one of the choices, {', '.join(self.choices)}, and not {self.scored!r}"

    @property
    def others(self) -> tuple[str, ...]:
        """The choices beside the one that is scored which change runs."""
        scored = self.choices[self.scored].changes
        return tuple(name for name, choice in self.choices.items() if name != self.scored and choice.changes != scored)


class TriedSpec(Model):
    """A mechanism or reading that was tried: what was supposed, what was changed, the score before and after.

    ``seen`` is whether the scored figures had been looked at, ``kept`` whether the change is part of the study. Scores
    are on the scale of their metric, over the cells that ``of`` names if not all, with the model of that day; nothing
    here is computed again.
    """

    score: Text
    hypothesis: Text
    change: Text
    of: str = ""
    before: Decimal
    after: Decimal
    seen: YesNo
    kept: YesNo


class InconsistencySpec(Model):
    """An inconsistency of the published study, and the tables that it affects."""

    text: Text
    tables: Annotated[Names, Field(min_length=1)]


class StudyFile(Model):
    """``study.yaml``.

    ``lead`` is the score whose cells the page draws first, from variant to variant, and ``learned`` are the sentences
    that it begins with; in them ``{times}`` stands for the score of that name, ``{times/null}`` for that of its null
    model and ``{times/ceiling}`` for its ceiling.
    """

    title: Text
    source: Text
    machine: Text
    seed: Seed = 0
    repeat: PositiveCount = 1
    readings: dict[str, ReadingSpec] = Field(default_factory=dict)
    scores: dict[str, ScoreSpec] = Field(default_factory=dict)
    lead: Text | None = None
    learned: tuple[Text, ...] = ()
    tried: tuple[TriedSpec, ...] = ()
    ablations: dict[str, Fields] = Field(default_factory=dict)
    contributions: dict[str, ContributionSpec] = Field(default_factory=dict)
    ceilings: CeilingsSpec = CeilingsSpec()
    inconsistencies: tuple[InconsistencySpec, ...] = ()


class QuickSpec(Model):
    """The differences of a quick reproduction: fewer repeats, fields that override all others, rows left out."""

    repeat: PositiveCount = 1
    changes: Fields = Field(default_factory=dict, alias="set")
    without: Names = ()


class ProgramFile(Model):
    """One file of ``programs/``: a run, the rows that tables name, and the variants that the study compares.

    ``workers: cores`` and ``workers: threads`` are a worker on each core or hardware thread of the machine, whichever
    machine that is, here and wherever fields of runs are set. ``exceptions`` are fields that override others for one
    row under a variant.
    """

    spec: Fields
    rows: dict[str, Fields] = Field(default_factory=dict)
    variants: dict[str, Fields] = Field(default_factory=dict)
    exceptions: dict[str, dict[str, Fields]] = Field(default_factory=dict)  # by variant and row
    quick: QuickSpec = QuickSpec()


class RowsSpec(Model):
    """The key columns; with ``field`` the key is the value of that field of a run, else it names a row of a program."""

    key: Annotated[Names, Field(min_length=1)]
    field: Text | None = None


class QuotientSpec(Model):
    """A published value that follows from two columns: ``over`` / ``under``."""

    over: Text
    under: Text


Published = Text | QuotientSpec | ElsewhereSpec


class ColumnSpec(CheckedModel):
    """One column of values: which quantity of which runs, and its role for the simulation.

    ``published`` says where the published values are, if not in the column of the same name. ``fitted`` are rows of a
    predicted column that were used to fit. ``null_from`` is the null model's value where there is no ``baseline``.
    """

    quantity: Text
    role: Role
    variant: Text | None = None
    changes: Fields = Field(default_factory=dict, alias="set")
    published: Published | None = None
    score: str = ""
    baseline: str = ""
    null_from: ElsewhereSpec | None = None
    fitted: Names = ()
    note: str = ""

    def _problems(self) -> Any:
        if self.fitted and self.role != Role.PREDICTED:
            yield f"fitted names rows of a predicted column, but this one is {self.role}"
        if self.score and self.role != Role.PREDICTED:
            yield f"only predicted columns are scored, but this column is {self.role}"
        if self.baseline and self.null_from:
            yield "the null model is the baseline's value, so null_from and a baseline exclude each other"


def _rows(value: Any) -> Any:
    return {"key": value} if isinstance(value, str | list | tuple) else value


class TableFile(Model):
    """One file of ``tables/``; ``options`` (``with:``) are those of the kind."""

    title: Text
    source: Text
    kind: Text = "runs"
    published: Text
    program: Text | None = None
    rows: Annotated[RowsSpec, BeforeValidator(_rows)]
    columns: Annotated[dict[str, ColumnSpec], Field(min_length=1)]
    repeat: PositiveCount | None = None
    options: dict[str, Any] = Field(default_factory=dict, alias="with")
    notes: tuple[Text, ...] = ()
