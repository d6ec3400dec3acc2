"""Ranges (many similar tasks, their items) whose items differ by amounts (a number of ps or bytes for each item).

Runs are worked out by hand, compared with ranges of equal items, and equal on both engines (model 3.5).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_setup import (
    NS,
    SEED,
    Seen,
    assert_agree,
    event_by_event,
    found,
    observe,
    plan_of,
    runtime,
    shipped_strategy,
    simulated,
    stealing,
    toy,
    toy_with,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from ragged_plans import each, on, ragged, table
from task_graphs import Access, Run, graph, items, phase, task

from numasim.draws import DrawClass, base, below, draw
from numasim.engine.result import Result
from numasim.parts.models.placement_model import PlacementSpec
from numasim.plan.build_plan import build_plan
from numasim.plan.effects import NO_EFFECTS, Effects
from numasim.plan.item_prices import ItemPrices, Seat
from numasim.plan.plan import Plan
from numasim.plan.resources import resources_of
from numasim.spec.run_spec import resolve
from numasim.workload.amounts import Amounts, exact_sum
from numasim.workload.graph import Deal, Mode, Pattern, Region, Workload
from numasim.workload.one_worker import serial_ps
from numasim.workload.span import span_ps

MACHINE = toy(sockets=2, cores=1)  # a worker on each node: 100 ns to its own memory, 200 ns to the other's
COUPLED = Effects(contention="fluid")  # the controllers have far more bandwidth than these items demand
GIB = 2**30
NODE_1 = shipped_strategy("randomized").model_copy(update={"placement": PlacementSpec(policy="bind", node=1)})


def three_items(deal: Deal = Deal.CYCLIC) -> Workload:
    """Return items of worker 0 (ten lines; three lines on each node) and, between them, of worker 1 (ten lines)."""
    return ragged(3, NS, on(0, each(640, 0, 64)), on(1, each(0, 640, 128)), deal=deal)


def two_workers(work: Workload, effects: Effects = NO_EFFECTS) -> Plan:
    return plan_of(work, 2, machine=MACHINE, effects=effects)


@pytest.mark.parametrize("effects", [NO_EFFECTS, COUPLED])
def test_three_items_with_bytes_on_two_nodes(effects: Effects) -> None:
    seen = observe(two_workers(three_items(), effects))
    lasts_ps = {0: 1000 * NS, 1: 1000 * NS, 2: (100 + 2 * 200) * NS}  # item 2 chases pointers: one line after the other
    assert seen["makespan_ps"] == lasts_ps[0] + lasts_ps[2]
    assert seen.result.node_bytes.tolist() == [[640 + 64, 128], [0, 640]]
    assert seen["work_local_ps"] == (1000 + 1000 + 300) * NS
    assert seen["inflation_numa_ps"] == 200 * NS
    assert seen["serial_ps"] == (1000 + 1000 + 300) * NS


def test_shares_cut_an_amount_without_rest() -> None:
    seen = observe(two_workers(ragged(2, NS, on((0, 1), each(100, 7), shares=(1, 2)))))
    assert seen.result.node_bytes.sum(axis=0).tolist() == [33 + 2, 67 + 5]


def test_tables_are_drawn_by_the_numbers_of_the_items_streams() -> None:
    compute, amounts = table((1, 5, 5), (3, 100, 900)), table((2, 0, 63), (1, 64, 640), (1, 9000, 9000))
    seen = observe(two_workers(ragged(40, compute, on(1, each(*[0] * 40)), on(0, amounts))), seed=77)

    def drawn(item: int, number: int, starts: list[int], parts: list[tuple[int, int]]) -> int:
        stream = base(77, DrawClass.DURATION, item)
        low, high = parts[max(p for p, start in enumerate(starts) if start <= draw(stream, number))]
        return low + below(draw(stream, number + 1), high - low + 1)

    quarter = 2**62
    times = [drawn(i, 2, [0, quarter], [(5, 5), (100, 900)]) for i in range(40)]
    moved = [drawn(i, 6, [0, 2 * quarter, 3 * quarter], [(0, 63), (64, 640), (9000, 9000)]) for i in range(40)]
    local = sum(max(t, -(-b // 64) * 100 * NS) for t, b in zip(times, moved, strict=True))
    assert seen["work_local_ps"] == local
    assert int(seen.result.node_bytes[:, 0].sum()) == sum(moved)


@pytest.mark.parametrize("effects", [NO_EFFECTS, COUPLED])
def test_equal_amounts_are_a_plain_range(effects: Effects) -> None:
    access = Access(0, 0, 640, pattern=Pattern.CHASE, mode=Mode.READ_WRITE)
    plain = items(50, 300 * NS, None, Deal.CYCLIC, (access,), ((1, 0, 0),), (Region("data", 4096, True),))
    like = ragged(50, 300 * NS, on(1, each(*[640] * 50), Mode.READ_WRITE), deal=Deal.CYCLIC)
    assert like.ranges[0].compute is None
    seen = [observe(plan_of(work, 2, NODE_1, machine=MACHINE, effects=effects)) for work in (plain, like)]
    assert_alike(*(each.result for each in seen))


@settings(max_examples=12)
@given(
    rows=st.lists(st.tuples(st.integers(0, 3000 * NS), st.integers(1, 5000)), min_size=1, max_size=12),
    mode=st.sampled_from(list(Mode)),
    pattern=st.sampled_from(list(Pattern)),
    deal=st.sampled_from(list(Deal)),
    coupled=st.booleans(),
)
def test_a_ragged_range_is_as_many_single_tasks(
    rows: list[tuple[int, int]], mode: Mode, pattern: Pattern, deal: Deal, coupled: bool
) -> None:
    compute, moved = (each(*column) for column in zip(*rows, strict=True))
    dealt = ragged(len(rows), compute, on(1, moved, mode, pattern=pattern), deal=deal)
    roots = (task(Run(ps, (Access(0, 0, size, mode=mode, pattern=pattern),))) for ps, size in rows)
    phases = (phase(*range(len(rows)), deal=deal),)
    single = graph(*roots, phases=phases, regions=(Region("data", 5000, True),))
    effects = COUPLED if coupled else NO_EFFECTS
    plans = [plan_of(work, 2, NODE_1, machine=MACHINE, effects=effects) for work in (dealt, single)]
    assert_alike(*(observe(event_by_event(plan)).result for plan in plans), but=("event_hash", "trace_hash"))


def assert_alike(first: Result, second: Result, but: tuple[str, ...] = ()) -> None:
    """Assert that two results have equal numbers and hashes."""
    counters = [{key: value for key, value in each.counters.items() if key not in but} for each in (first, second)]
    assert counters[0] == counters[1]
    for name in ("workers", "traffic"):
        both = [{key: value.tolist() for key, value in getattr(each, name).items()} for each in (first, second)]
        assert both[0] == both[1]


def test_the_mean_item_has_the_mean_of_every_amount() -> None:
    assert table((1, 0, 10), (3, 100, 100)).mean == 76  # 76.25
    assert each(1, 2, 4).mean == 2
    plan = two_workers(ragged(2, each(10, 21), on((0, 1), each(641, 1920), shares=(1, 3))), COUPLED)
    prices = ItemPrices(plan, plan.placement.drawn(SEED), resources_of(plan), plan.workload.ranges[0], Seat(0, 0, 1))
    own, other = 1280 // 4, 1280 - 1280 // 4
    assert (prices.mean.compute_ps, prices.mean.wait_ps) == (15, (5 * 100 + 15 * 200) * NS)
    assert [prices.mean.units[node] for node in (0, 1)] == [own, other]


def test_bytes_on_nodes_pass_by_the_caches() -> None:
    machine = replace(MACHINE, caches=replace(MACHINE.caches, l2_bytes=2**20))
    plans = [plan_of(three_items(), 2, machine=machine, effects=replace(COUPLED, cache=c)) for c in ("none", "share")]
    seen = [observe(plan) for plan in plans]
    assert seen[0]["bytes_cache"] == seen[1]["bytes_cache"] == 0
    assert found(seen[0].result) == found(seen[1].result)


def test_strides_and_steps_of_eight_gigabytes() -> None:
    region = (Region("data", 64 * GIB, True),)
    interleaved = shipped_strategy("randomized").model_copy(update={"placement": PlacementSpec(policy="interleave")})
    access = Access(0, 0, 4096, rows=7, stride=8 * GIB + 4096)  # a page of each node in turn
    work = items(4, NS, None, Deal.CYCLIC, (access,), ((1, 4096, 0),), region)
    seen = observe(plan_of(work, 2, interleaved, machine=MACHINE))
    assert seen.result.node_bytes.sum(axis=0).tolist() == [4 * 14336, 4 * 14336]
    far = items(1, NS, None, Deal.MASTER, (Access(0, 0, 64, stride=2**62),), ((1, 2**62, 2**62),), region)
    assert int(observe(plan_of(far, 2, interleaved, machine=MACHINE)).result.node_bytes.sum()) == 64


thirty = st.lists(st.integers(0, 5000), min_size=30, max_size=30)
parts = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 500), st.integers(500, 5000)), min_size=1, max_size=3)
either_effects = st.sampled_from([COUPLED, NO_EFFECTS])
amounts = thirty.map(lambda numbers: each(*numbers)) | parts.map(lambda given: table(*given))


@settings(max_examples=25)
@given(
    amounts, amounts, st.tuples(*[st.integers(1, 9)] * 2), st.sampled_from([COUPLED, NO_EFFECTS]), st.integers(0, 99)
)
def test_totals_are_the_sums_over_items(
    compute: Amounts, moved: Amounts, shares: tuple[int, int], effects: Effects, seed: int
) -> None:
    work = ragged(30, compute, on((0, 1), moved, shares=shares), deal=Deal.BLOCK, repeat=2)
    plan = two_workers(work, effects)
    fast, slow = observe(plan, seed), observe(event_by_event(plan), seed)
    assert_agree(fast, slow)
    family, every = work.ranges[0], np.arange(30)
    assert int(slow.result.node_bytes.sum()) == 2 * int(family.node_accesses[0].amounts.of(every, seed, 4).sum())
    assert slow["work_local_ps"] == slow["serial_ps"] == serial_ps(work, 100 * NS, seed)
    assert slow["span_ps"] == span_ps(work, 100 * NS, seed)


@given(
    times=st.lists(st.tuples(st.integers(0, 2**60), st.integers(0, 2**60)), min_size=1, max_size=4),
    overlap_ppm=st.integers(0, 10**6),
)
def test_times_are_combined_alike_one_by_one_and_together(times: list[tuple[int, int]], overlap_ppm: int) -> None:
    effects = Effects(overlap_ppm=overlap_ppm)
    compute, wait = (np.array(each, np.int64) for each in zip(*times, strict=True))
    assert effects.combined_array_ps(compute, wait).tolist() == [effects.combined_ps(*pair) for pair in times]
    assert exact_sum(compute) == sum(pair[0] for pair in times)


@pytest.mark.parametrize("lines", [(1, 100, 1, 1), (5, 5, 5, 5)])
def test_the_longest_item_is_as_long_as_where_it_ran(lines: tuple[int, ...]) -> None:
    """Worker 0 waits 300 ns for a line of its own node, worker 1 waits 100 ns. Worker 1 is dealt nothing, and steals
    the second item when worker 0 begins the last item. Equal items count with the time of worker 0.
    """
    machine = toy_with({"sockets": 2, "cores": 1}, latency_ns=[[300, 300], [100, 100]])
    work = ragged(len(lines), 1, on(0, each(*(64 * line for line in lines))))
    plan = plan_of(work, 2, machine=machine, effects=NO_EFFECTS)
    alike = len(set(lines)) == 1
    assert plan.skipping == alike
    spans = {simulated(each_plan).counters["span_ps"] for each_plan in (plan, event_by_event(plan))}
    assert spans == {5 * 300 * NS if alike else 100 * 100 * NS}


# ---- items that are dealt by where their data lies ------------------------------------------------------------------

DISTRIBUTIONS = ("random", "interleave", "locality", "balanced", "mixed-locality-balanced", "mixed-locality-interleave")
# how often a distribution looks at each pair of an item and a worker; 2 for the distributions not named here
PAIRS = {"random": 0, "interleave": 0, "mixed-locality-interleave": 1}
ROWS, WORKERS = 60, 6
WORK = {"name": "reduce", "emits": 600, "rows": ROWS, "value_bytes": 4096, "key_filler": "disjoint-subranges"}
UNCOUPLED = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}


def run(strategy: Any, model: dict[str, str] | None = None, **work: Any) -> Result:
    """Return the result of a run; all engines have the same result."""
    given = {"machine": "xeon-6130-2s", "workload": {**WORK, **work}, "strategy": strategy, "workers": WORKERS}
    return simulated(build_plan(resolve({**given, "model": model or {}})))


@pytest.mark.parametrize("model", [{}, UNCOUPLED], ids=["coupled", "uncoupled"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_worker_0_pays_for_the_pairs_before_all_begin(model: dict[str, str], name: str) -> None:
    like = f"phoenix-{name}-numa-aware"
    labels = ({"deal": name, "pair_ns": cost} for cost in (0, 50))
    free, paid = (run({"like": like, "steal": [], "labels": each}, model) for each in labels)
    cost_ps = PAIRS.get(name, 2) * ROWS * WORKERS * 50_000
    assert paid.counters["makespan_ps"] - free.counters["makespan_ps"] == cost_ps
    assert paid.counters["serial_ps"] == free.counters["serial_ps"]
    assert paid.counters["work_ps"] - free.counters["work_ps"] == cost_ps
    assert paid.counters["tasks"] == free.counters["tasks"] == ROWS


def test_rows_of_a_node_stay_there_without_thieves_from_elsewhere() -> None:
    """Six workers own ten rows each. All rows are on the node of their worker if dealt by locality, half if in turn."""
    local = run("phoenix-locality-numa-only").counters
    dealt_in_turn = run("phoenix-interleave-none").counters
    assert (local["bytes_local"], local["bytes_remote"]) == (600 * 4096, 0)
    assert (dealt_in_turn["bytes_local"], dealt_in_turn["bytes_remote"]) == (300 * 4096, 300 * 4096)


def test_phases_have_the_distribution_apart() -> None:
    result = run("phoenix-locality-none")
    table = result.iterations
    assert table["time_ps"].tolist()[0] == 2 * ROWS * WORKERS * 50_000
    assert table["time_ps"].sum() == result.counters["makespan_ps"]
    assert table["tasks"].tolist() == [0, ROWS]


# ---- worked out by hand: four items, four workers; 0 and 1 are on node 0 ----------------------------------

NOBODY_STEALS: dict[str, Any] = {"queues": {"deque": {"per": "worker"}}, "mapping": "contiguous", "steal": []}
POOL = {"pool": {"per": "node", "own": "fifo", "lock": "yes"}}
QUEUES_OF_NODES: dict[str, Any] = {"queues": POOL, "mapping": "contiguous"}
TAKES_OWN = {"from": "own", "queue": "pool"}
DRAWN = [below(draw(base(5, DrawClass.DISPATCH, 0), number), 4) for number in range(4)]  # with seed 5


def four_items(deal: Deal, *levels: Any, **strategy: Any) -> Seen:
    """Run two items with ten lines each on node 1, one item with five lines on either node, and one item with twelve
    lines on node 0 and three on node 1. The compute times are drawn.
    """
    work = ragged(4, table((1, NS, 9 * NS)), on(0, each(0, 0, 320, 768)), on(1, each(640, 640, 320, 192)), deal=deal)
    family = next(iter(strategy["queues"]))
    keys = {"dispatch": [{"to": "label", "queue": family}, {"to": "any", "queue": family}], **strategy}
    plan = plan_of(work, 4, stealing(*levels, **keys), runtime(), toy(sockets=2, cores=2))
    return observe(event_by_event(plan))


def who_had(seen: Seen) -> list[int]:
    """Return the worker of each of the last four tasks."""
    workers = {task: worker for worker, task, *_ in seen.stretches}
    return [workers[task] for task in sorted(workers)[-4:]]


BY_HAND: list[tuple[dict[str, Any], list[int]]] = [
    ({"deal": "interleave"}, [0, 1, 2, 3]),
    ({"deal": "locality"}, [2, 2, 0, 0]),  # the third item costs all workers the same: worker 0
    # 720 bytes a worker, 792 with a tenth more: the last item fits nowhere and goes to the cheapest worker
    ({"deal": "balanced"}, [2, 3, 1, 0]),
    ({"deal": "balanced", "overload": 0.8}, [2, 2, 1, 0]),  # 1296: node 1's first worker has room for both
    ({"deal": "mixed-locality-balanced"}, [2, 2, 0, 0]),
    ({"deal": "mixed-locality-balanced", "exclusivity": 0.9}, [2, 2, 1, 0]),
    ({"deal": "mixed-locality-interleave", "exclusivity": 0.8}, [2, 2, 2, 0]),
    ({"deal": "mixed-locality-interleave", "exclusivity": 0.9}, [2, 2, 2, 3]),
    ({"deal": "random", "seed": 5}, DRAWN),
]


@pytest.mark.parametrize("deal", Deal)
@pytest.mark.parametrize(("labels", "workers"), BY_HAND)
def test_items_come_to_whom_the_distribution_names(labels: dict[str, Any], workers: list[int], deal: Deal) -> None:
    assert who_had(four_items(deal, labels={**labels, "pair_ns": 0}, **NOBODY_STEALS)) == workers


def test_items_come_to_the_queue_of_a_node() -> None:
    """The items go to two nodes, whose equal parts are 1440 bytes. Under `balanced` a node takes at most a tenth more,
    1584 bytes.
    """
    nodes = {
        "interleave": [0, 1, 0, 1],
        "locality": [1, 1, 0, 0],
        "balanced": [1, 1, 0, 0],  # by size the last, then the first two, 1280 on node 1; the third has room on node 0
    }
    for name, expected in nodes.items():
        seen = four_items(Deal.MASTER, TAKES_OWN, labels={"deal": name, "pair_ns": 0}, **QUEUES_OF_NODES)
        assert [worker // 2 for worker in who_had(seen)] == expected, name
