"""The findings of a reproduction: the tables and scores that pages, terminal and CSV files show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numasim
from numasim.reproduce.calibration_file import Calibration
from numasim.reproduce.metrics import METRICS
from numasim.reproduce.printed_twice import printed_twice
from numasim.reproduce.reproduce import Reproduction, comparable
from numasim.reproduce.scores import TableScore, class_scores, table_scores
from numasim.reproduce.study import Paper, ScoreRule, Study
from numasim.reproduce.table_cells import Ceiling, Interval, Score, Table


@dataclass(frozen=True)
class Ablation:
    """The scores with one mechanism of the model switched off. The first ablation of a list has all mechanisms."""

    mechanism: str
    fields: str  # the fields, in the form of a specification, that switch the mechanism off
    scores: tuple[Score, ...]


@dataclass(frozen=True)
class Findings:
    """A study, the options of its reproduction, and its results."""

    paper: Paper
    machine: str
    published_machine: str  # the machine of the study; on another machine no published value is comparable
    quick: bool
    without: tuple[str, ...]  # mechanisms that are switched off in all runs
    runs: int
    tables: tuple[Table, ...]
    rules: tuple[ScoreRule, ...]
    scores: tuple[Score, ...]
    columns: tuple[TableScore, ...]  # the score of every column of every table
    ablations: tuple[Ablation, ...]
    command: str  # the command that makes this report again
    version: str  # the version of numasim
    others: Mapping[tuple[str, str], tuple[Score, ...]] = field(default_factory=dict)  # (reading, choice) -> scores
    calibration: Calibration = field(default_factory=Calibration)
    only_rates: tuple[Score, ...] = ()  # the scores if only the rates of serial runs are fitted
    ceilings: tuple[Ceiling, ...] = ()
    lead: str = ""  # the score whose cells the page draws first

    @property
    def elsewhere(self) -> bool:
        """Return whether the runs were simulated on a machine other than the machine of the study."""
        return self.machine != self.published_machine

    @property
    def metrics(self) -> dict[str, str]:
        """Return the metric of each score."""
        return {rule.name: rule.metric for rule in self.rules}


def findings_of(found: Reproduction) -> Findings:
    """Return the scored findings; there are no scores for a machine other than the study's."""
    study, setting, rules = found.study, found.setting, found.study.score_rules
    published = comparable(setting)
    ceilings = (study.ceilings or printed_twice)(study, found.tables, rules) if published else ()
    others = {(each.name, each.label): class_scores(tables, rules) for each, tables in found.alternatives}
    readings = [scores for (name, _), scores in others.items() if name in study.readings]
    fitted = [scores for (name, _), scores in others.items() if name not in study.readings]
    scores = class_scores(found.tables, rules) if published else ()
    return Findings(
        paper=study.paper,
        machine=setting.machine or study.machine,
        published_machine=study.machine,
        quick=setting.quick,
        without=setting.without,
        runs=found.runs,
        tables=found.tables,
        rules=rules,
        scores=tuple(
            replace(
                score,
                readings=_range(score, readings),
                parameters=_range(score, fitted),
                ceiling=_worst(score, ceilings),
            )
            for score in scores
        ),
        columns=table_scores(found.tables, rules),
        ablations=tuple(
            Ablation(name, _switched(study, name), class_scores(ablated, rules))
            for name, ablated in (found.ablations.items() if published else ())
        ),
        command=_command(found),
        version=numasim.__version__,
        others=others,
        calibration=study.calibration,
        only_rates=class_scores(found.only_rates, rules),
        ceilings=ceilings,
        lead=study.lead,
    )


def _worst(score: Score, ceilings: Iterable[Ceiling]) -> float | None:
    """Return the value of a score that no model can surpass, by all ceilings together; None without a ceiling.

    This value is the largest of the ceilings' least errors; for a metric for which more is better, the smallest of the
    largest values. Ceilings do not add up, since one error may have several causes.
    """
    values = [bound.value for each in ceilings for bound in each.bounds if bound.score == score.name]
    worst = min if METRICS[score.metric].rising else max
    return worst(values, default=None)


def _range(score: Score, others: Iterable[Sequence[Score]]) -> Interval | None:
    """Return the least and the largest value of ``score`` and ``others``, without NaN; None if there are no others."""
    values = [each.value for scores in others for each in scores if each.name == score.name]
    known = [value for value in values if not math.isnan(value)]
    if not known or math.isnan(score.value):
        return None
    return Interval(min(score.value, *known), max(score.value, *known))


def _switched(study: Study, mechanism: str) -> str:
    """Return the fields that switch a mechanism off, and the programs that they concern unless these are all."""
    if mechanism not in study.ablations:
        return ""
    off = study.ablations[mechanism]
    return fields_text(off.fields) + (f" ({', '.join(off.scope.programs)})" if off.scope.programs else "")


def fields_text(changes: Mapping[str, Any]) -> str:
    """Return fields of runs as one line of YAML."""
    return ", ".join(f"{name}: {plain(value)}" for name, value in changes.items())


def plain(value: object) -> str:
    """Return a value of a specification as one line of YAML."""
    if isinstance(value, Mapping):
        return "{" + fields_text(value) + "}"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else "none" if value is None else str(value)


def _command(found: Reproduction) -> str:
    """Return the command that makes the same report again."""
    study, setting = found.study, found.setting
    tables = [] if len(study.chosen) == len(study.tables) else [f"--table {table}" for table in study.chosen]
    options = [
        *tables,
        *(["--quick"] if setting.quick else []),
        *([f"--machine {setting.machine}"] if setting.machine else []),
        *(f"--without {name}" for name in setting.without),
    ]
    return " ".join(["numasim reproduce", study.name, *options])
