"""The ceilings (best scores that a prediction can get) of the thesis against numbers worked out from its tables."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from cells_by_hand import cell, table

from numasim.reproduce.setting import Setting
from numasim.reproduce.study import ScoreRule, Study, read_study
from numasim.reproduce.study_tables import cells_of, table_of
from numasim.reproduce.table_cells import Ceiling, Role, ScoreBound, Table

ROWS = ["Strassen-2048", "Strassen-4096", "Strassen-8192", "Sort-33554432", "SparseLU-single", "SparseLU-for"]


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study("thesis")


@pytest.fixture(scope="module")
def tables(study: Study) -> tuple[Table, ...]:
    """Return every table with exact predictions."""
    setting = Setting(study)
    return tuple(
        table_of(setting, table, [replace(cell, simulated=(cell.published,)) for cell in cells_of(setting, table)])
        for table in study.tables.values()
    )


@pytest.fixture(scope="module")
def ceilings(study: Study, tables: tuple[Table, ...]) -> dict[str, Ceiling]:
    return {each.name: each for each in study.ceilings(study, tables, study.score_rules)}


def column(ceiling: Ceiling, heading: str) -> dict[str, str]:
    at = ceiling.headings.index(heading)
    return {row[0]: row[at] for row in ceiling.rows}


def test_what_the_thesis_prints_twice(ceilings: dict[str, Ceiling]) -> None:
    found = ceilings["printed twice"]
    assert column(found, "not alike") == {
        "average steal miss ratio (Table 3.2), randomized average steal miss ratio (Table 3.3)": "0",
        "randomized execution time (Table 3.4), randomized execution time (Table 4.5)": "1",
        "serial execution time (Table 3.4), serial execution time (Table 4.5), serial execution time (Table 5.2),"
        " serial execution time (Table 6.6)": "1",
        "latency (Table 4.1), latency (Table 6.1)": "0",
        "remote (Table 4.4), topology aware remote (Table 5.3)": "6",
        "topology aware execution time (Table 4.5), topology aware execution time (Table 5.2)": "6",
        "locality binding execution time (Table 5.2), numa oblivious execution time (Table 6.6)": "0",
    }
    assert found.bounds == ()  # of a value that is printed twice only one print is scored


def test_volumes_differ_by_what_two_tables_say(ceilings: dict[str, Ceiling]) -> None:
    """Of a volume in both Tables 4.4 and 5.3, the smaller value is best: mean error (1 - smaller / larger) / 2."""
    pairs = [
        (0.3423, 0.9986), (1.1157, 5.2197), (2.8416, 39.3668), (1.6365, 3.4797), (0.0675, 5.2117), (0.0613, 3.4587),
    ]  # fmt: skip
    least = sum(1 - low / high for low, high in pairs) / 2 / 6
    text = column(ceilings["printed twice"], "least mean error")
    assert text["remote (Table 4.4), topology aware remote (Table 5.3)"] == f"{100 * least:.2g}%" == "41%"


def test_the_noise_of_ten_runs(ceilings: dict[str, Ceiling]) -> None:
    found = {bound.score: bound for bound in ceilings["noise of ten runs"].bounds}
    one = math.sqrt(66779.39655 / 48) / (1723.235601 + 1.609907157 * 61)
    assert one == pytest.approx(0.0205, abs=5e-5)
    error = math.sqrt(2 / math.pi / 10) * one
    assert found["times"] == ScoreBound("times", "mape", pytest.approx(error, rel=0.02), 24, 24)
    assert found["times, one step"].value == pytest.approx(math.sqrt(2) * error, rel=0.02)
    assert found["times, interaction"].value == pytest.approx(2 * error, rel=0.02)


def test_what_the_bytes_saved_explain(ceilings: dict[str, Ceiling]) -> None:
    """The bytes saved (Tables 5.2, 5.3 and 6.1) explain bytes / 64 x 47.6 ns / 12 workers of the time gained."""
    found = ceilings["bytes saved by locality binding"]
    assert column(found, "explained") == dict(zip(ROWS, ["20%", "14%", "17%", "all", "87%", "41%"], strict=True))
    assert found.bounds == ()
    assert found.no_bound


# ---- by hand ----

PARTS = read_study("thesis").part("ceilings")


@pytest.mark.parametrize(
    ("question", "deviations"), [("absolute", 1.0), ("one-step", math.sqrt(2)), ("interaction", 2)]
)
def test_as_many_values_are_noisy_as_take_part(question: str, deviations: float) -> None:
    """Each row is a published change from 10 s. A ceiling does not depend on simulated values."""
    rows = {row: 0.5 + 0.1 * number for number, row in enumerate("abcdefghij")}
    before = [cell(row, 10.0, 1.0, column="before", role=Role.FITTED) for row in rows]
    after = [cell(row, 10 * ratio, 1.0, baseline="before") for row, ratio in rows.items()]
    found = PARTS.noisy_bound([table([*before, *after])], ScoreRule("times", "mape", question=question), 0.02)
    assert found.value == pytest.approx(deviations * math.sqrt(2 / math.pi) * 0.02, rel=0.03)
