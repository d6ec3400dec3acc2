"""Where the runs of a calibration come from: the study's own programs, under what earlier steps found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from numasim.reproduce.calibration.record import Calibration
from numasim.reproduce.plan.setting import Setting, Wanted
from numasim.reproduce.study.contents import Study
from numasim.spec.overrides import from_mapping
from numasim.sweep.planned_runs import Run

T = TypeVar("T")


@dataclass(frozen=True)
class Bench:
    """A study, what was found so far, who does the runs, and who is told how far things are."""

    study: Study
    found: Calibration
    executor: Executor
    say: Callable[[str], None]

    def runs(self, program: str, variant: str, changes: Mapping[str, Any], row: str = "", repeat: int = 1) -> list[Run]:
        """The runs of a row of ``program``, one for each repeat; ``changes`` go on top of all else."""
        setting = Setting(replace(self.study, parameters=self.found.parameters))
        wanted = Wanted(self.study.programs[program], row, variant, tuple(from_mapping(dict(changes))), repeat)
        return list(setting.runs(wanted))

    def map(self, job: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
        """Results of jobs that may be done side by side, in their order."""
        return list(self.executor.map(job, *arguments))

    def also(self, found: Calibration) -> Bench:
        """The same with what one more step found."""
        return replace(self, found=self.found.joined(found))
