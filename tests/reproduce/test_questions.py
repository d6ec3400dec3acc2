"""The questions about predictions, and their null models, against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from cells_by_hand import cell, table
from hypothesis import given
from hypothesis import strategies as st

from numasim.reproduce.metrics import Posed
from numasim.reproduce.scores import class_scores, degenerate
from numasim.reproduce.study import ScoreRule, read_study
from numasim.reproduce.table_cells import Pair, Role, Score, Table

MEASURES = read_study("thesis").part("measures")  # reading it adds the thesis' questions


def change(row: str, before: float, after: float, told_before: float, told_after: float) -> list:
    """Return a row of two columns, before and after a change: published values, then simulated values (``told``)."""
    start = cell(row, before, told_before, column="before", role=Role.FITTED)
    return [start, cell(row, after, told_after, column="after", baseline="before")]


def table_of(*changes: list) -> Table:
    return table([each for both in changes for each in both])


def scored(found: Table, metric: str, question: str, **asked: object) -> Score:
    (score,) = class_scores([found], [ScoreRule("times", metric, question=question, **asked)])  # type: ignore[arg-type]
    return score


TWO = table_of(change("a", 10.0, 5.0, 8.0, 6.0), change("b", 20.0, 16.0, 30.0, 15.0))


def test_absolute_is_the_simulated_value_and_its_null_model_a_given_column() -> None:
    score = scored(TWO, "mape", "absolute", nulls={"a": 10.0, "b": 20.0})
    assert score.value == pytest.approx((1 / 5 + 1 / 16) / 2)
    assert score.null == pytest.approx((5 / 5 + 4 / 16) / 2)


def test_one_step_is_what_was_published_before_times_the_simulated_ratio() -> None:
    score = scored(TWO, "mape", "one-step")
    assert score.value == pytest.approx((abs(10 * 6 / 8 - 5) / 5 + abs(20 * 15 / 30 - 16) / 16) / 2)
    assert score.null == pytest.approx((5 / 5 + 4 / 16) / 2)  # the null model: the change has no effect


def test_interaction_tells_the_strength_of_a_change_from_one_row_each_in_turn() -> None:
    """Rows a and b have published ratios 1/2 and 4/5, simulated ratios 3/4 and 1/2. The prediction of a from b is
    4/5 * (3/4) / (1/2) = 6/5; that of b from a is 1/2 * (1/2) / (3/4) = 1/3.
    """
    score = scored(TWO, "mape", "interaction")
    assert score.value == pytest.approx((abs(6 / 5 - 1 / 2) / (1 / 2) + abs(1 / 3 - 4 / 5) / (4 / 5)) / 2)
    assert score.null == pytest.approx((abs(4 / 5 - 1 / 2) / (1 / 2) + abs(1 / 2 - 4 / 5) / (4 / 5)) / 2)


@given(
    st.lists(st.tuples(*[st.floats(0.1, 10.0)] * 3), min_size=2, max_size=5),
    st.floats(0.1, 10.0),
)
def test_a_simulation_that_is_off_by_one_factor_a_change_has_no_error_of_interaction(
    rows: list[tuple[float, float, float]], factor: float
) -> None:
    changes = [
        change(str(number), before, after, other, other * factor * after / before)
        for number, (before, after, other) in enumerate(rows)
    ]
    assert scored(table_of(*changes), "mape", "interaction").value == pytest.approx(0, abs=1e-9)


@given(st.lists(st.tuples(*[st.floats(0.1, 10.0)] * 3), min_size=2, max_size=5))
def test_a_simulation_without_effects_is_the_null_model_of_both_ratios(rows: list[tuple[float, float, float]]) -> None:
    found = table_of(*(change(str(n), before, after, other, other) for n, (before, after, other) in enumerate(rows)))
    for question in ("one-step", "interaction"):
        score = scored(found, "mape", question)
        assert score.value == pytest.approx(score.null)


def test_a_departure_is_measured_from_the_mean_of_its_column() -> None:
    """The published ratios are 1/2, 4/5, 9/10; only 1/2 is below their geometric mean 0.71. Simulated: .9, .8, .7."""
    rows = [change("a", 10.0, 5.0, 10.0, 9.0), change("b", 10.0, 8.0, 10.0, 8.0), change("c", 10.0, 9.0, 10.0, 7.0)]
    score = scored(table_of(*rows), "sign-agreement", "departure")
    assert (score.value, score.null) == (pytest.approx(1 / 3), 0.5)  # b agrees: 0.8 is above 0.796


# ---- guesses ----


def test_the_least_of_random_orders_is_that_of_all_pairs_of_orders() -> None:
    from itertools import permutations, product

    published = np.array([1.0, 2.0, 4.0])
    scores = [float(MEASURES.spearman(np.array(order, float), published)) for order in permutations(range(3))]
    expected = np.mean([min(pair) for pair in product(scores, repeat=2)])
    row = np.repeat([0, 1], 3)
    twice = Posed(np.tile(published, 2), *[np.zeros(6)] * 4, np.array([""] * 6), row, row, row)
    assert MEASURES.least_of_random_orders(twice) == pytest.approx(expected)


# ---- predictions that are all alike, intervals over rows ----


@pytest.mark.parametrize(
    ("published", "simulated", "says"),
    [
        ((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), "all zeros"),
        ((1.0, 2.0, 3.0), (4.0, 4.0, 4.0), "all equal"),
        ((1.0, 2.0, 3.0), (4.0, 4.0, 5.0), ""),
        ((2.0, 2.0, 2.0), (4.0, 4.0, 4.0), ""),
        ((1.0, 2.0), (4.0, 4.0), ""),
    ],
)
def test_predictions_that_are_all_alike_are_named(
    published: tuple[float, ...], simulated: tuple[float, ...], says: str
) -> None:
    pairs = [Pair(cell(str(value), value, mean), None) for value, mean in zip(published, simulated, strict=True)]
    assert degenerate(pairs) == says


def test_the_interval_over_rows_spans_the_rows_and_needs_three() -> None:
    off = [cell(row, 1.0, 1.0 + error, 1.0 + error) for row, error in zip("abcd", (0.1, 0.2, 0.3, 0.4), strict=True)]
    score = scored(table(off), "mape", "absolute")
    assert score.rows is not None
    assert score.value == pytest.approx(0.25)
    assert 0.1 - 1e-9 <= score.rows.low < score.value < score.rows.high <= 0.4 + 1e-9
    assert score.seeds is not None
    assert (score.seeds.low, score.seeds.high) == (pytest.approx(0.25), pytest.approx(0.25))  # all seeds are equal
    assert scored(table(off[:2]), "mape", "absolute").rows is None
