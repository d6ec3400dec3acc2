"""The measurements of `numasim bench`: the rates of both engines on independent tasks, on calls of fib, under every
effect and on every workload family; and the costs of complete commands and of sweeps.

Runs have uniform stealing on a machine with as many hardware threads as workers. By default all effects of memory are
off and only steals couple the workers, so that the speed of the engine itself is measured.
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
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from numasim import __version__
from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, simulate, simulate_spec
from numasim.errors import CheckError
from numasim.files.writer import write_text
from numasim.parts.models.effects_model import CacheModel, ContentionModel
from numasim.parts.yaml.nodes import Held
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan, Run
from numasim.report.figures.style import (
    REFERENCE_COLOUR,
    legend_below,
    line_colour,
    line_width,
    marker,
    panel_grid,
    styled,
)
from numasim.report.sweep_result import SweepResult
from numasim.spec.run_spec import resolve
from numasim.spec.sweep_spec import load_sweep
from numasim.sweep.batch import Runner
from numasim.sweep.pool import same_imports
from numasim.sweep.run_sweep import run_sweep
from numasim.validate.benchmark.sampling import AT_LEAST, AT_MOST, Finding, Goal, Probe, take
from numasim.workload.registry import FAMILIES

if TYPE_CHECKING:
    import simpy

Parameters = Mapping[str, Any]

REFERENCE, NATIVE = "reference", "native"  # the names of engines
SEED = 1  # the seed of every run
PLAIN: Parameters = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}  # all effects off
ALL: Parameters = {}  # all effects at their defaults
MACHINE, MACHINE_THREADS = "xeon-e5-2620-2s", 24
LARGE_MACHINE, FOUR_SOCKETS = "synthetic-16x64", "xeon-6130-4s"

SAMPLES = 5  # samples of each timed value; the finding is their median
TIMEOUTS, PROCESSES = 300_000, 24  # the number of timeouts of bare SimPy, and of the processes that wait
WORKERS = {REFERENCE: (2, 24), NATIVE: (2, 24, 128, 1024)}
MODES = {"eager": "off", "skipping": "auto"}  # the value of ``model.skip`` of each mode
SIZES = {  # by engine and mode: the number of independent tasks, and n of fib, for some tenths of a second
    (REFERENCE, "eager"): (30_000, 19),
    (REFERENCE, "skipping"): (30_000, 19),
    (NATIVE, "eager"): (4_000_000, 29),
    (NATIVE, "skipping"): (2**26, 35),
}
FAMILY_SIZES: dict[str, Parameters] = {name: family.benchmark for name, family in FAMILIES.items()}
FAMILY_SAMPLE_S = 0.1  # seconds of one sample, in which the cold caches of the first run do not matter
EFFECT_TASKS = 200_000
SWEEP_RUNS = 2000  # runs of a sweep, which share a graph

RATES = {"independent": "independent tasks, million per second", "fib": "calls of fib, million per second"}
EFFECTS = "cost of the effects (cache, contention), million tasks per second"
SERVED = "the same plan with queues' lines served, with workers at rest (speed as a ratio)"
BARE, OTHER_COSTS, MILLION = "bare SimPy timeouts", "other costs", "million per second"
CALM, SATURATED = "calm", "saturated"  # kinds of memory load
ALL_CALM = ("all effects", f"{CALM}, 24 workers")
TASK_BYTES = {CALM: 512, SATURATED: 65_536}
NATIVE_MILLIONS = {("independent", 24): Goal(AT_LEAST, 30), ("fib", 24): Goal(AT_LEAST, 10)}
ALL_EFFECTS_MILLIONS = {(CALM, 24): 2.0, (SATURATED, 24): 0.5, (SATURATED, 128): 0.1}
MEMORY_GOALS = {"graph B/task": Goal(AT_MOST, 256), "state B/live task": Goal(AT_MOST, 64)}
DASHED: dict[str, Any] = {"color": REFERENCE_COLOUR, "linestyle": (0, (4, 3)), "linewidth": 1.2}
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes per unit of ru_maxrss


def independent_tasks(tasks: int) -> Parameters:
    """Return the workload of ``tasks`` independent tasks, as long as the bare loop's (`verification/pairs.py`)."""
    return {"name": "independent", "tasks": tasks, "low_ns": 500, "high_ns": 1500}


