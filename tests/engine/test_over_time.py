"""Tables over time add up to the result of the run, and their means are those of a recount."""

from __future__ import annotations

from itertools import count, pairwise
from random import Random

import numpy as np
import pytest
from engine_setup import NS, SEED, event_by_event, plan_of, shipped_runtime, toy
from equality import Rows
from hypothesis import given, settings
from hypothesis import strategies as st
from random_recipes import random_run
from task_graphs import WAIT, graph, items, task

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.observe.over_time import BINS, MOST_SHIFT, MOST_STEALS, STATES, Counts, Integrals, OverTime, Steps
from numasim.engine.observe.watch import COLUMNS, Watched
from numasim.engine.result import Result
from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import InputError
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan

TREE = graph(task(*[task(300 * NS, task(700 * NS), task(0), WAIT, 20 * NS) for _ in range(6)], WAIT, 50 * NS))


def random_plan() -> Plan:
    """The first of the random plans that ends, without aborts, of which a watch does not know that they were wasted."""
    for number in count(5):
        plan = random_run(Random(number)).plan
        try:
            if not simulate(plan, SEED).counters["aborts"]:
                return plan
        except DeadlockError:
            continue
    raise AssertionError


PLANS = {
    "a tree": plan_of(TREE, 4, "topology-aware", "ompi", toy(2, 2)),
    "a producer": plan_of(items(400, 500 * NS), 4, "randomized", shipped_runtime("own"), toy(2, 2)),
    "a shared queue": plan_of(TREE, 4, "breadth-first", "ompi", toy(2, 2)),
    "random": random_plan(),
}
TIMES = {
    "work_ps": ("work_local_ps", "inflation_numa_ps", "inflation_contention_ps", "inflation_smt_ps"),
    "overhead_ps": ("overhead_ps",),
    "idle_ps": ("idle_steal_ps", "idle_backoff_ps"),
    "parked_ps": ("parked_ps",),
    "idle_barrier_ps": ("idle_barrier_ps",),
}
each_run = pytest.mark.parametrize(("engine", "name"), [(engine, name) for engine in ENGINES for name in PLANS])


def over_time(plan: Plan, engine: str) -> tuple[Result, OverTime, Rows]:
    tables, batches = OverTime(plan), []

    def tell(rows: Rows) -> None:
        tables(rows)
        batches.append(rows)

    result = simulate(plan, SEED, engine, watch=tell)
    tables.close(result.counters["makespan_ps"])
    return result, tables, np.concatenate(batches)


@each_run
def test_the_bins_are_equally_long_and_end_with_the_run(engine: str, name: str) -> None:
    result, tables, _ = over_time(PLANS[name], engine)
    edges = tables.edges_ps
    assert BINS // 2 < len(edges) - 1 <= BINS
    assert (edges[0], edges[-1]) == (0, result.counters["makespan_ps"])
    widths = np.diff(edges)
    assert set(widths[:-1].tolist()) == {1 << tables.shift}
    assert 0 < widths[-1] <= 1 << tables.shift


@each_run
def test_states_fill_every_bin_and_add_up_to_the_time_split(engine: str, name: str) -> None:
    result, tables, _ = over_time(PLANS[name], engine)
    workers = PLANS[name].workers.workers
    stretches = tables.stretches_ps
    assert (stretches[:workers].sum(axis=1) == np.diff(tables.edges_ps)).all()
    frame = tables.workers_frame().groupby("worker").sum()
    for state, columns in TIMES.items():
        expected = sum(result.per_worker[column][:workers] for column in columns)
        assert frame[state].tolist() == expected.tolist()
    assert set(TIMES) == set(STATES.values())


@each_run
def test_mean_lengths_are_those_of_a_recount(engine: str, name: str) -> None:
    """The length of a queue at every picosecond would be too much to count: its integral over the run is counted."""
    result, tables, rows = over_time(PLANS[name], engine)
    lengths = rows[rows[:, 0] == Watched.LENGTH]
    frame = tables.queue_length_frame()
    area = ((frame["end_ps"] - frame["begin_ps"]) * frame["tasks"]).groupby(frame["queue"]).sum()
    for queue in range(len(PLANS[name].steal.queues)):
        mine = lengths[lengths[:, 1] == queue]
        until = np.append(mine[1:, 2], result.counters["makespan_ps"])
        assert area[queue] == pytest.approx(int((mine[:, 4] * (until - mine[:, 2])).sum()), rel=1e-9)


