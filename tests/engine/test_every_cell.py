"""Every workload family under every shipped strategy on every shipped machine.

The reference engine's result is held against the invariants, that of every other engine against it; a third of the
runs goes event by event.
"""

from __future__ import annotations

from functools import cache

import pytest
from engine_setup import plan_of, shipped_runtime, shipped_strategy
from equality import OTHERS, REFERENCE

from numasim.engine.check.engine_difference import difference, disagreements
from numasim.engine.simulate import simulate
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.parts import catalog
from numasim.spec.run_spec import resolve
from numasim.workload.generate import generate
from numasim.workload.graph import Workload
from numasim.workload.registry import FAMILIES, workload_spec

SMALL = {name: family.small for name, family in FAMILIES.items()}
MACHINES = catalog.names("machines")
STRATEGIES = catalog.names("strategies")


@cache
def workload(name: str) -> Workload:
    return generate(workload_spec(name, **SMALL[name]))


@cache
def machine(name: str) -> Machine:
    return build(
        resolve({"machine": name, "workload": {"name": "fib", "n": 1}, "strategy": "ring", "workers": 1}).machine
    )


def workers_of(name: str) -> tuple[int, ...]:
    """A pair, an odd team, and one that fills a small machine."""
    return 2, 5, min(16, machine(name).threads)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("on", MACHINES)
def test_cell(on: str, strategy: str) -> None:
    teams = workers_of(on)
    place = MACHINES.index(on) + STRATEGIES.index(strategy)
    for at, name in enumerate(SMALL):
        preset = shipped_runtime(FAMILIES[name].benchmark_runtime or FAMILIES[name].parameters.default_runtime)
        workers = teams[(at + STRATEGIES.index(strategy)) % len(teams)]
        by_event = (at + place) % 3 == 0
        plan = plan_of(
            workload(name), workers, shipped_strategy(strategy), preset, machine(on), seed=at, skip=not by_event
        )
        result = simulate(plan, REFERENCE, check=True)
        assert result.counters["tasks"] == workload(name).tasks
        for other in OTHERS:
            if any(disagreements(result, simulate(plan, other))):
                pytest.fail(str(difference(plan, REFERENCE, other)))
