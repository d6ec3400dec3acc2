"""The conditions under which an engine can skip ahead from steal to steal (model 1.7), and such runs by hand.

Workers are coupled if the time of a segment depends on other workers, by caches, bandwidth or shared cores.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_setup import (
    FIRST,
    NS,
    SEED,
    assert_skipping_changes_nothing,
    event_by_event,
    found,
    in_both_modes,
    observe,
    plan_of,
    runtime,
    shipped_strategy,
    stealing,
    toy,
    toy_with,
)
from random_recipes import STRATEGIES
from task_graphs import WAIT, Access, Run, Use, body, call, graph, items, phase, task

from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import InputError
from numasim.parts.unit_factors import MILLION
from numasim.plan.build_plan import build_plan, revised
from numasim.plan.coupling import may_be_scarce, most_asked
from numasim.plan.effects import Background, Effects
from numasim.plan.plan import Plan
from numasim.plan.resources import ResourceKind, resources_of
from numasim.plan.skippable import CONDITIONS, obstacle
from numasim.spec.run_spec import resolve
from numasim.workload.graph import Deal, Mode, Op, Pattern, Phase, Region, Workload
from numasim.workload.registry import generate, workload_spec
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
    """Return the same plan on a machine whose second node has slower memory."""
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
    """Return a plan of a strategy, and of changes to the runtime `bare`."""
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
    "caches, queueing or page faults couple the workers": [
        *(plan_of(reading(READY), 2, effects=effects) for effects in (CACHES, QUEUES)),
        plan_of(reading_items(), 2, effects=QUEUES),
    ],
    "the times of segments, or the speeds of who executes them, are drawn": [
        plan_of(TREE, 2, effects=Effects(task_noise_ppm=1)),
        plan_of(TREE, 2, effects=Effects(worker_spread_ppm=1)),
    ],
    "work takes no time, and speeds change": [
        plan_of(graph(task(task(0), WAIT)), 2, machine=SIBLINGS, effects=SMT),
        plan_of(items(5, 0, NS), 2, machine=SIBLINGS, effects=SMT),
        plan_of(items(5, 9), 2, effects=Effects(task_noise_ppm=1)),
    ],
    "queues are shared": [tree({"from": "own", "queue": "global"}, **GLOBAL)],
    "queues have a capacity": [tree(work=work, how={"capacity": 9, "on_full": "inline"}) for work in (TREE, RANGE)],
    "workers yield between the tasks of a wait": [tree(how={"costs": {"yield_ns": 1}})],
    "the number of unfinished tasks decides where new tasks go": [tree(how={"inline_above": 1})],
    "new tasks do not go to the spawning worker's own queue first": [tree(dispatch=[{"to": "any", "pick": "random"}])],
    "the strategy watches the lengths of queues": [
        plan_of(TREE, 2, "threshold"),
        tree({"from": "others", "if": {"length": 2}}, work=RANGE),
    ],
    "the strategy enters levels at random": [tree({"from": "others", "chance": 0.5}, OTHERS)],
    "levels wait until subtrees have ended": [
        tree({"from": "others", "gated": "yes"}, tiers={"depth": 1}, live={"per": "machine", "most": 1})
    ],
    "the strategy compares the lengths of queues": [
        tree({"from": "others", "pick": pick}, work=RANGE) for pick in ("longest", "shortest")
    ],
    "thieves ask who spawned their last task": [tree({"from": "parent"}, OTHERS)],
    "a level takes from the worker's own unit": [tree({"from": "own"}, OTHERS)],
    "a steal does not take exactly one task": [
        tree({"from": "others", "amount": "half"}),
        tree({"from": "others", "amount": {"count": 2}}),
        tree({"from": "others", "leave": 1}),
    ],
    "workers look for work before their queue is empty": [tree(refill=1), tree(refill="min")],
    "workers put continuations into their queues": [tree(spawn="work-first")],
    "thieves take from the owner's end of a queue": [tree(**SAME_END)],
    "a producer fills the queues during the run": [tree(work=RANGE, how={"producer": "master"})],
    "a phase is serial, or mixes tasks with a range": [
        tree(work=in_phase(TREE, serial=True)),
        tree(work=in_phase(TREE, roots=())),
        tree(work=replace(TREE, ranges=RANGE.ranges, phases=(Phase(roots=(0,), range_family=0),))),
    ],
    "a worker is given several bodies": [
        plan_of(two_trees(Deal.MASTER), 2),
        plan_of(two_trees(Deal.BLOCK), 1),
        plan_of(two_trees(Deal.CYCLIC), 1),
    ],
    "tasks depend on others than their children": [
        tree(work=graph(task(task(NS, name="a"), task(NS, after=("a",)), WAIT)))
    ],
    "workers wait for synchronisation objects such as locks": [
        tree(work=replace(TREE, words=DOOR)),
        tree({"from": "others", "lock": "node"}),
    ],
    "pages are placed by first touch while the tasks run": [tree(work=reading(FRESH))],
    "local memory or caches differ between workers, so the span depends on who executes what": [
        uneven(on_two_nodes(reading(READY)))
    ],
    "joins are not continuations": [tree(how={"join": join}) for join in ("help", "own", "strict", "block")],
    "workers do not take their own last task first": [tree(how={"queue_order": "fifo-lifo"})],
    "pushing, popping or joining takes time": [
        tree(how={"costs": {cost: True if cost == "line" else 1}}) for cost in OVERHEADS
    ],
    "tasks call others inline": [tree(work=graph(task(NS, call(NS), task(NS), WAIT)))],
    "tasks wait for groups of others": [tree(work=graph(task(Use(Op.GROUP), task(NS), WAIT, Use(Op.END_GROUP))))],
    "a task ends before all its children have been waited for": [
        tree(work=graph(task(task(NS)))),
        tree(work=graph(task(task(NS), WAIT, task(task(NS), NS, WAIT), NS))),
    ],
    "a controller is told of each task between two iterations": [tree(tune={"what": "fastest", "of": [[]]})],
    "all workers together may ask for more bandwidth than there is": [
        plan_of(reading(READY), 2, effects=BANDWIDTH),
        plan_of(reading_items(), 2, effects=BANDWIDTH),  # 6.4 GB/s each, of 10
    ],
}


def broken(plan: Plan) -> list[str]:
    return [condition.otherwise for condition in CONDITIONS if not condition.holds(plan)]


def test_each_condition_has_a_plan_that_breaks_it() -> None:
    assert list(COUPLED) == [condition.otherwise for condition in CONDITIONS]


@pytest.mark.parametrize("name", COUPLED)
def test_what_couples_the_workers(name: str) -> None:
    for plan in COUPLED[name]:
        assert broken(plan) == [name] if name != "queues are shared" else broken(plan)[0] == name
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
    "items whose taking costs": tree(work=RANGE, how={"costs": {"pop_ns": 5, "push_ns": 4, "line": "latency"}}),
    "items under another join": tree(work=RANGE, how={"join": "help"}),
}


@pytest.mark.parametrize("label", UNCOUPLED)
def test_what_leaves_the_workers_alone(label: str) -> None:
    plan = UNCOUPLED[label]
    assert broken(plan) == []
    assert plan.skippable
    assert plan.skipping
    in_both_modes(plan)


def test_the_first_obstacle_is_named() -> None:
    plan = plan_of(TREE, 2, "longest-queue", runtime(join="help"))
    assert broken(plan) == ["the strategy compares the lengths of queues", "joins are not continuations"]
    assert obstacle(plan) == "the strategy compares the lengths of queues"
    assert obstacle(plan_of(TREE)) is None


def test_a_plan_that_must_not_skip_is_skippable_all_the_same() -> None:
    plan = event_by_event(plan_of(TREE))
    assert (plan.skippable, plan.skipping) == (True, False)


# ---- runs ------------------------------------------------------------------------------------------------------------


def test_listeners_hear_of_every_event_of_a_run_whose_hash_is_withheld() -> None:
    plan = plan_of(TREE)
    fast, slow = (observe(each, engine="reference") for each in (plan, event_by_event(plan)))
    assert fast["event_hash"] is None
    assert fast.records.tolist() == slow.records.tolist()


# ---- plans of specifications -----------------------------------------------------------------------------------------


def built(n: int, **keys: Any) -> Plan:
    spec = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": n}, "strategy": "randomized", "workers": 4}
    return build_plan(resolve({**spec, **keys}))


def test_a_workload_stays_folded_until_an_engine_writes_it_out() -> None:
    for keys in ({}, {"model": {"skip": "off"}}, {"strategy": "steal-half"}, {"runtime": "ompi"}):
        plan = built(12, **keys)
        assert plan.workload.folded
        assert plan.workload.tasks == 465
        observe(plan)


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
    able |= {"fork-join-pool", "lace"}
    able |= {"phoenix-vertical"}  # in `phoenix-vertical` nobody steals
    assert plan_of(TREE, 4, shipped_strategy(name)).skippable == (name in able)


# ---- skipping ahead finds what every event would have found ---------------------------------------------------------
# Times by hand: a worker's nominal time is the compute time over its speed; when the speed changes, the rest of the
# nominal time is scaled. `test_shortcuts` tests the same on random plans.

needs_native = pytest.mark.skipif("native" not in ENGINES, reason="the native engine is not built")


ONE_CORE = toy_with({"cores": 1, "threads": 2}, smt={"busy_ppm": 500_000, "poll_ppm": 800_000})
BESIDE = toy_with({"sockets": 4, "cores": 16, "threads": 4}, smt={"busy_ppm": 650_000, "poll_ppm": 850_000})


@needs_native
@pytest.mark.parametrize(
    "work",
    [generate(workload_spec("fib", n=16)), items(30_000, 100 * NS, 900 * NS, Deal.BLOCK)],
    ids=["trees", "ranges"],
)
def test_many_workers(work: Workload) -> None:
    for workers, machine, effects in ((1024, toy(8, 64, 2), Effects()), (256, BESIDE, SMT)):
        plan = plan_of(work, workers, "randomized", machine=machine, effects=effects)
        skipped = simulate(plan, SEED)
        assert found(skipped) == found(simulate(event_by_event(plan), SEED))
        assert skipped.counters["steal_success"] > 250


@needs_native
@pytest.mark.parametrize("effects", [Effects(), Effects(clock="turbo")])
def test_the_course_of_a_run_costs_as_many_events_as_it_has_ends_and_probes(effects: Effects) -> None:
    machine = toy_with({"cores": 1}, clock={"base_ghz": 2, "turbo": [{"active": 1, "ghz": 3}]})
    plan = plan_of(generate(workload_spec("fib", n=30), folded=True), 1, machine=machine, effects=effects)
    assert plan.coupled == (effects != Effects())
    result = simulate(plan, SEED)
    assert result.counters["tasks"] == plan.workload.tasks == 2_692_537
    assert result.counters["events"] == 2  # the end of the root and the end of the phase


@pytest.mark.parametrize(
    "times", [{}, {"spawn_ns": 0, "leaf_ns": 0, "join_ns": 0}, {"spawn_ns": 3, "leaf_ns": 5, "join_ns": 0}]
)
def test_equal_subtrees_may_be_written_down_once(times: dict[str, int]) -> None:
    folded = plan_of(generate(workload_spec("fib", n=14, **times), folded=True), 8, "randomized", machine=toy(2, 4))
    unfolded = folded.unfolded()
    assert folded.workload.rows < unfolded.workload.rows
    skipped, eager = simulate(folded, SEED), simulate(event_by_event(folded), SEED)
    assert found(skipped) == found(simulate(unfolded, SEED)) == found(eager)


def test_tasks_that_take_no_time_are_run_at_once() -> None:
    work = graph(task(task(), task(0, task(), WAIT, 0), task(0), WAIT, 0, task(), WAIT))
    result = assert_skipping_changes_nothing(plan_of(work, 4))
    assert (result.counters["makespan_ps"], result.counters["tasks"], result.counters["steal_attempts"]) == (0, 6, 0)


@pytest.mark.parametrize("thief", [1, 2])
def test_ends_of_an_instant_come_in_worker_order(thief: int) -> None:
    # At 400 ns worker 0 reaches the join, and then the thief completes the join: the thief continues the parent.
    work = graph(task(task(300 * NS), 400 * NS, WAIT, 40 * NS))
    result = assert_skipping_changes_nothing(plan_of(work, thief + 1, FIRST))
    assert result.counters["makespan_ps"] == 440 * NS
    assert result.per_worker["work_local_ps"].tolist()[:2] == [400 * NS, 340 * NS]


# ---- speeds that change ---------------------------------------------------------------------------------------------


def test_what_comes_behind_the_segment_in_hand_takes_its_time_at_the_other_speed() -> None:
    # worker 0 computes until 1940 ns. The thief has the first child from 100 to 2100 ns, so nobody steals the second
    # child, which worker 0 begins at 1940 ns. At 2100 ns, 240 of 400 ns are left to worker 0, which take 150 ns at 0.8.
    plan = plan_of(graph(task(task(1000 * NS), task(200 * NS), 1000 * NS, WAIT)), 2, machine=ONE_CORE, effects=SMT)
    result = assert_skipping_changes_nothing(plan)
    assert result.counters["makespan_ps"] == 2250 * NS
    assert result.per_worker["work_local_ps"].tolist() == [1200 * NS, 1000 * NS]
    assert result.per_worker["inflation_smt_ps"].tolist() == [1050 * NS, 1000 * NS]


def test_items_behind_the_one_in_hand_change_their_times_too() -> None:
    # An item takes 500 ns at 0.8. The last item is stolen at 100 ns and takes the thief until 900 ns. Of the first item
    # 400 ns are left, which take 640 ns at 0.5. The second item begins at 740 ns; at 900 ns, 640 of 800 ns are left,
    # which take 400 ns at 0.8.
    plan = plan_of(items(3, 400 * NS, 400 * NS, Deal.MASTER), 2, machine=ONE_CORE, effects=SMT)
    result = assert_skipping_changes_nothing(plan)
    assert result.counters["makespan_ps"] == 1300 * NS
    assert result.per_worker["tasks"].tolist() == [2, 1]
    assert result.per_worker["inflation_smt_ps"].tolist() == [500 * NS, 400 * NS]


@needs_native
def test_steals_in_bulk_where_waits_for_memory_hide_all_speeds() -> None:
    # A line takes 100 ns. Computing of 25 ns, at most 50 ns beside a busy sibling thread, is hidden behind the line.
    region = Region("a", 4096, initialised=True)
    line = Access(0, 0, 64, pattern=Pattern.CHASE)
    work = items(2000, 25 * NS, 25 * NS, Deal.MASTER, (line,), ((1, 0, 0),), (region,))
    result = assert_skipping_changes_nothing(plan_of(work, 2, "randomized", machine=ONE_CORE, effects=SMT))
    assert result.counters["steal_success"] > result.counters["events"]
    assert not result.per_worker["inflation_smt_ps"].any()


@pytest.mark.parametrize("children", [5, 100, 5000])
def test_the_many_children_of_one_task(children: int) -> None:
    work = graph(task(*(step for _ in range(children) for step in (task(90 * NS), 10 * NS)), WAIT))
    result = assert_skipping_changes_nothing(plan_of(work, 2, machine=ONE_CORE, effects=SMT))
    assert result.counters["steal_success"] > children // 5


# ---- contention that can have no effect -----------------------------------------------------------------------------
# By hand on the toy machine, whose controllers have 10 GB/s: a line of 64 bytes in 12.8 ns is 5 GB/s.

FLUID = Effects(contention="fluid")
ENOUGH_PS = 12_800  # the time of a line of 64 bytes at 5 GB/s


def lines(compute_ps: int, count: int = 20, mode: Mode = Mode.READ) -> Workload:
    """Return items that each read or write one line; the wait for the line takes 10 ns or 20 ns."""
    return items(count, compute_ps, compute_ps, Deal.CYCLIC, (Access(0, 0, 64, mode=mode),), ((1, 64, 0),), (READY,))


def one_family_after_another() -> Workload:
    """Return two ranges in two phases; the items of the second range demand more bandwidth."""
    one, other = lines(2 * ENOUGH_PS), lines(ENOUGH_PS)
    phases = (*one.phases, replace(one.phases[0], range_family=1))
    return replace(one, ranges=one.ranges + other.ranges, phases=phases)


@pytest.mark.parametrize(
    ("work", "workers", "effects", "asked"),
    [
        (lines(ENOUGH_PS), 2, FLUID, 10_000_000_000),
        (lines(ENOUGH_PS - 1), 2, FLUID, 2 * 5_000_390_655),  # 64 bytes in 12.799 ns
        (lines(2 * ENOUGH_PS, mode=Mode.WRITE), 2, FLUID, 10_000_000_000),  # fetched and written back
        (lines(1), 1, FLUID, 6_400_000_000),  # the wait is longer than computing
        (lines(1), 1, replace(FLUID, overlap_ppm=0), 64 * MILLION**2 // 10_001),  # the wait adds to computing
        # of one ppm of spread, a random number makes at most 131,070 div 37,837 ppm
        (
            *(lines(ENOUGH_PS), 2, replace(FLUID, worker_spread_ppm=1)),
            2 * (64 * MILLION**2 // -(-ENOUGH_PS * MILLION // (MILLION + 3))),
        ),
        (one_family_after_another(), 2, FLUID, 10_000_000_000),
    ],
)
def test_what_workers_ask_of_a_controller_at_most(work: Workload, workers: int, effects: Effects, asked: int) -> None:
    plan = plan_of(work, workers, effects=effects)
    assert most_asked(plan) == {0: asked}
    assert may_be_scarce(plan) == (asked > 10_000_000_000)


@pytest.mark.parametrize("work", [lines(ENOUGH_PS), one_family_after_another()])
def test_two_workers_that_use_up_a_controller_leave_each_other_alone(work: Workload) -> None:
    result = assert_skipping_changes_nothing(plan_of(work, 2, effects=FLUID))
    assert not result.per_worker["inflation_contention_ps"].any()


def test_a_picosecond_less_and_they_hold_each_other_back() -> None:
    plan = plan_of(lines(ENOUGH_PS - 1), 2, effects=FLUID)
    assert not plan.skippable
    assert sum(observe(plan).of_worker("inflation_contention_ps")) > 0
    other_program = replace(FLUID, background=Background(nodes=((0, 1),)))
    assert may_be_scarce(plan_of(lines(ENOUGH_PS), 2, effects=other_program))


def test_bytes_from_the_other_node_use_a_link_and_its_controller_alone() -> None:
    # all pages are on node 0: worker 1 waits 20 ns for a line
    plan = plan_of(lines(1), 2, machine=toy(sockets=2, cores=1), effects=FLUID)
    links = [at for at, each in enumerate(resources_of(plan).listed) if each.kind == ResourceKind.LINK]
    assert most_asked(plan) == {0: 9_600_000_000, links[0]: 3_200_000_000}


RANDOM_HOMES = stealing(placement={"policy": "random"})


@pytest.mark.parametrize(
    ("plan", "scarce"),
    [
        (plan_of(lines(ENOUGH_PS), 2), False),
        (plan_of(graph(task(NS)), 2, effects=FLUID), False),
        (plan_of(graph(task(task(Run(NS, (Access(0, 0, 64),))), WAIT), regions=(READY,)), 2, effects=FLUID), True),
        (plan_of(lines(ENOUGH_PS), 2, RANDOM_HOMES, effects=FLUID), True),
    ],
    ids=["no contention", "no bytes", "bytes of tasks", "homes that are drawn"],
)
def test_what_is_certain(plan: Plan, scarce: bool) -> None:
    assert may_be_scarce(plan) == scarce
