"""Tables of a study: what was published, which runs every cell needs, and how it is filled from them.

A kind of table says how a cell follows from runs: `Runs`, `Totals`, `Compared`, `Peaks` and `Claims` are for any study,
and a study may have kinds of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from numasim.reproduce.programs import Names, Program, Wanted, check_known, listed, looked_up
from numasim.reproduce.published import PublishedTable, read_published
from numasim.reproduce.quantities import QUANTITIES, Outcome, task_us
from numasim.reproduce.setting import NotSimulatedError, Setting, assigned
from numasim.reproduce.table_cells import Cell, Role, Table
from numasim.sweep.collection import Collected
from numasim.sweep.planned_runs import PlannedRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = "nothing"  # was printed
Samples = Sequence[Sequence[Outcome]]  # [seeds][runs of a cell]


@dataclass(frozen=True)
class Elsewhere:
    """The value of ``column`` in the row of the same name of another table."""

    table: str
    column: str


@dataclass(frozen=True)
class Quotient:
    """A published value that follows from two columns: ``over`` / ``under``."""

    over: str
    under: str


@dataclass(frozen=True)
class Column:
    """One column of values: which quantity of which runs, and its role for the simulation.

    ``published`` says where the published values are, if not in the column of the same name; `NOTHING` is known of a
    value that is predicted without having been printed. ``score`` is the class that a predicted column is scored in,
    ``baseline`` the column of the state before the change, which is the null model; ``null_from`` is the null model's
    value where there is no baseline. ``fitted`` are rows of a predicted column that were used to fit.
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
    """How the cells of a table follow from runs."""

    def unit(self, quantity: str) -> str:
        """The unit of a quantity that a column may have. InputError for another one."""
        return looked_up("quantity", quantity, QUANTITIES).unit

    def check(self, table: StudyTable, program: Program) -> None:
        """InputError for the first unknown name in what the kind itself asks of the program."""

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """Plan the runs of every cell."""
        raise NotImplementedError

    def figure(self, table: Table) -> Figure | None:
        """The figure of a filled table; None for bars or lines of its columns."""
        return None


@dataclass(frozen=True)
class Runs(Kind):
    """A cell is a quantity of one run: its row is a row of the program, or the value of a field."""

    def check(self, table: StudyTable, program: Program) -> None:
        """Each row has to be one of the program, unless rows are values of a field."""
        if not table.key:
            check_known("row of the program", table.labels, program.rows)

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """A cell for each row and column."""
        cells = (planned_sum(setting, each, wanted_for(setting, table, each)) for each in cells_of(setting, table))
        return planned_table(setting, table, list(cells))


