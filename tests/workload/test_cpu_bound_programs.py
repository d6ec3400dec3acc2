"""The CPU-bound programs of LAWS: the Mandelbrot set in integers, the best knapsack by another method, islands of the
genetic algorithm by hand.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from workload_setup import make

from numasim.workload.families.knapsack import Item, Search, drawn_items
from numasim.workload.families.mandelbrot import row_steps
from numasim.workload.graph import Loop, Mode, Op

PIXEL_AREA = 9  # area of the square in the picture
SET_AREA = 1.5066  # of the Mandelbrot set: Ewing and Schober 1992, and later counts


def test_points_by_hand() -> None:
    """Of 3 x 3 points the middle row is c = -3/2, -1/2 and 1/2; the other rows are these numbers + i and - i."""
    steps = row_steps(3, 3, 10)
    # For c = -3/2 and -1/2, |z| stays below 2: 10 steps. For c = 1/2, z is 0.5, 0.75, 1.06, 1.63, 3.15: 5 steps.
    assert steps[1] == 10 + 10 + 5
    # -3/2 + i: |z2| = |-1/4 - 2i| = 2.02; 1/2 + i: z2 = -1/4 + 2i, 2.02; -1/2 + i: z2 = -5/4, z3 = 17/16 + i,
    # z4 = -0.37 + 3.1i
    assert steps[0] == steps[2] == 2 + 2 + 4


def test_the_area_of_the_set() -> None:
    """Points of the set take the most steps; their share of the picture is the share of the set's area."""
    few, many = (int(row_steps(90, 90, most).sum()) for most in (400, 401))
    assert (many - few) / 90**2 == pytest.approx(SET_AREA / PIXEL_AREA, rel=0.03)


def test_leaves_of_a_picture() -> None:
    work = make("mandelbrot", x=11, y=6, leaf_rows=4, most_steps=30, ps_per_1000_steps=1000, iterations=3)
    rows = row_steps(11, 6, 30).tolist()
    assert work.segment_compute_ps.tolist() == [sum(rows[:4]), sum(rows[4:8]), sum(rows[8:])]
    assert rows == rows[::-1]
    assert work.facts["steps"] == sum(rows)
    assert work.accesses.offset.tolist() == [0, 96, 192]
    assert work.accesses.row_bytes.tolist() == [96, 96, 72]
    assert (work.phases[0].repeat, work.tasks) == (3, 3 * 5)


def best_by_trial(items: list[Item], capacity: int) -> int:
    choices = product((0, 1), repeat=len(items))
    weighed = (
        [sum(take * part for take, part in zip(choice, column, strict=True)) for column in zip(*items, strict=True)]
        for choice in choices
    )
    return max(value for weight, value in weighed if weight <= capacity)


@pytest.mark.parametrize("seed", range(5))
def test_the_search_finds_the_best_knapsack(seed: int) -> None:
    items = drawn_items(10, seed)
    densities = [item.value / item.weight for item in items]
    assert densities == sorted(densities, reverse=True)
    assert all(1 <= number <= 100 for item in items for number in item)
    work = make("knapsack", items=10, item_seed=seed)
    assert work.facts["best"] == best_by_trial(items, sum(item.weight for item in items) // 2)
    assert work.facts["decisions"] == work.rows


def test_a_search_by_hand() -> None:
    """Items (weight, value): (1, 3), (2, 4), (3, 3); capacity 3. Without the first two items, the third has value 3.
    The second alone has 4; with it the third is too heavy. For the first alone the bound is 3 + 2 * 3 / 3 = 5, above
    4, so the search goes on: the value is 3, and the third is too heavy with it. The first two items have value 7.
    """
    search = Search([Item(1, 3), Item(2, 4), Item(3, 3)], 3)
    assert search.run(0, 3, 0) == 7
    # in preorder: root, 0, 00, 000, 001, 01 and its children, 1, 10 and its children, 11
    assert search.parents == [-1, 0, 1, 2, 2, 1, 5, 5, 0, 8, 9, 9, 8]
    assert search.branches == [True, True, True, False, False, True, False, False, True, True, False, False, False]


def test_islands_evolve_and_exchange() -> None:
    work = make(
        "ga", islands=3, individuals=10, genes=4, generations=5, migrants=2, iterations=6, ps_per_1000_genes=1000
    )
    assert work.loops == (Loop(0, 2, 6),)
    assert [phase.name for phase in work.phases] == ["evolve", "migrate"]
    assert work.segment_compute_ps.tolist() == [200] * 3 + [0] * 3
    assert work.accesses.mode.tolist() == [Mode.READ_WRITE] * 3 + [Mode.READ, Mode.WRITE] * 3
    assert work.accesses.offset.tolist() == [0, 40, 80, 80, 32, 0, 72, 40, 112]
    assert work.accesses.row_bytes.tolist() == [40] * 3 + [8] * 6
    assert np.count_nonzero(work.op_code == Op.SPAWN) == 2 * 4
    assert work.facts["evolved_genes"] == 3 * 40 * 5 * 6
