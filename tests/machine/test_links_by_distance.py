"""The links between nodes that follow from firmware's distances, against a plain search and by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.machine.typical_values import LEAST, links_of

Matrix = list[list[Fraction]]


def plainly(distance: Sequence[Sequence[Fraction]]) -> list[tuple[int, int]]:
    """Return the pairs of nodes with a link: those without an equally short route over a third node."""
    nodes = range(len(distance))

    def further(a: int, b: int) -> Fraction:
        return max(distance[a][b] - 1, distance[b][a] - 1, LEAST)

    return [
        (a, b)
        for a, b in combinations(nodes, 2)
        if not any(further(a, c) + further(c, b) <= further(a, b) for c in nodes if c not in (a, b))
    ]


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """Draw firmware's distances over the local distance of the row's node; local distances may differ."""
    count = draw(st.integers(1, 9))
    values = draw(st.lists(st.integers(1, 60), min_size=1, max_size=6))
    local = draw(st.lists(st.sampled_from([10, 10, 10, 17, 11]), min_size=count, max_size=count))
    far = st.sampled_from(values)
    return [[Fraction(1) if a == b else Fraction(draw(far), local[a]) for b in range(count)] for a in range(count)]


@given(matrices())
def test_links_are_those_of_the_plain_form(distance: Matrix) -> None:
    assert list(links_of(distance)) == plainly(distance)


@given(matrices())
def test_links_join_all_nodes(distance: Matrix) -> None:
    joined = [{node} for node in range(len(distance))]
    for a, b in links_of(distance):
        group = joined[a] | joined[b]
        for node in group:
            joined[node] = group
    assert joined[0] == set(range(len(distance)))


def of(*rows: str) -> Matrix:
    """Return distances over the local distance; firmware's numbers have 10 for local."""
    return [[Fraction(int(word), 10) for word in row.split()] for row in rows]


@pytest.mark.parametrize(
    ("distance", "links"),
    [
        (of("10"), []),
        (of("10 20", "20 10"), [(0, 1)]),
        (of("10 20 30", "20 10 20", "30 20 10"), [(0, 1), (1, 2)]),  # from 0 to 2 the way over node 1 is as short
        (of("10 20 29", "20 10 20", "29 20 10"), [(0, 1), (0, 2), (1, 2)]),
        (of("10 20 20", "20 10 30", "29 20 10"), [(0, 1), (0, 2), (1, 2)]),  # 29, not 30, from node 2 to 0
        (of("10 10 10", "10 10 10", "10 10 10"), [(0, 1), (0, 2), (1, 2)]),
        (of("10 9 12", "9 10 11", "12 11 10"), [(0, 1), (1, 2)]),  # 9 counts as 11, so that 0 reaches 2 over 1
    ],
)
def test_by_hand(distance: Matrix, links: list[tuple[int, int]]) -> None:
    assert list(links_of(distance)) == links


@pytest.mark.parametrize("unit", [10, 10**30])
def test_a_row_of_many_nodes(unit: int) -> None:
    """Only neighbours are linked, whatever the size of the numbers."""
    count = 100
    distance = [[1 + Fraction(unit * abs(a - b) - (a != b), unit) for b in range(count)] for a in range(count)]
    assert list(links_of(distance)) == [(a, a + 1) for a in range(count - 1)]
