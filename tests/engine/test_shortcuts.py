"""No shortcut changes the results of a run (model 1.5 to 1.8).

Engines count failing probes without events, simulate searches under a lock separately, simulate equal items of a range
together, skip from steal to steal, and simulate each thief of long queues separately. Every plan here runs with all
shortcuts and event by event, on every engine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Set
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import chain, combinations
from random import Random
from typing import Any

import numpy as np
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
    seeded,
    shipped_strategy,
    stealing,
    toy,
    toy_with,
)
from equality import EndlessError, ImpatientEngine
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_graphs import strict_program
from random_plans import UNCHANGED_PPM, loaded
from random_recipes import machine_document, machine_from, random_run
from task_graphs import WAIT, Access, Task, body, graph, items, phase, task, two_that_drip

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.collect_result import collect
from numasim.engine.observe.trace_hash import Trace
from numasim.engine.reference.polling import ALL_SHORTCUTS, Shortcut
from numasim.engine.reference.reference import ReferenceEngine, finished, makespan_ps
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES, simulate
from numasim.machine.topology import Machine
from numasim.parts.models.placement_model import PlacementSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.unit_factors import MILLION
from numasim.plan.build_plan import revised
from numasim.plan.coupling import may_be_scarce, most_asked
from numasim.plan.effects import NO_BACKGROUND, NO_EFFECTS, Background, Effects
from numasim.plan.plan import Plan, Run
from numasim.plan.resources import ResourceKind, resources_of
from numasim.workload.graph import Deal, Mode, Pattern, Region, Workload

NATIVE = pytest.mark.skipif("native" not in ENGINES, reason="the native engine is not built")
JOINS = ("continuation", "help", "strict", "block", "own")
OTHERS = {"from": "others"}

# ---- searches: two workers have tasks to steal now and then, six mostly search in vain ------------

SLEEPING: dict[str, Any] = {"alone_ns": 27_000, "backoff": {"first_ns": 40, "factor": 2, "max_ns": 160}}
COSTS = {"probe_ns": 30, "probe_remote_ns": 70, "take_ns": 25, "futex_ns": 400, "wake_ns": 900, "pause_ns": 15}
LOCKING: dict[str, Any] = {"alone_ns": 9_000, "costs": {**COSTS, "line": "latency"}, "poll_ns": 405}
NODE_LEVELS: tuple[dict[str, Any], ...] = (
    {"from": "own-node", "lock": "node"},
    {"from": "other-nodes", "by": "node", "if": {"length": 2}, "lock": "node"},
)
ANNOUNCED = {"from": "others", "if": "announced"}


def announcing(*levels: dict[str, Any], announce: str = "owner") -> StrategySpec:
    return stealing(*levels, thresholds={"max": 3, "min": 1, "announce": announce})


AT_ONCE: dict[str, Any] = {"alone_ns": 27_000}  # no wait between rounds
POOLS: dict[str, Any] = {
    "queues": {"deque": {"per": "worker"}, "pool": {"per": "node", "own": "fifo", "steal": "fifo"}},
    "tiers": {"depth": 2},
    "live": {"per": "node", "most": 1},
    "dispatch": [{"to": "own", "queue": "pool", "tier": ["free", "root"]}, {"to": "own"}],
}
NEAR = {"from": "own-node", "tries": "all"}
OWN_POOL = {"from": "own", "queue": "pool"}
FAR_POOLS = {"from": "other-nodes", "queue": "pool", "who": "head", "gated": "yes"}
SHARED: dict[str, tuple[StrategySpec | str, dict[str, Any]]] = {
    "pools behind gates": (stealing(NEAR, {**OWN_POOL, "who": "head", "gated": "yes"}, FAR_POOLS, **POOLS), AT_ONCE),
    "pools behind gates, with waits": (stealing(NEAR, {**OWN_POOL, "gated": "yes"}, FAR_POOLS, **POOLS), SLEEPING),
    "pools behind gates alone": (stealing({**OWN_POOL, "gated": "yes"}, FAR_POOLS, **POOLS), AT_ONCE),
    "pools behind gates alone, with waits": (stealing({**OWN_POOL, "gated": "yes"}, FAR_POOLS, **POOLS), SLEEPING),
    "pools of others": (stealing({**NEAR, "tries": 1}, OWN_POOL, FAR_POOLS, **POOLS), AT_ONCE),
    "pools and marks": (
        stealing(NEAR, {**OWN_POOL, "gated": "yes"}, {"from": "others", "if": {"length": 2}}, **POOLS),
        AT_ONCE,
    ),
}
SEARCHES: dict[str, tuple[StrategySpec | str, dict[str, Any]]] = {
    **SHARED,
    "one pick, at once": ("randomized", AT_ONCE),
    "near before far, at once": (stealing({"from": "own-node"}, {"from": "other-nodes"}), AT_ONCE),
    "near alone": (stealing({"from": "own-node"}), AT_ONCE),
    "one pick": ("randomized", SLEEPING),
    "half of what is there": ("steal-half", SLEEPING),
    "all but one": ("leave-one", SLEEPING),
    "two picks": (stealing({"from": "others", "tries": 2}), SLEEPING),
    "near before far": (stealing({"from": "own-node"}, {"from": "other-nodes"}), SLEEPING),
    "a chance that adapts": (
        stealing({"from": "own-node", "chance": {"first": 0.2, "most": 0.7, "hit": 0.3, "miss": -0.1}}, OTHERS),
        SLEEPING,
    ),
    "a chance that rises as others fail": (
        stealing({"from": "own-node"}, {"from": "others", "chance": {"first": 0, "elsewhere-miss": 0.1, "hit": -1}}),
        SLEEPING,
    ),
    "marks elsewhere": ("topology-aware", SLEEPING),
    "marks alone": ("threshold", SLEEPING),
    "cohorts, and marks elsewhere": ("affinity-locks", LOCKING),
    "mutexes, and marks elsewhere": ("oblivious-locks", LOCKING),
    "one lock for all": (stealing({"from": "others", "lock": "machine"}), LOCKING),
    "who finds marks takes another lock": (
        stealing({"from": "own-node", "lock": "node"}, {"from": "others", "if": {"length": 2}, "lock": "machine"}),
        LOCKING,
    ),
    "marks first": (stealing({"from": "others", "if": {"length": 3}, "lock": "machine"}, *NODE_LEVELS[:1]), LOCKING),
    "announcements first": (announcing({**ANNOUNCED, "lock": "machine"}, *NODE_LEVELS[:1]), LOCKING),
    "a lock of each core": (stealing({"from": "others", "lock": "core"}), LOCKING),
    "two probes under one lock": (stealing({"from": "others", "lock": "machine", "tries": 2}), LOCKING),
    "some search without a lock": (stealing({"from": "own-node"}, {"from": "other-nodes", "lock": "node"}), LOCKING),
}
MARKS: dict[str, tuple[StrategySpec | str, dict[str, Any]]] = {
    "marks on other nodes": (
        stealing({"from": "own-node"}, {"from": "other-nodes", "by": "node", "if": {"length": 2}}),
        SLEEPING,
    ),
    "marks anywhere": (stealing(OTHERS, {"from": "others", "if": {"length": 3}}), SLEEPING),
    "marks of owners": (announcing(ANNOUNCED, {"from": "own-node"}), SLEEPING),
    "marks of exact owners": (announcing(ANNOUNCED, {"from": "own-node"}, announce="owner-exact"), SLEEPING),
    "marks of dispatch": ("locality-binding", SLEEPING),
    **{name: search for name, search in SEARCHES.items() if search[1] is LOCKING and ("mark" in name or "ann" in name)},
}
LOCKS: dict[str, dict[str, Any]] = {
    "tas": {"fairness": "near"},
    "ttas": {"fairness": "fair"},
    "ticket": {},
    "mcs": {"words": "memory"},
    "mutex": {"spin_ns": 200},
    "cohort": {"batch": 3},
    "clh": {},
    "barging": {"spin_ns": 200},
}
WAITS: tuple[dict[str, Any], ...] = ({"first_ns": 40, "factor": 2, "max_ns": 900}, {"max_ns": 0}, {"after": "probe"})


def search_plan(strategy: StrategySpec | str, join: str, alone_ns: int, **keys: Any) -> Plan:
    return plan_of(two_that_drip(alone_ns * NS), 8, strategy, runtime(join=join, **keys), toy(2, 4))


def bursts(chance: Random) -> Task:
    """Draw a task that spawns up to four short tasks after each of twelve stretches: queues fill up and run dry."""
    steps: list[object] = []
    for _ in range(12):
        steps += [chance.randrange(100, 2500) * NS]
        steps += [task(chance.randrange(50, 3000) * NS) for _ in range(chance.randrange(1, 5))]
    return task(*steps, WAIT)


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("name", SEARCHES)
def test_searches(name: str, join: str) -> None:
    strategy, keys = SEARCHES[name]
    with suppress(DeadlockError):  # a worker sleeps for ever, in both modes
        in_both_modes(search_plan(strategy, join, **keys))


@pytest.mark.parametrize("keys", [*({"kind": kind, **keys} for kind, keys in LOCKS.items())], ids=[*LOCKS])
def test_searches_under_locks_of_every_kind(keys: dict[str, Any]) -> None:
    in_both_modes(search_plan(stealing(*NODE_LEVELS, locks=keys), "help", **{**LOCKING, "poll_ns": 90}))


@pytest.mark.parametrize("backoff", WAITS)
def test_waits_between_rounds_under_locks(backoff: dict[str, Any]) -> None:
    in_both_modes(search_plan(stealing(*NODE_LEVELS), "help", **LOCKING, backoff=backoff))


@pytest.mark.parametrize("name", MARKS)
def test_who_sleeps_sees_the_marks_of_others_when_they_are_set(name: str) -> None:
    strategy, keys = MARKS[name]
    for seed in range(8):
        chance = Random(seed)
        work = graph(task(*[bursts(chance) for _ in range(chance.randrange(1, 5))], WAIT))
        wait = {"poll_ns": chance.choice([40, 300, 2000])} if keys is LOCKING else {"backoff": {"first_ns": 500}}
        how = runtime(join="help", costs=keys.get("costs", {}), **wait)
        in_both_modes(plan_of(work, 16, strategy, how, toy(4, 4)), seed)


@pytest.mark.parametrize("name", [name for name, (_, keys) in SEARCHES.items() if keys is LOCKING])
def test_phases_end_in_the_midst_of_rounds(name: str) -> None:
    how = runtime(costs=LOCKING["costs"], poll_ns=200)
    for wait_ns in (900, 1_000, 1_100, 1_337):
        work = graph(task(5_000 * NS, task(700 * NS), wait_ns * NS, WAIT), phases=(phase(0, repeat=3), phase(0)))
        in_both_modes(plan_of(work, 8, SEARCHES[name][0], how, toy(2, 4)))


@NATIVE
@pytest.mark.parametrize(
    "name", ["one pick", "half of what is there", "near before far", "one lock for all", "one pick, at once", *SHARED]
)
def test_few_of_the_probes_are_events(name: str) -> None:
    strategy, keys = SEARCHES[name]
    plan = search_plan(strategy, "continuation", **keys)
    asleep, awake = (observe(each, engine="native", logged=False) for each in (plan, event_by_event(plan)))
    attempts = int(asleep["steal_attempts"])
    assert awake["events"] > attempts
    assert asleep["events"] < attempts // (1 if keys is LOCKING else 2)


# ---- ranges: items dealt, stolen, and made by a producer -----------------------------------------------------------

READY = Region("ready", 1 << 16, initialised=True)
ROUND_ROBIN = stealing(OTHERS, dispatch=[{"to": "any", "pick": "round-robin"}])
COUPLING = {
    "misses": Effects(mlp_ppm=UNCHANGED_PPM),
    "fluid": Effects(contention="fluid"),
    "snapshot": Effects(contention="snapshot"),
    "share": Effects(cache="share", contention="fluid"),
    "lru": Effects(cache="lru", contention="fluid"),
    "smt": Effects(smt="memory", contention="fluid"),
    "turbo": Effects(clock="turbo", worker_spread_ppm=100_000, contention="fluid"),
    "all": Effects("share", "fluid", "md1", 300_000, "memory", "turbo", 400_000, 300_000, 0, 100_000),
}
RULES: tuple[dict[str, str], ...] = (
    *({"to": "any", "pick": pick} for pick in ("shortest", "random", "in-order", "block", "cyclic", "rotate")),
    {"to": "lightest", "pick": "round-robin"},
)


def producing(capacity: int, **costs: int) -> Any:
    return runtime(producer="extra", capacity=capacity, on_full="next", costs=costs)


def like_items(effects: Effects) -> Plan:
    """Return a plan of 600 equal items with data on both nodes, a producer, and eight workers on shared cores."""
    accesses = (Access(0, 0, 6400, passes=2), Access(0, 8192, 640, mode=Mode.WRITE))
    work = items(600, 300 * NS, None, Deal.MASTER, accesses, ((1, 0, 0), (1, 0, 0)), (READY,))
    how = producing(6, push_ns=3, pop_ns=5)
    return plan_of(work, 8, "randomized", how, loaded(2, 2, 2, "socket", 10), effects=effects)


def at_either_end(own: str, steal: str, amount: object) -> Plan:
    queues = {"deque": {"per": "worker", "own": own, "steal": steal}}
    strategy = stealing({"from": "others", "amount": amount}, queues=queues)
    work = items(400, 90 * NS, 410 * NS, deal=Deal.MASTER)
    return plan_of(work, 4, strategy, runtime(costs={"pop_ns": 7, "take_ns": 11}))


def ruled(rule: dict[str, str]) -> Plan:
    how = producing(6, push_ns=2, pop_ns=1)
    return plan_of(items(400, 90 * NS), 4, stealing(OTHERS, dispatch=[rule]), how, toy(sockets=2, cores=2))


def mixed(roots: Workload, items_of: Workload) -> Workload:
    """Return a program with a phase of the first root of ``roots`` and the items of ``items_of``."""
    return replace(roots, ranges=items_of.ranges, phases=(phase(0, range_family=0, deal=Deal.MASTER),))


def nested(join: str) -> Plan:
    """Return a plan in which worker 0 waits for a stolen child and takes items from its queue meanwhile."""
    work = mixed(graph(task(10 * NS, task(1000 * NS), WAIT, 10 * NS)), items(60, 170 * NS))
    return plan_of(work, 3, how=runtime(join=join, queue_order="fifo-lifo"))


def uneven(
    count: int, workers: int, read: int = 4096, deal: Deal = Deal.CYCLIC, strategy: str = "randomized",
    sockets: int = 2, **how: Any,
) -> Plan:  # fmt: skip
    """Return a plan of equal items that read one node's memory: thieves steal from slower workers of other nodes."""
    work = items(count, 100 * NS, deal=deal, accesses=(Access(0, 0, read),), steps=((1, 0, 0),), regions=(READY,))
    bound = shipped_strategy(strategy).model_copy(update={"placement": PlacementSpec(policy="bind", node=0)})
    return plan_of(work, workers, bound, runtime(**how), toy(sockets, 6))


