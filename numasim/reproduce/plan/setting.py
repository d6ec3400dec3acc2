"""How a study is reproduced: as it is, quickly, on another machine, without some of its mechanisms.

A run's fields are set in this order, where later ones override earlier ones: the study's machine, seed and repeat; the
program; what the calibration fitted; a quick reproduction; the row; the variant and its exceptions; the column;
ablations; other changes; another machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from numasim.parts.yaml.nodes import Node, from_python
from numasim.parts.yaml.scalars import scalar
from numasim.reproduce.study.contents import Program, Study
from numasim.reproduce.study.names import check_known
from numasim.spec.overrides import Assignment, field_path, from_mapping
from numasim.spec.run_spec import Resolver, RunSpec
from numasim.spec.single_part import read_machine
from numasim.sweep.planned_runs import PlannedRun, repeated

MACHINE = "machine"
WORKERS = "workers"


class NotSimulatedError(Exception):
    """Raised with the reason why a row has no runs in this setting."""


@dataclass(frozen=True)
class Wanted:
    """Runs of one row under one variant; ``changes`` are those of the column, ``repeat`` is the table's."""

    program: Program
    row: str = ""  # of the program
    variant: str | None = None
    changes: tuple[Assignment, ...] = ()
    repeat: int | None = None


@dataclass(frozen=True)
class Change:
    """Fields that override those of the study, in all runs or only in those that it names."""

    fields: Node
    programs: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()

    def concerns(self, wanted: Wanted) -> bool:
        """Whether the change applies to these runs."""
        return (
            (not self.programs or wanted.program.name in self.programs)
            and (not self.rows or wanted.row in self.rows)
            and (not self.variants or wanted.variant in self.variants)
        )


@dataclass(frozen=True)
class Setting:
    """A study and how to reproduce it.

    ``machine`` is a shipped name or a path, ``without`` names ablations, ``changes`` override those, and
    ``rows``, where any are named, are the only rows of the programs to be simulated.
    """

    study: Study
    quick: bool = False
    machine: str | None = None
    without: tuple[str, ...] = ()
    repeat: int | None = None
    changes: tuple[Change, ...] = ()
    rows: tuple[str, ...] = ()
    resolver: Resolver = field(default_factory=Resolver, compare=False)

    def __post_init__(self) -> None:
        """Refuse an ablation that the study does not have."""
        check_known("mechanism", self.without, self.study.file.ablations)

    def runs(self, wanted: Wanted) -> tuple[PlannedRun, ...]:
        """One run for each seed. Raises `NotSimulatedError` where this setting has none, InputError for a bad field."""
        if self.quick and wanted.row in wanted.program.file.quick.without:
            raise NotSimulatedError("left out of the quick reproduction")
        if self.rows and wanted.row not in self.rows:
            raise NotSimulatedError("not requested")
        self._refuse_many_workers(wanted)
        spec = self.spec(wanted)
        return tuple(repeated(spec, number) for number in range(self._repeat(wanted, spec)))

    def spec(self, wanted: Wanted) -> RunSpec:
        """The specification of the runs, also of rows that are left out."""
        return self.resolver.run(wanted.program.document.mapping()["spec"], self._assignments(wanted))

    @cached_property
    def threads(self) -> int:
        """Hardware threads of the machine."""
        return read_machine(self.machine or self.study.file.machine).threads

    def _refuse_many_workers(self, wanted: Wanted) -> None:
        for each in wanted.changes:
            if each.path == (WORKERS,) and isinstance(each.value.content, int) and each.value.content > self.threads:
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
        return [
            *self._defaults(program),
            *self._fitted(wanted),
            *assignments(quick),
            *assignments(program.document.follow(("rows", wanted.row))),
            *self._of_variant(wanted),
            *wanted.changes,
            *(each for fields in (*ablations, *others) for each in assignments(fields)),
            *from_mapping({MACHINE: self.machine} if self.machine else {}),
        ]

    def _of_variant(self, wanted: Wanted) -> Iterable[Assignment]:
        if wanted.variant:
            for path in (("variants", wanted.variant), ("exceptions", wanted.variant, wanted.row)):
                yield from assignments(wanted.program.document.follow(path))

    def _defaults(self, program: Program) -> Iterable[Assignment]:
        file, given = self.study.file, program.file.spec
        values = {MACHINE: file.machine, "seed": file.seed, "repeat": file.repeat}
        values |= {WORKERS: self.threads} if program.file.all_threads else {}
        return from_mapping({name: value for name, value in values.items() if name not in given})

    def _fitted(self, wanted: Wanted) -> Iterable[Assignment]:
        """The fitted fields of these runs; another machine has the values of its own file."""
        for parameter in self.study.parameters:
            for_row = not parameter.rows or wanted.row in parameter.rows
            of_machine = parameter.field.partition(".")[0] == MACHINE
            if wanted.program.name in parameter.programs and for_row and not (of_machine and self.machine):
                value = scalar(parameter.value) if isinstance(parameter.value, str) else parameter.value
                yield from from_mapping({parameter.field: value})


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
