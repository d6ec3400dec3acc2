"""How a study is reproduced: as it is, quickly, on another machine, without some of its mechanisms.

A run's fields are set in this order, where later ones override earlier ones: the study's machine, seed and repeat; the
program; what the calibration fitted; a quick reproduction; the row; the variant and its exceptions; the readings; the
column; ablations; other changes; another machine. Another machine is simulated as its own file describes the machine:
fields of a machine that the study sets, for the machines it was made on, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.yaml.nodes import Node, from_python
from numasim.parts.yaml.scalars import scalar
from numasim.reproduce.study.contents import Program, Study
from numasim.reproduce.study.names import check_known
from numasim.reproduce.study.study_files import ReadingSpec
from numasim.spec.overrides import Assignment, field_path, from_mapping
from numasim.spec.run_spec import Resolver, RunSpec
from numasim.spec.single_part import read_machine
from numasim.sweep.planned_runs import PlannedRun, repeated

MACHINE = "machine"
WORKERS = "workers"
WORKERS_ON = ("cores", "threads")  # of a machine: that many
WORKLOAD = "workload"


class NotSimulatedError(Exception):
    """Raised with the reason why a cell has no runs in this setting."""


@dataclass(frozen=True)
class Wanted:
    """Runs of one row under one variant; ``changes`` are those of a column of ``table``, ``repeat`` is the table's."""

    program: Program
    row: str = ""  # of the program
    variant: str | None = None
    changes: tuple[Assignment, ...] = ()
    repeat: int | None = None
    table: str = ""  # none: a run beside the tables


@dataclass(frozen=True)
class Change:
    """Fields that override those of the study, in all runs or only in those that it names."""

    fields: Node
    programs: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()

    def concerns(self, wanted: Wanted) -> bool:
        """Whether the change applies to these runs."""
        return _within(self, wanted)


def concerns(reading: ReadingSpec, wanted: Wanted) -> bool:
    """Whether a reading is about these runs."""
    return _within(reading, wanted) and (not reading.tables or wanted.table in reading.tables)


def _within(scope: Change | ReadingSpec, wanted: Wanted) -> bool:
    return (
        (not scope.programs or wanted.program.name in scope.programs)
        and (not scope.rows or wanted.row in scope.rows)
        and (not scope.variants or wanted.variant in scope.variants)
    )


