"""Each shortcut of the reference engine, and any of them together, finds what going through every event finds."""

from __future__ import annotations

from collections.abc import Set
from functools import cache
from itertools import chain, combinations
from random import Random
from typing import Any

import pytest
from engine_setup import NS, SEED, event_by_event, found, plan_of, runtime, seeded, stealing, toy
from equality import EndlessError, ImpatientEngine
from random_recipes import random_run
from task_graphs import WAIT, graph, items, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.collect_result import collect
from numasim.engine.observe.trace_hash import Trace
from numasim.engine.reference.reference import ReferenceEngine, finished, makespan_ps
from numasim.engine.reference.shortcuts.shortcut import ALL_SHORTCUTS, Shortcut
from numasim.engine.result import Result
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan, Run
from numasim.workload.graph import Deal

RANDOM_PLANS = 30
MOST_EVENTS = 4_096  # of a random plan, event by event
NONE: frozenset[Shortcut] = frozenset()
SUBSETS = [
    frozenset(some)
    for some in chain.from_iterable(combinations(Shortcut, count) for count in range(1, len(Shortcut) + 1))
]
each_subset = pytest.mark.parametrize("taken", SUBSETS, ids=lambda taken: ", ".join(sorted(s.name for s in taken)))

LONG = graph(task(task(50 * NS), 90_000 * NS, WAIT))
PRODUCED = runtime(producer="extra", capacity=8, on_full="next", costs={"push_ns": 2, "pop_ns": 1})
PLANS: dict[str, Plan] = {
    "idle workers": plan_of(LONG, 4, "randomized", machine=toy(2, 2)),
    "idle workers that back off": plan_of(
        LONG, 3, "randomized", runtime(backoff={"first_ns": 50, "factor": 2, "max_ns": 800})
    ),
    "items dealt": plan_of(items(300, 90 * NS, 410 * NS, deal=Deal.MASTER), 4),
    "items stolen by halves": plan_of(
        items(300, 90 * NS, 410 * NS, deal=Deal.BLOCK), 4, stealing({"from": "others", "amount": "half"})
    ),
    "like items produced": plan_of(
        items(600, 500 * NS),
        4,
        stealing({"from": "others"}, dispatch=[{"to": "any", "pick": "round-robin"}]),
        PRODUCED,
        toy(2, 2),
    ),
    "like items produced, on unlike cores": plan_of(
        items(600, 500 * NS),
        4,
        stealing({"from": "others"}, dispatch=[{"to": "any", "pick": "round-robin"}]),
        PRODUCED,
        toy(2, 2),
        effects=Effects(worker_spread_ppm=100_000),
    ),
}
SHOWN_BY = {
    Shortcut.POLLING: "idle workers",
    Shortcut.STRETCHES: "items dealt",
    Shortcut.STEADY: "like items produced",
}


def result_with(plan: Plan, taken: Set[Shortcut], seed: int = SEED) -> Result:
    run = seeded(plan, seed)
    engine = ReferenceEngine(run, Trace(), shortcuts=taken)
    engine.run()
    return collect(run, finished(engine), makespan_ps)


def outcome(run: Run, taken: Set[Shortcut]) -> dict[str, Any] | str:
    try:
        return found(result_with(run.plan, taken, run.seed))
    except DeadlockError as deadlock:
        return str(deadlock)


@cache
def random_outcomes() -> list[tuple[Run, dict[str, Any] | str]]:
    """Runs of random plans that end soon event by event, and how."""
    drawn = (random_run(Random(f"shortcuts {number}")) for number in range(RANDOM_PLANS))
    return [(run, outcome(run, NONE)) for run in drawn if run.plan.skip and ends_soon(run)]


def ends_soon(run: Run) -> bool:
    engine = ImpatientEngine(seeded(event_by_event(run.plan), run.seed), Trace())
    engine.most_events = MOST_EVENTS
    try:
        engine.run()
    except EndlessError:
        return False
    except DeadlockError:
        pass
    return True


@each_subset
@pytest.mark.parametrize("name", PLANS)
def test_a_shortcut_changes_nothing(name: str, taken: Set[Shortcut]) -> None:
    assert found(result_with(PLANS[name], taken)) == found(result_with(PLANS[name], NONE))


@each_subset
def test_no_shortcut_changes_a_random_plan(taken: Set[Shortcut]) -> None:
    for run, expected in random_outcomes():
        assert outcome(run, taken) == expected


@pytest.mark.parametrize("shortcut", Shortcut)
def test_a_shortcut_saves_events(shortcut: Shortcut) -> None:
    plan = PLANS[SHOWN_BY[shortcut]]
    taken, without = result_with(plan, {shortcut}), result_with(plan, NONE)
    assert taken.counters["events"] < without.counters["events"]
    others = result_with(plan, ALL_SHORTCUTS - {shortcut})
    assert result_with(plan, ALL_SHORTCUTS).counters["events"] < others.counters["events"]


def test_a_plan_that_may_not_skip_takes_none() -> None:
    for plan in map(event_by_event, PLANS.values()):
        assert result_with(plan, ALL_SHORTCUTS).counters["events"] == result_with(plan, NONE).counters["events"]
