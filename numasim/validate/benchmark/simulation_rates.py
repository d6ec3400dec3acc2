"""Rates of the engines on independent tasks, on calls of fib, under every effect and on every workload family; and the
costs of complete commands and of sweeps.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from numasim import __version__
from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, simulate, simulate_spec
from numasim.errors import CheckError
from numasim.files.writer import write_text
from numasim.parts.models.effects_model import CacheModel, ContentionModel, ModelSpec
from numasim.plan.build_plan import revised
from numasim.plan.effects import effects_of
from numasim.plan.plan import Plan, Run
from numasim.report.figures.grid import legend_below, panel_grid
from numasim.report.figures.style import REFERENCE_COLOUR, line_colour, line_width, marker, styled
from numasim.report.sweep_result import SweepResult
from numasim.spec.sweep_spec import load_sweep
from numasim.sweep.batch import Runner
from numasim.sweep.pool import same_imports
from numasim.sweep.run_sweep import run_sweep
from numasim.validate.benchmark import effort
from numasim.validate.benchmark.effort import (
    ALL,
    MACHINE,
    MACHINE_THREADS,
    NATIVE,
    PLAIN,
    REFERENCE,
    SEED,
    Parameters,
    independent_tasks,
    plan_of,
    spec_of,
)
from numasim.validate.benchmark.sampling import AT_LEAST, AT_MOST, Column, Finding, Goal, Probe, take
from numasim.workload.registry import FAMILIES

if TYPE_CHECKING:
    import simpy

RATES = {"independent": "independent tasks, million per second", "fib": "calls of fib, million per second"}
NATIVE_MILLIONS = {("independent", 24): Goal(AT_LEAST, 30), ("fib", 24): Goal(AT_LEAST, 10)}
MODES = {"eager": "off", "skipping": "auto"}
BARE, OTHER_COSTS, MILLION = "bare SimPy timeouts", "other costs", "million per second"
PROCESSES = 24  # processes of the bare simulation
DASHED: dict[str, Any] = {"color": REFERENCE_COLOUR, "linestyle": (0, (4, 3)), "linewidth": 1.2}


def measure(progress: bool = False) -> list[Finding]:
    """Measure all rates and costs on every engine that is built. ``progress`` shows a bar on a terminal's standard
    error.

    Without the native engine, complete commands and effects are left out: the reference engine would take minutes.
    """
    with TemporaryDirectory() as folder:
        probes = [*rate_probes(), *family_probes()]
        if NATIVE in ENGINES:
            probes += chain(effect_probes(), command_probes(Path(folder)))
        probes += [
            Probe(OTHER_COSTS, BARE, (Column(MILLION),), lambda: (timeouts_per_second(effort.TIMEOUTS) / 1e6,)),
            Probe(
                OTHER_COSTS,
                "a run of a sweep, beside its simulation",
                (OVERHEAD,),
                lambda: (overhead_ms(effort.SWEEP_RUNS),),
            ),
        ]
        found = take(probes, effort.SAMPLES, progress)
    return [*found, Finding(OTHER_COSTS, "peak memory of this process", "MB", peak_memory_mb())]


def measured_on() -> str:
    """Return a sentence on the measured machine and versions."""
    return (
        f"measured with numasim {__version__} (engines {', '.join(ENGINES)}; default {DEFAULT_ENGINE}) on Python"
        f" {platform.python_version()}, {platform.platform()}, {os.cpu_count() or 1} processors; values are medians"
    )


def peak_memory_mb() -> float:
    """Return the largest resident set of this process so far, in 10**6 bytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT / 1e6


