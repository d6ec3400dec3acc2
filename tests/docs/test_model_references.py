"""References to the model have targets; sections and readings (A-1, ...) have no gaps in numbers; named keys exist."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "_extensions"))

from model_links import HEADING, MODEL, chapters, readings, sections

from numasim.cli.listing import schema_of

ROOT = Path(__file__).resolve().parents[2]
PLACES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "configs",
    "docs",
    "experiments",
    "notebooks",
    "numasim",
    "lib",
)
SUFFIXES = frozenset({".py", ".pyi", ".c", ".h", ".cpp", ".hpp", ".in", ".yaml", ".yml", ".md", ".sh", ".txt"})
PAGES = [*sorted(MODEL.glob("*.md")), ROOT / "docs" / "glossary.md"]
COMMENT_BREAK = re.compile(r"\n[ \t]*(?:#+:?|//+!?|\*(?!/)|>)?[ \t]*")  # the end of a line, and how the next one begins
NUMBER = r"\d+(?:\.\d+)*"
LIST = rf"{NUMBER}(?:(?:,\s*(?:and\s+)?|\s+(?:and|or|to)\s+){NUMBER}\b)*"
BEHIND = re.compile(rf"\bmodel(?:\.md|/[\w-]+\.md)?[`)\]]*(?:,?\s+sections?)?\s+({LIST})", re.IGNORECASE)
BEFORE = re.compile(rf"\bsections?\s+({LIST})\s+of\s+the\s+model\b", re.IGNORECASE)
ITEMS = re.compile(r"\s*,?\s+items?\s+(\d+(?:(?:,\s*(?:and\s+)?|\s+(?:and|or|to)\s+)\d+)*)")
ITEM = re.compile(r"^(\d+)\. \S", re.MULTILINE)
READING = re.compile(r"(?<![\w-])A-\d+(?![\w-])")
KEY = re.compile(r"`((?:machine|workload|strategy|runtime|model)(?:\.[a-z_0-9-]+)+)")


def references(text: str) -> list[str]:
    """Return the sections, items of sections and readings of the model that a text names, in the order of the text."""
    flat = COMMENT_BREAK.sub(" ", text)
    found = [(reading.start(), reading[0]) for reading in READING.finditer(flat)]
    for each in (*BEHIND.finditer(flat), *BEFORE.finditer(flat)):
        numbers = re.findall(NUMBER, each[1])
        items = ITEMS.match(flat, each.end())
        of_section = [f"{numbers[-1]} item {item}" for item in re.findall(r"\d+", items[1])] if items else []
        found += [(each.start(), target) for target in (*numbers, *of_section)]
    return [target for _, target in sorted(found, key=lambda each: each[0])]


@cache
def known() -> set[str]:
    """Return all names of parts of the model: sections, items of sections, readings."""
    found = {*sections(), *readings()}
    for _, text in chapters():
        for section in re.split(r"^(?=#)", text, flags=re.MULTILINE):
            if heading := HEADING.match(section):
                found |= {f"{heading['number']} item {item}" for item in ITEM.findall(section)}
    return found


def texts() -> Iterator[tuple[str, str]]:
    """Yield the files that may name the model, with their texts."""
    for place in PLACES:
        for path in (ROOT / place).rglob("*") if (ROOT / place).is_dir() else [ROOT / place]:
            if path.suffix in SUFFIXES and path.is_file():
                yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def test_every_reference_to_the_model_is_resolved() -> None:
    found = {path: references(text) for path, text in texts()}
    assert sum(map(len, found.values())) > 200, "the finder is broken"
    lost = {path: [target for target in named if target not in known()] for path, named in found.items()}
    assert {path: targets for path, targets in lost.items() if targets} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sections_that_pages_name_without_a_word_exist(page: Path) -> None:
    """In these pages a number in brackets, such as (2.5) or (3.1 to 3.3), is a section of the model."""
    text = page.read_text()
    named = re.findall(r"\bsections? (\d+(?:\.\d+)*)", text)
    for bracketed in re.findall(r"\((\d+\.\d+(?:(?:, | and | to )\d+\.\d+)*)[;,)]", text):
        named += re.findall(r"\d+\.\d+", bracketed)
    assert [number for number in named if number not in known()] == []


def test_sections_and_readings_are_numbered_without_gaps() -> None:
    numbers = sorted(tuple(map(int, number.split("."))) for number in sections())
    for before, after in pairwise(numbers):
        assert after in {(*before, 1), *((*before[:at], before[at] + 1) for at in range(len(before)))}, after
    assert sorted(int(reading[2:]) for reading in readings()) == [*range(1, len(readings()) + 1)]


def nodes_at(schema: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the nodes of a JSON Schema at a dotted key; the key of a list is also the key of the list's entries."""
    nodes = [schema]
    for name in key.split("."):
        nodes = [node["properties"][name] for node in expanded(schema, nodes) if name in node.get("properties", {})]
    return nodes


def expanded(schema: dict[str, Any], nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the nodes, and all nodes that they refer to, have as alternatives, or have as entries."""
    for node in nodes:
        yield node
        inner = [each for kind in ("anyOf", "oneOf", "allOf", "prefixItems") for each in node.get(kind, ())]
        if isinstance(node.get("items"), dict):
            inner.append(node["items"])
        if "$ref" in node:
            inner.append(schema["$defs"][node["$ref"].rpartition("/")[2]])
        yield from expanded(schema, inner)


def test_named_keys_and_strategies_exist() -> None:
    schema, pages = schema_of("sweep"), "\n".join(page.read_text() for page in PAGES)
    named = {key for key in KEY.findall(pages) if not key.endswith(".md")}
    assert len(named) > 50
    assert [key for key in named if not nodes_at(schema, key)] == []
    shipped = {path.stem for path in (ROOT / "configs" / "strategies").glob("*.yaml")}
    assert {*re.findall(r"`strategy: ([a-z0-9-]+)`", pages)} <= shipped


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("(model 4.3)", ["4.3"]),
        ("Model section 6.", ["6"]),
        ("Models section 2.1 of the model and the tile mesh of model 2.7.", ["2.1", "2.7"]),
        ("model 2.5, 2.6, 2.9 and 1.2's hook", ["2.5", "2.6", "2.9", "1.2"]),
        ("model 8, items 1, 2 and 7: bounds", ["8", "8 item 1", "8 item 2", "8 item 7"]),
        ("# model 3.5,\n    # A-1", ["3.5", "A-1"]),
        ("/* of every kind (model\n * 5.4) */", ["5.4"]),
        ("// (model 4.1\n// to 4.4)", ["4.1", "4.4"]),
        ("`docs/model/machine.md`, section 2.4", ["2.4"]),
        ("thesis section 6.3, SHA-1, CA-3, A-3b, a model of 3 nodes, model: {smt: none}, f(model, 1.0)", []),
    ],
)
def test_references_are_found(text: str, targets: list[str]) -> None:
    assert references(text) == targets
