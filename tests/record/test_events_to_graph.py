"""Event files written by hand become the task graphs that the events describe."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from event_writer import BEGIN, NUMBER, TICKS_PER_NS, EventWriter, timed_events

from numasim.errors import InputError
from numasim.runtime.record import event_files
from numasim.runtime.record.event_files import Clause, Endpoint, Event, Sync, TaskFlag, Work, parse_events, read_events
from numasim.runtime.record.event_times import PieceCosts, events_digest, shortest
from numasim.runtime.record.event_walk import walk
from numasim.runtime.record.recorded_data import RecordedData
from numasim.runtime.record.recorded_rows import Rows, rows_of
from numasim.runtime.record.recorded_workload import recorded_workload
from numasim.runtime.record.recording import require_undivided
from numasim.schema.enumerations import Kind, Op
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate

TOOL = Path(__file__).parents[2] / "lib" / "recorder"  # headers are only in the sources
IN, OUT, INOUT = 1, 2, 3
BARRIER = 4


def rows(*writers: EventWriter, costs: PieceCosts | None = None, parallel_part: bool = False) -> Rows:
    costs = costs or PieceCosts()
    walked = walk(timed_events(*writers, allocate_ps=costs.allocate_ps))
    return rows_of(walked, costs, parallel_part=parallel_part)


def graph(*writers: EventWriter, costs: PieceCosts | None = None) -> Workload:
    found = rows(*writers, costs=costs)
    work = recorded_workload(found, RecordedData(), ["" for _ in found.task], "hand")
    validate(work)
    return work


def ops(work: Workload, task: int) -> list[tuple[str, int]]:
    """Return the ops of a task; a segment with its time in ns."""
    found = []
    for at in range(work.op_ptr[task], work.op_ptr[task + 1]):
        code, argument = Op(work.op_code[at]), int(work.op_arg[at])
        found.append((code.name, int(work.segment_compute_ps[argument]) // 1000 if code == Op.RUN else argument))
    return found


def test_constants_are_those_of_the_recorder() -> None:
    text = (TOOL / "events.h").read_text()
    for kind, prefix in ((Event, "NS_EVENT_"), (TaskFlag, "NS_TASK_"), (Clause, "NS_CLAUSE_")):
        found = dict(re.findall(rf"\b{prefix}(\w+) = (\d+),", text))
        assert {name: int(value) for name, value in found.items()} == {each.name: each.value for each in kind}
    assert f"NS_HEADER_WORDS = {event_files.HEADER_WORDS}" in text
    assert f"NS_STACK = {event_files.MOST_STACKED}" in text
    assert f"NS_EVENT_MAGIC UINT64_C(0x{event_files.MAGIC:x})" in text


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
    assert ops(work, root + 2) == [("RUN", 0)]  # the task's time is less than the time of an empty task
    assert ops(work, root + 3) == [("RUN", 5 + 9 + 30 - 15 - 2 - 7)]


def test_recordings_of_the_same_tasks_are_joined_piece_by_piece() -> None:
    def recording(first: int, second: int) -> EventWriter:
        return EventWriter().program().region(2).leaf(first, after=10).leaf(second).end_region(5)

    each = [timed_events(recording(*work))[0] for work in ((50, 900), (700, 60), (51, 61))]
    assert len({events_digest([other]) for other in each}) == 1
    joined = rows_of(walk([shortest(each)]), PieceCosts())
    assert [ps // 1000 for ps in joined.compute_ps] == [10, 5, 50, 60]
    shorter = timed_events(EventWriter().program().region(2).leaf(50).end_region())
    assert events_digest(shorter) != events_digest(each[:1])


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
    writer.add(Event.CLAUSE, Clause.PRIORITY).add(Event.CLAUSE, Clause.AFFINITY).add(Event.TOGETHER)
    writer.work(Work.WORKSHARE, Endpoint.BEGIN).leaf(1, flags=TaskFlag.UNTIED).end_region(3)
    found = rows(writer)
    assert +found.odd == {
        "entries of critical regions, which exclude nobody in the graph": 2,
        "shares of a workshare, taken as they were recorded": 1,
        "tasks or taskloops with a priority, which has no effect in the graph": 1,
        "tasks with an affinity, which has no effect in the graph": 1,
        "time that threads waited for each other outside of OpenMP: all then ran together, disturbed": 1,
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
    EventWriter().program().write(tmp_path, 1)
    with pytest.raises(InputError, match="no parallel region"):
        read_events(tmp_path)
    EventWriter().program().region(2).end_region().write(tmp_path, 2)
    assert [len(each) for each in read_events(tmp_path)] == [7]
    EventWriter().program().region(2).end_region().write(tmp_path, 3)
    with pytest.raises(InputError, match="2 processes"):
        read_events(tmp_path)


def two_loops(kind: Work, place: int = 0x40) -> EventWriter:
    """Return a region with 10 ns of its own work, chunks of 50 and 60 ns, and 5 ns after the loop."""
    writer = EventWriter().program().region(2).work(kind, Endpoint.BEGIN, 4, place).chunk(8, after=6)
    return writer.chunk(2, after=50).work(kind, Endpoint.END, 60, place).end_region(5)


def test_chunks_of_a_dynamic_loop_are_dealt_those_of_a_guided_one_spawned_and_a_static_share_is_its_owners() -> None:
    found = rows(two_loops(Work.LOOP_DYNAMIC))
    assert [found.place[row] for row in sorted(found.chunks)] == [0x40, 0x40]
    dealt = graph(two_loops(Work.LOOP_DYNAMIC))
    body, first, second = dealt.phases[-1].roots
    assert [ops(dealt, row) for row in (body, first, second)] == [[("RUN", 15)], [("RUN", 50)], [("RUN", 60)]]
    assert [Kind(dealt.kind[row]) for row in (body, first, second)] == [Kind.IMPLICIT, Kind.TASK, Kind.TASK]
    guided = graph(two_loops(Work.LOOP_GUIDED))
    (root,) = guided.phases[-1].roots
    assert ops(guided, root) == [("RUN", 10), ("SPAWN", root + 1), ("SPAWN", root + 2), ("RUN", 5)]
    assert [ops(guided, root + 1), ops(guided, root + 2)] == [[("RUN", 50)], [("RUN", 60)]]
    static = graph(two_loops(Work.LOOP_STATIC))
    assert ops(static, static.phases[-1].roots[0]) == [("RUN", 10 + 50 + 60 + 5)]


def test_a_runtime_that_does_not_tell_how_it_divides_a_loop_is_refused() -> None:
    one = two_loops(Work.LOOP)
    assert ops(graph(one), 0) != []  # with a team of one thread the loop is work of the root
    two = EventWriter().program().region(2, team=2).work(Work.LOOP, Endpoint.BEGIN)
    with pytest.raises(InputError, match="does not tell how it divides loops"):
        rows(two.work(Work.LOOP, Endpoint.END).end_region())


def test_time_without_a_processor_is_no_work_and_the_wait_of_the_thread_itself_is_told() -> None:
    """A task of 100 ns waits for 70 ns by itself; another program interrupts a task of 90 ns for 20 ns.

    The recorder noticed the first absence 5 ns after the end of the task. These 5 ns belong to the following pause, and
    are not subtracted from the task.
    """
    writer = EventWriter().program().region(2).create().begin_new()
    writer.add(Event.AWAY, 1, 75, 2 * 5, after=100).done().add(Event.PAUSE, 0, 2 * 5)
    writer.create(5 + 8).begin_new().add(Event.AWAY, 0, 20, 0, after=90).done().end_region(1)
    found = rows(writer)
    work = graph(writer)
    root = int(work.phases[-1].roots[0])
    assert ops(work, root) == [("SPAWN", root + 1), ("RUN", 8), ("SPAWN", root + 2), ("RUN", 1)]
    assert ops(work, root + 1) == [("RUN", 30)]
    assert ops(work, root + 2) == [("RUN", 70)]
    assert list(found.blocked_ps.values()) == [70_000]


def test_a_pause_that_follows_an_event_is_not_taken_from_the_time_before_the_event() -> None:
    """The recorder writes its buffer after an event's time, and puts the pause in front of the event."""
    writer = EventWriter().program().region(2).create().begin_new()
    late = BEGIN + TICKS_PER_NS * (writer.now + 40 + 3)
    writer.words += [late << 16 | Event.PAUSE << 1 | 1, 2 * 20 << 1]  # 20 ns, beginning 3 ns after the end of the task
    work = graph(writer.done(40).end_region(3 + 20 + 6))
    root = int(work.phases[-1].roots[0])
    assert ops(work, root) == [("SPAWN", root + 1), ("RUN", 9)]
    assert ops(work, root + 1) == [("RUN", 40)]


