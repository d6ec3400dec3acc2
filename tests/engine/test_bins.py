"""Integrals in bins are those that whole-number arithmetic gives, whatever the order of widening and adding."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim.engine.observe.bins import BINS, MOST_SHIFT, Counts, Integrals, Steps

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
