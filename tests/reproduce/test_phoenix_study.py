"""The study of Phoenix++: what is fitted to what, and which published figures follow from its tables."""

from __future__ import annotations

from statistics import fmean

import pytest

from numasim.engine.simulate import simulate_spec
from numasim.reproduce.load import read_study
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study

POLICIES = ("balanced", "locality", "locality_balanced", "locality_interleave")
DISTURBED = {"112", "116"}


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study("phoenix")


def test_all_eleven_tables_are_there(study: Study) -> None:
    tables = {name for name in study.tables if name.split("-")[0] in ("parade", "parallax", "paragon")}
    assert len(tables) == 11


def test_six_counts_of_two_columns_and_one_of_another_are_fitted(study: Study) -> None:
    fitted = {
        (table, column): spec.fitted
        for table, each in study.tables.items()
        for column, spec in each.columns.items()
        if spec.fitted
    }
    assert {key: len(rows) for key, rows in fitted.items()} == {
        ("parade-32-equal-prob", "interleave_s"): 6,
        ("paragon-4-equal-prob", "interleave_s"): 6,
        ("parade-32-heavy", "interleave_s"): 1,
    }
    for parameter in study.parameters:
        assert {(parameter.table, column) for column in parameter.columns} <= fitted.keys()


@pytest.mark.parametrize(("shape", "without"), [("equal-prob", set()), ("disjoint", DISTURBED)])
def test_mean_ratios_are_those_of_the_tables(study: Study, shape: str, without: set[str]) -> None:
    table = f"parade-32-{shape}"
    reference = study.published(table, "interleave_s")
    printed = study.published(f"mean-ratio-{shape}", f"{shape.replace('-', '_')}_mean_ratio")
    for policy in POLICIES:
        times = study.published(table, f"{policy}_s")
        mean = fmean(times[row] / reference[row] for row in times if row not in without)
        assert printed[policy.replace("_", "-")] == pytest.approx(mean, abs=5e-5)


def test_rise_and_growth_are_those_of_the_tables(study: Study) -> None:
    times = study.published("parade-32-equal-prob", "interleave_s")
    assert study.published("rise", "rise")["interleave"] == pytest.approx(times["128"] / times["36"], abs=5e-5)
    times = study.published("paragon-4-equal-prob", "vertical_s")
    assert study.published("growth", "growth")["vertical"] == pytest.approx(times["24"] / times["1"], abs=5e-5)


def test_with_one_thread_both_tournaments_are_interleave_once_and_twice(study: Study) -> None:
    """One thread merges nothing: vertical puts out what interleave does, and horizontal builds every table twice."""
    setting, program = Setting(study), study.programs["paragon"]

    def time(variant: str) -> float:
        spec = setting.spec(Wanted(program, "1", f"equal-prob {variant}"))
        return float(simulate_spec(spec, spec.seed).counters["makespan_ps"])

    assert time("vertical") == pytest.approx(time("interleave"), rel=0.01)
    assert time("horizontal") == pytest.approx(2 * time("interleave"), rel=0.01)
