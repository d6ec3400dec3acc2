"""BOTS Sort on its own input: the keys are really sorted, and every split is looked for where the program looks.

The generator of numasim draws the splits of random keys instead; the C kernel sorts this input.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from bots_permutation import Values, bots_permutation

from numasim.workload.families.sort import Ranks, Runs, SortParameters, recursion, sort_graph, sort_tree
from numasim.workload.graph import I64, Workload


def really_sorted(**parameters: Any) -> Workload:
    """The task graph that the program has on its own input."""
    given = SortParameters(name="sort", **parameters)
    ranks = ranks_in(bots_permutation(given.n), given.quicksort_cutoff)
    return sort_graph(given, *recursion(given.n, given.quicksort_cutoff, given.merge_cutoff, ranks))


def ranks_in(values: Values, quicksort_cutoff: int) -> Ranks:
    """Where the merges of a sort of ``values`` split: by bisection in the runs as they are before each stage."""
    stages = runs_before_stages(values, quicksort_cutoff)

    def ranks(merges: Runs) -> I64:
        found = np.zeros(len(merges.stage), np.int64)
        for stage in np.unique(merges.stage).tolist():
            rows = np.flatnonzero(merges.stage == stage)
            here = Runs(*(column[rows] for column in merges))
            pivots = stages[stage][here.low1 + here.size1 // 2]
            found[rows] = bisected(stages[stage], pivots, here.low2, here.size2)
        return found

    return ranks


def runs_before_stages(values: Values, quicksort_cutoff: int) -> dict[int, Values]:
    """The array before the merges of each stage: sorted quarters (even stages), then sorted halves (odd ones)."""
    sorts = sort_tree(len(values), quicksort_cutoff)
    stages = {}
    for level in range(len(sorts.first) - 2):
        ids = np.arange(sorts.first[level], sorts.first[level + 1])
        split = ids[sorts.split[ids]]
        low, size, quarter = sorts.low[split], sorts.size[split], sorts.size[split] // 4
        starts = [low + k * quarter for k in range(4)]
        stages[2 * level] = sorted_pieces(values, [*starts, low + size])
        stages[2 * level + 1] = sorted_pieces(values, [*starts[::2], low + size])
    return stages


def sorted_pieces(values: Values, edges: list[I64]) -> Values:
    """The array with the pieces between every two neighbouring ``edges`` sorted."""
    array = values.copy()
    for starts, ends in pairwise(edges):
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            array[start:end].sort()
    return array


def bisected(values: Values, pivot: Values, low: I64, size: I64) -> I64:
    """[merges] how many elements of the sorted run at ``low`` are at most ``pivot``."""
    start, end = low.copy(), low + size
    while (start < end).any():
        middle = (start + end) // 2
        inside = start < end
        upward = inside & (values[np.where(inside, middle, 0)] <= pivot)
        start = np.where(upward, middle + 1, start)
        end = np.where(inside & ~upward, middle, end)
    return start - low
