"""A calibration that reads what is given out as a prediction is caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from numasim.errors import InputError
from numasim.reproduce.calibration.readings import Reading, Readings, misread
from numasim.reproduce.study.study import read_study


@pytest.fixture
def readings(small_study: Path) -> Readings:
    return Readings(read_study(str(small_study)))


def test_values_are_the_published_ones_and_every_reading_is_kept(readings: Readings) -> None:
    assert readings.values("1.1", "plain_s") == {"small": 4, "large": 9}
    assert readings.values("1.2", "attempts", ["2"]) == {"2": 10}
    assert readings.done == [Reading("1.1", "plain_s", ("small", "large")), Reading("1.2", "attempts", ("2",))]
    assert misread(readings.study, readings.done) == []


@pytest.mark.parametrize(
    ("table", "column", "rows", "caught"),
    [
        ("1.1", "domains_s", None, ["domains_s of small", "domains_s of large"]),
        ("1.2", "attempts", ["2", "24"], ["attempts of 24"]),
        ("1.3", "attempts", ["2"], ["attempts of 2"]),
        ("figure-1", "gain", ["small"], ["gain of small"]),
    ],
)
def test_a_prediction_that_is_read_is_caught(
    readings: Readings, table: str, column: str, rows: list[str] | None, caught: list[str]
) -> None:
    readings.values("1.1", "plain_s")
    readings.values(table, column, rows)
    found = misread(readings.study, readings.done)
    assert [text in sentence for text, sentence in zip(caught, found, strict=True)] == [True] * len(caught)


def test_a_row_that_is_not_there_is_an_error(readings: Readings) -> None:
    with pytest.raises(InputError, match=r"table 1\.1 has no row 'smal'.*did you mean 'small'"):
        readings.values("1.1", "plain_s", ["smal"])
