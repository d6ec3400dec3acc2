"""The rows and columns of a table on a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from numasim.reproduce.table_cells import Cell, Role, Table


@dataclass(frozen=True)
class Group:
    """A published column: its cells by row."""

    column: str
    cells: Mapping[str, Cell]

    @property
    def first(self) -> Cell:
        """Any cell, for the attributes that all cells share."""
        return next(iter(self.cells.values()))

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that occur, in the order of `Role`."""
        present = {cell.role for cell in self.cells.values()}
        return tuple(role for role in Role if role in present)


def row_keys(table: Table) -> tuple[str, ...]:
    """Return the keys of the rows, in the order of the published table."""
    return tuple(dict.fromkeys(cell.row for cell in table.cells))


def column_groups(table: Table) -> tuple[Group, ...]:
    """Return the columns, in the order of the published table."""
    columns = dict.fromkeys(cell.column for cell in table.cells)
    return tuple(Group(name, {cell.row: cell for cell in table.cells if cell.column == name}) for name in columns)


def unsimulated(table: Table) -> tuple[str, ...]:
    """Return why cells were not simulated, each reason once with its rows."""
    reasons: dict[str, dict[str, None]] = {}
    for cell in table.cells:
        if not cell.simulated:
            reasons.setdefault(cell.note or "not simulated", {})[cell.row] = None
    return tuple(f"{', '.join(rows)}: {reason}" for reason, rows in reasons.items())
