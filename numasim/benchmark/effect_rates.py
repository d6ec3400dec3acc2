"""The cost of modelling caches and contention: tasks per second under every model of both, and under all effects.

Every task reads memory of its own, spread page by page over all nodes. In the calm load controllers and links have
spare bandwidth; in the saturated one the demand on every controller exceeds it, so that each start and end changes the
share of every other task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, get_args

from numasim.benchmark.benchmark_findings import EffectRate
from numasim.benchmark.effort import PLAIN, Effort
from numasim.benchmark.sampling import Probe
from numasim.benchmark.timed_plans import MACHINE, MACHINE_THREADS, NATIVE, SEED, SPREAD_PAGES, plan_of
from numasim.engine.simulate import ENGINES, simulate
from numasim.parts.models.effects_model import CacheModel, ContentionModel, ModelSpec
from numasim.plan.build_plan import revised
from numasim.plan.effects import effects_of
from numasim.plan.plan import Plan

CALM, SATURATED = "calm", "saturated"
TASK_BYTES = {CALM: 512, SATURATED: 65_536}
FOUR_SOCKETS, FOUR_SOCKETS_THREADS = "xeon-6130-4s", 128
FULL = "full"  # every effect at its default


def effect_probes(effort: Effort) -> list[Probe[EffectRate]]:
    """A probe for every cache and contention model under both loads, and for all effects together."""
    if NATIVE not in ENGINES:
        return []
    few, many = (MACHINE, MACHINE_THREADS), (FOUR_SOCKETS, FOUR_SOCKETS_THREADS)
    probes = []
    for load in TASK_BYTES:
        plan = effect_plan(effort, *few, load)
        probes += [_probe(revised(plan, effects=effects_of(model)), few, load, names) for names, model in _models()]
    probes.append(_probe(effect_plan(effort, *many, SATURATED, {}), many, SATURATED, (FULL, FULL)))
    return probes


def _models() -> Iterator[tuple[tuple[str, str], ModelSpec]]:
    for cache in get_args(CacheModel):
        for contention in get_args(ContentionModel):
            yield (cache, contention), ModelSpec.model_validate({**PLAIN, "cache": cache, "contention": contention})
    yield (FULL, FULL), ModelSpec()


def effect_plan(effort: Effort, machine: str, workers: int, load: str, model: Mapping[str, Any] = PLAIN) -> Plan:
    """The plan of a load on ``machine`` under ``model``."""
    size = {"tasks": effort.effect_tasks, "low_ns": 500, "high_ns": 1500, "task_bytes": TASK_BYTES[load]}
    workload = {"name": "random-fork-join", **size}
    return plan_of(workload, workers, "bare", "off", machine=machine, strategy=SPREAD_PAGES, model=model)


def _probe(plan: Plan, where: tuple[str, int], load: str, names: tuple[str, str]) -> Probe[EffectRate]:
    machine, workers = where
    busiest = simulate(plan, SEED, NATIVE).row()["imc_busy_max"]
    return Probe(partial(_sample, plan), partial(EffectRate, machine, workers, load, *names, busiest))


def _sample(plan: Plan) -> tuple[float]:
    """The rate of a repeat, which uses the arrays of the run before."""
    simulate(plan, SEED, NATIVE)
    result = simulate(plan, SEED, NATIVE)
    return (float(result.counters["tasks"] / result.engine_s),)
