"""The sizes of the benchmark, which takes some minutes by default, and the plans that are timed.

Plans have uniform stealing on a machine with as many hardware threads as there are workers. Unless stated otherwise,
only steals couple the workers, so that the speed of the engine itself is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numasim.parts.yaml.nodes import Held
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.spec.run_spec import resolve
from numasim.workload.registry import FAMILIES

Parameters = Mapping[str, Any]

REFERENCE, NATIVE = "reference", "native"  # engines
SEED = 1  # of every run
PLAIN: Parameters = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}  # effects
ALL: Parameters = {}  # the effects at their defaults
STRATEGY = "randomized"
MACHINE, MACHINE_THREADS = "xeon-e5-2620-2s", 24
LARGE_MACHINE = "synthetic-16x64"


def machine_of(workers: int) -> str:
    """Return the machine for that many workers."""
    return MACHINE if workers <= MACHINE_THREADS else LARGE_MACHINE


def independent_tasks(tasks: int) -> Parameters:
    """Return the workload of so many independent tasks, which are as long as those of the bare loop."""
    return {"name": "independent", "tasks": tasks, "low_ns": 500, "high_ns": 1500}


def spec_of(
    workload: Parameters | Held,
    workers: int = MACHINE_THREADS,
    runtime: str = "bare",
    skip: str = "off",
    *,
    machine: str | Parameters | None = None,
    strategy: str | Parameters = STRATEGY,
    model: Parameters = PLAIN,
) -> dict[str, Any]:
    """Return the specification of a run that is timed."""
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


@dataclass(frozen=True)
class Command:
    """A whole ``numasim run`` of a specification, which should take at most ``most_s`` seconds and ``most_mb`` of
    memory (10**6 bytes).
    """

    name: str
    spec: Parameters
    most_s: float
    most_mb: float | None = None
    samples: int | None = None  # at most


def commands() -> tuple[Command, ...]:
    """Return the whole commands that are timed: 67,108,864 tasks of matmul, fib of 35 and a large sort."""
    matmul, sort = {"name": "matmul", "n": 8192}, {"name": "sort", "n": 33_554_432}
    keys, large = "sort of 33,554,432 keys", {"machine": LARGE_MACHINE, "model": ALL}
    all_effects = spec_of(matmul, runtime="own", skip="auto", model=ALL)
    binding = spec_of(sort, 256, "ompi", "auto", strategy="locality-binding", **large)
    return (
        Command("matmul 8192, skipping", spec_of(matmul, skip="auto"), 1, 300),
        Command("matmul 8192, event by event", spec_of(matmul), 5, 300),
        Command("matmul 8192 on runtime own, in bulk", spec_of(matmul, runtime="own", skip="auto"), 2, 300),
        Command("matmul 8192 on runtime own, in bulk, all effects", all_effects, 2),
        Command("fib 35, skipping", spec_of({"name": "fib", "n": 35}, skip="auto"), 1),
        Command(f"{keys}, 1,024 workers", spec_of(sort, 1024, "ompi", "auto", **large), 5, samples=1),
        Command(f"{keys}, 256 workers, locality-binding", binding, 4, samples=1),
    )


@dataclass(frozen=True)
class Size:
    """The size of both workloads in a sample of a rate: independent tasks, and n of fib."""

    independent: int
    fib: int

    def workloads(self) -> dict[str, Parameters]:
        """Return the parameters of both workloads by name."""
        return {"independent": independent_tasks(self.independent), "fib": {"name": "fib", "n": self.fib}}


@dataclass(frozen=True)
class Effort:
    """Sizes of the measurement; a sample of a rate takes some tenths of a second."""

    samples: int = 5  # of everything that is timed; the finding is their median
    timeouts: int = 300_000  # of bare SimPy
    reference_size: Size = Size(30_000, 19)
    eager_size: Size = Size(4_000_000, 29)
    skipping_size: Size = Size(2**26, 35)
    workers: tuple[int, ...] = (2, 24, 128, 1024)
    reference_workers: tuple[int, ...] = (2, 24)
    families: Mapping[str, Parameters] = field(
        default_factory=lambda: {name: family.benchmark for name, family in FAMILIES.items()}
    )
    commands: tuple[Command, ...] = field(default_factory=commands)
    effect_tasks: int = 200_000
    sweep_runs: int = 2000  # which share a graph
