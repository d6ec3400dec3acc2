"""Rates of the engines: independent tasks and calls of fib, every cache and contention model, every workload family.

Each rate of the first kind is measured at a size that takes the engine about as long as every other sample; otherwise
the constant cost of a run would dominate the time of a fast engine. The engine's own preparation counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from numasim.engine.simulate import ENGINES, simulate
from numasim.parts.models.effects_model import CacheModel, ContentionModel, ModelSpec
from numasim.plan.build_plan import revised
from numasim.plan.effects import effects_of
from numasim.plan.plan import Plan, Run
from numasim.validate.benchmark.benchmark_findings import (
    CALM,
    FULL,
    SATURATED,
    EffectRate,
    FamilyMemory,
    FamilyRatio,
    FamilyTime,
    Rate,
)
from numasim.validate.benchmark.effort import (
    ALL,
    FOUR_SOCKETS,
    FOUR_SOCKETS_THREADS,
    MACHINE,
    MACHINE_THREADS,
    NATIVE,
    PLAIN,
    REFERENCE,
    SEED,
    SPREAD_PAGES,
    Effort,
    Parameters,
    independent_tasks,
    machine_of,
    plan_of,
)
from numasim.validate.benchmark.sampling import Probe
from numasim.workload.families.fib import fib_calls
from numasim.workload.registry import FAMILIES

if TYPE_CHECKING:
    import simpy

PROCESSES = 24  # that wait in bare SimPy
MODES = {"eager": "off", "skipping": "auto"}
LARGEST_FIB = {"eager": 29, "skipping": 35}  # event by event, a call takes memory
MOST_INDEPENDENT = 2**26
GROWTH = 32.0  # of a size to the one tried before
TASK_BYTES = {CALM: 512, SATURATED: 65_536}
FAMILY_SAMPLE_S = 0.1  # long enough that the cold caches of the first run do not matter


# ---- bare SimPy: timeouts without a model, a lower limit of what any simulation on SimPy costs -----------------------


def bare_probe(effort: Effort) -> Probe[float]:
    """The probe of the rate of bare timeouts."""
    timeouts = max(PROCESSES, int(effort.sample_s * timeouts_per_second(effort.first_tasks)))
    return Probe(lambda: (timeouts_per_second(timeouts),), float)


def timeouts_per_second(timeouts: int) -> float:
    """The rate of a SimPy simulation in which `PROCESSES` wait repeatedly, ``timeouts`` times in all."""
    import simpy

    env = simpy.Environment()
    each = -(-timeouts // PROCESSES)
    for number in range(PROCESSES):
        env.process(_waiter(env, each, 1000 + number))
    start = time.perf_counter()
    env.run()
    return each * PROCESSES / (time.perf_counter() - start)


def _waiter(env: simpy.Environment, times: int, delay: int) -> Generator[simpy.Event, Any, None]:
    for _ in range(times):
        yield env.timeout(delay)


# ---- tasks per second of every engine, event by event and skipping ahead ---------------------------------------------


def rate_probes(effort: Effort) -> list[Probe[Rate]]:
    """A probe for every engine, mode, workload and number of workers."""
    return [
        _rate_probe(effort, engine, mode, workload, workers)
        for engine, mode, workload in product(ENGINES, MODES, WORKLOADS)
        for workers in (effort.reference_workers if engine == REFERENCE else effort.workers)
    ]


def fib_of(calls: int) -> int:
    """The largest n with which fib makes at most ``calls`` calls, 0 for none."""
    n = 0
    while fib_calls(n + 1)[0] <= calls:
        n += 1
    return n


WORKLOADS: dict[str, Callable[[int, str], Parameters]] = {
    "independent": lambda tasks, mode: independent_tasks(min(tasks, MOST_INDEPENDENT)),
    "fib": lambda tasks, mode: {"name": "fib", "n": min(fib_of(tasks), LARGEST_FIB[mode])},
}


def tasks_per_second(plan: Plan, engine: str = NATIVE) -> float:
    """The rate of tasks of a run."""
    result = simulate(plan, SEED, engine)
    return float(result.counters["tasks"] / result.engine_s)


def _rate_probe(effort: Effort, engine: str, mode: str, workload: str, workers: int) -> Probe[Rate]:
    plan = _fitted(effort, engine, mode, workload, workers)
    finding = partial(Rate, engine, mode, workload, machine_of(workers), workers, plan.workload.tasks)
    return Probe(lambda: (tasks_per_second(plan, engine),), finding)


def _fitted(effort: Effort, engine: str, mode: str, workload: str, workers: int) -> Plan:
    """The plan of the size that takes the engine about `Effort.sample_s`, or of the largest size."""

    def of_size(tasks: float) -> Plan:
        return plan_of(WORKLOADS[workload](int(tasks), mode), workers, "bare", MODES[mode])

    plan = of_size(effort.first_tasks)
    while (took_s := _quickest_s(plan, engine)) < effort.sample_s / 2:
        larger = of_size(plan.workload.tasks * min(GROWTH, effort.sample_s / took_s))
        if larger.workload.tasks <= plan.workload.tasks:
            break
        plan = larger
    return plan


def _quickest_s(plan: Plan, engine: str) -> float:
    """The shorter time of two runs, since the first one may have to import the engine."""
    return min(simulate(plan, SEED, engine).engine_s for _ in range(2))


# ---- caches and contention: every task reads memory of its own, spread page by page over all nodes -------------------


def effect_probes(effort: Effort) -> list[Probe[EffectRate]]:
    """A probe for every cache and contention model under both loads, and for all effects together.

    In the calm load controllers and links have spare bandwidth. In the saturated one the demand on every controller
    exceeds it, so that each start and end changes the share of every other task.
    """
    if NATIVE not in ENGINES:
        return []
    probes = []
    for load in TASK_BYTES:
        plan = effect_plan(effort, MACHINE, MACHINE_THREADS, load)
        probes += [_effect_probe(revised(plan, effects=effects_of(model)), load, names) for names, model in _models()]
    sockets = effect_plan(effort, FOUR_SOCKETS, FOUR_SOCKETS_THREADS, SATURATED, ALL)
    return [*probes, _effect_probe(sockets, SATURATED, (FULL, FULL))]


def _models() -> Iterator[tuple[tuple[str, str], ModelSpec]]:
    for cache, contention in product(get_args(CacheModel), get_args(ContentionModel)):
        yield (cache, contention), ModelSpec.model_validate({**PLAIN, "cache": cache, "contention": contention})
    yield (FULL, FULL), ModelSpec()


def effect_plan(effort: Effort, machine: str, workers: int, load: str, model: Parameters = PLAIN) -> Plan:
    """The plan of a load on ``machine`` under ``model``."""
    size = {"tasks": effort.effect_tasks, "low_ns": 500, "high_ns": 1500, "task_bytes": TASK_BYTES[load]}
    workload = {"name": "random-fork-join", **size}
    return plan_of(workload, workers, "bare", "off", machine=machine, strategy=SPREAD_PAGES, model=model)


def _effect_probe(plan: Plan, load: str, names: tuple[str, str]) -> Probe[EffectRate]:
    machine, workers = plan.machine.name, plan.workers.workers
    busiest = simulate(plan, SEED, NATIVE).row()["imc_busy_max"]
    return Probe(lambda: (repeated_rate(plan),), partial(EffectRate, machine, workers, load, *names, busiest))


def repeated_rate(plan: Plan) -> float:
    """The native engine's rate of tasks in a repeat, which uses the arrays of the run before."""
    simulate(plan, SEED, NATIVE)
    return tasks_per_second(plan)


