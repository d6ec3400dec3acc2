"""Tables of a study: the published values, the runs that every cell needs, and the simulated value of every cell.

A kind of table defines how runs determine the value of a cell. `Runs`, `Totals`, `Compared`, `Peaks` and `Claims` suit
any study; a study may add its own kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from numasim.reproduce.programs import Names, Program, Wanted, check_known, listed, looked_up
from numasim.reproduce.quantities import QUANTITIES, Outcome, PublishedTable, read_published, task_us
from numasim.reproduce.setting import NotSimulatedError, Setting, assigned
from numasim.reproduce.table_cells import TRUTH, Cell, Role, Table
from numasim.sweep.planned_runs import PlannedRun
from numasim.sweep.run_sweep import Collected

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = "nothing"  # the published column of values that nobody printed
Samples = Sequence[Sequence[Outcome]]  # [seeds][runs of a cell] the finished runs


@dataclass(frozen=True)
class Elsewhere:
    """A published value in another column, of this or another table, in the row of the same name."""

    table: str
    column: str


@dataclass(frozen=True)
class Quotient:
    """A published value that is the quotient of two columns: ``over`` / ``under``."""

    over: str
    under: str


@dataclass(frozen=True)
class Column:
    """A column of values: a quantity of the runs of a variant, and its role for the simulation.

    ``published`` is the place of the published values: by default the column of the same name; `NOTHING` for
    predictions without a published value. ``score`` names the class in which a predicted column is scored. ``baseline``
    names the column with the state before a change; a simple rule predicts the published value of this column. Without
    a baseline, the rule predicts the value ``null_from``. Parameters were fitted to the rows ``fitted`` of an
    otherwise predicted column.
    """

    quantity: str
    variant: str = ""
    role: Role = Role.PREDICTED
    published: str | Quotient | Elsewhere = ""
    score: str = ""
    baseline: str = ""
    null_from: Elsewhere | None = None
    fitted: Names = ()


class Kind:
    """A kind of table: the rule by which runs determine the table's cells."""

    def unit(self, quantity: str) -> str:
        """Return the unit of a quantity of a column. Raise InputError for an unknown quantity."""
        return looked_up("quantity", quantity, QUANTITIES).unit

    def check(self, table: StudyTable, program: Program) -> None:
        """Raise InputError for the first row, variant or quantity that the program does not have."""

    def cells(self, setting: Setting, table: StudyTable) -> list[Cell]:
        """Return the cells without simulated values, by default one for each row and column."""
        return cells_of(setting, table)

    def planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        """Plan the runs of one cell."""
        raise NotImplementedError

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """Plan the runs of every cell."""
        cells = [self.planned(setting, table, each) for each in self.cells(setting, table)]
        runs = tuple(run for cell in cells for run in cell.runs)
        return PlannedTable(runs, lambda done: table_of(setting, table, [cell.filled(done) for cell in cells]))

    def figure(self, table: Table) -> Figure | None:
        """Return the figure of a filled table, or None for bars or lines of its columns."""
        return None


@dataclass(frozen=True)
class Runs(Kind):
    """A cell is a quantity of one run. The row of the cell is a row of the program, or the value of a field."""

    def check(self, table: StudyTable, program: Program) -> None:
        """Raise InputError for a row that the program does not have, unless rows are values of a field."""
        if not table.key:
            check_known("row of the program", table.labels, program.rows)

    def planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        """Plan the run of a cell."""
        return planned_sum(setting, cell, wanted_for(setting, table, cell))


@dataclass(frozen=True)
class StudyTable:
    """A table or figure of a study.

    ``file`` is a CSV file with the published values; its columns ``rows`` name a row. With ``key``, the name of a row
    is the value of the run's field ``key``; otherwise the name is a row of the program. ``repeat`` is the number of
    seeds, by default the study's number.
    """

    id: str
    title: str
    source: str
    file: Path
    rows: str | Names
    columns: Mapping[str, Column]
    program: str = ""
    key: str = ""
    kind: Kind = field(default_factory=Runs)
    repeat: int | None = None
    published: PublishedTable = field(init=False)
    labels: Names = field(init=False)

    def __post_init__(self) -> None:
        """Read the published values. Raise InputError for a file without these rows and columns."""
        published = read_published(self.file)
        shown = (each.published or name for name, each in self.columns.items())
        used = (name for name in shown if isinstance(name, str) and name != NOTHING)
        published.require((*self.keys, *used))
        object.__setattr__(self, "published", published)
        object.__setattr__(self, "labels", published.labels(self.keys))

    @property
    def keys(self) -> Names:
        """Return the published columns that name a row."""
        return listed(self.rows)


