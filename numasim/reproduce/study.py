"""A study in memory: its programs and tables, how it is scored, and what its paper leaves open.

experiments/NAME/study.py          makes it, under the name ``STUDY``
experiments/NAME/paper.yaml        title and source of the paper, and what is said about the paper (`read_paper`)
experiments/NAME/programs/*.yaml   the programs that tables run, where they are not in `study.py`
experiments/NAME/published/*.csv   the values as printed
experiments/NAME/calibrated.yaml   parameters, fitted and refused, where there are any
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from numasim.files.standard_streams import legible_text
from numasim.parts.yaml.document import load
from numasim.reproduce.calibration_file import Calibration, FittedParameter, RefusedParameter, read_calibration
from numasim.reproduce.metrics import METRICS, QUESTIONS
from numasim.reproduce.programs import Fields, Names, Program, Question, check_known, listed, question, unknown_name
from numasim.reproduce.setting import FittedRange
from numasim.reproduce.study_tables import NOTHING, Column, Elsewhere, Quotient, StudyTable
from numasim.reproduce.table_cells import Ceiling, Table

BEST_CONSTANT: Literal["best-constant"] = "best-constant"  # the one number for all cells that scores best


def imported(module: str) -> ModuleType:
    """A module of a study; nothing is written beside its file."""
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    finally:
        sys.dont_write_bytecode = writes


@dataclass(frozen=True)
class ScoreRule:
    """A class of quantities and how it is scored."""

    name: str
    metric: str  # one of `METRICS`
    bound: float | None = None
    of: str = ""  # the class whose cells count, where it is not its own
    tables: Names = ()  # only these; none given: all
    part: str = ""  # the quantity whose share is pooled
    question: str = "absolute"  # one of `QUESTIONS`
    null: Elsewhere | Literal["best-constant"] | None = None  # in place of the cells' own
    nulls: Mapping[str, float] = field(default_factory=dict)  # by row, of ``null``
    unknown: str = ""  # what cannot be known from the source


@dataclass(frozen=True)
class Tried:
    """Something that was tried for a score: what was supposed and changed, the score before and after.

    Scores are on the scale of their metric, with the model of that day. ``of``: the cells of the score that were looked
    at, "" for all; ``seen``: whether the scored figures had been looked at; ``kept``: whether it is part of the study.
    """

    score: str
    hypothesis: str
    change: str
    before: float
    after: float
    seen: bool
    kept: bool
    of: str = ""


def read_ranges(path: Path) -> tuple[FittedRange, ...]:
    """The ranges of fitted parameters in a YAML file: a list under the key ``fitted``."""
    return tuple(
        FittedRange(
            each["name"], listed(each["parameters"]), Decimal(each["low"]), Decimal(each["high"]), each["source"]
        )
        for each in load(path).plain()["fitted"]
    )


@dataclass(frozen=True)
class Paper:
    """What is said about a paper, as plain data.

    ``readings`` are questions that it leaves open; ``learned`` are sentences that the page begins with, in which
    ``{times}`` stands for the score of that name, ``{times/null}`` for that of its null model and ``{times/ceiling}``
    for its ceiling; ``inconsistencies`` are contradictions within it, each with the tables that it affects; ``notes``
    are remarks on tables, by table, and ``unknown`` says of a score what cannot be known from the paper.
    """

    title: str
    source: str
    readings: Mapping[str, Question] = field(default_factory=dict)
    learned: Names = ()
    tried: tuple[Tried, ...] = ()
    inconsistencies: tuple[tuple[str, Names], ...] = ()
    notes: Mapping[str, Names] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


def read_paper(path: Path) -> Paper:
    """What a YAML file says about a paper: keys as the fields of `Paper`."""
    data = load(path).plain()
    return Paper(
        title=data["title"],
        source=data["source"],
        readings={name: question(name, each) for name, each in data.get("readings", {}).items()},
        learned=tuple(data.get("learned", ())),
        tried=tuple(_tried(each) for each in data.get("tried", ())),
        inconsistencies=tuple((each["text"], tuple(each["tables"])) for each in data.get("inconsistencies", ())),
        notes={table: tuple(notes) for table, notes in data.get("notes", {}).items()},
        unknown=data.get("unknown", {}),
    )


def _tried(data: Mapping[str, Any]) -> Tried:
    numbers = {key: float(data[key]) for key in ("before", "after")}
    return Tried(**{**data, **numbers, **{key: data[key] == "yes" for key in ("seen", "kept")}})


Ceilings = Callable[["Study", Sequence[Table], Sequence[ScoreRule]], tuple[Ceiling, ...]]


@dataclass(frozen=True)
class Study:
    """A whole study.

    ``machine`` is that of its runs, by name or path. ``ablations`` are fields of runs that switch an effect off, by
    name. ``lead`` is the score whose cells the page draws first, and ``ceilings`` computes from published values how
    near any model can come. ``chosen`` are the tables to be reproduced, all where none are named.
    """

    folder: Path
    paper: Paper
    machine: str
    programs: Mapping[str, Program]
    tables: Mapping[str, StudyTable]
    rules: tuple[ScoreRule, ...] = ()
    seed: int = 0
    repeat: int = 1
    ablations: Mapping[str, Fields] = field(default_factory=dict)
    lead: str = ""
    ceilings: Ceilings | None = None  # by default what is printed twice
    fitted_ranges: tuple[FittedRange, ...] = ()
    calibration: Calibration = field(default_factory=Calibration)
    chosen: Names = ()
    package: str = ""  # of its modules

    @property
    def name(self) -> str:
        """The name of its folder."""
        return legible_text(self.folder.name)

    @property
    def readings(self) -> Mapping[str, Question]:
        """What the paper leaves open."""
        return self.paper.readings

    @property
    def parameters(self) -> tuple[FittedParameter, ...]:
        """What was fitted."""
        return self.calibration.parameters

    @property
    def refused(self) -> tuple[RefusedParameter, ...]:
        """Parameters that a fit found and the data do not identify: they are set nowhere."""
        return self.calibration.refused

    def part(self, name: str) -> ModuleType:
        """A module in the folder of the study beside ``study.py``."""
        return imported(f"{self.package}.{name}")

    def notes(self, table: str) -> Names:
        """Notes for readers of a table: inconsistencies of the paper, then readings of it."""
        touching = (text for text, tables in self.paper.inconsistencies if table in tables)
        return (*touching, *self.paper.notes.get(table, ()))

    def published(self, table: str, column: str) -> dict[str, float]:
        """The published value of ``column`` in each row of ``table``, NaN where nothing was.

        InputError where one is not a number.
        """
        of = self.tables[table]
        source = of.columns[column].published or column
        if source == NOTHING:
            return dict.fromkeys(of.labels, math.nan)
        if isinstance(source, Elsewhere):
            there = self.published(source.table, source.column)
            for label in of.labels:
                if label not in there:
                    raise unknown_name(f"table {source.table} has no row {label!r}", label, there)
            return {label: there[label] for label in of.labels}
        if isinstance(source, Quotient):
            values = [of.published.quotient(row, source.over, source.under) for row in range(len(of.labels))]
        else:
            values = [of.published.number(row, source) for row in range(len(of.labels))]
        return dict(zip(of.labels, values, strict=True))

    def null(self, table: str, column: Column) -> dict[str, float]:
        """The null model's value of ``column`` in each row of ``table``; rows without one are absent."""
        if column.baseline:
            return self.published(table, column.baseline)
        return self.published(column.null_from.table, column.null_from.column) if column.null_from else {}

    @cached_property
    def score_rules(self) -> tuple[ScoreRule, ...]:
        """The rules of its scores, with what the paper leaves unknown and the published values of null models."""
        return tuple(self._rule(each) for each in self.rules)

    def _rule(self, rule: ScoreRule) -> ScoreRule:
        null, bound = rule.null, rule.bound
        nulls = self.published(null.table, null.column) if isinstance(null, Elsewhere) else {}
        unknown = self.paper.unknown.get(rule.name, "")
        return replace(rule, bound=None if bound is None else float(bound), nulls=nulls, unknown=unknown)

    def checked(self) -> Study:
        """The study. InputError for the first unknown name in it, or published value that is no number."""
        scores = [rule.name for rule in self.rules]
        check_known("metric", [rule.metric for rule in self.rules], METRICS)
        check_known("question", [rule.question for rule in self.rules], QUESTIONS)
        check_known("score", [*filter(None, (self.lead, *(each.score for each in self.paper.tried)))], scores)
        for each in (*self.parameters, *self.refused):
            check_known("program", each.programs, self.programs)
        for table in self.tables.values():
            check_known("program", filter(None, [table.program]), self.programs)
            for name, column in table.columns.items():
                check_known("score", filter(None, [column.score]), scores)
                check_known("column", filter(None, [column.baseline]), table.columns)
                if column.variant and table.program:
                    check_known("variant", [column.variant], self.programs[table.program].variants)
                table.kind.unit(column.quantity)
                self.published(table.id, name)
                self.null(table.id, column)
            if table.program:
                table.kind.check(table, self.programs[table.program])
        return self


def make_study(
    folder: Path, machine: str, tables: Iterable[StudyTable], programs: Iterable[Program], paper: Paper, **more: Any
) -> Study:
    """A study from its parts, with ``calibrated.yaml`` in its folder where there is one; ``more``: fields of `Study`.

    ``ablations`` may be plain mappings. Raises `InputError` for a name that no part has.
    """
    ablations = {name: Fields(each) for name, each in more.pop("ablations", {}).items()}
    by_name, by_id = {each.name: each for each in programs}, {each.id: each for each in tables}
    fitted = read_calibration(folder / "calibrated.yaml")
    made = Study(folder, paper, machine, by_name, by_id, ablations=ablations, calibration=fitted, **more)
    return replace(made, chosen=tuple(by_id)).checked()
