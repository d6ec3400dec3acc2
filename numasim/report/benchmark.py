"""Simulation rates of this machine: the reference engine beside bare SimPy, both timed in one run.

A bare timeout is the least that a simulation on SimPy can do: one event, no model. The engine's rates are held against
it with both hashes: event by event (`skip: off`), where the ratios say what the model costs and hardly depend on the
machine, and with like tasks in bulk (model 1.8), as a run does unless told otherwise. Samples of all rates alternate,
so that a busy moment of the machine spoils one of each.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import simpy
from rich import box
from rich.console import Console
from rich.table import Table

from numasim.engine.build import build_plan
from numasim.engine.plan import Plan
from numasim.engine.run import DEFAULT_ENGINE, simulate, simulate_spec
from numasim.spec.run import resolve
from numasim.spec.sweep import load_sweep
from numasim.sweep.frame import SweepResult
from numasim.sweep.run import run_sweep

MACHINE, WORKERS, SEED = "xeon-e5-2620-2s", 24, 1
TASKS_TARGET, CALLS_TARGET = 1 / 4, 1 / 8  # of the bare rate
SWEEP = f"""\
machine: {MACHINE}
workload: {{name: fib, n: 5}}
strategy: randomized
workers: 2
"""


@dataclass(frozen=True)
class Sizes:
    """How much is timed; the defaults take well under a minute."""

    timeouts: int = 300_000
    tasks: int = 200_000  # independent ones
    fib_n: int = 20  # 21,891 calls
    sweep_runs: int = 200
    samples: int = 5  # of each rate, of which the median is kept


@dataclass(frozen=True)
class Rate:
    """One measured rate per second; ``ratio`` is to the bare rate, ``target`` the least that it should be."""

    name: str
    per_second: float
    ratio: float
    target: float | None = None


@dataclass(frozen=True)
class Rates:
    """What `measure` found: the bare rate first, then the engine's."""

    rates: tuple[Rate, ...]
    sweep_overhead_ms: float  # per run of a sweep in one process, beside the engine's own time
    peak_memory_mib: float  # of this process


def measure(sizes: Sizes | None = None) -> Rates:
    """Time bare SimPy, the reference engine on independent tasks and on fib, and a sweep of very short runs."""
    sizes = sizes or Sizes()
    tasks = {"name": "independent", "tasks": sizes.tasks, "low_ns": 500, "high_ns": 1500}
    timed = (
        ("independent tasks, event by event", _plan(tasks, skip="off"), TASKS_TARGET),
        ("fib calls, event by event", _plan({"name": "fib", "n": sizes.fib_n}, skip="off"), CALLS_TARGET),
        ("independent tasks, in bulk", _plan(tasks, skip="auto"), None),
    )
    samples = [
        (timeouts_per_second(sizes.timeouts), *(tasks_per_second(plan) for _, plan, _ in timed))
        for _ in range(sizes.samples)
    ]
    bare, *engine = (statistics.median(column) for column in zip(*samples, strict=True))
    rates = [Rate("bare SimPy timeouts", bare, 1.0)]
    for (name, _, target), rate in zip(timed, engine, strict=True):
        rates.append(Rate(name, rate, rate / bare, target))
    return Rates(tuple(rates), sweep_overhead_ms(sizes.sweep_runs), peak_memory_mib())


def timeouts_per_second(timeouts: int, processes: int = WORKERS) -> float:
    """The rate of a SimPy simulation in which ``processes`` wait again and again, ``timeouts`` times together."""
    env = simpy.Environment()
    each = -(-timeouts // processes)
    for number in range(processes):
        env.process(_waiter(env, each, 1000 + number))
    start = time.perf_counter()
    env.run()
    return each * processes / (time.perf_counter() - start)


def tasks_per_second(plan: Plan) -> float:
    """The rate at which the reference engine simulates the tasks of ``plan``, its own preparation included."""
    result = simulate(plan, DEFAULT_ENGINE)
    return float(result.counters["tasks"] / result.engine_s)


def sweep_overhead_ms(runs: int) -> float:
    """What a run of a sweep costs beside its simulation: reading, planning, storing and tabulating, in milliseconds."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "overhead.yaml"
        file.write_text(f"{SWEEP}repeat: {runs}\n")
        start = time.perf_counter()
        outcome = run_sweep(
            load_sweep(file),
            Path(folder) / "results",
            jobs=1,
            engine=DEFAULT_ENGINE,
            runner=simulate_spec,
            progress=False,
        )
        took_s = time.perf_counter() - start
        simulating_s = float(SweepResult(outcome.directory).timing()["engine_s"].sum())
    return 1000 * (took_s - simulating_s) / runs


def peak_memory_mib() -> float:
    """The largest resident set of this process so far."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)  # bytes there, KiB elsewhere


def print_rates(rates: Rates, as_json: bool) -> None:
    """Print a table for people, or one JSON object."""
    if as_json:
        print(json.dumps(asdict(rates)))
        return
    console = Console()
    console.print(_table(rates))
    console.print(f"overhead per run of a sweep  {rates.sweep_overhead_ms:.1f} ms", highlight=False)
    console.print(f"peak memory                  {rates.peak_memory_mib:.0f} MiB", highlight=False)


def _plan(workload: dict[str, Any], skip: str) -> Plan:
    spec = {"machine": MACHINE, "workload": workload, "strategy": "randomized", "runtime": "bare", "workers": WORKERS}
    return build_plan(resolve({**spec, "model": {"skip": skip}}), SEED)


def _waiter(env: simpy.Environment, times: int, delay: int) -> Generator[simpy.Event, Any, None]:
    for _ in range(times):
        yield env.timeout(delay)


def _table(rates: Rates) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("", "per second", "of bare", "at least"):
        table.add_column(heading, justify="right" if heading else "left")
    for rate in rates.rates:
        target = "" if rate.target is None else f"{rate.target:.3f}"
        table.add_row(rate.name, f"{rate.per_second:,.0f}", f"{rate.ratio:.3f}", target)
    return table
