"""When a run can skip ahead (model 1.7): what couples the workers, and what a skipping run says of itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_setup import (
    NS,
    SEED,
    assert_agree,
    event_by_event,
    observe,
    plan_of,
    runtime,
    shipped_strategy,
    stealing,
    toy,
    toy_with,
)
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_plans import STRATEGIES, oblivious_plans, plans, seeds
from task_graphs import WAIT, Access, Run, Use, body, call, graph, items, phase, task

from numasim.engine.check.invariants import violations
from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import InputError
from numasim.plan.build_plan import build_plan, revised
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.plan.skippable import CONDITIONS, obstacle, skippable
from numasim.spec.run_spec import resolve
from numasim.workload.graph import Deal, Op, Phase, Region, Workload
from numasim.workload.sync_parameters import Role, SyncObject

TREE = graph(task(10 * NS, task(200 * NS), task(100 * NS), WAIT, 10 * NS))
RANGE = items(50, 100 * NS, 300 * NS, Deal.CYCLIC)
DOOR = (SyncObject("door", Role.LOCK),)
FRESH, READY = Region("fresh", 1 << 16, initialised=False), Region("ready", 1 << 16, initialised=True)


def reading(*regions: Region) -> Workload:
    return graph(task(task(Run(10 * NS, (Access(0, 0, 4096),))), WAIT), regions=regions)


def reading_items() -> Workload:
    return items(20, 10 * NS, accesses=(Access(0, 0, 64),), steps=((1, 64, 0),), regions=(READY,))


def uneven(plan: Plan) -> Plan:
    """The same plan on a machine whose second node has slower memory."""
    latency = plan.machine.latency_ps.copy()
    latency[1, 1] += 1000
    return revised(plan, machine=replace(plan.machine, latency_ps=latency))


def on_two_nodes(work: Workload) -> Plan:
    return plan_of(work, 4, machine=toy(sockets=2, cores=2))


def in_phase(work: Workload, **options: Any) -> Workload:
    return replace(work, phases=(replace(work.phases[0], **options),))


def two_trees(deal: Deal) -> Workload:
    return graph(body(10 * NS), body(10 * NS), phases=(phase(0, 1, deal=deal),))


def tree(*levels: dict[str, Any], work: Workload = TREE, how: dict[str, Any] | None = None, **keys: Any) -> Plan:
    """A plan of a strategy and of what differs from the runtime `bare`."""
    return plan_of(work, 2, stealing(*levels, **keys), runtime(**(how or {})))


GLOBAL = {"queues": {"global": {"per": "machine"}}, "dispatch": [{"to": "own", "queue": "global"}]}
SAME_END = {"queues": {"deque": {"per": "worker", "own": "lifo", "steal": "lifo"}}}
OVERHEADS = ("push_ns", "pop_ns", "join_ns", "wait_ns", "resume_ns", "line")
OTHERS = {"from": "others"}

CACHES, BANDWIDTH, QUEUES = Effects(cache="share"), Effects(contention="fluid"), Effects(queueing="md1")
TURBO = toy_with({}, clock={"base_ghz": 2, "turbo": [{"active": 1, "ghz": 3}]})
SIBLINGS = toy_with({"cores": 1, "threads": 2}, smt={"busy_ppm": 600_000, "poll_ppm": 1_000_000})

SMT = Effects(smt="compute")

COUPLED: dict[str, list[Plan]] = {
    "_prices_stand": [
        *(plan_of(reading(READY), 2, effects=effects) for effects in (CACHES, QUEUES)),
        plan_of(reading_items(), 2, effects=QUEUES),
    ],
    "_drawn_beforehand": [
        plan_of(TREE, 2, effects=Effects(task_noise_ppm=1)),
        plan_of(TREE, 2, effects=Effects(worker_spread_ppm=1)),
    ],
    "_work_takes_time": [
        plan_of(graph(task(task(0), WAIT)), 2, machine=SIBLINGS, effects=SMT),
        plan_of(items(5, 0, NS), 2, machine=SIBLINGS, effects=SMT),
        plan_of(items(5, 9), 2, effects=Effects(task_noise_ppm=1)),
    ],
    "_one_queue_each": [tree({"from": "own", "queue": "global"}, **GLOBAL)],
    "_boundless": [tree(work=work, how={"capacity": 9, "on_full": "inline"}) for work in (TREE, RANGE)],
    "_new_tasks_stay": [tree(dispatch=[{"to": "any", "pick": "random"}])],
    "_no_watch": [plan_of(TREE, 2, "threshold"), tree({"from": "others", "if": {"length": 2}}, work=RANGE)],
    "_no_chance": [tree({"from": "others", "chance": 0.5}, OTHERS)],
    "_no_gates": [tree({"from": "others", "gated": "yes"}, tiers={"depth": 1}, live={"per": "machine", "most": 1})],
    "_no_lengths": [tree({"from": "others", "pick": pick}, work=RANGE) for pick in ("longest", "shortest")],
    "_no_parent": [tree({"from": "parent"}, OTHERS)],
    "_attempts_only": [tree({"from": "own"}, OTHERS)],
    "_one_task_a_steal": [
        tree({"from": "others", "amount": "half"}),
        tree({"from": "others", "amount": {"count": 2}}),
        tree({"from": "others", "leave": 1}),
    ],
    "_no_refill": [tree(refill=1), tree(refill="min")],
    "_help_first": [tree(spawn="work-first")],
    "_thieves_at_the_steal_end": [tree(**SAME_END)],
    "_no_producer": [tree(work=RANGE, how={"producer": "master"})],
    "_plain_phases": [
        tree(work=in_phase(TREE, serial=True)),
        tree(work=in_phase(TREE, roots=())),
        tree(work=replace(TREE, ranges=RANGE.ranges, phases=(Phase(roots=(0,), range_family=0),))),
    ],
    "_a_root_each": [
        plan_of(two_trees(Deal.MASTER), 2),
        plan_of(two_trees(Deal.BLOCK), 1),
        plan_of(two_trees(Deal.CYCLIC), 1),
    ],
    "_no_dependences": [tree(work=graph(task(task(NS, name="a"), task(NS, after=("a",)), WAIT)))],
    "_no_synchronisation": [
        tree(work=replace(TREE, words=DOOR)),
        tree({"from": "others", "lock": "node"}),
    ],
    "_settled_pages": [tree(work=reading(FRESH))],
    "_one_local_time": [uneven(on_two_nodes(reading(READY)))],
    "_last_child_resumes": [tree(how={"join": join}) for join in ("help", "own", "strict", "block")],
    "_last_in_first_out": [tree(how={"queue_order": "fifo-lifo"})],
    "_free_of_overhead": [tree(how={"costs": {cost: True if cost == "line" else 1}}) for cost in OVERHEADS],
    "_no_calls": [tree(work=graph(task(NS, call(NS), task(NS), WAIT)))],
    "_no_groups": [tree(work=graph(task(Use(Op.GROUP), task(NS), WAIT, Use(Op.END_GROUP))))],
    "_fully_strict": [
        tree(work=graph(task(task(NS)))),
        tree(work=graph(task(task(NS), WAIT, task(task(NS), NS, WAIT), NS))),
    ],
    "_no_controller": [tree(tune={"what": "fastest", "of": [[]]})],
    "_enough_for_all": [
        plan_of(reading(READY), 2, effects=BANDWIDTH),
        plan_of(reading_items(), 2, effects=BANDWIDTH),  # 6.4 GB/s each, of 10
    ],
}


def broken(plan: Plan) -> list[str]:
    return [condition.holds.__name__ for condition in CONDITIONS if not condition.holds(plan)]


def test_each_condition_has_a_plan_that_breaks_it() -> None:
    assert list(COUPLED) == [condition.holds.__name__ for condition in CONDITIONS]


@pytest.mark.parametrize("name", COUPLED)
def test_what_couples_the_workers(name: str) -> None:
    for plan in COUPLED[name]:
        assert broken(plan) == [name] if name != "_one_queue_each" else broken(plan)[0] == name
        assert not plan.skippable
        assert not plan.skipping


UNCOUPLED = {
    "a tree": tree(),
    "a range": tree(work=RANGE),
    "probes and takes that cost": tree(how={"costs": {"probe_ns": 7, "take_ns": 9}}),
    "a body for each": plan_of(two_trees(Deal.CYCLIC), 2),
    "a body for some": plan_of(two_trees(Deal.BLOCK), 3),
    "phase after phase": tree(work=replace(TREE, ranges=RANGE.ranges, phases=TREE.phases + RANGE.phases + TREE.phases)),
    "last victim first": tree({"from": "last"}, {"from": "thief"}, OTHERS),
    "a producer without a range": tree(how={"producer": "master"}),
    "local memory alike": on_two_nodes(reading(READY)),
    "contention of those who move no bytes": plan_of(TREE, 2, effects=BANDWIDTH),
    "contention of those who leave each other enough": plan_of(reading_items(), 1, effects=BANDWIDTH),
    "caches under items": plan_of(reading_items(), 2, effects=CACHES),
    "waits that add to computing": plan_of(reading(READY), 2, effects=Effects(overlap_ppm=0)),
    "more misses at once": plan_of(reading(READY), 2, effects=Effects(mlp_ppm=2_000_000)),
    "a shared core": plan_of(TREE, 2, machine=SIBLINGS, effects=SMT),
    "items on a shared core": plan_of(RANGE, 2, machine=SIBLINGS, effects=SMT),
    "a clock that falls with load": plan_of(TREE, 2, machine=TURBO, effects=Effects(clock="turbo")),
    "items that take other times": plan_of(RANGE, 2, effects=Effects(task_noise_ppm=100_000)),
    "items of workers unlike each other": plan_of(RANGE, 2, effects=Effects(worker_spread_ppm=100_000)),
    "cores of their own": plan_of(TREE, 2, effects=Effects(smt="compute", clock="turbo")),
    "slower memory where nobody works": uneven(plan_of(reading(READY), 1, machine=toy(sockets=2, cores=2))),
    "slower memory that no task reads": uneven(on_two_nodes(TREE)),
    "slower memory read by items": uneven(on_two_nodes(reading_items())),
    "fresh memory read by items": tree(work=replace(reading_items(), regions=(FRESH,))),
    "fresh memory with a home": tree(work=reading(FRESH), placement={"policy": "interleave"}),
    "items at the other ends": tree(work=RANGE, how={"queue_order": "fifo-lifo"}),
    "items whose taking costs": tree(work=RANGE, how={"costs": {"pop_ns": 5, "push_ns": 4, "line": True}}),
    "items under another join": tree(work=RANGE, how={"join": "help"}),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("label", UNCOUPLED)
def test_what_leaves_the_workers_alone(label: str, engine: str) -> None:
    plan = UNCOUPLED[label]
    assert broken(plan) == []
    assert plan.skippable
    assert plan.skipping
    assert_agree(observe(plan, engine), observe(event_by_event(plan), "reference"))


def test_the_first_obstacle_is_named() -> None:
    plan = plan_of(TREE, 2, "longest-queue", runtime(join="help"))
    assert broken(plan) == ["_no_lengths", "_last_child_resumes"]
    assert obstacle(plan) == "the strategy compares the lengths of queues"
    assert obstacle(plan_of(TREE)) is None


def test_a_plan_that_must_not_skip_is_skippable_all_the_same() -> None:
    plan = event_by_event(plan_of(TREE))
    assert (plan.skippable, plan.skipping) == (True, False)


# ---- runs ------------------------------------------------------------------------------------------------------------

quick = settings(max_examples=100)


@quick
@given(st.one_of(oblivious_plans(), plans()), seeds)
def test_skipping_is_only_a_matter_of_speed(plan: Plan, seed: int) -> None:
    event("skippable" if plan.skippable else "coupled")
    fast, slow = observe(plan, "reference", seed), observe(event_by_event(plan), "reference", seed)
    assert_agree(fast, slow)
    assert violations(plan, fast.result, fast.log) == []
    assert slow["mode"] == "eager"
    assert (fast["mode"] == "skipping") == plan.skippable
    if plan.skippable:
        assert fast["event_hash"] is None


@quick
@given(oblivious_plans(), seeds)
def test_folding_is_only_a_matter_of_memory(plan: Plan, seed: int) -> None:
    whole = plan.unfolded()
    event("folded" if whole is not plan else "as it was")
    assert skippable(plan) == skippable(whole)
    assert_agree(observe(plan, "reference", seed), observe(whole, "reference", seed))


def test_listeners_hear_of_every_event_of_a_run_whose_hash_is_withheld() -> None:
    plan = plan_of(TREE)
    fast, slow = observe(plan, "reference"), observe(event_by_event(plan), "reference")
    assert fast["event_hash"] is None
    assert fast.records.tolist() == slow.records.tolist()


def test_steady_production_is_in_bulk_and_says_so() -> None:
    how = runtime(producer="extra", capacity=4, on_full="next", costs={"push_ns": 1})
    plan = plan_of(items(500, 100 * NS), 3, stealing(), how)
    for engine_plan, mode in ((plan, "bulk"), (event_by_event(plan), "eager")):
        result = simulate(engine_plan, SEED)
        assert result.counters["mode"] == result.row()["mode"] == mode
        assert (result.counters["event_hash"] is None) == (mode == "bulk") == bool(result.passed_items)


# ---- plans of specifications -----------------------------------------------------------------------------------------


def built(n: int, **keys: Any) -> Plan:
    spec = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": n}, "strategy": "randomized", "workers": 4}
    return build_plan(resolve({**spec, **keys}))


def test_a_workload_stays_folded_until_an_engine_writes_it_out() -> None:
    for keys in ({}, {"model": {"skip": "off"}}, {"strategy": "steal-half"}, {"runtime": "ompi"}):
        plan = built(12, **keys)
        assert plan.workload.folded
        assert plan.workload.tasks == 465
        seen = [observe(plan, engine) for engine in ENGINES]
        for other in seen[1:]:
            assert_agree(other, seen[0])


def test_tasks_that_do_not_fit_in_memory_are_too_many_for_the_reference_engine() -> None:
    plan = built(35)
    assert plan.workload.tasks == 29_860_703
    expected = "29,860,703 tasks .* on the reference engine; expected at most 8,000,000 .* or the native engine"
    with pytest.raises(InputError, match=expected):
        simulate(plan, SEED, "reference")


@pytest.mark.parametrize("name", STRATEGIES)
def test_shipped_strategies_that_can_skip(name: str) -> None:
    # by their files: one task from queues of single workers, without looking at lengths, children before continuations
    able = {"randomized", "randomized-self", "help-first", "last-victim", "nearest-first", "ring", "ring-after-last"}
    able |= {"phoenix-vertical"}  # nobody steals
    assert plan_of(TREE, 4, shipped_strategy(name)).skippable == (name in able)