@dataclass(frozen=True)
class StudyTable:
    """A table or figure of a study.

    ``file`` is a CSV file with the published values, in which the columns ``rows`` name a row. With ``key`` the name is
    the value of that field of a run, else a row of the program. ``repeat`` is that of the study where it is None.
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
        """Read what was published. InputError where it is not a table with these rows and columns."""
        published = read_published(self.file)
        shown = (each.published or name for name, each in self.columns.items())
        used = (name for name in shown if isinstance(name, str) and name != NOTHING)
        published.require((*self.keys, *used))
        object.__setattr__(self, "published", published)
        object.__setattr__(self, "labels", published.labels(self.keys))

    @property
    def keys(self) -> Names:
        """The published columns that name a row."""
        return listed(self.rows)


@dataclass(frozen=True)
class PlannedTable:
    """A table that ``fill`` makes when all ``runs`` are finished."""

    runs: tuple[PlannedRun, ...]
    fill: Callable[[Collected], Table]


@dataclass(frozen=True)
class PlannedCell:
    """A cell without its simulated values, for each seed its runs, and how they fill it.

    Without runs the note of the cell says why.
    """

    cell: Cell
    fill: Callable[[Cell, Samples], Cell]
    samples: tuple[tuple[PlannedRun, ...], ...] = ()

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """All runs of the cell."""
        return tuple(run for sample in self.samples for run in sample)

    def filled(self, done: Collected) -> Cell:
        """The cell with its values; where a run failed, with the message of the failure instead."""
        for run in self.runs:
            if run.run_id in done.failures:
                return noted(self.cell, f"failed: {done.failures[run.run_id]}")
        samples = [[outcome(run, done) for run in sample] for sample in self.samples]
        return self.fill(self.cell, samples) if samples else self.cell


def outcome(run: PlannedRun, done: Collected) -> Outcome:
    """A finished run."""
    return Outcome(run.spec, done.counters[run.run_id], done.pairs.get(run.run_id, ()))


def noted(cell: Cell, note: str) -> Cell:
    """The cell with one more note."""
    return replace(cell, note="; ".join(filter(None, (cell.note, note))))


def cells_of(setting: Setting, table: StudyTable) -> list[Cell]:
    """The cells of a table without simulated values, row by row."""
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
    """The role of a cell; in runs of another size than was published nothing was fitted."""
    role = Role.FITTED if row in column.fitted else column.role
    return Role.PREDICTED if role is Role.FITTED and resized else role


def wanted_for(setting: Setting, table: StudyTable, cell: Cell) -> Wanted:
    """The runs of one cell: its row is one of the program, or the value of a field."""
    changes = assigned(table.key, cell.row) if table.key else ()
    row = "" if table.key else cell.row
    variant = table.columns[cell.column].variant
    return Wanted(setting.study.programs[table.program], row, variant, changes, table.repeat, table.id)


def planned(
    setting: Setting, cell: Cell, wanted: Sequence[Wanted], fill: Callable[[Cell, Samples], Cell]
) -> PlannedCell:
    """Plan a cell that follows from the runs of ``wanted``; where there are none for it, with the reason."""
    try:
        runs = [setting.runs(each) for each in wanted]
    except NotSimulatedError as reason:
        return PlannedCell(noted(cell, str(reason)), fill)
    return PlannedCell(cell, fill, tuple(zip(*runs, strict=True)))


def planned_sum(setting: Setting, cell: Cell, *wanted: Wanted) -> PlannedCell:
    """Plan a cell that adds its quantity up over runs."""
    of = QUANTITIES[cell.quantity].of

    def fill(cell: Cell, samples: Samples) -> Cell:
        return replace(cell, simulated=tuple(math.fsum(map(of, sample)) for sample in samples))

    return planned(setting, cell, wanted, fill)


def table_of(setting: Setting, table: StudyTable, cells: Sequence[Cell], **extra: tuple[float, ...]) -> Table:
    """A filled table."""
    notes = setting.study.notes(table.id)
    return Table(table.id, table.title, table.source, table.keys, tuple(cells), notes, extra, table.kind.figure)


def planned_table(setting: Setting, table: StudyTable, cells: Sequence[PlannedCell]) -> PlannedTable:
    """A table whose cells are filled independently."""
    runs = tuple(run for cell in cells for run in cell.runs)
    return PlannedTable(runs, lambda done: table_of(setting, table, [cell.filled(done) for cell in cells]))


@dataclass(frozen=True)
class Totals(Kind):
    """A row is a variant of the program, as ``variants`` says, and a cell the sum over all rows of the program."""

    variants: Mapping[str, str]

    def check(self, table: StudyTable, program: Program) -> None:
        """Each row needs a variant."""
        check_known("variant", [looked_up("row", row, self.variants) for row in table.labels], program.variants)

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """A cell for each row and column."""
        return planned_table(setting, table, [self._planned(setting, table, each) for each in cells_of(setting, table)])

    def _planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        program, variant = setting.study.programs[table.program], self.variants[cell.row]
        wanted = (Wanted(program, row, variant, (), table.repeat, table.id) for row in program.rows)
        return planned_sum(setting, replace(cell, variant=variant), *wanted)


def _time(run: Outcome) -> float:
    return float(run.counters["makespan_ps"])


def ratio(value: float, reference: float) -> float:
    """``value`` over ``reference``, NaN where that is 0."""
    return value / reference if reference else math.nan


def reduction(value: float, reference: float) -> float:
    """By how many percent ``value`` is less than ``reference``."""
    return 100 * (1 - ratio(value, reference))


def less(value: float, reference: float) -> float:
    """1 where ``value`` is less than ``reference``, else 0."""
    return float(value < reference)


@dataclass(frozen=True)
class Comparison:
    """A unit, what is measured of two runs, and how the two are compared: the cell's own and the reference."""

    unit: str
    of: Callable[[Outcome], float]
    compare: Callable[[float, float], float]


COMPARISONS = {
    "time_ratio": Comparison("1", _time, ratio),
    "time_reduction": Comparison("%", _time, reduction),
    "task_time_reduction": Comparison("%", task_us, reduction),
    "faster": Comparison("1", _time, less),
}


