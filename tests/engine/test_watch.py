"""What a watch hears is the whole run: without gaps, adding up to the result, and the same from every engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import count, islice, pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_setup import (
    NS,
    SEED,
    Rows,
    event_by_event,
    found,
    plan_of,
    run_watched,
    runtime,
    seeded,
    shipped_runtime,
    toy,
)
from equality import MOST_WATCHED_EVENTS, OTHERS, watched
from random_recipes import random_run
from task_graphs import WAIT, graph, items, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.observe.trace_hash import Rank
from numasim.engine.observe.watch import COLUMNS, NOBODY, STRETCHES, Watch, Watched
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES, simulate
from numasim.plan.plan import Plan
from numasim.workload.generate import generate
from numasim.workload.graph import Deal, Phase
from numasim.workload.phases import steps
from numasim.workload.registry import workload_spec
from numasim.workload.unfold import unfolded

TREE = graph(task(*[task(300 * NS, task(700 * NS), task(0), WAIT, 20 * NS) for _ in range(6)], WAIT, 50 * NS))
SERIAL = graph(
    task(90 * NS),
    task(task(50 * NS), task(70 * NS), WAIT),
    phases=(Phase(roots=(0,), serial=True, repeat=2), Phase(roots=(1,))),
)
FEW_RANDOM = 26  # that end soon
COMPONENTS = {
    Watched.WORK: ("work_local_ps", "inflation_numa_ps", "inflation_contention_ps", "inflation_smt_ps"),
    Watched.OVERHEAD: ("overhead_ps",),
    Watched.IDLE: ("idle_steal_ps", "idle_backoff_ps"),
    Watched.PARKED: ("parked_ps",),
    Watched.BARRIER: ("idle_barrier_ps",),
}


KNOWN = (
    "a tree under every cost",
    "like items and a producer",
    "items dealt",
    "a blocking join",
    "a serial phase",
    "a shared queue",
)
NAMES = (*KNOWN, *(f"random {n}" for n in range(FEW_RANDOM)))
each_run = pytest.mark.parametrize(("engine", "name"), [(engine, name) for engine in ENGINES for name in NAMES])


@cache
def plans() -> dict[str, Plan]:
    own, ompi = shipped_runtime("own"), shipped_runtime("ompi")
    known = (
        plan_of(TREE, 4, "topology-aware", ompi, toy(2, 2)),
        plan_of(items(300, 500 * NS), 4, "randomized", own, toy(2, 2)),
        plan_of(items(90, 100 * NS, 900 * NS, deal=Deal.CYCLIC, repeat=2), 3),
        plan_of(graph(task(task(700 * NS), WAIT, 20 * NS)), 2, "randomized", runtime(join="block"), toy(2)),
        plan_of(SERIAL, 3),
        plan_of(TREE, 4, "breadth-first", ompi, toy(2, 2)),
    )
    random = filter(ends_soon, (random_run(Random(n)).plan for n in count()))
    return dict(zip(NAMES, (*known, *islice(random, FEW_RANDOM)), strict=True))


def ends_soon(plan: Plan) -> bool:
    """Whether a run ends after few events, and no attempt aborts, of which a watch does not know that it was wasted."""
    try:
        counters = simulate(event_by_event(plan), SEED).counters
    except DeadlockError:
        return False
    return counters["events"] < MOST_WATCHED_EVENTS and not counters["aborts"]


def of_kind(rows: Rows, kind: Watched) -> list[tuple[int, ...]]:
    """(actor, begin, end, first, second, third) of the rows of a kind, in order."""
    return [tuple(row) for row in rows[rows[:, 0] == kind][:, 1:].tolist()]


def stretches(rows: Rows) -> dict[int, list[tuple[int, int, int]]]:
    """(kind, begin, end) of what each worker did, in order."""
    by_worker: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for kind, worker, begin, end, *_ in rows[np.isin(rows[:, 0], STRETCHES)].tolist():
        by_worker[worker].append((kind, begin, end))
    return by_worker


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("other", OTHERS)
def test_engines_tell_the_same_in_the_same_order(name: str, other: str) -> None:
    run = seeded(event_by_event(plans()[name]))
    expected = watched(run, "reference")
    assert len(expected)
    np.testing.assert_array_equal(watched(run, other), expected)


@each_run
def test_watching_changes_nothing(engine: str, name: str) -> None:
    plan = plans()[name]
    assert found(run_watched(plan, engine)[0]) == found(simulate(plan, SEED, engine))


@each_run
def test_the_stretches_of_a_worker_leave_no_gap(engine: str, name: str) -> None:
    plan = plans()[name]
    result, rows = run_watched(plan, engine)
    by_worker = stretches(rows)
    for worker in range(plan.workers.workers):
        mine = by_worker[worker]
        assert mine[0][1] == 0
        assert mine[-1][2] == result.counters["makespan_ps"]
        assert all(before[2] == after[1] for before, after in pairwise(mine))


@each_run
def test_stretches_add_up_to_the_time_split(engine: str, name: str) -> None:
    result, rows = run_watched(plans()[name], engine)
    for kind, columns in COMPONENTS.items():
        told: Counter[int] = Counter()
        for worker, begin, end, *_ in of_kind(rows, kind):
            told[min(worker, plans()[name].workers.workers)] += end - begin
        for worker, expected in counted(result, columns, plans()[name].workers.workers):
            assert told[worker] == expected, (kind, worker)
    probing: Counter[int] = Counter()
    for worker, *_, probing_ps in of_kind(rows, Watched.IDLE):
        probing[worker] += probing_ps
    expected = result.per_worker["idle_steal_ps"].tolist()
    assert [probing[worker] for worker in range(len(expected))] == expected


def counted(result: Result, columns: tuple[str, ...], workers: int) -> Iterator[tuple[int, int]]:
    """(worker, time) of a part of the time split; the producers of all phases are one."""
    times = sum(result.per_worker[name] for name in columns)
    yield from enumerate(times[:workers].tolist())
    yield workers, int(times[workers:].sum())


@each_run
def test_steals_and_failures_are_those_that_were_counted(engine: str, name: str) -> None:
    plan = plans()[name]
    result, rows = run_watched(plan, engine)
    steals = of_kind(rows, Watched.STEAL)
    episodes = of_kind(rows, Watched.IDLE)
    assert len(steals) == result.counters["steal_success"]
    assert sum(row[5] for row in steals) == result.counters["tasks_stolen"]
    assert sum(row[3] for row in episodes) == result.counters["steal_false"]
    assert sum(row[4] for row in episodes) == result.counters["steal_false_remote"]
    own = {int(queue): worker for worker, queue in enumerate(plan.steal.own)}
    assert all(victim == own.get(queue, NOBODY) for _, _, _, queue, victim, _ in steals)


@each_run
def test_lengths_are_those_of_a_recount(engine: str, name: str) -> None:
    """A length differs from the one before by one task, or by what was dealt at the start of a phase; none is left."""
    _, rows = run_watched(plans()[name], engine)
    begins = {begin for _, begin, *_ in of_kind(rows, Watched.PHASE)}
    length: Counter[int] = Counter()
    for queue, time, _, tasks, *_ in of_kind(rows, Watched.LENGTH):
        assert abs(tasks - length[queue]) == 1 or time in begins
        assert tasks >= 0
        length[queue] = tasks
    assert not any(length.values())


@pytest.mark.parametrize("engine", ENGINES)
def test_lengths_recounted_from_the_trace(engine: str) -> None:
    """Every task that is put makes its queue longer when it is put, and shorter when somebody takes it."""
    plan = event_by_event(plan_of(TREE, 3, "randomized", runtime(costs={"push_ns": 10}), toy(3)))
    records: list[Any] = []
    rows: list[Rows] = []
    ENGINES[engine](seeded(plan), False, lambda batch: records.extend(batch.tolist()), rows.append)
    told = np.concatenate(rows)
    for queue in range(3):
        puts = sorted(record[0] for record in records if record[1] == Rank.PUT and record[4] == queue)
        steals = [row[1] for row in of_kind(told, Watched.STEAL) if row[3] == queue]
        lengths = [(0, 0), *((row[1], row[3]) for row in of_kind(told, Watched.LENGTH) if row[0] == queue)]
        rises = [time for (_, before), (time, after) in pairwise(lengths) if after > before]
        falls = [time for (_, before), (time, after) in pairwise(lengths) if after < before]
        assert rises == puts
        assert len(falls) == len(puts)
        assert not Counter(steals) - Counter(falls)


@each_run
def test_phases_follow_one_another(engine: str, name: str) -> None:
    plan = plans()[name]
    result, rows = run_watched(plan, engine)
    phases = of_kind(rows, Watched.PHASE)
    assert [phase[0] for phase in phases] == list(range(len([*steps(plan.workload.phases, plan.workload.loops)])))
    assert (phases[0][1], phases[-1][2]) == (0, result.counters["makespan_ps"])
    assert all(before[2] == after[1] for before, after in pairwise(phases))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("folded", [False, True])
def test_work_is_what_the_log_has_and_knows_its_kernel(engine: str, folded: bool) -> None:
    strassen = generate(workload_spec("strassen", n=256), folded=folded)
    plan = event_by_event(plan_of(strassen, 3, "randomized", "ompi", toy(3)))
    rows: list[Rows] = []
    _, log = ENGINES[engine](seeded(plan), True, None, rows.append)
    assert log is not None
    work = of_kind(np.concatenate(rows), Watched.WORK)
    assert sorted((task, segment, worker, begin, end) for worker, begin, end, task, segment, _ in work) == sorted(log)
    kernels = unfolded(plan.workload).segment_kernel
    assert len(set(kernels.tolist())) > 1
    assert all(kernel == kernels[segment] for *_, segment, kernel in work)


def test_rows_come_in_batches_of_bounded_size() -> None:
    plan = plan_of(items(40_000, 10 * NS, deal=Deal.CYCLIC), 2)
    for engine in ENGINES:
        batches: list[int] = []
        simulate(plan, SEED, engine, watch=lambda batch, sizes=batches: sizes.append(batch.shape))
        assert len(batches) > 1
        assert max(rows for rows, _ in batches) <= 65_536
        assert {columns for _, columns in batches} == {COLUMNS}


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_watcher_raises_comes_out(engine: str) -> None:
    def refuse(_: Rows) -> None:
        raise LookupError("seen enough")

    with pytest.raises(LookupError, match="seen enough"):
        simulate(plan_of(TREE), SEED, engine, watch=refuse)


def test_loads_are_told_with_their_resource() -> None:
    batches: list[Rows] = []
    seen = Watch(batches.append)
    seen.load(70, 3, 10**10)
    seen.flush()
    assert of_kind(batches[0], Watched.LOAD) == [(3, 70, 70, 10**10, 0, 0)]
