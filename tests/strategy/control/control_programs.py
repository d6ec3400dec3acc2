"""Programs for the tests of tiers and labels, given as nested lists: a task is the list of its children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numasim.strategy.control.controller import Program
from numasim.workload.phases import Loop, Phase, iterations_of

Tree = list[Any]
LEAF: Tree = []


def program_of(
    phases: Sequence[Sequence[Tree]],
    loops: tuple[Loop, ...] = (),
    units: int = 2,
    llc_bytes: int = 6400,
    compute_ps: int = 0,
    repeat: int = 9,
    switches: tuple[str, ...] = ("plain",),
) -> Program:
    """Return a program whose phases have these trees as roots and run ``repeat`` times; tasks are numbered depth-first
    in preorder.
    """
    parent: list[int] = []
    end: list[int] = []
    depth: list[int] = []

    def add(tree: Tree, above: int) -> int:
        row = len(parent)
        parent.append(above)
        depth.append(depth[above] + 1 if above >= 0 else 0)
        end.append(0)
        for child in tree:
            add(child, row)
        end[row] = len(parent)
        return row

    roots = tuple(tuple(add(tree, -1) for tree in trees) for trees in phases)
    return Program(
        parent=np.array(parent, np.int64),
        depth=np.array(depth, np.int64),
        subtree_end=np.array(end, np.int64),
        compute_ps=np.full(len(parent), compute_ps, np.int64),
        roots=roots,
        loops=loops,
        iterations=tuple(iterations_of([Phase(repeat=repeat) for _ in phases], loops)),
        units=units,
        unit_llc_bytes=llc_bytes,
        l2_bytes=512,
        line_bytes=64,
        workers=units,
        nodes=units,
        switches=switches,
    )


def regular(branching: int, levels: int) -> Tree:
    """Return a tree whose tasks above the last of ``levels`` levels have ``branching`` children each."""
    return [regular(branching, levels - 1) for _ in range(branching)] if levels > 1 else []
