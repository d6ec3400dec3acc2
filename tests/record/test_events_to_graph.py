"""Event files written by hand become the task graphs that they describe."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from event_writer import NUMBER, EventWriter

from numasim.errors import InputError
from numasim.record import event_kinds
from numasim.record.event_files import parse_events, read_events
from numasim.record.event_kinds import Endpoint, Event, Sync, TaskFlag
from numasim.record.event_times import same_events, shortest, tick_ps, timed
from numasim.record.event_walk import walk
from numasim.record.piece_costs import PieceCosts
from numasim.record.recorded_data import RecordedData
from numasim.record.recorded_rows import Rows, rows_of
from numasim.record.recorded_workload import workload_of
from numasim.schema.enumerations import Kind, Op
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate

TOOL = Path(__file__).parents[2] / "numasim" / "record" / "tool"  # headers are in the sources alone
IN, OUT, INOUT = 1, 2, 3
BARRIER = 9


def rows(*writers: EventWriter, costs: PieceCosts | None = None) -> Rows:
    threads = [parse_events(writer.data(), "hand") for writer in writers]
    costs = costs or PieceCosts()
    return rows_of(walk([timed(each, tick_ps(threads), costs.allocate_ps) for each in threads]), costs)


def graph(*writers: EventWriter, costs: PieceCosts | None = None) -> Workload:
    found = rows(*writers, costs=costs)
    work = workload_of(found, RecordedData(), ["" for _ in found.task], "hand")
    validate(work)
    return work


def ops(work: Workload, task: int) -> list[tuple[str, int]]:
    """The ops of a task; of a segment, its time in ns."""
    found = []
    for at in range(work.op_ptr[task], work.op_ptr[task + 1]):
        code, argument = Op(work.op_code[at]), int(work.op_arg[at])
        found.append((code.name, int(work.segment_compute_ps[argument]) // 1000 if code == Op.RUN else argument))
    return found


def test_constants_are_those_of_the_recorder() -> None:
    text = (TOOL / "events.h").read_text()
    for kind, prefix in ((Event, "NS_EVENT_"), (TaskFlag, "NS_TASK_")):
        found = dict(re.findall(rf"\b{prefix}(\w+) = (\d+),", text))
        assert {name: int(value) for name, value in found.items()} == {each.name: each.value for each in kind}
    assert f"NS_HEADER_WORDS = {event_kinds.HEADER_WORDS}" in text
    assert f"NS_STACK = {event_kinds.MOST_STACKED}" in text
    assert f"NS_EVENT_MAGIC UINT64_C(0x{event_kinds.MAGIC:x})" in text


def test_two_children_and_a_wait() -> None:
    work = graph(
        EventWriter().program().region(2, after=100).leaf(50, after=10).leaf(60, after=20).wait(30, 9).end_region(40)
    )
    assert [(phase.serial, phase.roots, phase.name) for phase in work.phases] == [
        (True, (0,), "before region 1"),
        (False, (1,), "region 1, part 1"),
    ]
    assert ops(work, 0) == [("RUN", 100)]
    assert ops(work, 1) == [("RUN", 10), ("SPAWN", 2), ("RUN", 20), ("SPAWN", 3), ("RUN", 30), ("WAIT", 0), ("RUN", 40)]
    assert ops(work, 2) == [("RUN", 50)]
    assert ops(work, 3) == [("RUN", 60)]
    assert work.kind.tolist() == [Kind.IMPLICIT, Kind.IMPLICIT, Kind.TASK, Kind.TASK]


def test_a_task_that_its_maker_executes_in_place_is_a_call_and_so_are_those_of_a_final_task() -> None:
    final = TaskFlag.FINAL
    writer = EventWriter().program().region(2).leaf(50, after=10, in_place=True)
    writer.create(20, flags=final).begin_new().leaf(7, after=3, flags=final).done(4).end_region(1)
    found = rows(writer)
    work = graph(writer)
    root = int(work.phases[-1].roots[0])
    assert ops(work, root) == [("RUN", 10), ("CALL", root + 1), ("RUN", 20), ("SPAWN", root + 2), ("RUN", 1)]
    assert ops(work, root + 2) == [("RUN", 3), ("CALL", root + 3), ("RUN", 4)]
    assert found.odd["undeferred tasks, as calls"] == 2


def test_a_barrier_begins_a_phase_and_tasks_outside_of_regions_are_calls() -> None:
    writer = EventWriter().program().leaf(5, after=2).region(3, after=1).leaf(8, after=4)
    writer.sync(BARRIER, Endpoint.BEGIN, 6).sync(BARRIER, Endpoint.END, 99).end_region(16)
    work = graph(writer)
    assert [phase.serial for phase in work.phases] == [True, False, False]
    assert ops(work, 0) == [("RUN", 2), ("CALL", 1), ("RUN", 1)]
    assert ops(work, 2) == [("RUN", 4), ("SPAWN", 3), ("RUN", 6)]
    assert ops(work, 4) == [("RUN", 16)]


def test_dependences_between_siblings() -> None:
    writer = EventWriter().program().region(2)
    for pairs in ([(64, OUT)], [(64, IN)], [(64, IN), (128, OUT)], [(64, INOUT), (128, IN)], [(64, IN)]):
        writer.create(1).depend(*pairs).begin_new().done(10)
    work = graph(writer.end_region())
    first = int(work.phases[-1].roots[0]) + 1
    edges = [
        (task - first, int(after) - first)
        for task in range(work.rows)
        for after in work.successor[work.successor_ptr[task] : work.successor_ptr[task + 1]]
    ]
    assert edges == [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]


def test_two_threads_share_the_tasks_of_one() -> None:
    first = EventWriter().program().region(2, team=2).create(10).create(20)
    first.sync(BARRIER, Endpoint.BEGIN, 5).add(Event.BEGIN, 7, NUMBER + 4, after=1).done(100)
    first.sync(BARRIER, Endpoint.END, 200).end_region()
    other = EventWriter(1).add(Event.IMPLICIT, 0, NUMBER + 2, 1, 2).sync(BARRIER, Endpoint.BEGIN, 3)
    other.add(Event.BEGIN, 7, NUMBER + 5).done(300).sync(BARRIER, Endpoint.END, 4)
    work = graph(first, other)
    region = work.phases[-1]
    assert [ops(work, root) for root in region.roots] == [
        [("RUN", 10), ("SPAWN", 1), ("RUN", 20), ("SPAWN", 2), ("RUN", 5)],
        [("RUN", 3)],
    ]
    assert ops(work, 1) == [("RUN", 100)]
    assert ops(work, 2) == [("RUN", 300)]


def test_the_recorders_own_time_is_taken_out() -> None:
    costs = PieceCosts({(Event.BEGIN, Event.RETURN): 15_000, (Event.RETURN, Event.CREATE): 30_000}, 2_000)
    writer = EventWriter().program().region(2).leaf(50).leaf(10, after=100)
    writer.create(40).begin_new().add(Event.ALLOCATE, 0, 4096, 64, after=5).add(Event.PAUSE, 0, 2 * 7, after=9).done(30)
    work = graph(writer.end_region(), costs=costs)
    root = int(work.phases[-1].roots[0])
    assert ops(work, root) == [("SPAWN", root + 1), ("RUN", 70), ("SPAWN", root + 2), ("RUN", 10), ("SPAWN", root + 3)]
    assert ops(work, root + 1) == [("RUN", 35)]
    assert ops(work, root + 2) == [("RUN", 0)]  # its time is less than that of an empty task
    assert ops(work, root + 3) == [("RUN", 5 + 9 + 30 - 15 - 2 - 7)]


def test_recordings_of_the_same_tasks_are_joined_piece_by_piece() -> None:
    def recording(first: int, second: int) -> EventWriter:
        return EventWriter().program().region(2).leaf(first, after=10).leaf(second).end_region(5)

    threads = [parse_events(recording(*work).data(), "hand") for work in ((50, 900), (700, 60), (51, 61))]
    each = [timed(thread, tick_ps([thread]), 0) for thread in threads]
    assert all(same_events(each[0], other) for other in each)
    joined = rows_of(walk([shortest(each)]), PieceCosts())
    assert [ps // 1000 for ps in joined.compute_ps] == [10, 5, 50, 60]
    longer = parse_events(EventWriter().program().region(2).leaf(50).end_region().data(), "hand")
    assert not same_events(each[0], timed(longer, tick_ps([longer]), 0))


def test_a_group_waits_for_the_tasks_that_are_made_in_it_and_for_theirs() -> None:
    writer = EventWriter().program().region(2).leaf(5).sync(Sync.TASKGROUP, Endpoint.BEGIN, 10).create().begin_new()
    writer.leaf(3).done(4).add(Event.SYNC_WAIT, Sync.TASKGROUP << 2 | Endpoint.BEGIN, after=20)
    writer.add(Event.SYNC_WAIT, Sync.TASKGROUP << 2 | Endpoint.END, after=1)
    work = graph(writer.sync(Sync.TASKGROUP, Endpoint.END, 1).end_region(6))
    root = int(work.phases[-1].roots[0])
    assert [name for name, _ in ops(work, root)] == ["SPAWN", "RUN", "GROUP", "SPAWN", "RUN", "END_GROUP", "RUN"]
    assert [time for name, time in ops(work, root) if name == "RUN"] == [10, 20, 6]
    assert ops(work, root + 2) == [("SPAWN", root + 3), ("RUN", 4)]


def test_what_no_graph_can_say_is_counted() -> None:
    writer = EventWriter().program().region(2).add(Event.MUTEX, 5, after=10).add(Event.MUTEX, 5, after=10)
    writer.add(Event.WORK, 10 << 2 | Endpoint.BEGIN).leaf(1, flags=TaskFlag.UNTIED).end_region(3)
    found = rows(writer)
    assert +found.odd == {
        "entries of critical regions, which exclude nobody in the graph": 2,
        "shares of a loop that the team divides, taken as they were recorded": 1,
        "untied tasks, which no other worker goes on with": 1,
    }
    assert np.sum(found.compute_ps) == 24_000


def damaged(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        parse_events(data, "77-0.events")
    return str(caught.value)


def test_damaged_files_are_refused() -> None:
    good = EventWriter().program().region(2).leaf(5).end_region().data()
    assert damaged(good[:20]).startswith("77-0.events: the event file is damaged: it has 20 bytes")
    assert "does not begin as an event file" in damaged(b"x" * 80)
    assert "the recording does not end" in damaged(good[:-16])
    assert "has 0 operands" in damaged(good[:-8])


def test_one_process_with_tasks_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no parallel region"):
        read_events(tmp_path)
    EventWriter().program().write(tmp_path, 1)
    with pytest.raises(InputError, match="no parallel region"):
        read_events(tmp_path)
    EventWriter().program().region(2).end_region().write(tmp_path, 2)
    assert [len(each) for each in read_events(tmp_path)] == [7]
    EventWriter().program().region(2).end_region().write(tmp_path, 3)
    with pytest.raises(InputError, match="2 processes"):
        read_events(tmp_path)
