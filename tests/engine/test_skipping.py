"""Skipping ahead finds what every event would have found (model 1.7): on both engines, folded or not, at any size."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from engine_setup import FIRST, NS, SEED, event_by_event, found, plan_of, runtime, shipped_strategy, stealing, toy
from hypothesis import event, given, settings
from hypothesis import strategies as st
from task_graphs import WAIT, Access, Run, Task, body, graph, items, phase, task

from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES, simulate
from numasim.parts.models.placement_model import PlacementSpec
from numasim.plan.plan import Plan
from numasim.workload.generate import generate
from numasim.workload.graph import Deal, Mode, Pattern, Region, Workload
from numasim.workload.registry import workload_spec

pytestmark = pytest.mark.skipif("native" not in ENGINES, reason="the native engine is not built")

quick = settings(max_examples=100)

MOST_TASKS = 60
GRAINS_PS = (1, 100, NS, 30 * NS)  # of segments; probes take a nanosecond and more, so either may be the longer
REGIONS = (Region("a", 300_000, initialised=True), Region("b", 5_000, initialised=True))
PLACEMENTS = ("first-touch-master", "interleave", "block")
SHIPPED = ("randomized", "randomized-self", "ring", "ring-after-last", "last-victim", "nearest-first")
NODE_BY_NODE = stealing({"from": "own-node"}, {"from": "other-nodes", "by": "node", "tries": 2})
STRATEGIES = (FIRST, NODE_BY_NODE, *map(shipped_strategy, SHIPPED))
DEALS = tuple(Deal)
ITEM_STEPS = (
    (1, 0, 0),
    (1, 12, 0),
    (7, 2, 3),
    (10, 0, 50),
    (16, 40, 0),
)  # divisor, step_div, step_mod: within 5,000 bytes


def assert_skipping_changes_nothing(plan: Plan, seed: int = SEED) -> Result:
    """The result of the skipping run, which is that of an eager run and of the reference engine."""
    assert plan.skipping
    skipped, eager = simulate(plan, seed), simulate(event_by_event(plan), seed)
    reference = simulate(plan, seed, "reference")
    assert skipped.counters["mode"] == reference.counters["mode"] == "skipping"
    assert skipped.counters["event_hash"] is None
    assert found(skipped) == found(eager) == found(reference)
    return skipped


# ---- random plans ----------------------------------------------------------------------------------------------------


class Draft:
    """Fully strict programs, drawn from a generator of random numbers; vanishing and equal times are frequent."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.grain_ps = chance.choice(GRAINS_PS)
        self.moves_bytes = chance.random() < 0.5
        self.left = chance.randint(1, MOST_TASKS)

    def time_ps(self) -> int:
        return self.chance.choice((0, 0, 1, 1, 2, 3, 5, 9)) * self.grain_ps

    def run(self) -> Run:
        return Run(self.time_ps(), tuple(self.access() for _ in range(self.chance.randint(0, 2) * self.moves_bytes)))

    def access(self) -> Access:
        region = self.chance.randrange(len(REGIONS))
        size = self.chance.choice((64, 4_000))
        offset = self.chance.randrange(REGIONS[region].bytes - size)
        return Access(
            region, offset, size, mode=self.chance.choice(tuple(Mode)), pattern=self.chance.choice(tuple(Pattern))
        )

    def steps(self, depth: int) -> list[Any]:
        """Groups of segments and children, each closed by a WAIT where it spawns."""
        steps: list[Any] = []
        for _ in range(self.chance.randint(0, 2)):
            steps += self.group(depth)
        return steps + [self.run() for _ in range(self.chance.randint(0, 1))]

    def group(self, depth: int) -> list[Any]:
        ops: list[Any] = []
        for _ in range(self.chance.randint(0, 5)):
            if self.left > 0 and depth < 8 and self.chance.random() < 0.6:
                self.left -= 1
                ops.append(task(*self.steps(depth + 1)))
            else:
                ops.append(self.run())
        return [*ops, WAIT] if any(isinstance(op, Task) for op in ops) else ops

    def roots(self, workers: int) -> Workload:
        deal = self.chance.choice(DEALS)
        count = 1 if deal == Deal.MASTER else self.chance.randint(1, workers)
        kind = self.chance.choice((task, body))
        start = phase(0, deal=deal, repeat=self.chance.randint(1, 2))
        drawn = graph(*(kind(*self.steps(0)) for _ in range(count)), phases=(start,), regions=REGIONS)
        roots = tuple(row for row in range(drawn.rows) if drawn.parent[row] < 0)
        return replace(drawn, phases=(replace(start, roots=roots),))

    def items(self) -> Workload:
        low, high = sorted((self.time_ps(), self.time_ps()))
        count = self.chance.choice((1, 5, 40, 150))
        accesses = tuple(self.access() for _ in range(self.chance.randint(0, 2) * self.moves_bytes))
        moved = tuple(access._replace(offset=0, row_bytes=64) for access in accesses)  # the items move them on
        steps = tuple(self.chance.choice(ITEM_STEPS) for _ in moved)
        deal, repeat = self.chance.choice(DEALS), self.chance.randint(1, 2)
        return items(count, low, high, deal, moved, steps, REGIONS, repeat)


