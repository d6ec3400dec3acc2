"""A kind of table that only the study LAWS has: runs relative to another strategy, or to one row of the same table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from numasim.reproduce.programs import Program, check_known
from numasim.reproduce.setting import Setting
from numasim.reproduce.study_tables import (
    Compared,
    PlannedCell,
    Samples,
    StudyTable,
    cells_of,
    wanted_for,
)
from numasim.reproduce.table_cells import Cell, Interval


@dataclass(frozen=True)
class Relative(Compared):
    """A cell compares a run under the column's variant with a reference run: of another variant or another row.

    ``against`` is the variant of the reference: one variant for all columns or one for each column, by default the
    column's own. ``row`` is the row of the reference, by default the same row. If the paper does not print a value,
    ``expected`` is the published value of a scored cell; or the paper prints that all values are ``within`` a range.
    """

    against: str | Mapping[str, str] = ""
    row: str = ""
    expected: float | None = None
    within: tuple[float, float] | None = None

    def check(self, table: StudyTable, program: Program) -> None:
        """Raise InputError for an unknown variant or row of the reference."""
        against = [self.against] if isinstance(self.against, str) else self.against.values()
        check_known("variant", filter(None, against), program.variants)
        check_known("row", filter(None, [self.row]), table.labels)

    def cells(self, setting: Setting, table: StudyTable) -> list[Cell]:
        """Return a cell with the published comparison for each column and each row but the reference."""
        cells = cells_of(setting, table)
        if self.row:
            reference = {cell.column: cell.published for cell in cells if cell.row == self.row}
            compare = {name: self.known[column.quantity].compare for name, column in table.columns.items()}
            cells = [
                replace(cell, published=compare[cell.column](cell.published, reference[cell.column]))
                for cell in cells
                if cell.row != self.row
            ]
        return [self._expected(cell) for cell in cells]

    def _expected(self, cell: Cell) -> Cell:
        unknown = self.expected if math.isnan(cell.published) and cell.score else None
        return cell if unknown is None else replace(cell, published=float(unknown))

    def planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        """Plan the run of a cell and the run of the reference."""
        against = self.against if isinstance(self.against, str) else self.against.get(cell.column, "")
        mine = wanted_for(setting, table, cell)
        other = wanted_for(setting, table, replace(cell, row=self.row or cell.row))
        return self.compared(setting, cell, mine, replace(other, variant=against or other.variant))

    def filled(self, cell: Cell, samples: Samples) -> Cell:
        """Return the cell with the comparison of each seed, and with the printed range ``within``, if any."""
        filled = super().filled(cell, samples)
        if self.within is None or not math.isnan(cell.published):
            return filled
        least, most = self.within
        return replace(filled, published=min(max(filled.mean, least), most), within=Interval(least, most))
