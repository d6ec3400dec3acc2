"""Tables of comparisons: a run under one variant against the same run under another, or against another row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from numasim.parts.base import Model
from numasim.reproduce.kinds.kind import Kind
from numasim.reproduce.plan.planned import PlannedTable, cells_of, joined, outcome, table_of, wanted_for
from numasim.reproduce.plan.setting import NotSimulatedError, Setting
from numasim.reproduce.published_quantities import Outcome, task_us
from numasim.reproduce.straggler import straggler
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.names import check_names
from numasim.reproduce.table_cells import Cell
from numasim.sweep.collection import Collected
from numasim.sweep.planned_runs import PlannedRun

Measure = Callable[[Outcome], float]
Compared = Callable[[float, float], float]


def _time(run: Outcome) -> float:
    return float(run.counters["makespan_ps"])


def _misses(run: Outcome) -> float:
    return straggler(run.spec.machine, run.pairs).misses


def _local(run: Outcome) -> float:
    return straggler(run.spec.machine, run.pairs).local


def _ratio(value: float, reference: float) -> float:
    return value / reference if reference else math.nan


def _reduction(value: float, reference: float) -> float:
    return 100 * (1 - _ratio(value, reference))


def _increase(value: float, reference: float) -> float:
    return -_reduction(value, reference)


def _less(value: float, reference: float) -> float:
    return float(value < reference)


QUANTITIES: dict[str, tuple[str, Measure, Compared]] = {  # unit, what is measured, how two are compared
    "time_ratio": ("1", _time, _ratio),
    "time_reduction": ("%", _time, _reduction),
    "task_time_reduction": ("%", task_us, _reduction),
    "faster": ("1", _time, _less),
    "straggler_miss_ratio": ("1", _misses, _ratio),
    "straggler_miss_reduction": ("%", _misses, _reduction),
    "fewer_straggler_misses": ("1", _misses, _less),
    "straggler_local_ratio": ("1", _local, _ratio),
    "straggler_local_increase": ("%", _local, _increase),
}
UNITS = {name: unit for name, (unit, _, _) in QUANTITIES.items()}


class ComparedOptions(Model):
    """What each run is held against, and what is known where no value is printed."""

    against: str | dict[str, str] = Field(
        "", description="The variant that is compared with: one, or one for each column. Default: the column's own."
    )
    row: str = Field("", description="The row that is compared with. Default: the same.")
    expected: float | None = Field(None, description="What is expected where the column has no printed value.")
    within: tuple[float, float] | None = Field(
        None, description="The range in which values are expected where the column has no printed value."
    )
    null: float | None = Field(None, description="What the null model says of every cell. Default: nothing.")


@dataclass(frozen=True)
class PlannedComparison:
    """A cell, and for each seed the run and the one that it is compared with; without runs ``cell`` says why."""

    cell: Cell
    pairs: tuple[tuple[PlannedRun, PlannedRun], ...] = ()

    @property
    def runs(self) -> list[PlannedRun]:
        """All runs of the cell."""
        return [run for pair in self.pairs for run in pair]


def _plan(setting: Setting, table: StudyTable) -> PlannedTable:
    asked = ComparedOptions.model_validate(table.file.options)
    planned = [_planned(setting, table, asked, cell) for cell in _cells(setting, table, asked)]
    runs = tuple(run for each in planned for run in each.runs)
    return PlannedTable(runs, lambda done: table_of(table, tuple(_filled(each, asked, done) for each in planned)))


def _cells(setting: Setting, table: StudyTable, asked: ComparedOptions) -> list[Cell]:
    """The cells with what was published of the comparison."""
    cells = cells_of(setting, table, UNITS)
    if asked.row:
        reference = {cell.column: cell.published for cell in cells if cell.row == asked.row}
        cells = [
            replace(cell, published=QUANTITIES[cell.quantity][2](cell.published, reference[cell.column]))
            for cell in cells
            if cell.row != asked.row
        ]
    return [_expected(cell, asked) for cell in cells]


def _expected(cell: Cell, asked: ComparedOptions) -> Cell:
    null = cell.null if asked.null is None else asked.null
    if math.isnan(cell.published) and asked.expected is not None:
        return replace(cell, published=asked.expected, null=null)
    return replace(cell, null=null)


def _planned(setting: Setting, table: StudyTable, asked: ComparedOptions, cell: Cell) -> PlannedComparison:
    against = asked.against if isinstance(asked.against, str) else asked.against.get(cell.column, "")
    mine = wanted_for(setting, table, cell.row, cell.column)
    other = wanted_for(setting, table, asked.row or cell.row, cell.column)
    try:
        runs = setting.runs(mine), setting.runs(replace(other, variant=against or other.variant))
    except NotSimulatedError as reason:
        return PlannedComparison(replace(cell, note=joined(cell.note, str(reason))))
    return PlannedComparison(cell, tuple(zip(*runs, strict=True)))


def _filled(planned: PlannedComparison, asked: ComparedOptions, done: Collected) -> Cell:
    cell = planned.cell
    failures = [done.failures[run.run_id] for run in planned.runs if run.run_id in done.failures]
    if failures or not planned.pairs:
        return replace(cell, note=joined(cell.note, *(f"failed: {each}" for each in failures[:1])))
    _, measure, compared = QUANTITIES[cell.quantity]
    values = ([measure(outcome(run, done)) for run in pair] for pair in planned.pairs)
    filled = replace(cell, simulated=tuple(compared(mine, other) for mine, other in values))
    if asked.within is None or not math.isnan(cell.published):
        return filled
    least, most = asked.within
    return replace(filled, published=min(max(filled.mean, least), most))


def _check(study: Study, table: StudyTable) -> None:
    asked = ComparedOptions.model_validate(table.file.options)
    variants = study.programs[str(table.file.program)].file.variants
    if isinstance(asked.against, str):
        names: Sequence[str] = [asked.against] if asked.against else ()
        check_names(table.document, ("with", "against"), "variant", names, variants)
    else:
        check_names(table.document, ("with", "against"), "column", asked.against, table.file.columns)
        check_names(table.document, ("with", "against"), "variant", asked.against.values(), variants)
    check_names(table.document, ("with", "row"), "row", [asked.row] if asked.row else (), table.labels)


KIND = Kind(_plan, _check, ComparedOptions, UNITS, by_row=True)
