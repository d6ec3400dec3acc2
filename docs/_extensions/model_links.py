"""Links to sections and readings of the model, for pages that name them in words: "model 2.5", "A-7".

Each chapter of the model is a page in `docs/model`. A section is found in the chapter that has its heading, a
reading in the chapter whose table has its row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import relpath
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1]
MODEL = DOCS / "model"
FENCED = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)\s*?$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,2} (?P<text>(?P<number>\d+(?:\.\d+)*)\.? .*)$", re.MULTILINE)
ROW = re.compile(r"^\| (?P<reading>A-\d+) \|(?P<rest>.*)$", re.MULTILINE)
NUMBER = r"\d+(?:\.\d+)?"
SECTION = r"\d+\.\d+"
BETWEEN = r"(?:,\s+and|,|\s+and|\s+to|\s+or)\s+"
NAMED = re.compile(rf"\b(?P<first>[Mm]odel\s+{NUMBER})(?P<others>(?:{BETWEEN}{SECTION}\b)*)")
READING = re.compile(r"(?<![\w-])A-\d+(?![\w-])")
BRACKETED = re.compile(rf"\((?P<numbers>{SECTION}(?:{BETWEEN}{SECTION}\b)*)(?=[;:,)])")  # of the model: (2.5; A-3)
WORDED = re.compile(
    rf"(?<![,(] )(?<!\()\b(?P<first>sections?\s+{SECTION})(?!\d)"
)  # not those of papers: LAWS, section 2
NUMBERS = re.compile(rf"\((?P<numbers>{NUMBER}(?:, {NUMBER})*)\)")  # of the glossary: (2.5), (1.7, 3.1)
KEPT = re.compile(  # the head of a page, code, tables of contents, links, headings: nothing is changed there
    r"\A---\n.*?\n---\n|^(?P<fence>```+|~~~+|:::+).*?^(?P=fence)\s*?$|`[^`\n]*`|\[[^\]]*\]\([^)]*\)|^#.*?$|^\(.*?\)=$"
    r"|^\| A-\d+ \|",
    re.MULTILINE | re.DOTALL,
)


class Place(NamedTuple):
    """A place of the site: the page, as a path below `docs`, and the name of the place there in links."""

    page: str
    name: str


def slug(heading: str) -> str:
    """Return the name of a heading in links."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def chapters() -> Iterator[tuple[str, str]]:
    """Yield the pages of the model, as paths below `docs`, with their texts without code."""
    for path in sorted(MODEL.glob("*.md")):
        yield path.relative_to(DOCS).as_posix(), FENCED.sub("", path.read_text("utf-8"))


@cache
def sections() -> dict[str, Place]:
    """Return the places of the sections of the model, by number."""
    return {
        found["number"]: Place(page, slug(found["text"]))
        for page, text in chapters()
        for found in HEADING.finditer(text)
    }


@cache
def readings() -> dict[str, Place]:
    """Return the places of the readings of the model, by id."""
    return {
        found["reading"]: Place(page, found["reading"].lower())
        for page, text in chapters()
        for found in ROW.finditer(text)
    }


def register() -> str:
    """Return the readings of all chapters as one table in the order of their numbers."""
    rows = {found["reading"]: (page, found["rest"]) for page, text in chapters() for found in ROW.finditer(text)}
    lines = []
    for reading in sorted(rows, key=lambda each: int(each[2:])):
        page, rest = rows[reading]
        lines.append(f"| [{reading}]({page.rpartition('/')[2]}#{readings()[reading].name}) |{rest}\n")
    head = "| id | question | source | default | key | other readings |\n|---|---|---|---|---|---|\n"
    return head + "".join(lines)


def linked(text: str, page: str) -> str:
    """Return ``text`` of the page ``page`` with links to the sections and readings of the model that the text names."""

    def link(shown: str, place: Place | None) -> str:
        if place is None:
            return shown
        target = "" if place.page == f"{page}.md" else relpath(place.page, page.rpartition("/")[0] or ".")
        return f"[{shown}]({target}#{place.name})"

    def numbers(listed: str) -> str:
        return re.sub(rf"{NUMBER}(?!\d)", lambda found: link(found[0], sections().get(found[0])), listed)

    def named(found: re.Match[str]) -> str:
        number = re.split(r"\s+", found["first"])[1]
        return link(found["first"], sections().get(number)) + numbers(found["others"])

    def worded(found: re.Match[str]) -> str:
        return link(found["first"], sections().get(re.split(r"\s+", found["first"])[1]))

    text = NAMED.sub(named, text)
    text = READING.sub(lambda found: link(found[0], readings().get(found[0])), text)
    if page.startswith("model/"):
        text = BRACKETED.sub(lambda found: f"({numbers(found['numbers'])}", text)
        return WORDED.sub(worded, text)
    return NUMBERS.sub(lambda found: f"({numbers(found['numbers'])})", text) if page == "glossary" else text


def with_links(text: str, page: str) -> str:
    """Return the Markdown of a whole page with links, except inside code, links and headings.

    Rows of readings in the chapters of the model become targets of links.
    """
    parts, last = [], 0
    for kept in KEPT.finditer(text):
        parts += [linked(text[last : kept.start()], page), kept[0]]
        last = kept.end()
    filled = "".join([*parts, linked(text[last:], page)])
    if not page.startswith("model/"):
        return filled
    return ROW.sub(lambda found: f"| [{found['reading']}]{{#{found['reading'].lower()}}} |{found['rest']}", filled)
