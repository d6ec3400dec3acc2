"""Settings of a reproduction: the study unchanged, quick, on another machine, or without some mechanisms.

The fields of a run are set in this order, and later fields override earlier fields: the study's machine, seed and
repeat; the program; fitted parameters; the quick form; the row; the variant and its exceptions; the readings; the cell;
ablations; other changes; another machine. Another machine is simulated as its own file describes it: the fields of
machines that the study sets are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from numasim.files.standard_streams import legible_text
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.yaml.nodes import from_python, scalar
from numasim.reproduce.calibration_file import Calibration, FittedParameter
from numasim.reproduce.programs import Change, Program, Question, Wanted, check_known
from numasim.spec.overrides import Assignment, from_mapping
from numasim.spec.run_spec import Resolver, RunSpec
from numasim.spec.single_part import read_machine
from numasim.sweep.planned_runs import PlannedRun, repeated

MACHINE, WORKERS, WORKLOAD = "machine", "workers", "workload"
WORKERS_ON = ("cores", "threads")  # words for the number of workers: one on each core or hardware thread
SIDES = ("low", "high")


class NotSimulatedError(Exception):
    """A cell has no runs in this setting; the message is the reason."""


@dataclass(frozen=True, kw_only=True)
class StudyRuns:
    """The part of a study that determines the fields of its runs. `numasim.reproduce.study.Study` adds the rest.

    ``machine`` is the machine of all runs, by name or path. ``seed`` is the first of ``repeat`` seeds. ``ablations``
    has the fields that switch each mechanism off, in the runs of a scope. ``readings`` are questions that the paper
    leaves open. ``chosen`` are the tables to be reproduced.
    """

    folder: Path
    machine: str
    programs: Mapping[str, Program]
    tables: Mapping[str, Any]
    seed: int = 0
    repeat: int = 1
    readings: Mapping[str, Question] = field(default_factory=dict)
    ablations: Mapping[str, Change] = field(default_factory=dict)
    calibration: Calibration = field(default_factory=Calibration)
    chosen: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the study's folder."""
        return legible_text(self.folder.name)

    @property
    def parameters(self) -> tuple[FittedParameter, ...]:
        """Return the fitted parameters."""
        return self.calibration.parameters

    def published(self, table: str, column: str) -> dict[str, float]:
        """Return the published value of ``column`` in each row of ``table``, NaN for a value that nobody printed."""
        raise NotImplementedError

    def null(self, table: str, column: Any) -> dict[str, float]:
        """Return the simple rule's prediction of ``column`` in each row of ``table``, if the column has a rule."""
        raise NotImplementedError

    def notes(self, table: str) -> tuple[str, ...]:
        """Return the remarks on a table."""
        raise NotImplementedError


