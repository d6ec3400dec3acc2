"""A calibration that reads what is given out as a prediction is caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from numasim.errors import InputError
from numasim.reproduce.calibration.readings import Reading, Readings, misread
from numasim.reproduce.calibration.record import Calibration, FittedParameter, RefusedParameter
from numasim.reproduce.load import read_study


@pytest.fixture
def readings(small_study: Path) -> Readings:
    return Readings(read_study(str(small_study)))


def test_values_are_the_published_ones_and_every_reading_is_kept(readings: Readings) -> None:
    assert readings.values("1.1", "plain_s") == {"small": 4, "large": 9}
    assert readings.values("1.2", "attempts", ["2"]) == {"2": 10}
    assert readings.done == [Reading("1.1", "plain_s", ("small", "large")), Reading("1.2", "attempts", ("2",))]
    assert misread(readings.study, readings.done, Calibration()) == []


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
    found = misread(readings.study, readings.done, Calibration())
    assert [text in sentence for text, sentence in zip(caught, found, strict=True)] == [True] * len(caught)


def test_a_row_that_is_not_there_is_an_error(readings: Readings) -> None:
    with pytest.raises(InputError, match=r"table 1\.1 has no row 'smal'.*did you mean 'small'"):
        readings.values("1.1", "plain_s", ["smal"])


def test_what_was_only_read_to_be_refused_may_be_a_prediction(readings: Readings) -> None:
    readings.values("1.1", "domains_s")
    source = {"field": "model.mlp", "programs": ("trees",), "table": "1.1", "columns": ("domains_s",)}
    refused = RefusedParameter(
        **source, name="x", fitted_rows=("small",), found=1, searched=(0, 1), reason="The best value is an end."
    )
    found = misread(readings.study, readings.done, Calibration(refused=(refused,)))
    assert ["domains_s of large" in sentence for sentence in found] == [True]
    fitted = FittedParameter(**source, name="y", fitted_rows=("small", "large"), value=1)
    assert len(misread(readings.study, readings.done, Calibration(parameters=(fitted,), refused=(refused,)))) == 2


def test_a_value_is_rounded_by_its_last_printed_digit(small_study: Path) -> None:
    path = small_study / "published" / "times.csv"
    path.write_text("program,plain_s,domains_s\nsmall,4.50,2\nlarge,120,3\n")
    readings = Readings(read_study(str(small_study)))
    found = readings.rounding("1.1", "plain_s")
    assert found == {"small": pytest.approx(0.01 / 4.5 / 12**0.5), "large": pytest.approx(1 / 120 / 12**0.5)}
    assert readings.rounding("1.1", "plain_s", ["large"]).keys() == {"large"}
    assert readings.done == []
