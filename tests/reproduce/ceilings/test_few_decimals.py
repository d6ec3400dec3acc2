"""Ratios of few decimals: the interval of printed digits, chance, and its exact tail."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.reproduce.ceilings.few_decimals import ratio_of, rounding_error, tail
from numasim.reproduce.ceilings.printed_column import half_digit

CHANCES = st.lists(st.fractions(0, 1, max_denominator=20), max_size=6)


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("1.50", Fraction(1, 200)),
        ("7", Fraction(1, 2)),
        ("120", Fraction(1, 2)),
        ("2e3", Fraction(500)),
        ("0.0000002", Fraction(1, 20_000_000)),
    ],
)
def test_half_of_the_last_digit(text: str, half: Fraction) -> None:
    assert half_digit(Decimal(text)) == half


def test_the_interval_of_a_ratio_by_hand() -> None:
    found = ratio_of(Decimal("3.0"), Decimal("2.0"), 1)
    assert found.value == Fraction(3, 2)
    assert (found.low, found.high) == (Fraction(295, 205), Fraction(305, 195))
    assert found.nearest == Fraction(3, 2)
    assert found.of_few_decimals
    assert found.chance == 1  # the interval is 0.125 wide, more than the tenth between two such numbers


def test_a_ratio_beside_every_short_number_is_none() -> None:
    found = ratio_of(Decimal("1.0045"), Decimal("1.0000"), 2)
    assert found.nearest == 1
    assert not found.of_few_decimals
    assert found.chance == 100 * (Fraction(10045 * 2 + 1, 19999) - Fraction(10045 * 2 - 1, 20001))


def test_the_end_of_the_interval_belongs_to_it() -> None:
    """Of 2 over 1: (2 + 1/2) / (1 - 1/2) = 5 and (2 - 1/2) / (1 + 1/2) = 1, whole numbers both."""
    found = ratio_of(Decimal(2), Decimal(1), 0)
    assert (found.low, found.high) == (1, 5)
    assert found.nearest == 2


def test_how_many_decimals_are_few_is_asked() -> None:
    """What was printed as 0.1 over 1.0 lies between 0.05 / 1.05 and 0.15 / 0.95: a tenth is there, no whole number."""
    assert not ratio_of(Decimal("0.1"), Decimal("1.0"), 0).of_few_decimals
    assert ratio_of(Decimal("0.1"), Decimal("1.0"), 1).of_few_decimals


@given(
    ratio=st.integers(1, 5000),
    under=st.integers(10**5, 10**7),
    decimals=st.integers(0, 3),
)
def test_what_is_computed_from_a_rounded_ratio_is_always_found(ratio: int, under: int, decimals: int) -> None:
    short, below = Fraction(ratio, 10**decimals), Decimal(under).scaleb(-6)
    above = Decimal(round(short * Fraction(below) * 10**6)).scaleb(-6)
    if Fraction(above) > half_digit(above):
        assert ratio_of(above, below, decimals).of_few_decimals


@given(over=st.integers(1, 10**6), under=st.integers(1, 10**6), decimals=st.integers(0, 4))
def test_chance_is_the_width_over_the_distance_and_the_value_lies_inside(over: int, under: int, decimals: int) -> None:
    found = ratio_of(Decimal(over), Decimal(under), decimals)
    assert found.low < found.value < found.high
    assert 0 < found.chance <= 1
    assert found.chance == min(1, (found.high - found.low) * 10**decimals)
    assert found.chance < 1 or found.of_few_decimals
    assert (found.nearest * 10**decimals).denominator == 1


def every_outcome(chances: list[Fraction], successes: int) -> Fraction:
    """The tail as the sum over all outcomes of all trials."""
    found = Fraction(0)
    for outcome in itertools.product((True, False), repeat=len(chances)):
        if sum(outcome) >= successes:
            product = Fraction(1)
            for made, chance in zip(outcome, chances, strict=True):
                product *= chance if made else 1 - chance
            found += product
    return found


@given(chances=CHANCES, successes=st.integers(0, 7))
def test_the_tail_is_the_sum_over_all_outcomes(chances: list[Fraction], successes: int) -> None:
    assert tail(chances, successes) == every_outcome(chances, successes)


def test_the_tail_of_equal_trials_is_binomial() -> None:
    half = [Fraction(1, 2)] * 4
    assert [tail(half, count) for count in range(6)] == [
        1,
        Fraction(15, 16),
        Fraction(11, 16),
        Fraction(5, 16),
        Fraction(1, 16),
        0,
    ]


def test_the_rounding_of_a_ratio_is_a_relative_error() -> None:
    assert rounding_error(ratio_of(Decimal("1.000"), Decimal("2.000"), 1), 1) == pytest.approx(0.1)  # 0.05 of 0.5
    assert rounding_error(ratio_of(Decimal("1.25000"), Decimal("1.00000"), 2), 2) == pytest.approx(0.004)
