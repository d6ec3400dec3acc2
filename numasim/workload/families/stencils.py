"""The stencils of LAWS (Chen and Guo 2015, Table III): heat, sor, 9p, 6p and 25p, each also with an irregular tree.

A point of a sweep is computed from those around it. The operations of a point are the additions, subtractions and
multiplications of its formula as written here, u the old values, n1 the sum of the nearest ones (up, down, left, right;
in three dimensions also before and behind), n2 to n4 the sums of those two to four steps away along the axes:

- heat, as in the example of Cilk: ``u + cx (up - 2 u + down) + cy (left - 2 u + right)``: 6 and 4.
- sor: ``w/4 n1 + (1 - w) u``, with the factors known before: 4 and 2. Half sweeps do the red and the black points.
- 9p: ``c0 u + c1 n1 + c2 (the sum of the four corners)``: 8 and 3.
- 6p: ``n1 / 6``, as a product: 5 and 1.
- 25p: ``c0 u + c1 n1 + c2 n2 + c3 n3 + c4 n4``: 24 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from numasim.parts.base import Whole
from numasim.workload.algorithms.row_tree import RowTree, planted, row_tree, tree_shapes, tree_totals
from numasim.workload.builder import Draft, Numbers, Shape, parameters_of
from numasim.workload.graph import I64, Loop, Mode, Op, Phase, Region, Workload
from numasim.workload.parameters import Family, Size, Sizes, WorkloadParameters, WorkTime, compute_ps
from numasim.workload.size.totals import Totals, access, memory, segment, task

# ---- Sweeps over the rows of an array, a tree of tasks for every sweep -----------------------------------------------
#
# A sweep computes every point from the points around it, ``halo`` rows to either side. With two buffers a sweep reads
# one buffer and writes the other, and the next sweep goes back; with one buffer a sweep updates the array in place. The
# two sweeps have a tree of tasks each and are repeated as a loop; the last of an odd number of sweeps is a phase behind
# the loop, with the tree of the first. A leaf has one RUN: the leaf computes its rows, and accesses the rows and the
# rows of the halo that exist. No region is initialised before: the first sweep places the pages. A half sweep of a
# red-black order computes every other point and touches all rows nevertheless.

LEAF = 0  # the shape of leaves


@dataclass(frozen=True)
class Sweeps:
    """What a stencil program does: sizes in rows, points and bytes, ``ops`` a point, ``rate`` in ps per 1,000 ops."""

    name: str
    rows: int
    row_points: int
    element_bytes: int
    halo: int  # rows to either side; in place one
    count: int  # sweeps in all
    turns: tuple[str, str]  # what the sweeps that take turns are called
    buffers: int  # 1: in place, 2: from one to the other
    halved: bool  # a sweep computes every other point
    leaf_rows: int
    branching: int
    irregular: bool
    ops: int
    rate: int

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.row_points * self.element_bytes

    @property
    def array_bytes(self) -> int:
        """Bytes of a buffer."""
        return self.rows * self.row_bytes

    @property
    def blocks(self) -> int:
        """Leaves of a sweep."""
        return -(-self.rows // self.leaf_rows)

    @property
    def trees(self) -> int:
        """Trees of tasks: one for each of the sweeps that take turns."""
        return min(len(self.turns), self.count)


def sweep_totals(sweeps: Sweeps) -> Totals:
    """Of all trees, and of what all sweeps compute and access; a leaf has at most a halo to either side."""
    rows = min(sweeps.rows, sweeps.leaf_rows)
    points = -(-rows * sweeps.row_points // 2) if sweeps.halved else rows * sweeps.row_points
    work_ps = compute_ps(points * sweeps.ops, sweeps.rate)
    if sweeps.buffers == 1:
        halo = access(min(sweeps.halo, sweeps.rows) * sweeps.row_bytes, 2)
        moved = halo, access(rows * sweeps.row_bytes, mode=Mode.READ_WRITE)
    else:
        read = min(sweeps.rows, rows + 2 * sweeps.halo)
        moved = access(read * sweeps.row_bytes), access(rows * sweeps.row_bytes, mode=Mode.WRITE)
    leaves = task(segment(work_ps, *moved)).times(sweeps.blocks)
    again = leaves.times(sweeps.count - sweeps.trees)
    tree = tree_totals(sweeps.blocks, sweeps.branching, irregular=sweeps.irregular)
    repeats = Totals(compute_ps=again.compute_ps, lines=again.lines, accesses=again.accesses)
    return (leaves + tree).times(sweeps.trees) + repeats + memory(sweeps.array_bytes)


class Leaves(NamedTuple):
    """[leaves] the rows from ``first`` to ``end - 1`` of each, and which ``sweep`` of the two it belongs to."""

    first: I64
    end: I64
    sweep: I64


def sweep_workload(sweeps: Sweeps, parameters: dict[str, int]) -> Workload:
    """The trees of the sweeps that take turns, and the loop over them."""
    trees, sweep = planted([row_tree(sweeps.blocks, sweeps.branching, irregular=sweeps.irregular)] * sweeps.trees)
    halo = sweeps.buffers == 2 or sweeps.blocks > 1
    shape, shapes = tree_shapes(trees, Shape((Op.RUN,), (0,), (1 + halo,)))
    draft = Draft(trees.parent, shape, shapes)
    leaves = _leaves(sweeps, trees, sweep, draft.tasks(LEAF))
    draft.compute(LEAF, compute_ps(_points(sweeps, leaves) * sweeps.ops, sweeps.rate))
    (_access_two if sweeps.buffers == 2 else _access_one)(sweeps, draft, leaves)
    roots = draft.position[trees.parent < 0].tolist()
    phases, loops = _phases(sweeps, roots)
    return draft.finish(
        name=sweeps.name,
        parameters=parameters,
        kernels=("sweep",),
        regions=[Region(name, sweeps.array_bytes, False) for name in ("a", "b")[: sweeps.buffers]],
        phases=phases,
        loops=loops,
        facts=_facts(sweeps),
    )


def _leaves(sweeps: Sweeps, trees: RowTree, sweep: I64, ids: I64) -> Leaves:
    first = trees.first[ids] * sweeps.leaf_rows
    return Leaves(first, np.minimum(first + sweeps.leaf_rows, sweeps.rows), sweep[ids])


def _points(sweeps: Sweeps, leaves: Leaves) -> I64:
    """[leaves] the points that each computes; of an odd number, the colour of the first point has one more."""
    points = (leaves.end - leaves.first) * sweeps.row_points
    if not sweeps.halved:
        return points
    return (points + (leaves.first + leaves.sweep + 1) % 2) // 2


def _access_two(sweeps: Sweeps, draft: Draft, leaves: Leaves) -> None:
    """Read the rows and the halo in one buffer, write the rows in the other."""
    low = np.maximum(leaves.first - sweeps.halo, 0)
    high = np.minimum(leaves.end + sweeps.halo, sweeps.rows)
    _access_rows(sweeps, draft, 0, leaves.sweep, low, high, Mode.READ)
    _access_rows(sweeps, draft, 1, 1 - leaves.sweep, leaves.first, leaves.end, Mode.WRITE)


def _access_one(sweeps: Sweeps, draft: Draft, leaves: Leaves) -> None:
    """Update the rows; read the row above and the row below, of which the first and the last leaf have one."""
    _access_rows(sweeps, draft, 0, 0, leaves.first, leaves.end, Mode.READ_WRITE)
    if sweeps.blocks > 1:
        above, below = leaves.first > 0, leaves.end < sweeps.rows
        draft.access(
            LEAF,
            1,
            region=0,
            offset=np.where(above, leaves.first - 1, leaves.end) * sweeps.row_bytes,
            row_bytes=sweeps.row_bytes,
            rows=above.astype(np.int64) + below,
            stride=(leaves.end - leaves.first + 1) * sweeps.row_bytes,
            mode=Mode.READ,
        )


def _access_rows(sweeps: Sweeps, draft: Draft, number: int, buffer: Numbers, first: I64, end: I64, mode: Mode) -> None:
    draft.access(
        LEAF,
        number,
        region=buffer,
        offset=first * sweeps.row_bytes,
        row_bytes=(end - first) * sweeps.row_bytes,
        mode=mode,
    )


def _phases(sweeps: Sweeps, roots: Sequence[int]) -> tuple[list[Phase], list[Loop]]:
    """The sweeps that take turns, as often as there are pairs of them; then the last one of an odd number."""
    first = Phase(roots=(roots[0],), name=sweeps.turns[0])
    pairs, single = divmod(sweeps.count, len(sweeps.turns))
    if not pairs:
        return [first], []
    second = Phase(roots=(roots[1],), name=sweeps.turns[1])
    return [first, second, *[first] * single], [Loop(0, len(sweeps.turns), pairs)]


def _facts(sweeps: Sweeps) -> dict[str, int]:
    """Of a sweep the leaves and the bytes that they read and write, the halo included; the operations of all sweeps."""
    first = np.arange(0, sweeps.rows, sweeps.leaf_rows)
    after = np.maximum(sweeps.rows - first - sweeps.leaf_rows, 0)
    borders = int(np.minimum(first, sweeps.halo).sum() + np.minimum(after, sweeps.halo).sum())
    points = sweeps.rows * sweeps.row_points * sweeps.count
    return {
        "leaves_per_sweep": sweeps.blocks,
        "read_bytes_per_sweep": (sweeps.rows + borders) * sweeps.row_bytes,
        "written_bytes_per_sweep": sweeps.array_bytes,
        "ops": (points // 2 if sweeps.halved else points) * sweeps.ops,
    }


# ---- The programs ----------------------------------------------------------------------------------------------------

BUFFERS_IN_TURN = ("a to b", "b to a")
COLOURS = ("red", "black")
Operations = Annotated[Whole, Field(ge=0, le=10**6)]


class StencilParameters(WorkloadParameters):
    """A stencil over an array of ``x`` rows."""

    halo: ClassVar[int] = 1
    passes: ClassVar[int] = 1  # over the array in a sweep
    irregular: ClassVar[bool] = False
    x: Size = Field(description="Rows of the array, by which tasks divide it.")
    y: Size = Field(description="Points along the second axis of the array: of a row in two dimensions.")
    sweeps: Size = Field(200, description="How often every point is computed; the default is that of Figure 8 of LAWS.")
    leaf_rows: Size = Field(8, description="Rows of a leaf; the last one has what is left (LAWS, section 6.4).")
    element_bytes: Literal[4, 8] = Field(8, description="Size of a point (A-27).")
    branching: Annotated[Whole, Field(ge=2, le=64)] = Field(
        2,
        description="Children of an inner task; where the tree is irregular, one, two or none more, in turns (A-26).",
    )
    ops_per_point: Operations = Field(description="Additions and multiplications for a point.")
    ps_per_1000_ops: WorkTime = Field(500_000, description="Time of 1,000 operations; the default is assumed.")

    @property
    def row_points(self) -> int:
        """Points of a row."""
        return self.y

    def totals(self) -> Totals:
        """Of the trees of two sweeps, and of what all sweeps do."""
        return sweep_totals(self.form())

    def form(self) -> Sweeps:
        """What the program does."""
        return Sweeps(
            name=self.name,
            rows=self.x,
            row_points=self.row_points,
            element_bytes=self.element_bytes,
            halo=self.halo,
            count=self.passes * self.sweeps,
            turns=BUFFERS_IN_TURN,
            buffers=2,
            halved=False,
            leaf_rows=self.leaf_rows,
            branching=self.branching,
            irregular=self.irregular,
            ops=self.ops_per_point,
            rate=self.ps_per_1000_ops,
        )


class _Heat(StencilParameters):
    """What the two trees of heat have in common."""

    ops_per_point: Operations = Field(10, description="Additions and multiplications for a point.")


class HeatParameters(_Heat):
    """Heat distribution of LAWS: a five-point stencil in two dimensions."""

    name: Literal["heat"] = Field(description="The name of this workload.")


class IrregularHeatParameters(_Heat):
    """Heat distribution of LAWS: a five-point stencil in two dimensions, with an irregular tree."""

    irregular: ClassVar[bool] = True
    name: Literal["heat-ir"] = Field(description="The name of this workload.")


class _Sor(StencilParameters):
    """What the two trees of sor have in common."""

    passes: ClassVar[int] = 2
    ops_per_point: Operations = Field(6, description="Additions and multiplications for a point.")
    buffers: Literal[1, 2] = Field(
        2,
        description="2: a half sweep reads one array and writes another, the next goes back. 1: all of them update one "
        "array in place (A-57).",
    )

    def form(self) -> Sweeps:
        """Half sweeps over the red and over the black points take turns."""
        return replace(super().form(), turns=COLOURS, buffers=self.buffers, halved=True)


class SorParameters(_Sor):
    """Successive over-relaxation of LAWS: half sweeps over red and black points in turn."""

    name: Literal["sor"] = Field(description="The name of this workload.")


class IrregularSorParameters(_Sor):
    """Successive over-relaxation of LAWS: half sweeps over red and black points in turn, with an irregular tree."""

    irregular: ClassVar[bool] = True
    name: Literal["sor-ir"] = Field(description="The name of this workload.")


class _NinePoint(StencilParameters):
    """What the two trees of 9p have in common."""

    ops_per_point: Operations = Field(11, description="Additions and multiplications for a point.")


class NinePointParameters(_NinePoint):
    """Nine-point stencil of LAWS in two dimensions."""

    name: Literal["9p"] = Field(description="The name of this workload.")


class IrregularNinePointParameters(_NinePoint):
    """Nine-point stencil of LAWS in two dimensions, with an irregular tree."""

    irregular: ClassVar[bool] = True
    name: Literal["9p-ir"] = Field(description="The name of this workload.")


class SolidParameters(StencilParameters):
    """A stencil over an array of ``x`` rows of ``y`` x ``z`` points."""

    z: Size = Field(description="Points along the third axis of the array.")

    @property
    def row_points(self) -> int:
        """Points of a row, which is a plane of the array."""
        return self.y * self.z


class _SixPoint(SolidParameters):
    """What the two trees of 6p have in common."""

    ops_per_point: Operations = Field(6, description="Additions and multiplications for a point.")


class SixPointParameters(_SixPoint):
    """Six-point stencil of LAWS in three dimensions."""

    name: Literal["6p"] = Field(description="The name of this workload.")


class IrregularSixPointParameters(_SixPoint):
    """Six-point stencil of LAWS in three dimensions, with an irregular tree."""

    irregular: ClassVar[bool] = True
    name: Literal["6p-ir"] = Field(description="The name of this workload.")


class _TwentyFivePoint(SolidParameters):
    """What the two trees of 25p have in common."""

    halo: ClassVar[int] = 4
    ops_per_point: Operations = Field(29, description="Additions and multiplications for a point.")


class TwentyFivePointParameters(_TwentyFivePoint):
    """25-point stencil of LAWS in three dimensions."""

    name: Literal["25p"] = Field(description="The name of this workload.")


class IrregularTwentyFivePointParameters(_TwentyFivePoint):
    """25-point stencil of LAWS in three dimensions, with an irregular tree."""

    irregular: ClassVar[bool] = True
    name: Literal["25p-ir"] = Field(description="The name of this workload.")


def stencil(parameters: StencilParameters) -> Workload:
    """The sweeps of a stencil program."""
    return sweep_workload(parameters.form(), parameters_of(parameters))


def _family(model: type[StencilParameters], small: Sizes, benchmark: Sizes) -> Family:
    sweeps = 3 if model.passes == 1 else 2
    return Family(model, stencil, small={**small, "sweeps": sweeps}, benchmark={**benchmark, "sweeps": 10})


PLANES: tuple[type[StencilParameters], ...] = (
    HeatParameters,
    IrregularHeatParameters,
    SorParameters,
    IrregularSorParameters,
    NinePointParameters,
    IrregularNinePointParameters,
)
SOLIDS: tuple[type[StencilParameters], ...] = (
    SixPointParameters,
    IrregularSixPointParameters,
    TwentyFivePointParameters,
    IrregularTwentyFivePointParameters,
)
FAMILIES = (
    *(_family(model, {"x": 44, "y": 16}, {"x": 2048, "y": 64}) for model in PLANES),
    *(_family(model, {"x": 44, "y": 4, "z": 4}, {"x": 2048, "y": 8, "z": 8}) for model in SOLIDS),
)