def spec_of(
    workload: Parameters | Held, workers: int = MACHINE_THREADS, runtime: str = "bare", skip: str = "off", **others: Any
) -> dict[str, Any]:
    """Return the specification of a timed run, with ``others`` as further fields, on a machine with enough threads."""
    machine = MACHINE if workers <= MACHINE_THREADS else LARGE_MACHINE
    model = {**others.pop("model", PLAIN), "skip": skip}
    usual = {"machine": machine, "strategy": "randomized", "seed": SEED}
    return {**usual, "workload": workload, "runtime": runtime, "workers": workers, "model": model, **others}


def plan_of(workload: Parameters | Held, *arguments: Any, **others: Any) -> Plan:
    """Return the plan of `spec_of`."""
    return build_plan(resolve(spec_of(workload, *arguments, **others)))


MATMUL, SORT = {"name": "matmul", "n": 8192}, {"name": "sort", "n": 33_554_432}  # 67,108,864 tasks; the number of keys
OWN: dict[str, Any] = {"runtime": "own", "skip": "auto"}
LARGE: dict[str, Any] = {"machine": LARGE_MACHINE, "model": ALL, "runtime": "ompi", "skip": "auto"}
BOUND: dict[str, Any] = {**LARGE, "strategy": "locality-binding"}
COMMANDS: dict[str, tuple[Parameters, float, float | None, int | None]] = {
    # specification, largest desired seconds and MB (10**6 bytes), largest number of samples
    "matmul 8192, skipping": (spec_of(MATMUL, skip="auto"), 1, 300, None),
    "matmul 8192, event by event": (spec_of(MATMUL), 5, 300, None),
    "matmul 8192 on runtime own, in bulk": (spec_of(MATMUL, **OWN), 2, 300, None),
    "matmul 8192 on runtime own, in bulk, all effects": (spec_of(MATMUL, **OWN, model=ALL), 2, None, None),
    "fib 35, skipping": (spec_of({"name": "fib", "n": 35}, skip="auto"), 1, None, None),
    "sort of 33,554,432 keys, 1,024 workers": (spec_of(SORT, 1024, **LARGE), 5, None, 1),
    "sort of 33,554,432 keys, 256 workers, locality-binding": (spec_of(SORT, 256, **BOUND), 4, None, 1),
}


def measure(progress: bool = False) -> list[Finding]:
    """Measure all rates and costs on every engine that is built. ``progress`` shows a bar on a terminal's standard
    error.

    Without the native engine, complete commands and effects are left out: the reference engine would take minutes.
    """
    with TemporaryDirectory() as folder:
        probes = [*map(rate_probe, timed_rates(SIZES)), *family_probes()]
        if NATIVE in ENGINES:
            probes += [*map(rate_probe, timed_effects(EFFECT_TASKS)), *mechanism_probes()]
            probes += command_probes(Path(folder))
        overhead = "a run of a sweep, beside its simulation"
        probes += [
            Probe(OTHER_COSTS, BARE, {MILLION: None}, lambda: (timeouts_per_second(TIMEOUTS) / 1e6,)),
            Probe(OTHER_COSTS, overhead, {"ms": Goal(AT_MOST, 0.3)}, lambda: (overhead_ms(SWEEP_RUNS),)),
        ]
        found = take(probes, SAMPLES, progress)
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

    This simulation has no model; any simulation on SimPy costs at least as much for each event.
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


# ---- tasks per second of every engine: event by event, skipping ahead, and under every effect ------------------------


class Timed(NamedTuple):
    """A run on ``engine`` whose rate is measured. Only the last of ``runs`` runs counts, since the first also prepares
    arrays. The rate stands in a ``row`` and a ``column`` of a ``table``.
    """

    table: str
    row: str
    column: str
    engine: str
    spec: dict[str, Any]
    goal: Goal | None = None
    runs: int = 1


def timed_rates(sizes: Mapping[tuple[str, str], tuple[int, int]]) -> Iterator[Timed]:
    """Yield a run for every workload, engine, mode and number of workers; ``sizes`` are as in `SIZES`."""
    for workload, engine, (mode, skip) in product(RATES, ENGINES, MODES.items()):
        tasks, n = sizes[engine, mode]
        parameters = independent_tasks(tasks) if workload == "independent" else {"name": "fib", "n": n}
        for workers in WORKERS[engine]:
            goal = NATIVE_MILLIONS.get((workload, workers)) if (engine, mode) == (NATIVE, "eager") else None
            spec = spec_of(parameters, workers, skip=skip)
            yield Timed(RATES[workload], f"{engine}, {mode}", f"{workers} workers", engine, spec, goal)


