"""The least error of one prediction for several values: by hand, against a fine grid, and its properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.reproduce.metrics import METRICS as SCORED
from numasim.reproduce.metrics import Observations, Prediction
from numasim.reproduce.scores import MEANS, best_constant, least_error

METRICS = ("mape", "mean-absolute-error", "median-factor")
POINTS = 20_001
VALUES = st.lists(st.floats(0.01, 1e4), min_size=1, max_size=6)


def on_a_grid(metric: str, published: list[float]) -> float:
    """The least of the mean errors of all predictions on a grid that has every published value on it."""
    said = np.append(np.linspace(min(published), max(published), POINTS), published)[:, None]
    seen = np.array(published)
    errors = {
        "mape": np.abs(said - seen) / seen,
        "mean-absolute-error": np.abs(said - seen),
        "median-factor": np.abs(np.log1p(said) - np.log1p(seen)),
    }
    return float(errors[metric].mean(axis=1).min())


@pytest.mark.parametrize(
    ("metric", "published", "expected"),
    [
        ("mape", [1.0, 2.0], 0.25),  # at 1: (0 + 1/2) / 2; at 2 it would be (1 + 0) / 2
        ("mape", [1.0, 2.0, 4.0], (0.5 + 0.75) / 3),  # weights 1, 1/2, 1/4: half of 7/4 lies at 1
        ("mape", [3.0, 3.0], 0.0),
        ("mape", [0.0, 5.0], 0.0),  # a published zero does not count
        ("mape", [0.0], 0.0),
        ("mape", [-1.0, 1.0], 1.0),
        ("mean-absolute-error", [1.0, 2.0, 6.0], 5 / 3),
        ("mean-absolute-error", [0.0, 0.5], 0.25),
        ("median-factor", [0.0, 3.0], math.log(4) / 2),
        ("median-factor", [7.0], 0.0),
    ],
)
def test_the_least_error_by_hand(metric: str, published: list[float], expected: float) -> None:
    assert least_error(metric, published) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@given(published=VALUES)
def test_no_prediction_on_a_fine_grid_is_better_and_one_is_as_good(metric: str, published: list[float]) -> None:
    assert least_error(metric, published) == pytest.approx(on_a_grid(metric, published), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("metric", MEANS)
@given(VALUES)
def test_the_best_constant_has_the_least_error(metric: str, published: list[float]) -> None:
    said = np.full(len(published), best_constant(metric, published))
    nothing = np.zeros(len(published), np.int64)
    seen = Observations(np.array(published), said, nothing.astype(bool), nothing, nothing)
    error = float(SCORED[metric].measure(seen, Prediction(said, said)))
    assert error == pytest.approx(least_error(metric, published), rel=1e-9, abs=1e-12)
