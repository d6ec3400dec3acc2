"""Pieces of Markdown that the reference pages are written with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from inspect import cleandoc

LITERAL = re.compile(r"``(.+?)``")
MARKUP = re.compile(r"([*_<>{}\[\]])")
CODE = re.compile(r"(`[^`]*`)")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a line for each row. Bars in cells are escaped; columns without text are left out."""
    lines = [tuple(row) for row in rows]
    kept = [at for at in range(len(head)) if any(line[at] for line in lines)]
    shown = [[cells[at] for at in kept] for cells in (tuple(head), ("---",) * len(head), *lines)]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in shown)


def code(text: str) -> str:
    """Return ``text`` as code, "" for an empty text."""
    return f"`{text}`" if text else ""


def prose(text: str | None) -> str:
    """Return a docstring or a description with literals as code and all other markup escaped."""
    parts = CODE.split(LITERAL.sub(r"`\1`", cleandoc(text or "")))
    return "".join(part if part.startswith("`") else MARKUP.sub(r"\\\1", part) for part in parts)
