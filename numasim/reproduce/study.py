"""A study: its programs and tables, the rules of its scores, and the questions that its paper leaves open.

experiments/NAME/study.py          defines the study as ``STUDY``
experiments/NAME/paper.yaml        title and source of the paper, readings and remarks (`read_paper`)
experiments/NAME/programs/*.yaml   the programs that the tables run, unless `study.py` defines the programs
experiments/NAME/published/*.csv   the values as printed
experiments/NAME/calibrated.yaml   fitted and refused parameters, if any
"""

from __future__ import annotations

import importlib
import itertools
import math
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from numasim.errors import InputError
from numasim.files.reader import is_file
from numasim.parts.yaml.document import load
from numasim.reproduce.calibration_file import RefusedParameter, read_calibration
from numasim.reproduce.metrics import METRICS, QUESTIONS, FloatArray
from numasim.reproduce.programs import Change, Fields, Names, Program, Question, check_known, question
from numasim.reproduce.setting import Side, StudyRuns
from numasim.reproduce.simple_rules import SimpleRule
from numasim.reproduce.study_tables import NOTHING, Column, Elsewhere, Quotient, StudyTable
from numasim.reproduce.table_cells import Ceiling, Table


def imported(module: str) -> ModuleType:
    """Import a module of a study without writing compiled code beside its file."""
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    finally:
        sys.dont_write_bytecode = writes


@dataclass(frozen=True)
class ScoreRule:
    """A class of quantities, and the rule by which the class is scored."""

    name: str
    metric: str  # one of `METRICS`
    bound: float | None = None
    of: str = ""  # the class whose cells count; by default the class with the rule's name
    tables: Names = ()  # the tables whose cells count; by default all tables
    question: str = "absolute"  # one of `QUESTIONS`
    simple: Mapping[str, SimpleRule] = field(default_factory=dict)  # the simple rules of the score, by name
    # a rule in place of the rules of the cells' columns: a column, or a function of the published values
    null: Elsewhere | Callable[[FloatArray], FloatArray] | None = None
    nulls: Mapping[str, float] = field(default_factory=dict)  # the published values of ``null`` by row
    unknown: str = ""  # the facts that the paper does not reveal


@dataclass(frozen=True)
class Tried:
    """An attempt to improve a score: the hypothesis, the change, and the score before and after the change.

    Scores are on the scale of the metric, and belong to the model at the time of the attempt. ``of`` names the examined
    cells of the score, "" for all cells. ``seen``: the scored figures were known before the attempt. ``kept``: the
    study has the change.
    """

    score: str
    hypothesis: str
    change: str
    before: float
    after: float
    seen: bool
    kept: bool
    of: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper and the remarks on it, as plain data.

    ``readings`` are questions that the paper leaves open. ``learned`` are the first sentences of the page. In these
    sentences ``{times}`` stands for the score ``times``, ``{times/null}`` for the score of the best simple rule,
    ``{times/rule}`` for the name of this rule, ``{times/skill}`` for the words skill or no skill, and
    ``{times/ceiling}`` for the ceiling. ``inconsistencies`` are contradictions within the paper, each with the affected
    tables. ``notes`` are remarks by table. ``unknown`` has, by score, the facts that the paper does not reveal.
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
    """Read a paper from a YAML file, whose keys are the fields of `Paper`."""
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


