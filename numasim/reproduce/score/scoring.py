"""From a reproduction to findings: its scores, those of its ablations, and the fitted parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numasim
from numasim.reproduce.ceilings.study_ceilings import study_ceilings, with_ceilings
from numasim.reproduce.findings import Ablation, Choice, Findings, Reading, Tried
from numasim.reproduce.reproduce import Reproduction, comparable
from numasim.reproduce.score.scores import class_scores, table_scores
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.plain_value import plain
from numasim.reproduce.study.selection import ScoreRule
from numasim.reproduce.study.study_files import BEST_CONSTANT, ElsewhereSpec, ScoreSpec
from numasim.reproduce.table_cells import Interval, Score, Table


def findings_of(found: Reproduction) -> Findings:
    """Score a reproduction. On another machine than the study's there are no scores, as nothing was published."""
    study, setting = found.study, found.setting
    rules = score_rules(study)
    published = comparable(setting)
    ceilings = study_ceilings(study, found.tables, rules) if published else ()
    others = {(each.name, each.label): class_scores(tables, rules) for each, tables in found.alternatives}
    readings = tuple(_readings(study, others))
    chosen = [choice.scores for reading in readings for choice in reading.choices]
    fitted = [scores for (name, _), scores in others.items() if name not in study.file.readings]
    scores = with_ceilings(class_scores(found.tables, rules), ceilings) if published else ()
    return Findings(
        title=study.file.title,
        source=study.file.source,
        machine=setting.machine or study.file.machine,
        published_machine=study.file.machine,
        quick=setting.quick,
        without=setting.without,
        runs=found.runs,
        tables=found.tables,
        rules=rules,
        scores=tuple(_with_ranges(score, chosen, fitted) for score in scores),
        columns=table_scores(found.tables, rules),
        readings=readings,
        ablations=tuple(_ablations(study, found.ablations.items(), rules)) if published else (),
        parameters=study.parameters,
        refused=study.refused,
        only_rates=class_scores(found.only_rates, rules),
        command=_command(found),
        version=numasim.__version__,
        ceilings=ceilings,
        tried=tuple(_tried(study)),
        lead=study.file.lead or "",
        learned=study.file.learned,
    )


def _tried(study: Study) -> Iterable[Tried]:
    for each in study.file.tried:
        metric = study.file.scores[each.score].metric
        before, after = float(each.before), float(each.after)
        yield Tried(each.score, metric, each.hypothesis, each.change, each.of, before, after, each.seen, each.kept)


def score_rules(study: Study) -> tuple[ScoreRule, ...]:
    """Return the study's rules for scoring its classes."""
    return tuple(
        ScoreRule(
            name=name,
            metric=asked.metric,
            bound=None if asked.bound is None else float(asked.bound),
            of=asked.of or "",
            tables=asked.tables,
            part=asked.part or "",
            question=asked.question,
            null=_null(study, asked),
            best_constant=asked.null == BEST_CONSTANT,
            unknown=asked.unknown,
        )
        for name, asked in study.file.scores.items()
    )


def _null(study: Study, asked: ScoreSpec) -> dict[str, float]:
    if not isinstance(asked.null, ElsewhereSpec):
        return {}
    return study.published(asked.null.table, asked.null.column)


def _readings(study: Study, scores: Mapping[tuple[str, str], tuple[Score, ...]]) -> Iterable[Reading]:
    """The readings; ``scores`` are those of the other choices, by reading and choice."""
    for name, reading in study.file.readings.items():
        choices = tuple(
            Choice(
                name=choice,
                says=each.says,
                fields=_fields(each.changes),
                scored=choice == reading.scored,
                scores=scores.get((name, choice), ()),
            )
            for choice, each in reading.choices.items()
        )
        yield Reading(name, reading.question, reading.role, choices)


def _with_ranges(score: Score, readings: Iterable[Sequence[Score]], parameters: Iterable[Sequence[Score]]) -> Score:
    """The score with the ranges of its values under other readings and at the ends of the fitted parameters' ranges."""
    return replace(score, readings=_range(score, readings), parameters=_range(score, parameters))


def _range(score: Score, others: Iterable[Sequence[Score]]) -> Interval | None:
    """From the least to the largest value of a score, NaN left out; None where it has no other."""
    values = [each.value for scores in others for each in scores if each.name == score.name]
    known = [value for value in values if not math.isnan(value)]
    if not known or math.isnan(score.value):
        return None
    return Interval(min(score.value, *known), max(score.value, *known))


def _fields(changes: Mapping[str, Any]) -> str:
    return ", ".join(f"{field}: {plain(value)}" for field, value in changes.items())


def _ablations(
    study: Study, tables: Iterable[tuple[str, Sequence[Table]]], rules: Sequence[ScoreRule]
) -> Iterable[Ablation]:
    for name, ablated in tables:
        yield Ablation(name, _fields(study.file.ablations.get(name, {})), class_scores(ablated, rules))


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
