"""Mistakes in the files of a study: one line with file, place, what would be right, and exit status 2."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from small_study import FILES, write_study

from numasim.cli import main

TABLE, STEALS, TREES = "tables/table-1-1.yaml", "tables/table-1-2.yaml", "programs/trees.yaml"
TIMES = "published/times.csv"
NOWHERE = ""


@dataclass(frozen=True)
class Mistake:
    """``old`` in ``file`` became ``new``; the message has all of ``says`` and begins with ``place``.

    Without one given, that is the line of the mistake.
    """

    file: str
    old: str
    new: str
    says: tuple[str, ...]
    place: str | None = None

    def __str__(self) -> str:
        return self.new.splitlines()[0] if self.new else "nothing"

    def begins(self, folder: Path) -> str:
        """How the message begins."""
        if self.place == NOWHERE:
            return "numasim: "
        line = FILES[self.file][: FILES[self.file].index(self.old)].count("\n") + 1
        return f"numasim: {folder}/{self.place or f'{self.file}:{line}:'}"


MISTAKES = [
    Mistake(TABLE, "program: trees", "program: tree", ("no program 'tree'", "'trees'")),
    Mistake(TABLE, "program: trees", "kind: rums\nprogram: trees", ("no kind of table 'rums'", "'runs'")),
    Mistake(TABLE, "plain_s: {", "plane_s: {", ("no column in times.csv: 'plane_s'", "'plain_s'")),
    Mistake(TABLE, "baseline: plain_s", "baseline: plain", ("no column 'plain'", "'plain_s'")),
    Mistake(TABLE, "quantity: makespan_s", "quantity: makspan_s", ("no quantity 'makspan_s'", "'makespan_s'")),
    Mistake(TABLE, "variant: domains", "variant: domain", ("no variant 'domain'", "'domains'")),
    Mistake(TREES, "variants:", "exceptions: {domain: {}}\nvariants:", ("no variant 'domain'", "'domains'")),
    Mistake(TREES, "variants:", "exceptions: {domains: {smal: {}}}\nvariants:", ("no row 'smal'", "'small'")),
    Mistake(TABLE, "score: times", "score: time", ("no score 'time'", "'times'")),
    Mistake(TABLE, "role: fitted", "role: fited", ("'fited'", "'fitted'")),
    Mistake(TABLE, "role: fitted", "role: fitted, score: times", ("only predicted columns are scored",)),
    Mistake(TABLE, "notes:", "nodes:", ("no field 'nodes'", "'notes'")),
    Mistake(TABLE, "notes:", "with: {reader: a}\nnotes:", ("no field 'reader'",)),
    Mistake(TABLE, "rows: program", "rows: programme", ("no column 'programme'", "'program'")),
    Mistake(TABLE, "times.csv", "tims.csv", ("there is no file", "'times.csv'"), f"{TABLE}:3:"),
    Mistake(TIMES, "domains_s\nsmall,4,2\nlarge,9,3", "domains_s,more\nsmall,4,2,1\nlarge,9,3,1",
            ("the column 'more' of times.csv is not shown",), f"{TABLE}:6:"),
    Mistake(TIMES, "9", "nine", ("plain_s: got 'nine'", "a finite number")),
    Mistake(TIMES, "9", "inf", ("plain_s: got 'inf'", "a finite number")),
    Mistake(TIMES, "4,2", "4,0", ("domains_s: got '0'", "divided by")),
    Mistake(TIMES, "small,4,2", "small,4", ("2 values", "the header 3")),
    Mistake(TIMES, "large", "small", ("a second row 'small'",)),
    Mistake(TIMES, "large", "lage", ("no row in program trees: 'lage'", "'large'"), f"{TABLE}:5:"),
    Mistake("published/steals.csv", "2,10\n24,300\n32,900\n", "", ("is no table",), "published/steals.csv: "),
    Mistake(STEALS, 'fitted: ["2"]', 'fitted: ["3"]', ("no row '3'",)),
    Mistake(STEALS, 'table: "1.3"', 'table: "1.4"', ("no table '1.4'",)),
    Mistake(TREES, "[large]", "[lrge]", ("no row 'lrge'", "'large'")),
    Mistake(TREES, "name: fib, n: 6", "name: fob, n: 6", ("no workload 'fob'", "'fib'")),
    Mistake(TREES, "topology-aware", "topology-awar", ("no strategy 'topology-awar'", "'topology-aware'")),
    Mistake("study.yaml", 'tables: ["1.1"]', 'tables: ["1.9"]', ("no table '1.9'",)),
    Mistake("study.yaml", "program: trees, v", "program: tree, v", ("no program 'tree'", "'trees'")),
    Mistake("study.yaml", "over: plain", "over: plan", ("no variant 'plan'", "'plain'")),
    Mistake("study.yaml", "stealing domains:", "times:", ("'times' is a score, too",)),
    Mistake("study.yaml", "model.cache", "model.cash", ("no field 'cash'", "'cache'")),
    Mistake("study.yaml", "xeon-e5-2620-2s", "xeon-e5-2620", ("did you mean 'xeon-e5-2620-2s'",), NOWHERE),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_a_mistake_is_one_line(mistake: Mistake, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_study(tmp_path / "small", {mistake.file: (mistake.old, mistake.new)})
    arguments = ["reproduce", str(folder), "-o", str(tmp_path / "out"), "--without", "caches"]
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(mistake.begins(folder)), line
    assert all(text in line for text in mistake.says), line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--table", "1.7"], ("there is no table '1.7'", "did you mean '1.")),
        (["--table", "figur-1"], ("did you mean 'figure-1'",)),
        (["--without", "cache"], ("there is no mechanism 'cache'", "did you mean 'caches'")),
        (["--machine", "xeon-e5"], ("there is no machine 'xeon-e5'",)),
        (["--engine", "nativ"], ("there is no engine 'nativ'",)),
    ],
)
def test_an_option_that_names_nothing_is_one_line(
    arguments: list[str], says: tuple[str, ...], small_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", str(small_study), "-o", str(tmp_path / "out"), *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert all(text in line for text in says), line
    assert not (tmp_path / "out").exists()


def test_a_study_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "thesys"]) == 2
    assert "there is no study 'thesys'; expected one of home, laws, phoenix, skelaff, thesis" in capsys.readouterr().err
    assert main(["reproduce", str(tmp_path / "no")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_good_study_ends_with_status_0(small_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", str(small_study), "-o", str(tmp_path / "out"), "--table", "1.1", "--jobs", "1"]) == 0
    assert "domains" in capsys.readouterr().out
