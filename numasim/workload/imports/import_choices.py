"""Choices of the user about values that a file leaves open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Self

from numasim.errors import InputError
from numasim.schema.enumerations import LONGEST_PS

# ---- Times as text, such as ``1us``, and the numbers of a file, as whole picoseconds -------------------

UNITS_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ms": 10**9, "s": 10**12, "min": 60 * 10**12}
NAMES = "ps, ns, us, ms, s or min"
_TIME = re.compile(r"\s*(\d{0,18}\.?\d{0,18})\s*([a-zµμ]+)\s*")
_MOST_DIGITS = 400  # most digits of a number in a file


def time_ps(text: str, option: str, least: int = 1) -> Decimal:
    """Return the picoseconds of a time such as ``1us`` or ``0.5 ns``, the value of ``option``.

    Raise InputError for a text that is no time, and for a time below ``least`` (0 or a positive number).
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
    """Return a number of a file, given as text or as a number of JSON; None unless the number is finite."""
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
    """Return ``value`` times ``unit_ps``, rounded; None if the time is negative or longer than engines allow."""
    product = value * unit_ps
    if value < 0 or product > LONGEST_PS:
        return None
    return int(product.to_integral_value())


@dataclass(frozen=True)
class Choices:
    """The choices of a user about an import.

    These are the unit of the file's times, the usual time of tasks without a time, the attributes with costs and with
    bytes, whether files become memory of the graph, and the times of tasks in ps by name, label or kernel.
    """

    unit_ps: Decimal | None = None
    usual_ps: Decimal | None = None
    cost: str | None = None
    bytes: str | None = None
    memory: bool = True
    times: Mapping[str, Decimal] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        unit: str | None = None,
        usual: str | None = None,
        cost: str | None = None,
        bytes: str | None = None,
        memory: bool = True,
        times: Iterable[str] = (),
    ) -> Self:
        """Return the choices in options; times are texts such as ``1us``, ``times`` texts such as ``potrf=1us``."""
        unit_ps = None if unit is None else time_ps(unit, "--unit")
        usual_ps = None if usual is None else time_ps(usual, "--usual", least=0)
        return cls(unit_ps, usual_ps, cost, bytes, memory, dict(map(_named_time, times)))

    def refuse_all(self, path: str, reason: str) -> None:
        """Raise InputError if options are given for a file that leaves nothing open."""
        options = {"--unit": self.unit_ps, "--usual": self.usual_ps, "--cost": self.cost, "--bytes": self.bytes}
        given = [option for option, value in options.items() if value is not None]
        for option in [*given, *["--time"] * bool(self.times), *["--no-memory"] * (not self.memory)]:
            raise InputError(f"{option} is given, and {reason}", place=path, expected=f"no {option}")


def _named_time(text: str) -> tuple[str, Decimal]:
    """Return (name, time) of an option such as ``potrf=1us``."""
    name, sign, time = text.rpartition("=")
    if not (name and sign):
        raise InputError(f"--time is {text!r}", expected="the name, label or kernel of tasks and a time: potrf=1us")
    return name, time_ps(time, f"--time {name}", least=0)
