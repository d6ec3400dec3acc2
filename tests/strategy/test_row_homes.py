"""The nodes on which the rows of a matrix begin (thesis section 5.2.1, Table 5.1).

The thesis counts, for matrices of 512 to 4096 rows, the node of each row's base address. The page map gives the first
two rows of the table under the default policy: the master initialises the matrix, so the whole matrix is on node 0. The
other two rows of the table cannot follow from first touch alone. They follow if the memory of a node is full: the
rows that fit stay, the other rows go to the other node. The free memory is not published; the tests choose it to fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.machine.build_machine import build
from numasim.machine.mapping import map_workers
from numasim.machine.topology import Machine
from numasim.parts.models.placement_model import PlacementSpec
from numasim.spec.single_part import read_machine
from numasim.strategy.placement.compile_placement import place
from numasim.strategy.placement.homes import row_homes
from numasim.workload.registry import generate, workload_spec

ELEMENT_BYTES = 8
PAGE = 4096
ON_ONE_NODE = {512: [512, 0], 1024: [1024, 0]}  # Table 5.1, rows by node
SCATTERED = {2048: [254, 1794], 4096: [3873, 223]}


def rows_by_node(n: int, machine: Machine, **placement: Any) -> list[int]:
    """Return how many of the n rows of MATMUL's first matrix begin on each node."""
    work = generate(workload_spec("matmul", n=n))
    workers = map_workers(machine, 24, "numa-even-cores-first")
    homes = place(PlacementSpec.model_validate(placement), machine, workers, work).page_homes(0)
    found = row_homes(homes, machine.page_bytes, n * ELEMENT_BYTES)
    assert len(found) == n
    return np.bincount(found, minlength=machine.nodes).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("n", ON_ONE_NODE)
def test_a_matrix_that_the_master_initialises_is_on_its_node(n: int) -> None:
    assert rows_by_node(n, build(read_machine("xeon-e5-2620-2s")), policy="first-touch") == ON_ONE_NODE[n]


@pytest.mark.parametrize("n", [*ON_ONE_NODE, *SCATTERED])
def test_rows_that_do_not_fit_go_to_the_other_node(n: int) -> None:
    published = {**ON_ONE_NODE, **SCATTERED}[n]
    pages = published[0] * n * ELEMENT_BYTES // PAGE
    machine = build(read_machine("xeon-e5-2620-2s"))
    memory = np.array([pages * PAGE, machine.memory_bytes[1]])
    tight = replace(machine, memory_bytes=memory)
    assert rows_by_node(n, tight, policy="first-touch", overflow="next") == published


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=30), st.integers(1, 50), st.integers(1, 200))
def test_rows_are_at_home_where_their_first_byte_is(homes: list[int], page_bytes: int, row_bytes: int) -> None:
    found = row_homes(np.array(homes), page_bytes, row_bytes).tolist()
    assert found == [homes[at // page_bytes] for at in range(0, len(homes) * page_bytes, row_bytes)]