LINE = Access(0, 0, 64, pattern=Pattern.CHASE)  # 100 ns from the own node, 200 ns from the other node


def announced_production(announce: str, push_ns: int) -> Plan:
    """An item takes 100 ns on worker 0, and 5.1 us on worker 1, on the other node. Both workers announce full queues.

    Both workers take their first items before the queues are full. When no more items are made, worker 0 is the first
    to search. By then the engine has left the shortcut, and worker 1 has not taken from its queue after that: worker 1
    has announced its queue inside the shortcut.
    """
    machine = toy_with({"sockets": 2, "cores": 1}, hop_latency_ns=5000)
    work = items(3000, 1, 1, Deal.MASTER, (LINE,), ((1, 0, 0),), (READY,))
    spec = stealing(ANNOUNCED, thresholds={"max": 4, "min": 1, "announce": announce})
    return plan_of(work, 2, spec, producing(4, push_ns=push_ns), machine)


def spread(effects: Effects = Effects()) -> Plan:  # noqa: B008
    how = producing(8, push_ns=2, pop_ns=1)
    return plan_of(items(600, 500 * NS), 4, ROUND_ROBIN, how, toy(2, 2), effects=effects)


LONG = graph(task(task(50 * NS), 90_000 * NS, WAIT))
ODD_PS = 4_000_000_000_000_001  # ps of an item; the sum of three items exceeds 2 ** 53
DEALT = items(300, 90 * NS, 410 * NS, deal=Deal.MASTER)
RANGES: dict[str, Callable[[], Plan]] = {
    "a range of its own": lambda: plan_of(items(500, 100 * NS), workers=1),
    "times that no float holds": lambda: plan_of(items(3, ODD_PS), workers=1),
    "idle workers": lambda: plan_of(LONG, 4, "randomized", machine=toy(2, 2)),
    "idle workers that back off": lambda: plan_of(LONG, 3, "randomized", runtime(backoff={"first_ns": 50})),
    "items dealt": lambda: plan_of(DEALT, 4),
    "equal items produced": spread,
    "equal items produced, on unlike cores": lambda: spread(Effects(worker_spread_ppm=100_000)),
    "tasks among the items of a producer": lambda: plan_of(
        mixed(graph(body(*(task(50 * NS) for _ in range(10)))), items(900, 1000 * NS)), 3,
        how=producing(20, push_ns=3, pop_ns=5),
    ),
    "a second phase goes on with the round robin": lambda: plan_of(
        items(66, 1 * NS, repeat=2), 5, "nearest-first",
        runtime(producer="extra", capacity=4, on_full="next", s_rule="avail", costs={"push_ns": 0}), toy(2, 3, 2),
    ),
    "items robbed": lambda: uneven(4000, 6),
    **{f"items at ends {own}, {steal}, {amount}": lambda own=own, steal=steal, amount=amount: at_either_end(
        own, steal, amount
    ) for own in ("lifo", "fifo") for steal in ("lifo", "fifo") for amount in ("one", "half", {"count": 3})},
    **{f"produced by {rule}": lambda rule=rule: ruled(rule) for rule in RULES},
    **{f"nested in {join}": lambda join=join: nested(join) for join in ("help", "own", "strict", "continuation")},
    **{f"equal items under {name}": lambda effects=effects: like_items(effects) for name, effects in COUPLING.items()},
    **{f"announced by {announce}, put in {push}": lambda announce=announce, push=push: announced_production(
        announce, push
    ) for announce in ("owner", "owner-exact") for push in (20, 60)},
}  # fmt: skip
IN_BULK = [name for name in RANGES if name.startswith(("equal items", "announced"))]


