"""Times in the words of people, such as ``1us``, and the numbers of a file as whole picoseconds."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from numasim.errors import InputError
from numasim.schema.enumerations import LONGEST_PS

UNITS_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ms": 10**9, "s": 10**12, "min": 60 * 10**12}
NAMES = "ps, ns, us, ms, s or min"
_TIME = re.compile(r"\s*(\d{0,18}\.?\d{0,18})\s*([a-zµμ]+)\s*")
_MOST_DIGITS = 400  # of a number in a file


def time_ps(text: str, option: str, least: int = 1) -> Decimal:
    """The picoseconds of a time such as ``1us`` or ``0.5 ns``; InputError, which names the ``option``, for what is no
    time, and for less than ``least``, which is 0 or above 0.
    """
    found = _TIME.fullmatch(text)
    if found and found[2] in UNITS_PS and found[1] not in ("", "."):
        time = Decimal(found[1]) * UNITS_PS[found[2]]
        if (time > 0 or not least) and time <= LONGEST_PS:
            return time
    raise InputError(
        f"{option} is {text!r}",
        expected=f"a number{' above 0' if least else ''} and one of the units {NAMES}, such as 1us, or 0.5ns",
    )


def number(text: object) -> Decimal | None:
    """The number that a file gives, as text or as a number of JSON; None for what is none, or is not finite."""
    if isinstance(text, bool) or not isinstance(text, str | int | float | Decimal):
        return None
    written = str(text).strip()
    if len(written) > _MOST_DIGITS:
        return None
    try:
        found = Decimal(written)
    except InvalidOperation:
        return None
    return found if found.is_finite() and abs(found.adjusted()) <= _MOST_DIGITS else None


def whole_ps(value: Decimal, unit_ps: Decimal) -> int | None:
    """``value`` times ``unit_ps`` to the nearest picosecond; None for a negative one and for more than engines hold."""
    product = value * unit_ps
    if value < 0 or product > LONGEST_PS:
        return None
    return int(product.to_integral_value())
