"""What a perfect model can expect to score against noisy means: closed forms of every question."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from cells_by_hand import cell, table

from numasim.reproduce.ceilings.noisy_score import noisy_bound
from numasim.reproduce.study.selection import ScoreRule
from numasim.reproduce.table_cells import Cell, Role, Table

DEVIATION = 0.02
MEAN_ERROR = math.sqrt(2 / math.pi) * DEVIATION
ROWS = "abcdefghij"


def changes(*ratios: float) -> list[Table]:
    """A row for each change from 10 s, all of them simulated as something that does not count."""
    before = [cell(row, 10.0, 1.0, column="before", role=Role.FITTED) for row in ROWS[: len(ratios)]]
    after = [cell(row, 10 * ratio, 1.0, baseline="before") for row, ratio in zip(ROWS, ratios, strict=False)]
    return [table([*before, *after])]


def score(tables: list[Table], metric: str, question: str, deviation: float = DEVIATION) -> float:
    found = noisy_bound(tables, ScoreRule("times", metric, question=question), deviation)
    assert found is not None
    assert (found.score, found.metric, found.covered) == ("times", metric, found.cells)
    return found.value


@pytest.mark.parametrize(
    ("question", "deviations"), [("absolute", 1.0), ("one-step", math.sqrt(2)), ("interaction", 2)]
)
def test_as_many_values_are_noisy_as_take_part(question: str, deviations: float) -> None:
    ratios = [0.5 + 0.1 * number for number in range(10)]
    assert score(changes(*ratios), "mape", question) == pytest.approx(deviations * MEAN_ERROR, rel=0.03)


def test_absolute_errors_are_as_large_as_the_values() -> None:
    cells = [cell(row, 0.5, 1.0) for row in ROWS]
    assert score([table(cells)], "mean-absolute-error", "absolute") == pytest.approx(0.5 * MEAN_ERROR, rel=0.03)


@pytest.mark.parametrize("fall", [0.0, 0.01, 0.03, 0.2])
def test_a_direction_is_as_sure_as_the_change_is_larger_than_its_noise(fall: float) -> None:
    """The difference of 10 and 10 (1 - fall) has the deviation 0.02 sqrt(10^2 + 10^2 (1 - fall)^2)."""
    noise = DEVIATION * math.hypot(1, 1 - fall)
    sure = NormalDist().cdf(fall / noise) if fall else 0.0  # no change has no direction to agree with
    assert score(changes(*[1 - fall] * 10), "sign-agreement", "absolute") == pytest.approx(sure, abs=0.01)


def test_without_noise_everything_can_be_reached() -> None:
    ratios = [0.5, 0.9, 1.2]
    for question in ("absolute", "one-step", "interaction"):
        assert score(changes(*ratios), "mape", question, 0.0) == pytest.approx(0, abs=1e-12)
    assert score(changes(*ratios), "sign-agreement", "departure", 0.0) == 1.0


def test_orders_are_as_sure_as_values_lie_apart() -> None:
    def ranked(*values: float) -> list[Table]:
        return [table([cell("a", value, 1.0, column=str(value), variant=str(value)) for value in values])]

    assert score(ranked(1.0, 2.0, 4.0), "rank-correlation", "absolute") == 1.0
    near = score(ranked(1.0, 1.01), "rank-correlation", "absolute")
    right = NormalDist().cdf(0.01 / (DEVIATION * math.hypot(1, 1.01)))
    assert near == pytest.approx(2 * right - 1, abs=0.04)  # right is a correlation of 1, wrong one of -1


def test_the_same_cells_have_the_same_bound() -> None:
    assert score(changes(0.8, 0.9), "mape", "one-step") == score(changes(0.8, 0.9), "mape", "one-step")


def test_what_is_not_scored_has_no_bound() -> None:
    none: list[Cell] = [cell("a", 1.0, 1.0, score="volumes")]
    assert noisy_bound([table(none)], ScoreRule("times", "mape"), DEVIATION) is None
