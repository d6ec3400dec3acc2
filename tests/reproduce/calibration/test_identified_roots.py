"""The root of an error of one published value, and whether the value identifies it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from numasim.reproduce.calibration.search import Axis, Root, identified_root, root_at

AXIS = Axis("time", 50, 0, 1000, 10, 1)


def root(error: Callable[[int], float], noise: float) -> Root:
    return identified_root(error, AXIS, noise, tolerance=0)


def interval(found: Root) -> tuple[int, int, int]:
    return found.verdict.low, found.verdict.found, found.verdict.high


def test_a_line_has_its_root_and_those_values_that_noise_explains() -> None:
    found = root(lambda time: time / 100 - 1, 0.05)  # 1.96 * 0.05 = 0.098
    assert not found.verdict.refused
    assert (found.verdict.found, found.error) == (100, 0)
    assert interval(found) == (91, 100, 109)


def test_what_the_search_leaves_counts_as_noise() -> None:
    """A jump over zero leaves 0.2 or -0.3, and either explains the other: 1.96 * 0.2 = 0.392."""
    found = root(lambda time: -0.3 if time < 100 else 0.2, 0.001)
    assert interval(found) == (0, found.verdict.found, 1000)
    assert found.verdict.refused


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (lambda time: 0.5 + time / 1000, 0),  # too large everywhere
        (lambda time: -0.5 - 1 / (time + 1), 1000),  # too small everywhere
    ],
)
def test_a_root_out_of_reach_is_refused(error: Callable[[int], float], expected: int) -> None:
    found = root(error, 0.01)
    assert found.verdict.refused
    assert found.verdict.found == pytest.approx(expected, abs=1)


def test_a_root_whose_interval_is_open_is_refused() -> None:
    """Beyond 100 more time changes nothing."""
    found = root(lambda time: min(time, 100) / 100 - 1, 0.05)
    assert (found.verdict.found, found.verdict.high, found.verdict.refused) == (100, 1000, True)


def test_a_known_root_keeps_its_value() -> None:
    found = root_at(lambda time: time / 100 - 1, AXIS, 101, 0.05)
    assert (found.verdict.found, found.error) == (101, pytest.approx(0.01))
    assert interval(found)[0] < 101 < interval(found)[2]
