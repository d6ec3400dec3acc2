"""Tables of peaks: the fastest of runs that differ in one field, such as the number of workers.

`fastest_at` is the value of the field with which a run takes the least time, of several the least; `near_from` and
`near_to` are the least and the greatest value with which a run takes at most a twentieth more than the fastest.
`peak_gain` is by how much the fastest run of a column is faster than the fastest one of the variant ``against``, in %.
`mean_ratio` is the mean, over all values, of a run's time over that of the run of ``against`` with the same value, and
`rise` the time with the last value over that with the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Annotated

from pydantic import Field

from numasim.parts.base import Model
from numasim.reproduce.kinds.kind import Kind
from numasim.reproduce.plan.planned import PlannedTable, cells_of, joined, outcome, table_of, wanted_for
from numasim.reproduce.plan.setting import NotSimulatedError, Setting, Wanted, assigned
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.names import check_names
from numasim.reproduce.study.study_files import Text
from numasim.reproduce.table_cells import Cell
from numasim.sweep.collection import Collected
from numasim.sweep.planned_runs import PlannedRun

NEAR = 1.05  # of the least time
Times = Sequence[float]  # by value of the field
Curve = Sequence[tuple[PlannedRun, ...]]  # of each value of the field, a run for each seed


class PeaksOptions(Model):
    """The field in which the runs of a cell differ, and what they are held against."""

    field: Text = Field(description="The field of the runs.")
    values: Annotated[tuple[int, ...], Field(min_length=1)] = Field(description="Its values, in ascending order.")
    against: str = Field("", description="The variant whose fastest run is compared with. Default: the column's own.")


def _fastest_at(values: Sequence[int], times: Times, others: Times) -> float:
    return float(values[times.index(min(times))])


def _near(values: Sequence[int], times: Times) -> list[int]:
    return [value for value, time in zip(values, times, strict=True) if time <= NEAR * min(times)]


def _near_from(values: Sequence[int], times: Times, others: Times) -> float:
    return float(_near(values, times)[0])


def _near_to(values: Sequence[int], times: Times, others: Times) -> float:
    return float(_near(values, times)[-1])


def _mean_ratio(values: Sequence[int], times: Times, others: Times) -> float:
    return fmean(mine / other for mine, other in zip(times, others, strict=True))


def _rise(values: Sequence[int], times: Times, others: Times) -> float:
    return times[-1] / times[0]


def _peak_gain(values: Sequence[int], times: Times, others: Times) -> float:
    return 100 * (min(others) / min(times) - 1)


QUANTITIES: dict[str, tuple[str, Callable[[Sequence[int], Times, Times], float]]] = {  # unit, how it is computed
    "fastest_at": ("count", _fastest_at),
    "near_from": ("count", _near_from),
    "near_to": ("count", _near_to),
    "peak_gain": ("%", _peak_gain),
    "mean_ratio": ("1", _mean_ratio),
    "rise": ("1", _rise),
}
UNITS = {name: unit for name, (unit, _) in QUANTITIES.items()}


@dataclass(frozen=True)
class PlannedPeak:
    """A cell, its runs and those that they are held against; without runs ``cell`` says why."""

    cell: Cell
    mine: Curve = ()
    others: Curve = ()

    @property
    def runs(self) -> list[PlannedRun]:
        """All runs of the cell."""
        return [run for curve in (self.mine, self.others) for each in curve for run in each]

    def filled(self, values: Sequence[int], done: Collected) -> Cell:
        """The cell with a value for each seed."""
        failures = [done.failures[run.run_id] for run in self.runs if run.run_id in done.failures]
        if failures or not self.mine:
            return replace(self.cell, note=joined(self.cell.note, *(f"failed: {each}" for each in failures[:1])))
        _, measure = QUANTITIES[self.cell.quantity]
        curves = zip(_times(self.mine, done), _times(self.others, done), strict=True)
        return replace(self.cell, simulated=tuple(measure(values, mine, others) for mine, others in curves))


def _times(curve: Curve, done: Collected) -> list[list[float]]:
    """[seeds][values] how long the runs took."""
    return [[float(outcome(run, done).counters["makespan_ps"]) for run in each] for each in zip(*curve, strict=True)]


def _plan(setting: Setting, table: StudyTable) -> PlannedTable:
    asked = PeaksOptions.model_validate(table.file.options)
    planned = [_planned(setting, table, asked, cell) for cell in cells_of(setting, table, UNITS)]
    runs = tuple(run for each in planned for run in each.runs)
    return PlannedTable(runs, lambda done: table_of(table, tuple(each.filled(asked.values, done) for each in planned)))


def _planned(setting: Setting, table: StudyTable, asked: PeaksOptions, cell: Cell) -> PlannedPeak:
    mine = wanted_for(setting, table, cell.row, cell.column)
    other = replace(mine, variant=asked.against or mine.variant)
    try:
        return PlannedPeak(cell, *(_curve(setting, table, asked, each) for each in (mine, other)))
    except NotSimulatedError as reason:
        return PlannedPeak(replace(cell, note=joined(cell.note, str(reason))))


def _curve(setting: Setting, table: StudyTable, asked: PeaksOptions, wanted: Wanted) -> Curve:
    place = table.document.mapping()["with"]
    changes = [(*wanted.changes, assigned(asked.field, str(value), place)) for value in asked.values]
    return [setting.runs(replace(wanted, changes=each)) for each in changes]


def _check(study: Study, table: StudyTable) -> None:
    asked = PeaksOptions.model_validate(table.file.options)
    variants = study.programs[str(table.file.program)].file.variants
    check_names(table.document, ("with", "against"), "variant", [asked.against] if asked.against else (), variants)


KIND = Kind(_plan, _check, PeaksOptions, UNITS, by_row=True)
