"""Tables as CSV that a spreadsheet reads as text and numbers, never as formulas.

A spreadsheet computes a cell that begins with ``=``, ``+``, ``-`` or ``@``, whoever wrote the cell: the name of a
strategy may be a command. Such a text gets an apostrophe in front. So does a text that begins with an apostrophe, so
that the original can be told. Numbers stay as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

APOSTROPHE = "'"
_FORMULA = re.compile(r"[=+\-@\t\r']")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return ``rows`` below the names of their columns; the texts among their cells are `quoted`."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([quoted(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return buffer.getvalue()


def quoted(text: str) -> str:
    """``text`` with an apostrophe in front where a spreadsheet might compute the text."""
    return APOSTROPHE + text if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unquoted(cell: str) -> str:
    """The text of which `quoted` made ``cell``."""
    return cell.removeprefix(APOSTROPHE)
