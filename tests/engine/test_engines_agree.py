"""Every engine of the registry gives what the reference engine gives: counters, tables, hashes, and deadlocks by name.

`verification/long_equality.py` holds the engines against each other on as many random plans as there is time for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from random import Random
from typing import Any, get_args

import numpy as np
import pytest
from engine_difference import difference
from engine_setup import (
    NS,
    SEED,
    event_by_event,
    machine_spec,
    observe,
    plan_of,
    runtime,
    seeded,
    shipped_runtime,
    shipped_strategy,
    toy,
)
from equality import OTHERS, REFERENCE, judge
from hypothesis import event, given, note, settings
from hypothesis import strategies as st
from random_recipes import (
    RUNTIMES,
    STRATEGIES,
    RandomRun,
    effect_values,
    numbered_run,
    plan_from,
    random_recipe,
    random_run,
    with_effects,
)
from task_graphs import WAIT, Access, Run, graph, items, task

from numasim.machine.build_machine import build
from numasim.parts.models.effects_model import CacheModel, ContentionModel, ModelSpec
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.placement_model import DistributionName, DistributionSpec, PolicyName
from numasim.parts.models.runtime_model import FullRule, JoinKind, ProducerKind, RuntimeSpec
from numasim.parts.models.search_model import DispatchSpec, LevelSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import DispatchPick, SourceName, StealPick, TargetName
from numasim.plan.effects import effects_of
from numasim.plan.plan import Plan
from numasim.workload.graph import Deal, Mode, Region, Workload

DATA = Region("data", 1 << 18, False)
WRITES = Access(0, 0, 9000, mode=Mode.WRITE)
PROGRAMS: dict[str, Workload] = {
    "fork-join": graph(
        task(
            *[task(300 * NS, task(Run(700 * NS, (WRITES,))), task(0), WAIT, 20 * NS) for _ in range(5)], WAIT, 50 * NS
        ),
        regions=(DATA,),
    ),
    "range": items(40, 100 * NS, 900 * NS, deal=Deal.BLOCK, repeat=2),
    "like items": items(300, 500 * NS, deal=Deal.CYCLIC),
}


def assert_agree(plan: Plan, other: str, seed: int = SEED) -> None:
    for each in (plan, event_by_event(plan)):
        found = difference(seeded(each, seed), REFERENCE, other)
        assert found is None, str(found)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("how", RUNTIMES)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_engines_agree_under_every_strategy_and_runtime(strategy: str, how: str, other: str) -> None:
    for seed, work in enumerate(PROGRAMS.values()):
        assert_agree(plan_of(work, 5, shipped_strategy(strategy), shipped_runtime(how), toy(2, 2, 2)), other, seed)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("how", RUNTIMES)
@pytest.mark.parametrize("join", get_args(JoinKind))
def test_engines_agree_about_every_join(join: JoinKind, how: str, other: str) -> None:
    for name in ("randomized", "work-first", "topology-aware", "breadth-first", "steal-half"):
        strategy = shipped_strategy(name).model_copy(update={"join": join})
        given = shipped_runtime(how).model_copy(update={"join": join})
        assert_agree(plan_of(PROGRAMS["fork-join"], 4, strategy, given, toy(2, 2)), other, seed=3)


@pytest.mark.parametrize("other", OTHERS)
def test_engines_name_the_same_deadlock(other: str) -> None:
    work = graph(task(task(task(10 * NS), task(10 * NS), WAIT), task(task(10 * NS), WAIT), WAIT))
    for join, strategy in (("block", "static-block"), ("own", "breadth-first"), ("strict", "breadth-first")):
        given = shipped_strategy(strategy).model_copy(update={"join": join})
        assert_agree(plan_of(work, 1, given, runtime(join=join)), other)


SMALL = {
    "caches": {"l2": 4000, "llc": 20_000, "llc_scope": "node", "llc_hit_ns": 15, "llc_remote_hit_ns": 60},
    "bandwidth_gbs": {"imc": 1, "link": 0.2},
    "smt": {"busy_ppm": 650_000, "poll_ppm": 850_000},
    "clock": {"base_ghz": 2, "turbo": [{"active": 1, "ghz": 3}, {"active": 2, "ghz": 2.5}]},
    "snoop": {"request_bytes": 8, "answer_bytes": 4},
}
TOGETHER = {"cache": "share", "contention": "fluid", "queueing": "md1", "smt": "memory", "clock": "turbo"}
MODELS = [
    TOGETHER,
    *({name: value} for name, values in effect_values().items() for value in values),
    *({**TOGETHER, name: value} for name, values in effect_values().items() for value in values),
]


@pytest.mark.parametrize("other", OTHERS)
def test_engines_agree_under_every_effect(other: str) -> None:
    usual = machine_spec(2, 2, 2).model_dump(by_alias=True, exclude_none=True)
    machine = build(MachineSpec.model_validate(with_effects(usual, SMALL)))
    for model in MODELS:
        for name in ("fork-join", "range"):
            effects = effects_of(ModelSpec.model_validate(model))
            assert_agree(plan_of(PROGRAMS[name], 6, machine=machine, effects=effects), other)


@settings(max_examples=150)
@given(st.randoms(use_true_random=False).map(random_run))
def test_engines_agree_on_random_plans_of_every_kind(random: RandomRun) -> None:
    verdict = judge(random)
    for label in verdict.labels:
        if label.startswith(("mode", "join", "skip")):
            event(label)
    note(repr(random))
    assert verdict.problem is None, verdict.problem


def test_seeds_differ() -> None:
    work = items(40, 200 * NS, 2000 * NS)
    hashes = {observe(plan_of(work, 4, "randomized"), seed)["trace_hash"] for seed in range(30)}
    assert len(hashes) == 30


def arrays_of(part: Any) -> Iterator[bytes]:
    for entry in fields(part):
        value = getattr(part, entry.name)
        if isinstance(value, np.ndarray):
            yield value.tobytes()


def test_running_leaves_the_plan_as_it_was() -> None:
    plan = plan_of(PROGRAMS["fork-join"], 5, "topology-aware", "ompi", toy(2, 2, 2))
    parts = (plan.machine, plan.workers, plan.steal)
    before = [plan.workload.digest(), *(array for part in parts for array in arrays_of(part))]
    observe(plan)
    assert [plan.workload.digest(), *(array for part in parts for array in arrays_of(part))] == before


# ---- the random plans themselves -----------------------------------------------------------------------------------


def test_a_number_gives_one_plan() -> None:
    one, again, other = numbered_run(1, 7), numbered_run(1, 7), numbered_run(1, 8)
    assert one.recipe == again.recipe != other.recipe
    assert plan_from(one.recipe).workload.digest() == one.plan.workload.digest()


def names_in(document: Any) -> set[str]:
    """Every key of a document, and every word that is a value of one."""
    if isinstance(document, dict):
        return {*document}.union(*map(names_in, document.values()))
    if isinstance(document, list | tuple):
        return set().union(*map(names_in, document))
    return {document} if isinstance(document, str) else set()


def test_random_plans_use_every_key_and_name_of_the_grammars() -> None:
    used = names_in([random_recipe(Random(number)) for number in range(1500)])
    grammars = (StrategySpec, LevelSpec, DispatchSpec, RuntimeSpec, ModelSpec, DistributionSpec)
    keys = {info.alias or name for grammar in grammars for name, info in grammar.model_fields.items()}
    words = (StealPick, SourceName, DispatchPick, TargetName, JoinKind, FullRule, ProducerKind, CacheModel)
    names = {name for kind in (*words, ContentionModel, PolicyName, DistributionName) for name in get_args(kind)}
    assert keys | names <= used
