"""Pieces of HTML that notebooks show for objects, and the templates of pages that are written to files.

All text in a piece is escaped, each element has its own ``style`` attribute, and equal contents give equal bytes. A
piece, unlike a page, has no style sheet: a notebook removes style sheets from outputs that it does not trust, and a
style sheet could change the notebook around the piece. A piece has the colours of the notebook, dark or light.
"""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numasim.frozen import Frozen

if TYPE_CHECKING:
    from jinja2 import Environment


LINE = "1px solid rgba(128, 128, 128, 0.4)"
NOTE_COLOUR = "#E69F00"
SHADE = "0, 114, 178"  # red, green and blue of the darkest cell of a shaded table
NOT_PRINTABLE = "\N{REPLACEMENT CHARACTER}"
PANEL = "font-family: sans-serif; font-size: 13px; line-height: 1.45; max-width: 960px"
CELL = "padding: 1px 12px 1px 0; border: none; background: none; white-space: nowrap"


class Html(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def text(content: object) -> Html:
    """Return ``content`` escaped for a text or an attribute; a placeholder replaces each unprintable character."""
    if isinstance(content, Html):
        return content
    shown = "".join(c if c.isprintable() or c in "\n\t" else NOT_PRINTABLE for c in str(content))
    return Html(escape(shown, quote=True))


def element(name: str, *children: object, style: str = "", title: str = "") -> Html:
    """Return an element with children; a child that is not `Html` is escaped. ``title`` is shown on hovering."""
    attributes = "".join(
        f' {attribute}="{text(value)}"' for attribute, value in (("style", style), ("title", title)) if value
    )
    return Html(f"<{name}{attributes}>{joined(*children)}</{name}>")


def joined(*children: object) -> Html:
    """Return children one behind the other."""
    return Html("".join(text(child) for child in children))


def panel(heading: object, *children: object) -> Html:
    """Return the view of an object in a notebook: a bold heading, and children below the heading."""
    first = element("div", heading, style="font-weight: bold; font-size: 14px")
    return element("div", first, *children, style=PANEL)


def section(heading: object, *children: object) -> Html:
    """Return a part of a panel under a small heading."""
    first = element("div", heading, style=f"font-weight: bold; border-bottom: {LINE}; margin-bottom: 2px")
    return element("div", first, *children, style="margin-top: 8px")


def paragraph(*children: object) -> Html:
    """Return a line of text."""
    return element("div", *children)


def note(*children: object) -> Html:
    """Return a sentence that stands out."""
    style = f"border-left: 4px solid {NOTE_COLOUR}; padding-left: 8px; margin: 6px 0"
    return element("div", *children, style=style)


def side_by_side(*children: object) -> Html:
    """Return children next to each other, in as many rows as they need."""
    return element("div", *children, style="display: flex; flex-wrap: wrap; gap: 0 28px; align-items: flex-start")


def names_and_values(rows: Sequence[tuple[object, object, str]]) -> Html:
    """Return a table of names, values, and texts that are shown on hovering over a name."""
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
    """Return a table with a line below its head.

    The first ``left`` columns, and the last column if it ``ends_with_text``, are text; the others are numbers.
    """
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
    """Return a square table whose rows and columns have the same ``names``; a value is a text and a shade, 0 to 1."""
    style = "padding: 2px 8px; border: none; text-align: right; white-space: nowrap; background-color: rgba"

    def shaded(content: object, shade: float) -> Html:
        return element(
            "td", content, style=f"{style}({SHADE}, {0.6 * shade:.3f})"
        )  # translucent, so that text of any colour is legible

    head = element("tr", *(element("th", name, style=f"{CELL}; text-align: right") for name in (corner, *names)))
    lines = (
        element("tr", element("th", name, style=f"{CELL}; text-align: right"), *(shaded(*cell) for cell in row))
        for name, row in zip(names, values, strict=True)
    )
    return _table(head, *lines)


class Part(Frozen):
    """A part of a bar, with its share of the whole, from 0 to 1."""

    label: str
    share: float
    colour: str


def bar(parts: Sequence[Part], height: int = 16) -> Html:
    """Return a bar of parts; hovering over a part shows its name and its share."""
    shown = (
        element(
            "div",
            style=f"width: {100 * part.share:.3f}%; height: {height}px; background-color: {part.colour}",
            title=f"{part.label} {_percent(part.share)}",
        )
        for part in parts
        if part.share
    )
    return element("div", *shown, style="display: flex; max-width: 720px; margin: 2px 0")


def legend(parts: Sequence[Part]) -> Html:
    """Return the colour, name and share of each part whose share is not 0."""
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
    """Return a list with a dot before each item."""
    return element("ul", *(element("li", item) for item in items), style="margin: 2px 0; padding-left: 20px")


def folded(summary: object, *children: object) -> Html:
    """Return a line that hides ``children``; a click on the line shows or hides the children."""
    return element("details", element("summary", summary, style="cursor: pointer"), *children)


def _table(*lines: Html) -> Html:
    return element("table", *lines, style="border-collapse: collapse; margin: 2px 0; border: none; font-size: 12px")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


# ---- Views of objects in notebooks: the modules of a report register the view of a class -----------------------------

_VIEWS: dict[type, Callable[[Any], str]] = {}


def show_as(kind: type, view: Callable[[Any], str]) -> None:
    """Let notebooks show objects of the class ``kind`` as the HTML that ``view`` returns."""
    _VIEWS[kind] = view


class Shown:
    """An object that notebooks show as HTML if its class has a registered view, and else as text."""

    def _repr_html_(self) -> str | None:
        """Return the HTML, or None, for which a notebook shows the text."""
        view = _VIEWS.get(type(self))
        return None if view is None else view(self)


def notebook_shell() -> Any:
    """Return IPython's shell if this process is the kernel of a notebook, else None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell if hasattr(shell, "kernel") else None


def embedded(picture: str) -> str:
    """Return the text of an SVG as a data URI, for pages that need no other file."""
    return f"data:image/svg+xml;base64,{b64encode(picture.encode()).decode()}"


# ---- Pages as files --------------------------------------------------------------------------------------------------

SHARED = Path(__file__).parent


def page_environment(templates: Path, *, escaped: bool = True) -> Environment:
    """Return the templates of a folder, which may include the style sheet in `SHARED`.

    Arguments of templates are escaped by default. A name that a template does not get is an error.
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
