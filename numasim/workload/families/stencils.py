"""The stencils of LAWS (Chen and Guo 2015, Table III): heat, sor, 9p, 6p and 25p, each also with an irregular tree.

A sweep computes every point from its neighbours. In the formulas below, u is the old value, n1 the sum of the nearest
values (up, down, left, right; in three dimensions also before and behind), and n2 to n4 the sums of the values two to
four steps away along the axes. After each formula stands the number of its additions and subtractions, and of its
multiplications; together these are the operations of a point.

- heat, as in the example of Cilk: ``u + cx (up - 2 u + down) + cy (left - 2 u + right)``: 6 and 4.
- sor: ``w/4 n1 + (1 - w) u``, with both factors computed before: 4 and 2. Half sweeps update red and black points.
- 9p: ``c0 u + c1 n1 + c2 (the sum of the four corners)``: 8 and 3.
- 6p: ``n1 / 6``, as a product: 5 and 1.
- 25p: ``c0 u + c1 n1 + c2 n2 + c3 n3 + c4 n4``: 24 and 5.

A sweep needs ``halo`` rows above and below a row. With two buffers a sweep reads one buffer and writes the other, and
the next sweep reads and writes them the other way round. With one buffer a sweep updates the array in place. A loop
repeats two sweeps, each with a tree of tasks. If the number of sweeps is odd, one more run of the first sweep follows
the loop. A leaf computes its rows in one segment, and accesses its rows and the rows of the halo that exist. No region
is initialised before the program: the first sweep places the pages. A half sweep (red or black points) computes every
other point, but touches all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from numasim.parts.base import Whole
from numasim.workload.algorithms.row_tree import irregular_form, planted, row_tree, tree_shapes, tree_totals
from numasim.workload.builder import Draft, Numbers, Shape, made_of
from numasim.workload.graph import I64, Loop, Mode, Op, Phase, Region, Workload
from numasim.workload.parameters import Family, Size, Sizes, WorkloadParameters, WorkTime, compute_ps
from numasim.workload.totals import Totals, access, memory, segment, task

LEAF = 0  # number of the shape (op program) of leaves
Operations = Annotated[Whole, Field(ge=0, le=10**6)]


class StencilParameters(WorkloadParameters):
    """A stencil over an array of ``x`` rows."""

    halo: ClassVar[int] = 1  # rows to either side that a row needs
    turns: ClassVar[tuple[str, str]] = ("a to b", "b to a")  # the names of the two sweeps that take turns
    halved: ClassVar[bool] = False  # whether a sweep computes every other point
    irregular: ClassVar[bool] = False
    x: Size = Field(description="Rows of the array, by which tasks divide it.")
    y: Size = Field(description="Points along the second axis of the array: of a row in two dimensions.")
    sweeps: Size = Field(200, description="How often every point is computed; the default of Figure 8 of LAWS.")
    leaf_rows: Size = Field(8, description="Rows of a leaf; the last leaf has the rest (LAWS, section 6.4).")
    element_bytes: Literal[4, 8] = Field(8, description="Size of a point (A-27).")
    branching: Annotated[Whole, Field(ge=2, le=64)] = Field(
        2, description="Children of an inner task; in an irregular tree 0, 1 or 2 more children, in turns (A-26)."
    )
    ops_per_point: Operations = Field(description="Additions and multiplications for a point.")
    ps_per_1000_ops: WorkTime = Field(500_000, description="Time of 1,000 operations; the default is assumed.")

    @property
    def row_points(self) -> int:
        """Points of a row."""
        return self.y

    @property
    def arrays(self) -> int:
        """Number of buffers: 1 if sweeps update the array in place, 2 if sweeps read one array and write the other."""
        return 2

    @property
    def passes(self) -> int:
        """Number of sweeps or half sweeps that the whole program makes over the array."""
        return self.sweeps * (1 + self.halved)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.row_points * self.element_bytes

    @property
    def array_bytes(self) -> int:
        """Bytes of a buffer."""
        return self.x * self.row_bytes

    @property
    def blocks(self) -> int:
        """Number of leaves of a sweep."""
        return -(-self.x // self.leaf_rows)

    @property
    def trees(self) -> int:
        """Number of trees of tasks: a tree for each of the sweeps that take turns."""
        return min(len(self.turns), self.passes)

    def totals(self) -> Totals:
        """Return the size of the program as if every leaf had a whole halo above and below its rows."""
        rows = min(self.x, self.leaf_rows)
        points = -(-rows * self.row_points // 2) if self.halved else rows * self.row_points
        work_ps = compute_ps(points * self.ops_per_point, self.ps_per_1000_ops)
        if self.arrays == 1:
            halo = access(min(self.halo, self.x) * self.row_bytes, 2)
            moved = halo, access(rows * self.row_bytes, mode=Mode.READ_WRITE)
        else:
            read = min(self.x, rows + 2 * self.halo)
            moved = access(read * self.row_bytes), access(rows * self.row_bytes, mode=Mode.WRITE)
        leaves = task(segment(work_ps, *moved)).times(self.blocks)
        again = leaves.times(self.passes - self.trees)
        tree = tree_totals(self.blocks, self.branching, irregular=self.irregular)
        repeats = Totals(compute_ps=again.compute_ps, lines=again.lines, accesses=again.accesses)
        return (leaves + tree).times(self.trees) + repeats + memory(self.array_bytes)


class HeatParameters(StencilParameters):
    """Heat distribution of LAWS: a five-point stencil in two dimensions."""

    name: Literal["heat"] = Field(description="The name of this workload.")
    ops_per_point: Operations = Field(10, description="Additions and multiplications for a point.")


class SorParameters(StencilParameters):
    """Successive over-relaxation of LAWS: half sweeps over red and black points in turn."""

    turns: ClassVar[tuple[str, str]] = ("red", "black")
    halved: ClassVar[bool] = True
    name: Literal["sor"] = Field(description="The name of this workload.")
    ops_per_point: Operations = Field(6, description="Additions and multiplications for a point.")
    buffers: Literal[1, 2] = Field(
        2,
        description="2: a half sweep reads one array and writes another, and the next half sweep goes back. 1: all "
        "half sweeps update one array in place (A-57).",
    )

    @property
    def arrays(self) -> int:
        """Number of buffers, which the parameter ``buffers`` gives."""
        return self.buffers


class NinePointParameters(StencilParameters):
    """Nine-point stencil of LAWS in two dimensions."""

    name: Literal["9p"] = Field(description="The name of this workload.")
    ops_per_point: Operations = Field(11, description="Additions and multiplications for a point.")


class SolidParameters(StencilParameters):
    """A stencil over an array of ``x`` rows of ``y`` x ``z`` points."""

    z: Size = Field(description="Points along the third axis of the array.")

    @property
    def row_points(self) -> int:
        """Points of a row, which is a plane of the array."""
        return self.y * self.z


class SixPointParameters(SolidParameters):
    """Six-point stencil of LAWS in three dimensions."""

    name: Literal["6p"] = Field(description="The name of this workload.")
    ops_per_point: Operations = Field(6, description="Additions and multiplications for a point.")


class TwentyFivePointParameters(SolidParameters):
    """25-point stencil of LAWS in three dimensions."""

    halo: ClassVar[int] = 4
    name: Literal["25p"] = Field(description="The name of this workload.")
    ops_per_point: Operations = Field(29, description="Additions and multiplications for a point.")


class Leaves(NamedTuple):
    """[leaves] each leaf's rows, from ``first`` to ``end - 1``, and its ``sweep``: 0 or 1 of the two sweeps."""

    first: I64
    end: I64
    sweep: I64


