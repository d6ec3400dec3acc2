"""Cells of CSV files that a spreadsheet would compute."""

from __future__ import annotations

import csv

import pytest

from numasim.files.writer import csv_text, quoted

COMMAND = "=cmd|' /C calc'!A0"
TEXTS = [COMMAND, "+1+1", "-2+3", "@SUM(A1)", "\t=1", "'quoted'", "''", "plain", "", "a=b", 'with "both", and\na line']


@pytest.mark.parametrize("text", TEXTS)
def test_the_original_is_read_back_and_nothing_is_computed(text: str) -> None:
    (heading, (cell, number)) = csv.reader(csv_text(["name", "n"], [[text, -3.5]]).splitlines(keepends=True))
    assert heading == ["name", "n"]
    assert number == "-3.5"
    assert cell.removeprefix("'") == text
    assert cell[:1] not in tuple("=+-@\t")


@pytest.mark.parametrize("number", ["-3.5", "+2", "-1e-9", "1e6", "-.5"])
def test_numbers_that_were_written_as_text_stay(number: str) -> None:
    assert quoted(number) == number
