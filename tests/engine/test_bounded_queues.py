"""Full queues: executed at once, passed over, waited for; producers of ranges (model 4.1, 4.2; A-1, A-4)."""

from __future__ import annotations

from engine_setup import NS, run, runtime
from task_graphs import WAIT, graph, items, task

from numasim.engine.observe.trace_hash import Rank


def test_spawns_into_a_full_queue_run_at_once() -> None:
    work = graph(task(*[task(100 * NS) for _ in range(6)], WAIT))
    seen = run(work, workers=1, how=runtime(capacity=4, on_full="inline"))
    assert seen.order() == [5, 6, 4, 3, 2, 1]


def test_an_overflowed_queue_takes_tasks_again_below_the_resume_fill() -> None:
    # worker 1 takes tasks 1, 2 and 3 at 100, 300 and 500 ns; the queue holds 4, 3, 2 and from 500 ns on 1 task, and
    # only below a half of 4 it takes tasks again: 5 to 10 run at once, 11 and 12 are queued at 600 ns
    work = graph(task(*[task(100 * NS) for _ in range(12)], WAIT))
    seen = run(work, how=runtime(capacity=4, on_full="inline", resume=0.5))
    assert seen.order(0)[:6] == [5, 6, 7, 8, 9, 10]
    assert [(t, task_id) for t, _, task_id, _ in seen.of_rank(Rank.PUT)][4:] == [(600 * NS, 11), (600 * NS, 12)]


def test_a_resume_fill_of_one_queues_as_soon_as_there_is_room() -> None:
    # worker 1's steals at 100 and 300 ns make room for tasks 7 and 10, spawned at 200 and 400 ns
    work = graph(task(*[task(100 * NS) for _ in range(12)], WAIT))
    seen = run(work, how=runtime(capacity=4, on_full="inline", resume=1))
    assert [task_id for _, _, task_id, _ in seen.of_rank(Rank.PUT)] == [1, 2, 3, 4, 7, 10]
    assert seen.order(0)[:6] == [5, 6, 8, 9, 11, 12]


def test_a_growing_queue_has_no_bound() -> None:
    work = graph(task(*[task(100 * NS) for _ in range(6)], WAIT))
    seen = run(work, workers=1, how=runtime(on_full="grow"))
    assert seen.order() == [6, 5, 4, 3, 2, 1]


def test_an_extra_producer_deals_round_robin_and_waits_for_room() -> None:
    # puts at 10 to 40 ns fill both queues; both workers steal at 100 ns, and the puts at 110 and 120 ns follow
    how = runtime(producer="extra", on_full="next", capacity=2, costs={"push_ns": 10})
    seen = run(items(6, 1000 * NS), how=how)
    puts = [(t, queue) for t, _, _, queue in seen.of_rank(Rank.PUT)]
    assert puts == [(10 * NS, 0), (20 * NS, 1), (30 * NS, 0), (40 * NS, 1), (110 * NS, 0), (120 * NS, 1)]
    assert seen.steals == ((100 * NS, 0, 1, 1), (100 * NS, 1, 0, 1))
    assert [seen.order(0), seen.order(1)] == [[1, 4, 2], [0, 5, 3]]
    assert seen["makespan_ps"] == 3100 * NS


def test_efficiency_counts_workers_and_no_producer() -> None:
    seen = run(items(6, 100 * NS), 2, how=runtime(producer="extra", on_full="next", capacity=2, costs={"push_ns": 10}))
    assert seen.result.per_worker["role"].tolist() == ["worker", "worker", "producer"]
    assert seen.result.row()["efficiency"] == seen["serial_ps"] / (2 * seen["makespan_ps"])


def test_an_extra_producer_is_no_worker() -> None:
    how = runtime(producer="extra", on_full="next", capacity=2, costs={"push_ns": 10})
    seen = run(items(6, 1000 * NS), how=how)
    assert seen.result.per_worker["role"].tolist() == ["worker", "worker", "producer"]
    assert seen.of_worker("overhead_ps") == [0, 0, 60 * NS]
    assert seen.of_worker("parked_ps") == [0, 0, 60 * NS]
    assert (seen["overhead_ps"], seen["parked_ps"]) == (0, 0)


def test_the_master_produces_into_its_own_queue_and_executes_what_does_not_fit() -> None:
    how = runtime(producer="master", on_full="inline", capacity=2, join="help", costs={"push_ns": 10})
    seen = run(items(6, 100 * NS), workers=1, how=how)
    assert seen.order() == [2, 3, 4, 5, 1, 0]
    assert seen["makespan_ps"] == (2 * 10 + 6 * 100) * NS
    assert seen["overhead_ps"] == 20 * NS


def test_the_master_works_when_it_has_produced_everything() -> None:
    how = runtime(producer="master", costs={"push_ns": 10, "pop_ns": 5})
    seen = run(items(3, 100 * NS), workers=1, how=how)
    assert seen.order() == [2, 1, 0]
    assert seen["makespan_ps"] == (3 * 10 + 3 * 105) * NS
