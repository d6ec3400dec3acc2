"""BOTS Sort (thesis, section 3.6): a merge sort in four parts that merges in parallel.

A task of n elements spawns the sorts of its quarters, waits, spawns the merges of the first and of the last two into
the temporary array, waits, and calls the merge of the two halves back. Below the cut-off it sorts serially. The work
of a serial sort of m elements is m ceil(log2 m) comparisons, that of a merge one comparison an element. The search
for the point where a merge splits is some twenty comparisons and is left out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from numasim.parts.base import Whole
from numasim.workload.algorithms.merges import ARRAY, TEMPORARY, Merges, Runs, merge_forest
from numasim.workload.algorithms.permutation import Values, bots_permutation
from numasim.workload.builder import Draft, Shape, parameters_of
from numasim.workload.family import Family
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Kind, Mode, Op, Region, Workload
from numasim.workload.kernel_rates import compute_ps
from numasim.workload.parameters import WorkloadParameters, WorkTime
from numasim.workload.size.totals import Totals, access, memory, segment, task

QUICKSORT, MERGE = range(2)
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
    name: Literal["sort"]
    n: Annotated[Whole, Field(ge=4, le=2**27)]
    quicksort_cutoff: Annotated[Whole, Field(ge=4)] = 2048
    merge_cutoff: Annotated[Whole, Field(ge=2)] = 2048
    element_bytes: Literal[4, 8] = 8  # BOTS sorts longs; the thesis counts 4 bytes
    ps_per_1000_comparisons: WorkTime = 7_983_000  # fits the serial time of thesis Table 3.4

    def totals(self) -> Totals:
        """At most: a merge ends where its longer side has half a cut-off, and every level of sorts merges twice."""
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
    """The task graph of one sort of the input that BOTS makes."""
    sorts, graph = _recursion(parameters.n, parameters.quicksort_cutoff, parameters.merge_cutoff)
    draft = Draft(graph.parent, graph.shape, SHAPES, graph.kind)
    _fill_sorts(draft, sorts, parameters)
    _fill_merges(draft, graph, parameters)
    array_bytes = parameters.n * parameters.element_bytes
    return draft.finish(
        name="sort",
        parameters=parameters_of(parameters),
        kernels=("quicksort", "merge"),
        regions=(Region("array", array_bytes, True), Region("temporary", array_bytes, False)),
        facts=_facts(sorts, graph),
    )


class Sorts(NamedTuple):
    """The recursion of sorts, numbered level by level; arrays are [sorts]."""

    low: I64
    size: I64
    parent: I64
    split: I64  # whether it is cut into quarters
    first: I64  # [levels + 1] the first sort of each level


def sort_tree(n: int, cutoff: int) -> Sorts:
    """Quarters of quarters, the last of which takes the remainder, down to sizes below ``cutoff``."""
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


class _Stage(NamedTuple):
    merges: Merges
    source: int  # the array that the runs lie in
    called: bool  # whether the roots are calls instead of tasks


def _merge_stages(n: int, merge_cutoff: int, sorts: Sorts) -> list[_Stage]:
    """The merges of every level of sorts: first those of quarters, then those of halves."""
    values = bots_permutation(n)
    _sort_pieces(values, sorts.low[~sorts.split], sorts.size[~sorts.split])
    quarters, halves = [], []
    for level in reversed(range(len(sorts.first) - 2)):  # no sort of the deepest level is split
        ids = np.arange(sorts.first[level], sorts.first[level + 1])
        ids = ids[sorts.split[ids]]
        low, half, size = sorts.low[ids], 2 * (sorts.size[ids] // 4), sorts.size[ids]
        pairs = _pairs(low, half, size)
        quarters.append(_Stage(merge_forest(values, pairs, np.repeat(ids, 2), merge_cutoff), ARRAY, False))
        _sort_pieces(values, pairs.low1, pairs.size1 + pairs.size2)
        whole = Runs(low, half, low + half, size - half, low)
        halves.append(_Stage(merge_forest(values, whole, ids, merge_cutoff), TEMPORARY, True))
        if level:
            _sort_pieces(values, low, size)
    return quarters + halves


def _pairs(low: I64, half: I64, size: I64) -> Runs:
    """The merges of the first two and of the last two quarters of each sort, alternating."""
    quarter = half // 2
    first = (low, quarter, low + quarter, quarter, low)
    last = (low + half, quarter, low + half + quarter, size - half - quarter, low + half)
    return Runs(*(np.stack(pair, axis=1).ravel() for pair in zip(first, last, strict=True)))


def _sort_pieces(values: Values, low: I64, size: I64) -> None:
    """Sort every piece in place; the stable kind recognises the sorted runs that a piece consists of."""
    for start, end in zip(low.tolist(), (low + size).tolist(), strict=True):
        values[start:end].sort(kind="stable")


class _Graph(NamedTuple):
    """Sorts, then merges; ``parent``, ``shape`` and ``kind`` are [sorts + merges], the rest [merges]."""

    parent: I64
    shape: I64
    kind: I64
    runs: Runs
    source: I64


def _join(sorts: Sorts, stages: list[_Stage]) -> _Graph:
    """Number the merges after the sorts, quarters before halves, as their spawning task orders them."""
    parents, shapes = [sorts.parent], [np.where(sorts.split, SORT_SPLIT, SORT_SERIAL)]
    kinds = [np.full(len(sorts.low), Kind.TASK)]
    first = len(sorts.low)
    for merges, _, called in stages:
        roots = merges.parent < 0
        parents.append(np.where(roots, -1 - merges.parent, first + merges.parent))
        serial = np.where(merges.runs.size2 == 0, MERGE_COPY, MERGE_SERIAL)
        shapes.append(np.where(merges.serial, serial, MERGE_SPLIT))
        kinds.append(np.where(roots & called, Kind.CALL, Kind.TASK))
        first += len(roots)
    none = np.zeros(0, np.int64)
    columns = [np.concatenate([none, *column]) for column in zip(*(stage.merges.runs for stage in stages), strict=True)]
    source = [np.full(len(stage.merges.parent), stage.source) for stage in stages]
    return _Graph(
        np.concatenate(parents),
        np.concatenate(shapes),
        np.concatenate(kinds),
        Runs(*columns) if columns else Runs(none, none, none, none, none),
        np.concatenate([none, *source]),
    )


@lru_cache(maxsize=1)
def _recursion(n: int, quicksort_cutoff: int, merge_cutoff: int) -> tuple[Sorts, _Graph]:
    """All sorts and merges. To find where merges split takes far longer than all else, and no rate changes it."""
    sorts = sort_tree(n, quicksort_cutoff)
    return sorts, _join(sorts, _merge_stages(n, merge_cutoff, sorts))


def _fill_sorts(draft: Draft, sorts: Sorts, parameters: SortParameters) -> None:
    ids = draft.tasks(SORT_SERIAL)
    size = sorts.size[ids]
    draft.compute(SORT_SERIAL, compute_ps(quicksort_comparisons(size), parameters.ps_per_1000_comparisons))
    first, length = sorts.low[ids] * parameters.element_bytes, size * parameters.element_bytes
    draft.access(SORT_SERIAL, 0, region=ARRAY, offset=first, row_bytes=length, mode=Mode.READ_WRITE)


def quicksort_comparisons(size: I64) -> I64:
    """[sorts] ``m ceil(log2 m)`` for each size m."""
    distinct, which = np.unique(size, return_inverse=True)
    return size * np.array([(m - 1).bit_length() for m in distinct.tolist()], np.int64)[which]


def _fill_merges(draft: Draft, graph: _Graph, parameters: SortParameters) -> None:
    sorts = len(graph.parent) - len(graph.source)
    for shape in (MERGE_SERIAL, MERGE_COPY):
        ids = draft.tasks(shape) - sorts
        runs = Runs(*(column[ids] for column in graph.runs))
        source = graph.source[ids]
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


def _facts(sorts: Sorts, graph: _Graph) -> dict[str, int]:
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


FAMILIES = (
    Family(
        SortParameters, sort, small={"n": 512, "quicksort_cutoff": 128, "merge_cutoff": 128}, benchmark={"n": 2**17}
    ),
)
