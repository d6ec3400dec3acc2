"""Published values that are one prediction of the study: the same quantity of the same runs, printed more than once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numasim.parts.base import canonical_json
from numasim.reproduce.ceilings.scored_class import CellKey, key_of
from numasim.reproduce.kinds import KINDS
from numasim.reproduce.plan.planned import cells_of
from numasim.reproduce.plan.setting import Setting, Wanted, concerns
from numasim.reproduce.study.ceiling_specs import ColumnName
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.study_files import ReadingSpec
from numasim.reproduce.table_cells import Cell

Prediction = str  # what is simulated for a cell, in a normal form


def printed_again(study: Study, same: Iterable[Sequence[ColumnName]]) -> list[list[Cell]]:
    """The cells that are printed more than once, those of one quantity together, in the order of the study.

    Cells are one quantity if the study simulates them by the same runs, or if ``same`` says so of their columns, row by
    row. Columns of quotients, and columns that show one column of one file again, are no second print.
    """
    cells = _printed(study)
    groups = {key: {key: cell} for key, cell in cells.items()}
    for alike in (*_alike(study, cells.values()), *_declared(same, cells)):
        merged = {key: cell for one in alike for key, cell in groups[one].items()}
        for key in merged:
            groups[key] = merged
    distinct = {id(group): group for group in groups.values()}
    ordered = ([cell for key, cell in cells.items() if key in group] for group in distinct.values())
    return [group for group in ordered if len(group) > 1]


def _printed(study: Study) -> dict[CellKey, Cell]:
    """The cells of columns that are printed, each column of each file once."""
    shown: set[tuple[str, str]] = set()
    found: dict[CellKey, Cell] = {}
    for table in study.tables.values():
        fresh = {name for name in table.file.columns if _is_new(table, name, shown)}
        for cell in cells_of(Setting(study), table, KINDS[table.file.kind].units or None):
            if cell.column in fresh:
                found[key_of(cell)] = cell
    return found


def _is_new(table: StudyTable, column: str, shown: set[tuple[str, str]]) -> bool:
    source = table.file.columns[column].published or column
    if not isinstance(source, str) or (table.file.published, source) in shown:
        return False
    shown.add((table.file.published, source))
    return True


def _alike(study: Study, cells: Iterable[Cell]) -> Iterable[list[CellKey]]:
    """The cells of each prediction that has more than one."""
    groups: dict[Prediction, list[CellKey]] = {}
    for cell in cells:
        groups.setdefault(_prediction(study, cell), []).append(key_of(cell))
    return [group for group in groups.values() if len(group) > 1]


def _prediction(study: Study, cell: Cell) -> Prediction:
    file = study.tables[cell.table].file
    readings = _of_one_table(study, cell) if file.program else []
    read = [changes for each in readings if (changes := each.choices[each.scored].changes)]
    runs = [file.kind, file.options, file.program, file.rows.field, file.columns[cell.column].changes, read]
    part = cell.column if KINDS[file.kind].units else ""  # quantities that are not of runs may differ by column
    return canonical_json([*runs, cell.variant, cell.quantity, part, cell.row])


def _of_one_table(study: Study, cell: Cell) -> list[ReadingSpec]:
    """The readings of a cell that do not hold in all tables; the others are those of its program, row and variant."""
    file = study.tables[cell.table].file
    program = study.programs[str(file.program)]
    wanted = Wanted(program, "" if file.rows.field else cell.row, cell.variant or None, table=cell.table)
    return [each for each in study.file.readings.values() if each.tables and concerns(each, wanted)]


def _declared(same: Iterable[Sequence[ColumnName]], cells: Mapping[CellKey, Cell]) -> Iterable[list[CellKey]]:
    for columns in same:
        rows = dict.fromkeys(row for table, column, row in cells if (table, column) == _name(columns[0]))
        for row in rows:
            yield [key for each in columns if (key := (*_name(each), row)) in cells]


def _name(column: ColumnName) -> tuple[str, str]:
    return column.table, column.column
