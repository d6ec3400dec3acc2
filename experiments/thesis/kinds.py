"""Kinds of tables of the thesis alone: memory latencies, placed rows of matrices, and a regression."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from numasim.machine.build_machine import build
from numasim.machine.mapping import map_workers
from numasim.machine.topology import Machine
from numasim.parts.unit_factors import PS_PER_NS
from numasim.reproduce.programs import Fields, Wanted
from numasim.reproduce.quantities import QUANTITIES
from numasim.reproduce.setting import NotSimulatedError, Setting
from numasim.reproduce.study_tables import (
    Kind,
    PlannedTable,
    StudyTable,
    cells_of,
    noted,
    outcome,
    table_of,
    wanted_for,
)
from numasim.reproduce.table_cells import Cell, Table
from numasim.spec.single_part import read_machine
from numasim.strategy.placement.compile_placement import place
from numasim.strategy.placement.homes import row_homes
from numasim.sweep.run_sweep import Collected
from numasim.workload.registry import generate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Latency(Kind):
    """Memory latencies between nodes from the machine file; key columns name the reading node and the home node."""

    reader: str
    home: str

    def unit(self, quantity: str) -> str:
        """Return the unit of latencies."""
        return "ns"

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """Return the table with a cell for each pair of nodes, without runs."""
        machine = build(read_machine(setting.machine or setting.study.machine))
        nodes = {
            label: tuple(int(table.published.number(row, key)) for key in (self.reader, self.home))
            for row, label in enumerate(table.labels)
        }
        cells = [self._filled(each, machine, *nodes[each.row]) for each in cells_of(setting, table)]
        return PlannedTable((), lambda _: table_of(setting, table, cells))

    def _filled(self, cell: Cell, machine: Machine, reader: int, home: int) -> Cell:
        if max(reader, home) >= machine.nodes:
            return replace(cell, note=f"the machine has {machine.nodes} nodes")
        return replace(cell, simulated=(float(machine.latency_ps[reader, home]) / PS_PER_NS,))


@dataclass(frozen=True)
class RowPlacement(Kind):
    """The number of rows of a matrix on each node, by the page placement of a program before it runs (model 2.2).

    A row is on the node of its first byte. ``nodes`` has the node of each column. The matrix is square, in the first
    region.
    """

    element_bytes: int
    nodes: Mapping[str, int]

    def unit(self, quantity: str) -> str:
        """Return the unit of rows."""
        return "rows"

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """Return the table with a cell for each size and node, without runs."""
        cells = [self._filled(setting, table, each) for each in cells_of(setting, table)]
        return PlannedTable((), lambda _: table_of(setting, table, cells))

    def _filled(self, setting: Setting, table: StudyTable, cell: Cell) -> Cell:
        try:
            spec = setting.spec(wanted_for(setting, table, cell))
        except NotSimulatedError as reason:
            return noted(cell, str(reason))
        machine = build(spec.machine)
        if self.nodes[cell.column] >= machine.nodes:
            return noted(cell, f"the machine has {machine.nodes} nodes")
        workers = map_workers(machine, spec.workers, spec.strategy.mapping)
        placement = place(spec.strategy.placement, machine, workers, generate(spec.workload, folded=True))
        homes = row_homes(placement.page_homes(0), machine.page_bytes, int(cell.row) * self.element_bytes)
        return replace(cell, simulated=(float(np.count_nonzero(homes == self.nodes[cell.column])),))


def least_squares(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Return the statistics of the line through the points (x, y); neither all x nor all y are equal."""
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    xx = math.fsum((each - mean_x) ** 2 for each in x)
    yy = math.fsum((each - mean_y) ** 2 for each in y)
    xy = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    slope = xy / xx
    intercept = mean_y - slope * mean_x
    residuals = (b - intercept - slope * a for a, b in zip(x, y, strict=True))
    return {
        "slope": slope,
        "intercept": intercept,
        "r": xy / math.sqrt(xx * yy),
        "r_squared": xy**2 / (xx * yy),
        "residual_sum_of_squares": math.fsum(each**2 for each in residuals),
    }


@dataclass(frozen=True)
class Regression(Kind):
    """A regression line through single runs of one variant, one run for each seed: least squares of ``y`` over ``x``.

    The points are in the extra series of the table, under the names of the two quantities.
    """

    x: str
    y: str
    variant: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    def unit(self, quantity: str) -> str:
        """Return the unit of statistics, ""."""
        return ""

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """Plan the runs of all seeds."""
        cells = [replace(cell, quantity=cell.row) for cell in cells_of(setting, table)]
        program, changes = setting.study.programs[table.program], Fields(self.changes).assignments
        try:
            runs = setting.runs(Wanted(program, "", self.variant, changes, table.repeat, table.id))
        except NotSimulatedError as reason:
            empty = table_of(setting, table, [noted(cell, str(reason)) for cell in cells])
            return PlannedTable((), lambda _: empty)

        def fill(done: Collected) -> Table:
            ended = [outcome(run, done) for run in runs if run.run_id in done.counters]
            points = {name: tuple(QUANTITIES[name].of(run) for run in ended) for name in (self.x, self.y)}
            if min(len(set(values)) for values in points.values()) < 2:
                note = f"no line is determined by {len(ended)} runs with equal {self.x} or {self.y}"
                return table_of(setting, table, [noted(cell, note) for cell in cells], **points)
            line = least_squares(*points.values())
            return table_of(setting, table, [replace(cell, simulated=(line[cell.row],)) for cell in cells], **points)

        return PlannedTable(runs, fill)

    def figure(self, table: Table) -> Figure | None:
        """Return the figure of single runs as points, with the simulated line and the printed line."""
        from .regression_figure import regression_figure

        return regression_figure(table)
