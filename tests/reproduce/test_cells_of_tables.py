"""Errors of cells against hand computation."""

from __future__ import annotations

import math
from typing import Any

import pytest

from numasim.reproduce.table_cells import Cell, Role, factor_error, relative_error


def cell(**fields: Any) -> Cell:
    given = {
        "table": "1",
        "row": "r",
        "column": "c",
        "variant": "",
        "quantity": "q",
        "unit": "s",
        "role": Role.PREDICTED,
    }
    return Cell(**{**given, "score": "", "published": 4.0, "simulated": (4.0, 6.0), **fields})


def test_errors_are_those_of_the_mean_over_seeds() -> None:
    assert (cell().mean, cell().difference, cell().relative_error) == (5.0, 1.0, 0.25)
    assert cell().factor_error == pytest.approx(6 / 5)


def test_what_was_not_simulated_has_no_error() -> None:
    empty = cell(simulated=())
    assert all(map(math.isnan, (empty.mean, empty.difference, empty.relative_error, empty.factor_error)))


def test_a_published_zero_has_a_factor_but_no_relative_error() -> None:
    assert math.isnan(relative_error(3.0, 0.0))
    assert factor_error(3.0, 0.0) == pytest.approx(4.0)


@pytest.mark.parametrize("pair", [(0.0, 0.0), (7.0, 7.0)])
def test_equal_counts_are_a_factor_of_one_apart(pair: tuple[float, float]) -> None:
    assert factor_error(*pair) == 1.0


def test_a_factor_does_not_care_who_is_larger() -> None:
    assert factor_error(9.0, 4.0) == pytest.approx(2.0) == factor_error(4.0, 9.0)
