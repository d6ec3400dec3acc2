"""Pieces of HTML that stand alone in a notebook: all text escaped, each style on its element, equal bytes each time.

There is no style sheet: notebooks take those out of outputs that they do not trust, and what is styled on its element
cannot change the page around it. Text and lines have the colours of the notebook, so they read on dark and on light.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


LINE = "1px solid rgba(128, 128, 128, 0.4)"
NOTE_COLOUR = "#E69F00"
SHADE = "0, 114, 178"  # red, green and blue of the darkest cell of a shaded table
NOT_PRINTABLE = "\N{REPLACEMENT CHARACTER}"
PANEL = "font-family: sans-serif; font-size: 13px; line-height: 1.45; max-width: 960px"
CELL = "padding: 1px 12px 1px 0; border: none; background: none; white-space: nowrap"


class Html(str):
    """Text that is HTML already, which no piece escapes again."""

    __slots__ = ()


def text(content: object) -> Html:
    """Escape ``content`` for a text or an attribute; characters that cannot be printed give way to a sign."""
    if isinstance(content, Html):
        return content
    shown = "".join(c if c.isprintable() or c in "\n\t" else NOT_PRINTABLE for c in str(content))
    return Html(escape(shown, quote=True))


def element(name: str, *children: object, style: str = "", title: str = "") -> Html:
    """One element with its children, those escaped that are not `Html`; ``title`` is what hovering over it says."""
    attributes = "".join(
        f' {attribute}="{text(value)}"' for attribute, value in (("style", style), ("title", title)) if value
    )
    return Html(f"<{name}{attributes}>{joined(*children)}</{name}>")


def joined(*children: object) -> Html:
    """Children one behind the other."""
    return Html("".join(text(child) for child in children))


def panel(heading: object, *children: object) -> Html:
    """What a notebook shows of one object: a bold heading and what stands below it."""
    first = element("div", heading, style="font-weight: bold; font-size: 14px")
    return element("div", first, *children, style=PANEL)


def section(heading: object, *children: object) -> Html:
    """A part of a panel under a small heading."""
    first = element("div", heading, style=f"font-weight: bold; border-bottom: {LINE}; margin-bottom: 2px")
    return element("div", first, *children, style="margin-top: 8px")


def paragraph(*children: object) -> Html:
    """A line of text."""
    return element("div", *children)


def note(*children: object) -> Html:
    """A sentence that nobody should miss."""
    style = f"border-left: 4px solid {NOTE_COLOUR}; padding-left: 8px; margin: 6px 0"
    return element("div", *children, style=style)


def side_by_side(*children: object) -> Html:
    """Children beside each other, in as many rows as the width needs."""
    return element("div", *children, style="display: flex; flex-wrap: wrap; gap: 0 28px; align-items: flex-start")


def names_and_values(rows: Sequence[tuple[object, object, str]]) -> Html:
    """A table of names with their values to the right; the third entry is what hovering over a name says."""
    lines = (
        element(
            "tr",
            element("td", name, style=f"{CELL}; text-align: left", title=meaning),
            element("td", value, style=f"{CELL}; text-align: right; font-variant-numeric: tabular-nums"),
        )
        for name, value, meaning in rows
    )
    return _table(*lines)


def table(
    head: Sequence[object], rows: Sequence[Sequence[object]], left: int = 1, ends_with_text: bool = False
) -> Html:
    """A table with a line below its head; the first ``left`` columns, and the last if asked, are text, not numbers."""
    sides = ["left"] * left + ["right"] * (len(head) - left - ends_with_text) + ["left"] * ends_with_text
    top = "".join(
        element("th", cell, style=f"{CELL}; text-align: {side}; border-bottom: {LINE}")
        for cell, side in zip(head, sides, strict=True)
    )
    lines = (
        element("tr", *(element("td", c, style=f"{CELL}; text-align: {s}") for c, s in zip(row, sides, strict=True)))
        for row in rows
    )
    return _table(element("tr", Html(top)), *lines)


def shaded_table(corner: object, names: Sequence[object], values: Sequence[Sequence[tuple[object, float]]]) -> Html:
    """A square table with equal names of rows and columns; each value is a text and a shade from 0 to 1."""
    head = element("tr", *(element("th", name, style=f"{CELL}; text-align: right") for name in (corner, *names)))
    lines = (
        element("tr", element("th", name, style=f"{CELL}; text-align: right"), *(_shaded(*cell) for cell in row))
        for name, row in zip(names, values, strict=True)
    )
    return _table(head, *lines)


@dataclass(frozen=True)
class Part:
    """A part of a bar; its share is of the whole, from 0 to 1, and negative where something is gained."""

    label: str
    share: float
    colour: str


def bar(parts: Sequence[Part], height: int = 16) -> Html:
    """A bar of parts, each of which tells its name and its share when hovered over; negative ones are left out."""
    whole = max(1.0, sum(part.share for part in parts if part.share > 0))
    shown = (
        element(
            "div",
            style=f"width: {100 * part.share / whole:.3f}%; height: {height}px; background-color: {part.colour}",
            title=f"{part.label} {_percent(part.share)}",
        )
        for part in parts
        if part.share > 0
    )
    return element("div", *shown, style="display: flex; max-width: 720px; margin: 2px 0")


def legend(parts: Sequence[Part]) -> Html:
    """The parts that occur, each with its colour and its share."""
    square = "display: inline-block; width: 10px; height: 10px; margin-right: 5px; background-color: "
    entries = (
        element(
            "span",
            element("span", style=f"{square}{part.colour}"),
            f"{part.label} {_percent(part.share)}",
            style="margin-right: 16px; white-space: nowrap",
        )
        for part in parts
        if part.share
    )
    return element("div", Html(" ".join(entries)))


def listed(items: Sequence[object]) -> Html:
    """A list with a dot before each item."""
    return element("ul", *(element("li", item) for item in items), style="margin: 2px 0; padding-left: 20px")


def folded(summary: object, *children: object) -> Html:
    """Children behind a line that opens when it is clicked."""
    return element("details", element("summary", summary, style="cursor: pointer"), *children)


def _table(*lines: Html) -> Html:
    return element("table", *lines, style="border-collapse: collapse; margin: 2px 0; border: none; font-size: 12px")


def _shaded(content: object, shade: float) -> Html:
    """A cell whose colour lets the text of a dark and of a light notebook be read."""
    style = "padding: 2px 8px; border: none; text-align: right; white-space: nowrap"
    return element("td", content, style=f"{style}; background-color: rgba({SHADE}, {0.6 * shade:.3f})")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


# ----------------------------------------------------------------------------------------------------------------------
# What notebooks show of objects whose page is written further up: the Python interface enters it when it starts.

_VIEWS: dict[type, Callable[[Any], str]] = {}


def show_as(kind: type, view: Callable[[Any], str]) -> None:
    """Let notebooks show objects of the class ``kind`` as the HTML that ``view`` makes of them."""
    _VIEWS[kind] = view


class Shown:
    """An object that notebooks show as HTML once its view is known, and as text before."""

    def _repr_html_(self) -> str | None:
        """Return the HTML, or None, on which a notebook shows the text."""
        view = _VIEWS.get(type(self))
        return None if view is None else view(self)


def notebook_shell() -> Any:
    """IPython's shell if this process is the kernel of a notebook, else None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell if hasattr(shell, "kernel") else None


# ---- Pages as files: templates, and the one style sheet that all pages share -----------------------------------------

SHARED = Path(__file__).parent


def page_environment(templates: Path, *, escaped: bool = True) -> Environment:
    """The templates of a folder, which may include those of `SHARED`; what they are given is text, unless not escaped.

    A name that is not given is an error.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([templates, SHARED]),
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
