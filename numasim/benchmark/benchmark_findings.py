"""The findings of the benchmark: medians as plain numbers with their units, ready for JSON."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """Simulated tasks per second of wall-clock time; ``mode`` is eager (``skip: off``) or skipping (``skip: auto``)."""

    engine: str
    mode: str
    workload: str
    machine: str
    workers: int
    tasks: int
    per_second: float


@dataclass(frozen=True)
class EffectRate:
    """Simulated tasks per second of wall-clock time under a cache and a contention model; ``busiest`` is how much of
    its bandwidth the busiest memory controller used, above 1 where contention is `none`.
    """

    machine: str
    workers: int
    load: str
    cache: str
    contention: str
    busiest: float
    per_second: float


@dataclass(frozen=True)
class FamilyTime:
    """How long an engine takes for one plan of a workload family."""

    family: str
    engine: str
    runtime: str
    skip: str
    tasks: int
    seconds: float


@dataclass(frozen=True)
class FamilyRatio:
    """How many times as long as the native engine the reference engine takes for the same plan."""

    family: str
    ratio: float


@dataclass(frozen=True)
class FamilyMemory:
    """The memory of a workload family: its graph's arrays and, if it is known, the native engine's state; nothing per
    task where its programs consist of implicit bodies only.
    """

    family: str
    tasks: int
    graph_bytes_per_task: float | None
    state_bytes_per_live_task: float | None


@dataclass(frozen=True)
class CommandCost:
    """A whole ``numasim run``, from the start of its process to the end, and its largest resident set (10**6 bytes)."""

    name: str
    engine: str
    seconds: float
    peak_mb: float
    most_s: float
    most_mb: float | None


@dataclass(frozen=True)
class Ratio:
    """Two values of the same unit, each the median of samples taken in pairs, and the median of the pairs' ratios.

    ``kind`` is ``at least`` or ``at most``, of the goal ``bound``; None: there is no goal.
    """

    name: str
    kind: str
    bound: float | None
    unit: str
    ours: float
    other: float
    ratio: float


@dataclass(frozen=True)
class Target:
    """A value and its bound: ``kind`` is ``at least`` or ``below``, for units and names as they are printed."""

    name: str
    value: float
    kind: str
    bound: float
    unit: str
    met: bool


@dataclass(frozen=True)
class Findings:
    """Everything that one run of the benchmark found."""

    host: dict[str, str | int]
    samples: int
    bare_timeouts_per_second: float
    rates: tuple[Rate, ...]
    effect_rates: tuple[EffectRate, ...]
    family_times: tuple[FamilyTime, ...]
    family_ratios: tuple[FamilyRatio, ...]
    family_memory: tuple[FamilyMemory, ...]
    commands: tuple[CommandCost, ...]
    sweep_overhead_ms: float  # per run, in one process, beside the engine's own time
    peak_memory_mb: float  # of the benchmark's own process
    ratios: tuple[Ratio, ...] = ()
    not_compared: tuple[str, ...] = ()  # with what, and why