@dataclass(frozen=True)
class Setting:
    """A study and the options of its reproduction.

    ``machine`` is a shipped name or a path. ``without`` names ablations. ``readings`` has choices that replace the
    scored choices. ``changes`` override all other fields of the study. If ``rows`` is not empty, only these rows of
    programs are simulated. With ``only_rates`` only the rates that were fitted to serial times are set.
    """

    study: StudyRuns
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
        """Raise InputError for an ablation, a reading or a choice that the study does not have."""
        check_known("mechanism", self.without, self.study.ablations)
        check_known("reading", self.readings, self.study.readings)
        for name, choice in self.readings.items():
            check_known(f"choice of the reading {name!r}:", [choice], self.study.readings[name].answers)

    def runs(self, wanted: Wanted) -> tuple[PlannedRun, ...]:
        """Return a run for each seed. Raise NotSimulatedError if they are left out, InputError for a bad field."""
        if self.quick and wanted.row in wanted.program.quick.get("without", ()):
            raise NotSimulatedError("left out of the quick reproduction")
        if self.rows and wanted.row not in self.rows:
            raise NotSimulatedError("not requested")
        spec = self.spec(wanted)
        return tuple(repeated(spec, number) for number in range(self._repeat(wanted, spec)))

    def spec(self, wanted: Wanted) -> RunSpec:
        """Return the specification of the runs, also for rows that the setting leaves out.

        Raise NotSimulatedError for a machine that is too small for the runs, InputError for a bad field.
        """
        made = self._assignments(wanted)
        self._refuse_many_workers(made if self.machine else wanted.changes)
        return self.resolver.run(wanted.program.document, made)

    def resizes(self, program: str) -> bool:
        """Return whether this setting changes a program's workload, so that no parameter was fitted to the runs."""
        quick = self.study.programs[program].fields("quick").assignments
        return self.quick and any(each.path[0] == WORKLOAD for each in quick)

    @property
    def threads(self) -> int:
        """Return the number of hardware threads of the simulated machine."""
        return self._machine.threads

    @cached_property
    def _machine(self) -> MachineSpec:
        return read_machine(self.machine or self.study.machine)

    def _refuse_many_workers(self, made: Iterable[Assignment]) -> None:
        """Raise NotSimulatedError if the last assignment of workers in ``made`` exceeds the number of hardware threads.

        Another machine may be smaller than the study's machine, so any part of the study may ask for too many workers.
        On the study's own machine only a cell may ask for too many workers: in another part, too many workers are a
        mistake of the study.
        """
        workers = [each.value.content for each in made if each.path == (WORKERS,)]
        if workers and isinstance(workers[-1], int) and workers[-1] > self.threads:
            raise NotSimulatedError(f"the machine has {self.threads} hardware threads")

    def _repeat(self, wanted: Wanted, spec: RunSpec) -> int:
        if self.repeat is not None or wanted.repeat is not None:
            return wanted.repeat or self.repeat or 1
        return int(wanted.program.quick.get("repeat", 1)) if self.quick else spec.repeat

    def _assignments(self, wanted: Wanted) -> list[Assignment]:
        program, study = wanted.program, self.study
        of_study = (
            *self._defaults(wanted),
            *self._fitted(wanted),
            *(program.fields("quick").assignments if self.quick else ()),
            *program.fields("row", wanted.row).assignments,
            *program.fields("variant", wanted.variant).assignments,
            *program.fields("exception", wanted.variant, wanted.row).assignments,
            *self._of_readings(wanted),
            *wanted.changes,
        )
        off = (study.ablations[name] for name in self.without)
        others = (each.fields for each in (*off, *self.changes) if each.scope.concerns(wanted))
        made = (
            *(each for each in of_study if not (self.machine and each.path[0] == MACHINE)),
            *(each for fields in others for each in fields.assignments),
            *from_mapping({MACHINE: self.machine} if self.machine else {}),
        )
        return [self._counted(each) for each in made]

    def _counted(self, given: Assignment) -> Assignment:
        """Return the assignment, with a number of workers in place of a word of `WORKERS_ON`."""
        if given.path != (WORKERS,) or given.value.content not in WORKERS_ON:
            return given
        count = getattr(self._machine, str(given.value.content))
        return replace(given, value=from_python(count, given.value.place))

    def _of_readings(self, wanted: Wanted) -> Iterable[Assignment]:
        for name, each in self.study.readings.items():
            if each.scope.concerns(wanted):
                yield from each.answers[self.readings.get(name, each.scored)].changes.assignments

    def _defaults(self, wanted: Wanted) -> Iterable[Assignment]:
        study, given = self.study, wanted.program.spec
        values = {MACHINE: study.machine, "seed": study.seed, "repeat": study.repeat}
        yield from from_mapping({name: value for name, value in values.items() if name not in given})
        if workers := wanted.program.document.child(WORKERS):
            yield Assignment((WORKERS,), workers, workers.place)

    def _fitted(self, wanted: Wanted) -> Iterable[Assignment]:
        """Yield the fitted fields of the runs."""
        for parameter in self.study.parameters:
            if self.only_rates and not parameter.first:
                continue
            for_row = not parameter.rows or wanted.row in parameter.rows
            if wanted.program.name in parameter.programs and for_row:
                value = parameter.alone if self.only_rates and parameter.alone is not None else parameter.value
                yield from from_mapping({parameter.field: scalar(value) if isinstance(value, str) else value})


def assigned(name: str, text: str) -> tuple[Assignment, ...]:
    """Return the assignment of the printed ``text`` to the field ``name``."""
    return tuple(from_mapping({name: scalar(text)}))


@dataclass(frozen=True)
class Side:
    """A plausible alternative to the study's choices: an end of a fitted range, or another choice of a reading.

    ``side`` is low or high, and "" from the third choice of a reading on. ``label`` describes the alternative.
    """

    name: str
    side: str
    label: str
    changes: tuple[Change, ...] = ()
    readings: Mapping[str, str] = field(default_factory=dict)

    def of(self, base: Setting) -> Setting:
        """Return ``base`` with this alternative and a single seed."""
        return replace(base, repeat=1, changes=self.changes, readings=self.readings)


def reading_sides(study: StudyRuns) -> Iterable[Side]:
    """Yield every choice of a reading except the scored choice."""
    for name, each in study.readings.items():
        for side, choice in itertools.zip_longest(SIDES[: len(each.others)], each.others, fillvalue=""):
            yield Side(name, side, choice, readings={name: choice})
