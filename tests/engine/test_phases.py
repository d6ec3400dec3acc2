"""Phases, repeats and serial sections (model 3.6)."""

from __future__ import annotations

import pytest
from engine_setup import NS, run, runtime, stealing
from task_graphs import WAIT, body, graph, items, phase, task

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.simulate import ENGINES
from numasim.workload.graph import Deal


def test_a_phase_starts_when_the_one_before_has_ended() -> None:
    works = graph(task(100 * NS), task(300 * NS), phases=(phase(0), phase(1)))
    seen = run(works)
    assert seen.stretches == ((0, 0, 0, 100 * NS), (0, 1, 100 * NS, 400 * NS))
    assert seen.of_rank(Rank.RELEASE) == ((100 * NS, 0, 0, 0), (400 * NS, 0, 1, 0))
    assert seen["span_ps"] == 400 * NS


def test_the_roots_of_a_phase_run_at_once_and_its_span_is_the_longest() -> None:
    works = graph(task(100 * NS), task(300 * NS), phases=(phase(0, 1, deal=Deal.CYCLIC),))
    seen = run(works)
    assert seen.stretches == ((0, 0, 0, 100 * NS), (1, 1, 0, 300 * NS))
    assert (seen["makespan_ps"], seen["span_ps"], seen["work_ps"]) == (300 * NS, 300 * NS, 400 * NS)


def test_a_phase_is_repeated_from_its_beginning() -> None:
    works = graph(task(10 * NS, task(100 * NS), WAIT, 20 * NS), phases=(phase(0, repeat=4),))
    seen = run(works, workers=1)
    assert seen.order() == [0, 1, 0] * 4
    assert (seen["makespan_ps"], seen["tasks"]) == (4 * 130 * NS, 8)


def test_in_a_serial_phase_the_others_wait_at_the_barrier() -> None:
    works = graph(task(500 * NS), task(300 * NS), phases=(phase(0, serial=True), phase(1)))
    seen = run(works)
    assert seen.of_worker("idle_barrier_ps") == [0, 500 * NS]
    assert seen.of_worker("steal_attempts") == [0, 3]  # in the second phase alone
    assert seen.of_worker("idle_steal_ps") == [0, 300 * NS]


def test_a_probe_that_is_under_way_at_the_end_of_a_phase_is_dropped() -> None:
    # worker 1 looks at 100 ns; its second probe would look at 200 ns; the second phase starts a new one at 150 ns
    works = graph(task(150 * NS), task(150 * NS), phases=(phase(0), phase(1)))
    seen = run(works)
    assert seen.of_worker("steal_attempts") == [0, 2]
    assert seen.of_worker("idle_steal_ps") == [0, 300 * NS]


def test_back_off_starts_anew_in_every_phase() -> None:
    # in either phase looks at 100, 250 ns, after waits of 50, 100 ns
    works = graph(task(300 * NS), task(300 * NS), phases=(phase(0), phase(1)))
    seen = run(works, how=runtime(backoff={"first_ns": 50}))
    assert seen.of_worker("steal_attempts") == [0, 4]
    assert seen.of_worker("idle_backoff_ps") == [0, 2 * 100 * NS]


def test_thieves_keep_working_after_the_root_has_ended() -> None:
    # nobody waits for the child; the phase ends with it
    seen = run(graph(task(task(1000 * NS), 150 * NS)))
    assert seen.stretches == ((0, 0, 0, 150 * NS), (1, 1, 100 * NS, 1100 * NS))
    assert seen["makespan_ps"] == 1100 * NS


def test_repeated_ranges_are_dealt_anew() -> None:
    seen = run(items(4, 100 * NS, deal=Deal.CYCLIC, repeat=2), how=runtime(costs={"probe_ns": 1000}))
    assert seen.order(0) == [0, 2, 0, 2]
    assert seen.order(1) == [1, 3, 1, 3]
    assert seen["makespan_ps"] == 400 * NS


def test_an_empty_program_takes_no_time() -> None:
    seen = run(graph(task()))
    assert (seen["makespan_ps"], seen["tasks"], seen["steal_attempts"]) == (0, 1, 0)


# while all queues are empty, none is probed
SEEKS_LENGTH = stealing({"from": "others", "pick": "random", "if": {"length": 1}})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_that_seeks_before_others_have_begun_passes_over_nothing_that_they_bring(engine: str) -> None:
    spawner = body(*[task(1000 * NS) for _ in range(3)], WAIT)
    work = graph(body(10_000 * NS), body(), spawner, phases=(phase(0, 1, 2, deal=Deal.CYCLIC),))
    seen = run(work, 3, SEEKS_LENGTH, runtime(poll_ns=50), engine=engine)  # as event by event
    assert seen.of_worker("tasks") == [0, 1, 2]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_that_seeks_before_others_have_begun_sees_no_deadlock(engine: str) -> None:
    work = graph(body(), body(1000 * NS), phases=(phase(0, 1, deal=Deal.CYCLIC),))
    assert run(work, 2, SEEKS_LENGTH, runtime(poll_ns=50), engine=engine)["makespan_ps"] == 1000 * NS
