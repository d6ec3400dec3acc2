"""Trees of tasks that divide the rows of an array down to leaves of a few rows (LAWS, Chen and Guo, section 6.4).

The rows are cut into blocks of equal size; the last block may be smaller. Every leaf has one block. An inner task
divides its n blocks evenly, in order, among d children: child c has the blocks from ``n c div d`` to ``n (c + 1) div
d`` - 1. All inner tasks of a regular tree have the same number d of children. In an irregular tree (Chen, Huang and Guo
2012) d varies: the inner tasks, counted level by level from the root, have ``branching``, ``branching + 1`` and
``branching + 2`` children in turn, over and over. In both trees, a task with fewer than d blocks has a child per block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from pydantic import Field, create_model

from numasim.workload.builder import Shape
from numasim.workload.forest_arrays import offsets, ragged
from numasim.workload.graph import I64, Op
from numasim.workload.parameters import WorkloadParameters
from numasim.workload.totals import Totals

P = TypeVar("P", bound=WorkloadParameters)
IRREGULAR_DEGREES = 3  # number of degrees that take turns in an irregular tree


class RowTree(NamedTuple):
    """The tasks level by level: the parent (-1 for the root), and the task's blocks from ``first`` to ``end - 1``."""

    parent: I64
    first: I64
    end: I64


def row_tree(blocks: int, branching: int, *, irregular: bool = False) -> RowTree:
    """Return the tree over ``blocks`` >= 1 blocks whose inner tasks have ``branching`` >= 2 children."""
    parents, level = [np.array([-1])], (np.array([0]), np.array([blocks]))
    found, tasks, inner_tasks = [level], 0, 0
    while True:
        first, end = level
        inner = np.flatnonzero(end - first > 1)
        if not len(inner):
            firsts, ends = zip(*found, strict=True)
            return RowTree(np.concatenate(parents), np.concatenate(firsts), np.concatenate(ends))
        turn = (inner_tasks + np.arange(len(inner))) % IRREGULAR_DEGREES if irregular else 0
        degree = np.minimum(branching + turn, (end - first)[inner])
        parents.append(np.repeat(tasks + inner, degree))
        child = ragged(np.zeros(len(degree), np.int64), degree)
        begin, size, parts = (np.repeat(each, degree) for each in (first[inner], (end - first)[inner], degree))
        level = begin + size * child // parts, begin + size * (child + 1) // parts
        found.append(level)
        tasks += len(first)
        inner_tasks += len(inner)


def planted(trees: Sequence[RowTree]) -> tuple[RowTree, I64]:
    """Return (all ``trees`` one after the other, [tasks] the number of the tree of each task)."""
    begin = offsets(np.array([len(tree.parent) for tree in trees]))
    number = np.repeat(np.arange(len(trees)), np.diff(begin))
    parent, first, end = (np.concatenate(column) for column in zip(*trees, strict=True))
    return RowTree(np.where(parent < 0, -1, parent + begin[number]), first, end), number


def tree_shapes(trees: RowTree, leaf: Shape) -> tuple[I64, list[Shape]]:
    """Return ([tasks] shape, shapes): shape 0 is ``leaf``, other shapes spawn their children and wait."""
    children = np.bincount(trees.parent[trees.parent >= 0], minlength=len(trees.parent))
    degrees = np.unique(children[children > 0])
    shape = np.where(children > 0, 1 + np.searchsorted(degrees, children), 0)
    return shape, [leaf, *(Shape([*[Op.SPAWN] * degree, Op.WAIT]) for degree in degrees.tolist())]


def tree_totals(blocks: int, branching: int, *, irregular: bool = False) -> Totals:
    """Return the `Totals` of the inner tasks over ``blocks`` leaves; upper bounds if the tree is irregular."""
    inner = blocks - 1 if irregular else sum(count for _, count in _inner_sizes(blocks, branching))
    spawns = inner + blocks - 1
    return Totals(rows=inner, ops=spawns + inner)


def _inner_sizes(blocks: int, branching: int) -> Iterator[tuple[int, int]]:
    """Yield (number of blocks, number of tasks of so many blocks); a level of a regular tree has one or two pairs."""
    level = {blocks: 1}
    while level := {size: count for size, count in level.items() if size > 1}:
        yield from level.items()
        below: dict[int, int] = {}
        for size, count in level.items():
            parts = min(branching, size)
            larger = size % parts
            below[size // parts] = below.get(size // parts, 0) + (parts - larger) * count
            if larger:
                below[size // parts + 1] = below.get(size // parts + 1, 0) + larger * count
        level = below


def irregular_form(model: type[P]) -> type[P]:
    """Return the parameter model of the same program with an irregular tree; the program's name becomes ``NAME-ir``."""
    (name,) = get_args(model.model_fields["name"].annotation)
    literal: Any = Literal
    own_name = literal[f"{name}-ir"]
    return create_model(
        f"Irregular{model.__name__}",
        __base__=model,
        __module__=model.__module__,
        __doc__=f"{(model.__doc__ or '').removesuffix('.')}, with an irregular tree.",
        irregular=(ClassVar[bool], True),
        name=(own_name, Field(description="The name of this workload.")),
    )