@dataclass(frozen=True)
class Compared(Kind):
    """A cell is a run under the column's variant against the same run under another, or against another row.

    ``against`` is the variant that is compared with, one for all or one for each column, the column's own by default;
    ``row`` is the row that is compared with, the same by default. Where a column has no printed value, ``expected`` is
    taken, or the nearest to the simulated one in ``within``. ``null`` is what the null model says of every cell.
    ``known`` are the quantities that columns may have.
    """

    against: str | Mapping[str, str] = ""
    row: str = ""
    expected: float | None = None
    within: tuple[float, float] | None = None
    null: float | None = None
    known: Mapping[str, Comparison] = field(default_factory=lambda: COMPARISONS)

    def unit(self, quantity: str) -> str:
        """The unit of a comparison."""
        return looked_up("quantity", quantity, self.known).unit

    def check(self, table: StudyTable, program: Program) -> None:
        """Variants and the row that others are compared with have to exist."""
        against = [self.against] if isinstance(self.against, str) else self.against.values()
        check_known("variant", filter(None, against), program.variants)
        check_known("row", filter(None, [self.row]), table.labels)

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """A cell for each row, without the one that is compared with, and column."""
        cells = [self._planned(setting, table, each) for each in self._cells(setting, table)]
        return planned_table(setting, table, cells)

    def _cells(self, setting: Setting, table: StudyTable) -> list[Cell]:
        """The cells with what was published of the comparison."""
        cells = cells_of(setting, table)
        if self.row:
            reference = {cell.column: cell.published for cell in cells if cell.row == self.row}
            compare = {name: self.known[column.quantity].compare for name, column in table.columns.items()}
            cells = [
                replace(cell, published=compare[cell.column](cell.published, reference[cell.column]))
                for cell in cells
                if cell.row != self.row
            ]
        return [self._expected(cell) for cell in cells]

    def _expected(self, cell: Cell) -> Cell:
        null = cell.null if self.null is None else float(self.null)
        unknown = self.expected if math.isnan(cell.published) else None
        return replace(cell, published=cell.published if unknown is None else float(unknown), null=null)

    def _planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        against = self.against if isinstance(self.against, str) else self.against.get(cell.column, "")
        mine = wanted_for(setting, table, cell)
        other = wanted_for(setting, table, replace(cell, row=self.row or cell.row))
        return planned(setting, cell, (mine, replace(other, variant=against or other.variant)), self._fill)

    def _fill(self, cell: Cell, samples: Samples) -> Cell:
        told = self.known[cell.quantity]
        filled = replace(cell, simulated=tuple(told.compare(told.of(mine), told.of(other)) for mine, other in samples))
        if self.within is None or not math.isnan(cell.published):
            return filled
        least, most = self.within
        return replace(filled, published=min(max(filled.mean, least), most))


NEAR = 1.05  # of the least time
Times = Sequence[float]  # by value of the field


def _near(values: Sequence[int], times: Times) -> list[int]:
    return [value for value, time in zip(values, times, strict=True) if time <= NEAR * min(times)]


PEAKS: dict[str, tuple[str, Callable[[Sequence[int], Times, Times], float]]] = {  # unit, how it is computed
    "fastest_at": ("count", lambda values, times, _: float(values[times.index(min(times))])),
    "near_from": ("count", lambda values, times, _: float(_near(values, times)[0])),
    "near_to": ("count", lambda values, times, _: float(_near(values, times)[-1])),
    "peak_gain": ("%", lambda _, times, others: 100 * (min(others) / min(times) - 1)),
    "mean_ratio": ("1", lambda _, times, others: fmean(map(ratio, times, others))),
    "rise": ("1", lambda _, times, others: times[-1] / times[0]),
}


