"""The ceiling of scores for values that are printed twice: found and declared prints, and the bounded scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells_by_hand import cell, table
from hypothesis import given
from hypothesis import strategies as st
from small_study import write_study

from numasim.reproduce.printed_twice import ScoredClass, key_of, printed_again, scored_classes, twice_bound
from numasim.reproduce.scores import class_scores
from numasim.reproduce.study import ScoreRule, read_study
from numasim.reproduce.study_tables import Elsewhere
from numasim.reproduce.table_cells import Cell, Role

AGAIN = """\
COLUMNS = {"first_s": Column("makespan_s", "plain"), "other_s": Column("serial_s", "domains")}
TABLES.append(StudyTable("2.1", "Times again", "section 4", CSV / "again.csv", "program", COLUMNS, "trees"))
"""
READ = """{"workers": {
    "question": "how many", "role": "input", "tables": "2.1", "scored": "two",
    "choices": {"two": {"says": "two", "set": {"workers": 2}}},
}}"""


def found(
    folder: Path, rows: str, *same: tuple[Elsewhere, ...], readings: str = "{}"
) -> list[list[tuple[str, str, str]]]:
    again = f"program,first_s,other_s\n{rows}"
    study = read_study(str(write_study(folder, "READINGS = {}", f"READINGS = {readings}", AGAIN, again=again)))
    return [[key_of(each) for each in group] for group in printed_again(study, same)]


def test_a_file_that_two_tables_show_is_printed_once(small_study: Path) -> None:
    """Tables 1.2 and 1.3 show one column of one file. The figure shows quotients."""
    assert printed_again(read_study(str(small_study)), ()) == []


def test_the_same_runs_and_the_same_quantity_are_one_prediction(tmp_path: Path) -> None:
    assert found(tmp_path, "large,8,3\n") == [[("1.1", "plain_s", "large"), ("2.1", "first_s", "large")]]


def test_a_reading_of_one_table_makes_another_prediction_of_it(tmp_path: Path) -> None:
    assert found(tmp_path, "large,8,3\n", readings=READ) == []


def test_what_is_declared_is_joined_row_by_row_to_what_is_found(tmp_path: Path) -> None:
    declared = (Elsewhere("2.1", "other_s"), Elsewhere("2.1", "first_s"))
    assert found(tmp_path, "large,8,3\nsmall,4,1\n", declared) == [
        [("1.1", "plain_s", row), ("2.1", "first_s", row), ("2.1", "other_s", row)] for row in ("small", "large")
    ]


# ---- the bounded scores ----


def prints(*values: float, **fields: object) -> list[Cell]:
    return [cell("a", value, value, table=f"{number}.1", **fields) for number, value in enumerate(values)]  # type: ignore[arg-type]


def scored(cells: list[Cell], metric: str = "mape") -> ScoredClass:
    tables = [table([each], each.table) for each in cells]
    (one,) = scored_classes(tables, [ScoreRule("times", metric)])
    return one


def test_a_score_over_both_prints_is_bounded_by_half_their_distance_and_the_others_count_as_met() -> None:
    both = prints(1.0, 2.0)
    alone = [cell(row, 5.0, 5.0, table="9.1") for row in "xyz"]
    cells = scored([*both, *alone])
    bound = twice_bound(cells, [both])
    assert bound is not None
    assert (bound.value, bound.covered, bound.cells) == (pytest.approx(2 * 0.25 / 5), 2, 5)


def test_absolute_errors_are_bounded_by_the_median_and_medians_not_at_all() -> None:
    three = prints(0.1, 0.2, 0.6)
    bound = twice_bound(scored(three, "mean-absolute-error"), [three])
    assert bound is not None
    assert bound.value == pytest.approx((0.1 + 0.4) / 3)
    assert scored_classes([table(three)], [ScoreRule("times", "median-factor")]) == ()


@given(
    groups=st.lists(st.lists(st.floats(0.1, 10), min_size=1, max_size=3), min_size=1, max_size=4),
    said=st.lists(st.floats(0, 12), min_size=4, max_size=4),
    metric=st.sampled_from(["mape", "mean-absolute-error"]),
)
def test_no_prediction_scores_better_than_the_bound(groups: list[list[float]], said: list[float], metric: str) -> None:
    cells = [
        [cell(str(number), value, said[number], table=f"{place}.1") for place, value in enumerate(group)]
        for number, group in enumerate(groups)
    ]
    flat = [each for group in cells for each in group]
    rule = ScoreRule("times", metric)
    (score,) = class_scores([table([each], each.table) for each in flat], [rule])
    bound = twice_bound(scored(flat, metric), cells)
    assert score.value >= (bound.value if bound else 0) - 1e-12


def test_classes_have_the_cells_that_their_scores_count() -> None:
    cells = [
        cell("a", 1.0, 1.0),
        cell("b", 1.0),  # not simulated
        cell("c", 1.0, 1.0, role=Role.FITTED),
        cell("d", 0.0, 1.0),  # a relative error does not count a published zero
        cell("e", 1.0, 1.0, score="volumes"),
    ]
    rules = [ScoreRule("times", "mape"), ScoreRule("volumes", "mean-absolute-error"), ScoreRule("none", "mape")]
    found = scored_classes([table(cells)], rules)
    assert [(each.name, [one.row for one in each.cells]) for each in found] == [("times", ["a"]), ("volumes", ["e"])]