def timed_effects(tasks: int) -> Iterator[Timed]:
    """Yield a run of ``tasks`` tasks for every cache and contention model under both loads, and for all effects.

    Every task reads memory of its own, which is spread page by page over all nodes. In the calm load, controllers and
    links have spare bandwidth. In the saturated load the demand on every controller exceeds its bandwidth, so that each
    start and end changes the share of every other task.
    """
    pairs = product(get_args(CacheModel), get_args(ContentionModel))
    models = {f"{cache}, {how}": {**PLAIN, "cache": cache, "contention": how} for cache, how in pairs}
    models["all effects"] = dict(ALL)
    spread = {"like": "randomized", "name": "randomized-interleaved", "placement": "interleave"}
    runs = [(load, MACHINE, MACHINE_THREADS, name) for load, name in product(TASK_BYTES, models)]
    for load, machine, workers, name in (*runs, (SATURATED, FOUR_SOCKETS, 128, "all effects")):
        size = {"tasks": tasks, "low_ns": 500, "high_ns": 1500, "task_bytes": TASK_BYTES[load]}
        workload = {"name": "random-fork-join", **size}
        spec = spec_of(workload, workers, machine=machine, strategy=spread, model=models[name])
        goal = Goal(AT_LEAST, ALL_EFFECTS_MILLIONS[load, workers]) if name == "all effects" else None
        yield Timed(EFFECTS, name, f"{load}, {workers} workers", NATIVE, spec, goal, runs=2)


def rate_probe(timed: Timed) -> Probe:
    """Return the probe of the rate of a run, in million tasks per second."""
    plan = build_plan(resolve(timed.spec))

    def rate() -> tuple[float]:
        for _ in range(timed.runs):
            result = simulate(plan, SEED, timed.engine)
        return (float(result.counters["tasks"] / result.engine_s / 1e6),)

    return Probe(timed.table, timed.row, {timed.column: timed.goal}, rate)


def mechanism_probes() -> Iterator[Probe]:
    """Yield a probe with cache lines served one after another (model 5.6), and one with workers at rest (model 4.15).

    The value of each probe is the engine's time for a plan without the mechanism, divided by the time for the same plan
    with the mechanism. In the second plan, 12 of 192 workers have a task at a time. The other workers spin, or sleep.
    """
    (calm,) = (timed.spec for timed in timed_effects(EFFECT_TASKS) if (timed.row, timed.column) == ALL_CALM)
    lines = [{**calm, "runtime": {"like": "bare", "costs": {"line": line}}} for line in ("no", "yes")]
    layers = {"name": "random-layered", "layers": 600, "width": 12, "degree": 3, "low_ns": 20_000, "high_ns": 40_000}
    ring = {"name": "ring", "steal": [{"from": "others", "pick": "rotate", "tries": "all"}]}
    phases = [{"rounds": 4, "yield_ns": 500}]
    idle = {"phases": phases, "sleep": {"recheck": "last"}, "wake": {"at": "no-searcher"}}
    costs = {"unpark_ns": 1000, "wake_ns": 3000, "wake_remote_ns": 4000}
    many = spec_of(layers, 192, machine="epyc-9654-2s", model=ALL, strategy=ring)
    rests = [{**many, "runtime": {"like": "bare", "costs": costs, **rules}} for rules in ({}, {"idle": idle})]
    for row, goal, specs in (
        ("served lines, all effects, calm, 24 workers", 0.6, lines),
        ("192 workers, of which 180 rest", 3, rests),
    ):
        plans = [build_plan(resolve(spec)) for spec in specs]
        yield Probe(SERVED, row, {"with to without": Goal(AT_LEAST, goal)}, partial(_speed_ratio, *plans))


def _speed_ratio(without: Plan, with_it: Plan) -> tuple[float]:
    """Return the native engine's time for the plan ``without`` a mechanism over the time for the plan ``with_it``."""
    took = [min(simulate(plan, SEED, NATIVE).engine_s for _ in range(2)) for plan in (without, with_it)]
    return (took[0] / took[1],)