def stencil(parameters: StencilParameters) -> Workload:
    """Return the workload: a loop over two sweeps, each a tree of tasks, and one more sweep if their number is odd."""
    tree = row_tree(parameters.blocks, parameters.branching, irregular=parameters.irregular)
    trees, sweep = planted([tree] * parameters.trees)
    halo = parameters.arrays == 2 or parameters.blocks > 1
    shape, shapes = tree_shapes(trees, Shape((Op.RUN,), (0,), (1 + halo,)))
    draft = Draft(trees.parent, shape, shapes)
    ids = draft.tasks(LEAF)
    first = trees.first[ids] * parameters.leaf_rows
    leaves = Leaves(first, np.minimum(first + parameters.leaf_rows, parameters.x), sweep[ids])
    points = (leaves.end - leaves.first) * parameters.row_points
    if parameters.halved:  # if a leaf has an odd number of points, the first point's colour has one point more
        points = (points + (leaves.first + leaves.sweep + 1) % 2) // 2
    draft.compute(LEAF, compute_ps(points * parameters.ops_per_point, parameters.ps_per_1000_ops))
    _set_accesses(parameters, draft, leaves)
    phases, loops = _phases(parameters, draft.position[trees.parent < 0].tolist())
    return draft.finish(
        **made_of(parameters),
        kernels=("sweep",),
        regions=[Region(name, parameters.array_bytes, False) for name in ("a", "b")[: parameters.arrays]],
        phases=phases,
        loops=loops,
        facts=_facts(parameters),
    )


