"""The score that a perfect model can expect where published values are noisy.

Nobody knows the expectations that published means scatter about; for all that is known each lies about the published
value as the published value lies about it. Expectations are therefore drawn, normally, and scored as if they had been
simulated, whatever is asked of them. Against n cells of relative errors the score of absolute values comes to
sqrt(2 / pi) d, where d is the relative deviation of a mean, that of one step to sqrt(2) times as much, as the value
before is as noisy, and that of interactions to twice as much, as four values take part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from numasim.report.answers.statistics import BOOTSTRAP_SEED
from numasim.reproduce.ceilings.ceiling import ScoreBound
from numasim.reproduce.ceilings.scored_class import CellKey, key_of
from numasim.reproduce.score.metrics import FloatArray
from numasim.reproduce.score.scores import measured, scored_pairs
from numasim.reproduce.study.selection import ScoreRule
from numasim.reproduce.table_cells import Cell, Table

DRAWS = 4000


def noisy_bound(tables: Sequence[Table], rule: ScoreRule, deviation: float) -> ScoreBound | None:
    """The mean score of a perfect model where every published mean has the relative standard ``deviation``.

    None if no cell is scored, or none determines the score.
    """
    pairs = scored_pairs(tables, rule)
    if not pairs:
        return None
    values = measured(pairs, rule, _expectations(deviation))
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    return ScoreBound(rule.name, rule.metric, float(known.mean()), len(pairs), len(pairs))


def _expectations(deviation: float) -> Callable[[Cell], FloatArray]:
    """Draws of what a cell may be the mean of, the same each time a cell is asked for: [draws]."""
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    drawn: dict[CellKey, FloatArray] = {}

    def of(cell: Cell) -> FloatArray:
        key = key_of(cell)
        if key not in drawn:
            drawn[key] = cell.published * (1 + deviation * generator.standard_normal(DRAWS))
        return drawn[key]

    return of
