"""Ceilings on the page, in Markdown, in CSV and on the terminal. Names of a study are plain text everywhere."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from cells_by_hand import cell, table
from made_up_findings import Texts, made_up
from rich.console import Console

from numasim.reproduce.csv_files import scores_csv
from numasim.reproduce.findings import Findings, _worst
from numasim.reproduce.page import markdown, page
from numasim.reproduce.table_cells import Ceiling, Score, ScoreBound
from numasim.reproduce.terminal import print_scores
from numasim.reproduce.text import bound_sentence, markdown_text

BOUND = ScoreBound("times", "mape", 0.0123, 6, 24)
NOISE = Ceiling(
    "noise", "A run scatters by 2%.", "Assumes much.", "section 1", (BOUND,), "", ("row", "x"), (("a|b", "1"),)
)
BESIDE = Ceiling("bytes", "Bytes explain half.", "Assumes more.", "", (), "there may be other reasons.")
SIGNS = ScoreBound("signs", "sign-agreement", 0.9, 4, 4)
TIMES = Score("times", "mape", 0.1, None, null=0.2, bound=0.15, cells=24, against_null=0.1)


def findings(*ceilings: Ceiling) -> Findings:
    tables = (table([cell("a", 2.0, 2.5)]),)
    scores = (replace(TIMES, ceiling=_worst(TIMES, ceilings)),)
    return replace(made_up(), tables=tables, scores=scores, columns=(), ablations=(), ceilings=ceilings)


def test_a_ceiling_says_what_it_bounds_or_why_nothing() -> None:
    assert bound_sentence(NOISE) == (
        "It bounds times (mean relative error at least 1.2%; 6 of 24 cells, the others taken as met)."
    )
    assert bound_sentence(BESIDE) == "It bounds no score: there may be other reasons."
    assert bound_sentence(replace(NOISE, bounds=(SIGNS,))) == "It bounds signs (right direction at most 90%)."


def test_page_and_markdown_have_every_sentence_after_the_scores() -> None:
    found = findings(NOISE, BESIDE)
    html, text = page(found, {"scores": "<svg/>"}), markdown(found, {"scores": ""})
    for words in (Texts(html).text, " ".join(text.split())):
        for ceiling in (NOISE, BESIDE):
            assert ceiling.finding in words
            assert ceiling.assumes in words
            assert bound_sentence(ceiling) in words
    assert html.index('id="scores"') < html.index('id="ceilings"') < html.index('id="readings"')
    assert 'href="#ceilings"' in html
    assert text.index("## Score sheet") < text.index("## Ceilings") < text.index("## How the study was read")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain text, 5.2%", "plain text, 5.2%"),
        ("a|b", r"a\|b"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("x_y *z*\nnew", r"x\_y \*z\* new"),
        ("[a](b) `c` \\", r"\[a\](b) \`c\` \\"),
    ],
)
def test_markdown_shows_text_as_it_is(text: str, written: str) -> None:
    assert markdown_text(text) == written


def test_scores_have_their_ceiling_in_csv_and_on_the_terminal() -> None:
    found = findings(NOISE)
    rows = list(csv.DictReader(io.StringIO(scores_csv(found))))
    assert [row["ceiling"] for row in rows] == ["0.0123"]
    console = Console(width=120, color_system=None, force_terminal=True)
    with console.capture() as capture:
        print_scores(found.scores, console)
    lines = capture.get().splitlines()
    assert next(line for line in lines if "class" in line).split()[-1] == "ceiling"
    assert next(line for line in lines if "times" in line).split()[-1] == "1.2%"
    assert max(map(len, lines)) <= 120
