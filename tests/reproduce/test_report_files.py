"""The files of a report: complete or absent, with the same numbers in all files."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from cells_by_hand import cell, table
from made_up_findings import TABLES, Texts, made_up, written
from rich.console import Console

from numasim.files.owned_folder import MANIFEST
from numasim.reproduce import terminal
from numasim.reproduce.csv_files import scores_csv, table_csv
from numasim.reproduce.findings import Findings, _worst
from numasim.reproduce.programs import question
from numasim.reproduce.study import Paper, Tried
from numasim.reproduce.table_cells import Ceiling, Role, Score, ScoreBound, SimpleScore
from numasim.reproduce.terminal import markdown, page, print_sheet, write_pages
from numasim.reproduce.text import bound_sentence, markdown_text, nearest_tried, role_counts, score_number

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verification"))

import counts_by_role

STEMS = {f"table-{identity.replace('.', '-')}" for identity in TABLES}


@pytest.fixture(scope="module")
def findings() -> Findings:
    return made_up()


def small(**changes: object) -> Findings:
    """Return a reproduction of one table with one cell."""
    return replace(made_up(), tables=(table([cell("a", 2.0, 2.5)]),), scores=(), ablations=(), **changes)  # type: ignore[arg-type]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# ---- the directory ----


def test_a_report_is_a_page_markdown_figures_and_csv(
    tmp_path_factory: pytest.TempPathFactory, findings: Findings
) -> None:
    report = written(tmp_path_factory)
    folder = report.page.parent
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
    figures = {f"figures/{stem}.svg" for stem in STEMS | {"lead", "scores", "ablations"}}
    assert found == {"index.html", "report.md", "scores.csv"} | figures | {f"tables/{stem}.csv" for stem in STEMS}
    assert report.advanced == terminal.figure_count(findings) == len(figures)
    linked = set(re.findall(r"\]\((.*?)\)", (folder / "report.md").read_text()))
    assert linked == figures


def test_the_same_findings_give_the_same_bytes(tmp_path: Path) -> None:
    first, again = (write_pages(small(), tmp_path / name).read_bytes() for name in ("a", "b"))
    assert first == again


# ---- CSV ----


def test_the_csv_of_a_table_has_every_number_in_full() -> None:
    cells = [
        cell("a", 0.1 + 0.2, 0.5, 0.7, null=1.5, baseline="before"),
        cell("b", 2.0, role=Role.FITTED),
        cell("c", 0.0, 3.0),
    ]
    first, second, third = rows(table_csv(table(cells)))
    assert float(first["published"]) == 0.1 + 0.2
    assert float(first["simulated"]) == pytest.approx(0.6)
    assert float(first["low"]) == pytest.approx(0.6 - 12.706204736 * 0.1)  # Student's t of one degree of freedom
    assert (first["seeds"], first["null"], first["role"]) == ("2", "1.5", "predicted")
    assert [second[name] for name in ("simulated", "low", "seeds", "relative_error")] == ["", "", "0", ""]
    assert third["relative_error"] == ""


def test_the_csv_of_the_scores_has_classes_then_columns(findings: Findings) -> None:
    found = rows(scores_csv(findings))
    classes = [row for row in found if row["table"] == "all"]
    assert [row["quantity"] for row in classes] == [score.name for score in findings.scores]
    assert [float(row["value"]) for row in classes] == [score.value for score in findings.scores]
    assert {row["met"] for row in classes} == {"yes", "no", ""}
    predicted = [row for row in found if row["table"] == "3.4" and row["role"] == "predicted"]
    assert [(row["column"], row["metric"], row["cells"]) for row in predicted] == [
        ("randomized_execution_time_s", "mape", "6"),
        ("threshold_constrained_execution_time_s", "mape", "6"),
    ]


# ---- counts ----


def test_only_values_that_are_printed_and_can_be_missed_count_for_a_role() -> None:
    cells = [
        cell("predicted", 1.0, 2.0),
        cell("printed nowhere", math.nan, 2.0),
        cell("not simulated", 1.0),
        cell("compared with itself", 1.0, 1.0, role=Role.REFERENCE),
        cell("given", 1.0, role=Role.INPUT),
        cell("given and printed nowhere", math.nan, role=Role.INPUT),
        cell("fitted", 1.0, 1.0, role=Role.FITTED),
    ]
    given, _, fitted, _, predicted = role_counts([table(cells)], [], 1, 0)
    assert given.startswith("input: 1 published value,")
    assert fitted.startswith("fitted: 1 parameter, to 1 published value;")
    assert predicted == "predicted: 1 published value"


def test_the_printed_counts_are_those_of_the_csv_files(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_pages(replace(made_up(), tables=made_up().tables[:2]), folder)
    assert counts_by_role.main([str(folder)]) == 0
    (first, *_) = sorted((folder / "tables").iterdir())
    first.write_text("\n".join(first.read_text().splitlines()[:-1]))
    assert counts_by_role.main([str(folder)]) == 1


# ---- the page ----


def test_the_page_refers_to_nothing_outside(findings: Findings) -> None:
    tags = Texts(page(findings, {"scores": "<svg/>", "ablations": "<svg/>"})).tags
    assert not {tag for tag, _ in tags} & {"script", "iframe", "object", "embed", "video"}
    targets = [value for _, fields in tags for name, value in fields.items() if name in ("src", "href")]
    assert targets
    assert all(str(target).startswith(("#", "data:")) for target in targets)


class Unfolded(HTMLParser):
    """The texts of a page that a reader sees before opening a folded part, with the summaries of folded parts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("details", "summary", "style"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("details", "summary", "style"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open in ([], ["details", "summary"]):
            self.texts.append(data)


MOST_WORDS = 2500


def test_a_page_is_short_before_its_tables_are_unfolded(findings: Findings) -> None:
    html = page(findings, {})
    seen = " ".join(" ".join(Unfolded(html).texts).split())
    assert len(seen.split()) < MOST_WORDS / 2
    assert "76,063,619" in html
    assert "76,063,619" not in seen  # a published value
    for score in findings.scores:
        assert score_number(score, score.value) in seen


def test_every_published_and_simulated_number_stands_on_the_page(findings: Findings) -> None:
    text = Texts(page(findings, {})).text
    for value in ("0.287889", "76,063,619", "0.9998886850", "39.3668"):
        assert value.rstrip("0") in text
    assert "left out by --quick" in text
    assert "thief picks itself <(equation 4.2)>" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quick": True}, "quick reproduction"),
        ({"machine": "opteron-8380-4s"}, "differences between machines, not errors"),
        ({"without": ("caches", "smt")}, "Switched off throughout: caches, smt"),
    ],
)
def test_what_is_not_the_plain_reproduction_is_said(changes: dict[str, object], words: str) -> None:
    for render in (page, markdown):
        assert words not in " ".join(render(small(), {}).split())
        assert words in " ".join(Texts(render(small(**changes), {})).text.split())


