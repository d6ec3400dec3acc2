"""Random deviations: one number and arrays of them agree; moments are those of the rule, extremes cut (model 1.4)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.draws import MASK, DrawClass, base_array, draw_array
from numasim.parts.unit_factors import MILLION
from numasim.plan.effects import LANES_DEVIATION, LEAST_PPM, MOST_PPM, noise_ppm, noisy_array_ps, noisy_ps

numbers = st.integers(0, MASK)
deviations = st.integers(1, MILLION)


@given(st.lists(st.tuples(st.integers(0, 2**41 - 1), numbers), max_size=20), deviations)
def test_arrays_are_numbers_one_by_one(pairs: list[tuple[int, int]], deviation_ppm: int) -> None:
    times = np.array([time_ps for time_ps, _ in pairs], np.int64)
    found = noisy_array_ps(times, np.array([number for _, number in pairs], np.uint64), deviation_ppm)
    assert found.tolist() == [noisy_ps(time_ps, number, deviation_ppm) for time_ps, number in pairs]


def test_the_deviation_of_four_lanes_is_that_of_the_rule() -> None:
    # the sum of four uniform numbers below n has the variance 4 (n**2 - 1) / 12
    assert abs(LANES_DEVIATION**2 - Fraction(4 * (2**32 - 1), 12)) < LANES_DEVIATION


@given(numbers, deviations)
def test_mirrored_numbers_deviate_the_other_way(number: int, deviation_ppm: int) -> None:
    there, back = noise_ppm(number, deviation_ppm), noise_ppm(number ^ MASK, deviation_ppm)
    assert there == -back or {there, back} & {LEAST_PPM, MOST_PPM}


@pytest.mark.parametrize("deviation_ppm", [1000, 100_000, 250_000])
def test_moments(deviation_ppm: int) -> None:
    """Of 100,000 draws: mean 0, the deviation asked for, no skew, flatter tails than a normal distribution's 3."""
    drawn = draw_array(base_array(5, DrawClass.DURATION, np.arange(100_000)), 0)
    noise = noisy_array_ps(np.full(len(drawn), MILLION), drawn, deviation_ppm) - MILLION
    scaled = noise / deviation_ppm
    assert scaled.mean() == pytest.approx(0, abs=4 / len(drawn) ** 0.5)
    assert scaled.std() == pytest.approx(1, rel=0.01)
    assert (scaled**3).mean() == pytest.approx(0, abs=0.03)
    assert (scaled**4).mean() == pytest.approx(3 - 1.2 / 4, rel=0.02)  # 1.2 / lanes below a normal distribution's


def test_extremes_are_cut() -> None:
    least, most = 0, MASK  # all lanes 0, all lanes full: 131,070 / 37,837 = 3.464 deviations away, towards zero
    assert (noise_ppm(least, 100_000), noise_ppm(most, 100_000)) == (-346_406, 346_406)
    assert (noise_ppm(least, 259_000), noise_ppm(least, 260_000)) == (-897_194, LEAST_PPM)
    assert (noise_ppm(most, 866_000), noise_ppm(most, 867_000)) == (131_070 * 866_000 // 37_837, MOST_PPM)
    assert noisy_ps(1000, least, MILLION) == 100
    assert noisy_ps(1000, most, MILLION) == 4000


@given(numbers, st.integers(0, 2**50))
def test_no_deviation_changes_nothing(number: int, time_ps: int) -> None:
    assert noisy_ps(time_ps, number, 0) == time_ps
