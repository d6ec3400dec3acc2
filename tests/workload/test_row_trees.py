"""Trees of tasks that divide a matrix's blocks of rows: two trees by hand, and rules that hold for all trees."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from numasim.workload.algorithms.row_tree import row_tree, tree_totals

sizes = st.tuples(st.integers(1, 120), st.integers(2, 7), st.booleans())


def test_halves_of_five_blocks() -> None:
    tree = row_tree(5, 2)
    assert tree.parent.tolist() == [-1, 0, 0, 1, 1, 2, 2, 6, 6]
    assert tree.first.tolist() == [0, 0, 2, 0, 1, 2, 3, 3, 4]
    assert tree.end.tolist() == [5, 2, 5, 1, 2, 3, 5, 4, 5]


def test_degrees_of_an_irregular_tree_take_turns_level_by_level() -> None:
    """Twenty blocks: the root has 2 children of 10 blocks each; the first child has 3 children, the second 4; the 7
    nodes of the next level have 2, 3, 4, 2, ... in turn.
    """
    tree = row_tree(20, 2, irregular=True)
    assert tree.parent[:10].tolist() == [-1, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert tree.first[:10].tolist() == [0, 0, 10, 0, 3, 6, 10, 12, 15, 17]
    assert tree.end[:10].tolist() == [20, 10, 20, 3, 6, 10, 12, 15, 17, 20]
    degrees = np.bincount(tree.parent[1:], minlength=len(tree.parent))
    assert degrees[3:10].tolist() == [2, 3, 4, 2, 3, 2, 2]  # in turns 2, 3, 4, 2, 3, 4, 2, but no more than blocks


@given(sizes)
def test_children_divide_the_blocks_of_their_parent_evenly_and_in_order(size: tuple[int, int, bool]) -> None:
    blocks, branching, irregular = size
    tree = row_tree(blocks, branching, irregular=irregular)
    for task, (first, end) in enumerate(zip(tree.first.tolist(), tree.end.tolist(), strict=True)):
        children = np.flatnonzero(tree.parent == task)
        if end - first == 1:
            assert not len(children)
            continue
        assert tree.first[children].tolist() == [first, *tree.end[children][:-1]]
        assert tree.end[children[-1]] == end
        parts = (tree.end - tree.first)[children]
        assert parts.max() - parts.min() <= 1
        most = branching + 2 if irregular else branching
        assert min(2, end - first) <= len(children) <= most
        if not irregular:
            assert len(children) == min(branching, end - first)


@given(sizes)
def test_totals_are_those_of_the_tree_or_at_most(size: tuple[int, int, bool]) -> None:
    blocks, branching, irregular = size
    tree, told = row_tree(blocks, branching, irregular=irregular), tree_totals(blocks, branching, irregular=irregular)
    inner = len(tree.parent) - blocks
    assert inner <= told.rows
    assert (told.rows, told.ops) == (inner, len(tree.parent) - 1 + inner) or irregular
