"""What a task is about, against a walk over its program; homes from the page map (thesis 5.3 to 5.5)."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from engine_setup import SEED, plan_of, stealing, toy
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import Draft, graph_document, workload_of
from task_graphs import Access, Run, call, graph, task

from numasim.engine.reference.clock import Clock
from numasim.engine.reference.memory.object_map import ObjectMap
from numasim.engine.reference.memory.page_map import PageMap
from numasim.plan.plan import Plan
from numasim.plan.task_objects import item_objects
from numasim.strategy.similarity import UNBOUND, Objects
from numasim.workload.graph import Kind, Mode, Op, Region

KIB = 1024
PAGE = 4 * KIB
GRANULE = 16 * PAGE
TWO_NODES = toy(sockets=2, cores=1)
THREE_NODES = toy(sockets=3, cores=1)
HALVES = (Region("data", 2 * PAGE, True),)  # in blocks: the first page on node 0, the second on node 1
READ, WRITE, BOTH = int(Mode.READ), int(Mode.WRITE), int(Mode.READ_WRITE)


def plan(*steps: Any, regions: tuple[Region, ...] = HALVES, policy: str = "block", machine: Any = TWO_NODES) -> Plan:
    return plan_of(graph(task(*steps), regions=regions), 1, by_data(policy), machine=machine)


def by_data(policy: str) -> Any:
    return stealing({"from": "others"}, dispatch=[{"to": "data"}, {"to": "any"}], placement=policy)


def objects_and_pages(given_plan: Plan) -> tuple[ObjectMap, PageMap]:
    placement = given_plan.placement.drawn(SEED)
    pages = PageMap(given_plan, placement, Clock())
    return ObjectMap(given_plan, placement, pages), pages


def map_of(given_plan: Plan) -> ObjectMap:
    return objects_and_pages(given_plan)[0]


def using(*accesses: Access) -> Run:
    return Run(0, accesses)


# ---- by hand -------------------------------------------------------------------------------------------------------


def test_an_object_is_at_home_where_most_of_its_bytes_are() -> None:
    given_plan = plan(using(Access(0, PAGE - 100, 300)), using(Access(0, PAGE - 200, 300)))
    assert sorted(map_of(given_plan).of_task(0)) == [Objects(0, READ, 1, 300), Objects(1, READ, 1, 300)]


def test_of_equal_parts_the_lower_node_is_the_home() -> None:
    assert map_of(plan(using(Access(0, PAGE - 64, 128)))).of_task(0) == [Objects(0, READ, 1, 128)]


def test_a_piece_of_memory_is_one_object_however_often_it_is_used() -> None:
    """In every way in which it is used, and however many passes it takes."""
    twice = using(Access(0, 0, 64), Access(0, 0, 64, mode=Mode.WRITE, passes=3))
    assert map_of(plan(twice, using(Access(0, 0, 64)))).of_task(0) == [Objects(0, BOTH, 1, 64)]


def test_objects_of_one_home_and_use_are_counted_together() -> None:
    steps = using(Access(0, 0, 64), Access(0, 64, 64), Access(0, PAGE, 64, mode=Mode.WRITE))
    assert map_of(plan(steps)).of_task(0) == [Objects(0, READ, 2, 128), Objects(1, WRITE, 1, 64)]


def test_calls_are_part_of_the_task_and_children_are_not() -> None:
    inner = call(using(Access(0, 64, 64)), task(using(Access(0, PAGE, 64))))
    objects = map_of(plan(using(Access(0, 0, 64)), inner, task(using(Access(0, 0, 9)))))
    assert objects.of_task(0) == [Objects(0, READ, 2, 128)]
    assert objects.of_task(2) == [Objects(1, READ, 1, 64)]
    assert objects.of_task(3) == [Objects(0, READ, 1, 9)]


def test_a_task_without_accesses_or_with_empty_ones_has_no_objects() -> None:
    assert map_of(plan(100, regions=())).of_task(0) == []
    assert map_of(plan(using(Access(0, 0, 0), Access(0, 0, 64, rows=0)))).of_task(0) == []


def test_fresh_memory_is_unbound_until_it_is_touched() -> None:
    """Afterwards its home is the node of the toucher, or that of most of its bytes."""
    fresh = (Region("fresh", 4 * GRANULE, False),)
    access = Access(0, GRANULE - 100, 300, mode=Mode.WRITE)
    given_plan = plan(
        using(access), using(Access(0, 0, 10)), using(Access(0, GRANULE, 10)), regions=fresh, policy="first-touch"
    )
    objects, pages = objects_and_pages(given_plan)

    def home() -> int:
        return next(each.home for each in objects.of_task(0) if each.bytes == 300)

    assert home() == UNBOUND
    pages.touch(1, 1)  # the first granule is now on node 1, with 100 of the 300 bytes
    assert home() == 1
    pages.touch(2, 0)
    assert home() == 0


# ---- random programs -----------------------------------------------------------------------------------------------

seeds = st.integers(0, 2**32 - 1)


def random_program(seed: int) -> Any:
    chance = Random(seed)
    document = graph_document(chance)
    while not document["regions"]:
        document = graph_document(chance)
    return workload_of(document)


@given(seeds, st.sampled_from(["block", "interleave", "first-touch"]))
def test_the_objects_of_tasks_equal_a_walk_over_their_programs(seed: int, policy: str) -> None:
    work = random_program(seed)
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
            assert counted(objects.of_task(row)) == expected


def walked(work: Any, row: int) -> dict[tuple[int, ...], tuple[int, int]]:
    """(mode, an access) of each piece of memory that a row and its calls access."""
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


def counted(objects: list[Objects]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for some in objects:
        found[some.home, some.mode] += some.pieces
        found[some.home, some.mode, "bytes"] += some.bytes
    return found


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
    for item in range(family.count):
        expected = Counter(moved(given_plan, family, j, item) for j in distinct(family))
        assert Counter((each.of(item).home, each.of(item).bytes) for each in found) == expected


def distinct(family: Any) -> list[int]:
    """The templates that differ from those before them."""
    one = family.accesses
    parts = (one.region, one.offset, one.row_bytes, one.rows, one.stride)
    keys = [
        tuple(int(p[j]) for p in (*parts, family.divisor, family.step_div, family.step_mod)) for j in range(len(one))
    ]
    return [j for j, key in enumerate(keys) if key not in keys[:j]]


def moved(given_plan: Plan, family: Any, j: int, item: int) -> tuple[int, int]:
    """(home, bytes) of a template's access for one item, page by page."""
    one, divisor, page_bytes = family.accesses, int(family.divisor[j]), given_plan.machine.page_bytes
    offset = int(one.offset[j] + item // divisor * family.step_div[j] + item % divisor * family.step_mod[j])
    total = [0, 0, 0]
    for row in range(int(one.rows[j])):
        begin = offset + row * int(one.stride[j])
        end = begin + int(one.row_bytes[j])
        for page in range(begin // page_bytes, -(-end // page_bytes)):
            home = given_plan.placement.drawn(SEED).page_homes(int(one.region[j]))[page]
            here = min(end, (page + 1) * page_bytes) - max(begin, page * page_bytes)
            total[max(0, home)] += here  # what is fresh is on node 0, where worker 0 is
    return home_of(total), sum(total)
