"""References to the chapters in docs/model in comments and pages, and what these offer to refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "docs" / "model"
OVERVIEW, UNSAID = MODEL / "index.md", MODEL / "cannot-say.md"
CHAPTERS = tuple(
    MODEL / f"{name}.md"
    for name in (
        "time",
        "machine",
        "workloads",
        "scheduling",
        "locks",
        "counters",
        "calibration",
        "checks",
        "programs",
        "verdicts",
        "readings",
        "limits",
        "sources",
    )
)
PLACES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "configs",
    "docs",
    "experiments",
    "notebooks",
    "numasim",
    "tests",
)
SUFFIXES = frozenset({".py", ".pyi", ".c", ".h", ".cpp", ".hpp", ".in", ".yaml", ".yml", ".md", ".sh", ".txt"})

COMMENT_BREAK = re.compile(r"\n[ \t]*(?:#+:?|//+!?|\*(?!/)|>)?[ \t]*")  # the end of a line, and how the next one begins
NUMBER = r"\d+(?:\.\d+)*"
LIST = rf"{NUMBER}(?:(?:,\s*(?:and\s+)?|\s+(?:and|or|to)\s+){NUMBER}\b)*"
BEHIND = re.compile(rf"\bmodel(?:\.md|/[\w-]+\.md)?[`)\]]*(?:,?\s+sections?)?\s+({LIST})", re.IGNORECASE)
BEFORE = re.compile(rf"\bsections?\s+({LIST})\s+of\s+the\s+model\b", re.IGNORECASE)
ITEMS = re.compile(r"\s*,?\s+items?\s+(\d+(?:(?:,\s*(?:and\s+)?|\s+(?:and|or|to)\s+)\d+)*)")
READING = re.compile(r"(?<![\w-])A-\d+(?![\w-])")
HEADING = re.compile(r"#{1,4} (?P<number>\d+(?:\.\d+)*)\.? \S")
ITEM = re.compile(r"(?P<number>\d+)\. \S")
ROW = re.compile(r"\| (?P<reading>A-\d+) \|")
KEY = re.compile(r"`((?:machine|workload|strategy|runtime|model)(?:\.[a-z_0-9-]+)+)")


@dataclass(frozen=True)
class Reference:
    """One reference: to a section such as ``2.5``, an item such as ``8 item 7`` or a reading such as ``A-7``."""

    target: str
    line: int


@dataclass(frozen=True)
class Contents:
    """What pages of the model have: section numbers in their order, items of sections, readings in their order."""

    sections: tuple[str, ...]
    items: frozenset[str]
    readings: tuple[str, ...]

    def has(self, target: str) -> bool:
        """Whether ``target`` is there."""
        return target in self.sections or target in self.items or target in self.readings


@cache
def references(text: str) -> list[Reference]:
    """All references in ``text``, in the order of their places; those of one list are at the place of its beginning."""
    flat = COMMENT_BREAK.sub(lambda found: " " * len(found[0]), text)
    found = [(at, target) for pattern in (BEHIND, BEFORE) for at, target in _sections(flat, pattern)]
    found += [(reading.start(), reading[0]) for reading in READING.finditer(flat)]
    return [Reference(target, text.count("\n", 0, at) + 1) for at, target in sorted(found, key=lambda each: each[0])]


def _sections(flat: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    for found in pattern.finditer(flat):
        numbers = re.findall(NUMBER, found[1])
        yield from ((found.start(), number) for number in numbers)
        items = ITEMS.match(flat, found.end())
        for item in re.findall(r"\d+", items[1]) if items else ():
            yield found.start(), f"{numbers[-1]} item {item}"


def contents(page: str) -> Contents:
    """What ``page``, or the text of several pages in a row, offers; code blocks are no part of it."""
    sections: list[str] = []
    items: list[str] = []
    readings: list[str] = []
    fenced = False
    for line in page.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            if heading := HEADING.match(line):
                sections.append(heading["number"])
            elif sections and (item := ITEM.match(line)):
                items.append(f"{sections[-1]} item {item['number']}")
            elif row := ROW.match(line):
                readings.append(row["reading"])
    return Contents(tuple(sections), frozenset(items), tuple(readings))


def misnumbered(sections: tuple[str, ...]) -> list[str]:
    """One sentence for each heading that does not follow the ones before it without a gap."""
    problems = []
    last: dict[str, int] = {}
    open_sections: tuple[str, ...] = ()
    for section in sections:
        parent, dot, number = section.rpartition(".")
        expected = last.get(parent, 0) + 1
        if int(number) != expected:
            problems.append(f"section {section} stands where {parent}{dot}{expected} is expected")
        elif parent and parent not in open_sections:
            problems.append(f"section {section} does not stand below section {parent}")
        last[parent] = int(number)
        open_sections = _with_parents(section)
    return problems


def _with_parents(section: str) -> tuple[str, ...]:
    parts = section.split(".")
    return tuple(".".join(parts[: n + 1]) for n in range(len(parts)))


def files() -> list[Path]:
    """All files that may refer to the model, but the chapters of the model and the tests of this finder."""
    here = Path(__file__).parent
    found = [ROOT / place for place in PLACES if (ROOT / place).is_file()]
    for place in PLACES:
        found += [path for path in (ROOT / place).rglob("*") if path.suffix in SUFFIXES and path.is_file()]
    return sorted(path for path in set(found) if path not in CHAPTERS and here not in path.parents)


def dangling(text: str, model: Contents) -> list[str]:
    """One sentence for each line of ``text`` with references that ``model`` cannot resolve."""
    lost = [each for each in references(text) if not model.has(each.target)]
    by_line = groupby(sorted(lost, key=lambda each: each.line), key=lambda each: each.line)
    return [f"line {line}: {', '.join(each.target for each in several)}" for line, several in by_line]


# ---- keys ----------------------------------------------------------------------------------------------------------


def keys(page: str) -> list[str]:
    """The dotted keys of specifications that ``page`` names in backquotes, each once; names of pages are none."""
    return list(dict.fromkeys(key for key in KEY.findall(page) if not key.endswith(".md")))


def is_key(schema: dict[str, Any], key: str) -> bool:
    """Whether the JSON Schema of a run has the dotted ``key``; lists are passed through to their entries."""
    return bool(_at(schema, key))


def words_of(schema: dict[str, Any], key: str) -> frozenset[str]:
    """The words that the JSON Schema of a run allows for the dotted ``key``."""
    nodes = list(_expanded(schema, _at(schema, key)))
    words = [word for node in nodes for word in (*node.get("enum", ()), node.get("const"))]
    return frozenset(word for word in words if isinstance(word, str))


def _at(schema: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The nodes of the schema at ``key``."""
    nodes = [schema]
    for name in key.split("."):
        nodes = [node["properties"][name] for node in _expanded(schema, nodes) if name in node.get("properties", {})]
    return nodes


def _expanded(schema: dict[str, Any], nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The nodes and all that they refer to, offer as an alternative, or have as entries."""
    for node in nodes:
        yield node
        inner = [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ()), *node.get("prefixItems", ())]
        if isinstance(node.get("items"), dict):
            inner.append(node["items"])
        if "$ref" in node:
            inner.append(schema["$defs"][node["$ref"].rpartition("/")[2]])
        yield from _expanded(schema, inner)
