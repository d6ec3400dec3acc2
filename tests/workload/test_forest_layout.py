"""Index arithmetic on forests equals plain recursions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from numasim.workload.forest_arrays import levels, offsets, preorder, ragged
from numasim.workload.graph import subtree_end


@st.composite
def forests(draw: st.DrawFn) -> np.ndarray:
    size = draw(st.integers(1, 40))
    return np.array([draw(st.integers(-1, task - 1)) for task in range(size)])


def depth_first(parent: np.ndarray) -> list[int]:
    found: list[int] = []

    def visit(task: int) -> None:
        found.append(task)
        for child in np.flatnonzero(parent == task).tolist():
            visit(child)

    for root in np.flatnonzero(parent < 0).tolist():
        visit(root)
    return found


@given(forests())
def test_preorder_is_the_recursive_walk(parent: np.ndarray) -> None:
    assert preorder(parent).tolist() == depth_first(parent)


@given(forests())
def test_subtree_end_counts_the_descendants(parent: np.ndarray) -> None:
    order = preorder(parent)
    position = np.argsort(order)
    relabelled = np.where(parent < 0, -1, position[parent])[order]
    ends = subtree_end(relabelled)
    for task in range(len(parent)):
        below = {task}
        for other in range(task + 1, len(parent)):
            if relabelled[other] in below:
                below.add(other)
        assert below == set(range(task, ends[task]))


def test_subtree_end_of_a_long_chain() -> None:
    chain = np.arange(-1, 9_999)
    assert (subtree_end(chain) == 10_000).all()


@given(forests())
def test_levels_hold_every_task_once_below_its_parent(parent: np.ndarray) -> None:
    depth = {}
    for number, level in enumerate(levels(parent)):
        for task in level.tolist():
            depth[task] = number
    assert sorted(depth) == list(range(len(parent)))
    assert all(depth[task] == (depth[above] + 1 if above >= 0 else 0) for task, above in enumerate(parent.tolist()))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=10))
def test_ragged_ranges(pieces: list[tuple[int, int]]) -> None:
    starts, lengths = np.array(pieces, np.int64).reshape(-1, 2).T
    expected = [start + step for start, length in pieces for step in range(length)]
    assert ragged(starts, lengths).tolist() == expected
    assert offsets(lengths)[-1] == len(expected)
