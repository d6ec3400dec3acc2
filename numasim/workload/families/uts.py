"""UTS, unbalanced tree search (Olivier et al., LCPC 2006): a task per node of a tree generated during the search.

The number of children of a node follows from the node's random state. In a binomial tree the root has a given number of
children; every other node has m children with probability q, else no children. In a geometric tree the number of
children is geometric with a mean b(d) that depends on the depth d. The state of a child is a hash of the parent's
state. The published program hashes with SHA-1; here the hashes are random numbers of class-8 streams (model 1.4). Trees
thus have the published distribution, but not the published sizes. A node's work is to hash the states of its children.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import log, pi, pow, sin
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from numasim.draws import DrawClass, U64Array, base, draw_array, draws_array
from numasim.errors import InputError
from numasim.parts.base import Fraction as ShareSpec
from numasim.parts.base import Nanoseconds, Seed, Whole, ps
from numasim.parts.choices import Choices
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.forest_arrays import ragged
from numasim.workload.graph import I64, Op, Workload
from numasim.workload.parameters import Family, WorkloadParameters
from numasim.workload.totals import MAX_TASKS, Totals, segment, task

MAX_CHILDREN = 100  # the most children of any node but a binomial root, as in UTS
ROUNDING = 10**9  # b(d) is rounded to 1 / ROUNDING, because the last bits of a power depend on the machine


UTS_DEFAULTS: dict[str, dict[str, Any]] = {
    "binomial": {"root_children": 2000, "children": 8, "probability": Decimal("0.12")},
    "geometric": {"root_children": 4, "shape": "fixed", "depth": 6},
}
UTS_KEYS = frozenset().union(*UTS_DEFAULTS.values())


class UtsParameters(WorkloadParameters):
    """Unbalanced tree search (Olivier et al., LCPC 2006), a task per node.

    ``binomial``: the root has ``root_children``, any other node has ``children`` with probability ``probability``.
    ``geometric``: a node at depth d has a geometric number of children with mean b(d), where b follows ``shape`` from
    ``root_children`` and ``depth`` bounds the tree.
    """

    default_runtime: ClassVar[str] = "ompi"
    name: Literal["uts"] = Field(description="The name of this workload.")
    tree: Annotated[
        Literal["binomial", "geometric"],
        Choices(
            {
                "binomial": "Every node but the root has `children` children with `probability`, else no children.",
                "geometric": "The number of children is geometric with a mean that depends on the depth.",
            }
        ),
    ] = Field("binomial", description="The kind of tree (Olivier et al., LCPC 2006).")
    tree_seed: Seed = Field(0, description="Seed of the tree, the same in all runs and repeats.")
    root_children: Annotated[Whole, Field(ge=1, le=100_000)] | None = Field(
        None,
        description="Binomial: number of children of the root; 2,000 by default. Geometric: mean number of children of "
        "the root, from which the means at other depths follow; 4 by default.",
    )
    children: Annotated[Whole, Field(ge=1, le=100)] | None = Field(
        None, description="Binomial: number of children of an inner node other than the root, 8 by default."
    )
    probability: ShareSpec | None = Field(
        None,
        description="Binomial: probability that a node other than the root has children; 0.12 by default, below 1 / "
        "`children`.",
    )
    shape: (
        Annotated[
            Literal["linear", "exponential", "cyclic", "fixed"],
            Choices(
                {
                    "linear": "The mean falls to zero at `depth`.",
                    "exponential": "The mean falls as a power of the depth, to 1 at `depth`.",
                    "cyclic": "The mean rises and falls as a sine, until five times `depth`.",
                    "fixed": "The mean is `root_children` above `depth`, and zero from `depth` on.",
                }
            ),
        ]
        | None
    ) = Field(None, description="Geometric: how the mean number of children follows from the depth; fixed by default.")
    depth: Annotated[Whole, Field(ge=1, le=1000)] | None = Field(
        None, description="Geometric: the bound of the depth, 6 by default; cyclic trees end at five times this depth."
    )
    node_ns: Nanoseconds = Field(
        Decimal(400), description="Time of a leaf, and of a node for each child; assumed: one SHA-1."
    )

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {**UTS_DEFAULTS.get(given.get("tree", "binomial"), {}), **given}

    @model_validator(mode="after")
    def _consistent(self) -> UtsParameters:
        foreign = [key for key in UTS_KEYS - set(UTS_DEFAULTS[self.tree]) if getattr(self, key) is not None]
        if foreign:
            raise ValueError(f"{sorted(foreign)[0]} is no parameter of a {self.tree} tree")
        if self.tree == "binomial" and (self.children or 0) * (self.probability or 0) >= 1:
            raise ValueError("children x probability is below 1 in a binomial tree, or the tree never ends")
        return self

    def totals(self) -> Totals:
        """Return the size of the program: of a binomial tree its mean size, of a geometric tree the root alone."""
        children = self.root_children or 1
        offspring = (self.children or 0) * Fraction(self.probability or 0)
        ends = self.tree == "binomial" and offspring < 1
        nodes = 1 + int(children / (1 - offspring)) if ends else 1
        return task(segment(ps(self.node_ns)), ops=1).times(nodes)


def uts(parameters: UtsParameters) -> Workload:
    """Return the whole tree; raise `InputError` if the tree has more nodes than fit in memory."""
    children, parent = grow(parameters)
    counts = np.unique(children)
    draft = Draft(parent, np.searchsorted(counts, children), [_shape(count) for count in counts.tolist()])
    for number, count in enumerate(counts.tolist()):
        draft.compute(number, ps(parameters.node_ns) * max(1, count))
    return draft.finish(
        **made_of(parameters), kernels=("node",), facts={"tasks": len(parent), "leaves": int((children == 0).sum())}
    )


def _shape(children: int) -> Shape:
    return Shape((Op.RUN, *[Op.SPAWN] * children, *[Op.WAIT] * bool(children)), (0,), (0,))


def grow(parameters: UtsParameters) -> tuple[I64, I64]:
    """Return ([nodes] number of children, [nodes] parent), both level by level from the root."""
    states = np.array([base(parameters.tree_seed, DrawClass.ARRIVAL, 0)], np.uint64)
    counts, parents = [], [np.array([-1])]
    depth = nodes = 0
    while len(states):
        children = TREES[parameters.tree](parameters, states, depth)
        counts.append(children)
        parents.append(np.repeat(nodes + np.arange(len(states)), children))
        nodes += len(states)
        if nodes + len(parents[-1]) > MAX_TASKS:
            problem = f"this uts tree has more than {MAX_TASKS} nodes"
            raise InputError(problem, expected="a smaller tree, or one with fewer expected children")
        number = ragged(np.ones(len(children), np.int64), children)  # number 0 of a stream gives the number of children
        states = draws_array(np.repeat(states, children), number)
        depth += 1
    return np.concatenate(counts), np.concatenate(parents)


def _binomial(parameters: UtsParameters, states: U64Array, depth: int) -> I64:
    if depth == 0:
        return np.array([parameters.root_children])
    bound = int(Fraction(parameters.probability or 0) * 2**64)
    return np.where(draw_array(states, 0) < np.uint64(bound), parameters.children or 0, 0)


def _geometric(parameters: UtsParameters, states: U64Array, depth: int) -> I64:
    """Return [nodes] random numbers of children: c or more children have probability (b / (1 + b))^c, with mean b."""
    root, bound = parameters.root_children or 1, parameters.depth or 1
    mean = Fraction(round(SHAPES[parameters.shape or "fixed"](root, bound, depth) * ROUNDING), ROUNDING)
    more = mean / (1 + mean)
    bounds = [int(more**c * 2**64) for c in range(1, MAX_CHILDREN + 1)]
    ascending = np.array(bounds[::-1], np.uint64)
    return MAX_CHILDREN - np.searchsorted(ascending, draw_array(states, 0), side="right")


def _exponential(root: int, bound: int, depth: int) -> float:
    if depth == 0 or bound == 1:
        return float(root) if depth == 0 else 0.0
    return root * pow(depth, -log(root) / log(bound))


TREES: dict[str, Callable[[UtsParameters, U64Array, int], I64]] = {"binomial": _binomial, "geometric": _geometric}
SHAPES: dict[str, Callable[[int, int, int], float]] = {  # (mean of the root, bound of depths, depth) to the mean
    "linear": lambda root, bound, depth: root * max(0.0, 1 - depth / bound),
    "exponential": _exponential,
    "cyclic": lambda root, bound, depth: pow(root, sin(2 * pi * depth / bound)) if depth <= 5 * bound else 0.0,
    "fixed": lambda root, bound, depth: float(root) if depth < bound else 0.0,
}

SMALL = {"root_children": 10, "children": 2, "probability": 0.3}
FAMILIES = (Family(UtsParameters, uts, small=SMALL, benchmark={"root_children": 300}),)
