"""Shares of published and simulated counts, against fractions by hand."""

from __future__ import annotations

import pytest
from cells_by_hand import cell, table

from numasim.reproduce.score.shares import Share, share_table
from numasim.reproduce.table_cells import Cell, Role

WHOLES = ("far", "near")


def count(row: str, column: str, published: float, *simulated: float, identity: str = "1.1") -> Cell:
    more = {"quantity": "steal_attempts", "unit": "count", "score": "steals", "baseline": "near", "null": 3.0}
    return cell(row, published, *simulated, column=column, table=identity, **more)  # type: ignore[arg-type]


def test_a_share_is_taken_seed_by_seed_and_of_what_was_published() -> None:
    counts = table([count("2", "far", 1, 3, 2), count("2", "near", 3, 1, 2)])
    (found,) = share_table([counts], {"remote": Share("1.1", "far", WHOLES)}, "Shares").cells
    assert (found.published, found.simulated, found.unit, found.column) == (0.25, (0.75, 0.5), "1", "remote")
    assert (found.score, found.baseline, found.null, found.role) == ("", "", None, Role.PREDICTED)


def test_nothing_over_nothing_has_no_cell_and_no_sample() -> None:
    counts = [
        count("2", "far", 0, 1),
        count("2", "near", 0, 1),
        count("4", "far", 1, 0, 1),
        count("4", "near", 1, 0, 3),
    ]
    (found,) = share_table([table(counts)], {"remote": Share("1.1", "far", WHOLES)}, "Shares").cells
    assert (found.row, found.published, found.simulated) == ("4", 0.5, (0.25,))


def test_columns_may_come_from_several_tables() -> None:
    first = table([count("2", "far", 1, 1), count("2", "near", 1, 1)])
    second = table([count("2", "far", 1, 0, identity="1.2"), count("2", "near", 4, 5, identity="1.2")], "1.2")
    shares = {"before": Share("1.1", "far", WHOLES), "after": Share("1.2", "far", WHOLES)}
    found = share_table([first, second], shares, "Shares")
    assert [(each.column, each.published) for each in found.cells] == [("before", 0.5), ("after", 0.2)]
    assert (found.id, found.title) == ("1.1, 1.2", "Shares")


@pytest.mark.parametrize(
    ("share", "missing"), [(Share("2.1", "far", WHOLES), "2.1"), (Share("1.1", "fra", WHOLES), "fra")]
)
def test_what_is_not_there_has_no_share(share: Share, missing: str) -> None:
    with pytest.raises(KeyError, match=missing):
        share_table([table([count("2", "far", 1), count("2", "near", 1)])], {"remote": share}, "Shares")