# ---- workload families: the time for the same plan on every engine, and its memory -----------------------------------


def family_probes(effort: Effort) -> list[Probe[FamilyTime]]:
    """A probe for every family and engine; the engines share the plan."""
    return [_family_probe(family, engine, plan) for family, plan in _plans(effort) for engine in ENGINES]


def family_ratios(times: Sequence[FamilyTime]) -> list[FamilyRatio]:
    """The reference engine's time over the native one's, for the families that both have run."""
    seconds = {(each.family, each.engine): each.seconds for each in times}
    families = [family for family, engine in seconds if engine == NATIVE]
    return [FamilyRatio(family, seconds[family, REFERENCE] / seconds[family, NATIVE]) for family in families]


def family_memory(effort: Effort) -> list[FamilyMemory]:
    """The memory of every family's graph and, where the native engine is built, of its state."""
    return [_memory(family, plan) for family, plan in _plans(effort)]


def _plans(effort: Effort) -> Iterator[tuple[str, Plan]]:
    for family, parameters in effort.families.items():
        yield family, plan_of({"name": family, **parameters}, MACHINE_THREADS, runtime_of(family), skip_of(family))


def runtime_of(family: str) -> str:
    """The runtime of the family here: the one that its paper used (matmul: the thesis' own)."""
    chosen = FAMILIES[family]
    return chosen.benchmark_runtime or chosen.parameters.default_runtime


def skip_of(family: str) -> str:
    """The key `skip` for the family: off on a runtime on which a run may skip ahead, so that engines do the same."""
    return "off" if runtime_of(family) == "bare" else "auto"


def _family_probe(family: str, engine: str, plan: Plan) -> Probe[FamilyTime]:
    finding = partial(FamilyTime, family, engine, runtime_of(family), skip_of(family), plan.workload.tasks)
    return Probe(lambda: (_mean_s(plan, engine),), finding)


def _mean_s(plan: Plan, engine: str) -> float:
    """The time of a run: the mean of as many consecutive runs as fit `FAMILY_SAMPLE_S`."""
    seconds = [simulate(plan, SEED, engine).engine_s]
    while sum(seconds) < FAMILY_SAMPLE_S:
        seconds.append(simulate(plan, SEED, engine).engine_s)
    return sum(seconds) / len(seconds)


def _memory(family: str, plan: Plan) -> FamilyMemory:
    tasks = plan.workload.tasks
    per_task = array_bytes(plan.workload) / tasks if tasks else None
    return FamilyMemory(family, tasks, per_task, _state_bytes_per_live_task(plan))


def array_bytes(value: Any) -> int:
    """Bytes of every array in ``value``, a dataclass or a tuple of them."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        return sum(array_bytes(getattr(value, entry.name)) for entry in fields(value))
    return sum(map(array_bytes, value)) if isinstance(value, tuple) else 0


def _state_bytes_per_live_task(plan: Plan) -> float | None:
    if NATIVE not in ENGINES:
        return None
    state = import_module("numasim.engine.native.native_engine").state_bytes(Run(plan, SEED))
    return float(state["engine"] / state["live_tasks"]) if plan.workload.tasks and state["live_tasks"] else None
