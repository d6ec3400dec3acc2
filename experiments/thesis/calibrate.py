"""Fit parameters that the thesis does not give, only to the columns that the study marks as fitted.

    python experiments/thesis/calibrate.py [--step N]... [--jobs N]

writes calibrated.yaml beside this file. Steps (model 7.1), each of which keeps the values of earlier steps:

1. the serial times of Table 3.4 give one compute rate for each family of programs;
2. the serial times of Strassen's three sizes give the number of misses under way of a single thread;
3. the counts of Table 3.1 give the spread of the workers' speeds. The capacity of a queue and the first back-off are
   searched together with the spread. The counts identify only the product of the capacity and the share of time in
   which a worker that is alone on a core is ahead;
4. the steal attempts of Strassen-4096 in Table 3.6 give the time between two polls;
5. the NUMA-oblivious overheads of Table 6.4 give the runtime's own work for each construct.

No parameter is fitted to the randomized times: predictions of absolute times know only the serial times.

A parameter is refused if the data cannot distinguish the best value from an end of the searched range. The field of a
refused parameter keeps the value of the machine's, the model's or the runtime's file, at which the search starts.

``--step`` repeats some steps; calibrated.yaml has the results of the other steps.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeVar

from numasim.engine.simulate import simulate, simulate_spec
from numasim.files.writer import write_text
from numasim.parts.unit_factors import PS_PER_NS, PS_PER_S
from numasim.plan.build_plan import build_plan
from numasim.plan.serial_time import alone
from numasim.reproduce.calibration_file import Calibration, StepScore, read_calibration
from numasim.reproduce.programs import Wanted
from numasim.reproduce.quantities import QUANTITIES, Outcome
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study, read_study
from numasim.spec.overrides import from_mapping
from numasim.sweep.planned_runs import PlannedRun
from numasim.workload.one_worker import serial_ps as declared_serial_ps

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of the studies

from parameter_search import (
    Axis,
    Evidence,
    Point,
    Readings,
    Source,
    Verdict,
    calibration_yaml,
    fit,
    identified_root,
    joined,
    of_steps,
    rising_root,
    rms,
    root_at,
    values_at,
)

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "calibrated.yaml"
COMMENT = """Written by calibrate.py; do not edit. Values that were fitted, on what, and how well.
Errors of times are (simulated - published) / published, of counts ln((simulated + 1) / (published + 1))."""

SERIAL = "serial_execution_time_s"
FALSE, SUCCESS = "false_steal_count", "success_steal_count"
ATTEMPTS, OBLIVIOUS = "steal_attempt_count", "numa_oblivious_overhead_ms"  # microseconds, whatever the heading says
OVERHEAD = "overhead_us"
POLLED = "Strassen-4096"
RATE_DIGITS = 4
RATE_TOLERANCE = 5e-4  # mean relative error of serial times
Errors = dict[str, float]  # errors of simulated against published values, by "row, column"
T = TypeVar("T")


@dataclass(frozen=True)
class Family:
    """Programs whose kernels share the workload parameter ``rate``, and the number ``repeat`` of averaged runs."""

    rate: str
    unit: str
    rows: tuple[str, ...]
    repeat: int = 1

    @property
    def field(self) -> str:
        """Return the dotted name of the field of a run that has the rate."""
        return f"workload.{self.rate}"


FAMILIES = {
    "strassen": Family(  # by seed, times of Strassen vary by some percent, others by a tenth as much
        "ps_per_1000_flops", "ps per 1000 flops", ("Strassen-2048", "Strassen-4096", "Strassen-8192"), repeat=3
    ),
    "sort": Family("ps_per_1000_comparisons", "ps per 1000 comparisons", ("Sort-33554432",)),
    "sparselu": Family("ps_per_1000_flops", "ps per 1000 flops", ("SparseLU-single", "SparseLU-for")),
}
EVERYWHERE = ("bots", "matmul", "syncbench")


@dataclass(frozen=True)
class Data:
    """All published values that any step reads, by row, and their standard deviations by rounding."""

    serial_s: Mapping[str, float]
    false_steals: Mapping[str, float]
    steals: Mapping[str, float]
    attempts: Mapping[str, float]
    overheads_us: Mapping[str, float]
    serial_rounding: Mapping[str, float]
    attempts_rounding: Mapping[str, float]
    overheads_rounding: Mapping[str, float]


def read_data(readings: Readings) -> Data:
    """Read the published values that model 7.1 allows, and no others."""
    return Data(
        serial_s=readings.values("3.4", SERIAL),
        false_steals=readings.values("3.1", FALSE),
        steals=readings.values("3.1", SUCCESS),
        attempts=readings.values("3.6", ATTEMPTS, (POLLED,)),
        overheads_us=readings.values("6.4", OBLIVIOUS),
        serial_rounding=readings.rounding("3.4", SERIAL),
        attempts_rounding=readings.rounding("3.6", ATTEMPTS, (POLLED,)),
        overheads_rounding=readings.rounding("6.4", OBLIVIOUS),
    )


# The runs of a calibration: the study's own programs, with the parameters that earlier steps found


def counters(run: PlannedRun) -> dict[str, Any]:
    """Return the counters of one run."""
    return simulate_spec(run.spec, run.seed).counters


def serial_ps(run: PlannedRun) -> int:
    """Return the time of the program on one worker alone, in ps; parallel runs have the same time as ``serial_ps``."""
    return int(simulate(alone(build_plan(run.spec)), run.seed).counters["makespan_ps"])


def mean_task_ns(run: PlannedRun) -> int:
    """Return the mean time of a task on one worker without cache hits, as the back-off ``task`` uses it."""
    plan = build_plan(run.spec)
    node = plan.workers.node[0]
    total_ps = declared_serial_ps(plan.workload, int(plan.machine.latency_ps[node, node]), run.seed)
    return total_ps // plan.workload.tasks // PS_PER_NS


def told(run: PlannedRun, quantity: str) -> float:
    """Return the value of a quantity of `QUANTITIES` in one run."""
    return QUANTITIES[quantity].of(Outcome(run.spec, counters(run)))


def at_rate(run: PlannedRun, name: str, value: Any) -> PlannedRun:
    """Return the run with ``value`` as the parameter ``name`` of the workload."""
    return replace(run, spec=replace(run.spec, workload=run.spec.workload.model_copy(update={name: value})))


@dataclass(frozen=True)
class SharedRate:
    """Programs whose kernels share the workload parameter ``rate``, with their runs and serial seconds by row."""

    rate: str
    runs: Mapping[str, Sequence[PlannedRun]]
    serial_s: Mapping[str, float]


def rate_now(group: SharedRate) -> int:
    """Return the rate in the specification of the runs."""
    return int(getattr(next(iter(group.runs.values()))[0].spec.workload, group.rate))


def serial_rate(group: SharedRate, start: int) -> int:
    """Return the rate at which the relative errors of the serial times sum to zero, searched from ``start``."""
    rate = rising_root(lambda rate: mean_error(group, rate), start, tolerance=RATE_TOLERANCE)
    unit: int = 10 ** max(0, len(str(rate)) - RATE_DIGITS)
    return (rate + unit // 2) // unit * unit


def mean_error(group: SharedRate, rate: int) -> float:
    """Return the mean relative error of the serial times at a rate."""
    seconds = serial_seconds(group, rate)
    return sum(each / group.serial_s[row] - 1 for row, each in seconds.items()) / len(seconds)


def serial_seconds(group: SharedRate, rate: int) -> dict[str, float]:
    """Return the serial times by row, at a rate."""
    return {row: serial_ps(at_rate(runs[0], group.rate, rate)) / PS_PER_S for row, runs in group.runs.items()}


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
        """Return the runs of a row of ``program``, one for each repeat; ``changes`` override all other fields."""
        setting = Setting(replace(self.study, calibration=self.found))
        wanted = Wanted(self.study.programs[program], row, variant, tuple(from_mapping(dict(changes))), repeat)
        return list(setting.runs(wanted))

    def map(self, job: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
        """Return the results of independent jobs, which may run in parallel, in the order of the jobs."""
        return list(self.executor.map(job, *arguments))

    def only(self, found: Calibration) -> Bench:
        """Return the bench with the parameters ``found`` in place of its own."""
        return replace(self, found=found)

    def also(self, found: Calibration) -> Bench:
        """Return the bench with the parameters of one more step."""
        return self.only(joined(self.found, found))


# Errors and scores


def errors_of(column: str, simulated: Mapping[str, float], published: Mapping[str, float]) -> Errors:
    """Return relative errors by "row, column", of the simulated rows."""
    return {f"{row}, {column}": value / published[row] - 1 for row, value in simulated.items()}


def score(step: int, errors: Errors) -> StepScore:
    """Return the rounded errors of a step, and their root mean square."""
    short = {name: round(error, 4) for name, error in errors.items()}
    return StepScore(step=step, rms=round(rms(errors.values()), 4), errors=short)


def with_residual(found: Calibration, scored: StepScore) -> Calibration:
    """Return the results of a step with its score; the rms of the score is the residual of the step's parameters."""
    parameters = (
        each.model_copy(update={"residual": scored.rms}) if each.step == scored.step else each
        for each in found.parameters
    )
    return joined(found.model_copy(update={"parameters": tuple(parameters)}), Calibration(scores=(scored,)))


