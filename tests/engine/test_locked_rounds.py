"""Idle workers that probe under one lock, apart from the clock, find and count what they do when every probe and every
grant is an event (model 1.5 and 4.1).

Few workers have something to give, now and then; the others wait for the lock of their search most of the time. All
that a run leaves behind is compared, up to each grant of a lock and its hash; only the number of events is another one.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from engine_setup import NS, event_by_event, plan_of, runtime, seeded, shipped_strategy, stealing, toy
from task_graphs import WAIT, Task, graph, phase, task, two_that_drip

from numasim.engine.check.engine_difference import outcome
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.plan import Plan, Run

MACHINE = toy(2, 4)
WORKERS = 8
COSTS = {"probe_ns": 30, "probe_remote_ns": 70, "take_ns": 25, "futex_ns": 400, "wake_ns": 900, "pause_ns": 15}
NODE_LEVELS: tuple[dict[str, Any], ...] = (
    {"from": "own-node", "lock": "node"},
    {"from": "other-nodes", "by": "node", "if": {"length": 2}, "lock": "node"},
)
STRATEGIES = {
    "cohorts, and marks elsewhere": shipped_strategy("affinity-locks"),
    "mutexes, and marks elsewhere": shipped_strategy("oblivious-locks"),
    "one lock for all": stealing({"from": "others", "lock": "machine"}),
    "who finds marks takes another lock": stealing(
        {"from": "own-node", "lock": "node"}, {"from": "others", "if": {"length": 2}, "lock": "machine"}
    ),
    "marks first": stealing({"from": "others", "if": {"length": 3}, "lock": "machine"}, *NODE_LEVELS[:1]),
    "announcements of owners first": stealing(
        {"from": "others", "if": "announced", "lock": "machine"},
        *NODE_LEVELS[:1],
        thresholds={"max": 3, "min": 1, "announce": "owner"},
    ),
    "a lock of each core": stealing({"from": "others", "lock": "core"}),
    "two probes under one lock": stealing({"from": "others", "lock": "machine", "tries": 2}),
    "some search without a lock": stealing({"from": "own-node"}, {"from": "other-nodes", "lock": "node"}),
}
QUEUES_MATTER = [name for name in STRATEGIES if "marks" in name or "owners" in name]
LOCKS: dict[str, dict[str, Any]] = {
    "tas": {"fairness": "near"},
    "ttas": {"fairness": "fair"},
    "ticket": {},
    "mcs": {"words": "memory"},
    "mutex": {"spin_ns": 200},
    "cohort": {"batch": 3},
    "clh": {},
}

pytestmark = pytest.mark.skipif("native" not in ENGINES, reason="the extension is not built")


def bursts(chance: Random) -> Task:
    """Spawns up to four short tasks after each stretch of work, twelve times."""
    steps: list[object] = []
    for _ in range(12):
        steps += [chance.randrange(100, 2500) * NS]
        steps += [task(chance.randrange(50, 3000) * NS) for _ in range(chance.randrange(1, 5))]
    return task(*steps, WAIT)


def plan_with(strategy: StrategySpec, join: str, **keys: Any) -> Plan:
    """Two workers with something to give, six without."""
    how = runtime(join=join, costs={**COSTS, "line": True}, **{"poll_ns": 405, **keys})
    return plan_of(two_that_drip(9_000 * NS), WORKERS, strategy, how, MACHINE)


def ended(run: Run, engine: str) -> Result | str:
    """The result of a run, or why it is refused."""
    return outcome(run, engine)


def all_of(end: Result | str) -> dict[str, Any] | str:
    """All that a run leaves behind but the number of its events."""
    if isinstance(end, str):
        return end
    counters = {name: value for name, value in end.counters.items() if name not in ("events", "mode")}
    tables = {name: column.tolist() for name, column in end.per_worker.items()}
    objects = {name: column.tolist() for name, column in end.sync_objects.items()}
    pairs = [pair.tolist() for pair in (end.node_bytes, end.node_attempts, end.node_success, end.node_pages)]
    return {"counters": counters, "workers": tables, "objects": objects, "pairs": pairs}


def assert_events_change_nothing(plan: Plan, seed: int, *engines: str) -> None:
    """What a run of the native engine comes to is what it does event by event, there and on other engines."""
    asleep = all_of(ended(seeded(plan, seed), "native"))
    awake = seeded(event_by_event(plan), seed)
    for engine in ("native", *engines):
        assert asleep == all_of(ended(awake, engine))


@pytest.mark.parametrize("join", ["continuation", "help", "strict", "block", "own"])
@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_rounds_apart_from_the_clock_change_nothing(strategy: StrategySpec, join: str) -> None:
    assert_events_change_nothing(plan_with(strategy, join), 1, "reference")


@pytest.mark.parametrize("kind", LOCKS)
def test_locks_of_every_kind_go_round_alike(kind: str) -> None:
    strategy = stealing(*NODE_LEVELS, locks={"kind": kind, **LOCKS[kind]})
    assert_events_change_nothing(plan_with(strategy, "help", poll_ns=90), 1, "reference")


@pytest.mark.parametrize("backoff", [{"first_ns": 40, "factor": 2, "max_ns": 900}, {"max_ns": 0}, {"after": "probe"}])
def test_whatever_the_waits_between_rounds_are(backoff: dict[str, Any]) -> None:
    assert_events_change_nothing(plan_with(stealing(*NODE_LEVELS), "help", backoff=backoff), 1, "reference")


@pytest.mark.parametrize("name", QUEUES_MATTER)
def test_queues_that_fill_up_and_run_dry_part_the_workers_at_once(name: str) -> None:
    for seed in range(30):
        chance = Random(seed)
        work = graph(task(*[bursts(chance) for _ in range(chance.randrange(1, 5))], WAIT))
        how = runtime(join="help", costs={**COSTS, "line": True}, poll_ns=chance.choice([40, 300, 2000]))
        assert_events_change_nothing(plan_of(work, 16, STRATEGIES[name], how, toy(4, 4)), seed)


@pytest.mark.parametrize("name", STRATEGIES)
def test_phases_end_in_the_midst_of_rounds(name: str) -> None:
    for wait_ns in (900, 1_000, 1_100, 1_337):
        tasks = (task(5_000 * NS, task(700 * NS), wait_ns * NS, WAIT),)
        work = graph(*tasks, phases=(phase(0, repeat=3), phase(0)))
        assert_events_change_nothing(
            plan_of(work, WORKERS, STRATEGIES[name], runtime(costs={**COSTS, "line": True}, poll_ns=200), MACHINE), 1
        )


@pytest.mark.parametrize("name", ["cohorts, and marks elsewhere", "mutexes, and marks elsewhere", "one lock for all"])
def test_few_of_the_rounds_are_events(name: str) -> None:
    plan = plan_with(STRATEGIES[name], "continuation")
    asleep, awake = (ENGINES["native"](seeded(each), False, None)[0] for each in (plan, event_by_event(plan)))
    attempts = int(asleep.counters["steal_attempts"])
    assert awake.counters["events"] > 3 * attempts  # the round, the grant, the end of the probe
    assert int(asleep.counters["events"]) < attempts
