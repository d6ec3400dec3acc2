"""All ceilings of a study, and the scores with those that bound them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from numasim.reproduce.ceilings.ceiling import Ceiling
from numasim.reproduce.ceilings.explained_gain import physics_ceiling
from numasim.reproduce.ceilings.few_decimals import digits_ceiling
from numasim.reproduce.ceilings.printed_twice import twice_ceiling
from numasim.reproduce.ceilings.run_noise import noise_ceiling
from numasim.reproduce.ceilings.scored_class import scored_classes
from numasim.reproduce.score.metrics import METRICS
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.selection import ScoreRule
from numasim.reproduce.table_cells import Score, Table


def study_ceilings(study: Study, tables: Sequence[Table], rules: Sequence[ScoreRule]) -> tuple[Ceiling, ...]:
    """The ceilings of a study; they bound scores over the cells of ``tables`` that were simulated."""
    classes = scored_classes(tables, rules)
    asked = study.file.ceilings
    twice = twice_ceiling(study, asked.twice, classes)
    return (
        *([] if twice is None else [twice]),
        *(noise_ceiling(study, name, each, tables, rules) for name, each in asked.noise.items()),
        *(digits_ceiling(study, name, each, classes) for name, each in asked.digits.items()),
        *(physics_ceiling(study, name, each) for name, each in asked.physics.items()),
    )


def with_ceilings(scores: Iterable[Score], ceilings: Sequence[Ceiling]) -> tuple[Score, ...]:
    """The scores, each with the best value that all ceilings leave to it.

    That is the largest of the least errors, or the smallest of what a metric that rises can reach; ceilings do not add
    up, as one prediction may pay for several.
    """
    return tuple(replace(score, ceiling=_ceiling(score, ceilings)) for score in scores)


def _ceiling(score: Score, ceilings: Iterable[Ceiling]) -> float | None:
    values = [bound.value for each in ceilings for bound in each.bounds if bound.score == score.name]
    worst = min if METRICS[score.metric].rising else max
    return worst(values, default=None)