@each_run
def test_steals_are_counted_by_distance(engine: str, name: str) -> None:
    result, tables, rows = over_time(PLANS[name], engine)
    far = result.counters["steal_success_remote"]
    assert tables.steals_made.sum(axis=1).tolist() == [result.counters["steal_success"] - far, far]
    assert tables.steals.tolist() == rows[rows[:, 0] == Watched.STEAL][:MOST_STEALS].tolist()
    assert tables.steals_frame()[["near", "far"]].to_numpy().T.tolist() == tables.steals_made.tolist()


def test_engines_give_the_same_tables() -> None:
    for plan in PLANS.values():
        found = [over_time(event_by_event(plan), engine)[1] for engine in ENGINES]
        for other in found[1:]:
            np.testing.assert_array_equal(other.stretches_ps, found[0].stretches_ps)
            np.testing.assert_array_equal(other.queue_length, found[0].queue_length)


def test_loads_become_means() -> None:
    plan = plan_of(TREE, machine=toy(2, 2), effects=Effects(worker_spread_ppm=1))
    tables = OverTime(plan)
    load = int(Watched.LOAD)
    tables(np.array([[load, 1, 0, 0, 4000, 0, 0], [load, 1, 256, 256, 1000, 0, 0], [load, 0, 512, 512, 7, 0, 0]]))
    tables.close(1024)
    assert tables.resource_load.sum(axis=1)[:2].tolist() == [512 * 7, 256 * 4000 + 768 * 1000]
    assert not tables.resource_load[2:].any()
    frame = tables.resource_load_frame()
    assert frame[frame["resource"] == 1]["used"].iloc[[255, 256]].tolist() == [4000, 1000]


def test_a_run_of_hours_is_refused() -> None:
    row = [int(Watched.WORK), 0, 0, 2**53] + [0] * (COLUMNS - 4)
    with pytest.raises(InputError, match="too long for tables over time"):
        OverTime(plan_of(TREE))(np.array([row]))


# ---- integrals in bins are those that whole-number arithmetic gives -------------------------------------------------

SUBJECTS = 3
Stretch = tuple[int, int, int, int]  # subject, begin, length, weight

stretches = st.lists(
    st.tuples(st.integers(0, SUBJECTS - 1), st.integers(0, 9000), st.integers(1, 9000), st.integers(0, 5)), max_size=30
)
changes = st.lists(
    st.tuples(st.integers(0, SUBJECTS - 1), st.integers(0, 900), st.integers(0, 2**38)), min_size=1, max_size=30
)


def overlap(begin: int, end: int, at: int, width: int) -> int:
    return max(0, min(end, (at + 1) * width) - max(begin, at * width))


def column(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


def widened(end: int, *parts: Integrals | Steps | Counts, shift: int = 0) -> int:
    while end > BINS << shift:
        for part in parts:
            part.widen(shift)
        shift += 1
    return shift


@settings(max_examples=80)
@given(stretches)
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
    """Values come with pauses between them, in batches of any size, and the last ones hold to the end."""
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


def test_counts_are_merged_and_the_end_belongs_to_the_last_bin() -> None:
    counts = Counts(2)
    counts.add(0, column([0, 0, 1]), column([0, 1, BINS]))
    counts.widen(0)
    counts.add(1, column([0]), column([3]))
    assert counts.values.sum() == 4
    assert counts.values[0, :2].tolist() == [2, 1]
    assert counts.values[1, BINS // 2 - 1] == 1


@pytest.mark.parametrize("kind", [Integrals, Steps, Counts])
def test_memory_does_not_grow(kind: type) -> None:
    part = kind(4)
    arrays = [value.shape for value in vars(part).values() if isinstance(value, np.ndarray)]
    for shift in range(MOST_SHIFT):
        part.widen(shift)
    assert [value.shape for value in vars(part).values() if isinstance(value, np.ndarray)] == arrays
