"""Studies by name and from folders: the execution of their code, and error messages for mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import STUDY, write_study

from numasim.errors import InputError
from numasim.reproduce.study import describe, read_study, study_names, study_titles


def test_the_five_studies_ship_with_their_titles() -> None:
    assert study_names() == ("home", "laws", "phoenix", "skelaff", "thesis")
    assert study_titles()["thesis"] == "Adaptive Work Stealing Run-times for NUMA Multi-core Architecture"
    with pytest.raises(InputError, match=r"no study 'thesi'.*did you mean 'thesis'"):
        read_study("thesi")
    text = describe(read_study("skelaff"))
    assert text.splitlines()[0] == study_titles()["skelaff"]
    assert "  2              Workers up to which programs scale on NUMA32" in text


def test_the_file_is_named_before_its_code_is_executed(small_study: Path) -> None:
    (small_study / "study.py").write_text("raise RuntimeError('executed')\n")
    begun: list[Path] = []
    with pytest.raises(InputError, match=r"study\.py:1: RuntimeError: executed"):
        read_study(str(small_study), (), begun.append)
    assert begun == [small_study / "study.py"]
    read_study("home", (), begun.append)
    assert len(begun) == 1  # ``begin`` is not called for shipped studies


def test_a_study_may_import_what_lies_beside_it_and_is_made_anew_each_time(small_study: Path) -> None:
    (small_study / "study.py").write_text(STUDY.replace("# here\n", "from .own import NAME\nMORE['lead'] = NAME\n"))
    (small_study / "own.py").write_text("NAME = 'times'\n")
    study = read_study(str(small_study))
    assert study.lead == study.part("own").NAME == "times"
    (small_study / "own.py").write_text("NAME = 'tmes'\n")
    with pytest.raises(InputError, match=r"no score 'tmes'.*did you mean 'times'"):
        read_study(str(small_study))
    assert not list(small_study.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"times", "mape"', '"times", "maep"', "no metric 'maep'.*did you mean 'mape'"),
        ('score="times"', 'score="time"', "no score 'time'.*'times'"),
        ('baseline="plain_s"', 'baseline="plain"', "no column 'plain'.*'plain_s'"),
        ('"makespan_s", "domains"', '"makespan_s", "domain"', "no variant 'domain'.*'domains'"),
        ('"program", TIMES, "trees"', '"program", TIMES, "tree"', "no program 'tree'.*'trees'"),
        ('"program", TIMES', '"programme", TIMES', r"times\.csv: there is no column 'programme'.*'program'"),
        ('CSV / "times.csv"', 'CSV / "tims.csv"', r"tims\.csv.*"),
        (
            '"makespan_s", "domains"',
            '"makespn_s", "domains"',
            r"study\.py:\d+: .*no quantity 'makespn_s'.*'makespan_s'",
        ),
        ('"small": {"workload"', '"smal": {"workload"', "no row of the program 'small'.*'smal'"),
        ("spec={", "spce={", r"study\.py:\d+: TypeError: .*spce"),
        ("STUDY = make", "MINE = make", r"study\.py: makes no study; expected STUDY = make_study"),
        ("READINGS = {}", "READINGS = {", r"SyntaxError"),
    ],
)
def test_mistakes_in_a_study(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_study(str(write_study(tmp_path / "bad", old, new)))


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ('Claims({"small": Claim("makespn_s", "small", "plain", "domains")})', "no quantity 'makespn_s'.*'makespan_s'"),
        ('Claims({"small": Claim("speedup", "smal", "plain", "domains")})', "no row 'smal'.*'small'"),
        ('Claims({"small": Claim("speedup", "small", "plain", "domain")})', "no variant 'domain'.*'domains'"),
        ('Claims({"smal": Claim("speedup", "small", "plain", "domains")})', "no claim 'small'.*'smal'"),
        ('Compared(against="plane")', "no variant 'plane'.*'plain'"),
        ('Relative(row="smal")', "no row 'smal'.*'small'"),
        ('Peaks("workers", (1, 2), "plane")', "no variant 'plane'.*'plain'"),
        ('Totals({"smal": "plain"})', "no row 'small'.*'smal'"),
        ('Totals({"small": "plane"})', "no variant 'plane'.*'plain'"),
    ],
)
def test_mistakes_in_kinds_of_tables(tmp_path: Path, kind: str, says: str) -> None:
    """A mistake in a kind of table is found before a reproduction begins."""
    quantities = {"Compared": "time_ratio", "Relative": "time_ratio", "Peaks": "rise", "Totals": "speedup"}
    quantity = quantities.get(kind.partition("(")[0], "holds")
    column = f'{{"share": Column("{quantity}", "plain")}}'
    more = 'from numasim.reproduce.study import read_study\nRelative = read_study("laws").part("relative").Relative\n'
    more += f'TABLES.append(StudyTable("t", "", "", CSV / "said.csv", "row", {column}, "trees", kind={kind}))\n'
    with pytest.raises(InputError, match=says):
        read_study(str(write_study(tmp_path / "bad", more=more, said="row,share\nsmall,1\n")))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("program,plain_s,domains_s\nsmall,4,0\n", r"times\.csv:2: domains_s: got '0'.*divided by"),
        ("program,plain_s,domains_s\nsmall,4,2\nsmall,4,2\n", r"times\.csv:3: a second row 'small'"),
    ],
)
def test_published_values_that_do_not_fit_together(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_study(str(write_study(tmp_path / "bad", times=text)))
