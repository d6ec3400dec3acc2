"""The sizes of the benchmark, which takes some minutes, and the timed specifications and plans.

Plans have uniform stealing on a machine with as many hardware threads as workers. By default, only steals couple the
workers, so that the speed of the engine itself is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numasim.parts.yaml.nodes import Held
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.spec.run_spec import resolve
from numasim.workload.registry import FAMILIES

Parameters = Mapping[str, Any]

REFERENCE, NATIVE = "reference", "native"  # the names of engines
SEED = 1  # the seed of every run
PLAIN: Parameters = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}  # all effects off
ALL: Parameters = {}  # all effects at their defaults
MACHINE, MACHINE_THREADS = "xeon-e5-2620-2s", 24
LARGE_MACHINE = "synthetic-16x64"

SAMPLES = 5  # samples of each timed value; the finding is their median
TIMEOUTS = 300_000  # the number of timeouts of bare SimPy
WORKERS = {REFERENCE: (2, 24), NATIVE: (2, 24, 128, 1024)}
SIZES = {  # by engine and mode: the number of independent tasks, and n of fib, for some tenths of a second
    (REFERENCE, "eager"): (30_000, 19),
    (REFERENCE, "skipping"): (30_000, 19),
    (NATIVE, "eager"): (4_000_000, 29),
    (NATIVE, "skipping"): (2**26, 35),
}
FAMILY_SIZES: dict[str, Parameters] = {name: family.benchmark for name, family in FAMILIES.items()}
EFFECT_TASKS = 200_000
SWEEP_RUNS = 2000  # runs of a sweep, which share a graph


def machine_of(workers: int) -> str:
    """Return the machine for ``workers`` workers."""
    return MACHINE if workers <= MACHINE_THREADS else LARGE_MACHINE


def independent_tasks(tasks: int) -> Parameters:
    """Return the workload of ``tasks`` independent tasks, which are as long as the tasks of the bare loop."""
    return {"name": "independent", "tasks": tasks, "low_ns": 500, "high_ns": 1500}


def spec_of(
    workload: Parameters | Held,
    workers: int = MACHINE_THREADS,
    runtime: str = "bare",
    skip: str = "off",
    *,
    machine: str | Parameters | None = None,
    strategy: str | Parameters = "randomized",
    model: Parameters = PLAIN,
) -> dict[str, Any]:
    """Return the specification of a timed run."""
    return {
        "machine": machine or machine_of(workers),
        "workload": workload,
        "strategy": strategy,
        "runtime": runtime,
        "workers": workers,
        "seed": SEED,
        "model": {**model, "skip": skip},
    }


def plan_of(workload: Parameters | Held, *arguments: Any, **others: Any) -> Plan:
    """Return the plan of `spec_of`."""
    return build_plan(resolve(spec_of(workload, *arguments, **others)))


MATMUL, SORT = {"name": "matmul", "n": 8192}, {"name": "sort", "n": 33_554_432}  # 67,108,864 tasks; the number of keys
LARGE: dict[str, Any] = {"machine": LARGE_MACHINE, "model": ALL}
COMMANDS: dict[str, tuple[Parameters, float, float | None, int | None]] = {
    # specification, largest desired seconds and MB (10**6 bytes), largest number of samples
    "matmul 8192, skipping": (spec_of(MATMUL, skip="auto"), 1, 300, None),
    "matmul 8192, event by event": (spec_of(MATMUL), 5, 300, None),
    "matmul 8192 on runtime own, in bulk": (spec_of(MATMUL, runtime="own", skip="auto"), 2, 300, None),
    "matmul 8192 on runtime own, in bulk, all effects": (
        spec_of(MATMUL, runtime="own", skip="auto", model=ALL),
        *(2, None, None),
    ),
    "fib 35, skipping": (spec_of({"name": "fib", "n": 35}, skip="auto"), 1, None, None),
    "sort of 33,554,432 keys, 1,024 workers": (spec_of(SORT, 1024, "ompi", "auto", **LARGE), 5, None, 1),
    "sort of 33,554,432 keys, 256 workers, locality-binding": (
        spec_of(SORT, 256, "ompi", "auto", strategy="locality-binding", **LARGE),
        *(4, None, 1),
    ),
}
