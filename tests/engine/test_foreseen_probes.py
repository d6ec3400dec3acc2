"""Idle workers that sleep through probes known to fail find what they find when every probe is an event (model 1.5).

One worker at a time has something to give, now and then; all others look for it in vain most of the time. So nearly
every probe is foreseen, and every task that comes into a queue has to wake who would have found it.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from engine_setup import NS, event_by_event, found, plan_of, runtime, seeded, shipped_strategy, stealing, toy
from task_graphs import WAIT, Task, graph, task, two_that_drip

from numasim.engine.check.engine_difference import outcome
from numasim.engine.simulate import ENGINES
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.plan import Plan, Run

MACHINE = toy(2, 4)
WORKERS = 8
BACKOFF = {"first_ns": 40, "factor": 2, "max_ns": 160}
STRATEGIES = {
    "one pick": shipped_strategy("randomized"),
    "half of what is there": shipped_strategy("steal-half"),
    "all but one": shipped_strategy("leave-one"),
    "two picks": stealing({"from": "others", "tries": 2}),
    "near before far": stealing({"from": "own-node"}, {"from": "other-nodes"}),
    "marks elsewhere": shipped_strategy("topology-aware"),
    "marks alone": shipped_strategy("threshold"),
}


def _announcing(announce: str) -> StrategySpec:
    """Thieves go to announced queues, and then to any."""
    thresholds = {"max": 3, "min": 1, "announce": announce}
    return stealing({"from": "others", "if": "announced"}, {"from": "own-node"}, thresholds=thresholds)


MARKING = {
    "marks on other nodes": stealing({"from": "own-node"}, {"from": "other-nodes", "by": "node", "if": {"length": 2}}),
    "marks anywhere": stealing({"from": "others"}, {"from": "others", "if": {"length": 3}}),
    "marks of owners": _announcing("owner"),
    "marks of exact owners": _announcing("owner-exact"),
    "marks of dispatch": shipped_strategy("locality-binding"),
}

pytestmark = pytest.mark.skipif("native" not in ENGINES, reason="the extension is not built")


def plan_with(strategy: StrategySpec, join: str) -> Plan:
    """Two workers with something to give, six without."""
    return plan_of(two_that_drip(27_000 * NS), WORKERS, strategy, runtime(join=join, backoff=BACKOFF), MACHINE)


def quantities(run: Run, engine: str) -> dict[str, Any] | str:
    """What a run comes to, whatever it took; or why it is refused."""
    end = outcome(run, engine)
    return end if isinstance(end, str) else found(end)


@pytest.mark.parametrize("join", ["continuation", "help", "strict", "block", "own"])
@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_what_is_slept_through_changes_nothing(strategy: StrategySpec, join: str) -> None:
    plan = plan_with(strategy, join)
    asleep = quantities(seeded(plan), "native")
    awake = seeded(event_by_event(plan))
    assert asleep == quantities(awake, "native") == quantities(awake, "reference")


def bursts(chance: Random) -> Task:
    """Spawns up to four short tasks after each stretch of work, twelve times."""
    steps: list[object] = []
    for _ in range(12):
        steps += [chance.randrange(100, 2500) * NS]
        steps += [task(chance.randrange(50, 3000) * NS) for _ in range(chance.randrange(1, 5))]
    return task(*steps, WAIT)


@pytest.mark.parametrize("name", MARKING)
def test_who_sleeps_sees_the_marks_of_others_when_they_are_set(name: str) -> None:
    """Queues fill up and run dry all the time, so that what thieves may do changes while they sleep."""
    for seed in range(30):
        chance = Random(seed)
        work = graph(task(*[bursts(chance) for _ in range(chance.randrange(1, 5))], WAIT))
        how = runtime(join="help", backoff={"first_ns": 500, "factor": 2, "max_ns": 8000})
        plan = plan_of(work, 16, MARKING[name], how, toy(4, 4))
        awake = quantities(seeded(event_by_event(plan), seed), "native")
        assert quantities(seeded(plan, seed), "native") == awake


@pytest.mark.parametrize("name", ["one pick", "half of what is there", "near before far"])
def test_few_of_the_probes_are_events(name: str) -> None:
    plan = plan_with(STRATEGIES[name], "continuation")
    asleep, _ = ENGINES["native"](seeded(plan), False, None)
    awake, _ = ENGINES["native"](seeded(event_by_event(plan)), False, None)
    attempts = int(asleep.counters["steal_attempts"])
    assert awake.counters["events"] > attempts
    assert int(asleep.counters["events"]) < attempts // 2
