"""Gaussian elimination: the work of every step, row by row, equals the work of the leaves of the step's phase."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workload_setup import make

from numasim.workload.families.ge import elements, operations
from numasim.workload.graph import Mode, Op, Workload

sizes = st.tuples(st.integers(2, 40), st.integers(1, 9), st.integers(1, 45))


def leaves(work: Workload, phase: int) -> list[int]:
    """Return the segments of the leaves of a phase, in the order of rows."""
    (root,) = work.phases[phase].roots
    ops = slice(work.op_ptr[root], work.op_ptr[work.subtree_end()[root]])
    return work.op_arg[ops][work.op_code[ops] == Op.RUN].tolist()


def update(work: Workload, segment: int) -> tuple[int, int, int]:
    """Return (first row, rows, bytes of a row up to its end) that a leaf updates."""
    at, row_bytes = int(work.segment_accesses[segment]), work.regions[0].bytes // work.parameters["x"]
    accesses = work.accesses
    assert accesses.mode[at : at + 2].tolist() == [Mode.READ_WRITE, Mode.READ]
    assert accesses.stride[at] == row_bytes
    row, offset = divmod(int(accesses.offset[at]), row_bytes)
    assert offset + int(accesses.row_bytes[at]) == row_bytes
    return row, int(accesses.rows[at]), int(accesses.row_bytes[at])


def test_three_steps_on_four_rows() -> None:
    """Step 0 updates rows 1 to 3 from column 0 on, step 1 rows 2 and 3 from column 1 on, step 2 row 3."""
    work = make("ge", x=4, leaf_rows=2, phase_steps=1, ps_per_1000_ops=1000)
    assert [(phase.name, phase.repeat) for phase in work.phases] == [("from 0", 1), ("from 1", 1), ("from 2", 1)]
    found = [[update(work, segment) for segment in leaves(work, phase)] for phase in range(3)]
    assert found == [[(1, 1, 32), (2, 2, 32)], [(2, 2, 24)], [(3, 1, 16)]]
    assert [work.segment_compute_ps[leaves(work, phase)].tolist() for phase in range(3)] == [[7, 14], [10], [3]]
    pivots = [work.accesses.offset[work.segment_accesses[leaves(work, phase)] + 1].tolist() for phase in range(3)]
    assert pivots == [[0, 0], [32 + 8], [64 + 16]]
    assert (work.facts["updated_bytes"], work.facts["ops"]) == (8 * (12 + 6 + 2), 21 + 10 + 3)


def test_a_phase_does_the_mean_of_its_steps() -> None:
    """The phase is the mean of steps 0 and 1: row 1 has 4 and 0 columns in these steps, rows 2 and 3 have 4 and 3."""
    work = make("ge", x=4, leaf_rows=2, phase_steps=2, ps_per_1000_ops=1000)
    assert [phase.repeat for phase in work.phases] == [2, 1]
    assert [update(work, segment) for segment in leaves(work, 0)] == [(1, 1, 16), (2, 2, 28)]
    assert work.segment_compute_ps[leaves(work, 0)].tolist() == [4, 12]  # (7 + 0) / 2 and (14 + 10) / 2


def by_block(size: int, leaf_rows: int, first: int, steps: int) -> dict[int, tuple[int, int]]:
    """Return (elements, operations) by block, of ``steps`` steps from ``first`` on, counted row by row."""
    found: dict[int, tuple[int, int]] = {}
    for pivot in range(first, first + steps):
        for row in range(pivot + 1, size):
            old = found.get(row // leaf_rows, (0, 0))
            found[row // leaf_rows] = (old[0] + size - pivot, old[1] + 1 + 2 * (size - pivot - 1))
    return found


@given(sizes)
def test_blocks_do_what_their_rows_do(drawn: tuple[int, int, int]) -> None:
    size, leaf_rows, phase_steps = drawn
    work = make("ge", x=size, leaf_rows=leaf_rows, phase_steps=phase_steps, ps_per_1000_ops=1000)
    first = 0
    for number, phase in enumerate(work.phases):
        expected = by_block(size, leaf_rows, first, phase.repeat)
        assert len(leaves(work, number)) == len(expected)
        for segment, (block, (changed, ops)) in zip(leaves(work, number), sorted(expected.items()), strict=True):
            row, rows, row_bytes = update(work, segment)
            assert (row, row + rows) == (max(block * leaf_rows, first + 1), min((block + 1) * leaf_rows, size))
            assert abs(row_bytes * rows * phase.repeat - 8 * changed) <= rows * phase.repeat / 2
            assert abs(int(work.segment_compute_ps[segment]) * phase.repeat - ops) <= phase.repeat / 2
        first += phase.repeat
    assert first == size - 1 == work.facts["steps"]


@pytest.mark.parametrize("size", [2, 3, 10, 33])
def test_closed_forms(size: int) -> None:
    every = by_block(size, 1, 0, size - 1).values()
    assert elements(size) == sum(changed for changed, _ in every)
    assert operations(size, 2) == sum(ops for _, ops in every)
