"""The load-balanced task allocator of LAWS (model 4.8): Figure 4 of the paper, cases by hand, and plain fractions.

The children of a task divide its part of the data evenly. A slice is the part of one socket, the unit here.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from control_programs import LEAF, Tree, program_of
from hypothesis import given
from hypothesis import strategies as st

from numasim.strategy.control.controller import Program
from numasim.strategy.control.packing import slices


def labels(phases: list[list[Tree]], units: int) -> list[int]:
    return slices(program_of(phases), units).tolist()


def test_figure_4() -> None:
    """The root divides the data [0, D) in two, and its child alpha_1 divides [0, D / 2) in three.

    The last third, [D / 3, D / 2), belongs to alpha_2. So alpha_2 and all tasks below it are in socket 0's slice.
    """
    alpha_2 = [LEAF, LEAF]
    alpha_1 = [LEAF, LEAF, alpha_2]
    tree = [alpha_1, [LEAF, LEAF]]
    assert labels([[tree]], 2) == [-1, 0, 0, 0, 0, 0, 0, 1, 1, 1]


def test_a_root_of_several_phases_has_its_part_of_the_first() -> None:
    first = program_of([[LEAF, LEAF], [LEAF, LEAF]])
    shared = Program(**{**vars(first), "roots": ((0, 1), (1, 2, 3))})
    # Root 1 has the second half of the data in phase 0, and counts by this half. In phase 1, root 1 has the first
    # third, root 2 the middle third, which lies across the middle of the data, root 3 the last third.
    assert slices(shared, 2).tolist() == [0, 1, -1, 1]


def test_exact_where_floating_point_is_not() -> None:
    """The middle third is taken 40 times: D / 2 is always strictly inside. The parts next to D / 2 are exact, although
    double precision cannot distinguish 3^40 parts.
    """
    tree: Tree = []
    for _ in range(40):
        tree = [LEAF, tree, LEAF]
    found = labels([[tree]], 2)
    assert found.count(-1) == 41
    assert found.count(0) == found.count(1) == 40


def ranges_by_fractions(program: Program) -> list[tuple[Fraction, Fraction]]:
    """Return the parts of all tasks by equation 1 of the paper as printed, with D = 1."""
    found = [(Fraction(0), Fraction(0))] * program.tasks
    families = list(program.roots)
    families += [tuple(np.flatnonzero(program.parent == row).tolist()) for row in range(program.tasks)]
    above = [(Fraction(0), Fraction(1))] * len(program.roots)
    for number, children in enumerate(families):
        begin, end = above[number] if number < len(above) else found[number - len(above)]
        part = (end - begin) / max(len(children), 1)
        for place, child in enumerate(children):
            found[child] = (place * part + begin, (place + 1) * part + begin)
    return found


trees = st.recursive(st.just(LEAF), lambda inner: st.lists(inner, min_size=1, max_size=5), max_leaves=30)


@given(phases=st.lists(st.lists(trees, min_size=1, max_size=4), min_size=1, max_size=3), units=st.integers(1, 7))
def test_any_forest_against_fractions(phases: list[list[Tree]], units: int) -> None:
    program = program_of(phases)
    expected = []
    for begin, end in ranges_by_fractions(program):
        holds = [m for m in range(units) if Fraction(m, units) <= begin and end <= Fraction(m + 1, units)]
        expected.append(holds[0] if holds else -1)
    assert slices(program, units).tolist() == expected
