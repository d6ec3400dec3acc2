"""The targets: values from the findings with their bounds. They are printed, never asserted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numasim.benchmark.benchmark_findings import Findings, Rate, Target
from numasim.benchmark.effect_rates import CALM, FULL, SATURATED
from numasim.benchmark.timed_plans import NATIVE, REFERENCE

WORKERS, MANY_WORKERS = 24, 1024
NATIVE_MILLIONS_PER_S = {"independent": 30.0, "fib": 10.0}
REFERENCE_OF_BARE = {"independent": 1 / 4, "fib": 1 / 8}
RATE_AT_MANY = 1 / 4  # of that at `WORKERS`
FAMILY_RATIO = 40.0
FULL_MILLIONS_PER_S = {(CALM, 24): 2.0, (SATURATED, 24): 0.5, (SATURATED, 128): 0.1}
SWEEP_OVERHEAD_MS = 0.3
GRAPH_BYTES, STATE_BYTES = 256.0, 64.0


def targets(found: Findings) -> list[Target]:
    """Every target whose value was measured."""
    parts = (_rates, _effects, _families, _commands, _sweeps, _memory, _ratios)
    return [target for part in parts for target in part(found)]


def _at_least(name: str, value: float, bound: float, unit: str) -> Target:
    return Target(name, value, "at least", bound, unit, value >= bound)


def _at_most(name: str, value: float, bound: float, unit: str) -> Target:
    return Target(name, value, "at most", bound, unit, value <= bound)


def _below(name: str, value: float, bound: float, unit: str) -> Target:
    return Target(name, value, "below", bound, unit, value < bound)


def _rates(found: Findings) -> Iterator[Target]:
    eager = {(rate.engine, rate.workload, rate.workers): rate for rate in found.rates if rate.mode == "eager"}
    for workload, bound in NATIVE_MILLIONS_PER_S.items():
        if few := eager.get((NATIVE, workload, WORKERS)):
            yield _at_least(_name(few), few.per_second / 1e6, bound, "million/s")
            if many := eager.get((NATIVE, workload, MANY_WORKERS)):
                name = f"{_name(many)}, of that on {WORKERS}"
                yield _at_least(name, many.per_second / few.per_second, RATE_AT_MANY, "")
    for workload, bound in REFERENCE_OF_BARE.items():
        if rate := eager.get((REFERENCE, workload, WORKERS)):
            name = f"{_name(rate)}, of bare SimPy timeouts"
            yield _at_least(name, rate.per_second / found.bare_timeouts_per_second, bound, "")


def _name(rate: Rate) -> str:
    return f"{rate.workload}, {rate.engine}, {rate.mode}, {rate.workers} workers"


def _effects(found: Findings) -> Iterator[Target]:
    for rate in found.effect_rates:
        bound = FULL_MILLIONS_PER_S.get((rate.load, rate.workers))
        if rate.cache == FULL and bound is not None:
            name = f"all effects, {rate.load}, {rate.workers} workers"
            yield _at_least(name, rate.per_second / 1e6, bound, "million/s")


def _families(found: Findings) -> Iterator[Target]:
    if found.family_ratios:
        slowest = min(found.family_ratios, key=lambda each: each.ratio)
        name = f"native to reference, the least of all families: {slowest.family}"
        yield _at_least(name, slowest.ratio, FAMILY_RATIO, "times")


def _commands(found: Findings) -> Iterator[Target]:
    for command in found.commands:
        yield _below(f"the whole command, {command.name}", command.seconds, command.most_s, "s")
        if command.most_mb is not None:
            yield _below(f"its peak memory, {command.name}", command.peak_mb, command.most_mb, "MB")


def _sweeps(found: Findings) -> Iterator[Target]:
    yield _at_most("overhead per run of a sweep", found.sweep_overhead_ms, SWEEP_OVERHEAD_MS, "ms")


def _memory(found: Findings) -> Iterator[Target]:
    graphs = {each.family: each.graph_bytes_per_task for each in found.family_memory}
    states = {each.family: each.state_bytes_per_live_task for each in found.family_memory}
    yield from _most("graph arrays", graphs, GRAPH_BYTES, "B/task")
    yield from _most("engine state", states, STATE_BYTES, "B/live task")


def _ratios(found: Findings) -> Iterator[Target]:
    judges = {"at least": _at_least, "at most": _at_most}
    for ratio in found.ratios:
        if ratio.bound is not None:
            yield judges[ratio.kind](ratio.name, ratio.ratio, ratio.bound, "")


def _most(name: str, sizes: Mapping[str, float | None], bound: float, unit: str) -> Iterator[Target]:
    """The family with the largest known value."""
    told = {family: size for family, size in sizes.items() if size is not None}
    if told:
        family = max(told, key=told.__getitem__)
        yield _at_most(f"{name}, the most of all families: {family}", told[family], bound, unit)
