"""Objects, the pieces of memory that a task accesses, against a walk over the task's program (thesis 5.3 to 5.5).

The home of an object is the node that has most of its bytes. Dispatch by data puts a task into a queue of such a node.
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, SEED, Seen, observe, plan_of, runtime, shipped_strategy, stealing, toy
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import Draft, graph_document, workload_of
from task_graphs import WAIT, Access, Run, graph, items, task

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.reference.clock import Clock
from numasim.engine.reference.memory.page_map import ObjectMap, PageMap
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.plan import Plan
from numasim.plan.task_objects import item_objects
from numasim.strategy.similarity import UNBOUND
from numasim.workload.graph import Kind, Mode, Op, Region

KIB = 1024
PAGE = 4 * KIB
GRANULE = 16 * PAGE
TWO_NODES = toy(sockets=2, cores=1)
THREE_NODES = toy(sockets=3, cores=1)
HALVES = (Region("data", 2 * PAGE, True),)  # in blocks: the first page on node 0, the second on node 1
READ, WRITE, BOTH = int(Mode.READ), int(Mode.WRITE), int(Mode.READ_WRITE)


def by_data(policy: str) -> Any:
    return stealing({"from": "others"}, dispatch=[{"to": "data"}, {"to": "any"}], placement=policy)


def objects_and_pages(given_plan: Plan) -> tuple[ObjectMap, PageMap]:
    placement = given_plan.placement.drawn(SEED)
    pages = PageMap(given_plan, placement, Clock())
    return ObjectMap(given_plan, placement, pages), pages


# ---- by hand -------------------------------------------------------------------------------------------------------


def test_fresh_memory_is_unbound_until_it_is_touched() -> None:
    """After the first touch the home of an object is the node with most of the object's bytes."""
    fresh = (Region("fresh", 4 * GRANULE, False),)
    accesses = Access(0, GRANULE - 100, 300, mode=Mode.WRITE), Access(0, 0, 10), Access(0, GRANULE, 10)
    work = graph(task(*[Run(0, (access,)) for access in accesses]), regions=fresh)
    objects, pages = objects_and_pages(plan_of(work, 1, by_data("first-touch"), machine=TWO_NODES))

    def home() -> int:
        return next(each.home for each in objects.of_task(0) if each.bytes == 300)

    assert home() == UNBOUND
    pages.touch(1, 1)  # the first granule is now on node 1, with 100 of the 300 bytes
    assert home() == 1
    pages.touch(2, 0)
    assert home() == 0


# ---- random programs -----------------------------------------------------------------------------------------------

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.sampled_from(["block", "interleave", "first-touch"]))
def test_the_objects_of_tasks_equal_a_walk_over_their_programs(seed: int, policy: str) -> None:
    chance = Random(seed)
    documents = (graph_document(chance) for _ in count())
    work = workload_of(next(document for document in documents if document["regions"]))
    given_plan = plan_of(work, 3, by_data(policy), machine=THREE_NODES)
    objects, pages = objects_and_pages(given_plan)
    for access in range(0, len(work.accesses), 3):
        pages.touch(access, access % 2)
    for row in range(work.rows):
        expected = Counter()
        for shape, (mode, access) in walked(work, row).items():
            home = home_of(pages.bytes_at(access).tolist())
            expected[home, mode] += 1
            expected[home, mode, "bytes"] += shape[2] * shape[3]
        if work.kind[row] != Kind.CALL:
            found = Counter()
            for some in objects.of_task(row):
                found[some.home, some.mode] += some.pieces
                found[some.home, some.mode, "bytes"] += some.bytes
            assert found == expected