def _set_accesses(parameters: StencilParameters, draft: Draft, leaves: Leaves) -> None:
    """Set the accesses of leaves: read the rows and the halo in one buffer, write the rows in the other.

    With one buffer: update the rows, and read the row above and the row below, as far as these rows exist.
    """
    if parameters.arrays == 2:
        low = np.maximum(leaves.first - parameters.halo, 0)
        high = np.minimum(leaves.end + parameters.halo, parameters.x)
        _access_rows(parameters, draft, 0, leaves.sweep, low, high, Mode.READ)
        _access_rows(parameters, draft, 1, 1 - leaves.sweep, leaves.first, leaves.end, Mode.WRITE)
        return
    _access_rows(parameters, draft, 0, 0, leaves.first, leaves.end, Mode.READ_WRITE)
    if parameters.blocks > 1:
        above, below, row = leaves.first > 0, leaves.end < parameters.x, parameters.row_bytes
        offset = np.where(above, leaves.first - 1, leaves.end) * row
        rows, stride = above.astype(np.int64) + below, (leaves.end - leaves.first + 1) * row
        draft.access(LEAF, 1, region=0, offset=offset, row_bytes=row, rows=rows, stride=stride, mode=Mode.READ)


def _access_rows(
    parameters: StencilParameters, draft: Draft, number: int, buffer: Numbers, first: I64, end: I64, mode: Mode
) -> None:
    row = parameters.row_bytes
    draft.access(LEAF, number, region=buffer, offset=first * row, row_bytes=(end - first) * row, mode=mode)


def _phases(parameters: StencilParameters, roots: Sequence[int]) -> tuple[list[Phase], list[Loop]]:
    """Return the phases of the two sweeps and the loop over both; an odd number of sweeps needs one phase more."""
    first = Phase(roots=(roots[0],), name=parameters.turns[0])
    pairs, single = divmod(parameters.passes, len(parameters.turns))
    if not pairs:
        return [first], []
    second = Phase(roots=(roots[1],), name=parameters.turns[1])
    return [first, second, *[first] * single], [Loop(0, len(parameters.turns), pairs)]


def _facts(parameters: StencilParameters) -> dict[str, int]:
    """Return the number of leaves and moved bytes of a sweep, halo included, and the operations of all sweeps."""
    first = np.arange(0, parameters.x, parameters.leaf_rows)
    after = np.maximum(parameters.x - first - parameters.leaf_rows, 0)
    borders = int(np.minimum(first, parameters.halo).sum() + np.minimum(after, parameters.halo).sum())
    points = parameters.x * parameters.row_points * parameters.sweeps
    return {
        "leaves_per_sweep": parameters.blocks,
        "read_bytes_per_sweep": (parameters.x + borders) * parameters.row_bytes,
        "written_bytes_per_sweep": parameters.array_bytes,
        "ops": points * parameters.ops_per_point,
    }


IrregularHeatParameters = irregular_form(HeatParameters)
IrregularSorParameters = irregular_form(SorParameters)
IrregularNinePointParameters = irregular_form(NinePointParameters)
IrregularSixPointParameters = irregular_form(SixPointParameters)
IrregularTwentyFivePointParameters = irregular_form(TwentyFivePointParameters)


def _family(model: type[StencilParameters]) -> Family:
    """Return the family of a stencil, with small sizes that fit an array of planes or of solids."""
    sweeps, solid = 2 if model.halved else 3, issubclass(model, SolidParameters)
    small: Sizes = {"y": 4, "z": 4} if solid else {"y": 16}
    benchmark: Sizes = {"y": 8, "z": 8} if solid else {"y": 64}
    return Family(model, stencil, {"x": 44, **small, "sweeps": sweeps}, {"x": 2048, **benchmark, "sweeps": 10})


MODELS: tuple[type[StencilParameters], ...] = (
    HeatParameters,
    IrregularHeatParameters,
    SorParameters,
    IrregularSorParameters,
    NinePointParameters,
    IrregularNinePointParameters,
    SixPointParameters,
    IrregularSixPointParameters,
    TwentyFivePointParameters,
    IrregularTwentyFivePointParameters,
)
FAMILIES = tuple(map(_family, MODELS))
