"""Every placement policy under a few programs on all engines: no invariant is broken, and engines agree."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from engine_setup import SEED, plan_of, seeded, shipped_runtime, stealing
from equality import EXPECTED, OTHERS, REFERENCE
from random_placement import placement_document
from registry_cells import machine, workload

from numasim.engine.check.engine_difference import difference, disagreements
from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.parts.models.placement_model import PlacementSpec
from numasim.strategy.placement.policies import POLICIES

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


def test_random_plans_have_every_policy_from_the_start_and_as_a_change() -> None:
    chance = Random(1)
    documents = [placement_document(chance) for _ in range(600)]
    assert {each["policy"] for each in documents} == set(POLICIES)
    changes = [change for each in documents for change in each.get("changes", ())]
    assert {each["policy"] for each in changes} == set(POLICIES) - {"hash-home"}
