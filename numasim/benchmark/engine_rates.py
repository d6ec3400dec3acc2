"""Tasks per second of every engine: independent tasks and the calls of fib, event by event and skipping ahead.

Each rate is measured at a size that takes the engine about as long as every other sample; otherwise the constant cost
of a run would dominate the time of a fast engine. The engine's own preparation counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from numasim.benchmark.benchmark_findings import Rate
from numasim.benchmark.effort import Effort
from numasim.benchmark.sampling import Probe
from numasim.benchmark.timed_plans import REFERENCE, SEED, machine_of, plan_of
from numasim.engine.simulate import ENGINES, simulate
from numasim.plan.plan import Plan
from numasim.workload.families.fib import fib_calls

MODES = {"eager": "off", "skipping": "auto"}
LARGEST_FIB = {"eager": 29, "skipping": 35}  # event by event, a call takes memory
MOST_INDEPENDENT = 2**26
GROWTH = 32.0  # of a size to the one tried before


def rate_probes(effort: Effort) -> list[Probe[Rate]]:
    """A probe for every engine, mode, workload and number of workers."""
    return [
        _probe(effort, engine, mode, workload, workers)
        for engine, mode, workload in product(ENGINES, MODES, WORKLOADS)
        for workers in (effort.reference_workers if engine == REFERENCE else effort.workers)
    ]


def fib_of(calls: int) -> int:
    """The largest n with which fib makes at most ``calls`` calls, 0 for none."""
    n = 0
    while fib_calls(n + 1)[0] <= calls:
        n += 1
    return n


def _independent(tasks: int, mode: str) -> dict[str, Any]:
    return {"name": "independent", "tasks": min(tasks, MOST_INDEPENDENT), "low_ns": 500, "high_ns": 1500}


def _fib(tasks: int, mode: str) -> dict[str, Any]:
    return {"name": "fib", "n": min(fib_of(tasks), LARGEST_FIB[mode])}


WORKLOADS: dict[str, Callable[[int, str], dict[str, Any]]] = {"independent": _independent, "fib": _fib}


def _probe(effort: Effort, engine: str, mode: str, workload: str, workers: int) -> Probe[Rate]:
    plan = _fitted(effort, engine, mode, workload, workers)
    return Probe(
        partial(_sample, plan, engine),
        partial(Rate, engine, mode, workload, machine_of(workers), workers, plan.workload.tasks),
    )


def _sample(plan: Plan, engine: str) -> tuple[float]:
    result = simulate(plan, SEED, engine)
    return (float(result.counters["tasks"] / result.engine_s),)


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
