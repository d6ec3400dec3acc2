"""Every workload family on every engine: the time for the same plan, and its memory.

Each family runs on the runtime that its paper used (matmul on the thesis' own). Where that is the bare one, skipping
ahead is off, so that both engines do the same work and their times can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from numasim.benchmark.benchmark_findings import FamilyMemory, FamilyRatio, FamilyTime
from numasim.benchmark.effort import Effort
from numasim.benchmark.sampling import Probe
from numasim.benchmark.timed_plans import MACHINE_THREADS, NATIVE, REFERENCE, SEED, plan_of
from numasim.engine.simulate import ENGINES, simulate
from numasim.plan.plan import Plan
from numasim.plan.run import Run
from numasim.workload.registry import FAMILIES

SAMPLE_S = 0.1  # long enough that the cold caches of the first run do not matter


def family_probes(effort: Effort) -> list[Probe[FamilyTime]]:
    """A probe for every family and engine; the engines share the plan."""
    return [_probe(family, engine, plan) for family, plan in _plans(effort) for engine in ENGINES]


def family_ratios(times: Sequence[FamilyTime]) -> list[FamilyRatio]:
    """The reference engine's time over the native one's, for the families that both have run."""
    seconds = {(each.family, each.engine): each.seconds for each in times}
    return [
        FamilyRatio(family, seconds[family, REFERENCE] / seconds[family, NATIVE])
        for family, engine in seconds
        if engine == NATIVE
    ]


def family_memory(effort: Effort) -> list[FamilyMemory]:
    """The memory of every family's graph and, where the native engine is built, of its state."""
    return [_memory(family, plan) for family, plan in _plans(effort)]


def _plans(effort: Effort) -> Iterator[tuple[str, Plan]]:
    for family, parameters in effort.families.items():
        yield family, plan_of({"name": family, **parameters}, MACHINE_THREADS, runtime_of(family), skip_of(family))


def runtime_of(family: str) -> str:
    """The runtime that the family runs on here."""
    chosen = FAMILIES[family]
    return chosen.benchmark_runtime or chosen.parameters.default_runtime


def skip_of(family: str) -> str:
    """The key `skip` for the family: off on a runtime on which a run may skip ahead."""
    return "off" if runtime_of(family) == "bare" else "auto"


def _probe(family: str, engine: str, plan: Plan) -> Probe[FamilyTime]:
    return Probe(
        lambda: (_seconds(plan, engine),),
        partial(FamilyTime, family, engine, runtime_of(family), skip_of(family), plan.workload.tasks),
    )


def _seconds(plan: Plan, engine: str) -> float:
    """The time of a run: the mean of as many consecutive runs as fit `SAMPLE_S`."""
    seconds = [simulate(plan, SEED, engine).engine_s]
    while sum(seconds) < SAMPLE_S:
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
    native = import_module("numasim.engine.native.native_engine")
    if not hasattr(native, "state_bytes"):
        return None
    state = native.state_bytes(Run(plan, SEED))
    return float(state["engine"] / state["live_tasks"]) if plan.workload.tasks and state["live_tasks"] else None
