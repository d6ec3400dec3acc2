from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from toy_sweep import Part, ToyCell, toy_spec

from numasim.sweep.planned_runs import PlannedRow, PlannedRun
from numasim.sweep.store.results_tables import axis_column, label, named_column


def rows(axis: str, values: list[Any], names: str | None = None) -> list[Any]:
    """Return a row for each value; None leaves the axis out. ``names`` has a letter for each strategy, its name."""
    letters = names or "s" * len(values)
    made = []
    for index, (value, letter) in enumerate(zip(values, letters, strict=True)):
        spec = toy_spec(1).model_copy(update={"strategy": Part(name=letter)})
        cell = ToyCell(index, {} if value is None else {axis: value}, spec)
        made.append(PlannedRow(cell, 0, PlannedRun(str(index), spec, 0)))  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2, None], pa.int64(), [1, 2, None]),
        ([True, False], pa.bool_(), [True, False]),
        ([1, Decimal("2.5")], pa.float64(), [1.0, 2.5]),
        (["a", "b"], pa.string(), ["a", "b"]),
        ([1, "all"], pa.string(), ["1", "all"]),
        ([True, 1], pa.string(), ["true", "1"]),
        ([{"name": "matmul", "n": 8}, "fib"], pa.string(), ["matmul n=8", "fib"]),
    ],
)
def test_an_axis_keeps_its_type_where_all_values_share_it(values: list[Any], kind: Any, expected: list[Any]) -> None:
    column = axis_column(rows("axis", values), "axis")
    assert column.type == kind
    assert column.to_pylist() == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("randomized", "randomized"),
        (12, "12"),
        (Decimal("0.50"), "0.50"),
        (None, "null"),
        ([1, "two", Decimal("3.5")], "[1, two, 3.5]"),
        ({"name": "uts", "depth": 3, "seed": 1}, "uts depth=3 seed=1"),
        ({"costs": {"push_ns": 5}, "name": "ompi"}, "ompi costs={push_ns=5}"),
        ({"n": 4}, "n=4"),
    ],
)
def test_labels_read_like_the_yaml(value: Any, text: str) -> None:
    assert label(value) == text


def test_a_part_is_called_by_its_name() -> None:
    values = ["a.yaml", {"name": "b", "threshold": 2}, None]
    assert named_column(rows("strategy", values, "abc"), "strategy") == ["a", "b", "c"]


def test_a_variant_is_not_called_what_it_was_made_from() -> None:
    values = ["a", {"like": "s", "threshold": 2}, {"like": "t", "name": "c"}]
    assert named_column(rows("strategy", values, "asc"), "strategy") == ["a", "like=s threshold=2", "c"]


def test_variants_of_one_name_are_told_apart() -> None:
    values = ["s", {"name": "s", "threshold": 2}, {"name": "s", "threshold": 3}]
    assert named_column(rows("strategy", values), "strategy") == ["s", "s threshold=2", "s threshold=3"]