@dataclass(frozen=True)
class PlannedTable:
    """The planned runs of a table. ``fill`` makes the table from the finished runs."""

    runs: tuple[PlannedRun, ...]
    fill: Callable[[Collected], Table]


@dataclass(frozen=True)
class PlannedCell:
    """A cell without simulated values, its runs for each seed, and the function that fills the cell.

    The note of a cell without runs has the reason.
    """

    cell: Cell
    fill: Callable[[Cell, Samples], Cell]
    samples: tuple[tuple[PlannedRun, ...], ...] = ()

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """All runs of the cell."""
        return tuple(run for sample in self.samples for run in sample)

    def filled(self, done: Collected) -> Cell:
        """Return the cell with its simulated values, or with the message of a run that failed."""
        for run in self.runs:
            if run.run_id in done.failures:
                return noted(self.cell, f"failed: {done.failures[run.run_id]}")
        samples = [[outcome(run, done) for run in sample] for sample in self.samples]
        return self.fill(self.cell, samples) if samples else self.cell


def outcome(run: PlannedRun, done: Collected) -> Outcome:
    """Return the outcome of a finished run."""
    return Outcome(run.spec, done.counters[run.run_id], done.pairs.get(run.run_id, ()))


def noted(cell: Cell, note: str) -> Cell:
    """Return the cell with one more note."""
    return replace(cell, note="; ".join(filter(None, (cell.note, note))))


def cells_of(setting: Setting, table: StudyTable) -> list[Cell]:
    """Return the cells of a table without simulated values, row by row."""
    study = setting.study
    published = {name: study.published(table.id, name) for name in table.columns}
    nulls = {name: study.null(table.id, column) for name, column in table.columns.items()}
    resized = bool(table.program) and setting.resizes(table.program)
    return [
        Cell(
            table=table.id,
            row=row,
            column=name,
            variant=column.variant,
            quantity=column.quantity,
            unit=table.kind.unit(column.quantity),
            role=_role(column, row, resized),
            score="" if row in column.fitted else column.score,
            published=published[name][row],
            simulated=(),
            baseline=column.baseline,
            null=nulls[name].get(row),
        )
        for row in table.labels
        for name, column in table.columns.items()
    ]


def _role(column: Column, row: str, resized: bool) -> Role:
    """Return the role of a cell; in runs of another size than the published runs, a fitted value is a prediction."""
    role = Role.FITTED if row in column.fitted else column.role
    return Role.PREDICTED if role is Role.FITTED and resized else role


def wanted_for(setting: Setting, table: StudyTable, cell: Cell) -> Wanted:
    """Return the request for the runs of a cell; a row is a row of the program, or the value of the field ``key``."""
    changes = assigned(table.key, cell.row) if table.key else ()
    row = "" if table.key else cell.row
    variant = table.columns[cell.column].variant
    return Wanted(setting.study.programs[table.program], row, variant, changes, table.repeat, table.id)


def planned_cell(
    setting: Setting, cell: Cell, wanted: Sequence[Wanted], fill: Callable[[Cell, Samples], Cell]
) -> PlannedCell:
    """Plan a cell that ``fill`` computes from the runs of ``wanted``; without runs, the note has the reason."""
    try:
        runs = [setting.runs(each) for each in wanted]
    except NotSimulatedError as reason:
        return PlannedCell(noted(cell, str(reason)), fill)
    return PlannedCell(cell, fill, tuple(zip(*runs, strict=True)))


def planned_sum(setting: Setting, cell: Cell, *wanted: Wanted) -> PlannedCell:
    """Plan a cell with the sum of the cell's quantity over the runs of ``wanted``."""
    of = QUANTITIES[cell.quantity].of

    def fill(cell: Cell, samples: Samples) -> Cell:
        return replace(cell, simulated=tuple(math.fsum(map(of, sample)) for sample in samples))

    return planned_cell(setting, cell, wanted, fill)


def table_of(setting: Setting, table: StudyTable, cells: Sequence[Cell], **extra: tuple[float, ...]) -> Table:
    """Return ``table`` with the filled ``cells`` and with the series ``extra``."""
    notes = setting.study.notes(table.id)
    return Table(table.id, table.title, table.source, table.keys, tuple(cells), notes, extra, table.kind.figure)


