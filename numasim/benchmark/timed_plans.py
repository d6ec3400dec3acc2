"""The plans that are timed: uniform stealing, on a machine that has as many hardware threads as there are workers.

Unless stated otherwise, only steals couple the workers, so that the speed of the engine itself is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numasim.benchmark.effort import PLAIN
from numasim.parts.yaml.nodes import Held
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.spec.run_spec import resolve

REFERENCE, NATIVE = "reference", "native"  # engines
SEED = 1  # of every run
STRATEGY = "randomized"
SPREAD_PAGES = {"like": STRATEGY, "name": "randomized-interleaved", "placement": "interleave"}
MACHINE, MACHINE_THREADS = "xeon-e5-2620-2s", 24
LARGE_MACHINE = "synthetic-16x64"


def machine_of(workers: int) -> str:
    """The machine for that many workers."""
    return MACHINE if workers <= MACHINE_THREADS else LARGE_MACHINE


def spec_of(
    workload: Mapping[str, Any] | Held,
    workers: int,
    runtime: str,
    skip: str,
    *,
    machine: str | None = None,
    strategy: str | Mapping[str, Any] = STRATEGY,
    model: Mapping[str, Any] = PLAIN,
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


def plan_of(workload: Mapping[str, Any] | Held, workers: int, runtime: str, skip: str, **others: Any) -> Plan:
    """The plan of `spec_of`."""
    return build_plan(resolve(spec_of(workload, workers, runtime, skip, **others)))
