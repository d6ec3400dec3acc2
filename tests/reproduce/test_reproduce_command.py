"""The command on the small study, and on all studies: output, files, scores, and options that are refused."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_findings import made_up
from small_study import write_study

from numasim.cli import BAD_INPUT, OK, main
from numasim.reproduce import study, terminal
from numasim.reproduce.findings import Findings
from numasim.reproduce.reproduce import Reproduction
from numasim.reproduce.study import Paper
from numasim.reproduce.terminal import Reported, studies_page
from numasim.reproduce.text import score_number

Capture = pytest.CaptureFixture[str]


def ran(study: Path, output: Path, capture: Capture, *options: str) -> str:
    assert main(["reproduce", str(study), "-o", str(output), "--jobs", "1", *options]) == OK
    return capture.readouterr().out


def scores(output: Path) -> list[dict[str, str]]:
    with open(output / "scores.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_the_command_prints_tables_and_scores_and_leaves_a_report(
    small_study: Path, tmp_path: Path, capsys: Capture
) -> None:
    out = ran(small_study, tmp_path / "out", capsys)
    for text in ("1.1  Times", "1.3  Steals again", "figure-1  Gains", "the first table contradicts itself", "times"):
        assert text in out
    assert out.splitlines()[-1] == f"report: {tmp_path / 'out' / 'index.html'}"
    page = (tmp_path / "out" / "index.html").read_text()
    assert "A small study" in page
    assert "model.cache: none" in page  # the ablations are part of the command
    (row,) = (row for row in scores(tmp_path / "out") if row["table"] == "all")
    assert (row["quantity"], row["metric"], row["cells"], row["bound"]) == ("times", "mape", "2", "0.15")
    # the null model predicts the plain times for the domain times
    assert float(row["null"]) == pytest.approx(((4 - 2) / 2 + (9 - 3) / 3) / 2)


def test_a_part_is_done_without_ablations_and_says_how(small_study: Path, tmp_path: Path, capsys: Capture) -> None:
    out = ran(small_study, tmp_path / "out", capsys, "--table", "1.1", "--quick")
    assert "1.3" not in out
    page = (tmp_path / "out" / "index.html").read_text()
    assert "numasim reproduce small --table 1.1 --quick" in page
    assert "model.cache: none" not in page
    assert "left out of the quick reproduction" in page


def test_another_machine_is_compared_but_not_scored(small_study: Path, tmp_path: Path, capsys: Capture) -> None:
    out = ran(small_study, tmp_path / "out", capsys, "--machine", "opteron-8380-4s", "--table", "1.1")
    assert "Scores" not in out
    assert not [row for row in scores(tmp_path / "out") if row["table"] == "all"]
    page = " ".join((tmp_path / "out" / "index.html").read_text().split())
    assert "this page simulates <code>opteron-8380-4s</code>" in page


# ---- all studies ----


def test_the_page_has_every_score_of_every_study_and_leads_to_the_reports() -> None:
    first = replace(made_up(), scores=made_up().scores[:2])
    plain = replace(first, paper=Paper("A <b>bold</b> title", "nobody"), scores=())
    page = studies_page([Reported("first", first), Reported("plain", plain)])
    for name in ("first", "plain"):
        assert f'href="{name}/index.html"' in page
        assert f'<section id="{name}">' in page
    for score in first.scores:
        assert f"<td><strong>{score_number(score, score.value)}</strong></td>" in page
    assert page.count("<img") == 1  # the second study has no scores
    assert "A &lt;b&gt;bold&lt;/b&gt; title" in page
    assert "quick reproductions" not in page
    assert "quick reproductions" in studies_page([Reported("plain", replace(plain, quick=True))])


@pytest.fixture
def two_studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the shipped studies by two small studies. Return the folder for their reports."""
    for name in ("early", "late"):
        write_study(tmp_path / "shipped" / name)
    monkeypatch.setattr(study, "_shipped", lambda: tmp_path / "shipped")
    return tmp_path / "out"


def test_a_command_that_was_stopped_goes_on_with_the_study_that_is_missing(
    two_studies: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    line = ["reproduce", "all", "--quick", "--jobs", "1", "-o", str(two_studies)]
    scored = terminal.findings_of

    def stopped(found: Reproduction) -> Findings:
        if found.study.name == "late":
            raise KeyboardInterrupt
        return scored(found)

    with monkeypatch.context() as patched:
        patched.setattr(terminal, "findings_of", stopped)
        assert main(line) not in (OK, BAD_INPUT)
    assert "late/index.html" not in (two_studies / "index.html").read_text()
    simulated = {path: path.stat().st_mtime_ns for path in two_studies.rglob("runs/shards/*")}
    assert len({path.parts[-4] for path in simulated}) == 2
    capsys.readouterr()
    assert main(line) == OK
    assert {path: path.stat().st_mtime_ns for path in simulated} == simulated
    assert capsys.readouterr().out.splitlines()[-1] == f"all studies: {two_studies / 'index.html'}"
    page = (two_studies / "index.html").read_text()
    for name in ("early", "late"):
        assert f'href="{name}/index.html"' in page
        assert (two_studies / name / "index.html").is_file()


@pytest.mark.parametrize("option", [("--table", "1.1"), ("--machine", "opteron-8380-4s"), ("--without", "caches")])
def test_what_is_for_one_study_is_refused_for_all(two_studies: Path, capsys: Capture, option: tuple[str, str]) -> None:
    assert main(["reproduce", *option, "-o", str(two_studies)]) == BAD_INPUT
    assert f"{option[0]} is for one study; expected its name before it: one of early, late" in capsys.readouterr().err
    assert not two_studies.exists()
