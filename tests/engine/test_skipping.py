"""Skipping ahead finds what every event would have found (model 1.7): on both engines, folded or not, at any size."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from engine_setup import FIRST, NS, SEED, event_by_event, found, plan_of, runtime, toy
from hypothesis import event, given, settings
from hypothesis import strategies as st
from skippable_drafts import assert_skipping_changes_nothing, skippable_plan
from task_graphs import WAIT, graph, items, task

from numasim.engine.simulate import ENGINES, simulate
from numasim.workload.generate import generate
from numasim.workload.graph import Deal, Workload
from numasim.workload.registry import workload_spec

pytestmark = pytest.mark.skipif("native" not in ENGINES, reason="the native engine is not built")

quick = settings(max_examples=100)


@quick
@given(st.randoms(use_true_random=False))
def test_skipping_changes_nothing(chance: Random) -> None:
    plan = skippable_plan(chance)
    result = assert_skipping_changes_nothing(plan, chance.getrandbits(64))
    event("ranges" if plan.workload.ranges else "trees")
    event("steals" if result.counters["steal_success"] else "no steals")


# ---- particular cases ------------------------------------------------------------------------------------------------


def fib(n: int, **times: int) -> Any:
    return workload_spec("fib", n=n, **times)


@pytest.mark.parametrize(
    "times", [{}, {"spawn_ns": 0, "leaf_ns": 0, "join_ns": 0}, {"spawn_ns": 3, "leaf_ns": 5, "join_ns": 0}]
)
def test_equal_subtrees_may_be_written_down_once(times: dict[str, int]) -> None:
    folded = plan_of(generate(fib(14, **times), folded=True), 8, "randomized", machine=toy(2, 4))
    unfolded = folded.unfolded()
    assert folded.workload.rows < unfolded.workload.rows
    skipped, eager = simulate(folded, SEED), simulate(event_by_event(folded), SEED)
    assert found(skipped) == found(simulate(unfolded, SEED)) == found(eager)


@pytest.mark.parametrize(
    "work", [generate(fib(16)), items(30_000, 100 * NS, 900 * NS, Deal.BLOCK)], ids=["trees", "ranges"]
)
def test_a_thousand_workers(work: Workload) -> None:
    plan = plan_of(work, 1024, "randomized", machine=toy(8, 64, 2))
    skipped = simulate(plan, SEED)
    assert found(skipped) == found(simulate(event_by_event(plan), SEED))
    assert skipped.counters["steal_success"] > 500


@pytest.mark.parametrize("join", ["help", "own", "strict", "continuation", "block"])
def test_ranges_have_no_joins_whatever_the_runtime_has(join: str) -> None:
    plan = plan_of(items(300, 90 * NS, 410 * NS, Deal.MASTER), 4, "randomized", runtime(join=join))
    assert assert_skipping_changes_nothing(plan).counters["steal_success"] > 0


def test_tasks_that_take_no_time_are_run_at_once() -> None:
    work = graph(task(task(), task(0, task(), WAIT, 0), task(0), WAIT, 0, task(), WAIT))
    result = assert_skipping_changes_nothing(plan_of(work, 4))
    assert (result.counters["makespan_ps"], result.counters["tasks"], result.counters["steal_attempts"]) == (0, 6, 0)


def test_the_cost_of_a_steal_is_paid_with_the_first_work_behind_it() -> None:
    # the thief's probe takes effect at 100 ns; the stolen task has no work of its own before its child's
    work = graph(task(task(task(50 * NS), WAIT, 7 * NS), 1000 * NS, WAIT))
    result = assert_skipping_changes_nothing(plan_of(work, 2, how=runtime(costs={"take_ns": 30})))
    assert result.per_worker["overhead_ps"].tolist() == [0, 30 * NS]
    assert result.per_worker["work_local_ps"].tolist() == [1000 * NS, 57 * NS]


def test_the_last_child_goes_on_with_its_parent() -> None:
    # worker 1 has the child from 100 to 400 ns; worker 0 comes to the join at 150 ns
    work = graph(task(task(300 * NS), 150 * NS, WAIT, 40 * NS))
    result = assert_skipping_changes_nothing(plan_of(work, 2))
    assert result.counters["makespan_ps"] == 440 * NS
    assert result.per_worker["work_local_ps"].tolist() == [150 * NS, 340 * NS]


@pytest.mark.parametrize("thief", [1, 2])
def test_ends_of_an_instant_come_in_worker_order(thief: int) -> None:
    # the join is reached and completed at 400 ns, by worker 0 first: the thief goes on
    work = graph(task(task(300 * NS), 400 * NS, WAIT, 40 * NS))
    result = assert_skipping_changes_nothing(plan_of(work, thief + 1, FIRST))
    assert result.counters["makespan_ps"] == 440 * NS
    assert result.per_worker["work_local_ps"].tolist()[:2] == [400 * NS, 340 * NS]


def test_the_course_of_a_run_costs_as_many_events_as_it_has_ends_and_probes() -> None:
    plan = plan_of(generate(fib(30), folded=True), 1)
    result = simulate(plan, SEED)
    assert result.counters["tasks"] == plan.workload.tasks == 2_692_537
    assert result.counters["events"] == 2  # the end of the root and that of the phase
