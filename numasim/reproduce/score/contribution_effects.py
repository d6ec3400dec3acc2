"""The gain of each contribution of a study: execution time before over after, minus 1, as geometric mean over programs.

With the geometric mean, a program that takes half the time and one that takes twice the time have no gain together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from numasim.reproduce.study.study_files import ContributionSpec
from numasim.reproduce.table_cells import Table

TIME = "makespan_s"


def speedup_gain(before: Iterable[float], after: Iterable[float]) -> float:
    """Return the geometric mean of ``before / after``, minus 1; NaN of nothing."""
    ratios = [math.log(old / new) for old, new in zip(before, after, strict=True)]
    return math.expm1(math.fsum(ratios) / len(ratios)) if ratios else math.nan


def effect(tables: Sequence[Table], contribution: ContributionSpec) -> float:
    """Return the gain over all rows for which ``tables`` have the time with and without the contribution."""
    times = {
        (cell.variant, cell.row): cell.mean
        for table in tables
        for cell in table.cells
        if cell.quantity == TIME and cell.simulated
    }
    rows = [row for variant, row in times if variant == contribution.variant and (contribution.over, row) in times]
    return speedup_gain(
        (times[contribution.over, row] for row in rows), (times[contribution.variant, row] for row in rows)
    )