@dataclass(frozen=True)
class Peaks(Kind):
    """A cell follows from runs that differ in one ``field``, such as the number of workers, over ``values``, ascending.

    `fastest_at` is the value of the field with which a run takes the least time, of several the least; `near_from` and
    `near_to` are the least and the greatest value with which a run takes at most a twentieth more than the fastest.
    `peak_gain` is by how much the fastest run is faster than the fastest one of the variant ``against``, in %.
    `mean_ratio` is the mean of a run's time over that of the run of ``against`` with the same value, and `rise` the
    time with the last value over that with the first.
    """

    field: str
    values: tuple[int, ...]
    against: str = ""

    def unit(self, quantity: str) -> str:
        """The unit of a quantity of peaks."""
        return looked_up("quantity", quantity, PEAKS)[0]

    def check(self, table: StudyTable, program: Program) -> None:
        """The variant that others are compared with has to exist."""
        check_known("variant", filter(None, [self.against]), program.variants)

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """A cell for each row and column."""
        return planned_table(setting, table, [self._planned(setting, table, each) for each in cells_of(setting, table)])

    def _planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        mine = wanted_for(setting, table, cell)
        other = replace(mine, variant=self.against or mine.variant)
        wanted = [
            replace(each, changes=(*each.changes, *assigned(self.field, str(value))))
            for each in (mine, other)
            for value in self.values
        ]
        return planned(setting, cell, wanted, self._fill)

    def _fill(self, cell: Cell, samples: Samples) -> Cell:
        (_, measure), count = PEAKS[cell.quantity], len(self.values)
        times = ([_time(run) for run in sample] for sample in samples)
        return replace(cell, simulated=tuple(measure(self.values, each[:count], each[count:]) for each in times))


@dataclass(frozen=True)
class Claim:
    """A sentence of a source about one quantity of the runs of one row of the program under several variants.

    Those of ``least`` have less of it than those of ``most``, at least ``times`` less; those of ``alike`` lie within a
    share ``within`` of each other; or those of ``of`` stay ``below`` a number.
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
        """All variants that it is about."""
        return tuple(name for names in (self.least, self.most, self.alike, self.of) for name in listed(names))

    @property
    def by_chance(self) -> float | None:
        """The probability a! b! / (a + b)! with which a random order of its variants fulfils it; None of sizes."""
        least, most = len(listed(self.least)), len(listed(self.most))
        return 1 / math.comb(least + most, least) if least else None

    def holds(self, values: Mapping[str, float]) -> bool:
        """Whether these values, by variant, fulfil it."""
        if self.least:
            most = min(values[each] for each in listed(self.most))
            return max(values[each] for each in listed(self.least)) * self.times < most
        if self.alike:
            alike = [values[each] for each in self.alike]
            return max(alike) <= min(alike) * (1 + self.within)
        return all(values[each] < self.below for each in listed(self.of))


@dataclass(frozen=True)
class Claims(Kind):
    """A cell is the share of the seeds with which a claim holds; ``claims`` has that of each row.

    A source without numbers still says which of its programs or strategies is fastest. The null model is a random
    order of the variants; claims on sizes have none.
    """

    claims: Mapping[str, Claim]

    def unit(self, quantity: str) -> str:
        """The unit of a share."""
        return "1"

    def check(self, table: StudyTable, program: Program) -> None:
        """Each row needs a claim, about a quantity of runs that there are."""
        for claim in (looked_up("claim", row, self.claims) for row in table.labels):
            check_known("quantity", [claim.quantity], QUANTITIES)
            check_known("row", [claim.row], program.rows)
            check_known("variant", claim.variants, program.variants)

    def plan(self, setting: Setting, table: StudyTable) -> PlannedTable:
        """A cell for each claim."""
        return planned_table(setting, table, [self._planned(setting, table, each) for each in cells_of(setting, table)])

    def _planned(self, setting: Setting, table: StudyTable, cell: Cell) -> PlannedCell:
        claim, program = self.claims[cell.row], setting.study.programs[table.program]
        wanted = [Wanted(program, claim.row, each, (), table.repeat, table.id) for each in claim.variants]
        found = planned(setting, cell, wanted, self._fill)
        return replace(found, cell=replace(cell, null=claim.by_chance)) if found.samples else found

    def _fill(self, cell: Cell, samples: Samples) -> Cell:
        claim = self.claims[cell.row]
        quantity = QUANTITIES[claim.quantity]
        values = [dict(zip(claim.variants, map(quantity.of, sample), strict=True)) for sample in samples]
        unit = f" [{quantity.unit}]" if quantity.unit not in ("", "1") else ""
        means = {name: math.fsum(each[name] for each in values) / len(values) for name in claim.variants}
        note = f"{quantity.meaning}{unit}: {', '.join(f'{name} {mean:.4g}' for name, mean in means.items())}"
        return noted(replace(cell, simulated=tuple(float(claim.holds(each)) for each in values)), note)


def every(variants: Mapping[str, str], **column: Any) -> dict[str, Column]:
    """A column alike for each variant, by the name of the column."""
    return {name: Column(variant=variant, **column) for name, variant in variants.items()}
