"""A parameter is refused where the data do not identify it: residuals by hand, whose profiles have closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim.reproduce.calibration.search import Axis, Evidence, Fit, Point, Verdict, fit

X, Y, Z = (Axis(name, 30, 0, 100, 16, 1) for name in "xyz")
FIVE = Evidence(
    5
)  # one searched parameter leaves 4 degrees: sigma^2 = 5 / 4 and 3.84 * sigma^2 / 5 = 0.96 at residual 1


def fitted(
    excess: Callable[..., float], *axes: Axis, evidence: Evidence = FIVE, asked: list[Point] | None = None
) -> Fit:
    """A fit whose squared residual is 1 + ``excess`` of the point."""

    def costs(points: Sequence[Point]) -> list[float]:
        if asked is not None:
            asked.extend(points)
        return [math.sqrt(1 + excess(*point)) for point in points]

    return fit(axes, costs, evidence, lambda *_: None)


def intervals(verdicts: Sequence[Verdict]) -> dict[str, tuple[int, int, int]]:
    return {verdict.axis.name: (verdict.low, verdict.found, verdict.high) for verdict in verdicts}


@pytest.mark.parametrize(
    ("evidence", "deviation", "limit"),
    [
        (Evidence(5), math.sqrt(5 / 4), math.sqrt(1.96)),
        (Evidence(10, others=4), math.sqrt(2), math.sqrt(1 + 0.384 * 2)),
        (Evidence(5, noise=2), 2, math.sqrt(1 + 3.84 * 4 / 5)),
        (Evidence(2, others=1, noise=0.5), 0.5, math.sqrt(1 + 3.84 / 8)),  # no degree of freedom is left: noise alone
    ],
)
def test_what_the_data_cannot_tell_apart_follows_from_noise_or_from_the_residual(
    evidence: Evidence, deviation: float, limit: float
) -> None:
    assert evidence.deviation(1, 1) == pytest.approx(deviation)
    assert evidence.limit(1, 1) == pytest.approx(limit)


def test_a_parabola_with_its_lowest_point_inside_is_accepted() -> None:
    found = fitted(lambda x: ((x - 50) / 10) ** 2, X)  # at most 0.96 up to 9.8 from the lowest point
    assert (found.point, found.residual, found.refused) == ((50,), 1, ())
    assert intervals(found.accepted) == {"x": (41, 50, 59)}


def test_noise_of_the_data_widens_the_interval() -> None:
    found = fitted(lambda x: ((x - 50) / 10) ** 2, X, evidence=Evidence(5, noise=2))
    assert intervals(found.accepted) == {"x": (33, 50, 67)}  # (x - 50)^2 at most 307.2


@given(st.integers(0, 100), st.integers(1, 60))
@settings(max_examples=60)
def test_the_interval_of_a_parabola_is_its_closed_form(lowest: int, width: int) -> None:
    found = fitted(lambda x: ((x - lowest) / width) ** 2, X)
    reach = math.floor(math.sqrt(0.96) * width)
    low, high = max(0, lowest - reach), min(100, lowest + reach)
    refused = low == 0 or high == 100
    assert intervals(found.refused if refused else found.accepted) == {"x": (low, lowest, high)}
    assert found.point == ((30,) if refused else (lowest,))


def test_a_residual_that_only_falls_is_refused_at_the_end_of_the_range() -> None:
    found = fitted(lambda x: (100 - x) / 10, X)
    assert (found.point, found.accepted) == ((30,), ())
    assert intervals(found.refused) == {"x": (91, 100, 100)}


def test_a_flat_residual_is_refused_over_the_whole_range() -> None:
    assert intervals(fitted(lambda _: 0, X).refused) == {"x": (0, 30, 100)}


def test_an_interval_that_is_open_to_one_side_is_refused() -> None:
    found = fitted(lambda x: max(0, 60 - x) / 10, X)
    ((low, lowest, high),) = intervals(found.refused).values()
    assert (low, high) == (51, 100)
    assert 60 <= lowest < 100


def test_two_parameters_that_trade_off_are_both_refused_though_each_alone_is_identified() -> None:
    def excess(x: int, y: int) -> float:
        return (x + y - 100) ** 2 / 25

    both = fitted(excess, X, Y)
    assert [verdict.axis.name for verdict in both.refused] == ["x", "y"]
    assert all(verdict.low == 0 or verdict.high == 100 for verdict in both.refused)
    assert both.point == (30, 30)
    alone = fitted(excess, X, Y.held(30))
    assert intervals(alone.accepted) == {"x": (66, 70, 74)}


def test_what_is_identified_is_found_anew_where_refused_parameters_stay() -> None:
    """x + z is 110 at every lowest point; x, found between 60 and 100, stays at 30 once it is refused."""

    def excess(x: int, z: int) -> float:
        return max(0, 60 - x) / 10 + (x - 60) / 1000 + ((z - 50 + min(20, x - 30) // 2) / 10) ** 2

    found = fitted(excess, X, Z)
    assert [verdict.axis.name for verdict in found.refused] == ["x"]
    assert found.point == (30, 50)  # 40 with x at 60


def test_a_parameter_beside_two_that_trade_off_is_accepted() -> None:
    found = fitted(lambda x, y, z: (x + y - 100) ** 2 / 25 + ((z - 40) / 2) ** 2 + (x + y - 60) ** 2, X, Y, Z)
    assert [verdict.axis.name for verdict in found.refused] == ["x", "y"]
    assert [verdict.axis.name for verdict in found.accepted] == ["z"]
    assert found.point == (30, 30, 40)


def test_a_better_point_that_a_profile_meets_begins_the_search_anew() -> None:
    """The search stops in the hollow at 28; the end of the range, where the profile looks, is lower."""
    levels = {28: 4.0, 100: 0.0}
    found = fitted(lambda x: levels.get(x, 5 + abs(x - 28) / 100), X)
    assert intervals(found.refused) == {"x": (100, 100, 100)}


def test_no_point_is_asked_for_twice() -> None:
    asked: list[Point] = []
    fitted(lambda x, y: ((x - 50) / 9) ** 2 + ((y - 61) / 7) ** 2, X, Y, asked=asked)
    assert len(asked) == len(set(asked))


def test_what_is_refused_is_heard_of_first() -> None:
    heard: list[Verdict] = []
    found = fit(
        (X, Y),
        lambda points: [math.sqrt(1 + ((x - 50) / 9) ** 2) for x, _ in points],
        FIVE,
        lambda *_: None,
        heard.append,
    )
    assert [verdict.axis.name for verdict in heard] == ["y", "x"]
    assert heard == [*found.refused, *found.accepted]
