"""Planned tables: which runs every cell needs, and how it is filled from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from numasim.reproduce.plan.setting import NotSimulatedError, Setting, Wanted, assigned, assignments
from numasim.reproduce.published_quantities import QUANTITIES, Outcome
from numasim.reproduce.study.contents import StudyTable
from numasim.reproduce.study.study_files import ColumnSpec
from numasim.reproduce.table_cells import Cell, Role, Table
from numasim.sweep.collection import Collected
from numasim.sweep.planned_runs import PlannedRun


@dataclass(frozen=True)
class PlannedTable:
    """A table that ``fill`` makes when all ``runs`` are finished."""

    runs: tuple[PlannedRun, ...]
    fill: Callable[[Collected], Table]


@dataclass(frozen=True)
class PlannedCell:
    """A cell without its simulated values; for each seed the runs whose quantities add up to its value."""

    cell: Cell
    samples: tuple[tuple[PlannedRun, ...], ...] = ()

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """All runs of the cell."""
        return tuple(run for sample in self.samples for run in sample)

    def filled(self, collected: Collected) -> Cell:
        """The cell with its values; where a run failed, with the message of the failure instead."""
        for run in self.runs:
            if run.run_id in collected.failures:
                return replace(self.cell, note=joined(self.cell.note, f"failed: {collected.failures[run.run_id]}"))
        values = (math.fsum(value(run, self.cell.quantity, collected) for run in sample) for sample in self.samples)
        return replace(self.cell, simulated=tuple(values))


def value(run: PlannedRun, quantity: str, collected: Collected) -> float:
    """The value of a quantity in a finished run."""
    return QUANTITIES[quantity].of(outcome(run, collected))


def outcome(run: PlannedRun, collected: Collected) -> Outcome:
    """A finished run."""
    return Outcome(run.spec, collected.counters[run.run_id], collected.pairs.get(run.run_id, ()))


def joined(*notes: str) -> str:
    """Several notes as one."""
    return "; ".join(note for note in notes if note)


def cells_of(setting: Setting, table: StudyTable, units: Mapping[str, str] | None = None) -> list[Cell]:
    """The cells of a table without simulated values, row by row; ``units`` are of quantities that runs do not have."""
    made: list[Cell] = []
    columns = table.file.columns
    published = {column: setting.study.published(table.id, column) for column in columns}
    nulls = {column: setting.study.null(table.id, spec) for column, spec in columns.items()}
    for label in table.labels:
        for name, spec in columns.items():
            made.append(
                Cell(
                    table=table.id,
                    row=label,
                    column=name,
                    variant=spec.variant or "",
                    quantity=spec.quantity,
                    unit=units[spec.quantity] if units else QUANTITIES[spec.quantity].unit,
                    role=_role(setting, table, spec, label),
                    score="" if label in spec.fitted else spec.score,
                    published=published[name][label],
                    simulated=(),
                    baseline=spec.baseline,
                    null=nulls[name].get(label),
                    note=spec.note,
                )
            )
    return made


def _role(setting: Setting, table: StudyTable, column: ColumnSpec, label: str) -> Role:
    """The role of a cell; in runs of another size than was published nothing was fitted."""
    role = Role.FITTED if label in column.fitted else column.role
    resized = table.file.program is not None and setting.resizes(table.file.program)
    return Role.PREDICTED if role is Role.FITTED and resized else role


def wanted_for(setting: Setting, table: StudyTable, row: str, column: str) -> Wanted:
    """The runs of one cell: its row is one of the program, or the value of a field."""
    assert table.file.program is not None
    program = setting.study.programs[table.file.program]
    key = table.file.rows.field
    changes = assignments(table.document.follow(("columns", column, "set")))
    if key is not None:
        changes = (*changes, assigned(key, row, table.document.mapping()["rows"]))
    variant = table.file.columns[column].variant
    return Wanted(program, "" if key else row, variant, changes, table.file.repeat, table.id)


def planned(setting: Setting, cell: Cell, *wanted: Wanted) -> PlannedCell:
    """Plan a cell that adds the quantities of ``wanted``; where there are no runs for it, with the reason."""
    try:
        runs = [setting.runs(each) for each in wanted]
    except NotSimulatedError as reason:
        return PlannedCell(replace(cell, note=joined(cell.note, str(reason))))
    return PlannedCell(cell, tuple(zip(*runs, strict=True)))


def table_of(table: StudyTable, cells: tuple[Cell, ...], extra: Mapping[str, tuple[float, ...]] | None = None) -> Table:
    """A filled table."""
    file = table.file
    return Table(table.id, file.title, file.source, file.kind, file.rows.key, cells, table.notes, extra or {})


def planned_table(table: StudyTable, cells: list[PlannedCell]) -> PlannedTable:
    """A table whose cells are filled independently."""
    runs = tuple(run for cell in cells for run in cell.runs)
    return PlannedTable(runs, lambda done: table_of(table, tuple(cell.filled(done) for cell in cells)))