@dataclass(frozen=True)
class Totals(Kind):
    """A cell sums a quantity over all rows of the program; ``variants`` has the variant for each row of the table."""

    variants: Mapping[str, str]

    def check(self, table: StudyTable, program: Program) -> None:
        """Raise InputError for a row without a variant of the program."""
        check_known("variant", [looked_up("row", row, self.variants) for row in table.labels], program.variants)

    def planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        """Plan the runs of all rows of the program."""
        program, variant = setting.study.programs[table.program], self.variants[cell.row]
        wanted = (Wanted(program, row, variant, (), table.repeat, table.id) for row in program.rows)
        return planned_sum(setting, replace(cell, variant=variant), *wanted)


def time_ps(run: Outcome) -> float:
    """Return the makespan of a run in picoseconds."""
    return float(run.counters["makespan_ps"])


def ratio(value: float, reference: float) -> float:
    """Return ``value`` / ``reference``; NaN for a reference of 0."""
    return value / reference if reference else math.nan


def reduction(value: float, reference: float) -> float:
    """Return by how many percent ``value`` is below ``reference``."""
    return 100 * (1 - ratio(value, reference))


@dataclass(frozen=True)
class Comparison:
    """A quantity of two runs: the unit, the value ``of`` a run, and how to ``compare`` a value with the reference."""

    unit: str
    of: Callable[[Outcome], float]
    compare: Callable[[float, float], float]


COMPARISONS = {
    "time_ratio": Comparison("1", time_ps, ratio),
    "time_reduction": Comparison("%", time_ps, reduction),
    "task_time_reduction": Comparison("%", task_us, reduction),
}


@dataclass(frozen=True)
class Compared(Kind):
    """A cell compares a run under the column's variant with the run of the same row under the variant ``against``.

    ``known`` has the quantities that columns may have.
    """

    against: str
    known: Mapping[str, Comparison] = field(default_factory=lambda: COMPARISONS)

    def unit(self, quantity: str) -> str:
        """Return the unit of a comparison."""
        return looked_up("quantity", quantity, self.known).unit

    def check(self, table: StudyTable, program: Program) -> None:
        """Raise InputError for an unknown variant ``against``."""
        check_known("variant", [self.against], program.variants)

    def planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        """Plan the run of a cell, and the run with which it is compared."""
        mine = wanted_for(setting, table, cell)
        return self.compared(setting, cell, mine, replace(mine, variant=self.against))

    def compared(self, setting: Setting, cell: Cell, mine: Wanted, other: Wanted) -> PlannedCell:
        """Plan the comparison of two runs; a run that is compared with itself is a reference."""
        return planned_cell(setting, as_reference(cell) if mine == other else cell, (mine, other), self.filled)

    def filled(self, cell: Cell, samples: Samples) -> Cell:
        """Return the cell with the comparison of each seed."""
        told = self.known[cell.quantity]
        return replace(cell, simulated=tuple(told.compare(told.of(mine), told.of(other)) for mine, other in samples))


def as_reference(cell: Cell) -> Cell:
    """Return the cell with the role of a reference, which no score counts."""
    return replace(cell, role=Role.REFERENCE, score="")


NEAR = 1.05  # a run near the fastest run takes at most 1.05 times the shortest time
Times = Sequence[float]  # the time of each run, by value of the field


def _near(values: Sequence[int], times: Times) -> list[int]:
    return [value for value, time in zip(values, times, strict=True) if time <= NEAR * min(times)]


PEAKS: dict[str, tuple[str, Callable[[Sequence[int], Times, Times], float]]] = {  # name -> (unit, function)
    "fastest_at": ("count", lambda values, times, _: float(values[times.index(min(times))])),
    "near_from": ("count", lambda values, times, _: float(_near(values, times)[0])),
    "near_to": ("count", lambda values, times, _: float(_near(values, times)[-1])),
    "peak_gain": ("%", lambda _, times, others: 100 * (min(others) / min(times) - 1)),
    "mean_ratio": ("1", lambda _, times, others: fmean(map(ratio, times, others))),
    "rise": ("1", lambda _, times, others: times[-1] / times[0]),
}


COMPARED_PEAKS = ("peak_gain", "mean_ratio")  # the quantities that compare two variants


