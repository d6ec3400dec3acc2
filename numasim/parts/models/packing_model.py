"""How a controller packs tasks into subtrees (model 4.8): how it begins, what it tries, what it leaves alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Tag

from numasim.parts.base import Count, Model, PositiveCount
from numasim.parts.models.meanings import CPU_BOUND, PACKING_KEEP, PACKING_MOVES, PACKING_START, PACKING_WITHIN
from numasim.parts.models.runtime_model import by_shape
from numasim.parts.models.strategy_terms import TierDepth


class CpuBoundSpec(Model):
    """When a task is bound by the processor rather than by memory; a program is, if such tasks execute most of its
    instructions.
    """

    misses_per_million: Annotated[Count, Field(le=10**6)] = Field(
        1000,
        description="A task with fewer misses in a million instructions is bound by the processor (A-55).",
    )
    instructions_per_us: Annotated[PositiveCount, Field(le=10**6)] = Field(
        2500,
        description="Instructions in a microsecond of compute time, which stand for those that the model does not have "
        "(A-55). The default is one a cycle at 2.5 GHz.",
    )


class FasterBy(Model):
    """How much faster a packing has to be to be kept: more than iterations differ by chance."""

    faster_by_per_mille: Annotated[PositiveCount, Field(le=999)] = Field(
        description="A packing is kept if its iteration takes at least so many thousandths less time.",
    )


PackingStart = Annotated[
    Annotated[Literal["sosc", "slices"], Tag("text"), PACKING_START] | Annotated[TierDepth, Tag("mapping")],
    by_shape("a packing starts with sosc, slices or {depth: 2}"),
]
PackingMove = Annotated[Literal["children", "parents"], PACKING_MOVES]
PackingKeep = Annotated[
    Annotated[Literal["faster"], Tag("text"), PACKING_KEEP] | Annotated[FasterBy, Tag("mapping")],
    by_shape("keep is faster or a mapping such as {faster_by_per_mille: 5}"),
]
PackingWithin = Annotated[Literal["tree", "slice"], PACKING_WITHIN]
CpuBoundCheck = Annotated[
    Annotated[Literal["none"], Tag("text"), CPU_BOUND] | Annotated[CpuBoundSpec, Tag("mapping")],
    by_shape("cpu_bound is none or a mapping such as {misses_per_million: 1000}"),
]
