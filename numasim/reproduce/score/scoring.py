"""From a reproduction to findings: its scores, those of its ablations, and the fitted parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numasim
from numasim.reproduce.ceilings.study_ceilings import study_ceilings, with_ceilings
from numasim.reproduce.findings import Ablation, Findings
from numasim.reproduce.reproduce import Reproduction, comparable
from numasim.reproduce.score.scores import class_scores
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.selection import ScoreRule
from numasim.reproduce.table_cells import Table


def findings_of(found: Reproduction) -> Findings:
    """Score a reproduction. On another machine than the study's there are no scores, as nothing was published."""
    study, setting = found.study, found.setting
    rules = score_rules(study)
    published = comparable(setting)
    ceilings = study_ceilings(study, found.tables, rules) if published else ()
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
        scores=with_ceilings(class_scores(found.tables, rules), ceilings) if published else (),
        ablations=tuple(_ablations(study, found.ablations.items(), rules)) if published else (),
        parameters=study.parameters,
        refused=study.refused,
        only_rates=class_scores(found.only_rates, rules),
        command=_command(found),
        version=numasim.__version__,
        ceilings=ceilings,
    )


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
            tried=asked.tried,
        )
        for name, asked in study.file.scores.items()
    )


def _ablations(
    study: Study, tables: Iterable[tuple[str, Sequence[Table]]], rules: Sequence[ScoreRule]
) -> Iterable[Ablation]:
    for name, ablated in tables:
        changes = study.file.ablations.get(name, {})
        fields = ", ".join(f"{field}: {plain(value)}" for field, value in changes.items())
        yield Ablation(name, fields, class_scores(ablated, rules))


def plain(value: object) -> str:
    """Write a value of a specification as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {plain(inner)}" for key, inner in value.items()) + "}"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


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
