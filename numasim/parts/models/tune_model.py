"""A strategy's controller, a function that chooses, between two iterations (passes through an outermost loop of the
program), the tiers, labels, switches and page policies of the next one (model 4.12).

A tier is the place of a task among subtrees that are kept together, a label the unit for which a task is meant; a
switch turns steal levels and dispatch rules on and off; a packing is a set of subtrees. A user's controller is named as
``module:function``. The name of the function and a hash of the module's source enter the identity of a run (the hash of
its contents); the path of the file does not.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, SerializerFunctionWrapHandler, Tag, model_serializer

from numasim.parts.base import CheckedModel, Count, Label, Model, Nanoseconds, PositiveCount, by_shape
from numasim.parts.choices import Choices
from numasim.parts.models import meanings
from numasim.parts.models.placement_model import AnyPolicy
from numasim.parts.models.strategy_terms import Iterations, TierDepth, span_of
from numasim.parts.python_function import PythonFunction, is_python_function

# ---- How a controller packs tasks into subtrees (model 4.8): its first packing, its moves, its exceptions ------------


class CpuBoundSpec(Model):
    """The conditions under which a task is bound by the processor rather than by memory.

    A program is bound by the processor if tasks bound by the processor execute most of its instructions.
    """

    misses_per_million: Annotated[Count, Field(le=10**6)] = Field(
        1000, description="A task with fewer misses in a million instructions is bound by the processor (A-55)."
    )
    instructions_per_us: Annotated[PositiveCount, Field(le=10**6)] = Field(
        2500,
        description="Instructions in a microsecond of compute time, since the model counts no instructions (A-55). The "
        "default is one instruction a cycle at 2.5 GHz.",
    )


class FasterBy(Model):
    """The gain of time that a packing needs to be kept: more than iterations differ by chance."""

    faster_by_per_mille: Annotated[PositiveCount, Field(le=999)] = Field(
        description="A packing is kept if its iteration takes at least so many thousandths less time."
    )


PackingStart = Annotated[
    Annotated[Literal["sosc", "slices"], Tag("text"), Choices(meanings.PACKING_START)]
    | Annotated[TierDepth, Tag("mapping")],
    by_shape("a packing starts with sosc, slices or {depth: 2}"),
]
PackingMove = Annotated[Literal["children", "parents"], Choices(meanings.PACKING_MOVES)]
PackingKeep = Annotated[
    Annotated[Literal["faster"], Tag("text"), Choices(meanings.PACKING_KEEP)] | Annotated[FasterBy, Tag("mapping")],
    by_shape("keep is faster or a mapping such as {faster_by_per_mille: 5}"),
]
PackingWithin = Annotated[Literal["tree", "slice"], Choices(meanings.PACKING_WITHIN)]
CpuBoundCheck = Annotated[
    Annotated[Literal["none"], Tag("text"), Choices(meanings.CPU_BOUND)] | Annotated[CpuBoundSpec, Tag("mapping")],
    by_shape("cpu_bound is none or a mapping such as {misses_per_million: 1000}"),
]


def _a_function(value: Any) -> Any:
    if isinstance(value, str) and not is_python_function(value):
        raise ValueError(
            "a function is given as module:function, where the module is a .py file beside this one, a path to one or "
            "a module that can be imported, as in mine:choose"
        )
    return value


PYTHON = "python"
SHIPPED = ("fastest", "packing")


class TuneSpec(CheckedModel):
    """The controller of a strategy, which is shipped or a user's function, and the choices of the controller."""

    kind_key: ClassVar[str | None] = "what"
    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "what": SHIPPED,
        PYTHON: (PYTHON,),
        "of": SHIPPED[:1],
        **dict.fromkeys(("start", "moves", "keep", "within", "cpu_bound"), SHIPPED[1:]),
    }

    what: Annotated[Literal["fastest", "packing"], Choices(meanings.TUNE_WHAT)] | None = Field(
        None, description="The name of a shipped controller; python names a function of your own in its place."
    )
    python: Annotated[str, BeforeValidator(_a_function)] | None = Field(
        None,
        description="A controller of your own as module:function. The module is a .py file beside the file that names "
        "it, a path to one, or a module that can be imported.",
    )
    of: Annotated[tuple[tuple[Label, ...], ...], Field(min_length=1, max_length=64)] | None = Field(
        None,
        description="With what: fastest, the sets of switches that are tried. The first set is on for two iterations, "
        "every other set for one; the set with the shortest iteration then stays on.",
    )
    placements: Annotated[dict[Label, AnyPolicy], Field(max_length=16)] = Field(
        default_factory=dict,
        description="Page policies by name. Between two iterations the controller may put one policy into force, for "
        "memory that is not placed yet; next-touch also lets all placed pages migrate once (model 4.12).",
    )
    start: PackingStart = Field(
        "sosc", description="With what: packing, the subtrees of the second iteration; in the first all tasks are free."
    )
    moves: tuple[PackingMove, ...] = Field(
        ("children", "parents"),
        description="With what: packing, the moves that later iterations try, in this order; a move is tried only if "
        "no earlier move was a gain. An empty list: the first packing stays.",
    )
    keep: PackingKeep = Field("faster", description="With what: packing, which of two packings is kept.")
    within: PackingWithin = Field("tree", description="With what: packing, how large a subtree may get (A-54).")
    cpu_bound: CpuBoundCheck = Field(
        "none",
        description="With what: packing, which programs are bound by the processor; for these the switch plain goes "
        "on after the first iteration, and all tasks are local, as in programs without a loop from the begin.",
    )
    profile_ns: Nanoseconds = Field(
        Decimal(0), description="Time that measuring takes at the end of each task, in iterations that are profiled."
    )
    profiled: Iterations = Field(
        (0, 0), description="First and last iteration of each loop, from 0, that are profiled. Default: the first one."
    )

    _source: str = PrivateAttr("")  # the hash of the source of the function's module

    def model_post_init(self, context: Any) -> None:
        """Hash the module of the function, if a function is given; `numasim.spec.part_reader` has found the module."""
        if self.python is not None:
            self._source = PythonFunction.of(self.python, Path()).source_hash()

    @classmethod
    def kind_of(cls, given: Mapping[str, Any]) -> str | None:
        """Return the name of the shipped controller, or ``python``."""
        return PYTHON if given.get(PYTHON) is not None else super().kind_of(given)

    @property
    def function(self) -> PythonFunction | None:
        """Return the user's own function, or None if the controller is a shipped one."""
        return None if self.python is None else PythonFunction.of(self.python, Path())

    @property
    def source_hash(self) -> str:
        """Return the hash of the function's module at the reading of the strategy; empty for a shipped controller."""
        return self._source

    @property
    def profiled_span(self) -> tuple[int, int]:
        """Return the first and the last iteration that is profiled."""
        return span_of(self.profiled)

    def _problems(self) -> Iterator[str]:
        if (self.what is None) == (self.python is None):
            yield "exactly one of what and python is needed here"
        if (self.what == "fastest") != (self.of is not None):
            yield "of goes with what: fastest, and what: fastest needs it, as in of: [[], [far]]"
        yield from self._of_another_kind()
        first, last = self.profiled_span
        if first > last:
            yield f"profiled runs from {first} to {last}, which is never"

    @model_serializer(mode="wrap")
    def _contents(self, contents_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the contents, with the name and the hash of a user's function in place of its path."""
        contents = super()._contents(contents_of)
        if self.python is not None:
            contents["python"] = {"function": PythonFunction.of(self.python, Path()).name, "source": self._source}
        return contents
