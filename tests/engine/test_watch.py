"""A watched run writes rows over time: activities, steals, queue lengths, loads. They are the same from every engine.

Rows of a worker leave no gaps, and rows add up to the result. The integral of a resource's load over time is the number
of bytes that were moved, up to rounding:

- The demand of a flow (a running segment) and the part that it gets are rounded down, each by less than a byte per
  second: at most two bytes are missing for each second of work.
- Each time that a flow's share or speed changes, its finished part is rounded down and the rest rounded up, and its end
  comes at a whole picosecond: the flow goes on for at most three picoseconds more than it has to, at its demand. The
  demand of a flow is the amount that it moves in its whole nominal time.

Overhead that a worker pays before a segment counts in the load, too; the runtime `bare` has no such overhead.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain, count, islice, pairwise
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from engine_setup import (
    NS,
    SEED,
    Rows,
    event_by_event,
    found,
    plan_of,
    runtime,
    seeded,
    shipped_machine,
    shipped_runtime,
    toy,
)
from equality import MOST_WATCHED_EVENTS
from hypothesis import event, given, settings
from hypothesis import strategies as st
from ragged_plans import each, ragged
from random_plans import coupled_plans, loaded, seeds
from random_recipes import random_run
from task_graphs import WAIT, Access, Run, graph, items, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.collect_result import link_bytes
from numasim.engine.observe.over_time import BINS, MOST_SHIFT, MOST_STEALS, STATES, Integrals, OverTime, Steps
from numasim.engine.observe.trace_hash import Rank
from numasim.engine.observe.watch import COLUMNS, NOBODY, STRETCHES, Watched
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import InputError
from numasim.parts.unit_factors import PS_PER_S
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.plan.resources import ResourceKind, resources_of
from numasim.workload.graph import Deal, Mode, Phase, Region
from numasim.workload.phases import steps
from numasim.workload.registry import generate, workload_spec
from numasim.workload.unfold import unfolded

TREE = graph(task(*[task(300 * NS, task(700 * NS), task(0), WAIT, 20 * NS) for _ in range(6)], WAIT, 50 * NS))
TWICE_SERIAL = (Phase(roots=(0,), serial=True, repeat=2), Phase(roots=(1,)))
SERIAL = graph(task(90 * NS), task(task(50 * NS), task(70 * NS), WAIT), phases=TWICE_SERIAL)
BLOCKING = graph(task(task(700 * NS), WAIT, 20 * NS))
FEW_RANDOM = 26  # number of random runs, all of which end soon
COMPONENTS = {
    Watched.WORK: ("work_local_ps", "inflation_numa_ps", "inflation_contention_ps", "inflation_smt_ps"),
    Watched.OVERHEAD: ("overhead_ps", "line_owner_ps", "line_thief_ps"),
    Watched.IDLE: ("idle_steal_ps", "idle_backoff_ps"),
    Watched.PARKED: ("parked_ps", "asleep_ps"),
    Watched.BARRIER: ("idle_barrier_ps",),
}
KNOWN = {
    "a tree under every cost": plan_of(TREE, 4, "topology-aware", shipped_runtime("ompi"), toy(2, 2)),
    "equal items and a producer": plan_of(items(300, 500 * NS), 4, "randomized", shipped_runtime("own"), toy(2, 2)),
    "items dealt": plan_of(items(90, 100 * NS, 900 * NS, deal=Deal.CYCLIC, repeat=2), 3),
    "a blocking join": plan_of(BLOCKING, 2, "randomized", runtime(join="block"), toy(2)),
    "a serial phase": plan_of(SERIAL, 3),
    "a shared queue": plan_of(TREE, 4, "breadth-first", shipped_runtime("ompi"), toy(2, 2)),
}
NAMES = (*KNOWN, *(f"random {n}" for n in range(FEW_RANDOM)))
each_run = pytest.mark.parametrize("name", NAMES)


@cache
def plans() -> dict[str, Plan]:
    random = islice(filter(ends_soon, (random_run(Random(n)).plan for n in count())), FEW_RANDOM)
    return dict(zip(NAMES, (*KNOWN.values(), *random), strict=True))


def ends_soon(plan: Plan) -> bool:
    """Tell whether a run ends after few events, and without aborts: a watch does not know that aborted
    work was wasted.
    """
    try:
        counters = simulate(event_by_event(plan), SEED).counters
    except DeadlockError:
        return False
    return counters["events"] < MOST_WATCHED_EVENTS and not counters["aborts"]


class Told(NamedTuple):
    """A watched run: the plan, the result, the tables over time, and the rows."""

    plan: Plan
    result: Result
    tables: OverTime
    rows: Rows


def heard(plan: Plan, seed: int = SEED) -> Told:
    """Watch ``plan`` on every engine; assert equal rows in equal order, and the result of a run without a watch."""
    of_engines = [watched(plan, seed, engine) for engine in ENGINES]
    for engine, told in zip(ENGINES, of_engines, strict=True):
        np.testing.assert_array_equal(told.rows, of_engines[0].rows)
        assert found(told.result) == found(simulate(plan, seed, engine))
    return of_engines[0]


def watched(plan: Plan, seed: int, engine: str) -> Told:
    tables, batches = OverTime(plan), list[Rows]()

    def tell(rows: Rows) -> None:
        tables(rows)
        batches.append(rows)

    result = simulate(plan, seed, engine, watch=tell)
    tables.close(result.counters["makespan_ps"])
    return Told(plan, result, tables, np.concatenate(batches))


@cache
def told_of(name: str) -> Told:
    return heard(plans()[name])


def of_kind(rows: Rows, kind: Watched) -> list[tuple[int, ...]]:
    """Return (actor, begin, end, first, second, third) of the rows of a kind, in order."""
    return [tuple(row) for row in rows[rows[:, 0] == kind][:, 1:].tolist()]


def stretches(rows: Rows) -> dict[int, list[tuple[int, int, int]]]:
    """Return (kind, begin, end) of each activity of each worker, in order."""
    by_worker: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for kind, worker, begin, end, *_ in rows[np.isin(rows[:, 0], STRETCHES)].tolist():
        by_worker[worker].append((kind, begin, end))
    return by_worker


@each_run
def test_the_stretches_of_a_worker_leave_no_gap(name: str) -> None:
    plan, result, _, rows = told_of(name)
    by_worker = stretches(rows)
    for worker in range(plan.workers.workers):
        mine = by_worker[worker]
        assert mine[0][1] == 0
        assert mine[-1][2] == result.counters["makespan_ps"]
        assert all(before[2] == after[1] for before, after in pairwise(mine))


def components_of(plan: Plan) -> dict[tuple[Watched, ...], tuple[str, ...]]:
    """Return the columns of the time split, by the kinds of rows that show this time. Waits for lines and wake-ups of
    other workers during a search are part of the idle row.
    """
    components = {(kind,): columns for kind, columns in COMPONENTS.items()}
    if plan.costs.line == "yes" or plan.idle:
        both = (Watched.OVERHEAD, Watched.IDLE)
        components[both] = tuple(name for kind in both for name in components.pop((kind,)))
    return components


@each_run
def test_stretches_add_up_to_the_time_split(name: str) -> None:
    plan, result, _, rows = told_of(name)
    for kinds, columns in components_of(plan).items():
        told: Counter[int] = Counter()
        for worker, begin, end, *_ in chain.from_iterable(of_kind(rows, kind) for kind in kinds):
            told[min(worker, plan.workers.workers)] += end - begin
        for worker, expected in counted(result, columns, plan.workers.workers):
            assert told[worker] == expected, (kinds, worker)
    probing: Counter[int] = Counter()
    for worker, *_, probing_ps in of_kind(rows, Watched.IDLE):
        probing[worker] += probing_ps
    expected = result.per_worker["idle_steal_ps"].tolist()
    assert [probing[worker] for worker in range(len(expected))] == expected


def counted(result: Result, columns: tuple[str, ...], workers: int) -> Iterator[tuple[int, int]]:
    """Return (worker, time) of a part of the time split; the producers of all phases count as one worker."""
    times = sum(result.per_worker[name] for name in columns)
    yield from enumerate(times[:workers].tolist())
    yield workers, int(times[workers:].sum())


@each_run
def test_steals_and_failures_are_those_that_were_counted(name: str) -> None:
    plan, result, _, rows = told_of(name)
    steals = of_kind(rows, Watched.STEAL)
    episodes = of_kind(rows, Watched.IDLE)
    assert len(steals) == result.counters["steal_success"]
    assert sum(row[5] for row in steals) == result.counters["tasks_stolen"]
    assert sum(row[3] for row in episodes) == result.counters["steal_false"]
    assert sum(row[4] for row in episodes) == result.counters["steal_false_remote"]
    own = {int(queue): worker for worker, queue in enumerate(plan.steal.own)}
    assert all(victim == own.get(queue, NOBODY) for _, _, _, queue, victim, _ in steals)


@each_run
def test_lengths_are_those_of_a_recount(name: str) -> None:
    """A queue's length changes by one task, or by the deal at the start of a phase; in the end all queues are empty."""
    rows = told_of(name).rows
    begins = {begin for _, begin, *_ in of_kind(rows, Watched.PHASE)}
    length: Counter[int] = Counter()
    for queue, time, _, tasks, *_ in of_kind(rows, Watched.LENGTH):
        assert abs(tasks - length[queue]) == 1 or time in begins
        assert tasks >= 0
        length[queue] = tasks
    assert not any(length.values())


