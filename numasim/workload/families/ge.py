"""Gaussian elimination, as in LAWS (Chen and Guo 2015, Table III): a tree of tasks over the rows below each pivot.

Step k subtracts a multiple of row k, the row of the pivot, from every row below row k, from column k on. A row takes a
division for the factor, then a multiplication and a subtraction for every column behind k; column k keeps the factor.
Rows are not exchanged. A leaf updates the rows of one block of the matrix and reads the row of the pivot. Blocks above
the pivot have no leaf.

``phase_steps`` consecutive steps are modelled as so many equal runs of one phase. Every run is the mean of these steps:
in every block the bytes of a row are rounded to whole bytes, and the time is rounded to a ps. Each run has a tree and a
wait for all leaves. The sums of a block's bytes and operations over all steps equal the sums over the exact steps.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from numasim.parts.base import Whole
from numasim.workload.algorithms.row_tree import irregular_form, planted, row_tree, tree_shapes
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import I64, Mode, Op, Pattern, Phase, Region, Workload
from numasim.workload.one_worker import LINE_BYTES
from numasim.workload.parameters import Family, Size, WorkloadParameters, WorkTime, compute_ps
from numasim.workload.totals import Totals, memory

LEAF = 0  # number of the shape (op program) of leaves


class GeParameters(WorkloadParameters):
    """Gaussian elimination of LAWS on an ``x`` x ``x`` matrix: a tree over the rows below each pivot."""

    irregular: ClassVar[bool] = False
    name: Literal["ge"] = Field(description="The name of this workload.")
    x: Annotated[Whole, Field(ge=2, le=2**16)] = Field(description="Rows and columns of the matrix.")
    leaf_rows: Size = Field(8, description="Rows of a leaf (LAWS, section 6.4).")
    phase_steps: Size = Field(
        8, description="Consecutive steps that one phase repeats as their mean: more give fewer rows of tasks."
    )
    element_bytes: Literal[4, 8] = Field(8, description="Size of an element (A-27).")
    branching: Annotated[Whole, Field(ge=2, le=64)] = Field(
        2, description="Children of an inner task; in an irregular tree 0, 1 or 2 more children, in turns (A-26)."
    )
    ops_per_point: Annotated[Whole, Field(ge=0, le=10**6)] = Field(
        2, description="Operations for an element of a row behind the column of the pivot; the factor takes one more."
    )
    ps_per_1000_ops: WorkTime = Field(500_000, description="Time of 1,000 operations; the default is assumed.")

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of the matrix."""
        return self.x * self.element_bytes

    def totals(self) -> Totals:
        """Return upper bounds of the program's size: each phase has one block more, each access one line more, ..."""
        phases = -(-(self.x - 1) // self.phase_steps)
        leaves = (phases * self.x - self.phase_steps * phases * (phases - 1) // 2) // self.leaf_rows + 2 * phases
        runs, rows = leaves * min(self.phase_steps, self.x), min(self.leaf_rows, self.x)
        updated = self.element_bytes * elements(self.x)
        moved = 2 * (updated + runs * rows) + runs * self.row_bytes
        lines = [0] * len(Pattern)
        lines[Pattern.SEQUENTIAL] = -(-moved // LINE_BYTES) + 2 * runs
        return Totals(
            rows=2 * leaves,
            ops=4 * leaves,
            segments=leaves,
            accesses=2 * runs,
            compute_ps=compute_ps(operations(self.x, self.ops_per_point), self.ps_per_1000_ops) + runs,
            lines=tuple(lines),
            access_bytes=rows * self.row_bytes,
            access_lines=-(-2 * rows * self.row_bytes // LINE_BYTES),
            segment_ps=compute_ps(rows * (self.ops_per_point * self.x + 1), self.ps_per_1000_ops) + 1,
        ) + memory(self.x * self.row_bytes)


IrregularGeParameters = irregular_form(GeParameters)


def elements(size: int) -> int:
    """Return the number of elements that all steps update: r rows of r + 1 elements, for r from 1 to ``size`` - 1."""
    return (size - 1) * size * (size + 1) // 3


def operations(size: int, per_point: int) -> int:
    """Return the operations of all steps: for each r, r rows of one division and r times ``per_point`` operations."""
    return per_point * (size - 1) * size * (2 * size - 1) // 6 + size * (size - 1) // 2


class Leaves(NamedTuple):
    """[leaves] a leaf updates the rows ``first`` to ``end - 1``, in the ``steps`` steps from step ``pivot`` on."""

    first: I64
    end: I64
    pivot: I64
    steps: I64


def gaussian_elimination(parameters: GeParameters) -> Workload:
    """Return the graph that has a phase of one tree for every ``phase_steps`` steps."""
    size, leaf_rows = parameters.x, parameters.leaf_rows
    pivots = np.arange(0, size - 1, parameters.phase_steps)
    before, blocks = (pivots + 1) // leaf_rows, -(-size // leaf_rows)
    branching, irregular = parameters.branching, parameters.irregular
    trees, phase = planted([row_tree(blocks - at, branching, irregular=irregular) for at in before.tolist()])
    shape, shapes = tree_shapes(trees, Shape((Op.RUN,), (0,), (2,)))
    draft = Draft(trees.parent, shape, shapes)
    steps = np.diff(pivots, append=size - 1)
    ids = draft.tasks(LEAF)
    pivot, block = pivots[phase[ids]], before[phase[ids]] + trees.first[ids]
    first, end = np.maximum(block * leaf_rows, pivot + 1), np.minimum((block + 1) * leaf_rows, size)
    _fill(draft, Leaves(first, end, pivot, steps[phase[ids]]), parameters)
    roots = draft.position[trees.parent < 0].tolist()
    return draft.finish(
        **made_of(parameters),
        kernels=("update",),
        regions=(Region("matrix", size * parameters.row_bytes, False),),
        phases=[
            Phase(roots=(root,), repeat=repeat, name=f"from {pivot}")
            for root, repeat, pivot in zip(roots, steps.tolist(), pivots.tolist(), strict=True)
        ],
        facts={
            "steps": size - 1,
            "updated_bytes": parameters.element_bytes * elements(size),
            "ops": operations(size, parameters.ops_per_point),
        },
    )


def _fill(draft: Draft, leaves: Leaves, parameters: GeParameters) -> None:
    """Set the mean step of every leaf: it updates rows from the pivot's column on, and reads the middle pivot's row."""
    size, element_bytes = parameters.x, parameters.element_bytes
    rows = leaves.end - leaves.first
    changed, pairs = _work(leaves, size)
    whole, rest = np.divmod(parameters.ops_per_point * (changed - pairs) + pairs, leaves.steps)
    rate = parameters.ps_per_1000_ops
    draft.compute(LEAF, (whole * rate + rest * rate // leaves.steps + 500) // 1000)  # each product fits in 63 bits
    updated = np.maximum(1, _mean(changed * element_bytes, leaves.steps * rows))
    widest = size - leaves.pivot
    read = _mean((2 * widest - leaves.steps + 1) * element_bytes, np.full_like(widest, 2))

    for number, row, count, row_bytes, mode in (
        (0, leaves.first, rows, updated, Mode.READ_WRITE),
        (1, leaves.pivot + leaves.steps // 2, 1, read, Mode.READ),
    ):
        place: dict[str, Any] = {
            "region": 0,
            "offset": (row + 1) * parameters.row_bytes - row_bytes,
            "stride": parameters.row_bytes,
        }
        draft.access(LEAF, number, **place, row_bytes=row_bytes, rows=count, mode=mode)


def _work(leaves: Leaves, size: int) -> tuple[I64, I64]:
    """Return [leaves] how many elements, and how many rows, the phase updates in the leaf; each step counts.

    Row i changes in the first c = i - pivot steps of the phase, or in all steps if c > steps. The first c steps update
    (size - pivot) c - c (c - 1) / 2 elements of the row.
    """
    widest, steps = size - leaves.pivot, leaves.steps
    last = np.minimum(leaves.end - 1 - leaves.pivot, steps)
    earlier = np.minimum(leaves.first - 1 - leaves.pivot, steps)
    whole = leaves.end - leaves.first - (last - earlier)  # rows with c > steps

    def triangle(count: I64) -> I64:
        return count * (count + 1) // 2

    def pyramid(count: I64) -> I64:
        return (count - 1) * count * (count + 1) // 6

    pairs = triangle(last) - triangle(earlier) + whole * steps
    missing = pyramid(last) - pyramid(earlier) + whole * triangle(steps - 1)
    return widest * pairs - missing, pairs


def _mean(total: I64, count: I64) -> I64:
    """Return ``total`` over ``count``, rounded to the nearest integer."""
    return (2 * total + count) // (2 * count)


FAMILIES = tuple(
    Family(model, gaussian_elimination, small={"x": 21, "phase_steps": 5}, benchmark={"x": 256})
    for model in (GeParameters, IrregularGeParameters)
)