@pytest.mark.parametrize("divides", [True, False])
def test_one_thread_is_refused_where_the_program_divides_more_than_a_hundredth(divides: bool) -> None:
    """In a region of 300 ns, the program asks for the number of threads before 200 ns or before 2 ns of its work."""
    writer = EventWriter().program().region(2, place=0x77)
    writer.add(Event.TEAM, after=100 if divides else 298).sync(BARRIER, Endpoint.BEGIN, 200 if divides else 2)
    recording = timed_events(writer.sync(BARRIER, Endpoint.END, 9).end_region(50))
    if divides:
        with pytest.raises(InputError, match=r"region of 0x77 works 0.000 ms.*--threads 16"):
            require_undivided(recording)
    else:
        require_undivided(recording)


def test_waiting_for_a_lock_is_no_work() -> None:
    writer = EventWriter().program().region(2).add(Event.ACQUIRE, 5, after=10).add(Event.MUTEX, 5, after=500)
    work = graph(writer.end_region(7))
    assert ops(work, int(work.phases[-1].roots[0])) == [("RUN", 17)]


def test_the_region_of_one_part_does_not_hide_what_another_does_without_tasks() -> None:
    writer = EventWriter().program().region(2).sync(BARRIER, Endpoint.BEGIN, 80).sync(BARRIER, Endpoint.END)
    found = rows(writer.leaf(5).end_region(3))
    assert [(part.name, part.body_ps, part.tasks) for part in found.parts] == [
        ("region 1, part 1", 80_000, 0),
        ("region 1, part 2", 3_000, 1),
    ]
    assert [phase.name for phase in rows(writer, parallel_part=True).phases] == ["region 1, part 1", "region 1, part 2"]