@pytest.mark.parametrize("name", RANGES)
def test_ranges(name: str) -> None:
    plan = RANGES[name]()
    fast, slow = in_both_modes(plan)
    if name in IN_BULK:
        assert (fast["mode"], slow["mode"]) == ("bulk", "eager")
        assert (fast["event_hash"] is None) == bool(fast.result.passed_items)
        assert fast["events"] < slow["events"] / (3 if "like" in name else 1)
        assert len({observe(plan, engine=engine).result.passed_items for engine in ENGINES}) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_items_that_take_no_time_are_not_produced_in_bulk(engine: str) -> None:
    """A steal from the own queue takes the worker time, so that the producer finds the queue full."""
    how = producing(8, probe_ns=100, take_ns=60)
    seen = observe(plan_of(items(630, 0), 1, "topology-aware-self", how), 5, engine)
    assert (seen["tasks"], seen["mode"]) == (630, "eager")


@NATIVE
def test_thieves_in_bulk_take_far_fewer_events_than_steals() -> None:
    plan = uneven(300_000, 12, read=60_000)
    bulk, eager = simulate(plan, SEED, "native"), simulate(event_by_event(plan), SEED, "native")
    assert found(bulk) == found(eager)
    assert bulk.counters["steal_success"] > 2 * bulk.counters["events"]


