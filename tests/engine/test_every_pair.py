"""Every workload family, shipped strategy and shipped machine, any two of them together in some run.

The reference engine's result is held against the invariants, that of every other engine against it. What three of them
together might bring about is left to random plans, and to `verification/long_equality.py --cells`, which runs every
family under every strategy on every machine.
"""

from __future__ import annotations

from typing import Any

import pytest
from engine_difference import difference, disagreements
from engine_setup import SEED, observe, plan_of, seeded, shipped_runtime, shipped_strategy, stealing, toy
from equality import EXPECTED, OTHERS, REFERENCE
from registry_cells import STRATEGIES, cells_of_every_pair, machine, run_of_cell, workload

from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.parts.models.placement_model import PlacementSpec
from numasim.schema.enumerations import Tier
from numasim.strategy.placement.policies import POLICIES
from numasim.workload.generate import generate
from numasim.workload.registry import workload_spec


@pytest.mark.parametrize("strategy", STRATEGIES[::2])
def test_engines_agree_on_every_second_strategy(strategy: str) -> None:
    """With the other tests of the short form of the sanitized tests, these enter every line that all enter."""
    engines_agree_on_the_registries(strategy)


@pytest.mark.parametrize("strategy", STRATEGIES[1::2])
def test_engines_agree_on_the_strategies_between(strategy: str) -> None:
    engines_agree_on_the_registries(strategy)


def engines_agree_on_the_registries(strategy: str) -> None:
    for cell in cells_of_every_pair(strategy):
        run = run_of_cell(cell)
        result = simulate(run.plan, run.seed, EXPECTED, check=True)
        assert result.counters["tasks"] == run.plan.workload.tasks
        for other in OTHERS:
            if any(disagreements(result, simulate(run.plan, run.seed, other))):
                pytest.fail(f"{cell}: {difference(run, REFERENCE, other)}")


# ---- every placement policy under a few programs on all engines -----------------------------------------------------

NEEDED: dict[str, dict[str, Any]] = {
    "bind": {"node": 1},
    "first-touch-init": {"tasks": 5},
    "numa-balancing": {"scan": {"delay_ns": 2000, "period_ns": 500, "size": "16KiB"}},
}
PROGRAMS = ("strassen", "random-layered", "sort", "matmul")


# a hashed page has no one home that could be full
CASES = [(policy, overflow) for policy in POLICIES for overflow in ("none", "next") if policy != "hash-home"]


@pytest.mark.parametrize(("policy", "overflow"), [*CASES, ("hash-home", "none")])
def test_policy(policy: str, overflow: str) -> None:
    placement = {"policy": policy, **NEEDED.get(policy, {}), "granule": 1, "overflow": overflow}
    for program in PROGRAMS:
        if PlacementSpec.model_validate(placement).rule.migrates and program == "matmul":
            with pytest.raises(InputError, match="would migrate"):
                plan_of(workload(program), 5, stealing(placement=placement), machine=machine("xeon-e5-2620-2s"))
            continue
        plan = plan_of(
            workload(program), 5, stealing(placement=placement), shipped_runtime("ompi"), machine("xeon-e5-2620-2s")
        )
        result = simulate(plan, SEED, EXPECTED, check=True)
        assert result.node_pages.sum() > 0
        assert (result.counters["pages_migrated"] > 0) <= seeded(plan).placement.stages[0].rule.migrates
        for other in OTHERS:
            if any(disagreements(result, simulate(plan, SEED, other))):
                pytest.fail(str(difference(seeded(plan), REFERENCE, other)))


# ---- the rules of papers beside the thesis --------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["cab", "hws", "slaw"])
def test_what_is_below_a_root_runs_on_the_socket_of_its_root(strategy: str) -> None:
    """CAB and HWS steal local tasks within a socket alone, SLAW all tasks within a place."""
    work = generate(workload_spec("fib", n=11, spawn_ns=20, leaf_ns=300, join_ns=20))
    plan = plan_of(work, 6, shipped_strategy(strategy), "bare", toy(2, 3))
    seen = observe(plan)
    sockets: dict[int, set[int]] = {}
    for worker, task, *_ in seen.stretches:
        sockets.setdefault(task, set()).add(int(plan.workers.node[worker]))
    ends, tiers = plan.workload.subtree_end(), plan.control.tiers
    roots = [task for task in range(plan.workload.rows) if tiers[task] == Tier.ROOT]
    for root in roots:
        below = [sockets[task] for task in range(root, int(ends[root])) if task in sockets]
        assert len(set().union(*below)) == 1
    assert len({socket for root in roots for socket in sockets[root]}) == 2  # both sockets have some