def test_beside_a_missed_score_stands_what_came_nearest(findings: Findings) -> None:
    tried = [Tried("times", "h", f"change {after}", 0.2, after, True, False) for after in (0.3, 0.1, 0.5, 0.4)]
    missed = Score("step", "mape", 0.3, None, 0.2, 0.15, 3, against_null=0.3, unknown="what ran", question="one-step")
    found = replace(findings, scores=(missed,), paper=replace(findings.paper, tried=tuple(tried)))
    assert [each.after for each in nearest_tried(missed, found)] == [0.1, 0.3, 0.4]
    for text in (markdown(found, {"scores": "", "ablations": ""}), Texts(page(found, {})).text):
        told = " ".join(text.split())
        assert "change 0.1 (20.0% to 10.0%); change 0.3 (20.0% to 30.0%); change 0.4 (20.0% to 40.0%)" in told
        assert "Ceiling: none" in told
    assert "Ceiling: 5.0%." in markdown(
        replace(found, scores=(replace(missed, ceiling=0.05),)), {"scores": "", "ablations": ""}
    )


def test_nothing_that_a_study_says_is_markup() -> None:
    hostile = "<script>alert(1)</script> | **bold** `code` [a](b)"
    found = replace(
        made_up(),
        paper=Paper(
            hostile,
            hostile,
            {
                "r": question(
                    "r",
                    {"question": hostile, "role": "input", "scored": hostile, "choices": {hostile: {"says": hostile}}},
                )
            },
            learned=(hostile,),
            tried=(Tried("times", hostile, hostile, 0.1, 0.2, True, False, hostile),),
        ),
        scores=tuple(
            replace(score, unknown=hostile, rule=hostile, simple=(SimpleScore(hostile, 0.5, 0.4, 1),), bound=None)
            for score in made_up().scores
        ),
    )
    text = page(found, {})
    assert "<script>alert" not in text
    assert text.count("&lt;script&gt;") >= 8
    marked = markdown(found, {"scores": "", "ablations": ""})
    assert "<script" not in marked
    assert "**bold**" not in marked
    assert "[a](b)" not in marked


