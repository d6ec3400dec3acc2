"""Reproduced tables on the terminal, a line for each cell."""

from __future__ import annotations

import math
from collections.abc import Iterable

from numasim.reproduce.cells import Cell, Table


def print_tables(tables: Iterable[Table]) -> None:
    """Print what was published beside what was simulated."""
    from rich.console import Console
    from rich.table import Table as Grid

    console = Console()
    for table in tables:
        grid = Grid(title=f"{table.id} {table.title}", title_justify="left")
        for name in (", ".join(table.key_columns), "column", "role", "published", "simulated", "error", "unit", "note"):
            grid.add_column(name)
        for cell in table.cells:
            grid.add_row(*_line(cell))
        console.print(grid)


def _line(cell: Cell) -> tuple[str, ...]:
    error = "" if math.isnan(cell.relative_error) else f"{cell.relative_error:+.1%}"
    simulated = "" if math.isnan(cell.mean) else f"{cell.mean:.6g}"
    return cell.row, cell.column, cell.role, f"{cell.published:.6g}", simulated, error, cell.unit, cell.note
