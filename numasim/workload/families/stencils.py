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

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from numasim.parts.base import Whole
from numasim.workload.algorithms.stencil_sweeps import Sweeps, sweep_totals, sweep_workload
from numasim.workload.builder import parameters_of
from numasim.workload.family import Family, Sizes
from numasim.workload.graph import Workload
from numasim.workload.parameters import Size, WorkloadParameters, WorkTime
from numasim.workload.size.totals import Totals

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