# Step 1: serial times of the BOTS programs


def shared_rate_of(bench: Bench, data: Data, family: str, changes: Mapping[str, Any], repeat: int = 1) -> SharedRate:
    """Return the programs of a family under randomized stealing."""
    its = FAMILIES[family]
    runs = {row: bench.runs("bots", "randomized", changes, row, repeat) for row in its.rows}
    return SharedRate(its.rate, runs, {row: data.serial_s[row] for row in its.rows})


def fit_rates(bench: Bench, data: Data) -> Calibration:
    """Step 1: return the rates that give the serial times, with earlier fits and with unfitted machine and model."""
    alone = rates_on(bench.only(Calibration()), data)
    if not bench.found.parameters:
        return alone
    found = rates_on(bench, data)
    others = {each.name: each.value for each in alone.parameters}
    parameters = [
        each.model_copy(update={"alone": others[each.name]}) if others[each.name] != each.value else each
        for each in found.parameters
    ]
    return found.model_copy(update={"parameters": tuple(parameters)})


def rates_on(bench: Bench, data: Data) -> Calibration:
    """Return the rate of each family with a mean error of zero, with the parameters of ``bench``."""
    groups = [shared_rate_of(bench, data, family, {}) for family in FAMILIES]
    roots = bench.map(rate_root, FAMILIES, groups, [data.serial_rounding] * len(groups))
    seconds = bench.map(serial_seconds, groups, [root.found for root in roots])
    errors = [errors_of(SERIAL, each, data.serial_s) for each in seconds]
    found = Calibration(scores=(score(1, {name: error for each in errors for name, error in each.items()}),))
    for family, root, each in zip(FAMILIES.values(), roots, errors, strict=True):
        verdict = replace(root, axis=replace(root.axis, sets=family.field, unit=family.unit))
        source = Source(1, ("bots",), "3.4", (SERIAL,), family.rows)
        found = joined(found, verdict.calibration(source, family.rows, rms(each.values())))
    return found