def test_markdown_tables_have_as_many_cells_in_every_row(findings: Findings) -> None:
    text = markdown(findings, dict.fromkeys((*STEMS, "lead", "scores", "ablations"), ""))
    blocks = [block.strip().split("\n") for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)]
    assert len(blocks) == len(TABLES) + 8
    for block in blocks:
        assert len({line.count("|") for line in block}) == 1, block[0]


def test_a_report_says_what_cannot_be_known_where_a_score_falls_short_and_only_there() -> None:
    good = Score("good", "mape", 0.1, None, 0.2, 0.15, 3, against_null=0.1, unknown="nothing had to be")
    missed = replace(good, name="missed", value=0.3, against_null=0.1, unknown="longer queues")
    beaten = replace(good, name="beaten", against_null=0.3, unknown="shorter queues")
    found = replace(small(), scores=(good, missed, beaten))
    for text in (markdown(found, {"scores": ""}), Texts(page(found, {"scores": "<svg/>"})).text):
        assert "longer queues" in text
        assert "shorter queues" in text
        assert "nothing had to be" not in text
    assert "cannot be known" not in markdown(replace(found, scores=(good,)), {"scores": ""})


def test_readings_refused_fits_and_what_was_tried_are_told(findings: Findings) -> None:
    for text in (markdown(findings, {"scores": "", "ablations": ""}), Texts(page(findings, {})).text):
        for told in (
            "How many workers ran chapter 3?",
            "section 2.3.1",
            "the best value is an end of the range",
            "threads are pinned",
            "chosen with scored figures in view: 1 reading",
            "1 reading that the text decides",
            "assumed where the text does not say: 0 readings",
            "fitted: 2 parameters",
            "1 more was refused",
        ):
            assert told in text, told


# ---- ceilings ----

BOUND = ScoreBound("times", "mape", 0.0123, 6, 24)
NOISE = Ceiling(
    "noise", "A run scatters by 2%.", "Assumes much.", "section 1", (BOUND,), "", ("row", "x"), (("a|b", "1"),)
)
BESIDE = Ceiling("bytes", "Bytes explain half.", "Assumes more.", "", (), "there may be other reasons.")
SIGNS = ScoreBound("signs", "sign-agreement", 0.9, 4, 4)
TIMES = Score("times", "mape", 0.1, None, null=0.2, bound=0.15, cells=24, against_null=0.1)


def with_ceilings(*ceilings: Ceiling) -> Findings:
    return replace(small(columns=(), ceilings=ceilings), scores=(replace(TIMES, ceiling=_worst(TIMES, ceilings)),))


def test_a_ceiling_says_what_it_bounds_or_why_nothing() -> None:
    assert bound_sentence(NOISE) == (
        "It bounds times (mean relative error at least 1.2%; 6 of 24 cells, the others taken as met)."
    )
    assert bound_sentence(BESIDE) == "It bounds no score: there may be other reasons."
    assert bound_sentence(replace(NOISE, bounds=(SIGNS,))) == "It bounds signs (right direction at most 90%)."


def test_page_and_markdown_have_every_sentence_after_the_scores() -> None:
    found = with_ceilings(NOISE, BESIDE)
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
    found = with_ceilings(NOISE)
    assert [row["ceiling"] for row in rows(scores_csv(found))] == ["0.0123"]
    console = Console(width=120, color_system=None, force_terminal=True)
    with console.capture() as capture:
        print_sheet(found, console)
    lines = capture.get().splitlines()
    assert next(line for line in lines if "class" in line).split()[-1] == "ceiling"
    assert next(line for line in lines if "times" in line).split()[-1] == "1.2%"
    assert max(map(len, lines)) <= 120
