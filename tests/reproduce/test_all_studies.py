"""All studies in one command: the page of their scores, refused options, and the resumption of a stopped command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_up_findings import made_up
from small_study import write_study

from numasim.cli import BAD_INPUT, OK, main
from numasim.reproduce import load, terminal
from numasim.reproduce.findings import Findings
from numasim.reproduce.page import Reported, studies_page
from numasim.reproduce.reproduce import Reproduction
from numasim.reproduce.study import Paper
from numasim.reproduce.text import score_number

Capture = pytest.CaptureFixture[str]


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
    monkeypatch.setattr(load, "_shipped", lambda: tmp_path / "shipped")
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