def test_lengths_recounted_from_the_trace() -> None:
    """Each put makes a queue longer, and each take makes the queue shorter."""
    plan = event_by_event(plan_of(TREE, 3, "randomized", runtime(costs={"push_ns": 10}), toy(3)))
    records: list[Any] = []
    simulate(plan, SEED, "reference", listener=lambda batch: records.extend(batch.tolist()))
    rows = heard(plan).rows
    for queue in range(3):
        puts = sorted(record[0] for record in records if record[1] == Rank.PUT and record[4] == queue)
        steals = [row[1] for row in of_kind(rows, Watched.STEAL) if row[3] == queue]
        lengths = [(0, 0), *((row[1], row[3]) for row in of_kind(rows, Watched.LENGTH) if row[0] == queue)]
        rises = [time for (_, before), (time, after) in pairwise(lengths) if after > before]
        falls = [time for (_, before), (time, after) in pairwise(lengths) if after < before]
        assert rises == puts
        assert len(falls) == len(puts)
        assert not Counter(steals) - Counter(falls)


@each_run
def test_phases_follow_one_another(name: str) -> None:
    plan, result, _, rows = told_of(name)
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


# ---- tables over time ----------------------------------------------------------------------------------------------


@each_run
def test_states_fill_every_bin_and_add_up_to_the_time_split(name: str) -> None:
    plan, result, tables, _ = told_of(name)
    workers = plan.workers.workers
    stretches = tables.stretches_ps
    assert (stretches[:workers].sum(axis=1) == np.diff(tables.edges_ps)).all()
    frame = tables.workers_frame().groupby("worker").sum()
    for kinds, columns in components_of(plan).items():
        expected = sum(result.per_worker[column][:workers] for column in columns)
        assert sum(frame[STATES[kind]] for kind in kinds).tolist() == expected.tolist()
    assert set(COMPONENTS) == set(STATES)


