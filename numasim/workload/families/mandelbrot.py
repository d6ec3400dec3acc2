"""The Mandelbrot set: the rows of a picture have costs that differ by orders of magnitude; a CPU-bound program of LAWS.

The count of a point c is the number of steps z := z^2 + c, from z = 0 on, until |z| > 2, but at most ``most_steps``.
The points are the centres of x times y equal cells of the square from -2 - 3i/2 to 1 + 3i/2. All numbers are integers
in units of 2^-28, and products are rounded down, so that counts are the same on all machines. Rows at equal distances
above and below the real axis have equal counts. A tree of tasks divides the rows, and a leaf writes the counts of its
rows.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from numasim.parts.base import Whole
from numasim.workload.algorithms.row_tree import row_tree, tree_shapes, tree_totals
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.graph import I64, Mode, Op, Phase, Region, Workload
from numasim.workload.parameters import Family, Size, WorkloadParameters, WorkTime, compute_ps
from numasim.workload.totals import Totals, access, memory, segment, task

LEAF = 0  # number of the shape (op program) of leaves
BITS = 28  # binary digits of a fraction
COUNT_BYTES = 4
BRANCHING = 2
Side = Annotated[Whole, Field(ge=1, le=4096)]


class MandelbrotParameters(WorkloadParameters):
    """The Mandelbrot set in ``x`` rows of ``y`` points: a tree of tasks over rows of very different cost."""

    name: Literal["mandelbrot"] = Field(description="The name of this workload.")
    x: Side = Field(description="Rows of the picture.")
    y: Side = Field(description="Points of a row.")
    most_steps: Annotated[Whole, Field(ge=1, le=4096)] = Field(256, description="Steps after which a point is inside.")
    leaf_rows: Size = Field(8, description="Rows of a leaf.")
    iterations: Size = Field(1, description="How often the picture is computed, once after the other.")
    ps_per_1000_steps: WorkTime = Field(4_000_000, description="Time of 1,000 steps; the default is assumed.")

    def totals(self) -> Totals:
        """Return the size of the program as if each point took ``most_steps`` steps."""
        rows, blocks = min(self.leaf_rows, self.x), -(-self.x // self.leaf_rows)
        most_ps = compute_ps(rows * self.y * self.most_steps, self.ps_per_1000_steps)
        leaves = task(segment(most_ps, access(rows * self.y * COUNT_BYTES, mode=Mode.WRITE))).times(blocks)
        picture = memory(self.x * self.y * COUNT_BYTES)
        return (leaves + tree_totals(blocks, BRANCHING)).repeated(self.iterations) + picture


def mandelbrot(parameters: MandelbrotParameters) -> Workload:
    """Return the tree over the rows, repeated as often as the picture is computed."""
    tree = row_tree(-(-parameters.x // parameters.leaf_rows), BRANCHING)
    shape, shapes = tree_shapes(tree, Shape((Op.RUN,), (0,), (1,)))
    draft = Draft(tree.parent, shape, shapes)
    first = tree.first[draft.tasks(LEAF)] * parameters.leaf_rows
    end = np.minimum(first + parameters.leaf_rows, parameters.x)
    steps = np.add.reduceat(row_steps(parameters.x, parameters.y, parameters.most_steps), first)
    draft.compute(LEAF, compute_ps(steps, parameters.ps_per_1000_steps))
    row_bytes = parameters.y * COUNT_BYTES
    draft.access(LEAF, 0, region=0, offset=first * row_bytes, row_bytes=(end - first) * row_bytes, mode=Mode.WRITE)
    return draft.finish(
        **made_of(parameters),
        kernels=("rows",),
        regions=(Region("picture", parameters.x * row_bytes, False),),
        phases=[Phase(roots=(0,), repeat=parameters.iterations, name="picture")],
        facts={"steps": int(steps.sum())},
    )


def row_steps(rows: int, columns: int, most: int) -> I64:
    """Return [rows] the steps of all points of each row; one half of the rows is computed, the other is its mirror."""
    half = np.array([_steps(row, rows, columns, most) for row in range((rows + 1) // 2)], np.int64)
    return np.concatenate([half, half[: rows // 2][::-1]])


def _steps(row: int, rows: int, columns: int, most: int) -> int:
    real = (3 * (2 * np.arange(columns) + 1) << BITS) // (2 * columns) - (2 << BITS)
    imaginary = (3 << BITS) // 2 - (3 * (2 * row + 1) << BITS) // (2 * rows)
    a, b = np.zeros((2, columns), np.int64)
    found = 0
    for _ in range(most):
        found += len(real)
        a, b = ((a * a - b * b) >> BITS) + real, ((2 * a * b) >> BITS) + imaginary
        bounded = a * a + b * b <= 4 << 2 * BITS
        a, b, real = a[bounded], b[bounded], real[bounded]
    return found


SMALL = {"x": 24, "y": 12, "most_steps": 30, "iterations": 2}
BENCHMARK = {"x": 1024, "y": 32, "leaf_rows": 1, "iterations": 5}
FAMILIES = (Family(MandelbrotParameters, mandelbrot, small=SMALL, benchmark=BENCHMARK),)
