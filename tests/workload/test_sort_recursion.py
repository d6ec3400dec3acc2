"""BOTS Sort on its own input equals a literal recursion over Python lists."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from really_sorted import bots_permutation, really_sorted
from workload_setup import program

from numasim.workload.graph import Op, Workload


def literal_permutation(n: int) -> list[int]:
    values, state = list(range(n)), 1
    for i in range(n):
        state = (state * 1103515245 + 12345) % 2**64
        j = state % n
        values[i], values[j] = values[j], values[i]
    return values


@given(st.integers(1, 3000))
@example(1)
@example(1024)
@settings(max_examples=40)
def test_permutation_is_that_of_the_sequential_swaps(n: int) -> None:
    assert bots_permutation(n).tolist() == literal_permutation(n)


def literal_merge(
    first: tuple[str, int, list[int]], second: tuple[str, int, list[int]], target: int, cutoff: int
) -> Any:
    """Return a leaf as (read, read, written) spans, a split as the two merges; runs are (array, start, values)."""
    if len(second[2]) > len(first[2]):
        first, second = second, first
    (name, low1, run1), (_, low2, run2) = first, second
    if len(run2) <= cutoff:
        return ("merge", name, (low1, len(run1)), (low2, len(run2)), (target, len(run1) + len(run2)))
    half = len(run1) // 2
    rank = bisect_right(run2, run1[half])
    below = literal_merge((name, low1, run1[:half]), (name, low2, run2[:rank]), target, cutoff)
    above = literal_merge(
        (name, low1 + half + 1, run1[half + 1 :]), (name, low2 + rank, run2[rank:]), target + half + rank + 1, cutoff
    )
    return ["spawn", below, "spawn", above, "wait"]


def literal_sort(values: list[int], low: int, quick: int, cutoff: int) -> Any:
    if len(values) < quick:
        return ("sort", low, len(values))
    q = len(values) // 4
    parts = [values[:q], values[q : 2 * q], values[2 * q : 3 * q], values[3 * q :]]
    starts = [low, low + q, low + 2 * q, low + 3 * q]
    runs = [("array", start, sorted(part)) for start, part in zip(starts, parts, strict=True)]
    sorts = [literal_sort(part, start, quick, cutoff) for part, start in zip(parts, starts, strict=True)]
    left, right = sorted(parts[0] + parts[1]), sorted(parts[2] + parts[3])
    merges = [literal_merge(runs[0], runs[1], low, cutoff), literal_merge(runs[2], runs[3], low + 2 * q, cutoff)]
    whole = literal_merge(("temporary", low, left), ("temporary", low + 2 * q, right), low, cutoff)
    spawns = [word for sort in sorts for word in ("spawn", sort)]
    return [*spawns, "wait", "spawn", merges[0], "spawn", merges[1], "wait", "call", whole]


def spelled(work: Workload, task: int) -> Any:
    """Return the graph in the words of the literal recursion."""
    words: list[Any] = []
    for code, arg in program(work, task):
        if code == Op.RUN:
            return segment(work, arg)
        words.append(code.name.lower())
        if code != Op.WAIT:
            words.append(spelled(work, arg))
    return words


def segment(work: Workload, number: int) -> Any:
    a = work.accesses
    at = range(work.segment_accesses[number], work.segment_accesses[number + 1])
    spans = [(int(a.offset[i]) // 8, int(a.row_bytes[i]) // 8) for i in at]
    names = [work.regions[a.region[i]].name for i in at]
    if work.kernels[work.segment_kernel[number]] == "quicksort":
        return ("sort", *spans[0])
    assert {names[0], names[1]} == {"array", "temporary"}
    return ("merge", names[0], spans[0], spans[2] if len(spans) == 3 else None, spans[1])


def without_empty(words: Any) -> Any:
    """Remove the place of empty second runs: a leaf does not access an empty run."""
    if isinstance(words, tuple) and words[0] == "merge" and words[3][1] == 0:
        return (*words[:3], None, words[4])
    return [without_empty(word) for word in words] if isinstance(words, list) else words


@pytest.mark.parametrize(
    ("n", "quick", "merge"), [(4, 4, 2), (5, 4, 2), (63, 4, 2), (1000, 16, 4), (3001, 50, 300), (4096, 64, 16)]
)
def test_graph_is_the_literal_recursion(n: int, quick: int, merge: int) -> None:
    work = really_sorted(n=n, quicksort_cutoff=quick, merge_cutoff=merge)
    assert spelled(work, 0) == without_empty(literal_sort(literal_permutation(n), 0, quick, merge))
