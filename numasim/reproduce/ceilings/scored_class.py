"""The cells that a score is computed over, for bounds on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from numasim.reproduce.ceilings.ceiling import ScoreBound
from numasim.reproduce.score.questions import ABSOLUTE
from numasim.reproduce.score.single_prediction import MEANS
from numasim.reproduce.study.selection import ScoreRule, pairs_of, select
from numasim.reproduce.table_cells import Cell, Table

CellKey = tuple[str, str, str]  # table, column, row


@dataclass(frozen=True)
class ScoredClass:
    """A score whose metric is a mean over cells, and the cells that it counts."""

    name: str
    metric: str
    cells: tuple[Cell, ...]

    def bound(self, least: Callable[[Cell], float | None]) -> ScoreBound | None:
        """The mean over all cells of ``least``, which is the least error of a cell, or None where any is possible.

        None if no cell has a least error.
        """
        errors = [error for error in map(least, self.cells) if error is not None]
        if not errors:
            return None
        return ScoreBound(self.name, self.metric, sum(errors) / len(self.cells), len(errors), len(self.cells))


def scored_classes(tables: Sequence[Table], rules: Iterable[ScoreRule]) -> tuple[ScoredClass, ...]:
    """The classes of ``rules`` whose values are scored by a mean over cells, without those that have no cell."""
    pairs = pairs_of(tables)
    found = []
    for rule in rules:
        if rule.metric in MEANS and rule.question == ABSOLUTE:
            cells = (pair.cell for pair in select(pairs, rule))
            counted = tuple(cell for cell in cells if rule.metric != "mape" or cell.published)
            if counted:
                found.append(ScoredClass(rule.name, rule.metric, counted))
    return tuple(found)


def key_of(cell: Cell) -> CellKey:
    """The table, the column and the row of a cell."""
    return cell.table, cell.column, cell.row