@styled
def rates_figure(found: list[Finding]) -> Figure:
    """Draw the rates on logarithmic axes, together with the rate of bare SimPy timeouts.

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
        counts = sorted({workers for points in lines.values() for workers in points})
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
    """Draw a line in the colour and with the marker number ``index``, with a mark at each point."""
    mark: dict[str, Any] = {"marker": marker(index), "markeredgecolor": "white", "markeredgewidth": 0.6}
    colour, width = line_colour(index), line_width(index)
    axes.plot([*points], [*points.values()], color=colour, linewidth=width, label=label, zorder=3, **mark)


# ---- workload families: the time of each engine for the same plan, and the memory ------------------------------------


def family_specs() -> Iterator[dict[str, Any]]:
    """Yield the specification of each family, on the runtime that the family's paper (for matmul the thesis) used."""
    for name, parameters in FAMILY_SIZES.items():
        family = FAMILIES[name]
        runtime = family.benchmark_runtime or family.parameters.default_runtime
        # if skipping ahead were allowed, the engines would do different work
        yield spec_of({"name": name, **parameters}, runtime=runtime, skip="off" if runtime == "bare" else "auto")


def family_probes() -> Iterator[Probe]:
    """Yield a probe for every family: the time of each engine, their ratio, and the memory of graph and engine."""
    columns: dict[str, Goal | None] = {f"{engine}, ms": None for engine in ENGINES}
    if NATIVE in ENGINES:
        columns["reference to native"] = Goal(AT_LEAST, 40)
    for spec in family_specs():
        plan = build_plan(resolve(spec))
        memory = memory_of(plan)
        row = f"{spec['workload']['name']}: {plan.workload.tasks:,} tasks on {spec['runtime']}"
        goals = columns | {name: MEMORY_GOALS[name] for name in memory}
        yield Probe("workload families", row, goals, partial(_family_sample, plan, tuple(memory.values())))


def _family_sample(plan: Plan, memory: tuple[float, ...]) -> tuple[float, ...]:
    """Return the mean milliseconds of each engine over the runs that fit into a sample, the ratio, and ``memory``."""
    took_ms = {}
    for engine in ENGINES:
        seconds: list[float] = []
        while sum(seconds) < FAMILY_SAMPLE_S:
            seconds.append(simulate(plan, SEED, engine).engine_s)
        took_ms[engine] = 1000 * sum(seconds) / len(seconds)
    ratio = [took_ms[REFERENCE] / took_ms[NATIVE]] if NATIVE in took_ms else []
    return (*took_ms.values(), *ratio, *memory)


def memory_of(plan: Plan) -> dict[str, float]:
    """Return the bytes of the graph's arrays per task and of the native engine's state per live task.

    A program that consists only of implicit bodies has no tasks, and no entries.
    """
    tasks = plan.workload.tasks
    if not tasks:
        return {}
    memory = {"graph B/task": array_bytes(plan.workload) / tasks}
    if NATIVE in ENGINES:
        state = import_module("numasim.engine.native.native_engine").state_bytes(Run(plan, SEED))
        if state["live_tasks"]:
            memory["state B/live task"] = state["engine"] / state["live_tasks"]
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


def command_probes(folder: Path) -> Iterator[Probe]:
    """Yield a probe for every command; its specification is written to ``folder``."""
    for number, (name, (spec, most_s, most_mb, most)) in enumerate(COMMANDS.items()):
        file = folder / f"{number}.yaml"
        write_text(file, json.dumps(spec))
        command = [sys.executable, "-m", "numasim", "run", str(file), "--engine", NATIVE, "--json"]
        goals = {"seconds": Goal(AT_MOST, most_s), "peak MB": Goal(AT_MOST, most_mb) if most_mb else None}
        yield Probe("whole commands, numasim run", name, goals, partial(command_cost, command), most)


def command_cost(command: list[str]) -> tuple[float, float]:
    """Return the seconds and the peak memory (10**6 bytes) of ``command``. Raise CheckError if the command fails."""
    timed = [sys.executable, "-c", TIMED, *command]
    done = subprocess.run(timed, capture_output=True, text=True, check=True, env=same_imports())
    status, seconds, peak = json.loads(done.stdout)
    if status:
        raise CheckError(f"{' '.join(command[1:])} failed: {done.stderr.strip()}")
    return seconds, peak * RSS_UNIT / 1e6


# ---- sweeps of short runs that share a graph -------------------------------------------------------------------------


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
