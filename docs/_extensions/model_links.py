"""Links to sections of the model and to its readings, wherever a page names them in words: "model 2.5", "A-7"."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from posixpath import relpath

DOCS = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^#{2,3} (?P<text>(?P<number>\d+(?:\.\d+)*)\.? .*)$", re.MULTILINE)
NAMED = re.compile(r"\b[Mm]odel (?P<number>\d+(?:\.\d+)?)\b")
READING = re.compile(r"(?<![\w-])A-\d+(?![\w-])")
NUMBERS = re.compile(r"\((?P<numbers>\d+(?:\.\d+)?(?:, \d+(?:\.\d+)?)*)\)")  # of the glossary: (2.5), (1.7, 3.1)
REGISTER = "appendix-a-register-of-readings"
KEPT = re.compile(  # the head of a page, code, tables of contents, links, headings: nothing is changed there
    r"\A---\n.*?\n---\n|^(?P<fence>```+|~~~+|:::+).*?^(?P=fence)\s*?$|`[^`\n]*`|\[[^\]]*\]\([^)]*\)|^#.*?$|^\(.*?\)=$",
    re.MULTILINE | re.DOTALL,
)


def slug(heading: str) -> str:
    """The name of a heading in links."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def sections() -> dict[str, str]:
    """The names in links of the sections of the model, by their numbers."""
    text = (DOCS / "model/index.md").read_text("utf-8")
    return {found["number"]: slug(found["text"]) for found in HEADING.finditer(text)}


def linked(text: str, page: str) -> str:
    """``text``, of the page of that name, with links to what it names of the model."""
    target = relpath("model/index.md", page.rpartition("/")[0] or ".")

    def section(number: str, shown: str) -> str:
        return f"[{shown}]({target}#{sections()[number]})" if number in sections() else shown

    def numbers(found: re.Match[str]) -> str:
        each = found["numbers"].split(", ")
        return f"({', '.join(section(number, number) for number in each)})"

    text = NAMED.sub(lambda found: section(found["number"], found[0]), text)
    text = READING.sub(lambda found: f"[{found[0]}]({target}#{REGISTER})", text)
    return NUMBERS.sub(numbers, text) if page == "glossary" else text


def with_links(text: str, page: str) -> str:
    """The Markdown of a whole page with links, where these do not stand in code, links or headings."""
    parts, last = [], 0
    for kept in KEPT.finditer(text):
        parts += [linked(text[last : kept.start()], page), kept[0]]
        last = kept.end()
    return "".join([*parts, linked(text[last:], page)])
