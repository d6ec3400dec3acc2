"""The gain of each contribution of a study, program by program, on the study's machine and on others.

On the study's own machine runs are as calibrated. Another machine has the values of its own file; fitted parameters of
programs and runtime stay, since they do not belong to the machine. Runs of a pair share their seed, so that task
durations are equal under both variants.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from numasim.engine.simulate import DEFAULT_ENGINE, require_engine, simulate_spec
from numasim.report.answers.statistics import Estimate, mean_interval
from numasim.reproduce.pages.report_folder import RUNS
from numasim.reproduce.plan.planned import value
from numasim.reproduce.plan.setting import Setting, Wanted
from numasim.reproduce.score.contribution_effects import TIME
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.names import check_names
from numasim.reproduce.study.study_files import ContributionSpec
from numasim.spec.overrides import from_mapping
from numasim.sweep.collection import Collected, collect_runs
from numasim.sweep.planned_runs import PlannedRun


@dataclass(frozen=True)
class Case:
    """A row of a study's program, possibly with a smaller size; ``changes`` are fields of the run."""

    name: str
    row: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Gain:
    """Speed with a contribution over speed without it, minus 1: mean and 95 % interval over the seeds."""

    contribution: str
    case: str
    machine: str
    gain: Estimate

    @property
    def certain(self) -> bool:
        """Whether the interval excludes a gain of 0."""
        return self.gain.low > 0 or self.gain.high < 0


@dataclass(frozen=True)
class _Step:
    contribution: str
    case: str
    machine: str
    before: tuple[PlannedRun, ...]
    after: tuple[PlannedRun, ...]


def gains(
    study: Study,
    directory: str | Path,
    cases: Sequence[Case],
    machines: Sequence[str],
    *,
    repeat: int,
    readings: Mapping[str, str] | None = None,
    jobs: int | None = None,
    engine: str = DEFAULT_ENGINE,
    progress: bool = False,
) -> tuple[Gain, ...]:
    """Simulate ``repeat`` seeds of each contribution of ``study`` with and without, for every case on every machine.

    ``readings`` has choices in place of those that the study scores. Raises `InputError` for an unknown row, field,
    machine, reading or choice.
    """
    require_engine(engine)
    steps = [
        step
        for machine in machines
        for name, contribution in study.file.contributions.items()
        for step in _steps(_setting(study, machine, repeat, readings or {}), machine, name, contribution, cases)
    ]
    runs = {run.run_id: run for step in steps for run in (*step.before, *step.after)}
    done = collect_runs(
        list(runs.values()), Path(directory) / RUNS, jobs=jobs, engine=engine, runner=simulate_spec, progress=progress
    )
    return tuple(Gain(step.contribution, step.case, step.machine, _gain(step, done)) for step in steps)


def _setting(study: Study, machine: str, repeat: int, readings: Mapping[str, str]) -> Setting:
    return Setting(study, machine=None if machine == study.file.machine else machine, repeat=repeat, readings=readings)


def _steps(
    setting: Setting, machine: str, name: str, contribution: ContributionSpec, cases: Sequence[Case]
) -> Iterable[_Step]:
    program = setting.study.programs[contribution.program]
    check_names(program.document, ("rows",), "row", [case.row for case in cases], program.file.rows)
    for case in cases:
        changes = tuple(from_mapping(case.changes))
        before, after = (
            setting.runs(Wanted(program, case.row, variant, changes))
            for variant in (contribution.over, contribution.variant)
        )
        yield _Step(name, case.name, machine, before, after)


def _gain(step: _Step, done: Collected) -> Estimate:
    pairs = zip(step.before, step.after, strict=True)
    finished = [pair for pair in pairs if not any(run.run_id in done.failures for run in pair)]
    ratios = [math.log(value(old, TIME, done) / value(new, TIME, done)) for old, new in finished]
    found = mean_interval(np.array(ratios, np.float64))
    return Estimate(math.expm1(found.value), math.expm1(found.low), math.expm1(found.high), found.count)