def walked(work: Any, row: int) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return (mode, an access) of each piece of memory that the task of a row and the calls in this task access."""
    seen: dict[tuple[int, ...], tuple[int, int]] = {}
    for op in range(work.op_ptr[row], work.op_ptr[row + 1]):
        code, operand = work.op_code[op], int(work.op_arg[op])
        if code == Op.CALL:
            for shape, (mode, access) in walked(work, operand).items():
                seen[shape] = (seen.get(shape, (0, 0))[0] | mode, access)
        for access in range(*work.segment_accesses[operand : operand + 2]) if code == Op.RUN else ():
            part = work.accesses
            shape = tuple(int(v[access]) for v in (part.region, part.offset, part.row_bytes, part.rows, part.stride))
            seen[shape] = (seen.get(shape, (0, 0))[0] | int(part.mode[access]), access)
    return seen


def home_of(bytes_by_node: list[int]) -> int:
    most = max(bytes_by_node)
    return bytes_by_node.index(most) if most else UNBOUND


@given(seeds, st.sampled_from(["block", "interleave", "first-touch", "first-touch-master"]))
def test_the_objects_of_items_are_their_templates_moved(seed: int, policy: str) -> None:
    draft = Draft(Random(seed), 1000, True)
    draft.add_region()
    draft.add_range()
    phase = {"roots": [], "range": 0, "deal": "block", "serial": False, "repeat": 1}
    parts = {"regions": draft.regions, "ranges": draft.ranges, "tasks": [], "segments": []}
    work = workload_of({"name": "items", "phases": [phase], **parts})
    given_plan = plan_of(work, 3, by_data(policy), machine=THREE_NODES)
    family = work.ranges[0]
    found = item_objects(given_plan, given_plan.placement.drawn(SEED), family)
    one = family.accesses
    shapes = (one.region, one.offset, one.row_bytes, one.rows, one.stride, family.divisor, family.step_div)
    templates = np.unique(np.stack([*shapes, family.step_mod]), axis=1, return_index=True)[1].tolist()
    for item in range(family.count):
        expected = Counter(moved(given_plan, family, j, item) for j in templates)  # equal templates are one object
        assert Counter((each.of(item).home, each.of(item).bytes) for each in found) == expected


def moved(given_plan: Plan, family: Any, j: int, item: int) -> tuple[int, int]:
    """Return (node, bytes) of the access that template ``j`` makes for one item, worked out page by page."""
    one, divisor, page_bytes = family.accesses, int(family.divisor[j]), given_plan.machine.page_bytes
    offset = int(one.offset[j] + item // divisor * family.step_div[j] + item % divisor * family.step_mod[j])
    total = [0, 0, 0]
    for row in range(int(one.rows[j])):
        begin = offset + row * int(one.stride[j])
        end = begin + int(one.row_bytes[j])
        for page in range(begin // page_bytes, -(-end // page_bytes)):
            home = given_plan.placement.drawn(SEED).page_homes(int(one.region[j]))[page]
            here = min(end, (page + 1) * page_bytes) - max(begin, page * page_bytes)
            total[max(0, home)] += here  # fresh memory is on node 0, where worker 0 is
    return home_of(total), sum(total)


# ---- runs whose tasks are dispatched to their data ------------------------------------------------------------------

FIRST, SECOND = Access(0, 0, 64), Access(0, PAGE, 64)
LINE = 40 * NS  # from one node to the other
# Item i uses half a page: the pages of items 0 and 1 are on node 0, of items 2 and 3 on node 1.
HALF_PAGES = items(4, 1000 * NS, accesses=(Access(0, 0, PAGE // 2),), steps=((1, PAGE // 2, 0),), regions=HALVES)


def seen(work: Any, how: Any, **keys: Any) -> Seen:
    """Run with the strategy `locality-binding` without steal levels."""
    shipped = shipped_strategy("locality-binding").dispatch or ()
    rules = [rule.model_dump(by_alias=True, exclude_unset=True) for rule in shipped]
    given = {"name": "test", "steal": [], "dispatch": rules, "placement": "block", **keys}
    return observe(plan_of(work, 2, StrategySpec.model_validate(given), how, TWO_NODES))


def on(*accesses: Access, ns: int = 100) -> Any:
    return task(Run(ns * NS, accesses))


def workers_of(run: Seen) -> dict[int, int]:
    """Return the worker that executed each task."""
    return {each: worker for worker, each, _, _ in run.stretches}


def test_the_six_tasks_of_section_5_4_run_where_their_objects_are() -> None:
    uses = [FIRST, FIRST, SECOND, FIRST, SECOND, FIRST]
    run = seen(graph(task(*map(on, uses), WAIT, 100), regions=HALVES), runtime())
    assert [workers_of(run)[at + 1] for at in range(6)] == [0, 0, 1, 0, 1, 0]


def test_a_task_goes_to_the_node_that_most_of_its_data_is_on() -> None:
    more = Access(0, PAGE, 128)
    run = seen(graph(task(on(FIRST, more), on(FIRST, SECOND), WAIT, 100), regions=HALVES), runtime())
    assert (workers_of(run)[1], workers_of(run)[2]) == (1, 0)


@pytest.mark.parametrize(("access", "line_ps"), [(FIRST, 0), (SECOND, LINE)])
def test_a_push_costs_the_look_at_the_data_and_the_line_of_another_queue(access: Access, line_ps: int) -> None:
    """Both costs are paid after a push: the first task is queued at 60 ns, each next task 150 + line + 60 ns later."""
    how = runtime(costs={"push_ns": 60, "locate_ns": 150, "line": "latency"})
    run = seen(graph(task(*[on(access, ns=5000)] * 4), regions=HALVES), how)
    step = (60 + 150) * NS + line_ps
    assert [t for t, *_ in run.of_rank(Rank.PUT)] == [60 * NS + k * step for k in range(4)]
    # the end of each task but the last one moves the line of the join counter
    joins = [3 * 5 * NS, 0] if access is FIRST else [0, 3 * LINE]
    assert run.of_worker("overhead_ps") == [4 * step + joins[0], joins[1]]


def test_a_task_that_no_rule_asks_about_costs_no_look() -> None:
    how = runtime(costs={"push_ns": 60, "locate_ns": 150})
    rules = [{"to": "own", "if": {"below": 3}}, {"to": "data"}, {"to": "own"}]
    run = seen(graph(task(*[on(FIRST)] * 5), regions=HALVES), how, dispatch=rules)
    assert [t for t, *_ in run.of_rank(Rank.PUT)] == [60 * NS, 120 * NS, 180 * NS, 240 * NS, 450 * NS]


def test_a_producer_pays_for_each_item_that_it_has_looked_at() -> None:
    run = seen(HALF_PAGES, runtime(producer="extra", costs={"push_ns": 60, "locate_ns": 150}))
    puts = run.of_rank(Rank.PUT)
    assert [t for t, *_ in puts] == [60 * NS + k * 210 * NS for k in range(4)]
    assert [queue for *_, queue in puts] == [0, 0, 1, 1]


def test_items_that_are_dealt_at_the_start_go_to_their_data_for_nothing() -> None:
    run = seen(HALF_PAGES, runtime(costs={"locate_ns": 150}))
    assert workers_of(run) == {0: 0, 1: 0, 2: 1, 3: 1}
    assert run.of_worker("overhead_ps") == [0, 0]


def test_data_that_a_task_has_touched_first_draws_later_tasks_there() -> None:
    """Fresh memory is unbound, so the first task goes to its other data, and the second task goes there, too."""
    regions = (*HALVES, Region("fresh", 2 * PAGE, False))
    fresh = Access(1, 0, 32, mode=Mode.WRITE)
    root = task(on(fresh, SECOND), WAIT, on(fresh), WAIT, 100)
    work = graph(root, regions=regions)
    initialised = {"placement": "parallel-first-touch"}  # page 0 is on worker 0's node, page 1 on worker 1's node
    executed = workers_of(seen(work, runtime(), **initialised))
    assert (executed[1], executed[2]) == (1, 1)


def test_a_task_whose_data_is_nowhere_goes_to_the_node_with_the_fewest_tasks() -> None:
    regions = (*HALVES, Region("fresh", 2 * PAGE, False))
    root = task(on(FIRST), on(Access(1, 0, 64)), on(Access(1, PAGE, 64)), WAIT, 100)
    run = seen(graph(root, regions=regions), runtime(), placement="parallel-first-touch")
    assert [queue for *_, queue in run.of_rank(Rank.PUT)] == [0, 1, 0]


def test_a_full_own_queue_does_not_keep_tasks_from_their_data() -> None:
    """OMPi executes a spawned task at once while the own queue overflows. A task with data on the other node goes to
    that node (task 2), unless no queue there has room (task 3), and again when a queue has room (task 4).
    """
    how = runtime(capacity=1, on_full="inline", join="help", costs={"push_ns": 60})
    root = task(on(FIRST, ns=9000), on(SECOND, ns=9000), on(SECOND, ns=100), on(SECOND, ns=100), WAIT, 100)
    run = seen(graph(root, regions=HALVES), how)
    assert workers_of(run) == {0: 0, 1: 0, 2: 1, 3: 0, 4: 1}
