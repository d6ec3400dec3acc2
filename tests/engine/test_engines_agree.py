"""Every engine has the results of the reference engine: counters, tables, hashes, and the texts of deadlocks.

Random plans use every key and name that specifications may have. Of all workload families, shipped strategies and
machines, any two run together in some run; `verification/long_equality.py` runs any three of them, and as many random
plans as there is time for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import islice
from random import Random
from typing import Any, get_args

import numpy as np
import pytest
from engine_difference import difference, disagreements
from engine_setup import NS, observe, plan_of, shipped_strategy, toy
from equality import EXPECTED, OTHERS, REFERENCE, judge
from hypothesis import event, given, note, settings
from hypothesis import strategies as st
from plan_features import features_of
from random_recipes import RandomRun, numbered_run, plan_from, random_recipe, random_run
from registry_cells import STRATEGIES, cells_of_every_pair, run_of_cell
from task_graphs import WAIT, Access, Run, graph, items, task, two_that_drip

from numasim.engine.simulate import simulate
from numasim.parts import catalog
from numasim.parts.models.effects_model import CacheModel, ContentionModel, ModelSpec
from numasim.parts.models.placement_model import DistributionName, DistributionSpec, PolicyName
from numasim.parts.models.runtime_model import FullRule, JoinKind, ProducerKind, RuntimeSpec
from numasim.parts.models.search_model import DispatchSpec, LevelSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import DispatchPick, SourceName, StealPick, TargetName
from numasim.schema.enumerations import Tier
from numasim.workload.graph import Mode, Region
from numasim.workload.registry import generate, workload_spec


@settings(max_examples=200)
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
    leaves = [task(300 * NS, task(Run(700 * NS, (Access(0, 0, 9000, mode=Mode.WRITE),))), WAIT) for _ in range(5)]
    work = graph(task(*leaves, WAIT), regions=(Region("data", 1 << 18, False),))
    plan = plan_of(work, 5, "topology-aware", "ompi", toy(2, 2, 2))
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
    """Return every key of a document, and every word that is the value of a key."""
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
    assert (keys | names) - {"leaves_out"} <= used


# ---- every workload family ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES[::2])
def test_engines_agree_on_every_second_strategy(strategy: str) -> None:
    """The short form of the tests with sanitizers runs only these strategies: together they execute every line of the
    native engine that any shipped strategy executes.
    """
    engines_agree_on_the_registries(strategy)


@pytest.mark.parametrize("strategy", STRATEGIES[1::2])
def test_engines_agree_on_the_strategies_between(strategy: str) -> None:
    engines_agree_on_the_registries(strategy)


@pytest.mark.parametrize("scheduler", catalog.schedulers())
def test_engines_agree_on_strategies_with_the_runtimes_of_their_names(scheduler: str) -> None:
    engines_agree_on_the_registries(scheduler, scheduler, every=4)


def engines_agree_on_the_registries(strategy: str, runtime: str | None = None, every: int = 1) -> None:
    for cell in islice(cells_of_every_pair(strategy), STRATEGIES.index(strategy) % every, None, every):
        run = run_of_cell(cell, runtime)
        result = simulate(run.plan, run.seed, EXPECTED, check=True)
        assert result.counters["tasks"] == run.plan.workload.tasks
        for other in OTHERS:
            if any(disagreements(result, simulate(run.plan, run.seed, other))):
                pytest.fail(f"{cell}: {difference(run, REFERENCE, other)}")


# ---- decisions that few random plans make ---------------------------------------------------------------------------

RARE = {
    **dict.fromkeys(("chances", "watches", "refill", "copies", "leapfrogging", "adaptive spawn order"), 12),
    **dict.fromkeys(("gated levels", "gates behind own subtrees", "rules by tier", "rules to: label"), 12),
    **dict.fromkeys(("levels by switch", "rules by switch", "levels by iteration", "shared queues"), 12),
    **dict.fromkeys(("dispatch by data", "dispatch by the data of items"), 40),
}


@pytest.mark.parametrize("feature", RARE)
def test_engines_agree_on_random_plans_with(feature: str) -> None:
    """The native engine and the reference engine each interpret strategies; both make the same decisions."""
    for number in range(RARE[feature]):
        verdict = judge(numbered_run(23, number, lambda run: feature in features_of(run)))
        assert verdict.problem is None, verdict.problem


# ---- more workers than a word has bits ------------------------------------------------------------------------------


def test_engines_agree_where_a_set_of_queues_needs_two_words() -> None:
    """The native engine keeps sets of queues, such as the queues that a watch marks, in words of 64 bits."""
    plans = [plan_of(two_that_drip(500 * NS), 70, strategy, "bare", toy(7, 10)) for strategy in STRATEGIES]
    watching = [plan for plan in plans if len(plan.steal.watch)]
    assert len(watching) > 4
    for plan in watching:
        observe(plan)


# ---- the rules of other papers than the thesis ----------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["cab", "hws", "slaw"])
def test_what_is_below_a_root_runs_on_the_socket_of_its_root(strategy: str) -> None:
    """Under CAB and HWS thieves steal tasks below roots of subtrees only within a socket; under SLAW they steal any
    task only within a place.
    """
    work = generate(workload_spec("fib", n=11, spawn_ns=20, leaf_ns=300, join_ns=20))
    plan = plan_of(work, 6, shipped_strategy(strategy), "bare", toy(2, 3))
    seen = observe(plan)
    sockets: dict[int, set[int]] = {}
    for worker, row, *_ in seen.stretches:
        sockets.setdefault(row, set()).add(int(plan.workers.node[worker]))
    ends, tiers = plan.workload.subtree_end(), plan.control.tiers
    roots = [row for row in range(plan.workload.rows) if tiers[row] == Tier.ROOT]
    for root in roots:
        below = [sockets[row] for row in range(root, int(ends[root])) if row in sockets]
        assert len(set().union(*below)) == 1
    assert len({socket for root in roots for socket in sockets[root]}) == 2  # each socket has roots
