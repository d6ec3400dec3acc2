"""Plain scalars of YAML 1.2: the value of a text without quotes in the core schema (YAML 1.2.2, section 10.3.2).

Decimals stay decimals, so that 77.3 ns becomes 77300 ps without a float on the way.
"""

from __future__ import annotations

import re
from decimal import Decimal

from numasim.parts.yaml.nodes import Scalar

LONGEST_NUMBER = 100
LARGEST_EXPONENT = 60
_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = {"0o": (re.compile(r"0o[0-7]+"), 8), "0x": (re.compile(r"0x[0-9a-fA-F]+"), 16)}
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def scalar(text: str) -> Scalar:
    """Return the value of the plain scalar ``text``; ValueError for a number that is not finite or far too large."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is not a finite number")
    if _DECIMAL.fullmatch(text):
        return _number(text)
    pattern, base = _BASED.get(text[:2], (None, 10))
    return _number(text, base) if pattern and pattern.fullmatch(text) else text


def _number(text: str, base: int = 10) -> int | Decimal:
    exponent = text.lower().partition("e")[2] if base == 10 else ""
    if len(text) > LONGEST_NUMBER or (exponent and abs(int(exponent)) > LARGEST_EXPONENT):
        raise ValueError(f"the number {text[:20]}... is out of range" if len(text) > 20 else f"{text} is out of range")
    if base != 10:
        return int(text[2:], base)
    return int(text) if _INTEGER.fullmatch(text) else Decimal(text)
