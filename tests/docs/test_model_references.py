"""Every reference to the model leads somewhere, the model is numbered without gaps, and its keys exist."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from references import (
    CHAPTERS,
    MODEL,
    OVERVIEW,
    ROOT,
    UNSAID,
    Contents,
    contents,
    dangling,
    files,
    is_key,
    keys,
    misnumbered,
    references,
    words_of,
)

sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

from model_links import readings as reading_places
from model_links import sections as places

from numasim.cli import main

TEXTS = {path: path.read_text() for path in CHAPTERS}
PAGE = "\n".join(TEXTS.values())
PAGES = [*CHAPTERS, OVERVIEW, UNSAID, ROOT / "docs" / "glossary.md"]
MOST_WORDS = 1_000  # of the overview
FEWEST_REFERENCES = 200  # fewer are found only if the finder is broken

SMALL = """
# A model
## 1. Time
### 1.1 Ticks
### 1.2 Events
```
## 7. no heading but code
```
## 2. Checks
1. One.
2. Two.
## Appendix A. Register
| A-1 | who | default |
| A-2 | where | default |
"""


@cache
def texts() -> dict[str, str]:
    """The text of every file that may refer to the model, by its path."""
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files()}


# ---- this repository -----------------------------------------------------------------------------------------------


def test_every_reference_to_the_model_is_resolved() -> None:
    model = contents(PAGE)
    lost = {path: dangling(text, model) for path, text in texts().items()}
    assert not {path: lines for path, lines in lost.items() if lines}


def named_without_a_word(text: str) -> list[str]:
    named = re.findall(r"\bsections? (\d+(?:\.\d+)*)", text)
    for bracketed in re.findall(r"\((\d+\.\d+(?:(?:, | and | to )\d+\.\d+)*)[;,)]", text):
        named += re.findall(r"\d+\.\d+", bracketed)
    return named


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sections_that_pages_name_without_a_word_exist(page: Path) -> None:
    """In these pages a number in brackets, such as (2.5) or (3.1 to 3.3), is a section of the model."""
    model, text = contents(PAGE), page.read_text()
    named = named_without_a_word(text)
    assert not [number for number in named if not model.has(number)]
    assert not dangling(text, model)


def test_the_finder_finds_most_of_what_there_is() -> None:
    assert sum(len(references(text)) for text in texts().values()) >= FEWEST_REFERENCES
    assert len(named_without_a_word(PAGE)) >= FEWEST_REFERENCES // 2


def test_all_pages_of_the_model_are_known() -> None:
    assert {OVERVIEW, UNSAID, *CHAPTERS} == set(MODEL.iterdir())


def test_the_overview_is_short_and_leads_to_all_pages() -> None:
    text = OVERVIEW.read_text()
    assert len(text.split()) <= MOST_WORDS
    assert len(re.findall(r"^!\[[^\]]+\]\([^)]+\.svg\)$", text, re.MULTILINE)) == 2
    assert {path.name for path in (UNSAID, *CHAPTERS)} <= set(re.findall(r"\]\(([^)]+)\)", text))


def test_a_chapter_has_the_sections_of_one_number() -> None:
    numbers = [{section.partition(".")[0] for section in contents(text).sections} for text in TEXTS.values()]
    assert numbers == [*({str(number)} for number in range(1, 11)), set(), set(), set()]


def test_the_site_has_a_place_for_every_section_and_reading() -> None:
    """What these tests resolve in the texts has a page and a name there to link to."""
    model = contents(PAGE)
    assert set(places()) == set(model.sections)
    assert set(reading_places()) == set(model.readings)
    for path, text in TEXTS.items():
        here, page = contents(text), path.relative_to(ROOT / "docs").as_posix()
        assert {places()[section].page for section in here.sections} <= {page}
        assert {reading_places()[reading].page for reading in here.readings} <= {page}


def test_headings_are_numbered_without_gaps() -> None:
    assert misnumbered(contents(PAGE).sections) == []
    unnumbered = [line for line in PAGE.splitlines() if re.match(r"#{1,4} (?!\d|Appendix [A-Z]\. |Readings$)", line)]
    assert not unnumbered


def test_readings_are_numbered_without_gaps() -> None:
    """All chapters together have each number once."""
    readings = sorted(contents(PAGE).readings, key=lambda reading: int(reading[2:]))
    assert readings == [f"A-{number}" for number in range(1, len(readings) + 1)]


@pytest.fixture
def schema(capsys: pytest.CaptureFixture[str]) -> Any:
    """The JSON Schema of a run."""
    assert main(["schema", "sweep"]) == 0
    return json.loads(capsys.readouterr().out)


def rows_of_the_register() -> list[str]:
    return [line for line in PAGE.splitlines() if re.match(r"\| A-\d+ \|", line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_keys_exist(page: Path, schema: dict[str, Any]) -> None:
    named = keys(page.read_text())
    assert not [key for key in named if not is_key(schema, key)]


def test_words_of_the_register_are_ones_that_their_keys_allow(schema: dict[str, Any]) -> None:
    presets = {path.stem for part in ("strategies", "runtimes") for path in (ROOT / "configs" / part).glob("*.yaml")}
    unknown = []
    for row in rows_of_the_register():
        _, reading, _, _, default, key, others, _ = row.split("|")
        known = presets.union(*(words_of(schema, name) for name in keys(key)))
        words = re.findall(r"`([a-z-]+)`", default + others)
        unknown += [f"{reading.strip()}: {word}" for word in words if word not in known]
    assert not unknown


def test_the_register_names_keys() -> None:
    rows = rows_of_the_register()
    nowhere = [row for row in rows if not (keys(row) or "| not simulated yet | |" in row or "| none: " in row)]
    assert not nowhere


def test_strategies_that_are_named_are_shipped() -> None:
    shipped = {path.stem for path in (ROOT / "configs" / "strategies").glob("*.yaml")}
    named = re.findall(r"`strategy: ([a-z0-9-]+)`", PAGE + UNSAID.read_text())
    assert named
    assert not set(named) - shipped


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_and_links_lead_to_files(page: Path) -> None:
    text = page.read_text()
    paths = re.findall(r"`((?:numasim|configs|notebooks|experiments|tests)/[\w./-]*)`", text)
    lost = [path for path in paths if not (ROOT / path).exists()]
    links = [link for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text) if not link.startswith("http")]
    lost += [link for link in links if not (page.parent / link).exists()]
    assert not lost


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_are_short(page: Path) -> None:
    prose = [line for line in page.read_text().splitlines() if not line.startswith(("|", "!["))]
    assert not [line for line in prose if len(line) > 120]


# ---- the finder ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("(model 4.3)", ["4.3"]),
        ("Model section 6.", ["6"]),
        ("Models section 2.1 of the model and the tile mesh of model 2.7.", ["2.1", "2.7"]),
        ("model 2.5, 2.6, 2.9 and 1.2's hook", ["2.5", "2.6", "2.9", "1.2"]),
        ("model 3.1 to 3.3 and 4.1", ["3.1", "3.3", "4.1"]),
        ("model 8, items 1, 2 and 7: bounds", ["8", "8 item 1", "8 item 2", "8 item 7"]),
        ("model 2.9 and 8, item 8.", ["2.9", "8", "8 item 8"]),
        ("model 7.1, steps 1 to 5", ["7.1"]),
        ("# model 3.5,\n    # A-1", ["3.5", "A-1"]),
        ("/* of every kind (model\n * 5.4) */", ["5.4"]),
        ("// (model 4.1\n// to 4.4)", ["4.1", "4.4"]),
        ("see [the model](model/index.md) 2.4", ["2.4"]),
        ("`docs/model/machine.md`, section 2.4", ["2.4"]),
        ("see docs/model/machine.md,\n * section 2.4", ["2.4"]),
        ("A-4; A-10.", ["A-4", "A-10"]),
        ("thesis section 6.3, SHA-1, CA-3, A-3b, a model of 3 nodes, model: {smt: none}, f(model, 1.0)", []),
    ],
)
def test_finder(text: str, targets: list[str]) -> None:
    assert [each.target for each in references(text)] == targets


def test_references_know_their_lines() -> None:
    assert [each.line for each in references("one\n\n# (model 1.1)\n# A-2")] == [3, 4]


def test_contents() -> None:
    assert contents(SMALL) == Contents(("1", "1.1", "1.2", "2"), frozenset({"2 item 1", "2 item 2"}), ("A-1", "A-2"))


@pytest.mark.parametrize(
    "text", ["model 1.3", "model 1.1 and 7", "model 2, item 3", "see A-3", "section 1.4 of the model"]
)
def test_what_is_not_there_is_reported(text: str) -> None:
    assert dangling(f"first\n{text}", contents(SMALL)) == [f"line 2: {references(text)[-1].target}"]


def test_what_is_there_is_not_reported() -> None:
    assert dangling("model 1.1, 1.2 and 2, items 1 and 2; A-1 to A-2", contents(SMALL)) == []


@pytest.mark.parametrize(
    "sections", [("1", "1.1", "1.3"), ("1", "3"), ("2",), ("1", "1.1", "1.1"), ("1", "2", "1.1"), ("1", "2.1")]
)
def test_gaps_repetitions_and_strays_are_reported(sections: tuple[str, ...]) -> None:
    assert misnumbered(sections)


def test_good_numbers_are_not_reported() -> None:
    assert misnumbered(("1", "1.1", "1.2", "2", "2.1", "2.1.1", "3")) == []


def test_keys_are_followed_through_references_alternatives_and_lists() -> None:
    entry = {"properties": {"self": {"type": "boolean"}}}
    schema = {
        "properties": {
            "strategy": {"anyOf": [{"type": "string"}, {"properties": {"steal": {"items": {"$ref": "#/$defs/Level"}}}}]}
        },
        "$defs": {"Level": entry},
    }
    assert is_key(schema, "strategy.steal.self")
    assert not is_key(schema, "strategy.steal.himself")
    assert not is_key(schema, "strategy.dispatch")


def test_words_of_a_key_are_those_of_all_its_alternatives() -> None:
    kinds = {"anyOf": [{"enum": ["none", "half"]}, {"const": "all"}, {"type": "number"}]}
    schema = {"properties": {"strategy": {"properties": {"amount": kinds}}}}
    assert words_of(schema, "strategy.amount") == {"none", "half", "all"}


def test_keys_are_found_in_backquotes() -> None:
    assert keys("`model.cache: none`, `strategy.locks.spin_ns`; model.smt, `docs/model/time.md`, `model.md`") == [
        "model.cache",
        "strategy.locks.spin_ns",
    ]