@each_run
def test_steals_are_counted_by_distance(name: str) -> None:
    _, result, tables, rows = told_of(name)
    far = result.counters["steal_success_remote"]
    assert tables.steals_made.sum(axis=1).tolist() == [result.counters["steal_success"] - far, far]
    assert tables.steals.tolist() == rows[rows[:, 0] == Watched.STEAL][:MOST_STEALS].tolist()
    assert tables.steals_frame()[["near", "far"]].to_numpy().T.tolist() == tables.steals_made.tolist()


def test_a_run_of_hours_is_refused() -> None:
    row = [int(Watched.WORK), 0, 0, 2**53] + [0] * (COLUMNS - 4)
    with pytest.raises(InputError, match="too long for tables over time"):
        OverTime(plan_of(TREE))(np.array([row]))


# ---- integrals in bins are those that whole-number arithmetic gives -------------------------------------------------

SUBJECTS = 3
Stretch = tuple[int, int, int, int]  # subject, begin, length, weight

subjects = st.integers(0, SUBJECTS - 1)
one_stretch = st.tuples(subjects, st.integers(0, 9000), st.integers(1, 9000), st.integers(0, 5))
some_stretches = st.lists(one_stretch, max_size=30)
changes = st.lists(st.tuples(subjects, st.integers(0, 900), st.integers(0, 2**38)), min_size=1, max_size=30)


def overlap(begin: int, end: int, at: int, width: int) -> int:
    return max(0, min(end, (at + 1) * width) - max(begin, at * width))


