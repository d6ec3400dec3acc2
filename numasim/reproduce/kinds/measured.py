"""Tables of measurements: every cell is a quantity of runs.

`runs`: a row is a row of the program, or a value of a field. `totals`: a row is a variant of the program, and a cell
the sum over all of the program's rows.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from numasim.parts.base import Model
from numasim.reproduce.kinds.kind import Kind
from numasim.reproduce.plan.planned import PlannedCell, PlannedTable, cells_of, planned, planned_table, wanted_for
from numasim.reproduce.plan.setting import Setting, Wanted, assignments
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.names import check_names
from numasim.reproduce.table_cells import Cell


def _plan(setting: Setting, table: StudyTable) -> PlannedTable:
    cells = cells_of(setting, table)
    return planned_table(
        table, [planned(setting, cell, wanted_for(setting, table, cell.row, cell.column)) for cell in cells]
    )


class TotalsOptions(Model):
    """``variants``: the variant of each label."""

    variants: dict[str, str] = Field(description="The variant of the program that each label of the rows stands for.")


def _plan_totals(setting: Setting, table: StudyTable) -> PlannedTable:
    return planned_table(table, [_total(setting, table, cell) for cell in cells_of(setting, table)])


def _total(setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
    variant = table.file.options["variants"][cell.row]
    changes = assignments(table.document.follow(("columns", cell.column, "set")))
    program = setting.study.programs[str(table.file.program)]
    wanted = [Wanted(program, row, variant, changes, table.file.repeat, table.id) for row in program.file.rows]
    return planned(setting, replace(cell, variant=variant), *wanted)


def _check_totals(study: Study, table: StudyTable) -> None:
    asked = TotalsOptions.model_validate(table.file.options).variants
    path = ("with", "variants")
    check_names(table.document, path, "label", table.labels, asked)
    variants = study.programs[str(table.file.program)].file.variants
    check_names(table.document, path, "variant", asked.values(), variants)


RUNS = Kind(_plan, by_row=True)
TOTALS = Kind(_plan_totals, _check_totals, TotalsOptions)
