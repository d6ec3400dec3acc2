"""Text of a study inside Markdown: nothing in it is markup, HTML or the end of a table's cell."""

from __future__ import annotations

import re

_MARKUP = re.compile(r"([\\`*_\[\]|~#])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown_text(text: str) -> str:
    """Write ``text`` on one line so that Markdown shows it as it is."""
    plain = " ".join(_MARKUP.sub(r"\\\1", text).split())
    return "".join(_HTML.get(letter, letter) for letter in plain)
