"""The files of a study as models: the study itself, the programs that its tables run, the tables.

Fields of a run are written as a specification has them: ``workload: {...}`` replaces a field, ``workload.n: 1024``
changes a field inside it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from numasim.parts.base import CheckedModel, Model, PositiveCount, Seed
from numasim.parts.choices import Choices
from numasim.parts.models.runtime_model import YesNo
from numasim.reproduce.study.ceiling_specs import CeilingsSpec
from numasim.reproduce.table_cells import READING_ROLES, ReadingRole, Role

Text = Annotated[str, Field(min_length=1)]
BEST_CONSTANT = "best-constant"
NOTHING = "nothing"  # was printed

Fields = dict[str, Any]  # of a run: dotted name -> value


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[Text, ...], BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...])]


class ElsewhereSpec(Model):
    """The value of ``column`` in the row of the same name of another table."""

    table: Text = Field(description="The table, by the name of its file.")
    column: Text = Field(description="The column of that table; values are those of the row of the same name.")


class ScoreSpec(CheckedModel):
    """How a class of quantities is scored, and the bound on the score.

    ``of`` is the class whose cells count if not the score's own, ``tables`` those whose cells count if not all;
    ``part`` is the quantity whose share a metric of shares uses. ``question`` says what is asked of the predictions,
    and ``null`` where the null model's values are if not in the cells: a published column with a value for each row, or
    `best-constant`. ``unknown`` says what cannot be known from the source; pages show it where the bound is missed.
    """

    metric: Text = Field(
        description="How far simulated values are from published ones: a metric by its name, such as mape.",
    )
    bound: Decimal | None = Field(None, description="The bound that the score is to meet. Default: none.")
    of: Text | None = Field(
        None,
        description="The class of quantities whose cells count. Default: the score's own name.",
    )
    tables: Names = Field((), description="Tables whose cells count. Default: all.")
    part: Text | None = Field(None, description="With metric: pooled-share, the quantity whose share is scored.")
    question: Text = Field(
        "absolute",
        description="What is asked of the predictions: absolute values, or what a change does.",
    )
    null: (
        ElsewhereSpec
        | Annotated[
            Literal["best-constant"], Choices({"best-constant": "The one number for all cells that scores best."})
        ]
        | None
    ) = Field(
        None,
        description="Where the null model's values are: a published column, or best-constant. Default: those of the "
        "cells.",
    )
    unknown: str = Field(
        "",
        description="What cannot be known from the source; pages show it where the bound is missed.",
    )

    def _problems(self) -> Any:
        if self.metric == "pooled-share" and not self.part:
            yield "a pooled share needs part, the quantity whose share it is"


class ContributionSpec(Model):
    """A contribution of the study: ``variant`` of a program over the one that it improves on."""

    program: Text = Field(description="The program.")
    variant: Text = Field(description="The variant that is the contribution.")
    over: Text = Field(description="The variant that it improves on.")


class ChoiceSpec(Model):
    """One way to read the source: what ``says`` so there, and the fields of a run that follow from it.

    A choice that sets nothing is the way in which the files of the study are written, or has columns of its own.
    """

    says: Text = Field(description="What says so in the source.")
    changes: Fields = Field(
        default_factory=dict,
        alias="set",
        description="Fields of runs that follow from it. Default: none, the files are written that way.",
    )


class ReadingSpec(CheckedModel):
    """A question that the source leaves open, and its answers by name; ``scored`` is the one that is scored.

    It concerns the runs of these tables, programs, rows and variants, of all where none are named. ``role`` is
    how the answer was found.
    """

    question: Text = Field(description="What the source leaves open.")
    role: Annotated[ReadingRole, Choices(READING_ROLES)] = Field(description="How the answer was found.")
    tables: Names = Field((), description="Tables that it concerns. Default: all.")
    programs: Names = Field((), description="Programs that it concerns. Default: all.")
    rows: Names = Field((), description="Rows that it concerns. Default: all.")
    variants: Names = Field((), description="Variants that it concerns. Default: all.")
    choices: Annotated[dict[str, ChoiceSpec], Field(min_length=1)] = Field(description="The answers by name.")
    scored: Text = Field(description="The answer that is scored.")

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

    score: Text = Field(description="The score that was to become better.")
    hypothesis: Text = Field(description="What was supposed.")
    change: Text = Field(description="What was changed.")
    of: str = Field("", description="The cells that the scores are over. Default: all.")
    before: Decimal = Field(description="The score before the change.")
    after: Decimal = Field(description="The score after it.")
    seen: YesNo = Field(description="Whether the scored figures had been looked at.")
    kept: YesNo = Field(description="Whether the change is part of the study.")


class InconsistencySpec(Model):
    """An inconsistency of the published study, and the tables that it affects."""

    text: Text = Field(description="What contradicts what.")
    tables: Annotated[Names, Field(min_length=1)] = Field(description="The tables that are affected.")


class StudyFile(Model):
    """``study.yaml``.

    ``lead`` is the score whose cells the page draws first, from variant to variant, and ``learned`` are the sentences
    that it begins with; in them ``{times}`` stands for the score of that name, ``{times/null}`` for that of its null
    model and ``{times/ceiling}`` for its ceiling.
    """

    title: Text = Field(description="Title of the study.")
    source: Text = Field(description="The publication.")
    machine: Text = Field(description="The machine of its runs, by name or path.")
    seed: Seed = Field(0, description="Seed of its runs.")
    repeat: PositiveCount = Field(1, description="Repeats of each run.")
    readings: dict[str, ReadingSpec] = Field(
        default_factory=dict,
        description="Questions that the source leaves open, and how they are answered, by name.",
    )
    scores: dict[str, ScoreSpec] = Field(
        default_factory=dict,
        description="How classes of quantities are scored, by name.",
    )
    lead: Text | None = Field(None, description="The score whose cells the page draws first.")
    learned: tuple[Text, ...] = Field(
        (),
        description="Sentences that the page begins with; {NAME} stands for the score of that name, {NAME/null} for "
        "that of its null model, {NAME/ceiling} for its ceiling.",
    )
    tried: tuple[TriedSpec, ...] = Field((), description="What was tried to make scores better.")
    ablations: dict[str, Fields] = Field(
        default_factory=dict,
        description="Fields of runs that switch an effect off, by name.",
    )
    contributions: dict[str, ContributionSpec] = Field(
        default_factory=dict,
        description="The contributions of the publication, by name.",
    )
    ceilings: CeilingsSpec = Field(
        CeilingsSpec(),
        description="From which published values ceilings of scores are computed.",
    )
    inconsistencies: tuple[InconsistencySpec, ...] = Field((), description="Contradictions within the publication.")


class QuickSpec(Model):
    """The differences of a quick reproduction: fewer repeats, fields that override all others, rows left out."""

    repeat: PositiveCount = Field(1, description="Repeats of each run.")
    changes: Fields = Field(default_factory=dict, alias="set", description="Fields of runs that override all others.")
    without: Names = Field((), description="Rows that are left out.")


class ProgramFile(Model):
    """One file of ``programs/``: a run, the rows that tables name, and the variants that the study compares.

    ``workers: cores`` and ``workers: threads`` are a worker on each core or hardware thread of the machine, whichever
    machine that is, here and wherever fields of runs are set. ``exceptions`` are fields that override others for one
    row under a variant.
    """

    spec: Fields = Field(description="Fields of every run of the program.")
    rows: dict[str, Fields] = Field(default_factory=dict, description="Fields of the rows that tables name, by name.")
    variants: dict[str, Fields] = Field(
        default_factory=dict,
        description="Fields of the variants that the study compares, by name.",
    )
    exceptions: dict[str, dict[str, Fields]] = Field(
        default_factory=dict,
        description="Fields that override others for one row under a variant, by variant and row.",
    )
    quick: QuickSpec = Field(QuickSpec(), description="What a quick reproduction does instead.")


class RowsSpec(Model):
    """The key columns; with ``field`` the key is the value of that field of a run, else it names a row of a program."""

    key: Annotated[Names, Field(min_length=1)] = Field(description="The published columns that name a row.")
    field: Text | None = Field(
        None,
        description="The field of a run whose value the key is. Default: the key names a row of the program.",
    )


class QuotientSpec(Model):
    """A published value that follows from two columns: ``over`` / ``under``."""

    over: Text = Field(description="The published column that is divided.")
    under: Text = Field(description="The published column that it is divided by.")


Published = Text | QuotientSpec | ElsewhereSpec


class ColumnSpec(CheckedModel):
    """One column of values: which quantity of which runs, and its role for the simulation.

    ``published`` says where the published values are, if not in the column of the same name; `NOTHING` is known of a
    value that is predicted without having been printed. ``fitted`` are rows of a
    predicted column that were used to fit. ``null_from`` is the null model's value where there is no ``baseline``.
    """

    quantity: Text = Field(description="The quantity of the runs that is shown.")
    role: Annotated[
        Role,
        Choices(
            {
                "input": "They describe the machine or the program.",
                "fitted": "Parameters were fitted to them.",
                "predicted": "They were never read by a calibration.",
            }
        ),
    ] = Field(description="What the published values are to the simulation.")
    variant: Text | None = Field(None, description="The variant of the program. Default: none.")
    changes: Fields = Field(
        default_factory=dict,
        alias="set",
        description="Fields of runs that are set for this column.",
    )
    published: Published | None = Field(
        None,
        description="Where the published values are; nothing: none are. Default: in the column of the same name.",
    )
    score: str = Field("", description="The class of quantities that it is scored in. Default: none.")
    baseline: str = Field("", description="The column of the state before the change, which is the null model.")
    null_from: ElsewhereSpec | None = Field(
        None,
        description="Where the null model's values are, without a baseline.",
    )
    fitted: Names = Field((), description="Rows that parameters were fitted to.")
    note: str = Field("", description="A remark for readers.")

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

    title: Text = Field(description="Title of the table.")
    source: Text = Field(description="Its place in the publication.")
    kind: Text = Field("runs", description="How it is computed.")
    published: Text = Field(description="The file with the published values.")
    program: Text | None = Field(None, description="The program of its runs. Default: none.")
    rows: Annotated[RowsSpec, BeforeValidator(_rows, json_schema_input_type=Names | RowsSpec)] = Field(
        description="What names its rows."
    )
    columns: Annotated[dict[str, ColumnSpec], Field(min_length=1)] = Field(
        description="Its columns of values by name.",
    )
    repeat: PositiveCount | None = Field(None, description="Repeats of each run. Default: those of the study.")
    options: dict[str, Any] = Field(default_factory=dict, alias="with", description="Options of the kind.")
    notes: tuple[Text, ...] = Field((), description="Remarks for readers.")
