"""Metrics against numbers worked out by hand and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from numasim.reproduce.metrics import METRICS, FloatArray, Observations, Prediction, spearman
from numasim.reproduce.table_cells import factor_error

VALUES = arrays(np.float64, 6, elements=st.integers(0, 8).map(float))


def measured(
    name: str,
    published: list[float],
    simulated: list[float],
    baseline: tuple[list[float], list[float]] | None = None,
    part: list[bool] | None = None,
    row: list[int] | None = None,
) -> float:
    """Return a metric of one prediction. ``baseline`` has the published and simulated values before the change."""
    unknown = [math.nan] * len(published)
    before, before_simulated = baseline or (unknown, unknown)
    seen = Observations(
        published=np.array(published),
        baseline=np.array(before),
        part=np.array(part or [False] * len(published)),
        row=np.array(row or [0] * len(published)),
        column=np.zeros(len(published), np.int64),
    )
    return float(METRICS[name].measure(seen, Prediction(np.array(simulated), np.array(before_simulated))))


def test_mape_is_the_mean_relative_distance_over_what_is_not_zero() -> None:
    assert measured("mape", [2.0, 4.0, 0.0], [1.0, 5.0, 7.0]) == pytest.approx((0.5 + 0.25) / 2)


def test_median_factor_takes_both_directions_and_zeros() -> None:
    # (9 + 1) / (4 + 1) = 2; the reverse direction (19 + 1) / (4 + 1) = 4; (7 + 1) / (0 + 1) = 8
    assert measured("median-factor", [4.0, 19.0, 0.0], [9.0, 4.0, 7.0]) == pytest.approx(4.0)
    assert measured("median-factor", [4.0], [9.0]) == pytest.approx(factor_error(9.0, 4.0))


def test_a_pooled_share_adds_up_before_it_divides() -> None:
    # published (10 + 30) / 100 = 0.4, simulated (30 + 30) / 120 = 0.5
    found = measured(
        "pooled-share", [10.0, 20.0, 30.0, 40.0], [30.0, 30.0, 30.0, 30.0], part=[True, False, True, False]
    )
    assert found == pytest.approx(0.1)


def test_signs_agree_where_both_fall_or_both_rise() -> None:
    published, simulated = [1.0, 3.0, 1.0, 2.0], [1.5, 1.0, 2.5, 2.0]
    before = ([2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0])
    assert measured("sign-agreement", published, simulated, before) == 0.5  # falls, does not rise, does not fall, stays


def test_orders_are_compared_row_by_row_in_the_mean_and_at_the_least() -> None:
    row, published, simulated = [0, 0, 0, 1, 1, 1], [1, 2, 3, 1, 2, 3], [5, 6, 7, 5, 7, 6]
    assert measured("rank-correlation", published, [5, 6, 7, 5, 6, 7], row=row) == pytest.approx(1.0)
    # second row: ranks 1 2 3 against 1 3 2, 1 - 6 (1 + 1) / (3 * 8) = 1/2
    assert measured("rank-correlation", published, simulated, row=row) == pytest.approx((1 + 0.5) / 2)
    assert measured("least-rank-correlation", published, simulated, row=row) == pytest.approx(0.5)


@given(VALUES, VALUES)
def test_rank_correlation_is_that_of_scipy(left: FloatArray, right: FloatArray) -> None:
    constant = len(np.unique(left)) == 1 or len(np.unique(right)) == 1
    expected = 0.0 if constant else float(scipy.stats.spearmanr(left, right).statistic)
    assert float(spearman(left, right)) == pytest.approx(expected)


@pytest.mark.parametrize("name", METRICS)
def test_a_perfect_prediction_is_the_best_there_is(name: str) -> None:
    metric, published, before = METRICS[name], [3.0, 1.0, 4.0, 2.0], [2.0, 2.0, 2.0, 3.0]
    part = [True, False, True, False]
    perfect = measured(name, published, published, (before, before), part)
    worse = measured(name, published, [1.0, 4.0, 2.0, 3.5], (before, before), part)
    at_best_one = ("median-factor", "sign-agreement", "rank-correlation", "least-rank-correlation", "claims-held")
    assert perfect == metric.best == (1.0 if name in at_best_one else 0.0)
    assert metric.beats(perfect, worse)
    assert not metric.beats(worse, perfect)
    assert metric.meets(perfect, perfect)
    assert not metric.meets(worse, perfect)


@pytest.mark.parametrize("name", METRICS)
def test_lines_of_resamples_are_measured_one_by_one(name: str) -> None:
    published, part, row = np.array([3.0, 1.0, 4.0, 2.0]), np.array([True, False, True, False]), np.zeros(4, np.int64)
    seen = Observations(published, np.array([2.0, 2.0, 2.0, 3.0]), part, row, row)
    lines = np.random.default_rng(5).uniform(0, 9, (7, 2, 4))
    together = METRICS[name].measure(seen, Prediction(lines[:, 0], lines[:, 1]))
    alone = [float(METRICS[name].measure(seen, Prediction(line[0], line[1]))) for line in lines]
    np.testing.assert_allclose(together, alone)