# ---- random plans --------------------------------------------------------------------------------------------------


GRAINS_PS = (1, 100, NS, 30 * NS)  # units of the times of segments, which are both shorter and longer than a probe
REGIONS = (Region("a", 300_000, initialised=True), Region("b", 5_000, initialised=True))
PLACEMENTS = ("first-touch-master", "interleave", "block")
SHIPPED = ("randomized", "randomized-self", "ring", "ring-after-last", "last-victim", "nearest-first")
NODE_BY_NODE = stealing({"from": "own-node"}, {"from": "other-nodes", "by": "node", "tries": 2})
STRATEGIES = (FIRST, NODE_BY_NODE, *map(shipped_strategy, SHIPPED))
# divisor, step_div, step_mod: items stay within 5,000 bytes
ITEM_STEPS = ((1, 0, 0), (1, 12, 0), (7, 2, 3), (10, 0, 50), (16, 40, 0))


def random_items(chance: Random, grain_ps: int, moves_bytes: bool, least: int) -> Workload:
    """Draw a range; times are at least ``least`` grains, and equal times and times of zero are frequent."""
    times = [grains * grain_ps for grains in (0, 0, 1, 1, 2, 3, 5, 9) if grains >= least]
    low, high = sorted(chance.choice(times) for _ in range(2))
    accesses = tuple(
        Access(chance.randrange(2), 0, 64, mode=chance.choice(tuple(Mode)), pattern=chance.choice(tuple(Pattern)))
        for _ in range(chance.randint(0, 2) * moves_bytes)
    )
    steps = tuple(chance.choice(ITEM_STEPS) for _ in accesses)
    count, deal, repeat = chance.choice((1, 5, 40, 150)), chance.choice(tuple(Deal)), chance.randint(1, 2)
    return items(count, low, high, deal, accesses, steps, REGIONS, repeat)


