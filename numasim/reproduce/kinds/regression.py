"""A straight line through single runs of one cell, one for each seed: least squares of one quantity over another.

The points are in the extra series of the table, which have the names of the two quantities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from numasim.parts.base import Model
from numasim.reproduce.kinds.kind import Kind
from numasim.reproduce.plan.planned import PlannedTable, cells_of, joined, table_of, value
from numasim.reproduce.plan.setting import NotSimulatedError, Setting, Wanted, assignments
from numasim.reproduce.published_quantities import QUANTITIES
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.names import check_names
from numasim.reproduce.study.study_files import Fields
from numasim.reproduce.table_cells import Cell, Table
from numasim.sweep.collection import Collected
from numasim.sweep.planned_runs import PlannedRun

STATISTICS = ("slope", "intercept", "r", "r_squared", "residual_sum_of_squares")
UNITS = {"statistic": ""}


class RegressionOptions(Model):
    """Which quantity over which other, and of which runs."""

    x: str = Field(description="The quantity along x.")
    y: str = Field(description="The quantity along y.")
    row: str = Field("", description="The row of the program. Default: none.")
    variant: str | None = Field(None, description="The variant of the program. Default: none.")
    changes: Fields = Field(default_factory=dict, alias="set", description="Fields of runs that are set.")


def least_squares(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """The `STATISTICS` for the points (x, y), in which neither all x nor all y are equal."""
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


def _plan(setting: Setting, table: StudyTable) -> PlannedTable:
    asked = RegressionOptions.model_validate(table.file.options)
    cells = [replace(cell, quantity=cell.row) for cell in cells_of(setting, table, UNITS)]
    program = setting.study.programs[str(table.file.program)]
    changes = assignments(table.document.follow(("with", "set")))
    try:
        runs = setting.runs(Wanted(program, asked.row, asked.variant, changes, table.file.repeat, table.id))
    except NotSimulatedError as reason:
        empty = table_of(table, tuple(replace(cell, note=joined(cell.note, str(reason))) for cell in cells))
        return PlannedTable((), lambda _: empty)
    return PlannedTable(runs, lambda done: _fill(table, cells, asked, runs, done))


def _fill(
    table: StudyTable, cells: list[Cell], asked: RegressionOptions, runs: Sequence[PlannedRun], done: Collected
) -> Table:
    ended = [run for run in runs if run.run_id in done.counters]
    x, y = ([value(run, quantity, done) for run in ended] for quantity in (asked.x, asked.y))
    extra = {asked.x: tuple(x), asked.y: tuple(y)}
    if len(set(x)) < 2 or len(set(y)) < 2:
        note = f"no line is determined by {len(ended)} runs with equal {asked.x} or {asked.y}"
        return table_of(table, tuple(replace(cell, note=joined(cell.note, note)) for cell in cells), extra)
    line = least_squares(x, y)
    return table_of(table, tuple(replace(cell, simulated=(line[cell.row],)) for cell in cells), extra)


def _check(study: Study, table: StudyTable) -> None:
    asked = RegressionOptions.model_validate(table.file.options)
    program = study.programs[str(table.file.program)].file
    check_names(table.document, ("rows",), "statistic", table.labels, STATISTICS)
    for axis in ("x", "y"):
        check_names(table.document, ("with", axis), "quantity", [getattr(asked, axis)], QUANTITIES)
    check_names(table.document, ("with", "row"), "row", [asked.row] if asked.row else (), program.rows)
    check_names(
        table.document, ("with", "variant"), "variant", [asked.variant] if asked.variant else (), program.variants
    )


KIND = Kind(_plan, _check, RegressionOptions, UNITS)