def column(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


def widened(end: int, *parts: Integrals | Steps, shift: int = 0) -> int:
    while end > BINS << shift:
        for part in parts:
            part.widen(shift)
        shift += 1
    return shift


@settings(max_examples=80)
@given(some_stretches)
def test_integrals_are_those_of_every_stretch_cut_by_hand(given: list[Stretch]) -> None:
    integrals, shift = Integrals(SUBJECTS), 0
    for subject, begin, length, weight in given:
        shift = widened(begin + length, integrals, shift=shift)
        integrals.add(shift, *(column([each]) for each in (subject, begin, begin + length, weight)))
    expected = np.zeros((SUBJECTS, BINS), np.int64)
    for subject, begin, length, weight in given:
        for at in range(begin >> shift, min(BINS, ((begin + length) >> shift) + 1)):
            expected[subject, at] += weight * overlap(begin, begin + length, at, 1 << shift)
    np.testing.assert_array_equal(integrals.values(shift), expected)


@settings(max_examples=80)
@given(changes, st.integers(1, 7))
def test_steps_hold_until_the_next_one(given: list[tuple[int, int, int]], batch: int) -> None:
    """Values come with pauses between them, in batches of any size, and the last values hold to the end."""
    steps, shift = Steps(SUBJECTS), 0
    now, told = 0, []
    for subject, pause, value in given:
        now += pause
        told.append((subject, now, value))
    end = now + 1
    for at in range(0, len(told), batch):
        rows = np.array(told[at : at + batch], np.int64)
        shift = widened(int(rows[:, 1].max()), steps, shift=shift)
        steps.set(shift, rows[:, 0], rows[:, 1], rows[:, 2])
    shift = widened(end, steps, shift=shift)
    steps.close(shift, end)
    expected = [[0] * BINS for _ in range(SUBJECTS)]
    for subject in range(SUBJECTS):
        mine = [(time, value) for who, time, value in told if who == subject] + [(end, 0)]
        for (begin, value), (stop, _) in pairwise(mine):
            for at in range(begin >> shift, min(BINS, (stop >> shift) + 1)):
                expected[subject][at] += value * overlap(begin, stop, at, 1 << shift)
    assert steps.values(shift).tolist() == expected


def test_large_loads_over_long_times_do_not_overflow() -> None:
    """A terabyte a second for an hour."""
    steps, rate = Steps(1), 2**40 - 1
    for shift in range(MOST_SHIFT):
        steps.widen(shift)
    end = BINS << MOST_SHIFT
    steps.set(MOST_SHIFT, column([0]), column([0]), column([rate]))
    steps.close(MOST_SHIFT, end)
    assert steps.values(MOST_SHIFT).tolist() == [[rate << MOST_SHIFT] * BINS]


# ---- loads of resources ------------------------------------------------------------------------------------------

LEAST_PS = 2_000 * NS  # the least compute time of a segment, which takes half of this time at the highest speed
PS_PER_CHANGE = 3
BYTES = 1 << 16
FLUID = Effects(contention="fluid")


def loading_plans() -> dict[str, Plan]:
    """Return plans of segments and equal items that read, write and update memory, alone and at the same time."""
    accesses = [Access(n % 2, n * BYTES, BYTES, mode=list(Mode)[n % 3]) for n in range(24)]
    regions = (Region("read by worker 0 before", 24 * BYTES, True), Region("fresh", 24 * BYTES, False))
    tree = graph(task(*[task(Run(LEAST_PS + n * 90 * NS, (a,))) for n, a in enumerate(accesses)]), regions=regions)
    like = items(
        40,
        LEAST_PS,
        deal=Deal.CYCLIC,
        accesses=(Access(0, 0, BYTES, mode=Mode.READ_WRITE),),
        steps=((1, 0, 0),),
        regions=regions,
    )
    narrow, square = loaded(3, 2, 2, "socket", 8), shipped_machine("opteron-8380-4s")
    everything = Effects(
        cache="lru", contention="fluid", local_share_ppm=300_000, smt="memory", clock="turbo", overlap_ppm=0
    )
    return {
        "segments": plan_of(tree, 6, machine=narrow, effects=FLUID),
        "segments under everything": plan_of(tree, 12, machine=narrow, effects=everything),
        "shares that are kept": plan_of(tree, 12, machine=narrow, effects=replace(FLUID, contention="snapshot")),
        "several links on a route": plan_of(tree, 16, "randomized", machine=square, effects=FLUID),
        "equal items": plan_of(like, 6, machine=narrow, effects=FLUID),
    }


LOADING = loading_plans()


def loads(told: Told) -> dict[int, list[tuple[int, int, int]]]:
    """Return by resource (begin, end, bytes or ps per second) of its rows."""
    found: dict[int, list[tuple[int, int]]] = {}
    for _, resource, time_ps, _, used, *_ in told.rows[told.rows[:, 0] == Watched.LOAD].tolist():
        found.setdefault(resource, []).append((time_ps, used))
    end = (told.result.counters["makespan_ps"], 0)
    return {r: [(a, b, used) for (a, used), (b, _) in pairwise([*of, end])] for r, of in found.items()}


def integrals(told: Told) -> list[int]:
    """Return [resources] the integral of each load over time, in bytes per second times picoseconds."""
    used = loads(told)
    return [sum((b - a) * used for a, b, used in used.get(r, [])) for r in range(len(resources_of(told.plan).listed))]


@pytest.mark.parametrize("name", LOADING)
def test_the_integral_of_a_load_is_what_was_moved(name: str) -> None:
    told = heard(LOADING[name])
    plan, result, tables, rows = told
    found = integrals(told)
    work_ps = int(sum(row[3] - row[2] for row in rows[rows[:, 0] == Watched.WORK].tolist()))
    changes = len(np.unique(rows[np.isin(rows[:, 0], (Watched.LOAD, Watched.WORK))][:, 2]))
    served = result.node_bytes.sum(axis=0)
    amounts = {
        ResourceKind.CONTROLLER: iter(served.tolist()),
        ResourceKind.REMOTE: iter((served - np.diag(result.node_bytes)).tolist()),
        ResourceKind.LINK: iter(link_bytes(plan.machine, result).tolist()),
    }
    assert link_bytes(plan.machine, result).sum() > 0
    listed = resources_of(plan).listed
    for resource, integral in zip(listed, found, strict=True):
        if resource.kind in amounts:
            amount = next(amounts[resource.kind]) * PS_PER_S
            more = PS_PER_CHANGE * changes * amount // (LEAST_PS // 2)
            assert -2 * work_ps <= integral - amount <= more, resource.name
    frame = tables.resource_load_frame()
    area = ((frame["end_ps"] - frame["begin_ps"]) * frame["used"]).groupby(frame["resource"]).sum()
    assert area.tolist() == pytest.approx(found, rel=1e-9)
    assert list(frame[["name", "unit", "capacity"]].drop_duplicates().itertuples(index=False, name=None)) == [
        (resource.name, "bytes/s", resource.capacity) for resource in listed
    ]
    assert (frame["share"] * frame["capacity"]).tolist() == pytest.approx(frame["used"].tolist())


@settings(max_examples=30)
@given(plan=coupled_plans(pages=True, contention="fluid"), seed=seeds)
def test_no_load_is_above_capacity_and_each_differs_from_the_one_before(plan: Plan, seed: int) -> None:
    """The used bandwidth of each flow is rounded down, so that the sum is never above the capacity."""
    listed, busiest = resources_of(plan).listed, 0
    for resource, told in loads(heard(plan, seed)).items():
        used = [0, *(value for _, _, value in told)]
        assert 0 < max(used) <= listed[resource].capacity
        assert all(before != after for before, after in pairwise(used))
        busiest = max(busiest, 100 * max(used) // listed[resource].capacity)
    event("a resource is full" if busiest >= 99 else "room is left")


def test_a_run_that_is_not_coupled_tells_of_no_loads() -> None:
    plan = plan_of(graph(task(task(50 * NS))))
    assert not plan.coupled
    assert len(heard(plan).tables.resource_load_frame()) == 0


def test_the_lock_of_the_address_space_is_loaded_while_memory_is_given_back() -> None:
    work = ragged(2, 100 * NS, freed=each(3 * 4096, 3 * 4096), deal=Deal.CYCLIC)
    plan = plan_of(work, 2, how=runtime(costs={"unmap_ns": 100}), effects=FLUID)
    frame = heard(plan).tables.resource_load_frame()
    lock = frame[frame["name"] == "address space"]
    assert lock["share"].tolist() == pytest.approx([1.0] * len(lock))  # both items demand 3/4 of the lock