@dataclass(frozen=True)
class Setting:
    """A study and how to reproduce it.

    ``machine`` is a shipped name or a path, ``without`` names ablations, ``readings`` has choices in place of those
    that are scored, ``changes`` override all of them, and ``rows``, where any are named, are the only rows of the
    programs to be simulated. With ``only_rates`` the rates that were fitted to serial times are all that is fitted, at
    the values that they have on such a machine.
    """

    study: Study
    quick: bool = False
    machine: str | None = None
    without: tuple[str, ...] = ()
    repeat: int | None = None
    readings: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    rows: tuple[str, ...] = ()
    only_rates: bool = False
    resolver: Resolver = field(default_factory=Resolver, compare=False)

    def __post_init__(self) -> None:
        """Refuse an ablation, a reading or a choice that the study does not have."""
        check_known("mechanism", self.without, self.study.file.ablations)
        check_known("reading", self.readings, self.study.file.readings)
        for name, choice in self.readings.items():
            check_known(f"choice of the reading {name!r}:", [choice], self.study.file.readings[name].choices)

    def runs(self, wanted: Wanted) -> tuple[PlannedRun, ...]:
        """One run for each seed. Raises `NotSimulatedError` if this setting has none, InputError for a bad field."""
        if self.quick and wanted.row in wanted.program.file.quick.without:
            raise NotSimulatedError("left out of the quick reproduction")
        if self.rows and wanted.row not in self.rows:
            raise NotSimulatedError("not requested")
        spec = self.spec(wanted)
        return tuple(repeated(spec, number) for number in range(self._repeat(wanted, spec)))

    def spec(self, wanted: Wanted) -> RunSpec:
        """The specification of the runs, also of rows that are left out.

        Raises `NotSimulatedError` if the machine is too small for the runs, InputError for a bad field.
        """
        made = self._assignments(wanted)
        self._refuse_many_workers(made if self.machine else wanted.changes)
        return self.resolver.run(wanted.program.document.mapping()["spec"], made)

    def resizes(self, program: str) -> bool:
        """Whether the workload of a program is another than the published one: then nothing was fitted to its runs."""
        quick = self.study.programs[program].document.follow(("quick", "set"))
        return self.quick and any(each.path[0] == WORKLOAD for each in assignments(quick))

    @property
    def threads(self) -> int:
        """How many hardware threads the machine has: the one that is simulated instead, or the study's."""
        return self._machine.threads

    @cached_property
    def _machine(self) -> MachineSpec:
        return read_machine(self.machine or self.study.file.machine)

    def _refuse_many_workers(self, made: Iterable[Assignment]) -> None:
        """Refuse runs of more workers than the machine has hardware threads; the last of ``made`` counts.

        A machine that is named may be smaller than those of the study, whichever file says how many workers there are.
        Without one, only a column may ask for too many; elsewhere that is a mistake of the study.
        """
        workers = [each.value.content for each in made if each.path == (WORKERS,)]
        if workers and isinstance(workers[-1], int) and workers[-1] > self.threads:
            raise NotSimulatedError(f"the machine has {self.threads} hardware threads")

    def _repeat(self, wanted: Wanted, spec: RunSpec) -> int:
        if self.repeat is not None or wanted.repeat is not None:
            return wanted.repeat or self.repeat or 1
        return wanted.program.file.quick.repeat if self.quick else spec.repeat

    def _assignments(self, wanted: Wanted) -> list[Assignment]:
        program, study = wanted.program, self.study
        quick = program.document.follow(("quick", "set")) if self.quick else None
        ablations = (study.document.follow(("ablations", name)) for name in self.without)
        others = (each.fields for each in self.changes if each.concerns(wanted))
        of_study = (
            *self._defaults(program),
            *self._fitted(wanted),
            *assignments(quick),
            *assignments(program.document.follow(("rows", wanted.row))),
            *self._of_variant(wanted),
            *self._of_readings(wanted),
            *wanted.changes,
        )
        made = (
            *(each for each in of_study if not (self.machine and each.path[0] == MACHINE)),
            *(each for fields in (*ablations, *others) for each in assignments(fields)),
            *from_mapping({MACHINE: self.machine} if self.machine else {}),
        )
        return [self._counted(each) for each in made]

    def _counted(self, given: Assignment) -> Assignment:
        """The assignment with the number of workers that `WORKERS_ON` says in a word."""
        if given.path != (WORKERS,) or given.value.content not in WORKERS_ON:
            return given
        count = getattr(self._machine, str(given.value.content))
        return replace(given, value=from_python(count, given.value.place))

    def _of_variant(self, wanted: Wanted) -> Iterable[Assignment]:
        if wanted.variant:
            for path in (("variants", wanted.variant), ("exceptions", wanted.variant, wanted.row)):
                yield from assignments(wanted.program.document.follow(path))

    def _of_readings(self, wanted: Wanted) -> Iterable[Assignment]:
        for name, reading in self.study.file.readings.items():
            if concerns(reading, wanted):
                choice = self.readings.get(name, reading.scored)
                yield from assignments(self.study.document.follow(("readings", name, "choices", choice, "set")))

    def _defaults(self, program: Program) -> Iterable[Assignment]:
        file, given = self.study.file, program.document.mapping()["spec"]
        values = {MACHINE: file.machine, "seed": file.seed, "repeat": file.repeat}
        yield from from_mapping({name: value for name, value in values.items() if name not in given.mapping()})
        yield from (each for each in assignments(given) if each.path == (WORKERS,))

    def _fitted(self, wanted: Wanted) -> Iterable[Assignment]:
        """The fitted fields of these runs."""
        for parameter in self.study.parameters:
            if self.only_rates and not parameter.first:
                continue
            for_row = not parameter.rows or wanted.row in parameter.rows
            if wanted.program.name in parameter.programs and for_row:
                value = parameter.value_in(only_rates=self.only_rates)
                yield from from_mapping({parameter.field: scalar(value) if isinstance(value, str) else value})


def assignments(fields: Node | None) -> tuple[Assignment, ...]:
    """A mapping of dotted fields as assignments with the places where they were written."""
    if fields is None:
        return ()
    return tuple(
        Assignment(field_path(str(name), fields.keys[name]), value, fields.keys[name])
        for name, value in fields.mapping().items()
    )


def assigned(name: str, text: str, fields: Node) -> Assignment:
    """The field ``name`` with the value of the printed ``text``; ``fields`` is the place to name in errors."""
    return Assignment(field_path(name, fields.place), from_python(scalar(text), fields.place), fields.place)
