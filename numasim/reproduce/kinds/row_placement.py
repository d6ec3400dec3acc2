"""The node on which each row of a matrix begins, by the page placement of a program before it runs (model 2.2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pydantic import Field

from numasim.machine.build_machine import build
from numasim.machine.mapping import map_workers
from numasim.parts.base import Count, Model, PositiveCount
from numasim.reproduce.kinds.kind import Kind
from numasim.reproduce.plan.planned import PlannedTable, cells_of, joined, table_of, wanted_for
from numasim.reproduce.plan.setting import NotSimulatedError, Setting
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.names import check_names
from numasim.reproduce.table_cells import Cell
from numasim.strategy.placement.compile_placement import place
from numasim.strategy.placement.homes import row_homes
from numasim.workload.generate import generate

UNITS = {"rows_on_node": "rows"}


class RowPlacementOptions(Model):
    """``nodes``: the node of each column. A row has as many elements as the matrix has rows, in ``region``."""

    region: Count = Field(0, description="Number of the region that holds the matrix.")
    element_bytes: PositiveCount = Field(description="Size of an element.")
    nodes: dict[str, Count] = Field(description="The node of each column, by its name.")


def _plan(setting: Setting, table: StudyTable) -> PlannedTable:
    cells = tuple(_filled(setting, table, cell) for cell in cells_of(setting, table, UNITS))
    return PlannedTable((), lambda _: table_of(table, cells))


def _filled(setting: Setting, table: StudyTable, cell: Cell) -> Cell:
    asked = RowPlacementOptions.model_validate(table.file.options)
    try:
        spec = setting.spec(wanted_for(setting, table, cell.row, cell.column))
    except NotSimulatedError as reason:
        return replace(cell, note=joined(cell.note, str(reason)))
    machine = build(spec.machine)
    if asked.nodes[cell.column] >= machine.nodes:
        return replace(cell, note=joined(cell.note, f"the machine has {machine.nodes} nodes"))
    workers = map_workers(machine, spec.workers, spec.strategy.mapping)
    placement = place(spec.strategy.placement, machine, workers, generate(spec.workload, folded=True))
    homes = row_homes(placement.page_homes(asked.region), machine.page_bytes, int(cell.row) * asked.element_bytes)
    return replace(cell, simulated=(float(np.count_nonzero(homes == asked.nodes[cell.column])),))


def _check(study: Study, table: StudyTable) -> None:
    asked = RowPlacementOptions.model_validate(table.file.options)
    check_names(table.document, ("with", "nodes"), "column", table.file.columns, asked.nodes)


KIND = Kind(_plan, _check, RowPlacementOptions, UNITS)
