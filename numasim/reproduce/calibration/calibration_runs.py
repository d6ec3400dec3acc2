"""The runs of a calibration: the study's own programs, with the parameters that earlier steps found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from numasim.engine.simulate import simulate, simulate_spec
from numasim.parts.unit_factors import PS_PER_NS, PS_PER_S
from numasim.plan.build_plan import build_plan
from numasim.plan.serial_time import alone
from numasim.reproduce.calibration.record import Calibration
from numasim.reproduce.calibration.search import rising_root, rounded
from numasim.reproduce.programs import Wanted
from numasim.reproduce.quantities import QUANTITIES, Outcome
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study
from numasim.spec.overrides import from_mapping
from numasim.sweep.planned_runs import PlannedRun
from numasim.workload.one_worker import serial_ps as declared_serial_ps

RATE_DIGITS = 4
RATE_TOLERANCE = 5e-4  # mean relative error of serial times


def counters(run: PlannedRun) -> dict[str, Any]:
    """The counters of one run."""
    return simulate_spec(run.spec, run.seed).counters


def serial_ps(run: PlannedRun) -> int:
    """Time of a task program on one worker alone, equal to ``serial_ps`` of its parallel runs."""
    return int(simulate(alone(build_plan(run.spec)), run.seed).counters["makespan_ps"])


def mean_task_ns(run: PlannedRun) -> int:
    """Mean time of a task on one worker alone if no byte is found in a cache, as the back-off ``task`` uses it."""
    plan = build_plan(run.spec)
    node = plan.workers.node[0]
    total_ps = declared_serial_ps(plan.workload, int(plan.machine.latency_ps[node, node]), run.seed)
    return total_ps // plan.workload.tasks // PS_PER_NS


def told(run: PlannedRun, quantity: str) -> float:
    """The value of a published quantity in one run, in its unit."""
    return QUANTITIES[quantity].of(Outcome(run.spec, counters(run)))


def at_rate(run: PlannedRun, name: str, value: Any) -> PlannedRun:
    """The same run with another value of one parameter of its workload."""
    return replace(run, spec=replace(run.spec, workload=run.spec.workload.model_copy(update={name: value})))


@dataclass(frozen=True)
class SharedRate:
    """Programs whose kernels share one rate: the parameter of their workloads; by row, repeats and serial seconds."""

    rate: str
    runs: Mapping[str, Sequence[PlannedRun]]
    serial_s: Mapping[str, float]


def rate_now(group: SharedRate) -> int:
    """The rate that the runs are specified with."""
    return int(getattr(next(iter(group.runs.values()))[0].spec.workload, group.rate))


def serial_rate(group: SharedRate, start: int) -> int:
    """The rate at which the relative errors of the serial times add up to zero, searched from ``start``."""
    return rounded(rising_root(lambda rate: mean_error(group, rate), start, tolerance=RATE_TOLERANCE), RATE_DIGITS)


def mean_error(group: SharedRate, rate: int) -> float:
    """Mean relative error of the serial times at a rate."""
    seconds = serial_seconds(group, rate)
    return sum(each / group.serial_s[row] - 1 for row, each in seconds.items()) / len(seconds)


def serial_seconds(group: SharedRate, rate: int) -> dict[str, float]:
    """Serial times by row, at a rate."""
    return {row: serial_ps(at_rate(runs[0], group.rate, rate)) / PS_PER_S for row, runs in group.runs.items()}


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
        setting = Setting(replace(self.study, calibration=self.found))
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
