"""The noise of single runs: formulas by hand, and against means that are drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.reproduce.ceilings.run_noise import deviation_of_a_run, deviation_without_the_line, expected_error


def test_a_line_uses_two_degrees_of_freedom_and_a_mean_one() -> None:
    assert deviation_of_a_run(48.0, 50) == 1.0
    assert deviation_without_the_line(12.25, 0.75, 50) == 1.0  # 12.25 / (1 - 3/4) = 49


def test_the_mean_error_of_normal_noise_by_hand() -> None:
    assert expected_error(2.0, 1) == pytest.approx(2 * 0.7978845608028654)
    assert expected_error(2.0, 4) == pytest.approx(0.7978845608028654)


def test_the_statistics_are_those_of_a_regression_of_known_points() -> None:
    """Points one above and one below y = x by turns, so that the line is known: the residuals are 1."""
    x = np.repeat(np.arange(25.0), 2)
    y = x + np.tile([1.0, -1.0], 25)
    slope, intercept = np.polyfit(x, y, 1)
    residuals = y - intercept - slope * x
    squares = float((residuals**2).sum())
    assert (slope, intercept, squares) == (pytest.approx(1), pytest.approx(0, abs=1e-9), pytest.approx(50))
    assert deviation_of_a_run(squares, 50) == pytest.approx(math.sqrt(50 / 48))
    explained = 1 - squares / float(((y - y.mean()) ** 2).sum())
    assert deviation_without_the_line(squares, explained, 50) == pytest.approx(float(y.std(ddof=1)))


def test_drawn_means_differ_from_their_expectation_by_as_much() -> None:
    means = np.random.default_rng(7).normal(100.0, 4.0, (200_000, 10)).mean(axis=1)
    assert float(np.abs(means - 100).mean()) == pytest.approx(expected_error(4.0, 10), rel=0.01)


@given(squares=st.floats(0, 1e9), runs=st.integers(3, 10**6), repeats=st.integers(1, 1000))
def test_more_runs_leave_less_and_no_more_than_one_run_has(squares: float, runs: int, repeats: int) -> None:
    one = deviation_of_a_run(squares, runs)
    assert 0 <= expected_error(one, repeats + 1) <= expected_error(one, repeats) <= one
