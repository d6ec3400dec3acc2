"""The two searches of a calibration."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim.reproduce.calibration.search import Axis, Point, lowest, rising_root, rounded

AXES = (Axis("x", 10, 0, 100, 16, 1), Axis("y", 90, -20, 90, 8, 2))


def nobody(point: Point, cost: float) -> None:
    """Hear of a better point."""


@given(st.integers(-30, 130), st.integers(-40, 110))
@settings(max_examples=60)
def test_the_lowest_of_a_bowl_is_found_inside_the_bounds(x: int, y: int) -> None:
    asked: list[Point] = []

    def costs(points: Sequence[Point]) -> list[float]:
        asked.extend(points)
        return [(a - x) ** 2 + 3 * (b - y) ** 2 for a, b in points]

    point, cost = lowest(AXES, costs, nobody)
    assert cost == min(costs(list(itertools.product(range(101), range(-20, 91, 2)))))
    assert costs([point]) == [cost]
    assert all(axis.low <= number <= axis.high for each in asked for axis, number in zip(AXES, each, strict=True))


def test_no_point_is_asked_for_twice_and_every_better_one_is_told() -> None:
    asked: list[Point] = []
    told: list[float] = []

    def costs(points: Sequence[Point]) -> list[float]:
        asked.extend(points)
        return [abs(a - 37) + abs(b - 12) for a, b in points]

    lowest(AXES, costs, lambda point, cost: told.append(cost))
    assert len(asked) == len(set(asked))
    assert told == sorted(set(told), reverse=True)
    assert told[-1] == 0


@given(st.integers(1, 10**7), st.integers(1, 10**7), st.floats(0.01, 100))
def test_the_root_of_a_line_is_found(root: int, start: int, slope: float) -> None:
    assert rising_root(lambda number: slope * (number - root) / root, start, tolerance=0) == root


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_a_jump_over_zero_is_halved_until_one_of_its_sides_is_known(edge: int, start: int) -> None:
    found = rising_root(lambda number: -0.1 if number < edge else 0.4, start, tolerance=0, most=40)
    assert found < edge or edge == 1


def test_what_is_too_large_everywhere_has_the_smallest_root() -> None:
    asked: list[int] = []

    def error(number: int) -> float:
        asked.append(number)
        return 0.5 + number / 1000

    assert rising_root(error, 300, tolerance=0, most=40) == 1
    assert len(asked) == 3  # where it starts, in proportion to it, and where a line leads below 1


@pytest.mark.parametrize(
    ("value", "digits", "expected"), [(126_518, 4, 126_500), (126_551, 4, 126_600), (7, 4, 7), (99_999, 2, 100_000)]
)
def test_rounding_keeps_so_many_digits(value: int, digits: int, expected: int) -> None:
    assert rounded(value, digits) == expected


def test_a_search_that_has_enough_ends() -> None:
    point, cost = lowest(AXES, lambda points: [float(abs(a - 37)) for a, _ in points], nobody, (50, 0), 6)
    assert (point, cost) == ((34, 0), 3)