def skippable_plan(chance: Random) -> Plan:
    """Draw a plan that mostly may skip ahead: workers are coupled by steals alone, share cores and clocks, or have
    items whose demands are all of the bandwidth, a little more, or half.
    """
    kind = chance.choice(("steals", "speeds", "speeds", "bandwidth"))
    if kind == "steals":
        shape = {"sockets": chance.choice((1, 1, 2)), "cores": chance.choice((1, 3)), "threads": chance.choice((1, 2))}
        return plan_on(toy(**shape, nodes=chance.choice((1, 2))), NO_EFFECTS, chance)
    machine = machine_from(json.dumps(machine_document(chance, has_effects=True)))
    effects = Effects(
        smt=chance.choice(("none", "compute", "memory")),
        clock=chance.choice(("turbo", "fixed")),
        overlap_ppm=chance.choice((MILLION, MILLION, 0, 333_333)),
        mlp_ppm=chance.choice((MILLION, 2_500_000)),
    )
    drawn = {"task_noise_ppm": chance.choice((0, 200_000)), "worker_spread_ppm": chance.choice((0, 200_000))}
    if kind == "speeds" and chance.random() < 0.8:
        return plan_on(machine, effects, chance)
    effects = replace(effects, cache=chance.choice(("none", "share", "lru")), **drawn)
    if kind == "speeds":
        return plan_on(machine, effects, chance, ranges=1)
    contended = replace(
        effects,
        contention=chance.choice(("fluid", "fluid", "snapshot")),
        queueing=chance.choice(("none", "none", "none", "md1")),
        local_share_ppm=chance.choice((0, 0, 0, 300_000)),
    )
    plan = plan_on(machine, contended, chance, ranges=1)
    percent, margin = chance.choice(((100, 0), (100, 0), (100, 1), (100, -1), (50, 0), (200, 0)))
    return with_bandwidth(plan, percent, margin, chance.choice((0, 0, 12_345)))