def timeouts_per_second(timeouts: int) -> float:
    """Return the rate of a bare SimPy simulation: `PROCESSES` processes wait repeatedly, ``timeouts`` times in all.

    This simulation without a model is a lower limit of the cost of any simulation on SimPy.
    """
    import simpy

    env = simpy.Environment()
    each = -(-timeouts // PROCESSES)

    def waiter(delay: int) -> Generator[simpy.Event, Any, None]:
        for _ in range(each):
            yield env.timeout(delay)

    for number in range(PROCESSES):
        env.process(waiter(1000 + number))
    start = time.perf_counter()
    env.run()
    return each * PROCESSES / (time.perf_counter() - start)


# ---- tasks per second of every engine, event by event and skipping ahead ---------------------------------------------


def rate_probes() -> Iterator[Probe]:
    """Yield a probe for every engine, mode, workload and number of workers."""
    for workload, engine, (mode, skip) in product(RATES, ENGINES, MODES.items()):
        tasks, n = effort.SIZES[engine, mode]
        parameters = independent_tasks(tasks) if workload == "independent" else {"name": "fib", "n": n}
        for workers in effort.WORKERS[engine]:
            sample = partial(task_rate, plan_of(parameters, workers, skip=skip), engine)
            goal = NATIVE_MILLIONS.get((workload, workers)) if (engine, mode) == (NATIVE, "eager") else None
            yield Probe(RATES[workload], f"{engine}, {mode}", (Column(f"{workers} workers", goal),), sample)


def task_rate(plan: Plan, engine: str, runs: int = 1) -> tuple[float]:
    """Return the rate of the last of ``runs`` runs, in million tasks per second. A second run finds the arrays
    prepared.
    """
    for _ in range(runs):
        result = simulate(plan, SEED, engine)
    return (float(result.counters["tasks"] / result.engine_s / 1e6),)


@styled
def rates_figure(found: list[Finding]) -> Figure:
    """Draw the rates on logarithmic axes, beside the rate of bare SimPy timeouts.

    There is a line for every engine and mode, a panel for every workload.
    """
    titles = [(title.partition(",")[0], "") for title in RATES.values()]
    figure, panels = panel_grid(
        titles, columns=2, width=4.4, height=3.4, x_label="workers", y_label="simulated tasks per second"
    )
    (bare,) = (each.value for each in found if (each.row, each.column) == (BARE, MILLION))
    for axes, title in zip(panels, RATES.values(), strict=True):
        lines: dict[str, dict[int, float]] = {}
        for each in found:
            if each.table == title:
                lines.setdefault(each.row, {})[int(each.column.partition(" ")[0])] = each.value * 1e6
        for index, (label, points) in enumerate(lines.items()):
            draw_line(axes, index, label, points)
        axes.axhline(bare * 1e6, label=BARE, **DASHED)
        counts = sorted(set(chain.from_iterable(lines.values())))
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.yaxis.set_major_locator(LogLocator(10, numticks=20))
        axes.yaxis.set_major_formatter(EngFormatter())
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
    legend_below(figure, panels[0].get_lines())
    return figure


def draw_line(axes: Axes, index: int, label: str, points: Mapping[int, float]) -> None:
    """Draw the line of that index, with a mark at each point."""
    mark: dict[str, Any] = {"marker": marker(index), "markeredgecolor": "white", "markeredgewidth": 0.6}
    colour, width = line_colour(index), line_width(index)
    axes.plot([*points], [*points.values()], color=colour, linewidth=width, label=label, zorder=3, **mark)


# ---- caches and contention: every task reads memory of its own, spread page by page over all nodes -------------------

CALM, SATURATED = "calm", "saturated"  # kinds of memory load
TASK_BYTES = {CALM: 512, SATURATED: 65_536}
SPREAD_PAGES = {"like": "randomized", "name": "randomized-interleaved", "placement": "interleave"}
FOUR_SOCKETS = ("xeon-6130-4s", 128)
EFFECTS = "cost of the effects (cache, contention), million tasks per second"
ALL_EFFECTS_MILLIONS = {(CALM, 24): 2.0, (SATURATED, 24): 0.5, (SATURATED, 128): 0.1}


def effect_probes() -> Iterator[Probe]:
    """Yield a probe for every cache and contention model under both loads, and for all effects together.

    In the calm load, controllers and links have spare bandwidth. In the saturated load the demand on every controller
    exceeds its bandwidth, so that each start and end changes the share of every other task.
    """
    models: list[Parameters] = [
        {**PLAIN, "cache": cache, "contention": contention}
        for cache, contention in product(get_args(CacheModel), get_args(ContentionModel))
    ]
    for load in TASK_BYTES:
        plan = effect_plan(load, MACHINE, MACHINE_THREADS)
        for model in (*models, ALL):
            yield _effect_probe(load, revised(plan, effects=effects_of(ModelSpec.model_validate(model))), model)
    yield _effect_probe(SATURATED, effect_plan(SATURATED, *FOUR_SOCKETS, ALL), ALL)


def effect_plan(load: str, machine: str, workers: int, model: Parameters = PLAIN) -> Plan:
    """Return the plan of a load on ``machine`` under ``model``."""
    size = {"tasks": effort.EFFECT_TASKS, "low_ns": 500, "high_ns": 1500, "task_bytes": TASK_BYTES[load]}
    workload = {"name": "random-fork-join", **size}
    return plan_of(workload, workers, machine=machine, strategy=SPREAD_PAGES, model=model)


def _effect_probe(load: str, plan: Plan, model: Parameters) -> Probe:
    workers = plan.workers.workers
    if model:
        row, goal = f"{model['cache']}, {model['contention']}", None
    else:
        row, goal = "all effects", Goal(AT_LEAST, ALL_EFFECTS_MILLIONS[load, workers])
    return Probe(EFFECTS, row, (Column(f"{load}, {workers} workers", goal),), partial(task_rate, plan, NATIVE, 2))


# ---- workload families: the time of each engine for the same plan, and the memory ------------------------------------

FAMILY_SAMPLE_S = 0.1  # long enough that the cold caches of the first run do not matter
FAMILY_RATIO = Goal(AT_LEAST, 40)
GRAPH_BYTES, STATE_BYTES = Column("graph B/task", Goal(AT_MOST, 256)), Column("state B/live task", Goal(AT_MOST, 64))


def family_probes() -> Iterator[Probe]:
    """Yield a probe for every family: the time of each engine, their ratio, and the memory of graph and engine."""
    columns = [Column(f"{engine}, ms") for engine in ENGINES]
    columns += [Column("reference to native", FAMILY_RATIO)] * (NATIVE in ENGINES)
    for family, parameters in effort.FAMILY_SIZES.items():
        chosen = FAMILIES[family]  # on the runtime that the family's paper used; for matmul, the thesis' own
        runtime = chosen.benchmark_runtime or chosen.parameters.default_runtime
        # if skipping ahead were allowed, the engines would do different work
        skip = "off" if runtime == "bare" else "auto"
        plan = plan_of({"name": family, **parameters}, runtime=runtime, skip=skip)
        memory = memory_of(plan)
        row = f"{family}: {plan.workload.tasks:,} tasks on {runtime}"
        sample = partial(_family_sample, plan, tuple(memory.values()))
        yield Probe("workload families", row, (*columns, *memory), sample)


def _family_sample(plan: Plan, memory: tuple[float, ...]) -> tuple[float, ...]:
    took_ms = {engine: 1000 * _mean_s(plan, engine) for engine in ENGINES}
    ratio = [took_ms[REFERENCE] / took_ms[NATIVE]] if NATIVE in took_ms else []
    return (*took_ms.values(), *ratio, *memory)


def _mean_s(plan: Plan, engine: str) -> float:
    """Return the mean time of as many consecutive runs as fit into `FAMILY_SAMPLE_S` seconds."""
    seconds = [simulate(plan, SEED, engine).engine_s]
    while sum(seconds) < FAMILY_SAMPLE_S:
        seconds.append(simulate(plan, SEED, engine).engine_s)
    return sum(seconds) / len(seconds)


def memory_of(plan: Plan) -> dict[Column, float]:
    """Return the bytes of the graph's arrays per task and of the native engine's state per live task.

    A program that consists only of implicit bodies has no tasks, and no entries.
    """
    tasks = plan.workload.tasks
    if not tasks:
        return {}
    memory = {GRAPH_BYTES: array_bytes(plan.workload) / tasks}
    if NATIVE in ENGINES:
        state = import_module("numasim.engine.native.native_engine").state_bytes(Run(plan, SEED))
        if state["live_tasks"]:
            memory[STATE_BYTES] = state["engine"] / state["live_tasks"]
    return memory


def array_bytes(value: Any) -> int:
    """Return the bytes of every array in ``value``, a dataclass or a tuple of them."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        return sum(array_bytes(getattr(value, entry.name)) for entry in fields(value))
    return sum(map(array_bytes, value)) if isinstance(value, tuple) else 0


# ---- complete commands: ``numasim run`` from the start of its process to its end, with its peak memory ---------------

# The peak memory of a process includes the memory of the process that started it. So the command is started by a
# process that imports almost nothing.
TIMED = """
import json, os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), time.perf_counter() - start, usage.ru_maxrss]))
"""
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes per unit of ru_maxrss


def command_probes(folder: Path) -> Iterator[Probe]:
    """Yield a probe for every command; its specification is written to ``folder``."""
    for number, (name, (spec, most_s, most_mb, most)) in enumerate(effort.COMMANDS.items()):
        file = folder / f"{number}.yaml"
        write_text(file, json.dumps(spec))
        command = [sys.executable, "-m", "numasim", "run", str(file), "--engine", NATIVE, "--json"]
        memory = None if most_mb is None else Goal(AT_MOST, most_mb)
        columns = Column("seconds", Goal(AT_MOST, most_s)), Column("peak MB", memory)
        yield Probe("whole commands, numasim run", name, columns, partial(command_cost, command), most)


def command_cost(command: list[str]) -> tuple[float, float]:
    """Return the seconds and the peak memory (10**6 bytes) of ``command``. Raise CheckError if the command fails."""
    timed = [sys.executable, "-c", TIMED, *command]
    done = subprocess.run(timed, capture_output=True, text=True, check=True, env=same_imports())
    status, seconds, peak = json.loads(done.stdout)
    if status:
        raise CheckError(f"{' '.join(command[1:])} failed: {done.stderr.strip()}")
    return seconds, peak * RSS_UNIT / 1e6


# ---- sweeps of short runs that share a graph -------------------------------------------------------------------------

OVERHEAD = Column("ms", Goal(AT_MOST, 0.3))


def overhead_ms(runs: int) -> float:
    """Return the cost of a run in a sweep apart from its simulation: reading, planning, storing, tabulating."""
    took_s, engine_s = swept({"name": "fib", "n": 5}, runs, simulate_spec, jobs=1)
    return 1000 * (took_s - sum(engine_s)) / runs


def swept(workload: Parameters, runs: int, runner: Runner, **where: Any) -> tuple[float, list[float]]:
    """Return the seconds that a sweep of ``runs`` repeats takes, and the engine's time of each run in its table."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "sweep.yaml"
        write_text(file, json.dumps({**spec_of(workload, 4), "repeat": runs}))
        start = time.perf_counter()
        results = Path(folder) / "results"
        outcome = run_sweep(load_sweep(file), results, engine=DEFAULT_ENGINE, runner=runner, progress=False, **where)
        took_s = time.perf_counter() - start
        return took_s, SweepResult(outcome.directory).timing()["engine_s"].tolist()
