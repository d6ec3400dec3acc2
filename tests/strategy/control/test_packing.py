"""The shared cache that subtrees use, packings and their moves (model 4.8), each worked out by hand. A packing is a set
of tasks, the roots of subtrees that one socket executes; a move replaces roots by their children or parents.
"""

from __future__ import annotations

import numpy as np
from control_programs import LEAF, Tree, program_of
from hypothesis import given
from hypothesis import strategies as st

from numasim.schema.enumerations import Tier
from numasim.strategy.control.built_in import shared_cache_bytes
from numasim.strategy.control.packing import (
    child_packing,
    initial_packing,
    outermost,
    packing_at_depth,
    packing_of_labels,
    packing_within,
    parent_packing,
    tiers_of_packing,
)

# Tasks by their numbers:      0
#                         1         6
#                       2   3     7   8
#                          4 5
TREE: Tree = [[LEAF, [LEAF, LEAF]], [LEAF, LEAF]]
MISSES = np.array([1, 2, 10, 3, 20, 30, 0, 40, 15])
# Lines of the subtree of each task: 2: 10; 4: 20; 5: 30; 3: 3 + 20 + 30 = 53; 1: 2 + 10 + 53 = 65; 7: 40; 8: 15; ...
LINES = [121, 65, 10, 53, 20, 30, 55, 40, 15]
PROGRAM = program_of([[TREE]])


def ids(*tasks: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(tasks, np.int64)


USED = shared_cache_bytes(MISSES, PROGRAM.line_bytes, PROGRAM.subtree_end)


def packed(lines: int) -> list[int]:
    """Return the roots for a shared cache of ``lines`` lines."""
    return initial_packing(PROGRAM, USED, 64 * lines).tolist()


def test_equation_2_and_initial_packing_by_hand() -> None:
    assert USED.tolist() == [64 * lines for lines in LINES]
    assert packed(121) == [0]  # the whole tree just fits
    assert packed(120) == [1, 6]
    assert packed(65) == [1, 6]
    assert packed(64) == [2, 3, 6]
    assert packed(54) == [2, 3, 7, 8]
    assert packed(29) == [2, 4, 8]  # leaves 5 and 7 do not fit into the cache: they are in no subtree
    assert packed(9) == []


def test_tiers_by_hand() -> None:
    free, root, local = Tier.FREE, Tier.ROOT, Tier.LOCAL
    assert tiers_of_packing(PROGRAM, ids(3, 6)).tolist() == [free, free, free, root, local, local, root, local, local]
    assert tiers_of_packing(PROGRAM, ids()).tolist() == [free] * 9
    assert tiers_of_packing(PROGRAM, ids(0)).tolist() == [root] + [local] * 8


def test_packings_by_depth_and_by_label() -> None:
    """Subtrees that straddle labels are cut where labels begin."""
    labels = np.array([-1, -1, 0, -1, 0, 1, 1, 1, 1])
    assert packing_at_depth(PROGRAM, 2).tolist() == [2, 3, 7, 8]
    assert packing_of_labels(PROGRAM, labels).tolist() == [2, 4, 5, 6]
    assert packing_within(PROGRAM, ids(0), labels).tolist() == [2, 4, 5, 6]
    assert packing_within(PROGRAM, ids(1, 7), labels).tolist() == [2, 4, 5, 7]
    assert packing_within(PROGRAM, ids(3), labels).tolist() == [4, 5]
    assert packing_within(PROGRAM, ids(2, 8), labels).tolist() == [2, 8]


trees = st.recursive(st.just(LEAF), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=25)


@given(tree=trees, data=st.data())
def test_packings_are_antichains_and_moves_are_what_they_say(tree: Tree, data: st.DataObject) -> None:
    """No root of a packing is above another root. The reference uses sets of tasks and follows parents one by one."""
    program = program_of([[tree]])
    parent = program.parent.tolist()

    def above(task: int) -> set[int]:
        found = set()
        while parent[task] >= 0:
            task = parent[task]
            found.add(task)
        return found

    chosen = data.draw(st.sets(st.integers(0, program.tasks - 1), min_size=1))
    roots = outermost(np.array(sorted(chosen)), program.subtree_end)
    assert set(roots.tolist()) == {task for task in chosen if not above(task) & chosen}
    kids = {task: {child for child in range(program.tasks) if parent[child] == task} for task in roots.tolist()}
    assert set(child_packing(program, roots).tolist()) == set().union(*(kids[task] or {task} for task in kids))
    up = {parent[task] if parent[task] >= 0 else task for task in kids}
    assert set(parent_packing(program, roots).tolist()) == {task for task in up if not above(task) & up}
