"""The rank at which a merge of random keys splits: its exact distribution, the bounds by which draws are decided, and
sorts of real random keys.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from really_sorted import ranks_in
from workload_setup import make

from numasim.draws import base_array
from numasim.workload.algorithms import random_ranks as module
from numasim.workload.algorithms.random_ranks import (
    ONE,
    Sides,
    bounds,
    exactly_accepted,
    random_ranks,
    ranks_by_counting,
    ranks_by_rejection,
)
from numasim.workload.families.sort import MERGE_SPLIT, SortGraph, Sorts, drawn_ranks, recursion

SIZES = st.tuples(st.integers(0, 5000), st.integers(0, 5000), st.integers(1, 5000)).filter(lambda s: s[0] + s[1] > 0)
DEVIATIONS = 5  # standard deviations; one correct draw in two million deviates more; every run has the same draws


def column(number: int) -> np.ndarray:
    return np.array([number], np.int64)


def probability(below: int, above: int, other: int, rank: int) -> Fraction:
    ways = comb(below + rank, rank) * comb(above + other - rank, other - rank)
    return Fraction(ways, comb(below + 1 + above + other, other))


def sides(below: int, above: int, other: int) -> tuple[int, Sides, Sides]:
    """Return the mode of the distribution of ranks, and the probabilities on both sides of the mode."""
    mode = min(other, below * (other + 1) // (below + above))
    upward = Sides(*map(column, (below + mode, mode, other - mode, above)))
    downward = Sides(*map(column, (above + other - mode, other - mode, mode, below)))
    return mode, upward, downward


@pytest.mark.parametrize(("below", "above", "other"), [(1, 1, 3), (2, 1, 4), (0, 3, 3), (3, 0, 2), (4, 3, 5)])
def test_the_probabilities_are_those_of_all_interleavings(below: int, above: int, other: int) -> None:
    run, total = below + 1 + above, below + 1 + above + other
    ranks = Counter(places[below] - below for places in combinations(range(total), run))
    every = comb(total, run)
    for rank in range(other + 1):
        assert probability(below, above, other, rank) == Fraction(ranks[rank], every)


@given(SIZES, st.integers(0, 5000))
@settings(max_examples=200)
def test_the_bounds_enclose_the_weight(sizes: tuple[int, int, int], distance: int) -> None:
    mode, *both = sides(*sizes)
    for side, rank in zip(both, (mode + distance, mode - distance), strict=True):
        low, high = (int(bound[0]) for bound in bounds(side, column(distance)))
        if 0 <= rank <= sizes[2]:
            weight = probability(*sizes, rank) / probability(*sizes, mode)
            assert Fraction(low, ONE) <= weight <= Fraction(high, ONE)
        else:
            assert low == high == 0


@given(SIZES, st.integers(0, 200), st.integers(0, 8), st.integers(0, 2**64 - 1))
@settings(max_examples=200)
def test_a_proposal_is_accepted_by_its_exact_weight(
    sizes: tuple[int, int, int], distance: int, factor: int, number: int
) -> None:
    mode, *both = sides(*sizes)
    for side, rank in zip(both, (mode + distance, mode - distance), strict=True):
        expected = False
        if 0 <= rank <= sizes[2]:
            weight = probability(*sizes, rank) / probability(*sizes, mode)
            expected = Fraction(number, 2**64) < weight * 2**factor
            starts = [int(start[0]) for start in side.factors(column(distance))]
            assert exactly_accepted(starts, distance, factor, number) == expected
        numbers = np.array([number], np.uint64)
        assert bool(module._accepted(side, column(distance), column(factor), numbers)[0]) == expected


@given(SIZES)
@settings(max_examples=100)
def test_at_the_width_both_weights_are_at_most_a_half(sizes: tuple[int, int, int]) -> None:
    mode, upward, downward = sides(*sizes)
    width = int(module._widths(upward, downward)[0])
    for rank in (mode + width, mode - width):
        if 0 <= rank <= sizes[2]:
            assert 2 * probability(*sizes, rank) <= probability(*sizes, mode)


@pytest.mark.parametrize("draw", [ranks_by_counting, ranks_by_rejection])
@pytest.mark.parametrize(("below", "above", "other"), [(1, 1, 3), (0, 1, 2), (1, 0, 4), (4, 3, 8), (15, 15, 30)])
def test_small_merges_split_with_their_exact_probabilities(draw: object, below: int, above: int, other: int) -> None:
    count = 20_000
    columns = [np.full(count, size, np.int64) for size in (below, above, other)]
    ranks = draw(*columns, base_array(5, 9, np.arange(count)))  # type: ignore[operator]
    found = np.bincount(ranks, minlength=other + 1)
    assert len(found) == other + 1
    for rank in range(other + 1):
        chance = float(probability(below, above, other, rank))
        assert abs(found[rank] - count * chance) <= DEVIATIONS * sqrt(count * chance) + 1


@pytest.mark.parametrize(("run", "other"), [(40, 40), (2048, 2049), (8192, 3000), (2**20, 2**19), (2**24, 2**24)])
def test_large_merges_have_mean_and_variance_of_the_negative_hypergeometric_distribution(run: int, other: int) -> None:
    count, below = 20_000, run // 2
    columns = [np.full(count, size, np.int64) for size in (below, run - 1 - below, other)]
    ranks = random_ranks(*columns, base_array(6, 9, np.arange(count)))
    k = below + 1
    mean = k * other / (run + 1)
    variance = k * other * (run + other + 1) * (run - k + 1) / ((run + 1) ** 2 * (run + 2))
    assert abs(ranks.mean() - mean) <= DEVIATIONS * sqrt(variance / count)
    assert abs(ranks.var() / variance - 1) <= DEVIATIONS * sqrt(2 / count)  # the variance's deviation if nearly normal


def test_numbers_drawn_are_those_of_their_stream_alone() -> None:
    sizes = [np.array(column, np.int64) for column in ([5, 3000, 40], [4, 2999, 39], [8, 2500, 80])]
    streams = base_array(1, 9, np.arange(3))
    together = random_ranks(*sizes, streams)
    for row in range(3):
        assert random_ranks(*(size[row : row + 1] for size in sizes), streams[row : row + 1]) == together[row]


def test_cut_offs_do_not_move_the_splits_of_larger_merges() -> None:
    n, coarse, fine = 4096, 256, 16
    found = []
    for cutoff in (coarse, fine):
        runs = recursion(n, 64, cutoff, lambda merges: drawn_ranks(merges, n))[1].runs
        large = runs.size2 > coarse
        found.append(sorted(zip(*(part[large].tolist() for part in runs), strict=True)))
    assert found[0] == found[1] != []


def test_drawn_splits_are_as_many_as_those_of_really_sorted_random_keys() -> None:
    """The drawn number of splits and the number in real sorts are sums over merges of the same sizes; 40 shuffles."""
    n, quick, cutoff, repeats = 2**13, 64, 16, 40
    chance = np.random.default_rng(3)
    counts = [
        splits(*recursion(n, quick, cutoff, ranks_in(chance.permutation(n).astype(np.int32), quick)))
        for _ in range(repeats)
    ]
    drawn = make("sort", n=n, quicksort_cutoff=quick, merge_cutoff=cutoff).facts["merge_splits"]
    deviation = np.std(counts, ddof=1)
    assert abs(drawn - np.mean(counts)) <= DEVIATIONS * deviation * sqrt(1 + 1 / repeats)


def splits(_: Sorts, graph: SortGraph) -> int:
    return int((graph.shape == MERGE_SPLIT).sum())


def test_every_element_is_merged_or_placed_by_a_split() -> None:
    """A stage of merges moves all n elements: each split places one element, serial merges place all others."""
    facts = make("sort", n=2**15).facts
    stages = 2 * 3  # levels of 32,768, 8,192 and 2,048 elements
    assert facts["elements_merged"] + facts["merge_splits"] == stages * 2**15
