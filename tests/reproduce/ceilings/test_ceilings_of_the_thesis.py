"""The ceilings of the thesis: the figures that can be worked out from its tables with a pocket calculator."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from numasim.reproduce.ceilings.ceiling import Ceiling, ScoreBound
from numasim.reproduce.ceilings.study_ceilings import study_ceilings, with_ceilings
from numasim.reproduce.kinds import KINDS
from numasim.reproduce.plan.planned import cells_of, table_of
from numasim.reproduce.plan.setting import Setting
from numasim.reproduce.score.scores import class_scores
from numasim.reproduce.score.scoring import score_rules
from numasim.reproduce.study.study import Study, read_study
from numasim.reproduce.table_cells import Table

ROWS = ["Strassen-2048", "Strassen-4096", "Strassen-8192", "Sort-33554432", "SparseLU-single", "SparseLU-for"]


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study("thesis")


@pytest.fixture(scope="module")
def tables(study: Study) -> tuple[Table, ...]:
    """Every table as if it had been predicted exactly."""
    setting = Setting(study)
    return tuple(
        table_of(
            table,
            tuple(
                replace(cell, simulated=(cell.published,))
                for cell in cells_of(setting, table, KINDS[table.file.kind].units or None)
            ),
        )
        for table in study.tables.values()
    )


@pytest.fixture(scope="module")
def ceilings(study: Study, tables: tuple[Table, ...]) -> dict[str, Ceiling]:
    return {each.name: each for each in study_ceilings(study, tables, score_rules(study))}


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
    assert found.bounds == ()  # every scored value is scored in one of its prints alone


def test_volumes_differ_by_what_two_tables_say(ceilings: dict[str, Ceiling]) -> None:
    """Table 4.4 and 5.3: the smaller is the best prediction, so that half of 1 - smaller / larger is the least."""
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


def test_the_affinity_aware_times_are_computed_in_five_of_six_rows(ceilings: dict[str, Ceiling]) -> None:
    found = ceilings["locality binding over affinity-aware"]
    assert list(column(found, "nearest").values()) == ["1.06", "1.11", "1.12", "1.11", "0.97", "0.95"]
    assert [row for row, text in column(found, "of few decimals").items() if text == "no"] == ["SparseLU-single"]
    (bound,) = found.bounds
    rounding = sum(0.0025 / ratio for ratio in (1.06, 1.11, 1.12, 1.11, 0.95))
    assert bound == ScoreBound("times", "mape", pytest.approx(rounding / 24), 5, 24)


def test_the_locality_binding_times_are_computed_from_speedups_in_five_of_six_rows(
    ceilings: dict[str, Ceiling],
) -> None:
    found = ceilings["serial over locality binding"]
    assert list(column(found, "nearest").values()) == ["9.96", "12.04", "13.23", "13.47", "15.50", "16.90"]
    assert [row for row, text in column(found, "of few decimals").items() if text == "no"] == ["Sort-33554432"]


def test_what_the_bytes_saved_explain(ceilings: dict[str, Ceiling]) -> None:
    """Bytes / 64 x 47.6 ns / 12 over the gain, from Tables 5.2, 5.3 and 6.1."""
    found = ceilings["bytes saved by locality binding"]
    assert column(found, "explained") == dict(zip(ROWS, ["20%", "14%", "17%", "all", "87%", "41%"], strict=True))
    assert found.bounds == ()
    assert found.no_bound


def test_the_largest_ceiling_of_a_score_counts(
    study: Study, tables: tuple[Table, ...], ceilings: dict[str, Ceiling]
) -> None:
    scores = with_ceilings(class_scores(tables, score_rules(study)), tuple(ceilings.values()))
    found = {score.name: score.ceiling for score in scores}
    noise = {bound.score: bound.value for bound in ceilings["noise of ten runs"].bounds}
    assert noise["times"] > ceilings["locality binding over affinity-aware"].bounds[0].value
    assert {name: value for name, value in found.items() if value is not None} == noise


def test_ceilings_are_over_the_cells_that_are_scored(study: Study, tables: tuple[Table, ...]) -> None:
    """A reproduction of Table 3.4 alone scores six times; none of them is computed."""
    few = [table for table in tables if table.id == "3.4"]
    found = {each.name: each for each in study_ceilings(study, few, score_rules(study))}
    bound = found["noise of ten runs"].bounds[0]
    assert (bound.covered, bound.cells) == (6, 6)
    assert found["locality binding over affinity-aware"].bounds == ()
