"""The runs of a program are equal in every spelling (loop, repeats, phases written out, items or tasks), under every
shipped strategy; static schedules by hand.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
import spellings
from engine_setup import NS, observe, plan_of, runtime, simulated, stealing, toy
from spellings import STRATEGIES, random_case
from task_graphs import body, call, graph, items, phase, task

from numasim.engine.reference.task_programs import TaskNumbers
from numasim.parts.models.strategy_model import StrategySpec
from numasim.workload.graph import Deal, Loop, Phase, Workload

EIGHT = toy(1, 8)
STATIC = "static-block"
ANYWHERE = [{"to": "any", "pick": "cyclic"}]
CYCLIC = StrategySpec.model_validate({"name": "static-cyclic", "dispatch": ANYWHERE, "steal": []})


@pytest.mark.parametrize("name", STRATEGIES)
def test_random_programs_come_to_one_end_however_they_are_spelled(name: str) -> None:
    """The test would find task numbers, random draws and counts that depend on the spelling (on the whole program, on a
    row of its arrays, on a task's id), and rules that hold for roots but not for items of ranges.
    """
    chance = Random(f"spellings of {name}")
    for _ in range(3):
        assert not list(random_case(chance).differences(name))


def test_numbers_that_go_on_over_the_program_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison of spellings finds a planted defect: the reference engine numbers tasks over the whole program."""
    monkeypatch.setattr(spellings, "ENGINES", ("reference",))
    cases = [random_case(Random(number)) for number in range(20)]
    assert not [each for case in cases for each in case.differences(STATIC)]

    def over_program(numbers: TaskNumbers, task: int) -> tuple[int, int]:
        rows = len(numbers._number)
        return (task, rows) if task < rows else numbers._tables.item_and_count(task)

    monkeypatch.setattr(TaskNumbers, "index_and_count", over_program)
    assert [each for case in cases for each in case.differences(STATIC)]


def spelled(turns: int, count: int, time_ns: int, deal: Deal) -> dict[str, Workload]:
    """Return the spellings of ``turns`` turns of ``count`` tasks of ``time_ns`` each."""
    tasks = [task(time_ns * NS)] * turns * count
    copies = tuple(phase(*range(t * count, (t + 1) * count), deal=deal) for t in range(turns))
    once = copies[0]
    return {
        "copied": graph(*tasks, phases=copies),
        "written out": graph(*tasks[:count], phases=(once,) * turns),
        "repeated": graph(*tasks[:count], phases=(replace(once, repeat=turns),)),
        "a loop": replace(graph(*tasks[:count], phases=(once,)), loops=(Loop(0, 1, turns),)),
        "a range": items(count, time_ns * NS, deal=deal, repeat=turns),
    }


@pytest.mark.parametrize("deal", Deal)
def test_a_static_schedule_divides_each_turn_of_a_phase(deal: Deal) -> None:
    """schedule(static) of OpenMP 5.2, 11.5.3, divides the iterations of *one loop* into P chunks of nearly equal size.
    Two loops of four tasks of 1 ms on four workers take 2 ms: one task per worker and loop. Eight loops of 64 tasks of
    1 us on eight workers take 64 us. If task numbers went on over phases, they would take 4 ms and 456 us; if roots
    stayed with the worker to which a deal gave them, 72 us.
    """
    for strategy in (STATIC, CYCLIC):
        for spelling, work in spelled(2, 4, 10**6, deal).items():
            assert simulated(plan_of(work, 4, strategy), 1).counters["makespan_ps"] == 2 * 10**6 * NS, spelling
        for spelling, work in spelled(8, 64, 1000, deal).items():
            plan = plan_of(work, 8, strategy, machine=EIGHT)
            assert simulated(plan, 1).counters["makespan_ps"] == 64_000 * NS, spelling


def test_tasks_are_numbered_root_by_root_and_calls_and_bodies_have_no_number() -> None:
    """Each of four workers is dealt a body, which makes a call of 10 ns and spawns a task of 100 ns. Task i of four is
    for worker i, in turn and in blocks. The last body is the first body of the phase, so that the rows of the tasks are
    12, 3, 6 and 9, of 13.
    """
    bodies = [body(call(10 * NS), task(100 * NS)) for _ in range(4)]
    work = graph(task(10 * NS), *bodies, phases=(phase(0), phase(10, 1, 4, 7, deal=Deal.CYCLIC)))
    for strategy in (CYCLIC, STATIC):
        seen = observe(plan_of(work, 4, strategy))
        assert seen["makespan_ps"] == (10 + 10 + 100) * NS
        assert [seen.order(w)[-1] for w in range(4)] == [12, 3, 6, 9]


def test_self_scheduling_takes_whole_chunks_from_the_first_on() -> None:
    """Chunks of 16 of 64 tasks of 100 ns on eight workers (Kruskal and Weiss 1985): four workers get a chunk each after
    a look of 100 ns, so the time is 100 + 1600 ns. If workers began their roots without a look, only 56 tasks would be
    in chunks.
    """
    for deal in Deal:
        for spelling, work in spelled(1, 64, 100, deal).items():
            plan = plan_of(work, 8, "chunk", machine=EIGHT)
            assert simulated(plan, 1).counters["makespan_ps"] == 1700 * NS, spelling


@pytest.mark.parametrize("deal", Deal)
def test_a_serial_phase_is_the_work_of_worker_0_however_it_is_dealt(deal: Deal) -> None:
    """Three tasks, or three items, of 1000 ns take worker 0 3 us, and nobody steals. Some of the strategies would give
    roots to other workers.
    """
    roots = graph(*[task(1000 * NS) for _ in range(3)], phases=(phase(0, 1, 2, deal=deal, serial=True),))
    ranged = items(3, 1000 * NS, deal=deal)
    for work in (roots, replace(ranged, phases=(Phase(range_family=0, deal=deal, serial=True),))):
        for strategy in (STATIC, "randomized", "nanos-bf"):
            for how in ("bare", "own", "ompi"):
                result = simulated(plan_of(work, 3, strategy, how), 1)
                assert result.workers["tasks"].tolist() == [3, 0, 0]
                assert result.counters["steal_success"] == 0
                assert result.workers["work_local_ps"].tolist() == [3000 * NS, 0, 0]


def test_an_item_for_which_no_queue_has_room_waits_as_a_root_does() -> None:
    """Five tasks of 1000 ns are dealt to worker 0; two queues hold one task each. Worker 0 executes the first task, its
    queue holds the second, the other queue the third, which worker 1 begins at once. At 1000 ns the fourth task finds
    room in the other queue, from which worker 1 takes the fourth task. The fifth task finds no room: worker 0 begins
    the fifth task, and then the second. A rule that loses tasks without room would leave two tasks for ever.
    """
    strategy = stealing({"from": "own"}, dispatch=[{"to": "any", "pick": "in-order"}])
    how = runtime(capacity=1, on_full="block", s_rule="avail")
    for spelling, work in spelled(1, 5, 1000, Deal.MASTER).items():
        result = simulated(plan_of(work, 2, strategy, how), 1)
        assert result.workers["tasks"].tolist() == [3, 2], spelling
        assert result.counters["makespan_ps"] == 3000 * NS, spelling


def test_the_parent_of_an_item_is_worker_0_as_that_of_a_root() -> None:
    """Three workers on three nodes have four tasks of 1000 ns. Worker 0 executes the fourth task while the others probe
    at 1300, 1600 and 1900 ns. Worker 1 asks its parent, worker 0, then worker 2, then worker 0. Worker 2 asks worker 0,
    its parent and next worker. Without a parent worker 1 would ask worker 2 three times.
    """
    levels = {"from": "parent"}, {"from": "others", "pick": "after-me"}
    for spelling, work in spelled(1, 4, 1000, Deal.CYCLIC).items():
        result = simulated(plan_of(work, 3, stealing(*levels), machine=toy(3, 1)), 1)
        assert result.counters["makespan_ps"] == 2000 * NS, spelling
        assert result.node_attempts.tolist() == [[0, 0, 0], [2, 0, 1], [3, 0, 0]], spelling
