"""Scores of a table's cells: which cells count, the null model, and intervals against all possible resamples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy
from cells_by_hand import cell, table
from hypothesis import given
from hypothesis import strategies as st

from numasim.reproduce.printed_twice import least_error
from numasim.reproduce.scores import class_scores, table_scores
from numasim.reproduce.simple_rules import mean_of_the_others, rises
from numasim.reproduce.study import ScoreRule, read_study
from numasim.reproduce.table_cells import Interval, Role, Score, Table
from numasim.reproduce.text import beats_null, rules_text

MEASURES = read_study("thesis").part("measures")  # reading it adds the thesis' metrics
TIMES = ScoreRule("times", "mape", 0.15)


def only(tables: list[Table], rule: ScoreRule) -> Score:
    (found,) = class_scores(tables, [rule])
    return found


# ---- which cells count ----


def test_only_predictions_that_were_simulated_count() -> None:
    cells = [
        cell("a", 1.0, 1.1),
        cell("b", 1.0, 9.0, role=Role.FITTED),
        cell("c", 1.0, 9.0, role=Role.INPUT),
        cell("d", 1.0, 9.0, score="volumes"),
        cell("e", 1.0),
        cell("f", 1.0, math.nan),
    ]
    found = only([table(cells)], TIMES)
    assert found.cells == 1
    assert found.value == pytest.approx(0.1)


def test_a_rule_can_choose_tables_and_another_class() -> None:
    counts = {"unit": "count", "score": "steals"}
    first = [
        cell("2", 30.0, 20.0, column="remote", quantity=MEASURES.PART, **counts),
        cell("2", 70.0, 60.0, column="local", quantity="steal_attempts_local", **counts),
    ]
    second = [cell("2", 1.0, 500.0, column="remote", quantity=MEASURES.PART, table="1.2", **counts)]
    rule = ScoreRule("share", "pooled-share", 0.03, of="steals", tables=("1.1",))
    found = only([table(first), table(second, "1.2")], rule)
    assert (found.cells, found.value) == (2, pytest.approx(0.30 - 20 / 80))


def test_signs_are_taken_against_the_simulated_baseline() -> None:
    before = {"column": "before", "role": Role.FITTED}
    cells = [
        cell("a", 10.0, 20.0, **before),
        cell("a", 8.0, 19.0, baseline="before"),  # the simulated value falls, as the published value does
        cell("b", 10.0, 7.0, **before),
        cell("b", 8.0, 7.5, baseline="before"),  # the simulated value rises, but is nearer to the published value
        cell("c", 8.0, 7.5, baseline="missing"),
        cell("d", 8.0, 7.5, score="", baseline="before"),
    ]
    found = only([table(cells)], ScoreRule("signs", "sign-agreement", 0.8, of="times"))
    assert (found.cells, found.value, found.null) == (2, 0.5, 0.5)
    assert found.rule == "a random guess"
    up = ScoreRule("signs", "sign-agreement", 0.8, of="times", simple={"every change is upward": rises})
    risen = only([table(cells)], up)
    assert (risen.null, risen.rule) == (0.5, "a random guess")  # both values fall, so the rule scores 0
    assert [each.value for each in risen.simple] == [0.0, 0.5]


def test_each_variant_is_ranked_once_the_fitted_too() -> None:
    cells = [
        cell("a", 5.0, 5.0, column="randomized", variant="randomized", role=Role.FITTED),
        cell("a", 4.0, 6.0, column="threshold", variant="threshold", null=5.0),
        cell("a", 3.0, 3.0, column="aware", variant="aware", null=5.0),
        cell("a", 50.0, 1.0, column="serial", quantity="serial_s", role=Role.FITTED),
    ]
    again = [cell("a", 5.0, 1.0, column="before", variant="randomized", role=Role.FITTED, table="1.2")]
    found = only([table(cells), table(again, "1.2")], ScoreRule("ranks", "rank-correlation", 0.8, of="times"))
    assert found.cells == 3
    assert found.value == pytest.approx(0.5)  # ranks 3 2 1 against 2 3 1
    assert found.null == 0.0  # the null model predicts 5, 5 and 5, which have no order


# ---- simple rules ----


def test_the_best_of_several_simple_rules_stands_beside_the_score() -> None:
    cells = [cell(row, value, 2.0) for row, value in zip("abc", (1.0, 2.0, 6.0), strict=True)]
    rules = {
        "nothing": 0.0,
        "by row": {"a": 1.0, "b": 2.0, "c": 5.0},
        "the others": mean_of_the_others,
        "one of them exactly": {"a": 1.0},
    }
    found = only([table(cells)], ScoreRule("times", "mean-absolute-error", simple=rules))
    assert {each.rule: each.value for each in found.simple} == pytest.approx(
        {"nothing": 3, "by row": 1 / 3, "the others": (3 + 1.5 + 4.5) / 3, "one of them exactly": 0}
    )
    assert (found.rule, found.null, found.against_null) == ("by row", pytest.approx(1 / 3), pytest.approx(5 / 3))
    assert beats_null(found) is False
    assert rules_text(found).startswith("one of them exactly: 0.000; by row: 0.333; ")


def test_a_rule_may_know_the_names_of_cells() -> None:
    cells = [cell(row, value, 2.0) for row, value in zip("abc", (1.0, 2.0, 6.0), strict=True)]
    rule = {"doubles from a to c": lambda posed, cells: [{"a": 1, "b": 2, "c": 4}[cell.row] for cell in cells]}
    assert only([table(cells)], ScoreRule("times", "mean-absolute-error", simple=rule)).null == pytest.approx(2 / 3)


def test_the_null_model_is_scored_on_the_cells_that_have_one() -> None:
    found = only([table([cell("a", 2.0, 3.0, null=4.0), cell("b", 2.0, 2.0)])], TIMES)
    assert found.value == pytest.approx(0.25)
    assert (found.null, found.against_null) == (pytest.approx(1.0), pytest.approx(0.5))


# ---- intervals ----


def every_mape(published: list[float], simulated: list[tuple[float, ...]]) -> list[float]:
    """Return the score for every resample of the seeds; a resample has the same seeds in all cells."""
    count = len(simulated[0])
    draws = itertools.product(range(count), repeat=count)
    values = np.array(simulated)
    return [float(np.mean(np.abs(values[:, draw].mean(axis=1) / published - 1))) for draw in draws]


def test_few_seeds_have_the_range_of_all_resamples() -> None:
    published, simulated = [10.0, 20.0], [(11.0, 12.0, 14.0), (25.0, 22.0, 21.0)]
    cells = [cell(str(row), published[row], *simulated[row]) for row in range(2)]
    found = only([table(cells)], TIMES)
    every = every_mape(published, simulated)
    assert len(every) == 27
    assert found.seeds == Interval(pytest.approx(min(every)), pytest.approx(max(every)))
    assert found.seeds.low < found.value < found.seeds.high


def test_many_seeds_have_the_interval_of_scipy() -> None:
    seeds = 40
    simulated = np.random.default_rng(3).normal(12.0, 1.5, (2, seeds))
    cells = [cell(str(row), 10.0, *simulated[row]) for row in range(2)]
    found = only([table(cells)], TIMES)

    def mape(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray((np.abs(first.mean(axis) / 10 - 1) + np.abs(second.mean(axis) / 10 - 1)) / 2)

    expected = scipy.stats.bootstrap(
        tuple(simulated), mape, paired=True, vectorized=True, method="percentile", rng=1, n_resamples=20_000
    ).confidence_interval
    assert found.seeds == Interval(pytest.approx(expected.low, rel=0.03), pytest.approx(expected.high, rel=0.03))


def test_the_value_is_inside_where_errors_of_both_signs_cancel() -> None:
    found = only([table([cell("a", 10.0, 9.0, 11.0)])], TIMES)
    assert found.value == 0.0
    assert found.seeds == Interval(0.0, pytest.approx(0.1))


# ---- column by column ----


def test_every_column_of_a_table_is_scored_for_itself() -> None:
    cells = [
        cell("a", 2.0, 3.0, column="before", role=Role.FITTED, score=""),
        cell("a", 2.0, 1.0, column="after", null=4.0),
        cell("a", 0.5, 0.4, column="misses", quantity="miss_ratio", unit="1", score=""),
        cell("a", 9.0, 4.0, column="steals", quantity="steals", unit="count", score="steals"),
        cell("a", 9.0, 4.0, column="given", role=Role.INPUT),
    ]
    found = {item.column: item for item in table_scores([table(cells)], [TIMES, ScoreRule("steals", "mape")])}
    assert {name: item.score.metric for name, item in found.items()} == {
        "before": "mape",
        "after": "mape",
        "misses": "mean-absolute-error",
        "steals": "mape",
    }
    assert found["after"].score.bound == 0.15
    assert (found["after"].score.value, found["after"].score.null) == (0.5, 1.0)
    assert found["before"].role is Role.FITTED
    assert found["before"].score.bound is None


# ---- one prediction for several values ----


METRICS = ("mape", "mean-absolute-error", "median-factor")
POINTS = 20_001
VALUES = st.lists(st.floats(0.01, 1e4), min_size=1, max_size=6)


def on_a_grid(metric: str, published: list[float]) -> float:
    """Return the least mean error of all predictions on a grid. The grid contains every published value."""
    said = np.append(np.linspace(min(published), max(published), POINTS), published)[:, None]
    seen = np.array(published)
    errors = {
        "mape": np.abs(said - seen) / seen,
        "mean-absolute-error": np.abs(said - seen),
        "median-factor": np.abs(np.log1p(said) - np.log1p(seen)),
    }
    return float(errors[metric].mean(axis=1).min())


@pytest.mark.parametrize(
    ("metric", "published", "expected"),
    [
        ("mape", [1.0, 2.0], 0.25),  # at 1: (0 + 1/2) / 2; at 2 it would be (1 + 0) / 2
        ("mape", [1.0, 2.0, 4.0], (0.5 + 0.75) / 3),  # weights 1, 1/2, 1/4: half of their sum 7/4 is reached at 1
        ("mape", [3.0, 3.0], 0.0),
        ("mape", [0.0, 5.0], 0.0),  # a published zero does not count
        ("mape", [0.0], 0.0),
        ("mape", [-1.0, 1.0], 1.0),
        ("mean-absolute-error", [1.0, 2.0, 6.0], 5 / 3),
        ("mean-absolute-error", [0.0, 0.5], 0.25),
        ("median-factor", [0.0, 3.0], math.log(4) / 2),
        ("median-factor", [7.0], 0.0),
    ],
)
def test_the_least_error_by_hand(metric: str, published: list[float], expected: float) -> None:
    assert least_error(metric, published) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@given(published=VALUES)
def test_no_prediction_on_a_fine_grid_is_better_and_one_is_as_good(metric: str, published: list[float]) -> None:
    assert least_error(metric, published) == pytest.approx(on_a_grid(metric, published), rel=1e-9, abs=1e-12)


@given(VALUES)
def test_the_best_constant_has_the_least_error(published: list[float]) -> None:
    errors = np.abs(MEASURES.best_constant(np.array(published)) - published)
    assert errors.mean() == pytest.approx(least_error("mean-absolute-error", published), rel=1e-9, abs=1e-12)


def test_a_null_model_may_be_a_function_of_the_published_values() -> None:
    cells = [cell(row, value, 2.0, unit="1") for row, value in zip("abc", (1.0, 2.0, 6.0), strict=True)]
    found = only([table(cells)], ScoreRule("times", "mean-absolute-error", null=MEASURES.best_constant))
    assert (found.value, found.null) == (pytest.approx(5 / 3), pytest.approx(5 / 3))
