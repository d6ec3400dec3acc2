"""Cells and tables in few words, for tests that need no study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numasim.reproduce.calibration_file import Parameter
from numasim.reproduce.table_cells import Cell, Role, Table

SIMULATED_NOTHING: tuple[float, ...] = ()


def cell(
    row: str,
    published: float,
    *simulated: float,
    column: str = "time",
    variant: str = "",
    quantity: str = "makespan_s",
    unit: str = "s",
    role: Role = Role.PREDICTED,
    score: str = "times",
    baseline: str = "",
    null: float | None = None,
    table: str = "1.1",
) -> Cell:
    """Return a cell (a published value and the simulated values); by default it is a predicted time."""
    return Cell(
        table=table,
        row=row,
        column=column,
        variant=variant,
        quantity=quantity,
        unit=unit,
        role=role,
        score=score,
        published=published,
        simulated=simulated,
        baseline=baseline,
        null=null,
    )


def table(cells: Sequence[Cell], identity: str = "1.1") -> Table:
    return Table(
        id=identity,
        title="A table",
        source="a book, Table 1.1",
        key_columns=("benchmark",),
        cells=tuple(cells),
    )


def fitted_cells(parameters: Iterable[Parameter]) -> set[tuple[str, str, str]]:
    """Return table, column and row of every published value to which a parameter was fitted."""
    return {(each.table, column, row) for each in parameters for column in each.columns for row in each.fitted_rows}
