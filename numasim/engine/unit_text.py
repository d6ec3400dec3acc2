"""Quantities as short text with a unit: picoseconds, bytes, counts and ratios."""

from __future__ import annotations

import math

TIME_UNITS = ((10**12, "s"), (10**9, "ms"), (10**6, "µs"), (10**3, "ns"), (1, "ps"))
ALMOST_ONE = 0.99995  # the least number that rounds to 1 with four significant digits
BYTE_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
MISSING = "-"


def time_text(time_ps: float) -> str:
    """Write a time with four significant digits in the largest unit that leaves at least one: ``12.34 ms``."""
    return _scaled(time_ps, TIME_UNITS)


def bytes_text(size: float) -> str:
    """Write a size with four significant digits in binary units: ``1.5 GiB``; below 1 KiB in whole bytes."""
    return _scaled(size, BYTE_UNITS)


def scale_of(largest: float, unit: str) -> tuple[float, str]:
    """Return the divisor of amounts in ``unit`` for an axis up to ``largest``, and the unit of the quotients."""
    units = {"ps": TIME_UNITS, "B": BYTE_UNITS}.get(unit)
    if units is None:
        return 1, unit
    return next((item for item in units if largest >= item[0]), units[-1])


def count_text(count: float) -> str:
    """Write a whole number with thousands separators, or ``-`` if it is missing."""
    return MISSING if _missing(count) else f"{round(count):,}"


def ratio_text(ratio: float | None) -> str:
    """Write a ratio with three decimals, or ``-`` if it is missing (0/0)."""
    return MISSING if _missing(ratio) else f"{ratio:.3f}"


def _missing(value: float | None) -> bool:
    return value is None or math.isnan(value)


def _scaled(amount: float, units: tuple[tuple[int, str], ...]) -> str:
    if _missing(amount):
        return MISSING
    scale, unit = next((item for item in units if abs(amount) >= ALMOST_ONE * item[0]), units[-1])
    whole_digits = len(str(int(abs(amount / scale))))
    text = f"{amount / scale:.{max(0, 4 - whole_digits)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"