def with_bandwidth(plan: Plan, percent: int, margin: int, load: int) -> Plan:
    """Return the plan on a machine whose controllers and links have ``percent`` of the largest demand, and ``margin``,
    beside ``load``. These numbers determine whether any resource can be scarce.
    """
    asked, nodes = most_asked(plan), plan.machine.nodes
    enough = [max(1, asked[at] * percent // 100 + margin) for at in range(len(resources_of(plan).listed))]
    links = [at for at, each in enumerate(resources_of(plan).listed) if each.kind == ResourceKind.LINK]
    machine = replace(
        plan.machine,
        imc_bytes_per_s=np.array(enough[:nodes]) + load,
        links=replace(plan.machine.links, bytes_per_s=np.array(enough, np.int64)[links]),
    )
    background = Background(nodes=tuple((node, load) for node in range(nodes))) if load else NO_BACKGROUND
    made = revised(plan, machine=machine, effects=replace(plan.effects, background=background))
    kept = plan.effects.local_share_ppm or machine.caches.llc_bytes_per_s
    if any(most_asked(plan)[node] > 1 for node in range(nodes)) and (percent < 100 or margin < 0):
        assert may_be_scarce(made)
    elif not kept and percent >= 100 and margin >= 0:
        assert not may_be_scarce(made)
    return made


def plan_on(machine: Machine, effects: Effects, chance: Random, ranges: float = 0.3) -> Plan:
    workers, moves_bytes = chance.randint(1, min(12, machine.threads)), chance.random() < 0.5
    grain_ps = max(10 if effects.task_noise_ppm else 1, chance.choice(GRAINS_PS))  # with noise, above 0 ps
    least = int(effects != NO_EFFECTS)
    if chance.random() < ranges:
        work = random_items(chance, grain_ps, moves_bytes, least)
    else:
        work = strict_program(chance, grain_ps, moves_bytes, least, workers)
    brief = grain_ps <= NS and not moves_bytes  # long tasks with short probes make millions of events
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
    return plan_of(work, workers, strategy, how, machine, effects=effects)


@settings(max_examples=120)
@given(st.randoms(use_true_random=False))
def test_random_plans_that_may_skip_ahead(chance: Random) -> None:
    plan, seed = skippable_plan(chance), chance.getrandbits(64)
    event("coupled" if plan.coupled else "uncoupled")
    event("ranges" if plan.workload.ranges else "trees")
    if plan.skippable:
        assert_skipping_changes_nothing(plan, seed)
    else:
        in_both_modes(plan, seed)


def produced(chance: Random) -> Plan:
    """Draw equal items from an extra producer. An item's time depends on the node of its worker and on other threads of
    the worker's core.
    """
    shape = {"sockets": chance.choice((1, 2)), "cores": chance.choice((1, 3)), "threads": chance.choice((1, 2))}
    speeds = {"busy_ppm": chance.choice((650_000, 333_333)), "poll_ppm": 900_000}
    machine = toy_with(shape, smt=speeds, hop_latency_ns=chance.choice((100, 100, 5000)))
    workers = chance.randint(1, machine.threads)
    item_ps = chance.choice((50, 150, 199, 1000)) * NS + chance.choice((0, 1))
    work = items(chance.choice((50, 700, 4000)), item_ps, item_ps, Deal.MASTER, (LINE,), ((1, 0, 0),), (READY,))
    # The producer keeps up with workers whose items take a time t if a push takes at most t / workers. A push takes
    # half of this time, or 1 ns more, or one and a half times this time, or (almost) no time.
    just_ns = max(item_ps, 100 * NS) // (2 * workers * NS)
    capacity = chance.choice((3, 4, 20))
    push_ns = chance.choice((0, 1, just_ns, just_ns + 1, 3 * just_ns))
    how = producing(capacity, push_ns=push_ns, pop_ns=chance.choice((0, 7)))
    effects = Effects(smt=chance.choice(("none", "compute", "memory")), contention=chance.choice(("none", "fluid")))
    announce = chance.choice((None, "always", "owner", "owner-exact", "owner-exact"))
    high = max(2, capacity + chance.choice((1, 0, -1, -1, -2, -3)))
    thresholds = {"max": high, "min": 1, "announce": announce}
    strategy = stealing(OTHERS) if announce is None else stealing(ANNOUNCED, thresholds=thresholds)
    return plan_of(work, workers, strategy, how, machine, effects=effects)


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_random_production(chance: Random) -> None:
    """If the producer refills before any worker takes, the native engine simulates only the last takes one by one."""
    plan, seed = produced(chance), chance.getrandbits(64)
    fast, _ = in_both_modes(plan, seed)
    passed = {engine: observe(plan, seed, engine).result.passed_items for engine in ENGINES}
    assert len(set(passed.values())) == 1
    event(f"{fast['mode']}, {plan.workload.ranges[0].count} items, {plan.workers.workers} workers")


@NATIVE
@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_random_thieves_in_bulk(chance: Random) -> None:
    sockets = chance.randint(1, 3)
    plan = uneven(
        chance.randint(500, 12_000),
        chance.randint(2, 6 * sockets),
        chance.choice([64, 4096, 20_000, 60_000]),
        chance.choice(list(Deal)),
        chance.choice(["randomized", "randomized-self", "nearest-first"]),
        sockets,
        backoff=chance.choice(({}, {"first_ns": 50, "factor": 2}, {"first_ns": 5000, "factor": 2, "max_ns": 9000})),
        costs={"take_ns": chance.randint(0, 70), "pop_ns": chance.randint(0, 9), "probe_ns": 20},
    )
    seed = chance.getrandbits(64)
    bulk, eager = simulate(plan, seed, "native"), simulate(event_by_event(plan), seed, "native")
    assert found(bulk) == found(eager)
    event("robbed" if bulk.counters["events"] < bulk.counters["steal_success"] else "probed")


# ---- the shortcuts of the reference engine, one by one -------------------------------------------------------------

MOST_EVENTS = 4_096  # of a random plan, event by event
NONE: frozenset[Shortcut] = frozenset()
SUBSETS = [
    frozenset(some)
    for some in chain.from_iterable(combinations(Shortcut, count) for count in range(1, len(Shortcut) + 1))
]
SHOWN_BY = {
    Shortcut.POLLING: "idle workers",
    Shortcut.STRETCHES: "items dealt",
    Shortcut.STEADY: "equal items produced",
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
def outcomes() -> list[tuple[Run, dict[str, Any] | str]]:
    """Return runs that end soon event by event, with their outcomes."""
    known = [seeded(RANGES[name]()) for name in SHOWN_BY.values()]
    drawn = (random_run(Random(f"shortcuts {number}")) for number in range(30))
    runs = [*known, *(run for run in drawn if run.plan.skip and ends_soon(run))]
    return [(run, outcome(run, NONE)) for run in runs]


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


@pytest.mark.parametrize("taken", SUBSETS, ids=lambda taken: ", ".join(sorted(s.name for s in taken)))
def test_no_shortcut_changes_anything(taken: Set[Shortcut]) -> None:
    for run, expected in outcomes():
        assert outcome(run, taken) == expected


@pytest.mark.parametrize("shortcut", Shortcut)
def test_a_shortcut_saves_events(shortcut: Shortcut) -> None:
    plan = RANGES[SHOWN_BY[shortcut]]()
    taken, without = result_with(plan, {shortcut}), result_with(plan, NONE)
    assert taken.counters["events"] < without.counters["events"]
    others = result_with(plan, ALL_SHORTCUTS - {shortcut})
    assert result_with(plan, ALL_SHORTCUTS).counters["events"] < others.counters["events"]
    forbidden = result_with(event_by_event(plan), ALL_SHORTCUTS)
    assert forbidden.counters["events"] == without.counters["events"]
