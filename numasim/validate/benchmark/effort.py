"""What is measured: about two minutes by default, each rate at a size that suits its engine; and the plans for it.

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
SPREAD_PAGES = {"like": STRATEGY, "name": "randomized-interleaved", "placement": "interleave"}
MACHINE, MACHINE_THREADS = "xeon-e5-2620-2s", 24
LARGE_MACHINE = "synthetic-16x64"
FOUR_SOCKETS, FOUR_SOCKETS_THREADS = "xeon-6130-4s", 128


@dataclass(frozen=True)
class Command:
    """A whole ``numasim run`` of ``workload``; its target is to take less than ``most_s`` seconds."""

    name: str
    workload: Parameters
    most_s: float
    most_mb: float | None = None  # of memory, 10**6 bytes
    runtime: str = "bare"
    skip: str = "auto"
    model: Parameters = field(default_factory=lambda: PLAIN)
    machine: str | None = None  # None: that for so many workers
    workers: int = MACHINE_THREADS
    strategy: str = STRATEGY
    samples: int | None = None  # at most


MATMUL = {"name": "matmul", "n": 8192}  # 67,108,864 tasks
SORT, KEYS = {"name": "sort", "n": 33_554_432}, "sort of 33,554,432 keys"
SORTING: dict[str, Any] = {"most_s": 5, "runtime": "ompi", "model": ALL, "machine": LARGE_MACHINE, "samples": 1}
BINDING: dict[str, Any] = {**SORTING, "most_s": 4, "strategy": "locality-binding"}
COMMANDS = (
    Command("matmul 8192, skipping", MATMUL, most_s=1, most_mb=300),
    Command("matmul 8192, event by event", MATMUL, most_s=5, most_mb=300, skip="off"),
    Command("matmul 8192 on runtime own, in bulk", MATMUL, most_s=2, most_mb=300, runtime="own"),
    Command("matmul 8192 on runtime own, in bulk, all effects", MATMUL, most_s=2, runtime="own", model=ALL),
    Command("fib 35, skipping", {"name": "fib", "n": 35}, most_s=1),
    Command(f"{KEYS}, 1,024 workers", SORT, **SORTING, workers=1024),
    Command(f"{KEYS}, 256 workers, locality-binding", SORT, **BINDING, workers=256),
)


@dataclass(frozen=True)
class Effort:
    """Sizes of the measurement."""

    samples: int = 5  # of everything that is timed; the finding is their median
    sample_s: float = 0.3  # duration of a sample of a rate, unless the workload has no such size
    first_tasks: int = 10_000  # the size tried first
    workers: tuple[int, ...] = (2, 24, 128, 1024)
    reference_workers: tuple[int, ...] = (2, 24)
    families: Mapping[str, Parameters] = field(
        default_factory=lambda: {name: family.benchmark for name, family in FAMILIES.items()}
    )
    commands: tuple[Command, ...] = COMMANDS
    effect_tasks: int = 200_000
    sweep_runs: int = 2000  # which share a graph
    sweep_run_s: float = 0.002  # at least, where throughput is measured
    ratio_tasks: int = 2_000_000
    ratio_fib: int = 27
    ratio_matmul: int = 8192
    ratio_rows: int = 65_536
    simgrid_tasks: int = 200_000
    runtime_fib: int = 36
    runtime_kernels: Mapping[str, int] = field(
        default_factory=lambda: {"nqueens": 12, "sort": 2_000_000, "strassen": 1024, "uts": 20_000}
    )


def machine_of(workers: int) -> str:
    """The machine for that many workers."""
    return MACHINE if workers <= MACHINE_THREADS else LARGE_MACHINE


def independent_tasks(tasks: int) -> dict[str, Any]:
    """The workload of so many independent tasks, as long as those of the bare loop."""
    return {"name": "independent", "tasks": tasks, "low_ns": 500, "high_ns": 1500}


def spec_of(
    workload: Parameters | Held,
    workers: int,
    runtime: str,
    skip: str,
    *,
    machine: str | Parameters | None = None,
    strategy: str | Parameters = STRATEGY,
    model: Parameters = PLAIN,
) -> dict[str, Any]:
    """The specification of a run that is timed."""
    return {
        "machine": machine or machine_of(workers),
        "workload": workload,
        "strategy": strategy,
        "runtime": runtime,
        "workers": workers,
        "seed": SEED,
        "model": {**model, "skip": skip},
    }


def plan_of(workload: Parameters | Held, workers: int, runtime: str, skip: str, **others: Any) -> Plan:
    """The plan of `spec_of`."""
    return build_plan(resolve(spec_of(workload, workers, runtime, skip, **others)))
