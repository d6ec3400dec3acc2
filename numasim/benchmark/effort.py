"""How much is measured: about two minutes by default; each rate at a size that suits its engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numasim.workload.registry import FAMILIES

Parameters = Mapping[str, Any]

PLAIN: Parameters = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}  # effects


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
    workers: int = 24
    strategy: str = "randomized"
    samples: int | None = None  # at most


MATMUL = {"name": "matmul", "n": 8192}  # 67,108,864 tasks
SORT = {"name": "sort", "n": 33_554_432}
SORTING: dict[str, Any] = {"runtime": "ompi", "model": {}, "machine": "synthetic-16x64", "samples": 1}
COMMANDS = (
    Command("matmul 8192, skipping", MATMUL, most_s=1, most_mb=300),
    Command("matmul 8192, event by event", MATMUL, most_s=5, most_mb=300, skip="off"),
    Command("matmul 8192 on runtime own, in bulk", MATMUL, most_s=2, most_mb=300, runtime="own"),
    Command("matmul 8192 on runtime own, in bulk, all effects", MATMUL, most_s=2, runtime="own", model={}),
    Command("fib 35, skipping", {"name": "fib", "n": 35}, most_s=1),
    Command("sort of 33,554,432 keys, 1,024 workers", SORT, most_s=5, **SORTING, workers=1024),
    Command(
        "sort of 33,554,432 keys, 256 workers, locality-binding",
        *(SORT, 4),
        **SORTING,
        workers=256,
        strategy="locality-binding",
    ),
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
