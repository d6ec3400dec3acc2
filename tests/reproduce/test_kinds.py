"""Kinds of a study's tables: each cell is compared with a value that the test computes from single runs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from small_study import write_study

from numasim.engine.simulate import simulate_spec
from numasim.reproduce.programs import Fields, Wanted
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.scores import class_scores
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import read_study
from numasim.reproduce.study_tables import Claim
from numasim.reproduce.table_cells import Role
from numasim.reproduce.text import error_text, published_text

MORE = """\
from numasim.reproduce.study import read_study

LAWS = read_study("laws")
Relative, KNOWN = LAWS.part("relative").Relative, LAWS.part("straggler").COMPARED
COLUMNS = {
    "plain_s": Column("time_ratio", "plain"),
    "domains_s": Column("time_reduction", "domains", published=NOTHING, score="times"),
    "swifter": Column("faster", "domains", published=NOTHING),
}
TABLES.append(StudyTable("more", "More", "section 4", CSV / "more_csv.csv", "program", COLUMNS, "trees", kind=KIND))
"""
COLUMNS = ("plain_s", "domains_s", "swifter")


def table(folder: Path, kind: str, columns: str = "COLUMNS", values: str = "small,1\nlarge,1\n") -> dict:
    more = MORE.replace("KIND", kind).replace('"program", COLUMNS', f'"program", {columns}')
    study = read_study(str(write_study(folder, more=more, more_csv=f"program,plain_s\n{values}")), ["more"])
    (found,) = reproduce(study, folder / "out", jobs=1).tables
    return {(cell.row, cell.column): cell for cell in found.cells}


def times(folder: Path, row: str, variant: str, **changes: object) -> list[float]:
    """Return the makespans of a row under a variant in ps, by seed."""
    study = read_study(str(folder))
    wanted = Wanted(study.programs["trees"], row, variant, Fields(changes).assignments)
    return [simulate_spec(run.spec, run.seed).counters["makespan_ps"] for run in Setting(study).runs(wanted)]


def test_a_comparison_is_of_the_same_seed(tmp_path: Path) -> None:
    found = table(tmp_path, 'Compared(against="plain", known=KNOWN)')
    plain, domains = times(tmp_path, "large", "plain"), times(tmp_path, "large", "domains")
    assert found["large", "plain_s"].simulated == (1.0, 1.0)
    assert {row: found[row, "plain_s"].role for row in ("small", "large")} == dict.fromkeys(
        ("small", "large"), Role.REFERENCE
    )
    saved = tuple(100 * (1 - mine / other) for mine, other in zip(domains, plain, strict=True))
    assert found["large", "domains_s"].simulated == saved
    assert found["large", "swifter"].simulated == tuple(map(float, map(int.__lt__, domains, plain)))
    unprinted = found["large", "domains_s"]
    assert math.isnan(unprinted.published)
    assert published_text(unprinted) == error_text(unprinted) == "-"


def test_what_is_expected_stands_where_nothing_was_printed(tmp_path: Path) -> None:
    found = table(tmp_path / "a", 'Relative(against="plain", known=KNOWN, expected=1)')
    assert {name: found["large", name].published for name in COLUMNS} == pytest.approx(
        {"plain_s": 1, "domains_s": 1, "swifter": math.nan}, nan_ok=True
    )
    found = table(tmp_path / "b", 'Relative(against={"domains_s": "plain"}, known=KNOWN, within=(200, 300))')
    assert found["large", "domains_s"].published == 200
    assert published_text(found["large", "domains_s"]) == "200 to 300"
    assert not found["large", "domains_s"].counted
    assert found["large", "plain_s"].published == 1  # a printed value


def test_rows_are_compared_with_one_of_them(tmp_path: Path) -> None:
    columns = '{"plain_s": COLUMNS["plain_s"]}'
    found = table(tmp_path, 'Relative(row="small")', columns, "small,2\nlarge,7\n")
    assert list(found) == [("large", "plain_s")]
    pairs = zip(times(tmp_path, "large", "plain"), times(tmp_path, "small", "plain"), strict=True)
    assert found["large", "plain_s"].simulated == tuple(a / b for a, b in pairs)
    assert found["large", "plain_s"].published == 3.5


def test_peaks_are_those_of_the_runs(tmp_path: Path) -> None:
    columns = '{"plain_s": Column("fastest_at", "plain"), "gain": Column("peak_gain", "domains", published=NOTHING)}'
    workers = (1, 2, 3)
    found = table(tmp_path, f'Peaks("workers", {workers}, "plain")', columns)
    curves = {name: [times(tmp_path, "large", name, workers=each) for each in workers] for name in ("plain", "domains")}
    plain, domains = (list(zip(*curve, strict=True)) for curve in curves.values())  # by seed
    assert found["large", "plain_s"].simulated == tuple(workers[each.index(min(each))] for each in plain)
    gains = [100 * (min(a) / min(b) - 1) for a, b in zip(plain, domains, strict=True)]
    assert found["large", "gain"].simulated == pytest.approx(gains)


def test_a_total_is_the_sum_over_all_rows(tmp_path: Path) -> None:
    kind = 'Totals({"small": "plain", "large": "domains"})'
    found = table(tmp_path, kind, '{"plain_s": Column("makespan_s")}')
    for label, variant in (("small", "plain"), ("large", "domains")):
        rows = zip(*(times(tmp_path, row, variant) for row in ("small", "large")), strict=True)
        assert found[label, "plain_s"].simulated == pytest.approx([sum(each) / 1e12 for each in rows])
        assert found[label, "plain_s"].variant == variant


VALUES = {"a": 1.0, "b": 2.0, "c": 2.1}


@pytest.mark.parametrize(
    ("said", "holds", "by_chance"),
    [
        ({"least": "a", "most": ("b", "c")}, True, 1 / 3),
        ({"least": ("a", "c"), "most": "b"}, False, 1 / 3),
        ({"least": "b", "most": "b"}, False, 1 / 2),  # a value that equals another is not less
        ({"least": "a", "most": "b", "times": 1.99}, True, 1 / 2),
        ({"least": "a", "most": "b", "times": 2}, False, 1 / 2),
        ({"alike": ("b", "c"), "within": 0.06}, True, None),
        ({"alike": ("b", "c"), "within": 0.04}, False, None),
        ({"of": ("a", "b"), "below": 2.05}, True, None),
        ({"of": ("a", "b"), "below": 2}, False, None),
    ],
)
def test_a_claim_holds_or_not(said: dict, holds: bool, by_chance: float | None) -> None:
    claim = Claim("makespan_s", "small", **said)
    assert (claim.holds(VALUES), claim.by_chance) == (holds, by_chance)


SAID = """\
CLAIMS = {
    "trees end": Claim("makespan_s", "small", of=("plain", "domains"), below=1),
    "as much work": Claim("serial_s", "small", alike=("plain", "domains")),
    "domains steal more elsewhere": Claim("steal_success_remote", "small", "plain", "domains"),
}
RULES.append(ScoreRule("said", "claims-held"))
TABLES.append(StudyTable("said", "What is said", "section 5", CSV / "said.csv", "claim",
                         {"holds": Column("holds", score="said")}, "trees", kind=Claims(CLAIMS)))
"""


def test_claims_are_scored_by_how_many_hold(tmp_path: Path) -> None:
    """Two of the three claims hold for any simulated values. Only the third claim has a null model."""
    said = "claim,holds\ntrees end,1\nas much work,1\ndomains steal more elsewhere,1\n"
    study = read_study(str(write_study(tmp_path, more=SAID, said=said)), ["said"])
    (found,) = reproduce(study, tmp_path / "out", quick=True, jobs=1).tables
    first, second, third = found.cells
    assert first.mean == second.mean == 1
    assert (third.null, second.null) == (1 / 2, None)
    assert third.note.startswith("successful steals from other nodes [count]: plain ")
    (score,) = class_scores([found], study.score_rules)
    assert score.value == pytest.approx((2 + third.mean) / 3)
    assert score.null == 1 / 2
