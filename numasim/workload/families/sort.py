"""BOTS Sort (thesis, section 3.6): a merge sort in four parts that merges in parallel.

A task of n elements spawns the sorts of its quarters and waits. Then the task spawns the merge of the first two
quarters and the merge of the last two quarters into the temporary array, and waits. At last it calls the merge of both
halves back into the array. A task below the cut-off sorts serially. A serial sort of m elements takes m ceil(log2 m)
comparisons, a merge one comparison for each element. The some twenty comparisons that find a split are ignored.

The keys are random. The generator does not sort: it draws the point at which a merge splits from its distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field

from numasim.draws import DrawClass, base_array
from numasim.parts.base import Whole
from numasim.workload.algorithms.random_ranks import random_ranks
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Kind, Mode, Op, Region, Workload
from numasim.workload.parameters import Family, WorkloadParameters, WorkTime, compute_ps
from numasim.workload.totals import Totals, access, memory, segment, task

# ---- The merge recursion of BOTS Sort --------------------------------------------------------------------------------
#
# A merge of two sorted runs splits if the shorter run exceeds the cut-off. The merge takes the middle element of the
# longer run, finds the rank of this element in the shorter run by bisection, puts the element in its final place, and
# merges the elements below and the elements above as two tasks. The caller of the recursion gives the ranks, which
# depend on the values. All merges of one depth are split at once.

ARRAY, TEMPORARY = range(2)
Flags = npt.NDArray[np.bool_]


class Runs(NamedTuple):
    """Merges of the elements [low1, low1 + size1) with [low2, low2 + size2) into [target, ..); arrays are [merges].

    ``stage`` numbers the sets of merges of quarters, or of halves, of all sorts at one depth of the recursion. No
    element is in two of the merges of a stage that sorts begin.
    """

    low1: I64
    size1: I64
    low2: I64
    size2: I64
    target: I64
    stage: I64

    def ordered(self) -> Runs:
        """Return the same merges with the longer run first."""
        swap = self.size2 > self.size1
        return self._replace(
            low1=np.where(swap, self.low2, self.low1),
            size1=np.where(swap, self.size2, self.size1),
            low2=np.where(swap, self.low1, self.low2),
            size2=np.where(swap, self.size1, self.size2),
        )

    def halves(self, rank: I64) -> Runs:
        """Return the two merges that each merge splits into, below and above the middle element of its first run.

        ``rank`` [merges] elements of the second run are below the middle element, which is in neither merge.
        """
        half = self.size1 // 2
        middle, target = self.low1 + half, self.target + half + rank + 1
        below = (self.low1, half, self.low2, rank, self.target, self.stage)
        above = (middle + 1, self.size1 - half - 1, self.low2 + rank, self.size2 - rank, target, self.stage)
        return Runs(*(np.stack(pair, axis=1).ravel() for pair in zip(below, above, strict=True)))


Ranks = Callable[[Runs], I64]  # [merges] the number of elements of the second run below the middle of the first run


def merge_forest(ranks: Ranks, roots: Runs, owner: I64, cutoff: int) -> tuple[Runs, I64, Flags]:
    """Return (all merges below ``roots``, depth by depth, [merges] parent, [merges] whether the merge is serial).

    Merges split at ``ranks``. ``owner`` [roots] are the roots' sorts; the parent of a root is ``-1 - owner``.
    """
    runs, parent = roots.ordered(), -1 - owner
    found: list[tuple[Runs, I64, Flags]] = []
    first = 0
    while len(parent) or not found:
        serial = runs.size2 <= cutoff
        found.append((runs, parent, serial))
        splits = np.flatnonzero(~serial)
        parent = np.repeat(first + splits, 2)
        first += len(serial)
        split = Runs(*(column[splits] for column in runs))
        runs = split.halves(ranks(split)).ordered()
    depths, parents, serials = zip(*found, strict=True)
    merges = Runs(*map(np.concatenate, zip(*depths, strict=True)))
    return merges, np.concatenate(parents), np.concatenate(serials)


INPUT = 1  # the seed of the random ranks, as of the keys in BOTS
QUICKSORT, MERGE = range(2)
QUARTERS, HALVES = range(2)  # the stages of one level of sorts: even stages merge quarters, odd stages halves
SORT_SERIAL, SORT_SPLIT, MERGE_SERIAL, MERGE_COPY, MERGE_SPLIT = range(5)

SHAPES = (
    Shape((Op.RUN,), (QUICKSORT,), (1,)),
    Shape((*[Op.SPAWN] * 4, Op.WAIT, Op.SPAWN, Op.SPAWN, Op.WAIT, Op.CALL)),
    Shape((Op.RUN,), (MERGE,), (3,)),
    Shape((Op.RUN,), (MERGE,), (2,)),
    Shape((Op.SPAWN, Op.SPAWN, Op.WAIT)),
)


class SortParameters(WorkloadParameters):
    """BOTS Sort of ``n`` elements.

    Arrays below ``quicksort_cutoff`` are sorted serially; merges whose shorter side has at most ``merge_cutoff``
    elements are serial.
    """

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["sort"] = Field(description="The name of this workload.")
    n: Annotated[Whole, Field(ge=4, le=2**27)] = Field(description="Elements to sort.")
    quicksort_cutoff: Annotated[Whole, Field(ge=4)] = Field(
        2048, description="Arrays with fewer elements are sorted serially; the default of BOTS."
    )
    merge_cutoff: Annotated[Whole, Field(ge=2)] = Field(
        2048, description="Largest number of elements of the shorter side of a serial merge; the default of BOTS."
    )
    element_bytes: Literal[4, 8] = Field(8, description="Size of an element: 8 bytes in BOTS, 4 in the thesis (A-24).")
    ps_per_1000_comparisons: WorkTime = Field(
        7_983_000, description="Time of 1,000 comparisons; the default fits the serial time of Table 3.4 of the thesis."
    )

    def totals(self) -> Totals:
        """Return upper bounds of the program's size: a merge splits until its longer run has half a cut-off.

        At every level of sorts all elements are merged twice.
        """
        n, levels, size = self.n, 0, self.n
        while size >= self.quicksort_cutoff:
            levels, size = levels + 1, size - 3 * (size // 4)
        sorts = (4 ** (levels + 1) - 1) // 3
        merges = 2 * levels * 4 * n // (self.merge_cutoff - 1) + sorts
        comparisons = (2 * levels + n.bit_length()) * n
        most_ps = compute_ps(n * n.bit_length(), self.ps_per_1000_comparisons)
        array_bytes = n * self.element_bytes
        moved = access(array_bytes, mode=Mode.READ_WRITE).times(1 + 4 * levels)
        return (
            task(segment(0, *[access(1)] * 3), ops=8).times(sorts + merges)
            + Totals(compute_ps=compute_ps(comparisons, self.ps_per_1000_comparisons), segment_ps=most_ps)
            + moved
            + memory(array_bytes)
        )


def sort(parameters: SortParameters) -> Workload:
    """Return the task graph of one sort of random keys; the keys depend on ``n`` alone."""
    return sort_graph(parameters, *_recursion(parameters.n, parameters.quicksort_cutoff, parameters.merge_cutoff))


def sort_graph(parameters: SortParameters, sorts: Sorts, graph: SortGraph) -> Workload:
    """Return the workload of the sort whose recursion is ``sorts`` and whose tasks are ``graph``."""
    draft = Draft(graph.parent, graph.shape, SHAPES, graph.kind)
    _fill_sorts(draft, sorts, parameters)
    _fill_merges(draft, graph, parameters)
    array_bytes = parameters.n * parameters.element_bytes
    return draft.finish(
        **made_of(parameters),
        kernels=("quicksort", "merge"),
        regions=(Region("array", array_bytes, True), Region("temporary", array_bytes, False)),
        facts=_facts(sorts, graph),
    )


class Sorts(NamedTuple):
    """The recursion of sorts, numbered level by level; arrays are [sorts]."""

    low: I64
    size: I64
    parent: I64
    split: I64  # whether the sort is cut into quarters
    first: I64  # [levels + 1] the first sort of each level


def sort_tree(n: int, cutoff: int) -> Sorts:
    """Return quarters of quarters down to sizes below ``cutoff``; the last quarter takes the remainder."""
    low, size, parent = np.array([0]), np.array([n]), np.array([-1])
    found, first = [], 0
    while len(low):
        split = size >= cutoff
        found.append((low, size, parent, split))
        cut = np.flatnonzero(split)
        quarter = size[cut] // 4
        parent = np.repeat(first + cut, 4)
        first += len(low)
        low = (low[cut][:, None] + quarter[:, None] * np.arange(4)).ravel()
        size = np.stack([quarter, quarter, quarter, size[cut] - 3 * quarter], axis=1).ravel()
    lows, sizes, parents, splits = (np.concatenate(column) for column in zip(*found, strict=True))
    return Sorts(lows, sizes, parents, splits, offsets(np.array([len(level[0]) for level in found])))


class SortGraph(NamedTuple):
    """Sorts, then merges; ``parent``, ``shape`` and ``kind`` are [sorts + merges], ``runs`` [merges]."""

    parent: I64
    shape: I64
    kind: I64
    runs: Runs


def recursion(n: int, quicksort_cutoff: int, merge_cutoff: int, ranks: Ranks) -> tuple[Sorts, SortGraph]:
    """Return (all sorts, all sorts and merges as tasks); a merge splits at the rank that ``ranks`` returns."""
    sorts = sort_tree(n, quicksort_cutoff)
    runs, parent, serial = merge_forest(ranks, *_roots(sorts), merge_cutoff)
    roots, first = parent < 0, len(sorts.low)  # merges are numbered after the sorts
    called = roots & (runs.stage % 2 == HALVES)
    shape = np.where(serial, np.where(runs.size2 == 0, MERGE_COPY, MERGE_SERIAL), MERGE_SPLIT)
    return sorts, SortGraph(
        np.concatenate([sorts.parent, np.where(roots, -1 - parent, first + parent)]),
        np.concatenate([np.where(sorts.split, SORT_SPLIT, SORT_SERIAL), shape]),
        np.concatenate([np.full(first, Kind.TASK), np.where(called, Kind.CALL, Kind.TASK)]),
        runs,
    )


@lru_cache(maxsize=1)
def _recursion(n: int, quicksort_cutoff: int, merge_cutoff: int) -> tuple[Sorts, SortGraph]:
    """Return `recursion` for random keys; the last result is kept, because drawing ranks takes long."""
    return recursion(n, quicksort_cutoff, merge_cutoff, lambda merges: drawn_ranks(merges, n))


def drawn_ranks(merges: Runs, n: int) -> I64:
    """Return [merges] the rank at which each merge of a sort of ``n`` random keys splits.

    A stage and the position of the element that the split places select the stream of random numbers. A stage places no
    element twice, so every split has a stream of its own, whatever the cut-offs.
    """
    below = merges.size1 // 2
    streams = base_array(INPUT, DrawClass.RANK, merges.stage * n + merges.low1 + below)
    return random_ranks(below, merges.size1 - 1 - below, merges.size2, streams)


def _roots(sorts: Sorts) -> tuple[Runs, I64]:
    """Return the merges that sorts begin, and the sort of each merge: first the merges of quarters, then of halves."""
    ids = np.flatnonzero(sorts.split)
    low, size, quarter = sorts.low[ids], sorts.size[ids], sorts.size[ids] // 4
    middle = low + 2 * quarter
    stage = QUARTERS + 2 * (np.searchsorted(sorts.first, ids, side="right") - 1)
    first = (low, quarter, low + quarter, quarter, low, stage)
    last = (middle, quarter, middle + quarter, size - 3 * quarter, middle, stage)
    pairs = (np.stack(pair, axis=1).ravel() for pair in zip(first, last, strict=True))  # the two alternate
    wholes = (low, 2 * quarter, middle, size - 2 * quarter, low, stage + HALVES - QUARTERS)
    runs = Runs(*(np.concatenate(columns) for columns in zip(pairs, wholes, strict=True)))
    return runs, np.concatenate([np.repeat(ids, 2), ids])


def _fill_sorts(draft: Draft, sorts: Sorts, parameters: SortParameters) -> None:
    ids = draft.tasks(SORT_SERIAL)
    size = sorts.size[ids]
    distinct, which = np.unique(size, return_inverse=True)
    comparisons = size * np.array([(m - 1).bit_length() for m in distinct.tolist()], np.int64)[which]
    draft.compute(SORT_SERIAL, compute_ps(comparisons, parameters.ps_per_1000_comparisons))
    first, length = sorts.low[ids] * parameters.element_bytes, size * parameters.element_bytes
    draft.access(SORT_SERIAL, 0, region=ARRAY, offset=first, row_bytes=length, mode=Mode.READ_WRITE)


def _fill_merges(draft: Draft, graph: SortGraph, parameters: SortParameters) -> None:
    sorts = len(graph.parent) - len(graph.runs.stage)
    for shape in (MERGE_SERIAL, MERGE_COPY):
        ids = draft.tasks(shape) - sorts
        runs = Runs(*(column[ids] for column in graph.runs))
        source = np.where(runs.stage % 2 == QUARTERS, ARRAY, TEMPORARY)
        total = runs.size1 + runs.size2
        draft.compute(shape, compute_ps(total, parameters.ps_per_1000_comparisons))
        pieces = [
            (source, runs.low1, runs.size1, Mode.READ),
            (ARRAY + TEMPORARY - source, runs.target, total, Mode.WRITE),
            (source, runs.low2, runs.size2, Mode.READ),
        ]
        for number, (region, low, size, mode) in enumerate(pieces[: SHAPES[shape].accesses[0]]):
            first, length = low * parameters.element_bytes, size * parameters.element_bytes
            draft.access(shape, number, region=region, offset=first, row_bytes=length, mode=mode)


def _facts(sorts: Sorts, graph: SortGraph) -> dict[str, int]:
    count = np.bincount(graph.shape, minlength=len(SHAPES)).tolist()
    merging = graph.shape[len(sorts.low) :] != MERGE_SPLIT
    return {
        "tasks": int((graph.kind == Kind.TASK).sum()),
        "sort_splits": count[SORT_SPLIT],
        "sort_leaves": count[SORT_SERIAL],
        "sort_tasks_spawned": 4 * count[SORT_SPLIT],
        "merge_tasks_spawned": 2 * count[SORT_SPLIT] + 2 * count[MERGE_SPLIT],
        "merge_splits": count[MERGE_SPLIT],
        "merges_serial": count[MERGE_SERIAL] + count[MERGE_COPY],
        "elements_sorted": int(sorts.size[~sorts.split].sum()),
        "elements_merged": int((graph.runs.size1 + graph.runs.size2)[merging].sum()),
    }


SMALL = {"n": 512, "quicksort_cutoff": 128, "merge_cutoff": 128}
FAMILIES = (Family(SortParameters, sort, small=SMALL, benchmark={"n": 2**17}),)
