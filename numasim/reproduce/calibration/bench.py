"""The source of a calibration's runs: the study's own programs, with the parameters that earlier steps found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from numasim.reproduce.calibration.record import Calibration
from numasim.reproduce.plan.setting import Setting, Wanted
from numasim.reproduce.study.contents import Study
from numasim.spec.overrides import from_mapping
from numasim.sweep.planned_runs import PlannedRun

T = TypeVar("T")


@dataclass(frozen=True)
class Bench:
    """A study, the parameters found so far, the worker processes for runs, and a callback for progress."""

    study: Study
    found: Calibration
    executor: Executor
    say: Callable[[str], None]

    def runs(
        self, program: str, variant: str, changes: Mapping[str, Any], row: str = "", repeat: int = 1
    ) -> list[PlannedRun]:
        """The runs of a row of ``program``, one for each repeat; ``changes`` override all other fields."""
        setting = Setting(replace(self.study, parameters=self.found.parameters))
        wanted = Wanted(self.study.programs[program], row, variant, tuple(from_mapping(dict(changes))), repeat)
        return list(setting.runs(wanted))

    def map(self, job: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
        """The results of independent jobs, which may run in parallel, in the order of the jobs."""
        return list(self.executor.map(job, *arguments))

    def only(self, found: Calibration) -> Bench:
        """The same with other parameters."""
        return replace(self, found=found)

    def also(self, found: Calibration) -> Bench:
        """The same with what one more step found."""
        return self.only(self.found.joined(found))
