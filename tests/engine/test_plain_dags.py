"""Roots: which of them wait, which can be stolen, who makes the others available (model 3.1 and 3.6)."""

from __future__ import annotations

from itertools import product

import pytest
from engine_setup import NS, assert_agree, observe, plan_of, run, runtime, stealing, toy
from plain_dags import Dag, dags
from task_graphs import body, call, graph, phase, task

from numasim.engine.simulate import ENGINES
from numasim.errors import InputError
from numasim.workload.graph import Deal, Workload
from numasim.workload.graph_rules import validate

DAGS = dags(200)
CHAIN = graph(task(5000 * NS, name="first"), task(1000 * NS, after=("first",)))
FORK = graph(task(1000 * NS, name="a"), task(1000 * NS, after=("a",)), task(1000 * NS, after=("a",)))
THREE = graph(*[task(1000 * NS) for _ in range(3)])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_root_waits_for_its_predecessors(engine: str, workers: int) -> None:
    seen = run(CHAIN, workers, engine=engine)
    assert seen.stretches == ((0, 0, 0, 5000 * NS), (0, 1, 5000 * NS, 6000 * NS))
    assert (seen["makespan_ps"], seen["span_ps"], seen["work_ps"]) == (6000 * NS,) * 3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_begins_its_first_root_and_others_steal_the_rest(engine: str) -> None:
    # worker 1 looks at 100 ns; worker 0 goes on with the last root, which is at its own end of the queue
    seen = run(THREE, engine=engine)
    assert seen.stretches == ((0, 0, 0, 1000 * NS), (0, 2, 1000 * NS, 2000 * NS), (1, 1, 100 * NS, 1100 * NS))
    assert seen.steals == ((100 * NS, 1, 0, 1),)


@pytest.mark.parametrize("engine", ENGINES)
def test_nobody_steals_implicit_bodies_nor_the_roots_of_a_serial_phase(engine: str) -> None:
    serial = graph(task(1000 * NS), task(1000 * NS), phases=(phase(0, 1, serial=True),))
    for work in (graph(body(1000 * NS), body(1000 * NS)), serial):
        seen = run(work, engine=engine)
        assert seen.stretches == ((0, 0, 0, 1000 * NS), (0, 1, 1000 * NS, 2000 * NS))
        assert seen["steal_success"] == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_root_for_which_no_queue_has_room_stays_with_its_worker(engine: str) -> None:
    # root 1 fills the queue; root 2 is begun before it, and worker 1 steals root 1
    seen = run(THREE, how=runtime(capacity=1, on_full="block", s_rule="avail"), engine=engine)
    assert seen.order(0) == [0, 2]
    assert seen.order(1) == [1]


@pytest.mark.parametrize("engine", ENGINES)
def test_only_roots_that_wait_for_nobody_are_dealt(engine: str) -> None:
    roots = (task(1000 * NS, name="a"), task(1000 * NS, after=("a",)), task(1000 * NS))
    seen = run(graph(*roots, phases=(phase(0, 1, 2, deal=Deal.CYCLIC),)), engine=engine)
    assert seen.stretches == ((0, 0, 0, 1000 * NS), (0, 1, 1000 * NS, 2000 * NS), (1, 2, 0, 1000 * NS))


@pytest.mark.parametrize("engine", ENGINES)
def test_whoever_finishes_the_last_predecessor_puts_a_task_into_its_queue(engine: str) -> None:
    # at 1000 ns worker 1 looks into the queue into which worker 0 has put both, and takes the one at the front
    seen = run(FORK, engine=engine)
    assert seen.stretches == ((0, 0, 0, 1000 * NS), (0, 2, 1000 * NS, 2000 * NS), (1, 1, 1000 * NS, 2000 * NS))


