"""Pieces of Markdown that the reference pages are written with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with one line for each row; bars in the cells do not divide them."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def code(text: str) -> str:
    """Text as it is typed; nothing where there is none."""
    return f"`{text}`" if text else ""