def skippable_plan(chance: Random) -> Plan:
    machine = toy(chance.choice((1, 1, 2)), chance.choice((1, 3)), chance.choice((1, 2)), chance.choice((1, 2)))
    workers = chance.randint(1, machine.threads)
    draft = Draft(chance)
    work = draft.items() if chance.random() < 0.3 else draft.roots(workers)
    brief = draft.grain_ps <= NS and not draft.moves_bytes  # else the shortest probes are made a million times
    costs = {
        "probe_ns": chance.choice((1, 1, 20, 100) if brief else (70, 100)),
        "probe_remote_ns": chance.choice((2, 300) if brief else (200, 300)),
        "take_ns": chance.choice((0, 3)),
    }
    if work.ranges:
        costs["pop_ns"] = chance.choice((0, 1, 40))
    backoff = {"first_ns": chance.choice((0, 0, 50)), "after": chance.choice(("round", "probe"))}
    how = runtime(
        poll_ns=chance.choice((0, 7, 270)), costs=costs, backoff=backoff, capacity="none", join="continuation"
    )
    placement = PlacementSpec(policy=chance.choice(PLACEMENTS))
    strategy = chance.choice(STRATEGIES).model_copy(update={"placement": placement})
    return plan_of(work, workers, strategy, how, machine)


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
    assert result.workers["overhead_ps"].tolist() == [0, 30 * NS]
    assert result.workers["work_local_ps"].tolist() == [1000 * NS, 57 * NS]


def test_the_last_child_goes_on_with_its_parent() -> None:
    # worker 1 has the child from 100 to 400 ns; worker 0 comes to the join at 150 ns
    work = graph(task(task(300 * NS), 150 * NS, WAIT, 40 * NS))
    result = assert_skipping_changes_nothing(plan_of(work, 2))
    assert result.counters["makespan_ps"] == 440 * NS
    assert result.workers["work_local_ps"].tolist() == [150 * NS, 340 * NS]


@pytest.mark.parametrize("thief", [1, 2])
def test_ends_of_an_instant_come_in_worker_order(thief: int) -> None:
    # the join is reached and completed at 400 ns, by worker 0 first: the thief goes on
    work = graph(task(task(300 * NS), 400 * NS, WAIT, 40 * NS))
    result = assert_skipping_changes_nothing(plan_of(work, thief + 1, FIRST))
    assert result.counters["makespan_ps"] == 440 * NS
    assert result.workers["work_local_ps"].tolist()[:2] == [400 * NS, 340 * NS]


def test_the_course_of_a_run_costs_as_many_events_as_it_has_ends_and_probes() -> None:
    plan = plan_of(generate(fib(30), folded=True), 1)
    result = simulate(plan, SEED)
    assert result.counters["tasks"] == plan.workload.tasks == 2_692_537
    assert result.counters["events"] == 2  # the end of the root and that of the phase
