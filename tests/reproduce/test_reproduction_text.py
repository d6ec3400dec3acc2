"""Numbers and tables as text."""

from __future__ import annotations

import math

import pytest
from cells_by_hand import cell, table
from made_up_findings import TABLES, made_up
from rich.console import Console

from numasim.reproduce.table_cells import TRUTH, Interval, Score
from numasim.reproduce.terminal import print_sheet, print_table
from numasim.reproduce.text import (
    beats_null,
    bound_text,
    column_label,
    counts_of,
    error_text,
    interval_text,
    met,
    number_text,
    published_text,
    rules_text,
    score_number,
    simulated_estimate,
    simulated_text,
    table_name,
    verdict,
)

NARROW, WIDE = 80, 120


def printed(width: int, *show: object) -> str:
    console = Console(width=width, color_system=None, force_terminal=True)
    with console.capture() as capture:
        for function, argument in zip(show[::2], show[1::2], strict=True):
            function(argument, console)  # type: ignore[operator]
    return capture.get()


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12.0449, "s", "12.04"),
        (0.306036, "s", "0.3060"),
        (92743.9, "s", "92,744"),
        (123.4, "count", "123"),
        (1.5, "count", "1.500"),
        (0.999888685, "1", "0.999889"),
        (0.5, "1", "0.5000"),
        (0.0000002, "1", "2.00e-07"),
        (0.0, "s", "0"),
        (math.nan, "s", "-"),
        (None, "s", "-"),
    ],
)
def test_numbers_have_four_digits(value: float | None, unit: str, text: str) -> None:
    assert number_text(value, unit) == text


def test_a_simulated_value_has_half_its_interval_in_plain_decimals_or_its_seeds() -> None:
    assert simulated_text(cell("a", 1.0, 20.0, 20.2)) == "20.10 ± 1.3"  # t * error: 12.706 * 0.1
    assert simulated_text(cell("a", 1.0, 1.0, 2.0)) == "1.500 (1.000 to 2.000)"  # half: 12.706 * 0.5
    assert simulated_text(cell("a", 1.0, 0.0, 0.2)) == "0.1000 (0 to 0.2000)"
    assert simulated_text(cell("a", 1.0, 20.0)) == "20.00"
    assert simulated_text(cell("a", 1.0)) == "-"


def test_a_statement_has_a_number_of_seeds_and_no_interval() -> None:
    one = cell("a", 1.0, 1.0, 1.0, 0.0, unit=TRUTH)
    assert (published_text(one), simulated_text(one), error_text(one)) == ("yes", "2 of 3 seeds", "1 of 3 not")
    assert math.isnan(simulated_estimate(one).high)
    score = Score("claims", "claims-held", 11 / 12, Interval(0.9, 1.0), null=0.5, bound=1, cells=4)
    assert (score_number(score, score.value), bound_text(score)) == ("3.7 of 4", "≥ 4 of 4")
    assert interval_text(score, score.seeds) == "-"


def test_errors_fit_their_unit() -> None:
    assert error_text(cell("a", 2.0, 2.5)) == "+25.0%"
    assert error_text(cell("a", 9.0, 19.0, unit="count")) == "x2.00"
    assert error_text(cell("a", 0.0, 1.0, unit="count")) == "x2.00"
    assert error_text(cell("a", 0.5, 0.45, unit="1")) == "-0.050"
    assert error_text(cell("a", 0.0, 0.45)) == "-"
    assert error_text(cell("a", 2.0)) == "-"


def test_columns_are_named_in_words_with_their_unit() -> None:
    assert column_label(cell("a", 1.0, column="serial_execution_time_s")) == "serial execution time (s)"
    assert column_label(cell("a", 1.0, column="remote_gb", unit="GB")) == "remote (GB)"
    assert column_label(cell("a", 1.0, column="false_steal_count", unit="count")) == "false steal count"
    assert column_label(cell("a", 1.0, column="overhead_ms", unit="us")) == "overhead (ms, taken as us)"


def test_bounds_are_met_from_the_side_that_the_metric_asks() -> None:
    def score(metric: str, value: float) -> Score:
        return Score("x", metric, value, None, null=0.5, bound=0.8, cells=1, against_null=value)

    error, agreement = score("mape", 0.9), score("sign-agreement", 0.9)
    assert (met(error), met(agreement)) == (False, True)
    assert (beats_null(error), beats_null(agreement)) == (False, True)
    assert (bound_text(error), bound_text(agreement)) == ("≤ 80.0%", "≥ 80.0%")
    assert verdict([error, agreement]) == "1 of 2 bounds are met; 1 of 2 scores are better than the best simple rule."


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("identity", TABLES)
def test_every_value_is_printed_in_full(identity: str, width: int) -> None:
    (shown,) = (found for found in made_up().tables if found.id == identity)
    text = printed(width, print_table, shown)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for one in shown.cells:
        assert published_text(one) in text
        assert simulated_text(one) in text
    for note in shown.notes:
        assert " ".join(note.split()) in " ".join(text.split())


def test_the_score_sheet_has_a_line_for_each_class() -> None:
    found = made_up()
    text = printed(WIDE, print_sheet, found)
    lines = text.splitlines()
    for score in found.scores:
        assert any({score.name, score.metric, str(score.cells)} <= set(line.split()) for line in lines)
        assert f"{score.name}: {rules_text(score) or 'no simple rule'}" in " ".join(text.split())
    for line in counts_of(found):
        assert line in " ".join(text.split())


def test_tables_without_a_number_have_their_own_name() -> None:
    names = [table_name(table([], identity)) for identity in ("3.4", "figure-3-5", "t-test-3-6-1", "overview")]
    assert names == ["Table 3.4", "Figure 3.5", "T-test 3.6.1", "Overview"]
