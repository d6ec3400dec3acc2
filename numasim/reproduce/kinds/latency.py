"""Memory latencies between nodes, from the machine file: an input of the simulation, shown as such."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.parts.base import Model
from numasim.parts.unit_factors import PS_PER_NS
from numasim.reproduce.kinds.kind import Kind
from numasim.reproduce.plan.planned import PlannedTable, cells_of, table_of
from numasim.reproduce.plan.setting import Setting
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.names import check_names
from numasim.reproduce.table_cells import Cell
from numasim.spec.single_part import read_machine

UNITS = {"latency_ns": "ns"}


class LatencyOptions(Model):
    """The key columns that name the node that reads, and the node that the memory is on."""

    reader: str = Field(description="The key column that names the node that reads.")
    home: str = Field(description="The key column that names the node of the memory.")


def _plan(setting: Setting, table: StudyTable) -> PlannedTable:
    machine = build(read_machine(setting.machine or setting.study.file.machine))
    keys = table.file.options["reader"], table.file.options["home"]
    nodes = {
        label: (int(table.published.number(row, keys[0])), int(table.published.number(row, keys[1])))
        for row, label in enumerate(table.labels)
    }
    cells = tuple(_filled(cell, machine, *nodes[cell.row]) for cell in cells_of(setting, table, UNITS))
    return PlannedTable((), lambda _: table_of(table, cells))


def _filled(cell: Cell, machine: Machine, reader: int, home: int) -> Cell:
    if max(reader, home) >= machine.nodes:
        return replace(cell, note=f"the machine has {machine.nodes} nodes")
    return replace(cell, simulated=(float(machine.latency_ps[reader, home]) / PS_PER_NS,))


def _check(study: Study, table: StudyTable) -> None:
    asked = LatencyOptions.model_validate(table.file.options)
    check_names(table.document, ("with",), "key column", [asked.reader, asked.home], table.file.rows.key)


KIND = Kind(_plan, _check, LatencyOptions, UNITS, needs_program=False)
