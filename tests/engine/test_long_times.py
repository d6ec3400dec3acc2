"""Times that 63 bits do not hold: refused by every engine in the same words, and never a number that has wrapped.

A segment takes at most 2^60 ps; events are not later than 2^62 ps, and the times of all workers together stay below
2^63 ps.
"""

from __future__ import annotations

import pytest
from engine_setup import plan_of, runtime, stealing
from hypothesis import given, settings
from hypothesis import strategies as st
from task_graphs import Run as Segment
from task_graphs import body, graph, phase, task

from numasim.engine.check.deadlock import LATEST_PS, MOST_PS, TOO_LATE, TooLongError
from numasim.engine.check.engine_difference import outcome
from numasim.engine.simulate import ENGINES, simulate
from numasim.plan.effects import noisy_array_ps, noisy_ps
from numasim.plan.plan import Plan, Run
from numasim.workload.graph import Deal, Workload

LONGEST_PS = 2**60
LAST_POLL_PS = 10**6  # a worker that has nothing to do schedules its next look before the phase ends
SEED = 1

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def alone(*lengths_ps: int, skip: bool = True) -> Plan:
    """Segments one after the other on one worker."""
    return plan_of(graph(task(*map(Segment, lengths_ps))), 1, skip=skip)


def side_by_side(*lengths_ps: int) -> Workload:
    """A body of four equal segments for each worker."""
    bodies = [body(*[Segment(length) for _ in range(4)]) for length in lengths_ps]
    return graph(*bodies, phases=(phase(*range(len(bodies)), deal=Deal.CYCLIC),))


@pytest.mark.parametrize("skip", [False, True])
def test_the_latest_time_is_reached(engine: str, skip: bool) -> None:
    result = simulate(alone(*[LONGEST_PS] * 3, LONGEST_PS - LAST_POLL_PS, skip=skip), SEED, engine)
    assert result.counters["makespan_ps"] == result.counters["work_ps"] == LATEST_PS - LAST_POLL_PS


@pytest.mark.parametrize("skip", [False, True])
def test_a_later_time_is_refused(engine: str, skip: bool) -> None:
    with pytest.raises(TooLongError) as refused:
        simulate(alone(*[LONGEST_PS] * 4, 1, skip=skip), SEED, engine)
    assert str(refused.value) == f"workload: {TOO_LATE}; expected shorter tasks, or fewer of them"


def test_sums_over_workers_are_refused_where_they_would_wrap(engine: str) -> None:
    fits = simulate(plan_of(side_by_side(*[LONGEST_PS // 2] * 3), 3), SEED, engine)
    assert fits.counters["work_ps"] == 3 * fits.counters["makespan_ps"] == 6 * LONGEST_PS
    with pytest.raises(TooLongError, match="the times of 3 workers add up to more than"):
        simulate(plan_of(side_by_side(*[LONGEST_PS // 4 * 3] * 3), 3), SEED, engine)


def test_a_back_off_beyond_all_time_is_refused(engine: str) -> None:
    """The waits of the idle worker are 9e15 ps, a thousand times as long, and then a million times."""
    how = runtime(backoff={"first_ns": 9_000_000_000_000, "factor": 1024})
    plan = plan_of(side_by_side(LONGEST_PS, 1), 2, stealing(), how)
    assert outcome(Run(plan, SEED), engine) == f"workload: {TOO_LATE}; expected shorter tasks, or fewer of them"


@settings(max_examples=50)
@given(lengths=st.lists(st.integers(1, LONGEST_PS), min_size=1, max_size=12), skip=st.booleans())
def test_a_chain_takes_the_sum_or_is_refused(engine: str, lengths: list[int], skip: bool) -> None:
    plan = alone(*lengths, skip=skip)
    if sum(lengths) > LATEST_PS:
        assert TOO_LATE in str(outcome(Run(plan, SEED), engine))
    elif sum(lengths) <= LATEST_PS - LAST_POLL_PS:
        assert simulate(plan, SEED, engine).counters["makespan_ps"] == sum(lengths)


@given(time_ps=st.integers(0, LONGEST_PS), number=st.integers(0, 2**64 - 1), ppm=st.integers(0, 10**6))
def test_noise_on_many_times_is_that_on_each(engine: str, time_ps: int, number: int, ppm: int) -> None:
    import numpy as np

    many = noisy_array_ps(np.array([time_ps]), np.array([number], np.uint64), ppm)
    assert many.tolist() == [noisy_ps(time_ps, number, ppm)]
    assert many[0] <= MOST_PS