@pytest.mark.parametrize("engine", ENGINES)
def test_it_begins_the_first_itself_where_the_runtime_says_so(engine: str) -> None:
    """The rule of Arora, Blumofe and Plaxton (1998)."""
    seen = run(FORK, how=runtime(release="begin"), engine=engine)
    assert seen.stretches == ((0, 0, 0, 1000 * NS), (0, 1, 1000 * NS, 2000 * NS), (1, 2, 1000 * NS, 2000 * NS))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_task_that_is_begun_at_once_is_neither_pushed_nor_popped(engine: str) -> None:
    costs = {"push_ns": 7, "pop_ns": 10}
    queued, begun = (
        run(CHAIN, 1, how=runtime(costs=costs, release=rule), engine=engine) for rule in ("queue", "begin")
    )
    assert (queued["makespan_ps"], begun["makespan_ps"]) == (6017 * NS, 6000 * NS)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_phase_of_a_dag_is_repeated_with_all_its_dependences(engine: str) -> None:
    roots = (task(100 * NS, name="a"), task(10 * NS, after=("a",)), task(1 * NS, after=("a",)))
    seen = run(graph(*roots, phases=(phase(0, 1, 2, repeat=3),)), 1, engine=engine)
    assert (seen["makespan_ps"], seen["tasks"], seen["span_ps"]) == (3 * 111 * NS, 9, 3 * 110 * NS)


@pytest.mark.parametrize(
    ("work", "what"),
    [
        (graph(task(1, name="a"), task(call(1))), "a call"),
        (graph(task(1, name="a"), body(1)), "an implicit body"),
    ],
)
def test_calls_and_bodies_wait_for_nobody(work: Workload, what: str) -> None:
    work.successor_ptr[1:] = 1
    object.__setattr__(work, "successor", work.successor.__class__((1,), work.successor.dtype))
    work.successor[0] = work.rows - 1
    with pytest.raises(InputError, match=f"task {work.rows - 1} is {what}, which waits for no other task"):
        validate(work)


# ---- programs as users write them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [range(first, 200, 8) for first in range(8)])
def test_engines_agree_on_plain_dags_and_no_run_beats_its_bounds(numbers: range) -> None:
    for number, release in product(numbers, ("queue", "begin")):
        dag = DAGS[number]
        plan = plan_of(dag.workload(), 12, "randomized", runtime(release=release), toy(2, 6))
        one, *others = (observe(plan, engine) for engine in ENGINES)
        for other in others:
            assert_agree(other, one)
        assert one["span_ps"] == dag.longest_ps()
        assert one["work_ps"] == dag.work_ps
        assert one["makespan_ps"] >= max(dag.longest_ps(), -(-dag.work_ps // 12))


def test_parallel_dags_are_worked_on_in_parallel() -> None:
    parallel = [dag for dag in DAGS if dag.parallelism >= 24]
    assert len(parallel) >= 10
    for dag in parallel:
        seen = run(dag.workload(), 12, "randomized", machine=toy(2, 6))
        assert seen["serial_ps"] >= 8 * seen["makespan_ps"]
        assert seen["steal_success"] > 0


STEP_PS = NS
ORACLE = stealing(
    {"from": "own", "queue": "ready"},
    queues={"ready": {"per": "machine", "own": "fifo"}},
    dispatch=[{"to": "own", "queue": "ready"}],
)


@pytest.mark.parametrize("workers", [2, 12])
def test_greedy_bound_of_plain_dags(workers: int) -> None:
    """P T <= T1' + (P - 1) Tinf' (model 8, item 2), with one look of a nanosecond in front of every task."""
    how = runtime(costs={"probe_ns": 1, "probe_remote_ns": 1})
    for dag in DAGS[:40]:
        seen = run(dag.workload(), workers, ORACLE, how, toy(1, 12))
        work_ps = dag.work_ps + STEP_PS * len(dag.times_ps)
        assert workers * seen["makespan_ps"] <= work_ps + (workers - 1) * dag.longest_ps(STEP_PS)


def test_the_longest_path_of_a_diamond() -> None:
    assert Dag([1, 2, 3, 4], [[1, 2], [3], [3], []]).longest_ps() == 1 + 3 + 4
