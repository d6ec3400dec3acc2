"""N-Queens and UTS equal plain searches, node by node."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor, log

import numpy as np
import pytest
from workload_setup import make

from numasim.draws import DrawClass, base, draw
from numasim.errors import InputError
from numasim.workload.families import uts as uts_module
from numasim.workload.one_worker import serial_ps

SOLUTIONS = {1: 1, 2: 0, 3: 0, 4: 2, 5: 10, 6: 4, 7: 40, 8: 92, 9: 352}  # OEIS A000170


def standing(n: int) -> list[int]:
    """Return in how many ways 0, 1, .. n queens stand."""
    counts = [0] * (n + 1)

    def place(queens: tuple[int, ...]) -> None:
        row = len(queens)
        counts[row] += 1
        if row < n:
            for column in range(n):
                if all(column != c and abs(column - c) != row - r for r, c in enumerate(queens)):
                    place((*queens, column))

    place(())
    return counts


@pytest.mark.parametrize("n", [1, 2, 4, 6, 8])
def test_nqueens_has_a_task_for_every_tried_column(n: int) -> None:
    work = make("nqueens", n=n)
    counts = standing(n)
    assert work.facts["solutions"] == counts[n] == SOLUTIONS[n]
    assert work.tasks == 1 + n * sum(counts[:n])


@pytest.mark.parametrize("cutoff", [1, 2, 3, 7, 9])
def test_nqueens_cutoff_keeps_the_work_and_the_solutions(cutoff: int) -> None:
    n, counts = 7, standing(7)
    work = make("nqueens", n=n, cutoff=cutoff)
    assert work.tasks == 1 + n * sum(counts[: min(cutoff, n)])
    assert work.facts["solutions"] == SOLUTIONS[n]
    cost_ps = 2_000 * n * sum(count * (row + 1) for row, count in enumerate(counts[:n]))
    assert serial_ps(work, 0) == cost_ps


def literal_uts(children_of: object, seed: int) -> list[int]:
    """Return the numbers of children of all nodes in preorder."""
    found: list[int] = []

    def visit(stream: int, depth: int) -> None:
        count = children_of(draw(stream, 0), depth)  # type: ignore[operator]
        found.append(count)
        for child in range(count):
            visit(draw(stream, child + 1), depth + 1)

    visit(base(seed, DrawClass.ARRIVAL, 0), 0)
    return found


def children(work: object) -> list[int]:
    return np.bincount(work.parent[1:], minlength=work.rows).tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_binomial_tree(seed: int) -> None:
    work = make("uts", tree_seed=seed, root_children=30, children=5, probability=Decimal("0.15"))
    bound = Fraction(15, 100) * 2**64
    assert children(work) == literal_uts(lambda x, depth: (5 if x < floor(bound) else 0) if depth else 30, seed)


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_fixed_geometric_tree(seed: int) -> None:
    work = make("uts", tree="geometric", tree_seed=seed, root_children=3, depth=5)

    def geometric(x: int, depth: int) -> int:
        more = 3 / 4 if depth < 5 else 0
        return min(100, floor(log((x + 0.5) / 2**64) / log(more))) if more else 0

    assert children(work) == literal_uts(geometric, seed)


def test_a_tree_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uts_module, "MAX_TASKS", 1000)
    with pytest.raises(InputError, match="more than 1000 nodes"):
        make("uts", root_children=2000)


@pytest.mark.parametrize("shape", ["linear", "exponential", "cyclic", "fixed"])
def test_geometric_trees_end_at_their_depth(shape: str) -> None:
    from numasim.workload.span import depth

    deepest = max(
        depth(make("uts", tree="geometric", shape=shape, depth=3, root_children=2, tree_seed=s)) for s in range(40)
    )
    bound = {"cyclic": 5 * 3 + 2, "exponential": 60}.get(shape, 3 + 1)
    assert 2 < deepest <= bound