@dataclass(frozen=True, kw_only=True)
class Study(StudyRuns):
    """A whole study: its runs, paper, tables and the rules of its scores.

    ``lead`` is the score whose cells the page draws first. ``ceilings`` computes from the published values the best
    scores that any model can reach. ``fitted_sides`` returns both ends of the range of every fitted parameter.
    """

    paper: Paper
    tables: Mapping[str, StudyTable]
    rules: tuple[ScoreRule, ...] = ()
    lead: str = ""
    ceilings: Ceilings | None = None  # by default `printed_twice`
    fitted_sides: Callable[[Study], Iterable[Side]] = lambda study: ()
    package: str = ""  # the package of the modules in the folder

    @property
    def refused(self) -> tuple[RefusedParameter, ...]:
        """Return the parameters that the data do not identify. No run has them."""
        return self.calibration.refused

    def part(self, name: str) -> ModuleType:
        """Return a module in the folder of the study, beside ``study.py``."""
        return imported(f"{self.package}.{name}")

    def notes(self, table: str) -> Names:
        """Return the remarks on a table: inconsistencies of the paper, then notes."""
        touching = (text for text, tables in self.paper.inconsistencies if table in tables)
        return (*touching, *self.paper.notes.get(table, ()))

    def published(self, table: str, column: str) -> dict[str, float]:
        """Return the published value of ``column`` in each row of ``table``, NaN for a value that nobody printed.

        Raise InputError for a value that is no number.
        """
        of = self.tables[table]
        source = of.columns[column].published or column
        if source == NOTHING:
            return dict.fromkeys(of.labels, math.nan)
        if isinstance(source, Elsewhere):
            there = self.published(source.table, source.column)
            for label in of.labels:
                if label not in there:
                    raise InputError(f"table {source.table} has no row {label!r}", value=label, known=there)
            return {label: there[label] for label in of.labels}
        if isinstance(source, Quotient):
            values = [of.published.quotient(row, source.over, source.under) for row in range(len(of.labels))]
        else:
            values = [of.published.number(row, source) for row in range(len(of.labels))]
        return dict(zip(of.labels, values, strict=True))

    def null(self, table: str, column: Column) -> dict[str, float]:
        """Return the simple rule's prediction of ``column`` in each row of ``table``, if the column has a rule."""
        if column.baseline:
            return self.published(table, column.baseline)
        return self.published(column.null_from.table, column.null_from.column) if column.null_from else {}

    @cached_property
    def score_rules(self) -> tuple[ScoreRule, ...]:
        """Return the rules of all scores, with the unknowns of the paper and the published values of simple rules."""
        return tuple(self._rule(each) for each in self.rules)

    def _rule(self, rule: ScoreRule) -> ScoreRule:
        null, bound = rule.null, rule.bound
        nulls = self.published(null.table, null.column) if isinstance(null, Elsewhere) else {}
        simple = {
            name: self.published(each.table, each.column) if isinstance(each, Elsewhere) else each
            for name, each in rule.simple.items()
        }
        unknown = self.paper.unknown.get(rule.name, "")
        bound = None if bound is None else float(bound)
        return replace(rule, bound=bound, nulls=nulls, simple=simple, unknown=unknown)

    def checked(self) -> Study:
        """Return the study. Raise InputError for an unknown name, or a published value that is no number."""
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
    """Return a study of these parts and of ``calibrated.yaml`` in its folder, if any; ``more`` are fields of `Study`.

    ``ablations`` may be plain mappings, which concern all runs. Raise InputError for a name that no part has.
    """
    by_id = {each.id: each for each in tables}
    made = Study(
        folder=folder,
        machine=machine,
        paper=paper,
        readings=paper.readings,
        programs={each.name: each for each in programs},
        tables=by_id,
        chosen=tuple(by_id),
        ablations={
            name: each if isinstance(each, Change) else Change(Fields(each))
            for name, each in more.pop("ablations", {}).items()
        },
        calibration=read_calibration(folder / "calibrated.yaml"),
        **more,
    )
    return made.checked()


# ---- Studies by name: shipped studies, and folders with a study.py, whose code is executed ---------------------------

STUDY = "study.py"
_PACKAGE = Path(__file__).resolve().parents[1]
_numbers = itertools.count()


def study_names() -> tuple[str, ...]:
    """Return the names of the shipped studies."""
    return tuple(sorted(path.parent.name for path in _shipped().glob(f"*/{STUDY}")))


def study_titles() -> dict[str, str]:
    """Return the title of each shipped study by its name."""
    return {name: str(load(_shipped() / name / "paper.yaml").plain()["title"]) for name in study_names()}


def read_study(name: str, tables: Collection[str] = (), begin: Callable[[Path], None] = lambda file: None) -> Study:
    """Return the shipped study ``name``, or the study in the folder ``name``, limited to the given ``tables``.

    The code of the study is executed. For a study that is not shipped, ``begin`` is called with the study's file before
    the execution. Raise InputError for an unknown study or table, and for an error of the study's code, with the place
    of the error.
    """
    folder = _folder(name)
    if not is_file(folder / STUDY):
        raise InputError("is missing", place=str(folder / STUDY), expected="the module of a study")
    if folder.parent != _shipped():
        begin(folder / STUDY)
    module = _executed(folder)
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise InputError("makes no study", place=str(folder / STUDY), expected="STUDY = make_study(...)")
    check_known("table", tables, study.tables)
    chosen = tuple(table for table in study.tables if not tables or table in tables)
    return replace(study, chosen=chosen, package=str(module.__package__))


def describe(study: Study) -> str:
    """Return lines of text: title, source, and the id and title of each table. The option ``--table`` takes the id."""
    width = max(len(table) for table in study.tables)
    tables = (f"  {each.id:<{width}}  {each.title}" for each in study.tables.values())
    return "\n".join([study.paper.title, study.paper.source, "tables", *tables])


def _shipped() -> Path:
    inside = _PACKAGE / "experiments"
    return inside if inside.is_dir() else _PACKAGE.parent / "experiments"


def _folder(name: str) -> Path:
    if "/" in name or "\\" in name or is_file(Path(name) / STUDY):
        return Path(name)
    if name in study_names():
        return _shipped() / name
    expected = f"one of {', '.join(study_names())}, or a path such as ./mine to a folder with {STUDY}"
    raise InputError(f"there is no study {name!r}", expected=expected, value=name, known=study_names())


def _executed(folder: Path) -> ModuleType:
    """Execute the module ``study.py`` in a new package, in which the module can import other modules of the folder."""
    folder = folder.resolve()
    package = f"numasim_study_{next(_numbers)}"
    parent = ModuleType(package)
    parent.__path__ = [str(folder)]
    sys.modules[package] = parent
    try:
        return imported(f"{package}.study")
    except Exception as error:  # any error that the study's code raises
        own = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).parent == folder]
        file, line = (own[-1].filename, own[-1].lineno) if own else (str(folder / STUDY), None)
        if isinstance(error, SyntaxError):
            file, line = error.filename or file, error.lineno
        place = f"{file}:{line}" if line else file
        if isinstance(error, InputError):
            error.place = error.place or place
            raise
        raise InputError(f"{type(error).__name__}: {error}", place=place) from error
