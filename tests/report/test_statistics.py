"""Intervals against scipy, brute force and closed forms; coverage by simulation."""

import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from numasim.report.answers.statistics import (
    FEWEST,
    holm,
    mean_interval,
    median_estimate,
    median_interval,
    pairs_needed,
    rank_correlation,
    ratio_interval,
    sign_p,
)

numbers = st.floats(1, 1e12, allow_nan=False)


@given(st.lists(numbers, min_size=2, max_size=30))
def test_mean_interval_is_that_of_scipy(values):
    sample = np.array(values)
    estimate = mean_interval(sample)
    half = scipy.stats.t.ppf(0.975, len(sample) - 1) * scipy.stats.sem(sample)
    assert estimate.value == pytest.approx(sample.mean(), rel=1e-12)
    assert estimate.high - estimate.value == pytest.approx(half, rel=1e-6, abs=1e-3)
    assert estimate.value - estimate.low == pytest.approx(half, rel=1e-6, abs=1e-3)


def test_mean_of_one_repeat_has_no_interval_and_of_none_no_value():
    one = mean_interval(np.array([3.0, math.nan]))
    assert (one.value, one.count) == (3.0, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    none = mean_interval(np.array([math.nan]))
    assert math.isnan(none.value)
    assert none.count == 0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(51, 99)), min_size=2, max_size=FEWEST - 1))
def test_few_repeats_have_the_interval_of_the_linearised_ratio(pairs):
    """The variance of a ratio of sums: the mean square of the residuals part - ratio x whole, divided by the number of
    pairs and by the squared mean of ``whole`` (Cochran 1977, equation 6.13).
    """
    part, whole = np.array(pairs, float).T
    estimate = ratio_interval(part, whole)
    count, ratio = len(pairs), part.sum() / whole.sum()
    variance = ((part - ratio * whole) ** 2).sum() / (count - 1) / count / whole.mean() ** 2
    half = scipy.stats.t.ppf(0.975, count - 1) * math.sqrt(variance)
    assert estimate.value == ratio
    assert (estimate.low, estimate.high) == pytest.approx((ratio - half, ratio + half), abs=1e-9)


def test_bounds_are_percentiles_of_resamples_widened_to_t():
    """Six observations have 6**6 bootstrap resamples, few enough to list all of them."""
    part, whole = np.array([3.0, 10.0, 4.0, 8.0, 1.0, 6.0]), np.array([10.0, 12.0, 11.0, 16.0, 9.0, 13.0])
    chosen = np.array(list(itertools.product(range(6), repeat=6)))
    ratios = part[chosen].sum(axis=1) / whole[chosen].sum(axis=1)
    tail = scipy.stats.norm.cdf(-math.sqrt(6 / 5) * scipy.stats.t.ppf(0.975, 5))
    bounds = np.quantile(ratios, [tail, 1 - tail])
    estimate = ratio_interval(part, whole)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(bounds), abs=0.03)


@pytest.mark.parametrize("repeats", [3, 10, 25])
def test_the_ratio_interval_covers_what_it_claims(repeats):
    """95 % of 600 samples should have the true ratio in their interval; the binomial spread of this share is 0.9 %."""
    noise = np.random.default_rng(11)
    hits = 0
    for _ in range(600):
        whole = noise.uniform(50, 150, repeats)
        estimate = ratio_interval(whole * 0.3 + noise.normal(0, 5, repeats), whole)
        hits += estimate.low <= 0.3 <= estimate.high
    assert 0.95 - 0.03 < hits / 600 < 0.95 + 0.03


def test_zero_over_zero_is_null():
    estimate = ratio_interval(np.zeros(4), np.zeros(4))
    assert math.isnan(estimate.value)
    assert math.isnan(estimate.low)


def test_resamples_without_a_single_attempt_do_not_count():
    estimate = ratio_interval(np.array([0, 0, 0, 0, 0, 1.0]), np.array([0, 0, 0, 0, 0, 2.0]))
    assert (estimate.value, estimate.low, estimate.high) == (0.5, 0.5, 0.5)


def test_few_observations_have_a_median_without_an_interval():
    estimate = median_interval(np.array([3.0, math.nan, 1.0, 2.0, 9.0, 8.0]))
    assert (estimate.value, estimate.count) == (3.0, 5)
    assert math.isnan(estimate.low)
    assert math.isnan(estimate.high)
    assert median_interval(np.array([math.nan])).count == 0


@given(st.lists(numbers, min_size=1, max_size=12), st.floats(0.5, 2))
def test_a_constant_factor_is_found_exactly(values, factor):
    first = np.array(values)
    relative = ratio_interval(first * factor - first, first)
    assert relative.value == pytest.approx(factor - 1, abs=1e-12)
    if len(values) > 1:
        assert (relative.low, relative.high) == pytest.approx((factor - 1, factor - 1), abs=1e-12)


@given(st.lists(st.integers(-9, 9), min_size=6, max_size=40))
def test_the_p_value_of_a_difference_is_that_of_the_sign_test(change):
    """The reference is scipy's exact binomial test of the more frequent sign against all other pairs, also zeros."""
    most = max(sum(each > 0 for each in change), sum(each < 0 for each in change))
    expected = min(1.0, 2 * scipy.stats.binomtest(most, len(change), 0.5, alternative="greater").pvalue)
    assert sign_p(np.array(change, float)) == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.integers(-9, 9), min_size=6, max_size=40))
def test_the_interval_of_a_median_is_that_of_scipy_and_says_what_the_p_value_says(sample):
    """If interval and p-value disagreed, an answer could be sure of a sign although the interval contains zero."""
    change = np.array(sample, float)
    found, exact = median_estimate(change), scipy.stats.quantile_test(change, p=0.5).confidence_interval(0.95)
    assert (found.value, found.low, found.high) == (np.median(change), exact.low, exact.high)
    assert (found.low > 0 or found.high < 0) == (sign_p(change) <= 0.05)


def test_few_pairs_have_their_range_and_no_p_value():
    five = np.array([3.0, 1.0, 9.0, math.nan, 8.0, 2.0])
    found = median_estimate(five)
    assert (found.value, found.low, found.high, found.count) == (3, 1, 9, 5)
    assert math.isnan(median_estimate(five[:1]).low)
    assert math.isnan(sign_p(np.ones(5)))
    assert sign_p(np.ones(6)) == 2 / 2**6


def test_pairs_needed_are_the_fewest_that_reach_the_level():
    for tests in range(1, 400):
        needed = pairs_needed(tests)
        assert tests * sign_p(np.ones(needed)) < 0.05
        assert needed == FEWEST or tests * 2 / 2 ** (needed - 1) >= 0.05


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=20))
def test_the_rank_correlation_is_that_of_scipy(pairs):
    first, other = np.array(pairs, float).T
    if np.ptp(first) and np.ptp(other):
        assert rank_correlation(first, other) == pytest.approx(scipy.stats.spearmanr(first, other).statistic)
    else:
        assert math.isnan(rank_correlation(first, other))


def test_holm_is_the_textbook_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])  # 4 x 0.005, 3 x 0.01, 2 x 0.03
    assert holm([0.5, math.nan, 0.9])[::2] == [1, 1]
    assert math.isnan(holm([0.5, math.nan])[1])
    assert holm([]) == []
