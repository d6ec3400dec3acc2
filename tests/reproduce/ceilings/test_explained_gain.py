"""What bytes explain of a gain: by hand, and the least error of a model that knows nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.reproduce.ceilings.explained_gain import Gain, explained_seconds


def test_bytes_are_lines_that_wait_one_by_one_on_each_worker() -> None:
    """6.4 GB are 100 million lines of 64 bytes; at 50 ns more each that is 5 s, on ten workers half a second."""
    assert explained_seconds(6.4, 50.0, 64, 10) == pytest.approx(0.5)
    assert explained_seconds(6.4, 50.0, 64, 1) == pytest.approx(5.0)
    assert explained_seconds(6.4, 50.0, 128, 1) == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("before", "after", "explained", "part"),
    [(4.0, 2.0, 0.5, 0.25), (4.0, 2.0, 3.0, 1.0), (4.0, 2.0, -1.0, 0.0), (2.0, 2.0, 1.0, None), (2.0, 3.0, 1.0, None)],
)
def test_the_part_that_is_explained(before: float, after: float, explained: float, part: float | None) -> None:
    assert Gain(before, after, explained).part == part


def test_the_least_error_by_hand() -> None:
    """Of a gain from 4 to 2 half a second is explained: 4 must be said to be 2.5, off by 1.5 / 4, and 2 is met."""
    assert Gain(4.0, 2.0, 0.5).least_error == pytest.approx(1.5 / 4 / 2)
    assert Gain(4.0, 2.0, 2.0).least_error == 0.0


@given(before=st.floats(0.5, 4), after=st.floats(0.5, 4), explained=st.floats(-1, 4))
def test_no_two_predictions_that_gain_no_more_than_is_explained_are_better(
    before: float, after: float, explained: float
) -> None:
    first, second = np.meshgrid(np.linspace(0, 8, 401), np.linspace(0, 8, 401))
    errors = (np.abs(first - before) / before + np.abs(second - after) / after) / 2
    allowed = first - second <= explained + 1e-12
    found = Gain(before, after, explained).least_error
    assert float(errors[allowed].min()) >= found - 1e-9
    if explained >= 0:  # otherwise the first time might have to be negative
        assert float(errors[allowed].min()) <= found + 0.02 / min(before, after)  # the distance of two grid points