def rate_root(family: str, group: SharedRate, rounding: Mapping[str, float]) -> Verdict:
    """Return the rate at which the errors of the serial times sum to zero; their scatter is the noise of the mean."""
    start = rate_now(group)
    found = serial_rate(group, start)
    errors = errors_of(SERIAL, serial_seconds(group, found), group.serial_s).values()
    scatter = math.sqrt(sum(error**2 for error in errors) / max(1, len(errors) - 1))
    noise = max(scatter, rms(rounding[row] for row in group.serial_s)) / math.sqrt(len(errors))
    axis = Axis(f"{family} rate", start, start // 100, 100 * start, start, 1)
    return root_at(lambda rate: mean_error(group, rate), axis, found, noise)


def score_serial(bench: Bench, data: Data, rows: Sequence[str]) -> StepScore:
    """Return the errors of the serial times of some rows."""
    seconds = [serial_ps(bench.runs("bots", "randomized", {}, row)[0]) / PS_PER_S for row in rows]
    return score(1, errors_of(SERIAL, dict(zip(rows, seconds, strict=True)), data.serial_s))


# Step 2: waiting for memory

STREAMING = (Axis("misses under way of a single thread", 100, 20, 300, 40, 10, "model.mlp", Decimal("0.01")),)


def fit_streaming(bench: Bench, data: Data) -> Calibration:
    """Step 2: return the misses under way of a single thread, from the serial times of Strassen's three sizes."""
    rows, nearest = FAMILIES["strassen"].rows, dict[str, int]()

    def costs(points: Sequence[Point]) -> list[float]:
        groups = [shared_rate_of(bench, data, "strassen", values_at(STREAMING, point)) for point in points]
        rates = bench.map(serial_rate, groups, [nearest.get("rate") or rate_now(group) for group in groups])
        nearest["rate"] = rates[-1]
        seconds = bench.map(serial_seconds, groups, rates)
        return [rms(errors_of(SERIAL, each, data.serial_s).values()) for each in seconds]

    evidence = Evidence(len(rows), 1, rms(data.serial_rounding[row] for row in rows))
    found = search(bench, STREAMING, costs, evidence, Source(2, EVERYWHERE, "3.4", (SERIAL,), rows))
    return with_rates(bench, data, found) if found.parameters else found


def with_rates(bench: Bench, data: Data, found: Calibration) -> Calibration:
    """Return ``found`` with the rates that are fitted if ``found`` is set."""
    bench.say("rates and serial times of all sizes")
    return joined(found, fit_rates(bench.also(found), data))


def search(
    bench: Bench,
    axes: Sequence[Axis],
    costs: Callable[[Sequence[Point]], list[float]],
    evidence: Evidence,
    source: Source,
) -> Calibration:
    """Return the parameters that the data identify, and the refused parameters."""
    bench.say(f"step {source.step}")
    found = Calibration()
    for verdict in fit(axes, costs, evidence, bench.say):
        found = joined(found, verdict.calibration(source))
    return found


# Step 3: steals of MATMUL

STEALS = (
    Axis("queue capacity", 500, 100, 1000, 200, 25, "runtime.capacity", unit="tasks"),
    Axis("worker spread", 0, 0, 300, 40, 5, "model.worker_spread", Decimal("0.001")),
    # The numbers of this axis are hundredths of the mean time of a task.
    Axis("first back-off", 100, 25, 400, 100, 25, "runtime.backoff.first_ns", unit="ns"),
)
SIZE = 8192  # the size of the matrices of Table 3.1, for which the score is computed
# The size of the matrices in the search. A run of this size takes a fortieth of the time of a run of SIZE. Most steals
# happen at the end of a run. Runs of both sizes therefore have the same counts if a back-off lasts equally many tasks:
# at the found parameters within 2 % in the mean and 6 % at the worst. Sizes of 2048 and 4096 are no better: a search
# with 2048 ends one step of capacity away, where the errors at SIZE are no smaller.
STAND_IN = 1024
STEAL_REPEATS = 2


def fit_steals(bench: Bench, data: Data) -> Calibration:
    """Step 3: return queue capacity, spread of speeds and first back-off, from the counts of Table 3.1."""
    task_ns = {n: mean_task_ns(bench.runs("matmul", "randomized", {"workload.n": n})[0]) for n in (STAND_IN, SIZE)}

    def costs(points: Sequence[Point]) -> list[float]:
        changes = ({**values_at(steals_at(task_ns[STAND_IN]), point), "workload.n": STAND_IN} for point in points)
        return [rms(steal_errors(bench, data, each).values()) for each in changes]

    source = Source(3, ("matmul",), "3.1", (FALSE, SUCCESS), tuple(data.steals))
    found = search(bench, steals_at(task_ns[SIZE]), costs, Evidence(2 * len(data.steals)), source)
    return with_residual(found, score_steals(bench.also(found), data, SIZE)) if found.parameters else found


def steals_at(task_ns: int) -> tuple[Axis, ...]:
    """Return the axes of the search; the first back-off is a multiple of the mean time of a task, ``task_ns``."""
    *others, backoff = STEALS
    return (*others, replace(backoff, grain=Decimal(task_ns) / 100))


def score_steals(bench: Bench, data: Data, n: int) -> StepScore:
    """Return the errors of the counts of matrices of a size."""
    return score(3, steal_errors(bench, data, {"workload.n": n}))


def steal_errors(bench: Bench, data: Data, changes: Mapping[str, Any]) -> Errors:
    """Return ln((simulated + 1) / (published + 1)) of the mean counts over repeats."""
    runs = {
        row: bench.runs("matmul", "randomized", {**changes, "workers": int(row)}, repeat=STEAL_REPEATS)
        for row in data.steals
    }
    found = dict(zip(runs, chunks(bench.map(counters, [run for each in runs.values() for run in each])), strict=True))
    columns = ((FALSE, "steal_false", data.false_steals), (SUCCESS, "steal_success", data.steals))
    return {
        f"{row}, {column}": math.log1p(sum(each[name] for each in repeats) / len(repeats)) - math.log1p(published[row])
        for column, name, published in columns
        for row, repeats in found.items()
    }


def chunks(found: Sequence[dict[str, Any]]) -> list[Sequence[dict[str, Any]]]:
    """Return the repeats of every row."""
    return [found[at : at + STEAL_REPEATS] for at in range(0, len(found), STEAL_REPEATS)]


# Step 4: the polls of idle workers of OMPi

POLLS = Axis("poll interval", 270, 1, 100_000, 100, 1, "runtime.poll_ns", unit="ns")


def fit_polls(bench: Bench, data: Data) -> Calibration:
    """Step 4: return the time between two polls that gives the attempts of one program."""

    def error(poll_ns: int) -> float:  # rises with the time, proportionally if polls take no time
        attempts = mean_attempts(bench, {POLLS.sets: POLLS.value(poll_ns)})
        bench.say(f"step 4: {attempts:.0f} attempts at {poll_ns} ns")
        return data.attempts[POLLED] / attempts - 1

    noise = max(data.attempts_rounding[POLLED], scatter_of_mean(attempts_of(bench, {})))
    root = identified_root(error, POLLS, noise, tolerance=5e-3)
    found = root.calibration(Source(4, ("bots",), "3.6", (ATTEMPTS,), (POLLED,)))
    return with_residual(found, score_polls(bench.also(found), data)) if found.parameters else found


def score_polls(bench: Bench, data: Data) -> StepScore:
    """Return the error of the attempts."""
    attempts = mean_attempts(bench, {})
    return score(4, {f"{POLLED}, {ATTEMPTS}": math.log1p(attempts) - math.log1p(data.attempts[POLLED])})


def mean_attempts(bench: Bench, changes: Mapping[str, Any]) -> float:
    """Return the mean number of steal attempts over repeats."""
    return fmean(attempts_of(bench, changes))


def attempts_of(bench: Bench, changes: Mapping[str, Any]) -> list[int]:
    """Return the steal attempts of every repeat."""
    runs = bench.runs("bots", "randomized", changes, POLLED, FAMILIES["strassen"].repeat)
    return [each["steal_attempts"] for each in bench.map(counters, runs)]


def scatter_of_mean(values: Sequence[float]) -> float:
    """Return the standard error of a mean over seeds, relative to the mean."""
    return stdev(values) / math.sqrt(len(values)) / fmean(values)


# Step 5: the runtime's own work for a construct


@dataclass(frozen=True)
class OwnPart:
    """The runtime's own work for a construct; ``parameter`` is the parameter of syncbench with the amount of work."""

    name: str
    parameter: str
    unit: str
    start: int
    most: int
    coarse: int
    number: type[int | Decimal]


OWN_TIME = OwnPart("runtime's own time", "construct_ns", "ns", 100, 1_000_000, 100, Decimal)
OWN_LINES = OwnPart("runtime's own lines", "construct_lines", "lines", 8, 64, 8, int)
LINES_IN = ("atomic",)  # by the reading "what an atomic operation pays", lines move with the lock of the operation


def fit_constructs(bench: Bench, data: Data) -> Calibration:
    """Step 5: return the runtime's own work that gives each overhead: a time or a number of cache lines."""
    found = Calibration()
    for row, published_us in data.overheads_us.items():
        own = OWN_LINES if row in LINES_IN else OWN_TIME
        run = bench.runs("syncbench", "oblivious", {}, row)[0]

        def error(amount: int, run: PlannedRun = run, own: OwnPart = own, published_us: float = published_us) -> float:
            return told(at_rate(run, own.parameter, own.number(amount)), OVERHEAD) / published_us - 1

        name, field = f"{own.name}, {row}", f"workload.{own.parameter}"
        axis = Axis(name, own.start, 0, own.most, own.coarse, 1, field, unit=own.unit)
        root = identified_root(error, axis, data.overheads_rounding[row], tolerance=1e-3)
        bench.say(f"step 5: {row} {root.found} {own.unit}, error {root.residual:.4f}")
        source = Source(5, ("syncbench",), "6.4", (OBLIVIOUS,), (row,))
        found = joined(found, root.calibration(source, (row,)))
    return joined(found, Calibration(scores=(score_constructs(bench.also(found), data),)))


def score_constructs(bench: Bench, data: Data) -> StepScore:
    """Return the errors of all overheads."""
    simulated = {row: told(bench.runs("syncbench", "oblivious", {}, row)[0], OVERHEAD) for row in data.overheads_us}
    return score(5, errors_of(OBLIVIOUS, simulated, data.overheads_us))


# All steps

STEPS: dict[int, Callable[[Bench, Data], Calibration]] = {
    1: fit_rates, 2: fit_streaming, 3: fit_steals, 4: fit_polls, 5: fit_constructs,
}  # fmt: skip
BUILDS_ON = {1: (2,), 2: (), 3: (1, 2), 4: (1, 2, 3), 5: (1, 2, 3, 4)}  # step 2 finds the rates of step 1 anew


def calibrate(
    study: Study, steps: Iterable[int], before: Calibration, jobs: int, say: Callable[[str], None]
) -> Iterator[Calibration]:
    """Do ``steps`` in order, each with the parameters of earlier steps, and yield all parameters after each step.

    ``before`` has the parameters of the other steps.
    """
    data = read_data(Readings(study))
    found = before
    with ProcessPoolExecutor(jobs) as executor:
        for step in sorted(steps):
            bench = Bench(study, of_steps(found, BUILDS_ON[step]), executor, say)
            done = STEPS[step](bench, data)
            found = joined(of_steps(found, set(STEPS) - {step} - {each.step for each in done.parameters}), done)
            for each in done.scores:
                say(f"step {each.step}: rms {each.rms}; {each.errors}")
            yield found


def main() -> None:
    """Read the command line, calibrate, write the file after each step."""
    parser = argparse.ArgumentParser(description="Fit the parameters of the thesis' machine and runtimes.")
    parser.add_argument("--step", type=int, action="append", choices=STEPS, help="do only this step over")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    chosen = parser.parse_args()
    start = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - start:6.0f} s  {line}", flush=True)

    before = read_calibration(OUTPUT) if chosen.step else Calibration()
    for found in calibrate(read_study(str(HERE)), chosen.step or STEPS, before, chosen.jobs, say):
        write_text(OUTPUT, calibration_yaml(found, COMMENT))


if __name__ == "__main__":
    main()
