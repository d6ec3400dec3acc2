"""Whole numbers in the text of a file that is not YAML or JSON: ASCII digits, of bounded length."""

from __future__ import annotations

import re

_WHOLE = re.compile(r"-?[0-9]{1,19}")


def whole_number(text: str) -> int:
    """The number; ValueError for anything else, and for what needs more than 64 bits."""
    value = int(text) if _WHOLE.fullmatch(text) else 2**63
    if not -(2**63) <= value < 2**63:
        raise ValueError("no whole number of 64 bits")
    return value
