"""The described columns: one for each name that a run counts, whole, and told apart by their labels."""

from __future__ import annotations

from numasim.engine.columns import DESCRIBED
from numasim.engine.result import COLUMNS, COUNTS, TIME
from numasim.schema import counter_names


def test_groups_are_not_mixed() -> None:
    groups = [column.group for column in DESCRIBED.values()]
    order = ["identity", "outcome", "steals", "memory", "locks", "transactions", "time", "cost"]
    assert list(dict.fromkeys(groups)) == order
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)


def test_whatever_workers_count_is_described() -> None:
    assert set(COUNTS) <= set(COLUMNS)
    assert tuple(counter_names.TIMES) == TIME


def test_every_column_has_a_label_of_its_own_and_a_meaning() -> None:
    assert len({column.label for column in DESCRIBED.values()}) == len(DESCRIBED)
    for name, column in DESCRIBED.items():
        assert column.name == name
        assert column.meaning.endswith(".")


def test_units_are_those_of_the_names() -> None:
    for name, column in DESCRIBED.items():
        assert (column.unit == "ps") == name.endswith("_ps"), name
        assert (column.unit == "B") == name.startswith("bytes_"), name
