"""Quantities in words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.engine.unit_text import bytes_text, count_text, ratio_text, time_text


@pytest.mark.parametrize(
    ("time_ps", "text"),
    [
        (0, "0 ps"),
        (999, "999 ps"),
        (1000, "1 ns"),
        (77_300, "77.3 ns"),
        (1_234_567, "1.235 µs"),
        (12_345_678_901, "12.35 ms"),
        (3_600 * 10**12, "3600 s"),
        (-1_500, "-1.5 ns"),
        (999_999, "1 µs"),
        (math.nan, "-"),
    ],
)
def test_times(time_ps, text):
    assert time_text(time_ps) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1_572_864, "1.5 MiB"), (2**30, "1 GiB"), (5 * 2**40, "5 TiB")],
)
def test_sizes(size, text):
    assert bytes_text(size) == text


@given(st.integers(1, 10**18))
def test_a_time_reads_back_to_four_digits(time_ps):
    number, unit = time_text(time_ps).split()
    scale = {"ps": 1, "ns": 10**3, "µs": 10**6, "ms": 10**9, "s": 10**12}[unit]
    assert float(number) * scale == pytest.approx(time_ps, rel=5e-4)


def test_counts_and_ratios():
    assert count_text(1_234_567) == "1,234,567"
    assert count_text(math.nan) == "-"
    assert ratio_text(6 / 11) == "0.545"
    assert ratio_text(None) == "-"
