"""Metrics against numbers worked out by hand and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from numasim.reproduce.metrics import METRICS, FloatArray, Posed
from numasim.reproduce.study import read_study

MEASURES = read_study("thesis").part("measures")  # reading it adds the thesis' metrics
FAR, NEAR = MEASURES.PART, "steal_attempts_local"
VALUES = arrays(np.float64, 6, elements=st.integers(0, 8).map(float))


def measured(
    name: str,
    published: list[float],
    simulated: list[float],
    baseline: tuple[list[float], list[float]] | None = None,
    quantity: list[str] | None = None,
    row: list[int] | None = None,
) -> float:
    """Return a metric of one prediction. ``baseline`` has the published and simulated values before the change."""
    unknown = [math.nan] * len(published)
    before, before_simulated = baseline or (unknown, unknown)
    values = map(np.array, (published, before, simulated, before_simulated, unknown))
    columns = map(
        np.array, (quantity or [""] * len(published), row or [0] * len(published), *[[0] * len(published)] * 2)
    )
    return float(METRICS[name].measure(Posed(*values, *columns)))


ORDERS = [1, 2, 3, 1, 2, 3]
TWO_ROWS = {"row": [0, 0, 0, 1, 1, 1]}


@pytest.mark.parametrize(
    ("name", "published", "simulated", "more", "expected"),
    [
        ("mape", [2.0, 4.0, 0.0], [1.0, 5.0, 7.0], {}, (0.5 + 0.25) / 2),  # a published zero does not count
        # (9 + 1) / (4 + 1) = 2; the reverse direction (19 + 1) / (4 + 1) = 4; (7 + 1) / (0 + 1) = 8
        ("median-factor", [4.0, 19.0, 0.0], [9.0, 4.0, 7.0], {}, 4.0),
        # published (10 + 30) / 100 = 0.4, simulated (30 + 30) / 120 = 0.5
        ("pooled-share", [10.0, 20.0, 30.0, 40.0], [30.0] * 4, {"quantity": [FAR, NEAR, FAR, NEAR]}, 0.1),
        # published against simulated: both fall; only the published value rises; only it falls; both stay
        ("sign-agreement", [1.0, 3.0, 1.0, 2.0], [1.5, 1.0, 2.5, 2.0], {"baseline": ([2.0] * 4, [2.0] * 4)}, 0.5),
        ("rank-correlation", ORDERS, [5, 6, 7, 5, 6, 7], TWO_ROWS, 1.0),
        # the first row's order is right: 1; second row: ranks 1 2 3 against 1 3 2: 1 - 6 (1 + 1) / (3 * 8) = 1/2
        ("rank-correlation", ORDERS, [5, 6, 7, 5, 7, 6], TWO_ROWS, (1 + 0.5) / 2),
        ("least-rank-correlation", ORDERS, [5, 6, 7, 5, 7, 6], TWO_ROWS, 0.5),
    ],
)
def test_a_metric_by_hand(
    name: str, published: list[float], simulated: list[float], more: dict[str, list], expected: float
) -> None:
    assert measured(name, published, simulated, **more) == pytest.approx(expected)


@given(VALUES, VALUES)
def test_rank_correlation_is_that_of_scipy(left: FloatArray, right: FloatArray) -> None:
    constant = len(np.unique(left)) == 1 or len(np.unique(right)) == 1
    expected = 0.0 if constant else float(scipy.stats.spearmanr(left, right).statistic)
    assert float(MEASURES.spearman(left, right)) == pytest.approx(expected)


@pytest.mark.parametrize("name", METRICS)
def test_a_perfect_prediction_is_the_best_there_is(name: str) -> None:
    metric, published, before = METRICS[name], [3.0, 1.0, 4.0, 2.0], [2.0, 2.0, 2.0, 3.0]
    perfect = measured(name, published, published, (before, before), [FAR, NEAR] * 2)
    worse = measured(name, published, [1.0, 4.0, 2.0, 3.5], (before, before), [FAR, NEAR] * 2)
    at_best_one = ("median-factor", "sign-agreement", "rank-correlation", "least-rank-correlation", "claims-held")
    assert perfect == metric.best == (1.0 if name in at_best_one else 0.0)
    assert metric.beats(perfect, worse)
    assert not metric.beats(worse, perfect)
    assert metric.meets(perfect, perfect)
    assert not metric.meets(worse, perfect)


@pytest.mark.parametrize("name", METRICS)
def test_lines_of_resamples_are_measured_one_by_one(name: str) -> None:
    published, before = np.array([3.0, 1.0, 4.0, 2.0]), np.array([2.0, 2.0, 2.0, 3.0])
    cells = (published, np.array([FAR, NEAR] * 2), *[np.zeros(4, np.int64)] * 3)
    lines = np.random.default_rng(5).uniform(0, 9, (7, 2, 4))
    together = METRICS[name].measure(Posed(published, before, lines[:, 0], lines[:, 1], *cells))
    alone = [float(METRICS[name].measure(Posed(published, before, *line, *cells))) for line in lines]
    np.testing.assert_allclose(together, alone)
