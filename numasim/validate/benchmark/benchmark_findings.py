"""The findings of the benchmark: medians as plain numbers with their units, ready for JSON; and their targets."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numasim.validate.benchmark.effort import NATIVE, REFERENCE


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


# ---- targets: values with their bounds, which are printed and never asserted ----

CALM, SATURATED, FULL = "calm", "saturated", "full"  # loads of memory; every effect at its default
WORKERS, MANY_WORKERS = 24, 1024
NATIVE_MILLIONS_PER_S = {"independent": 30.0, "fib": 10.0}
REFERENCE_OF_BARE = {"independent": 1 / 4, "fib": 1 / 8}
RATE_AT_MANY = 1 / 4  # of that at `WORKERS`
FAMILY_RATIO = 40.0
FULL_MILLIONS_PER_S = {(CALM, 24): 2.0, (SATURATED, 24): 0.5, (SATURATED, 128): 0.1}
SWEEP_OVERHEAD_MS = 0.3
GRAPH_BYTES, STATE_BYTES = 256.0, 64.0
JUDGES: dict[str, Callable[[float, float], bool]] = {
    "at least": operator.ge,
    "at most": operator.le,
    "below": operator.lt,
}

Goal = tuple[str, float, str, float, str]  # as the fields of a target, without its verdict


def targets(found: Findings) -> list[Target]:
    """Every target whose value was measured."""
    return [Target(*goal, met=JUDGES[goal[2]](goal[1], goal[3])) for goal in _goals(found)]


def _goals(found: Findings) -> Iterator[Goal]:
    yield from _rate_goals(found)
    for effect in found.effect_rates:
        bound = FULL_MILLIONS_PER_S.get((effect.load, effect.workers))
        if effect.cache == FULL and bound is not None:
            name = f"all effects, {effect.load}, {effect.workers} workers"
            yield name, effect.per_second / 1e6, "at least", bound, "million/s"
    if found.family_ratios:
        slowest = min(found.family_ratios, key=lambda each: each.ratio)
        name = f"native to reference, the least of all families: {slowest.family}"
        yield name, slowest.ratio, "at least", FAMILY_RATIO, "times"
    for command in found.commands:
        yield f"the whole command, {command.name}", command.seconds, "below", command.most_s, "s"
        if command.most_mb is not None:
            yield f"its peak memory, {command.name}", command.peak_mb, "below", command.most_mb, "MB"
    yield "overhead per run of a sweep", found.sweep_overhead_ms, "at most", SWEEP_OVERHEAD_MS, "ms"
    graphs = {each.family: each.graph_bytes_per_task for each in found.family_memory}
    states = {each.family: each.state_bytes_per_live_task for each in found.family_memory}
    yield from _largest("graph arrays", graphs, GRAPH_BYTES, "B/task")
    yield from _largest("engine state", states, STATE_BYTES, "B/live task")
    for ratio in found.ratios:
        if ratio.bound is not None:
            yield ratio.name, ratio.ratio, ratio.kind, ratio.bound, ""


def _rate_goals(found: Findings) -> Iterator[Goal]:
    eager = {(rate.engine, rate.workload, rate.workers): rate for rate in found.rates if rate.mode == "eager"}
    for workload, bound in NATIVE_MILLIONS_PER_S.items():
        if few := eager.get((NATIVE, workload, WORKERS)):
            yield _name(few), few.per_second / 1e6, "at least", bound, "million/s"
            if many := eager.get((NATIVE, workload, MANY_WORKERS)):
                yield (
                    f"{_name(many)}, of that on {WORKERS}",
                    many.per_second / few.per_second,
                    "at least",
                    RATE_AT_MANY,
                    "",
                )
    for workload, bound in REFERENCE_OF_BARE.items():
        if rate := eager.get((REFERENCE, workload, WORKERS)):
            share = rate.per_second / found.bare_timeouts_per_second
            yield f"{_name(rate)}, of bare SimPy timeouts", share, "at least", bound, ""


def _name(rate: Rate) -> str:
    return f"{rate.workload}, {rate.engine}, {rate.mode}, {rate.workers} workers"


def _largest(name: str, sizes: dict[str, float | None], bound: float, unit: str) -> Iterator[Goal]:
    """The family with the largest known value."""
    told = {family: size for family, size in sizes.items() if size is not None}
    if told:
        family = max(told, key=told.__getitem__)
        yield f"{name}, the most of all families: {family}", told[family], "at most", bound, unit