@dataclass(frozen=True)
class Peaks(Kind):
    """A cell is computed from runs that differ in one ``field``, such as the number of workers. ``values`` are
    ascending.

    `fastest_at` is the least value with the shortest time. `near_from` and `near_to` are the least and the greatest
    value whose time is at most 1.05 times the shortest time. `peak_gain` is the percentage by which the fastest run is
    faster than the fastest run of the variant ``against``. `mean_ratio` is the mean ratio of the times to the times of
    ``against`` at the same values. `rise` is the time at the last value over the time at the first value.
    """

    field: str
    values: tuple[int, ...]
    against: str = ""

    def unit(self, quantity: str) -> str:
        """Return the unit of a quantity of peaks."""
        return looked_up("quantity", quantity, PEAKS)[0]

    def check(self, table: StudyTable, program: Program) -> None:
        """Raise InputError for an unknown variant ``against``."""
        check_known("variant", filter(None, [self.against]), program.variants)

    def planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        """Plan the runs with all values, under the column's variant and under the variant ``against``."""
        mine = wanted_for(setting, table, cell)
        other = replace(mine, variant=self.against or mine.variant)
        if mine == other and cell.quantity in COMPARED_PEAKS:
            cell = as_reference(cell)
        wanted = [
            replace(each, changes=(*each.changes, *assigned(self.field, str(value))))
            for each in (mine, other)
            for value in self.values
        ]
        return planned_cell(setting, cell, wanted, self._fill)

    def _fill(self, cell: Cell, samples: Samples) -> Cell:
        (_, measure), count = PEAKS[cell.quantity], len(self.values)
        times = ([time_ps(run) for run in sample] for sample in samples)
        return replace(cell, simulated=tuple(measure(self.values, each[:count], each[count:]) for each in times))


@dataclass(frozen=True)
class Claim:
    """A statement of a paper about one quantity of one row of the program under several variants.

    There are three kinds of claims. Every variant of ``least`` has less of the quantity than every variant of ``most``,
    by the factor ``times``. Or the variants of ``alike`` differ by at most the share ``within``. Or the variants ``of``
    stay ``below`` a number.
    """

    quantity: str
    row: str
    least: str | Names = ()
    most: str | Names = ()
    times: float = 1
    alike: Names = ()
    within: float = 0
    of: str | Names = ()
    below: float = 0

    @property
    def variants(self) -> Names:
        """Return all variants that the claim names."""
        return tuple(name for names in (self.least, self.most, self.alike, self.of) for name in listed(names))

    @property
    def by_chance(self) -> float | None:
        """Return the probability a! b! / (a + b)! that a random order fulfils the claim; None for claims on sizes."""
        least, most = len(listed(self.least)), len(listed(self.most))
        return 1 / math.comb(least + most, least) if least else None

    def holds(self, values: Mapping[str, float]) -> bool:
        """Return whether ``values``, by variant, fulfil the claim."""
        if self.least:
            most = min(values[each] for each in listed(self.most))
            return max(values[each] for each in listed(self.least)) * self.times < most
        if self.alike:
            alike = [values[each] for each in self.alike]
            return max(alike) <= min(alike) * (1 + self.within)
        return all(values[each] < self.below for each in listed(self.of))


@dataclass(frozen=True)
class Claims(Kind):
    """A cell is the share of the seeds for which a claim holds. ``claims`` has the claim of each row.

    A paper without numbers still says which program or strategy is the fastest. A simple rule is a random order of the
    variants, which does not predict claims on sizes.
    """

    claims: Mapping[str, Claim]

    def unit(self, quantity: str) -> str:
        """Return the unit of a statement."""
        return TRUTH

    def check(self, table: StudyTable, program: Program) -> None:
        """Raise InputError for a row without a claim, and for a claim about unknown runs or quantities."""
        for claim in (looked_up("claim", row, self.claims) for row in table.labels):
            check_known("quantity", [claim.quantity], QUANTITIES)
            check_known("row", [claim.row], program.rows)
            check_known("variant", claim.variants, program.variants)

    def planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        """Plan the runs of all variants of the claim."""
        claim, program = self.claims[cell.row], setting.study.programs[table.program]
        wanted = [Wanted(program, claim.row, each, (), table.repeat, table.id) for each in claim.variants]
        found = planned_cell(setting, cell, wanted, self._fill)
        return replace(found, cell=replace(cell, null=claim.by_chance)) if found.samples else found

    def _fill(self, cell: Cell, samples: Samples) -> Cell:
        claim = self.claims[cell.row]
        quantity = QUANTITIES[claim.quantity]
        values = [dict(zip(claim.variants, map(quantity.of, sample), strict=True)) for sample in samples]
        unit = f" [{quantity.unit}]" if quantity.unit not in ("", "1") else ""
        means = {name: math.fsum(each[name] for each in values) / len(values) for name in claim.variants}
        note = f"{quantity.meaning}{unit}: {', '.join(f'{name} {mean:.4g}' for name, mean in means.items())}"
        return noted(replace(cell, simulated=tuple(float(claim.holds(each)) for each in values)), note)
